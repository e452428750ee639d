/* A thread that sleeps again and again is one that leaves the processor often; when it computes it
 * is none any more. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <cmocka.h>

#include "measure/samples/switch_rate.h"

enum { LOOKS = 64, LIMIT_S = 20 };

static double now_s(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void sleep_shortly(void) {
    const struct timespec moment = {.tv_nsec = 1000};
    nanosleep(&moment, NULL);
}

static void compute(void) {
    for (volatile int i = 0; i < 1000;)
        i = i + 1;
}

/* Until the rate has changed; false: it did not. */
static bool changes(struct lc_switch_rate *rate, void (*act)(void)) {
    for (double end = now_s() + LIMIT_S; now_s() < end;) {
        act();
        if (lc_switch_rate_changed(rate))
            return true;
    }
    return false;
}

static void high_and_low(void **state) {
    (void)state;
    struct lc_switch_rate rate = {0};
    assert_true(changes(&rate, sleep_shortly));
    assert_true(rate.high);
    assert_true(changes(&rate, compute));
    assert_false(rate.high);
    assert_true(changes(&rate, sleep_shortly));
}

/* What happened before the first look says nothing, and the time until then is not a window. */
static void first_look(void **state) {
    (void)state;
    struct lc_switch_rate rate = {0};
    for (int i = 0; i < 2000; i++)
        sleep_shortly();
    errno = EXDEV;
    for (int i = 0; i < LOOKS; i++)
        assert_false(lc_switch_rate_changed(&rate));
    assert_false(rate.high);
    assert_int_equal(errno, EXDEV);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(high_and_low),
                                       cmocka_unit_test(first_look)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
