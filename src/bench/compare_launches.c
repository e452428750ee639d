#include "bench/compare_launches.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/stats.h"
#include "base/student.h"
#include "bench/interference.h"

/* How often each bound may fail, so that both of all quantiles hold at 95 % at once: beside other
 * work the tail of a launch does not go with its body. */
#define LC_FAILS       (0.05 / 2 / LC_COMPARED)
#define LC_LEAST_ERROR 1e-4

/* Degrees of freedom from which on launches say themselves how much they differ: three on each side
 * do. */
enum { ENOUGH = 4 };

struct launches {
    double mean[LC_COMPARED];                       /* of the logarithms of a quantile */
    double squares[LC_COMPARED];                    /* sum of squared deviations from it */
    double lower[LC_COMPARED], higher[LC_COMPARED]; /* bounds of it by the repetitions */
    struct lc_modes modes;                          /* of all run times together */
};

/* Run times after the warm-up. */
static size_t take_runs(const struct lc_fingerprint *f, double *runs) {
    size_t n = 0;
    for (size_t i = 0; i < f->n; i++)
        if (f->category[i] > LC_CATEGORY_WARMUP)
            runs[n++] = f->runs[i];
    return n;
}

/* One more launch, with so many before it. */
static void add_launch(const double *sorted, size_t n, double before, struct launches *l) {
    for (int q = 0; q < LC_COMPARED; q++) {
        double value = log(lc_stats_quantile_sorted(sorted, n, lc_compared_quantiles[q]));
        double from_mean = value - l->mean[q];
        l->mean[q] += from_mean / (before + 1);
        l->squares[q] += from_mean * (value - l->mean[q]);
    }
}

/* How far each mean may be off by what all repetitions together tell of the share below it. */
static void add_bounds(const double *sorted, size_t n, double z,
                       const double effective[LC_COMPARED], double launches, struct launches *l) {
    double low[LC_COMPARED], high[LC_COMPARED];
    lc_compared_bounds(sorted, n, z, effective, low, high);
    for (int q = 0; q < LC_COMPARED; q++) {
        l->lower[q] += fmax(low[q], log(sorted[0])) / launches;
        l->higher[q] += fmin(high[q], log(sorted[n - 1])) / launches;
    }
}

/* z: of the bounds. */
static enum lc_err launches_make(const struct lc_fingerprint *const *list, size_t n, double z,
                                 struct launches *l) {
    double *sorted, *runs, effective[LC_COMPARED], all[LC_COMPARED] = {0};
    size_t total = 0, used = 0;
    enum lc_err err = LC_OK;
    *l = (struct launches){0};
    for (size_t i = 0; i < n; i++)
        total += list[i]->n;
    LC_TRY(lc_alloc(&sorted, 2 * total, sizeof sorted[0]));
    runs = sorted + total;
    for (size_t i = 0; i < n && err == LC_OK; i++) {
        size_t count = take_runs(list[i], runs);
        memcpy(sorted + used, runs, count * sizeof runs[0]);
        lc_stats_sort(sorted + used, count);
        add_launch(sorted + used, count, (double)i, l);
        err = lc_compared_effective(runs, count, effective);
        for (int q = 0; q < LC_COMPARED && err == LC_OK; q++)
            all[q] += effective[q];
        used += count;
    }
    used = 0;
    for (size_t i = 0; i < n && err == LC_OK; i++) {
        size_t count = take_runs(list[i], runs);
        add_bounds(sorted + used, count, z, all, (double)n, l);
        used += count;
    }
    if (err == LC_OK) {
        lc_stats_sort(sorted, used);
        err = lc_modes_find(sorted, used, &l->modes);
    }
    free(sorted);
    return err;
}

/* Half the width that leaves room for other launches, of logarithms. */
static double guessed_half(double count_a, double count_b) {
    return log(LC_LAUNCHES_DIFFER) * sqrt((1 / count_a + 1 / count_b) / 2);
}

/* Launches of both sides vary alike: one variance for them. Few of them tell little of it, so that
 * by luck they may seem to agree on what their own repetitions do not tell: whether a quantile lies
 * in a tail that a twentieth of them has. No band is narrower than these say. */
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
        double down = hypot(b->mean[q] - b->lower[q], a->higher[q] - a->mean[q]);
        double up = hypot(b->higher[q] - b->mean[q], a->mean[q] - a->lower[q]);
        pair->low[q] = expm1(shift - fmax(half, down));
        pair->high[q] = expm1(shift + fmax(half, up));
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

/* A launch beside other work may be ten thousand times as long as one that had its cores: few of
 * them do not tell how much that does. */
static const char *why_not(const struct lc_fingerprint *const *a, size_t n_a,
                           const struct lc_fingerprint *const *b, size_t n_b) {
    const char *why = NULL;
    bool disturbed = false;
    for (size_t i = 0; i < n_a + n_b && why == NULL; i++) {
        const struct lc_fingerprint *f = i < n_a ? a[i] : b[i - n_a];
        why = lc_bench_why_not(a[0], f);
        disturbed |= lc_interference_prevails(f->about);
    }
    if (why == NULL && disturbed && n_a + n_b < 2 + ENOUGH)
        why = "ranks had to share their cores: three launches on each side tell how much that does";
    return why;
}

enum lc_err lc_bench_compare_launches(const struct lc_fingerprint *const *a, size_t n_a,
                                      const struct lc_fingerprint *const *b, size_t n_b,
                                      uint64_t seed, size_t pairs, struct lc_bench_pair *pair) {
    struct launches sides[2];
    *pair = (struct lc_bench_pair){.verdict = LC_BENCH_NOT_COMPARABLE,
                                   .verdict_within = LC_BENCH_NOT_COMPARABLE,
                                   .why = why_not(a, n_a, b, n_b),
                                   .launches = {n_a, n_b}};
    if (pair->why != NULL)
        return LC_OK;
    if (n_a == 1 && n_b == 1) {
        LC_TRY(lc_bench_compare(a[0], b[0], seed, pairs, pair));
        if (is_launch(a[0]) && is_launch(b[0]))
            widen(a[0], b[0], pair);
        return LC_OK;
    }
    double z = lc_compared_normal(pairs);
    LC_TRY(launches_make(a, n_a, z, &sides[0]));
    LC_TRY(launches_make(b, n_b, z, &sides[1]));
    set_band(&sides[0], n_a, &sides[1], n_b, pairs, pair);
    pair->one_after_other = one_after_other(a, n_a, b, n_b);
    pair->verdict = pair->verdict_within = lc_bench_judge(&sides[0].modes, &sides[1].modes, pair);
    return LC_OK;
}
