/* Classification of series whose truth is known, 200 random ones of each kind: at least 95 % right.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* after those */
#include <cmocka.h>

#include "base/stats.h"
#include "bench/cumulative.h"
#include "bench/modes.h"
#include "bench/patterns.h"
#include "bench/categories.h"

#include "synthetic.h"

#ifdef __SANITIZE_ADDRESS__
enum { N = 1000, TIMES = 40, AT_LEAST = 38 }; /* the release build judges */
#else
enum { N = 1000, TIMES = 200, AT_LEAST = 190 };
#endif

struct series {
    double runs[N];
    size_t n;
    int64_t end; /* true end of the warm-up, or LC_NO_END */
};

static void cliff(struct series *s) {
    s->end = 20 + (int64_t)(uniform() * 200);
    double height = 1.35 + uniform(), spread = 0.01 + 0.02 * uniform();
    for (size_t i = 0; i < N; i++)
        s->runs[i] = 20000 * skewed(spread) * ((int64_t)i < s->end ? height : 1);
}

/* Slow repetitions, as of a pool that grows, differ by more than the good ones take: among them the
 * minimum falls again and again. */
static void rough_warm_up(struct series *s) {
    s->end = 20 + (int64_t)(uniform() * 200);
    double height = 5 + 35 * uniform(), rough = 0.1 + 0.2 * uniform();
    for (size_t i = 0; i < N; i++)
        s->runs[i] = 20000 * ((int64_t)i < s->end ? height * exp(rough * gauss()) : skewed(0.02));
}

static void none(struct series *s) {
    double spread = 0.01 + 0.05 * uniform();
    for (size_t i = 0; i < N; i++)
        s->runs[i] = 20000 * skewed(spread);
}

static void slow_decline(struct series *s) {
    double fall = 0.3 + 0.7 * uniform(), length = 200 + 500 * uniform();
    for (size_t i = 0; i < N; i++)
        s->runs[i] = 20000 * skewed(0.02) * (1 + fall * exp(-(double)i / length));
}

static void lucky_minimum(struct series *s) {
    double spread = 0.01 + 0.04 * uniform();
    for (size_t i = 0; i < N; i++)
        s->runs[i] = 20000 * skewed(spread);
    s->runs[50 + (size_t)(uniform() * (N - 100))] = 20000 * (0.5 + 0.2 * uniform());
}

static void periodic_noise(struct series *s) {
    double period = 10 + 90 * uniform(), height = 0.1 + 0.4 * uniform(), phase = uniform();
    bool pulses = uniform() < 0.5;
    for (size_t i = 0; i < N; i++) {
        double at = (double)i / period + phase;
        double more = pulses ? at - floor(at) < 0.2 : 0.5 + 0.5 * sin(2 * M_PI * at);
        s->runs[i] = 20000 * skewed(0.02) * (1 + height * more);
    }
}

static void two_modes(struct series *s) {
    double height = 1.3 + 0.5 * uniform(), weight = 0.25 + 0.5 * uniform();
    double dwell = uniform() < 0.5 ? 1 : 1 + 40 * uniform();
    bool high = uniform() < weight;
    for (size_t i = 0; i < N; i++) {
        if (uniform() < 1 / dwell)
            high = uniform() < weight;
        s->runs[i] = 20000 * skewed(0.02) * (high ? height : 1);
    }
}

static void drifting_level(struct series *s) {
    double level = 0, slope = (uniform() - 0.5) * 0.6;
    for (size_t i = 0; i < N; i++) {
        level += 0.003 * gauss();
        s->runs[i] = 20000 * skewed(0.02) * exp(level + slope * (double)i / N);
    }
}

static double median_of(const struct series *s) {
    double sorted[N];
    memcpy(sorted, s->runs, sizeof sorted);
    lc_stats_sort(sorted, N);
    return lc_stats_quantile_sorted(sorted, N, 0.5);
}

static int right(void (*make)(struct series *s), const char *name) {
    int count = 0, raw_right = 0, rejected = 0;
    for (int i = 0; i < TIMES; i++) {
        struct series s = {.n = N, .end = LC_NO_END};
        struct lc_warmup warmup;
        make(&s);
        assert_int_equal(lc_warmup_find(s.runs, N, median_of(&s), &warmup), LC_OK);
        count += warmup.end == s.end;
        raw_right += warmup.raw_end == s.end;
        rejected += warmup.raw_end != LC_NO_END && warmup.end == LC_NO_END;
        assert_true(warmup.end == LC_NO_END || warmup.end >= warmup.raw_end);
    }
    print_message("%s: %d of %d right, %d by the raw rule, %d rejected\n", name, count, TIMES,
                  raw_right, rejected);
    return count;
}

static void test_warmup(void **state) {
    (void)state;
    synthetic_state = first_seed(1);
    assert_true(right(cliff, "clean cliff") >= AT_LEAST);
    assert_true(right(rough_warm_up, "rough warm-up") >= AT_LEAST);
    assert_true(right(none, "none") >= AT_LEAST);
    assert_true(right(slow_decline, "slow decline") >= AT_LEAST);
    assert_true(right(lucky_minimum, "lucky minimum") >= AT_LEAST);
    assert_true(right(periodic_noise, "periodic noise") >= AT_LEAST);
    assert_true(right(two_modes, "two modes") >= AT_LEAST);
    assert_true(right(drifting_level, "drifting level") >= AT_LEAST);
}

/* What the line on the terminal says while repetitions come in: 48 of a warm-up, then good ones. */
static void test_phase_so_far(void **state) {
    static const struct {
        size_t n;
        const char *text;
    } cases[] = {{1, "first ones"},
                 {10, "first ones"},
                 {11, "no warm-up seen"},
                 {48, "no warm-up seen"},
                 {96, "warm since repetition 48"},
                 {200, "warm since repetition 48"}};
    double runs[200];
    (void)state;
    for (int i = 0; i < 200; i++)
        runs[i] = (i < 48 ? 3000 : 1000) + i % 7;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct lc_strbuf text = {0};
        double sorted[200];
        memcpy(sorted, runs, sizeof sorted);
        lc_stats_sort(sorted, cases[i].n);
        assert_int_equal(lc_phase_so_far(runs, cases[i].n,
                                         lc_stats_quantile_sorted(sorted, cases[i].n, 0.5), &text),
                         LC_OK);
        assert_string_equal(lc_strbuf_get(&text), cases[i].text);
        lc_strbuf_free(&text);
    }
}

/* By hand: median 100; the minimum falls 160 -> 100 at 12; before 10 nothing counts. */
static void test_raw_rule(void **state) {
    (void)state;
    double runs[40], median = 100;
    uint8_t category[40];
    for (int i = 0; i < 40; i++)
        runs[i] = i < 5 ? 200 : i < 12 ? 160 : 100;
    runs[0] = 500;
    runs[30] = 200; /* twice the median: an outlier */
    runs[31] = 199.9;
    assert_int_equal(lc_warmup_raw_end(runs, 40, median), 12);
    lc_categorize(runs, 40, median, 12, category);
    assert_int_equal(category[0], LC_CATEGORY_FIRST);
    for (int i = 1; i < 12; i++)
        assert_int_equal(category[i], LC_CATEGORY_WARMUP);
    assert_int_equal(category[12], LC_CATEGORY_GOOD);
    assert_int_equal(category[30], LC_CATEGORY_OUTLIER);
    assert_int_equal(category[31], LC_CATEGORY_GOOD);
    runs[9] = 100; /* the fall is before 10 now */
    assert_int_equal(lc_warmup_raw_end(runs, 40, median), LC_NO_END);
    runs[9] = 110; /* exactly a tenth of the median is a fall, less is not */
    assert_int_equal(lc_warmup_raw_end(runs, 40, median), 12);
    runs[9] = 109.9;
    assert_int_equal(lc_warmup_raw_end(runs, 40, median), LC_NO_END);
    lc_categorize(runs, 40, median, LC_NO_END, category);
    assert_int_equal(category[0], LC_CATEGORY_FIRST);
    assert_int_equal(category[1], LC_CATEGORY_OUTLIER);
}

/* The other metrics of the thesis, by hand. */
static void test_cumulative(void **state) {
    (void)state;
    const double runs[] = {4, 2, 6, 1, 7};
    const double expected[][5] = {{4, 3, 4, 3.25, 4}, {4, 3, 4, 3, 4}, {4, 2, 2, 1, 1}};
    double out[5];
    for (int m = 0; m < 3; m++) {
        assert_int_equal(lc_cumulative[m].fill(runs, 5, out), LC_OK);
        for (int i = 0; i < 5; i++)
            assert_true(fabs(out[i] - expected[m][i]) < 1e-12);
    }
    /* k = 21: the window of 0 has eleven times the first value, 2, 6, 1 and seven times the last */
    assert_int_equal(lc_cumulative[3].fill(runs, 5, out), LC_OK);
    assert_true(fabs(out[0] - (11 * 4 + 2 + 6 + 1 + 7 * 7) / 21.0) < 1e-12);
    assert_int_equal(lc_cumulative[4].fill(runs, 5, out), LC_OK);
    assert_true(out[0] == 4 && out[4] == 7);
}

/* The median of all run times until then, of a series with many equal ones. */
static void test_cumulative_median(void **state) {
    (void)state;
    enum { MANY = 400 };
    double runs[MANY], sorted[MANY], out[MANY];
    synthetic_state = first_seed(21);
    for (int i = 0; i < MANY; i++)
        runs[i] = i % 3 == 0 ? 100 : 90 + floor(20 * uniform());
    assert_int_equal(lc_cumulative[1].fill(runs, MANY, out), LC_OK);
    for (size_t i = 0; i < MANY; i++) {
        memcpy(sorted, runs, sizeof sorted);
        lc_stats_sort(sorted, i + 1);
        assert_float_equal(out[i], lc_stats_quantile_sorted(sorted, i + 1, 0.5), 1e-9);
    }
}

/* Figures 4.7 and 4.8 of [Roth 2021]: the minimum falls at the end of the warm-up, and that is in
 * the curve, whatever repetitions it leaves out. */
static void test_curve(void **state) {
    (void)state;
    enum { END = 333 };
    double runs[N];
    struct lc_curve curve;
    for (int i = 0; i < N; i++)
        runs[i] = (i < END ? 160 : 100) + i % 7;
    assert_int_equal(lc_curve_of(&lc_cumulative[2], runs, N, &curve), LC_OK);
    assert_int_equal(curve.n, LC_CURVE_POINTS);
    assert_true(curve.at[0] == 0 && curve.at[curve.n - 1] == N - 1);
    assert_true(curve.value[0] == 160 && curve.value[curve.n - 1] == 100);
    for (size_t k = 1; k < curve.n; k++) {
        bool here = curve.at[k - 1] < END && END <= curve.at[k];
        assert_true(here ? curve.delta[k] == 104 - 160 : fabs(curve.delta[k]) <= 4);
    }
    assert_int_equal(lc_curve_of(&lc_cumulative[0], runs, 1, &curve), LC_OK);
    assert_true(curve.n == 1 && curve.at[0] == 0 && curve.value[0] == 160 && curve.delta[0] == 0);
}

static size_t count_modes(void (*make)(struct series *s), struct lc_modes *modes) {
    struct series s = {.n = N, .end = LC_NO_END};
    make(&s);
    lc_stats_sort(s.runs, N);
    assert_int_equal(lc_modes_find(s.runs, N, modes), LC_OK);
    return modes->n;
}

static void test_modes(void **state) {
    (void)state;
    struct lc_modes modes;
    int one = 0, two = 0;
    synthetic_state = first_seed(2);
    for (int i = 0; i < TIMES; i++) {
        one += count_modes(none, &modes) == 1 && fabs(modes.mode[0].location_ns / 20000 - 1) < 0.05;
        two += count_modes(two_modes, &modes) == 2 &&
               fabs(modes.mode[0].location_ns / 20000 - 1) < 0.05 &&
               modes.mode[0].weight + modes.mode[1].weight > 0.93;
    }
    print_message("modes: one %d, two %d of %d\n", one, two, TIMES);
    assert_true(one >= AT_LEAST && two >= AT_LEAST);
}

/* 3 of the low mode, one of no mode, 1 low, 2 high, 1 low. */
static void test_dwell(void **state) {
    const double runs[] = {10, 11, 10, 15, 10, 20, 21, 11};
    struct lc_modes modes = {.n = 2,
                             .mode = {{.low_ns = 0, .high_ns = 12}, {.low_ns = 18, .high_ns = 30}}};
    (void)state;
    lc_modes_dwell(&modes, runs, sizeof runs / sizeof runs[0]);
    assert_int_equal(modes.mode[0].stays, 2);
    assert_int_equal(modes.mode[0].longest, 4);
    assert_float_equal(modes.mode[0].dwell, 2.5, 1e-12);
    assert_int_equal(modes.mode[1].stays, 1);
    assert_int_equal(modes.mode[1].longest, 2);
    assert_float_equal(modes.mode[1].dwell, 2, 1e-12);
}

static void test_change_points(void **state) {
    (void)state;
    int no_change = 0, near = 0, slow_first = 0;
    synthetic_state = first_seed(3);
    for (int i = 0; i < TIMES; i++) {
        struct series s = {.n = N, .end = LC_NO_END};
        size_t *points, n;
        none(&s);
        assert_int_equal(lc_change_points(s.runs, N, &points, &n), LC_OK);
        no_change += n == 0;
        free(points);
        s.runs[0] *= 100; /* the first is slow, or the last: no level */
        s.runs[N - 1] *= i % 2 == 0 ? 100 : 1;
        assert_int_equal(lc_change_points(s.runs, N, &points, &n), LC_OK);
        slow_first += n == 0;
        free(points);
        cliff(&s);
        assert_int_equal(lc_change_points(s.runs, N, &points, &n), LC_OK);
        near += n == 1 && llabs((long long)points[0] - s.end) <= 2;
        free(points);
    }
    print_message("change points: none %d, none of a slow first %d, one at the cliff %d of %d\n",
                  no_change, slow_first, near, TIMES);
    assert_true(no_change >= AT_LEAST && slow_first >= AT_LEAST && near >= AT_LEAST);
}

/* Every tenth repetition takes half as long again; others have no period, also those that remember,
 * drift, or change their level. */
static void test_period(void **state) {
    (void)state;
    int found = 0, none_found = 0;
    synthetic_state = first_seed(14);
    for (int i = 0; i < TIMES; i++) {
        double runs[N], level = 0;
        uint8_t category[N];
        struct lc_patterns p;
        for (int k = 0; k < N; k++) {
            level = 0.6 * level + gauss();
            runs[k] = 1000 * exp(0.02 * gauss()) * (k % 10 == 3 ? 1.5 : 1);
        }
        lc_categorize(runs, N, 1000, LC_NO_END, category);
        assert_int_equal(lc_patterns_find(runs, category, N, &p), LC_OK);
        found += p.period == 10 && p.autocorrelation > 0.3;
        for (int k = 0; k < N; k++) {
            level = 0.6 * level + gauss();
            runs[k] = (k < N / 3 ? 1500 : 1000) * exp(0.02 * level + 0.3 * k / N);
        }
        lc_categorize(runs, N, 1000, LC_NO_END, category);
        assert_int_equal(lc_patterns_find(runs, category, N, &p), LC_OK);
        none_found += p.period == 0;
    }
    int alternating = 0; /* levels that stay for five repetitions each */
    for (int i = 0; i < TIMES; i++) {
        double runs[N];
        uint8_t category[N];
        struct lc_patterns p;
        for (int k = 0; k < N; k++)
            runs[k] = (k / 5 % 2 == 0 ? 1000 : 1400) * exp(0.02 * gauss());
        lc_categorize(runs, N, 1200, LC_NO_END, category);
        assert_int_equal(lc_patterns_find(runs, category, N, &p), LC_OK);
        alternating += p.period == 10 && p.autocorrelation > 0.8;
    }
    print_message("period found %d, of alternating levels %d, none found %d of %d\n", found,
                  alternating, none_found, TIMES);
    assert_true(found >= AT_LEAST && none_found >= AT_LEAST && alternating >= AT_LEAST);
}

/* Forty outliers in four rows, and as many anywhere. */
static void test_clusters(void **state) {
    (void)state;
    enum { ALL = 1000 };
    double runs[ALL];
    uint8_t category[ALL];
    struct lc_patterns p;
    for (int k = 0; k < ALL; k++)
        runs[k] = k % 250 >= 100 && k % 250 < 120 && k % 2 == 0 ? 5000 : 1000 + k % 7;
    lc_categorize(runs, ALL, 1003, LC_NO_END, category);
    assert_int_equal(lc_patterns_find(runs, category, ALL, &p), LC_OK);
    assert_true(p.outliers == 40 && p.clusters == 4 && p.largest == 10);
    assert_true(p.clusters_by_chance > 30 && p.clusters_p < 1e-9);
    for (int k = 0; k < ALL; k++)
        runs[k] = k % 25 == 10 ? 5000 : 1000 + k % 7;
    lc_categorize(runs, ALL, 1003, LC_NO_END, category);
    assert_int_equal(lc_patterns_find(runs, category, ALL, &p), LC_OK);
    assert_true(p.outliers == 40 && p.clusters == 40 && p.largest == 1 && p.clusters_p > 0.99);
}

/* Every run time before the fall is above every one after it, and there are more of these. */
static void test_rank_test(void **state) {
    (void)state;
    enum { END = 41, ALL = 200 };
    double runs[ALL];
    struct lc_warmup warmup;
    for (int i = 0; i < ALL; i++)
        runs[i] = (i < END ? 150 : 100) + i % 7;
    assert_int_equal(lc_warmup_find(runs, ALL, 104, &warmup), LC_OK);
    assert_int_equal(warmup.end, END);
    assert_float_equal(warmup.superiority, 1, 1e-12);
    assert_float_equal(warmup.fall, 50 / 153.0, 1e-12); /* from a level of 153 to 103 */
    assert_true(warmup.p < 1e-9);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rank_test),  cmocka_unit_test(test_warmup),
        cmocka_unit_test(test_raw_rule),   cmocka_unit_test(test_phase_so_far),
        cmocka_unit_test(test_cumulative), cmocka_unit_test(test_cumulative_median),
        cmocka_unit_test(test_curve),      cmocka_unit_test(test_modes),
        cmocka_unit_test(test_dwell),      cmocka_unit_test(test_change_points),
        cmocka_unit_test(test_period),     cmocka_unit_test(test_clusters)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
