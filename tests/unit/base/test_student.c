/* Student's distribution against tables; intervals of differences keep their level. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "../first_seed.h"
#include "base/student.h"
#include "recorded_runs.h"

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

static double flat(void) {
    return 2 * uniform() - 1;
}

static double skewed(void) { /* few values far above the others */
    return exp(normal()) - 1.6487212707001282;
}

static double outlying(void) { /* one run in ten was disturbed */
    return normal() + (uniform() < 0.1 ? 10 : 0);
}

enum { PAIRS = 10000, MOST = 64 };

/* Share of pairs whose interval excludes 0: n values on each side, those of b larger by the share
 * `slower`. One value depends on the one before by `memory`. */
static double share_of_alarms(size_t n, double slower, double memory, double (*noise)(void),
                              double size) {
    int alarms = 0;
    for (int pair = 0; pair < PAIRS; pair++) {
        double values[2][MOST], last = 0;
        for (int side = 0; side < 2; side++)
            for (size_t i = 0; i < n; i++) {
                last = memory * last + sqrt(1 - memory * memory) * size * noise();
                values[side][i] = 1 + last + (side == 1 ? slower : 0);
            }
        struct lc_difference d = lc_student_compare(values[0], n, values[1], n, 0.95);
        alarms += fabs(d.delta) > d.half;
    }
    return (double)alarms / PAIRS;
}

/* Five standard errors of a share: missed by chance once in 1.7 million calls. */
static double by_chance(double share) {
    return 5 * sqrt(share * (1 - share) / PAIRS);
}

static double normal_below(double x) {
    return erfc(-x / sqrt(2)) / 2;
}

/* P(|T| > t) for T = (Z + shift) / s, s of `freedom` degrees of freedom: the power of Student's
 * test. By the middle of 4000 slices of s from 0 to 3. */
static double power_of_student(double shift, double freedom, double t) {
    double power = 0, all = 0;
    for (int i = 0; i < 4000; i++) {
        double s = (i + 0.5) * 3 / 4000;
        double weight = exp((freedom - 1) * log(s) - freedom * (s * s - 1) / 2);
        power += weight * (normal_below(shift - t * s) + normal_below(-shift - t * s));
        all += weight;
    }
    return power / all;
}

static void test_level(void **state) {
    (void)state;
    double (*const noises[])(void) = {normal, flat, skewed, outlying};
    static const size_t runs[] = {3, 5, 10, 60};
    double most = 0.05 + by_chance(0.05);
    for (size_t k = 0; k < sizeof noises / sizeof noises[0]; k++)
        for (size_t i = 0; i < sizeof runs / sizeof runs[0]; i++) {
            double share = share_of_alarms(runs[i], 0, 0, noises[k], 0.1);
            print_message("noise %zu, %zu values: %.4f\n", k, runs[i], share);
            assert_true(share <= most);
        }
    /* 0.25 if each counted in full */
    assert_true(share_of_alarms(60, 0, 0.5, normal, 0.1) < 0.09);
}

/* The first `wanted` of `n` values are drawn from all of them. */
static void draw(double *values, size_t n, size_t wanted) {
    for (size_t k = 0; k < wanted; k++) {
        size_t other = k + (size_t)(uniform() * (double)(n - k));
        double value = values[k];
        values[k] = values[other];
        values[other] = value;
    }
}

/* Runs of one program as they were recorded: pairs of sets drawn from them are equals. */
static void test_recorded(void **state) {
    (void)state;
    enum { RECORDED = sizeof recorded_ms / sizeof recorded_ms[0] };
    static const size_t runs[] = {3, 5, 10};
    for (size_t i = 0; i < sizeof runs / sizeof runs[0]; i++) {
        double drawn[RECORDED];
        int alarms = 0;
        memcpy(drawn, recorded_ms, sizeof drawn);
        for (int pair = 0; pair < PAIRS; pair++) {
            draw(drawn, RECORDED, 2 * runs[i]);
            struct lc_difference d =
                lc_student_compare(drawn, runs[i], drawn + runs[i], runs[i], 0.95);
            alarms += fabs(d.delta) > d.half;
        }
        print_message("recorded, %zu runs: %.4f\n", runs[i], (double)alarms / PAIRS);
        assert_true((double)alarms / PAIRS <= 0.05 + by_chance(0.05));
    }
}

static bool are_told_apart(const double *a, const double *b, size_t n, size_t stride) {
    double values[2][MOST];
    for (size_t i = 0; i < n; i++) {
        values[0][i] = a[stride * i];
        values[1][i] = b[stride * i];
    }
    struct lc_difference d = lc_student_compare(values[0], n, values[1], n, 0.95);
    return fabs(d.delta) > d.half;
}

/* As they came: equals that took turns are told apart in 5 % at most. Where one side was done
 * first, the machine had changed meanwhile; docs/definitions/compare.md has these shares. */
static void test_recorded_in_turns(void **state) {
    (void)state;
    enum { RECORDED = sizeof recorded_ms / sizeof recorded_ms[0] };
    static const size_t runs[] = {3, 5, 10};
    static const double turns_told[] = {0.021, 0, 0}, first_told[] = {0.08, 0.17, 0.17};
    for (size_t i = 0; i < sizeof runs / sizeof runs[0]; i++) {
        size_t n = runs[i], pairs = RECORDED - 2 * n + 1, turns = 0, one_first = 0;
        for (size_t at = 0; at < pairs; at++) {
            turns += are_told_apart(recorded_ms + at, recorded_ms + at + 1, n, 2);
            one_first += are_told_apart(recorded_ms + at, recorded_ms + at + n, n, 1);
        }
        print_message("as they came, %zu runs: in turns %.4f, one side first %.4f\n", n,
                      (double)turns / (double)pairs, (double)one_first / (double)pairs);
        assert_true(fabs((double)turns / (double)pairs - turns_told[i]) < 0.001);
        assert_true(fabs((double)one_first / (double)pairs - first_told[i]) < 0.0051);
    }
}

/* What is asked for finds a difference among recorded runs nearly as often as it promises of normal
 * noise (0.95): of the first 140, which are about as busy, but some take twice as long. */
static void test_recorded_needed(void **state) {
    (void)state;
    enum { STEADY = 140 };
    static const double differences[] = {0.3, 0.5};
    struct lc_difference all = lc_student_compare(recorded_ms, STEADY, recorded_ms, STEADY, 0.95);
    for (size_t i = 0; i < sizeof differences / sizeof differences[0]; i++) {
        double drawn[STEADY], delta = differences[i] * all.mean_a;
        size_t n = lc_student_needed(all.var_a, all.var_a, delta, 0.95, 0.95, 3);
        int found = 0;
        assert_true(2 * n <= STEADY && n <= MOST);
        memcpy(drawn, recorded_ms, sizeof drawn);
        for (int pair = 0; pair < PAIRS; pair++) {
            draw(drawn, STEADY, 2 * n);
            for (size_t k = n; k < 2 * n; k++)
                drawn[k] += delta;
            found += are_told_apart(drawn, drawn + n, n, 1);
            for (size_t k = n; k < 2 * n; k++)
                drawn[k] -= delta;
        }
        print_message("recorded, %.0f %% longer, %zu runs: %.4f found\n", 100 * differences[i], n,
                      (double)found / PAIRS);
        assert_true((double)found / PAIRS > 0.93);
    }
}

/* A difference of 5 % in normal noise of 10 %, 60 values a side: 0.775. That alike neighbours are
 * looked for costs a point. */
static void test_power(void **state) {
    (void)state;
    double t = lc_student_quantile(0.95, 118);
    double theory = power_of_student(0.05 / (0.1 * sqrt(2.0 / 60)), 118, t);
    double share = share_of_alarms(60, 0.05, 0, normal, 0.1);
    print_message("power %.4f, by theory %.4f\n", share, theory);
    assert_true(fabs(theory - 0.775) < 0.001);
    assert_true(share < theory + by_chance(theory));
    assert_true(share > theory - 0.015 - by_chance(theory));
    assert_true(share_of_alarms(60, 0.05, 0, flat, 0.1) > 0.97);
}

/* The number of runs that is asked for finds the difference in 95 of 100 cases. */
static void test_needed(void **state) {
    (void)state;
    static const double cases[][2] = {{0.02, 0.05}, {0.1, 0.1}, {0.1, 0.2}, {0.05, 0.3}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        double variance = cases[i][0] * cases[i][0];
        size_t n = lc_student_needed(variance, variance, cases[i][1], 0.95, 0.95, 3);
        double share = share_of_alarms(n, cases[i][1], 0, normal, cases[i][0]);
        print_message("%zu values: %.4f\n", n, share);
        assert_true(n >= 3 && n <= MOST && share > 0.95 - by_chance(0.95));
        if (n > 3) /* and no more than that */
            assert_true(share_of_alarms(n - 2, cases[i][1], 0, normal, cases[i][0]) < 0.95);
    }
    /* Many: 2 0.36 (1.959964 + 1.644854)^2 / 0.05^2 = 3742.5. */
    size_t many = lc_student_needed(0.36, 0.36, 0.05, 0.95, 0.95, 3);
    assert_true(many >= 3743 && many <= 3745);
    assert_int_equal(lc_student_needed(0, 0, 0.05, 0.95, 0.95, 3), 3);
    assert_int_equal(lc_student_needed(1, 1, 0, 0.95, 0.95, 3), LC_STUDENT_MOST);
    assert_int_equal(lc_student_needed(1, 1, 1e-9, 0.95, 0.95, 3), LC_STUDENT_MOST);
}

int main(void) {
    state_of_chance = first_seed(state_of_chance);
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_quantiles),
                                       cmocka_unit_test(test_difference),
                                       cmocka_unit_test(test_level),
                                       cmocka_unit_test(test_recorded),
                                       cmocka_unit_test(test_recorded_in_turns),
                                       cmocka_unit_test(test_recorded_needed),
                                       cmocka_unit_test(test_power),
                                       cmocka_unit_test(test_needed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
