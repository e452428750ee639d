/* The rate of samples from what each takes: no more than 0.8 % of the time, a sample counted twice;
 * more where the kernel takes less, and never fewer than was allowed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "measure/samples/perf_ring.h"

enum { PERIOD_NS = 2000000, MOST = 16 };

static void keeps_to_the_share(void **state) {
    (void)state;
    for (double kernel_ns = 500; kernel_ns < 40000; kernel_ns += 100) {
        uint32_t periods = lc_sample_periods(kernel_ns, PERIOD_NS, MOST);
        double time_ns = (double)PERIOD_NS * periods;
        assert_true(2 * kernel_ns < 0.008 * time_ns);
        /* half as many would have been enough for twice of what is not the kernel's */
        assert_true(periods == 1 || 2 * (kernel_ns + 10000) > 0.008 * time_ns / 2);
        assert_true((periods & (periods - 1)) == 0);
    }
}

static void falls_with_the_cost(void **state) {
    (void)state;
    assert_int_equal(lc_sample_periods(2000, PERIOD_NS, MOST), 1);
    assert_int_equal(lc_sample_periods(10000, PERIOD_NS, MOST), 2);
    assert_int_equal(lc_sample_periods(15000, PERIOD_NS, MOST), 4);
    assert_int_equal(lc_sample_periods(60000, PERIOD_NS, MOST), MOST);
    assert_int_equal(lc_sample_periods(1e9, PERIOD_NS, MOST), MOST);
}

/* What is not known is not taken to cost nothing. */
static void not_known(void **state) {
    (void)state;
    assert_int_equal(lc_sample_periods(0, PERIOD_NS, MOST),
                     lc_sample_periods(20000, PERIOD_NS, MOST));
    assert_true(lc_sample_periods(0, PERIOD_NS, MOST) > 1);
}

/* What a context switch costs: half of the timers of one tick's length are the next one to expire,
 * and of long ones few. */
static void of_switches(void **state) {
    (void)state;
    const struct lc_switch_cost cost = {.next = 11000, .later = 3000}, odd = {.later = 3000};
    assert_true(lc_switch_cost_of(&cost, 1) > 10999);
    assert_int_equal(lc_switch_cost_of(&cost, 2000000), 9000);
    assert_int_equal(lc_switch_cost_of(&cost, 4000000), 7000);
    assert_int_equal(lc_switch_cost_of(&cost, 16000000), 4000);
    assert_int_equal(lc_switch_cost_of(&odd, 4000000), 3000);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(keeps_to_the_share),
                                       cmocka_unit_test(falls_with_the_cost),
                                       cmocka_unit_test(not_known), cmocka_unit_test(of_switches)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
