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

#include "bench/bench_audit.h"
#include "bench/launches.h"
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

/* Counters cost 10 %, and the level drifts by 1 % from block to block; one block was lost. */
static void test_audit(void **state) {
    enum { BLOCK = 32, BLOCKS = 40 };
    double runs[BLOCK * BLOCKS];
    int64_t blocks[BLOCK * BLOCKS];
    size_t n = 0;
    json_t *audit;
    (void)state;
    synthetic_state = first_seed(4);
    for (int64_t b = 0; b < BLOCKS; b++)
        for (int i = 0; i < BLOCK && b != 7; i++) {
            blocks[n] = b;
            runs[n++] =
                1000 * pow(1.01, (double)b) * (lc_audit_counted(b) ? 1.1 : 1) * exp(0.02 * gauss());
        }
    assert_int_equal(lc_bench_audit(runs, blocks, n, &audit), LC_OK);
    double found = json_number_value(json_object_get(audit, "perturbation"));
    json_t *ci = json_object_get(audit, "ci");
    assert_int_equal(json_integer_value(json_object_get(audit, "pairs")), BLOCKS / 2 - 1);
    assert_true(found > 0.09 && found < 0.11);
    assert_true(json_number_value(json_array_get(ci, 0)) < 0.1);
    assert_true(json_number_value(json_array_get(ci, 1)) > 0.1);
    assert_true(json_number_value(json_array_get(ci, 1)) < 0.12);
    json_decref(audit);
    assert_int_equal(lc_bench_audit(runs, blocks, BLOCK, &audit), LC_OK); /* one block */
    assert_true(json_is_null(json_object_get(audit, "perturbation")));
    json_decref(audit);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_hand), cmocka_unit_test(test_equals),
        cmocka_unit_test(test_differences), cmocka_unit_test(test_audit),
        cmocka_unit_test(test_shuffle)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
