/* Exact sums: the same bits in any order, as near to the true sum as rounding each part allows, and
 * the ends of their range. */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/exact.h"

enum { MANY = 1000, ORDERS = 20 };

static uint64_t state = 1;

static uint64_t draw(void) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return state >> 20;
}

/* Costs: from parts of a tick to years of nanoseconds, also negative. */
static double any_value(void) {
    double magnitude = ldexp((double)(draw() % 1000000 + 1), (int)(draw() % 80) - 60);
    return draw() % 4 == 0 ? -magnitude : magnitude;
}

static double sum_of(const double *values, size_t n) {
    struct lc_exact sum = {0};
    for (size_t i = 0; i < n; i++)
        lc_exact_add(&sum, values[i]);
    return lc_exact_get(&sum);
}

static void test_orders(void **unused) {
    (void)unused;
    double values[MANY];
    long double true_sum = 0, size = 0;
    for (size_t i = 0; i < MANY; i++) {
        values[i] = any_value();
        true_sum += values[i];
        size += fabsl((long double)values[i]);
    }
    double first = sum_of(values, MANY), plain = 0;
    assert_true(fabsl((long double)first - true_sum) <=
                MANY * 0x1p-41L + size * (long double)DBL_EPSILON);
    bool plain_differs = false;
    for (int order = 0; order < ORDERS; order++) {
        double other = 0;
        for (size_t i = MANY; i-- > 1;) {
            size_t k = (size_t)(draw() % (i + 1));
            double swap = values[i];
            values[i] = values[k];
            values[k] = swap;
        }
        for (size_t i = 0; i < MANY; i++)
            other += values[i];
        double again = sum_of(values, MANY);
        assert_memory_equal(&again, &first, sizeof first);
        plain_differs |= order > 0 && other != plain;
        plain = other;
    }
    assert_true(plain_differs); /* else the values are too easy */
}

/* Ranks add up their own parts; these add up to the same. */
static void test_halves(void **unused) {
    (void)unused;
    struct lc_exact all = {0}, low = {0}, high = {0};
    for (size_t i = 0; i < MANY; i++) {
        double value = any_value();
        lc_exact_add(&all, value);
        lc_exact_add(i % 3 == 0 ? &low : &high, value);
    }
    low.parts += high.parts;
    assert_true(low.parts == all.parts);
}

static void test_ends(void **unused) {
    (void)unused;
    const double whole[] = {0,        1,      -1,     0.5,     -0.5,  0x1p-40,
                            -0x1p-40, 0x1p21, 0x1p22, -0x1p22, 0x1p59};
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
        assert_true(sum_of(&whole[i], 1) == whole[i]);
    const double tiny = 0x1p-42, huge[] = {0x1p61, 1e300, INFINITY};
    assert_true(sum_of(&tiny, 1) == 0);
    for (size_t i = 0; i < sizeof huge / sizeof *huge; i++) {
        const double negative = -huge[i];
        assert_true(sum_of(&huge[i], 1) == 0x1p60);
        assert_true(sum_of(&negative, 1) == -0x1p60);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_orders), cmocka_unit_test(test_halves),
                                       cmocka_unit_test(test_ends)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
