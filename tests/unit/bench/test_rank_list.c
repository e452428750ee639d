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

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(counts), cmocka_unit_test(members)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
