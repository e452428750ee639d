/* A thread that leaves the processor often is told from one that computes, both ways, with a clock
 * and counts that are the test's own. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <time.h>

#include <cmocka.h>

#include "measure/samples/off_cpu.h"

enum { LOOKS = 64, LOOK_NS = 100000, LOOKS_PER_S = 10000 };

static uint64_t now_ns;
static double switches; /* half of them of the thread's own will */

int __wrap_clock_gettime(clockid_t id, struct timespec *time);
int __wrap_clock_gettime(clockid_t id, struct timespec *time) {
    (void)id;
    *time = (struct timespec){.tv_sec = (time_t)(now_ns / 1000000000u),
                              .tv_nsec = (long)(now_ns % 1000000000u)};
    return 0;
}

int __wrap_getrusage(int who, struct rusage *usage);
int __wrap_getrusage(int who, struct rusage *usage) {
    assert_int_equal(who, RUSAGE_THREAD);
    *usage = (struct rusage){.ru_nvcsw = (long)switches / 2,
                             .ru_nivcsw = (long)switches - (long)switches / 2};
    errno = EINVAL;
    return 0;
}

/* Half a second with so many switches per second: how often `how_often` changes. */
static int changes(struct lc_switch_rate *rate, double per_s) {
    int n = 0;
    for (int i = 0; i < LOOKS_PER_S / 2; i++) {
        now_ns += LOOK_NS;
        switches += per_s / LOOKS_PER_S;
        n += lc_switch_rate_changed(rate);
    }
    return n;
}

static void always_and_seldom(void **state) {
    (void)state;
    struct lc_switch_rate rate = {0};
    now_ns = 1000000000;
    assert_int_equal(changes(&rate, 900), 0);
    assert_int_equal(changes(&rate, 1200), 1);
    assert_int_equal(rate.how_often, LC_SWITCHES_ALWAYS);
    assert_int_equal(changes(&rate, 600), 0); /* it stays so until it is half of that */
    assert_int_equal(changes(&rate, 400), 1);
    assert_int_equal(rate.how_often, LC_SWITCHES_SELDOM);
    assert_int_equal(changes(&rate, 0), 0);
    assert_int_equal(changes(&rate, 20000), 1);
    assert_int_equal(rate.how_often, LC_SWITCHES_ALWAYS);
}

static void often(void **state) {
    (void)state;
    struct lc_switch_rate rate = {.often_per_s = 300};
    now_ns = 1000000000;
    assert_int_equal(changes(&rate, 250), 0);
    assert_int_equal(changes(&rate, 400), 1);
    assert_int_equal(rate.how_often, LC_SWITCHES_OFTEN);
    assert_int_equal(changes(&rate, 200), 0);
    assert_int_equal(changes(&rate, 2000), 1);
    assert_int_equal(rate.how_often, LC_SWITCHES_ALWAYS);
    assert_int_equal(changes(&rate, 400), 1);
    assert_int_equal(rate.how_often, LC_SWITCHES_OFTEN);
    assert_int_equal(changes(&rate, 100), 1);
    assert_int_equal(rate.how_often, LC_SWITCHES_SELDOM);
}

/* What happened before the first look says nothing, and the time until then is not a window. */
static void first_look(void **state) {
    (void)state;
    struct lc_switch_rate rate = {0};
    now_ns = 1000000000;
    switches = 100000;
    errno = EXDEV;
    for (int i = 0; i < LOOKS; i++)
        assert_false(lc_switch_rate_changed(&rate));
    assert_int_equal(rate.how_often, LC_SWITCHES_SELDOM);
    assert_int_equal(errno, EXDEV);
}

/* Windows stand for as many as there are, on average; long ones are never left out. */
static void windows(void **state) {
    (void)state;
    uint32_t sum = 0, n = 1000 * LC_SWITCHES_WINDOWS;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t times = lc_switches_window(10000000, i / (double)n);
        assert_true(times == 0 || times == LC_SWITCHES_WINDOWS);
        sum += times;
        assert_int_equal(lc_switches_window(60000000, i / (double)n), 1);
    }
    assert_int_equal(sum, n);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(always_and_seldom), cmocka_unit_test(often),
                                       cmocka_unit_test(first_look), cmocka_unit_test(windows)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
