/* Student's distribution against tables; intervals of differences keep their level. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../first_seed.h"
#include "base/student.h"

static void test_quantiles(void **state) {
    (void)state;
    static const double table[][3] = {{0.95, 1, 12.706204736174694}, {0.95, 2, 4.302652729749462},
                                      {0.95, 10, 2.228138851964939}, {0.95, 58, 2.001717483012361},
                                      {0.99, 5, 4.032142983555227},  {0.5, 3, 0.764892328404345},
                                      {0.95, 1e6, 1.959966}};
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        assert_true(fabs(lc_student_quantile(table[i][0], table[i][1]) - table[i][2]) < 1e-5);
}

/* Welch's example: worked by hand. */
static void test_difference(void **state) {
    (void)state;
    const double a[] = {1, 2, 3, 4}, b[] = {4, 6, 8};
    struct lc_difference d = lc_student_compare(a, 4, b, 3, 0.95);
    double va = 5.0 / 3 / 4, vb = 4.0 / 3;
    double freedom = (va + vb) * (va + vb) / (va * va / 3 + vb * vb / 2);
    assert_true(fabs(d.delta - 3.5) < 1e-12 && fabs(d.mean_a - 2.5) < 1e-12);
    assert_true(fabs(d.half - lc_student_quantile(0.95, freedom) * sqrt(va + vb)) < 1e-9);
    assert_true(isinf(lc_student_compare(a, 1, b, 3, 0.95).half));
    assert_true(lc_student_compare(a, 1, b, 0, 0.95).half > 1e300);
    const double same[] = {2, 2, 2};
    assert_true(lc_student_compare(same, 3, same, 3, 0.95).half == 0.0);
}

static uint64_t state_of_chance = 88172645463325252ull;

static double uniform(void) { /* xorshift */
    state_of_chance ^= state_of_chance << 13;
    state_of_chance ^= state_of_chance >> 7;
    state_of_chance ^= state_of_chance << 17;
    return (double)(state_of_chance >> 11) / 9007199254740992.0;
}

static double normal(void) {
    return sqrt(-2 * log(1 - uniform())) * cos(6.283185307179586 * uniform());
}

enum { PAIRS = 4000, N = 60 };

/* One value depends on the one before by `memory`; share of pairs whose interval excludes 0. */
static double share_of_alarms(double slower, double memory, double (*noise)(void), double size) {
    int alarms = 0;
    for (int pair = 0; pair < PAIRS; pair++) {
        double values[2][N], last = 0;
        for (int side = 0; side < 2; side++)
            for (int i = 0; i < N; i++) {
                last = memory * last + sqrt(1 - memory * memory) * size * noise();
                values[side][i] = (1 + last) * (side == 1 ? 1 + slower : 1);
            }
        struct lc_difference d = lc_student_compare(values[0], N, values[1], N, 0.95);
        alarms += fabs(d.delta) > d.half;
    }
    return (double)alarms / PAIRS;
}

static double flat(void) {
    return 2 * uniform() - 1;
}

/* 4000 pairs: 0.05 has a standard error of 0.0034. */
static void test_level(void **state) {
    (void)state;
    assert_true(share_of_alarms(0, 0, normal, 0.1) < 0.06);
    assert_true(share_of_alarms(0, 0, flat, 0.1) < 0.06);
    assert_true(share_of_alarms(0, 0.5, normal, 0.1) < 0.09); /* 0.25 if each counted in full */
    assert_true(share_of_alarms(0.05, 0, flat, 0.1) > 0.97);
    double power = share_of_alarms(0.05, 0, normal, 0.1);
    assert_true(power > 0.7 && power < 0.85);
}

int main(void) {
    state_of_chance = first_seed(state_of_chance);
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_quantiles),
                                       cmocka_unit_test(test_difference),
                                       cmocka_unit_test(test_level)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
