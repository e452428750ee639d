/* Which signals came to the whole process group, and which to us alone: told rightly whatever the
 * sentinel does, which is stopped here all the time, and whatever comes together. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "run/sentinel.h"

static struct lc_sentinel sentinel;

static void alone(int signo) {
    assert_int_equal(kill(getpid(), signo), 0);
}

static void group(int signo) {
    assert_int_equal(kill(0, signo), 0);
}

/* Takes the signal, which must be pending, from those that wait for us. */
static void take(int signo) {
    const struct timespec now = {0};
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, signo);
    assert_int_equal(sigtimedwait(&one, NULL, &now), signo);
}

static bool ask(int signo) {
    assert_int_equal(kill(sentinel.pid, SIGSTOP), 0);
    return lc_sentinel_got(&sentinel, signo);
}

static bool take_and_ask(int signo) {
    take(signo);
    return ask(signo);
}

static const int signals[] = {SIGHUP, SIGINT, SIGQUIT, SIGUSR1, SIGUSR2, SIGTERM, SIGURG, SIGWINCH};
enum { N_SIGNALS = sizeof signals / sizeof signals[0] };

static void one_after_the_other(void **unused) {
    (void)unused;
    for (int i = 0; i < N_SIGNALS; i++) {
        alone(signals[i]);
        assert_false(take_and_ask(signals[i]));
        group(signals[i]);
        assert_true(take_and_ask(signals[i]));
        alone(signals[i]);
        assert_false(take_and_ask(signals[i]));
    }
}

/* Every other signal to the group, in one order, and taken in another. */
static void all_at_once(void **unused) {
    (void)unused;
    for (int turn = 0; turn < 4; turn++) {
        for (int i = 0; i < N_SIGNALS; i++)
            (i % 2 == turn % 2 ? group : alone)(signals[i]);
        for (int i = 0; i < N_SIGNALS; i++) {
            int which = turn < 2 ? i : N_SIGNALS - 1 - i;
            assert_int_equal(take_and_ask(signals[which]), which % 2 == turn % 2);
        }
    }
    for (int i = 0; i < N_SIGNALS; i++) {
        alone(signals[i]);
        assert_false(take_and_ask(signals[i]));
    }
}

/* A second one has come when the first is asked about: never more are passed on than were sent to
 * us alone. */
static void equal_signals(void **unused) {
    (void)unused;
    group(SIGINT);
    group(SIGINT); /* one for the kernel */
    assert_true(take_and_ask(SIGINT));
    alone(SIGINT);
    assert_false(take_and_ask(SIGINT));
    group(SIGINT);
    take(SIGINT);
    group(SIGINT);
    assert_true(ask(SIGINT));
    assert_true(take_and_ask(SIGINT));
    alone(SIGINT);
    assert_false(take_and_ask(SIGINT));
    alone(SIGINT);
    take(SIGINT);
    group(SIGINT);
    ask(SIGINT); /* may count as the group's */
    assert_true(take_and_ask(SIGINT));
    alone(SIGINT);
    assert_false(take_and_ask(SIGINT));
}

/* Equal signals of real time do not become one. */
static void queued_signals(void **unused) {
    (void)unused;
    for (int i = 0; i < 3; i++)
        group(SIGRTMIN);
    for (int i = 0; i < 3; i++)
        assert_true(take_and_ask(SIGRTMIN));
    alone(SIGRTMIN);
    assert_false(take_and_ask(SIGRTMIN));
}

/* SIGCONT takes back what would stop us, and nobody asks about that any more. */
static void stopped_and_continued(void **unused) {
    (void)unused;
    for (int turn = 0; turn < 2; turn++) {
        group(SIGTSTP);
        if (turn == 1) { /* a new sentinel takes over what came */
            group(SIGINT);
            assert_true(take_and_ask(SIGINT));
        }
        alone(SIGCONT);
        take(SIGCONT);
        lc_sentinel_continue(&sentinel);
        alone(SIGTSTP);
        assert_false(take_and_ask(SIGTSTP));
    }
}

/* No sentinel: every signal counts as ours alone. */
static void no_sentinel(void **unused) {
    (void)unused;
    struct lc_sentinel none = {.pid = 0};
    group(SIGINT);
    take(SIGINT);
    assert_false(lc_sentinel_got(&none, SIGINT));
    lc_sentinel_continue(&none);
    lc_sentinel_stop(&none);
}

static int start(void **unused) {
    (void)unused;
    lc_sentinel_start(&sentinel);
    return sentinel.pid == 0 ? -1 : kill(sentinel.pid, SIGSTOP);
}

static int stop(void **unused) {
    (void)unused;
    lc_sentinel_stop(&sentinel);
    return sentinel.pid == 0 ? 0 : -1;
}

#define EACH(name) cmocka_unit_test_setup_teardown(name, start, stop)

int main(void) {
    const struct CMUnitTest tests[] = {
        EACH(one_after_the_other), EACH(all_at_once),           EACH(equal_signals),
        EACH(queued_signals),      EACH(stopped_and_continued), cmocka_unit_test(no_sentinel),
    };
    sigset_t all;
    setpgid(0, 0);
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
