/* Lists of ranks: what is understood, who is in them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* after those */
#include <cmocka.h>

#include "bench/rank_list.h"

static void counts(void **state) {
    (void)state;
    assert_int_equal(lc_rank_list_count("0", 4), 1);
    assert_int_equal(lc_rank_list_count("0,2-3", 4), 3);
    assert_int_equal(lc_rank_list_count("1-2,2,1", 4), 2);
    static const char *const wrong[] = {"",   ",",    "4", "1-",  "-1",  "2-1",
                                        "1,", "1,,2", "a", "0-4", "1 2", "99999999999999999999"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_int_equal(lc_rank_list_count(wrong[i], 4), 0);
}

static void members(void **state) {
    (void)state;
    for (long rank = 0; rank < 20; rank++)
        assert_int_equal(lc_rank_list_has("0,2-3,11", rank),
                         rank == 0 || rank == 2 || rank == 3 || rank == 11);
}

/* Lists of which each is a communicator. */
static void groups(void **state) {
    (void)state;
    assert_int_equal(lc_rank_groups_count("0-1/2-3", 4), 2);
    assert_int_equal(lc_rank_groups_count("0,2/1/3", 4), 3);
    assert_int_equal(lc_rank_groups_count("0-3", 4), 1);
    assert_int_equal(lc_rank_list_count("0-1/2-3", 4), 0); /* is none but several */
    static const char *const wrong[] = {"0-1/", "/0", "0/0", "0-1/1-2", "0-1//2", "0-1/4", "0,/1"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_int_equal(lc_rank_groups_count(wrong[i], 4), 0);
    static const long of[] = {0, 1, 0, -1, 2, 2};
    for (long rank = 0; rank < 6; rank++)
        assert_int_equal(lc_rank_groups_of("0,2/1/4-5", rank), of[rank]);
    assert_int_equal(lc_rank_groups_members("0,2/1/4-6", 0, 7), 2);
    assert_int_equal(lc_rank_groups_members("0,2/1/4-6", 2, 7), 3);
    assert_int_equal(lc_rank_groups_members("0,2/1/4-6", 3, 7), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(counts), cmocka_unit_test(members),
                                       cmocka_unit_test(groups)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
