/* The new time axis of a process: whatever jumps it is made from, the order of its events remains,
 * and what has to end later does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../first_seed.h"
#include "analyze/time_map.h"

enum { EVENTS = 200, JUMPS = 12, ROUNDS = 2000 };

static uint64_t state = 1;

static uint32_t draw(uint32_t below) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33) % below;
}

static struct lc_loc location_of(int64_t *times, uint32_t n) {
    return (struct lc_loc){.time = times,
                           .n_transitions = n,
                           .init_enter = INT64_MIN,
                           .init_leave = INT64_MIN,
                           .finalize_enter = INT64_MIN,
                           .finalize_leave = INT64_MIN};
}

/* A receive that ends with the event `at`, and may begin after the event `from`. */
static struct lc_jump jump_of(const int64_t *times, uint32_t from, uint32_t at, int64_t shift) {
    return (struct lc_jump){times[at], shift, times[from], at, from};
}

enum { FEW = 5 };

/* The event 3 comes too late by 20, and ends what begins after the event `from`. */
static void becomes(int64_t times[FEW], uint32_t from, const int64_t expected[FEW]) {
    struct lc_loc loc = location_of(times, FEW);
    struct lc_jump jump = jump_of(times, from, 3, 20);
    assert_int_equal(lc_time_map_apply(&jump, 1, &loc, 1), LC_OK);
    for (size_t i = 0; i < FEW; i++)
        assert_int_equal(times[i], expected[i]);
}

/* Events 2 and 3 are of one time: 3 ends what came too late, 2 is on the way there. */
static void on_the_way(void **unused) {
    (void)unused;
    becomes((int64_t[]){0, 90, 100, 100, 110}, 0, (int64_t[]){0, 108, 120, 120, 130});
}

/* Events of the time at which nothing is stretched stay where they were. */
static void at_one_time(void **unused) {
    (void)unused;
    becomes((int64_t[]){0, 100, 100, 100, 110}, 2, (int64_t[]){0, 100, 100, 120, 130});
}

static void order_remains(void **unused) {
    (void)unused;
    for (int round = 0; round < ROUNDS; round++) {
        int64_t times[EVENTS], before[EVENTS];
        struct lc_jump jumps[JUMPS], wanted[JUMPS];
        for (uint32_t i = 0; i < EVENTS; i++) {
            times[i] = i > 0 ? times[i - 1] + 10 * draw(3) : 0;
            before[i] = times[i];
        }
        for (size_t k = 0; k < JUMPS; k++) {
            uint32_t at = 1 + draw(EVENTS - 1), from = at - 1 - draw(at < 5 ? at : 5);
            jumps[k] = wanted[k] = jump_of(times, from, at, 1 + draw(40));
        }
        struct lc_loc loc = location_of(times, EVENTS);
        assert_int_equal(lc_time_map_apply(jumps, JUMPS, &loc, 1), LC_OK);
        for (uint32_t i = 0; i < EVENTS; i++) {
            assert_true(times[i] >= before[i]);
            assert_true(i == 0 || times[i] >= times[i - 1]);
        }
        for (size_t k = 0; k < JUMPS; k++)
            assert_true(times[wanted[k].index] >= wanted[k].at + wanted[k].shift);
    }
}

int main(void) {
    state = first_seed(state);
    const struct CMUnitTest tests[] = {cmocka_unit_test(on_the_way), cmocka_unit_test(at_one_time),
                                       cmocka_unit_test(order_remains)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
