/* Whether others are still to die of the signal that ended this program: the launcher may still be
 * sending it; whoever else sent it is not waited for, whatever he does. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "run/run.h"

static pid_t start_busy(void) {
    pid_t pid = fork();
    if (pid != 0)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* also where this test is ended */
    for (;;)
        __asm__ volatile("");
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
    kill(busy, SIGKILL);
    assert_int_equal(waitpid(busy, NULL, 0), busy);
    run.wait_status = SIGTERM;
    assert_false(lc_run_more_will_die(&run));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(only_the_launcher_is_waited_for)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
