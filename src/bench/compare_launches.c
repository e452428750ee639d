#include "bench/compare_launches.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/stats.h"
#include "base/student.h"

/* How often each bound may fail, so that both of all quantiles hold at 95 % at once: beside other
 * work the tail of a launch does not go with its body. */
#define LC_FAILS       (0.05 / 2 / LC_COMPARED)
#define LC_LEAST_ERROR 1e-4

/* Degrees of freedom from which on launches say themselves how much they differ: three on each side
 * do. */
enum { ENOUGH = 4 };

struct launches {
    double mean[LC_COMPARED];    /* of the logarithms of a quantile */
    double squares[LC_COMPARED]; /* sum of squared deviations from it */
    struct lc_modes modes;       /* of all run times together */
};

/* Run times after the warm-up. */
static size_t take_runs(const struct lc_fingerprint *f, double *runs) {
    size_t n = 0;
    for (size_t i = 0; i < f->n; i++)
        if (f->category[i] > LC_CATEGORY_WARMUP)
            runs[n++] = f->runs[i];
    lc_stats_sort(runs, n);
    return n;
}

static void sum_up(const struct lc_fingerprint *const *list, size_t n, double *memory,
                   struct launches *l) {
    for (int turn = 0; turn < 2; turn++)
        for (size_t i = 0; i < n; i++) {
            size_t count = take_runs(list[i], memory);
            for (int q = 0; q < LC_COMPARED; q++) {
                double value =
                    log(lc_stats_quantile_sorted(memory, count, lc_compared_quantiles[q]));
                if (turn == 0)
                    l->mean[q] += value / (double)n;
                else
                    l->squares[q] += pow(value - l->mean[q], 2);
            }
        }
}

static enum lc_err launches_make(const struct lc_fingerprint *const *list, size_t n,
                                 struct launches *l) {
    double *memory;
    size_t total = 0, used = 0;
    *l = (struct launches){0};
    for (size_t i = 0; i < n; i++)
        total += list[i]->n;
    LC_TRY(lc_alloc(&memory, total, sizeof memory[0]));
    sum_up(list, n, memory, l);
    for (size_t i = 0; i < n; i++)
        used += take_runs(list[i], memory + used);
    lc_stats_sort(memory, used);
    enum lc_err err = lc_modes_find(memory, used, &l->modes);
    free(memory);
    return err;
}

/* Half the width that leaves room for other launches, of logarithms. */
static double guessed_half(double count_a, double count_b) {
    return log(LC_LAUNCHES_DIFFER) * sqrt((1 / count_a + 1 / count_b) / 2);
}

/* Launches of both sides vary alike: one variance for them. Few of them tell little of it. */
static void set_band(const struct launches *a, size_t n_a, const struct launches *b, size_t n_b,
                     size_t pairs, struct lc_bench_pair *pair) {
    double count_a = (double)n_a, count_b = (double)n_b, freedom = count_a + count_b - 2;
    double t = lc_student_quantile(1 - LC_FAILS / (double)pairs, freedom);
    double least = freedom < ENOUGH ? guessed_half(count_a, count_b) : 0;
    pair->launches_guessed = least > 0;
    for (int q = 0; q < LC_COMPARED; q++) {
        double variance = (a->squares[q] + b->squares[q]) / freedom;
        double half = t * fmax(sqrt(variance * (1 / count_a + 1 / count_b)), LC_LEAST_ERROR);
        half = fmax(half, least);
        double shift = b->mean[q] - a->mean[q];
        pair->a[q] = exp(a->mean[q]);
        pair->b[q] = exp(b->mean[q]);
        pair->shift[q] = expm1(shift);
        pair->low[q] = expm1(shift - half);
        pair->high[q] = expm1(shift + half);
    }
}

/* Measured here: a launch of many. What was imported may be anything. */
static bool is_launch(const struct lc_fingerprint *f) {
    return json_object_get(json_object_get(f->about, "benchmark"), "sync") != NULL;
}

struct span {
    double first, last; /* seconds since 1970; first 0: not known of all */
};

static struct span begun(const struct lc_fingerprint *const *list, size_t n) {
    struct span s = {INFINITY, 0};
    for (size_t i = 0; i < n; i++) {
        double at = json_number_value(
            json_object_get(json_object_get(list[i]->about, "benchmark"), "begun_s"));
        s.first = fmin(s.first, at);
        s.last = fmax(s.last, at);
    }
    return s;
}

/* Then what changed on the machine meanwhile is in the difference of the sides, not in that of the
 * launches of one. */
static bool one_after_other(const struct lc_fingerprint *const *a, size_t n_a,
                            const struct lc_fingerprint *const *b, size_t n_b) {
    struct span of_a = begun(a, n_a), of_b = begun(b, n_b);
    return n_a > 1 && n_b > 1 && of_a.first > 0 && of_b.first > 0 &&
           (of_a.last < of_b.first || of_b.last < of_a.first);
}

static void widen(const struct lc_fingerprint *a, const struct lc_fingerprint *b,
                  struct lc_bench_pair *pair) {
    for (int q = 0; q < LC_COMPARED; q++) {
        double shift = log1p(pair->shift[q]), half = log1p(pair->high[q]) - shift;
        half = hypot(half, guessed_half(1, 1));
        pair->low[q] = expm1(shift - half);
        pair->high[q] = expm1(shift + half);
    }
    pair->launches_guessed = true;
    pair->verdict = lc_bench_judge(&a->modes, &b->modes, pair);
}

enum lc_err lc_bench_compare_launches(const struct lc_fingerprint *const *a, size_t n_a,
                                      const struct lc_fingerprint *const *b, size_t n_b,
                                      uint64_t seed, size_t pairs, struct lc_bench_pair *pair) {
    struct launches sides[2];
    *pair = (struct lc_bench_pair){.verdict = LC_BENCH_NOT_COMPARABLE,
                                   .verdict_within = LC_BENCH_NOT_COMPARABLE,
                                   .launches = {n_a, n_b}};
    for (size_t i = 0; i < n_a + n_b && pair->why == NULL; i++)
        pair->why = lc_bench_why_not(a[0], i < n_a ? a[i] : b[i - n_a]);
    if (pair->why != NULL)
        return LC_OK;
    if (n_a == 1 && n_b == 1) {
        LC_TRY(lc_bench_compare(a[0], b[0], seed, pairs, pair));
        if (is_launch(a[0]) && is_launch(b[0]))
            widen(a[0], b[0], pair);
        return LC_OK;
    }
    LC_TRY(launches_make(a, n_a, &sides[0]));
    LC_TRY(launches_make(b, n_b, &sides[1]));
    set_band(&sides[0], n_a, &sides[1], n_b, pairs, pair);
    pair->one_after_other = one_after_other(a, n_a, b, n_b);
    pair->verdict = pair->verdict_within = lc_bench_judge(&sides[0].modes, &sides[1].modes, pair);
    return LC_OK;
}
