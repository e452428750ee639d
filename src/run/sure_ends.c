/* Programs that live yet and are sure to die: the signal that ended this one is on its way to
 * them. A launcher that signals its tasks sends one signal after the other, in no time; each parent
 * takes it when it gets a core, and passes it on. Whoever ends before all of that has happened
 * makes the launcher kill the others in a way of its own, with another exit status than bare. */
#include <sys/wait.h>

#include "format/state.h"
#include "run/proc_status.h"
#include "run/run.h"

/* In this order: what was pending for the parent is taken between its marks, and noted before the
 * second one. */
static bool is_coming(const struct lc_mapped_state *state, int signo) {
    struct lc_proc_status parent;
    if (!lc_proc_status_get(state->pid, &parent) || parent.state == 'Z')
        return false;
    return (parent.pending & lc_signal_bit(signo)) != 0 ||
           atomic_load(&state->header->taking_signals) != 0 ||
           atomic_load(&state->header->passed_signal) == signo;
}

static bool will_die(const struct lc_mapped_state *state, int signo) {
    struct lc_proc_status program;
    pid_t pid = atomic_load(&state->header->pid);
    if (atomic_load(&state->header->process_end_ns) != 0 || pid == 0 || !is_coming(state, signo))
        return false;
    lc_proc_status_get(pid, &program); /* nothing stands against it in one that is gone */
    return ((program.blocked | program.ignored | program.caught) & lc_signal_bit(signo)) == 0;
}

/* The launcher may still be at it. Whoever else has sent the signal to this process alone (a
 * script, a person) has done so, whatever he does now. */
static bool launcher_goes_on(const struct lc_run *run) {
    struct lc_proc_status status;
    return run->signal_sender != 0 && run->signal_sender == run->launch.process &&
           lc_proc_status_get(run->signal_sender, &status) && status.state == 'R';
}

bool lc_run_more_will_die(const struct lc_run *run) {
    if (run->passed_signal == 0 || !WIFSIGNALED(run->wait_status) ||
        WTERMSIG(run->wait_status) != run->passed_signal)
        return false;
    for (size_t i = 0; i < run->peers.n_states; i++)
        if (i != run->peers.own && will_die(&run->peers.states[i], run->passed_signal))
            return true;
    return launcher_goes_on(run); /* it may not have come to the others yet */
}
