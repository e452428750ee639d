/* Sorting by several integer keys: as a stable comparison sort would. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../first_seed.h"
#include "analyze/radix.h"

enum { MOST = 5000 };

struct record {
    int64_t time;
    uint32_t group, number; /* number: the order before */
};

static uint64_t state = 1;

static uint64_t draw(void) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return state >> 20;
}

static uint64_t key_of(const void *records, uint32_t index, int level) {
    const struct record *r = (const struct record *)records + index;
    return level == 0 ? lc_key_signed(r->time) : r->group;
}

static int compare(const void *a, const void *b) {
    const struct record *x = a, *y = b;
    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

/* Times of either sign within `width`, so that there are equal ones. */
static void check(size_t n, uint32_t groups, int64_t width) {
    static struct record got[MOST], expected[MOST];
    for (size_t i = 0; i < n; i++)
        got[i] = (struct record){(int64_t)(draw() % (uint64_t)width) - width / 2,
                                 (uint32_t)(draw() % groups), (uint32_t)i};
    memcpy(expected, got, sizeof got);
    qsort(expected, n, sizeof *expected, compare);
    uint32_t *order = NULL;
    assert_int_equal(lc_order_by(&order, got, n, key_of, 2), LC_OK);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(order[i], expected[i].number);
    free(order);
    assert_int_equal(lc_sort_by(got, n, sizeof *got, key_of, 2), LC_OK);
    assert_memory_equal(got, expected, n * sizeof *got);
    assert_int_equal(lc_sort_by(got, n, sizeof *got, key_of, 2), LC_OK); /* sorted already */
    assert_memory_equal(got, expected, n * sizeof *got);
}

static void test_orders(void **unused) {
    (void)unused;
    for (size_t n = 0; n < 40; n++)
        check(n, 3, 10);
    check(MOST, 1, 2);
    check(MOST, 7, 1000);
    check(MOST, 4000000000u, (int64_t)1 << 43);
}

static void test_extremes(void **unused) {
    (void)unused;
    struct record r[] = {{INT64_MAX, 0, 0}, {-1, 0, 1}, {INT64_MIN, 0, 2}, {0, 0, 3}, {1, 0, 4}};
    static const uint32_t expected[] = {2, 1, 3, 4, 0};
    assert_int_equal(lc_sort_by(r, 5, sizeof *r, key_of, 2), LC_OK);
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(r[i].number, expected[i]);
}

int main(void) {
    state = first_seed(state);
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_orders),
                                       cmocka_unit_test(test_extremes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
