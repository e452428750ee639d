/* Parents that are held: dead, they are found when their program is gone, not before; alive, they
 * are as they were. The processes here are children of the test, as those of a launcher are. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/timer.h"
#include "run/hold.h"
#include "run/proc_status.h"

static uint64_t in_seconds(uint64_t seconds) {
    return lc_monotonic_raw_ns() + seconds * 1000000000u;
}

static void end_with_5(int signo) {
    (void)signo;
    _exit(5);
}

static pid_t new_process(void) {
    signal(SIGUSR1, end_with_5); /* before it is there: it may get the signal before it runs */
    pid_t pid = fork();
    while (pid == 0)
        pause();
    assert_true(pid > 0);
    return pid;
}

static void nap(void) {
    const struct timespec time = {.tv_nsec = 1000000};
    nanosleep(&time, NULL);
}

static void wait_until_dead(pid_t pid) {
    struct lc_proc_status status;
    while (lc_proc_status_get(pid, &status) && status.state != 'Z')
        nap();
}

static int tracer_of(pid_t pid) {
    char path[64], line[256];
    int tracer = -1;
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    FILE *file = fopen(path, "re");
    assert_non_null(file);
    while (fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, "TracerPid:", 10) == 0)
            tracer = atoi(line + 10);
    fclose(file);
    return tracer;
}

static void end(pid_t pid) {
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* lc_hold_start does not wait for ever until they are held. */
static void hold(const struct lc_held *held, size_t n) {
    lc_hold_start(held, n, in_seconds(600));
    for (size_t i = 0; i < n; i++)
        while (tracer_of(held[i].parent) == 0)
            nap();
}

static struct lc_held hold_two(void) {
    struct lc_held held = {new_process(), new_process()};
    hold(&held, 1);
    return held;
}

static void found_dead_after_its_program(void **unused) {
    (void)unused;
    int status;
    struct lc_held held = hold_two();
    kill(held.parent, SIGKILL);
    wait_until_dead(held.parent);
    assert_int_equal(waitpid(held.parent, &status, WNOHANG), 0);
    end(held.program);
    assert_int_equal(waitpid(held.parent, &status, 0), held.parent);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

static void several(void **unused) {
    (void)unused;
    enum { N = 3 };
    struct lc_held held[N];
    for (int i = 0; i < N; i++)
        held[i] = (struct lc_held){new_process(), new_process()};
    hold(held, N);
    for (int i = 0; i < N; i++) {
        kill(held[i].parent, SIGKILL);
        wait_until_dead(held[i].parent);
    }
    for (int i = N - 1; i >= 0; i--) {
        assert_int_equal(waitpid(held[i].parent, NULL, WNOHANG), 0);
        end(held[i].program);
        assert_int_equal(waitpid(held[i].parent, NULL, 0), held[i].parent);
    }
}

static void goes_on_alone(void **unused) {
    (void)unused;
    int status;
    struct lc_held held = hold_two();
    end(held.program);
    while (tracer_of(held.parent) != 0)
        nap();
    kill(held.parent, SIGUSR1);
    assert_int_equal(waitpid(held.parent, &status, 0), held.parent);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 5);
}

static void gets_its_signals(void **unused) {
    (void)unused;
    int status;
    struct lc_held held = hold_two();
    kill(held.parent, SIGSTOP);
    assert_int_equal(waitpid(held.parent, &status, WUNTRACED), held.parent);
    assert_true(WIFSTOPPED(status) && WSTOPSIG(status) == SIGSTOP);
    kill(held.parent, SIGCONT);
    kill(held.parent, SIGUSR1);
    assert_int_equal(waitpid(held.parent, &status, 0), held.parent);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 5);
    end(held.program);
}

static void let_go_in_time(void **unused) {
    (void)unused;
    struct lc_held held = {new_process(), new_process()};
    lc_hold_start(&held, 1, lc_monotonic_raw_ns());
    end(held.parent); /* though its program is there */
    end(held.program);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(found_dead_after_its_program),
                                       cmocka_unit_test(several), cmocka_unit_test(goes_on_alone),
                                       cmocka_unit_test(gets_its_signals),
                                       cmocka_unit_test(let_go_in_time)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
