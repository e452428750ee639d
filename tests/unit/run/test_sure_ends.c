/* Whether others are still to die of the signal that ended this program: those that nothing keeps
 * from it, while it is on its way to their parents or from them; the launcher may still be sending
 * it; whoever else sent it is not waited for, whatever he does. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "format/state.h"
#include "run/run.h"

/* Of a child: it ends with this test, also where that is ended or fails at once. */
static void end_with(pid_t test) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != test)
        _exit(1);
}

static pid_t start_busy(void) {
    pid_t test = getpid(), pid = fork();
    if (pid != 0)
        return pid;
    end_with(test);
    for (;;)
        __asm__ volatile("");
}

static void end_child(pid_t pid) {
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void only_the_launcher_is_waited_for(void **state) {
    (void)state;
    pid_t busy = start_busy();
    assert_true(busy > 0);
    static struct lc_run run;
    run.passed_signal = SIGTERM;
    run.wait_status = SIGTERM; /* died of it */
    run.signal_sender = busy;
    run.launch.process = getppid();
    assert_false(lc_run_more_will_die(&run));
    run.launch.process = 0;
    assert_false(lc_run_more_will_die(&run));
    run.launch.process = busy;
    assert_true(lc_run_more_will_die(&run));
    run.wait_status = SIGINT;
    assert_false(lc_run_more_will_die(&run));
    end_child(busy);
    run.wait_status = SIGTERM;
    assert_false(lc_run_more_will_die(&run));
}

/* A process that SIGTERM would end, or for which it stays pending. */
static pid_t start_idle(int how) {
    sigset_t term;
    signal(SIGTERM, SIG_DFL);
    sigemptyset(&term);
    sigaddset(&term, SIGTERM);
    sigprocmask(how, &term, NULL); /* of the child from its first instruction */
    pid_t test = getpid(), pid = fork();
    if (pid != 0)
        return pid;
    end_with(test);
    for (;;)
        pause();
}

static void who_is_sure_to_die_is_waited_for(void **state) {
    (void)state;
    enum { OWN, OTHER, RANKS };
    static struct lc_state_header headers[RANKS];
    struct lc_state_header *other = &headers[OTHER];
    pid_t parent = start_idle(SIG_BLOCK), program = start_idle(SIG_UNBLOCK);
    assert_true(parent > 0 && program > 0);
    struct lc_mapped_state ranks[RANKS] = {{.header = &headers[OWN], .pid = getpid()},
                                           {.header = other, .pid = parent}};
    static struct lc_run run;
    run.passed_signal = SIGTERM;
    run.wait_status = SIGTERM; /* died of it */
    run.peers = (struct lc_peers){.states = ranks, .n_states = RANKS, .own = OWN};
    atomic_store(&headers[OWN].process_end_ns, 1);
    atomic_store(&other->pid, program);

    assert_false(lc_run_more_will_die(&run)); /* the signal has not come to its parent */
    atomic_store(&other->taking_signals, 1);
    assert_true(lc_run_more_will_die(&run)); /* it may have */
    atomic_store(&other->taking_signals, 0);
    atomic_store(&other->passed_signal, SIGINT);
    assert_false(lc_run_more_will_die(&run)); /* another one was passed on */
    atomic_store(&other->passed_signal, SIGTERM);
    assert_true(lc_run_more_will_die(&run));
    atomic_store(&other->passed_signal, 0);
    kill(parent, SIGTERM);
    assert_true(lc_run_more_will_die(&run)); /* pending for its parent */

    run.peers.own = OTHER; /* what is still to come for the own program changes nothing */
    assert_false(lc_run_more_will_die(&run));
    run.peers.own = OWN;
    atomic_store(&other->pid, parent); /* a program that blocks it */
    assert_false(lc_run_more_will_die(&run));
    atomic_store(&other->pid, 0); /* none yet */
    assert_false(lc_run_more_will_die(&run));
    atomic_store(&other->pid, program);
    atomic_store(&other->process_end_ns, 1); /* over */
    assert_false(lc_run_more_will_die(&run));
    atomic_store(&other->process_end_ns, 0);
    assert_true(lc_run_more_will_die(&run));

    end_child(program);
    assert_true(lc_run_more_will_die(&run)); /* its parent does not know yet */
    kill(parent, SIGKILL);
    siginfo_t ended;
    assert_int_equal(waitid(P_PID, (id_t)parent, &ended, WEXITED | WNOWAIT), 0);
    atomic_store(&other->taking_signals, 1);
    assert_false(lc_run_more_will_die(&run)); /* a zombie passes nothing on */
    assert_int_equal(waitpid(parent, NULL, 0), parent);
    assert_false(lc_run_more_will_die(&run));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(only_the_launcher_is_waited_for),
                                       cmocka_unit_test(who_is_sure_to_die_is_waited_for)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
