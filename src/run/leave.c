/* When, and how, the parents of a node end after an unhappy end of their programs. Launchers decide
 * by the order of the ends what the exit status is and whom they kill, so the parents leave in the
 * order, and at the distances, in which their programs ended. Ends that are nearer than TOGETHER_MS
 * are told apart only by when each parent got a core: these parents leave together.
 *
 * A signal to all ranks decides how each of them dies when it is sent, before any of them
 * is gone. So is it here: the parents that die of such signals wait, ready to die, and the first
 * that wakes sends every other one its signal before its own. Else the launcher would see the first
 * one's connection close, and kill the others in a way of its own. It may also lose the processor
 * between two signals, so the connection of each is kept open until all of them are gone. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/timer.h"
#include "format/state.h"
#include "run/hold.h"
#include "run/proc_status.h"
#include "run/run.h"

enum {
    MARGIN_MS = 25, /* until every waiting parent has seen that the result is saved */
    TOGETHER_MS = 20,
    WAIT_MAX_MS = 4000,
    READY_MAX_MS = 5000, /* those waited for end for certain; a limit, should one be stopped */
    HOLD_MS = 2000       /* until the launcher has killed the others, if it does */
};
#define MS UINT64_C(1000000)

static uint64_t first_end_ns(const struct lc_run *run) {
    uint64_t first = UINT64_MAX;
    for (size_t i = 0; i < run->peers.n_states; i++) {
        uint64_t end_ns = atomic_load(&run->peers.states[i].header->process_end_ns);
        if (end_ns != 0 && end_ns < first)
            first = end_ns;
    }
    return first;
}

void lc_run_mark_saved(struct lc_run *run) {
    uint64_t first = first_end_ns(run), now = lc_monotonic_raw_ns();
    for (size_t i = 0; i < run->peers.n_states; i++) {
        struct lc_state_header *header = run->peers.states[i].header;
        atomic_store(&header->first_end_ns, first);
        atomic_store(&header->first_leave_ns, now + MARGIN_MS * MS);
        atomic_store(&header->saved, 1);
    }
}

/* Did the program die of a signal that its parent passed on? */
static bool died_of_passed_signal(const struct lc_state_header *header) {
    int status = atomic_load(&header->wait_status);
    return WIFSIGNALED(status) && WTERMSIG(status) == atomic_load(&header->passed_signal);
}

/* How many TOGETHER_MS after the first end of the node. A launcher that signals its tasks does so
 * at one instant, whenever each parent was able to pass the signal on: those programs have one
 * turn. */
static uint64_t turn_of(const struct lc_run *run, const struct lc_state_header *header,
                        uint64_t first_end) {
    uint64_t end_ns = atomic_load(&header->process_end_ns);
    for (size_t i = 0; died_of_passed_signal(header) && i < run->peers.n_states; i++) {
        const struct lc_state_header *other = run->peers.states[i].header;
        uint64_t other_ns = atomic_load(&other->process_end_ns);
        if (other_ns != 0 && other_ns < end_ns && died_of_passed_signal(other) &&
            atomic_load(&other->passed_signal) == atomic_load(&header->passed_signal))
            end_ns = other_ns;
    }
    return end_ns < first_end ? 0 : (end_ns - first_end) / (TOGETHER_MS * MS);
}

static void sleep_until(uint64_t instant_ns) {
    uint64_t now = lc_monotonic_raw_ns();
    if (instant_ns <= now)
        return;
    struct timespec time = {.tv_sec = (time_t)((instant_ns - now) / 1000000000u),
                            .tv_nsec = (long)((instant_ns - now) % 1000000000u)};
    while (nanosleep(&time, &time) != 0 && errno == EINTR)
        ;
}

/* The signal by which this program died, if sending it decides the death (no core is dumped);
 * else 0. */
static int deciding_signal(int wait_status) {
    if (!WIFSIGNALED(wait_status))
        return 0;
    switch (WTERMSIG(wait_status)) {
    case SIGINT:
    case SIGTERM:
    case SIGHUP:
    case SIGKILL:
    case SIGUSR1:
    case SIGUSR2:
    case SIGALRM:
    case SIGPIPE:
        return WTERMSIG(wait_status);
    default:
        return 0;
    }
}

/* From now on this process dies at once when that signal is sent. */
static void get_ready(struct lc_state_header *own, int signo) {
    sigset_t one;
    const struct timespec now = {0};
    sigemptyset(&one);
    sigaddset(&one, signo);
    while (sigtimedwait(&one, NULL, &now) > 0) /* what was sent before is over */
        ;
    signal(signo, SIG_DFL);
    sigprocmask(SIG_UNBLOCK, &one, NULL);
    atomic_store(&own->leaving, 1);
}

static bool is_companion(const struct lc_run *run, size_t i, uint64_t first_end, uint64_t turn) {
    const struct lc_state_header *header = run->peers.states[i].header;
    struct lc_proc_status parent;
    return i != run->peers.own && atomic_load(&header->process_end_ns) != 0 &&
           deciding_signal(atomic_load(&header->wait_status)) != 0 &&
           turn_of(run, header, first_end) == turn &&
           lc_proc_status_get(run->peers.states[i].pid, &parent) && parent.state != 'Z';
}

static bool is_gone(pid_t parent) {
    struct lc_proc_status status;
    return !lc_proc_status_get(parent, &status) || status.state == 'Z';
}

static bool all_gone(const struct lc_run *run, const bool *wanted) {
    for (size_t i = 0; i < run->peers.n_states; i++)
        if (wanted[i] && !is_gone(run->peers.states[i].pid))
            return false;
    return true;
}

/* A process that has the files of this one, Hydra's connection with them, until this one and its
 * companions are gone. Without it, where it cannot be made, they may be killed before they die. */
static void keep_connection(const struct lc_run *run, uint64_t first_end, uint64_t turn,
                            uint64_t until_ns) {
    bool *wanted;
    if (run->launch.kind != LC_LAUNCHER_HYDRA ||
        lc_alloc(&wanted, run->peers.n_states, sizeof *wanted) != LC_OK)
        return;
    bool any = false;
    for (size_t i = 0; i < run->peers.n_states; i++)
        any |= wanted[i] = is_companion(run, i, first_end, turn);
    if (any && fork() == 0) {
        sigset_t all;
        sigfillset(&all);
        sigprocmask(SIG_SETMASK, &all, NULL);
        wanted[run->peers.own] = true;
        while (!all_gone(run, wanted) && lc_monotonic_raw_ns() < until_ns)
            sleep_until(lc_monotonic_raw_ns() + MS);
        _exit(0);
    }
    free(wanted);
}

static bool all_ready(const struct lc_run *run, uint64_t first_end, uint64_t turn) {
    for (size_t i = 0; i < run->peers.n_states; i++)
        if (is_companion(run, i, first_end, turn) &&
            atomic_load(&run->peers.states[i].header->leaving) == 0)
            return false;
    return true;
}

static void take_companions(const struct lc_run *run, uint64_t first_end, uint64_t turn) {
    uint64_t limit = lc_monotonic_raw_ns() + READY_MAX_MS * MS;
    while (!all_ready(run, first_end, turn) && lc_monotonic_raw_ns() < limit)
        sleep_until(lc_monotonic_raw_ns() + MS);
    for (size_t i = 0; i < run->peers.n_states; i++)
        if (is_companion(run, i, first_end, turn))
            kill(run->peers.states[i].pid,
                 deciding_signal(atomic_load(&run->peers.states[i].header->wait_status)));
}

/* The launcher will kill those that still run (hold.h). */
static void hold_others(const struct lc_run *run, uint64_t leave_ns) {
    struct lc_held *held;
    size_t n = 0;
    if (run->launch.kind != LC_LAUNCHER_HYDRA ||
        lc_alloc(&held, run->peers.n_states, sizeof *held) != LC_OK)
        return;
    for (size_t i = 0; i < run->peers.n_states; i++) {
        const struct lc_mapped_state *state = &run->peers.states[i];
        pid_t program = atomic_load(&state->header->pid);
        if (i != run->peers.own && program > 0 && state->pid > 0 &&
            atomic_load(&state->header->process_end_ns) == 0)
            held[n++] = (struct lc_held){state->pid, program};
    }
    lc_hold_start(held, n, leave_ns + HOLD_MS * MS);
    free(held);
}

void lc_run_leave(struct lc_run *run) {
    if (!run->leave_in_turn || run->peers.n_states == 0)
        return;
    struct lc_state_header *own = run->peers.states[run->peers.own].header;
    uint64_t first_end = atomic_load(&own->first_end_ns);
    if (atomic_load(&own->saved) == 0 || first_end > run->end_ns)
        return;
    uint64_t turn = turn_of(run, own, first_end);
    uint64_t leave_ns = atomic_load(&own->first_leave_ns) + turn * TOGETHER_MS * MS;
    if (leave_ns > lc_monotonic_raw_ns() + WAIT_MAX_MS * MS)
        return;
    hold_others(run, leave_ns);
    int signo = deciding_signal(run->wait_status);
    prctl(PR_SET_TIMERSLACK, 1UL);
    if (signo != 0) {
        keep_connection(run, first_end, turn, leave_ns + (READY_MAX_MS + HOLD_MS) * MS);
        if (signo != SIGKILL)
            get_ready(own, signo);
        else
            atomic_store(&own->leaving, 1);
        sleep_until(leave_ns);
        take_companions(run, first_end, turn);
    } else if (WIFEXITED(run->wait_status)) { /* what takes time is done before */
        lc_peers_free(&run->peers);
        fflush(NULL);
        sleep_until(leave_ns);
        _exit(WEXITSTATUS(run->wait_status));
    } else {
        sleep_until(leave_ns);
    }
}
