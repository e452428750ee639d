/* Ranking of variants by launches: equals are not told apart, differences are, the load of a round
 * cancels, an order is a permutation. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* after those */
#include <cmocka.h>

#include "bench/launches.h"
#include "bench/perturbation.h"
#include "bench/parts.h"

#include "synthetic.h"

enum { ROUNDS = 7, VARIANTS = 5 };

/* Each round has a load of its own (20 %), each launch 2 % of noise; variant v is slower by
 * v * step. */
static void make(double step, double *times) {
    for (int r = 0; r < ROUNDS; r++) {
        double load = exp(0.2 * gauss());
        for (int v = 0; v < VARIANTS; v++)
            times[v * ROUNDS + r] = 10000 * (1 + step * v) * load * exp(0.02 * gauss());
    }
}

/* In how many of `times` sweeps some pair was told apart (*any), all were (*all), and the true
 * ratio of the last to the first is in its interval (*held). */
static void count(double step, int sweeps, int *any, int *all, int *held) {
    double times[VARIANTS * ROUNDS];
    *any = *all = *held = 0;
    for (int i = 0; i < sweeps; i++) {
        struct lc_ranked_variant ranked[VARIANTS];
        size_t order[VARIANTS];
        bool some = false, every = true;
        make(step, times);
        assert_int_equal(lc_launches_rank(times, VARIANTS, ROUNDS, ranked, order), LC_OK);
        for (size_t v = 0; v < VARIANTS; v++) {
            some |= ranked[v].first > 1 || ranked[v].last < VARIANTS;
            every &= ranked[v].first == v + 1 && ranked[v].last == v + 1;
        }
        struct lc_ratio r =
            lc_launches_ratio(times + (VARIANTS - 1) * (size_t)ROUNDS, times, ROUNDS, 0.95);
        *any += some;
        *all += every;
        *held += r.low <= 1 + step * (VARIANTS - 1) && 1 + step * (VARIANTS - 1) <= r.high;
    }
    print_message("step %.2f: some told apart in %d, all in %d, ratio right in %d of %d\n", step,
                  *any, *all, *held, sweeps);
}

static void test_equals(void **state) {
    (void)state;
    int any, all, held;
    synthetic_state = first_seed(5);
    count(0, 1000, &any, &all, &held);
    assert_true(any <= 65); /* 5 % and what chance adds to 1,000 */
    assert_true(held >= 935);
}

static void test_differences(void **state) {
    (void)state;
    int any, all, held;
    synthetic_state = first_seed(6);
    count(0.1, 1000, &any, &all, &held);
    assert_true(all >= 900);
    assert_true(held >= 935);
}

static void test_by_hand(void **state) {
    (void)state;
    /* logarithms differ by 1, 2, 3: mean 2, standard error 1 / sqrt 3, t(2) = 4.3027 */
    const double a[] = {exp(1), exp(2), exp(3)}, b[] = {1, 1, 1};
    struct lc_ratio r = lc_launches_ratio(a, b, 3, 0.95);
    assert_true(fabs(log(r.value) - 2) < 1e-9);
    assert_true(fabs(log(r.high) - 2 - 4.30265 / sqrt(3)) < 1e-4);
    assert_true(fabs(r.t - 2 * sqrt(3)) < 1e-9);
    r = lc_launches_ratio(a, b, 1, 0.95); /* one round tells nothing */
    assert_true(r.low <= 0 && isinf(r.high));
    struct lc_ranked_variant ranked[2];
    size_t order[2];
    const double one[] = {20, 10};
    assert_int_equal(lc_launches_rank(one, 2, 1, ranked, order), LC_OK);
    assert_true(order[0] == 1 && ranked[0].first == 1 && ranked[1].last == 2);
}

static void test_shuffle(void **state) {
    (void)state;
    enum { N = 4, DRAWS = 24000 };
    size_t items[N], first[N] = {0};
    uint64_t random = 3;
    for (int i = 0; i < DRAWS; i++) {
        lc_launches_shuffle(items, N, &random);
        size_t seen = 0;
        for (size_t k = 0; k < N; k++)
            seen |= (size_t)1 << items[k];
        assert_int_equal(seen, (1 << N) - 1);
        first[items[0]]++;
    }
    for (size_t k = 0; k < N; k++) /* 6,000 each, within five standard deviations */
        assert_true(first[k] > 5660 && first[k] < 6340);
}

/* Counters cost 10 %, in every fifth repetition, and the level drifts to three times what it was;
 * of one block nothing was valid without counters. The first repetitions, left out, say otherwise.
 */
static void test_perturbation(void **state) {
    enum { N = 1200, FROM = 40, LOST = 12 };
    double runs[N], counted[N];
    size_t at[N], n = 0;
    struct lc_counted_series s = {counted, at, 0};
    struct lc_perturbation p;
    (void)state;
    synthetic_state = first_seed(4);
    for (int i = 0; i < N; i++) {
        double level = 1000 * exp((double)i / N) * exp(0.02 * gauss());
        if (i % 5 == 4) {
            at[s.n] = n;
            counted[s.n++] = level * (n < FROM ? 20 : 1.1);
        } else if (i < 600 || i >= 600 + 5 * LOST) {
            runs[n++] = level;
        }
    }
    assert_int_equal(lc_perturbation_find(runs, n, FROM, &s, &p), LC_OK);
    assert_true(p.blocks == 19 || p.blocks == 20); /* the lost one may lie in one or two */
    assert_true(p.change > 0.09 && p.change < 0.11);
    assert_true(p.low < 0.1 && p.high > 0.1 && p.high - p.low < 0.04);
    assert_true(p.with_ns > p.without_ns);
    s.n = LC_PERTURBATION_LEAST + FROM / 4; /* one block */
    assert_int_equal(lc_perturbation_find(runs, n, FROM, &s, &p), LC_OK);
    assert_true(p.blocks == 1 && isfinite(p.change) && isinf(p.high));
    s.n = FROM / 4;
    assert_int_equal(lc_perturbation_find(runs, n, FROM, &s, &p), LC_OK);
    assert_true(p.blocks == 0 && isnan(p.change));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_hand), cmocka_unit_test(test_equals),
        cmocka_unit_test(test_differences), cmocka_unit_test(test_perturbation),
        cmocka_unit_test(test_shuffle)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
