/* Binary search against a linear one; look-up tables against a plain list, with hashes that collide
 * and while the table grows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>
#include <stdlib.h>

#include <cmocka.h>

#include "../first_seed.h"
#include "base/lookup.h"

static void first_where(void **state) {
    (void)state;
    int x[40];
    for (size_t n = 0; n <= 40; n++)
        for (int step = 1; step < 4; step++) {
            for (size_t i = 0; i < n; i++)
                x[i] = (int)i / step; /* runs of equal ones */
            for (int key = -1; key <= 41; key++)
                for (size_t low = 0; low <= n; low += 3) {
                    size_t expected = low;
                    while (expected < n && x[expected] < key)
                        expected++;
                    assert_int_equal(LC_FIRST_WHERE(i, low, n, x[i] >= key), expected);
                }
        }
    assert_int_equal(LC_FIRST_WHERE(i, 1, 0, i > 100), 1); /* nothing to look at */
    assert_int_equal(LC_FIRST_WHERE(i, 0, SIZE_MAX, i >= SIZE_MAX - 1), SIZE_MAX - 1);
}

/* Few different hashes: most entries collide. */
static void against_a_list(uint64_t n_hashes) {
    enum { N = 2000 };
    static uint64_t keys[N];
    struct lc_lookup table = {0};
    uint64_t random = first_seed(88172645463325252ull);
    uint32_t n = 0;
    for (int turn = 0; turn < 4 * N && n < N; turn++) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        uint64_t key = random % (2 * N);
        uint32_t expected = LC_NONE;
        for (uint32_t i = 0; i < n; i++)
            if (keys[i] == key)
                expected = i;
        uint32_t found = LC_LOOKUP(&table, key % n_hashes, i, keys[i] == key);
        assert_int_equal(found, expected);
        if (found != LC_NONE)
            continue;
        keys[n] = key;
        assert_int_equal(lc_lookup_add(&table, key % n_hashes, n), LC_OK);
        n++;
        assert_true(2 * table.n <= table.n_slots);
    }
    assert_int_equal(table.n, n);
    for (uint32_t k = 0; k < n; k++)
        assert_int_equal(LC_LOOKUP(&table, keys[k] % n_hashes, i, keys[i] == keys[k]), k);
    lc_lookup_free(&table);
    assert_null(table.slots);
}

static void tables(void **state) {
    (void)state;
    struct lc_lookup empty = {0};
    assert_int_equal(LC_LOOKUP(&empty, 7, i, i != LC_NONE), LC_NONE);
    against_a_list(UINT64_MAX);
    against_a_list(13);
    against_a_list(1);
}

/* No growth after a reservation; one that cannot be made leaves the table alone. */
static void reserve(void **state) {
    (void)state;
    struct lc_lookup table = {0};
    assert_int_equal(lc_lookup_reserve(&table, 1000), LC_OK);
    const struct lc_lookup_slot *slots = table.slots;
    for (uint32_t i = 0; i < 1000; i++)
        assert_int_equal(lc_lookup_add(&table, i, i), LC_OK);
    assert_ptr_equal(table.slots, slots);
    assert_int_equal(lc_lookup_reserve(&table, LC_NONE), LC_ERR_RANGE);
    assert_int_equal(lc_lookup_reserve(&table, SIZE_MAX / 32), LC_ERR_RANGE);
    assert_ptr_equal(table.slots, slots);
    assert_int_equal(LC_LOOKUP(&table, 999, i, i == 999), 999);
    lc_lookup_free(&table);
}

static int looked_at;

static bool is_from(size_t i, size_t first) {
    looked_at++;
    return i >= first;
}

/* From wherever it begins; the fewer it looks at the nearer that is. */
static void first_where_near(void **state) {
    (void)state;
    for (size_t n = 0; n <= 40; n++)
        for (size_t first = 0; first <= n; first++)
            for (size_t near = 0; near <= n + 2; near++) {
                looked_at = 0;
                size_t found = LC_FIRST_WHERE_NEAR(i, near, n, is_from(i, first));
                assert_int_equal(found, first);
                size_t far = (near > n ? n : near) > first ? (near > n ? n : near) - first
                                                           : first - (near > n ? n : near);
                int bits = 1;
                while (far >> bits != 0)
                    bits++;
                assert_in_range(looked_at, 0, 2 * bits + 2);
            }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_where),
        cmocka_unit_test(first_where_near),
        cmocka_unit_test(tables),
        cmocka_unit_test(reserve),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
