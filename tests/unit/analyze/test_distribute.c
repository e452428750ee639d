/* Which analysis rank owns which process: blocks of neighbours, unless that would be uneven. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analyze/distribute.h"

enum { MOST = 64 };

static void test_equal_processes_go_in_blocks(void **state) {
    (void)state;
    uint64_t events[MOST];
    uint32_t owner[MOST];
    for (size_t p = 0; p < MOST; p++)
        events[p] = 1000000 + p % 3;
    assert_int_equal(lc_distribute(events, MOST, 4, owner), LC_OK);
    for (size_t p = 0; p < MOST; p++)
        assert_int_equal(owner[p], p / 16);
}

/* 3 of 4 processes in the first block, as even as can be. */
static void test_blocks_follow_events(void **state) {
    (void)state;
    uint64_t events[] = {300000, 300000, 400000, 1000000};
    uint32_t owner[4];
    assert_int_equal(lc_distribute(events, 4, 2, owner), LC_OK);
    for (size_t p = 0; p < 4; p++)
        assert_int_equal(owner[p], p / 3);
}

static void test_uneven_processes_are_dealt_out(void **state) {
    (void)state;
    uint32_t owner[3];
    uint64_t between[] = {300000, 400000, 300000}; /* blocks would be 700000 and 300000 */
    assert_int_equal(lc_distribute(between, 3, 2, owner), LC_OK);
    assert_int_equal(owner[0], owner[2]);
    assert_int_not_equal(owner[0], owner[1]);
}

static void test_ranks_without_processes(void **state) {
    (void)state;
    uint64_t events[] = {0, 7, UINT32_MAX};
    uint32_t owner[3];
    assert_int_equal(lc_distribute(events, 3, 1, owner), LC_OK);
    for (size_t p = 0; p < 3; p++)
        assert_int_equal(owner[p], 0);
    assert_int_equal(lc_distribute(events, 3, 9, owner), LC_OK);
    for (size_t p = 0; p < 3; p++)
        assert_true(owner[p] < 9);
    assert_int_not_equal(owner[1], owner[2]);
    assert_int_equal(lc_distribute(NULL, 0, 3, NULL), LC_OK);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_equal_processes_go_in_blocks),
        cmocka_unit_test(test_blocks_follow_events),
        cmocka_unit_test(test_uneven_processes_are_dealt_out),
        cmocka_unit_test(test_ranks_without_processes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
