/* What rare work of the tool costs: of one piece what is more than a millisecond is an
 * interruption, but for what was processor time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/timer.h"
#include "measure/callpath/budget.h"
#include "measure/callpath/entry.h"

const struct lc_mpi_function lc_fn_facts[LC_FN_COUNT];
/* None of it is called: no call site is measured with less detail here. */
struct lc_state_row *lc_row_cold(struct lc_thread *t, struct lc_path *path, uint32_t key) {
    (void)t, (void)path, (void)key;
    return NULL;
}
struct lc_path *lc_path_of_caller(struct lc_thread *t, const struct lc_entry *e) {
    (void)t, (void)e;
    return NULL;
}

static uint64_t ticks_of(double ms) {
    return (uint64_t)(ms * 1e6 / lc_timer.ns_per_tick);
}

static void is_interrupted(double work_ms, double cpu_ms, double interrupted_ms) {
    static struct lc_thread thread;
    thread.counts = (struct lc_path_counts){0};
    lc_budget_apart(&thread, ticks_of(work_ms), (uint64_t)(cpu_ms * 1e6));
    assert_int_equal(thread.counts.own_ticks, ticks_of(work_ms));
    double off_by = (double)thread.counts.interrupted_ticks - (double)ticks_of(interrupted_ms);
    assert_true(off_by < 1e-3 * (double)ticks_of(1) && off_by > -1e-3 * (double)ticks_of(1));
}

static void work_apart(void **state) {
    (void)state;
    static struct lc_thread thread;
    lc_budget_init(true);
    lc_budget_apart(&thread, 0, 0); /* from now on the rate of the ticks is known */
    is_interrupted(0.5, 0.1, 0);
    is_interrupted(400, 0.2, 399);
    is_interrupted(400, 30, 370);
    is_interrupted(400, 400, 0);
    is_interrupted(400, 500, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(work_apart)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
