#include "bench/bench_compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/stats.h"
#include "base/student.h"
#include "bench/random.h"

enum { DRAWS = 600, LEAST = 30 };
/* What no quantile is told apart by: clocks tick in whole nanoseconds. */
#define LC_LEAST_ERROR 1e-4

const double lc_compared_quantiles[LC_COMPARED] = {0.05, 0.1, 0.25, 0.4, 0.5, 0.6, 0.75, 0.9, 0.95};
enum { BODY_FIRST = 2, MEDIAN = 4, BODY_LAST = 6 }; /* 25 % to 75 % */

const char *lc_bench_verdict_name(enum lc_bench_verdict verdict) {
    static const char *const names[] = {"same", "tail differs", "shifted", "modes differ",
                                        "not comparable"};
    return names[verdict];
}

struct side { /* run times after the warm-up as places in their sorted order */
    double *sorted;
    uint32_t *place;
    uint32_t *drawn; /* [n] how often each was drawn */
    size_t n, block;
    double low[LC_COMPARED], high[LC_COMPARED]; /* logarithms: bounds of each quantile by itself */
};

double lc_compared_normal(size_t pairs) {
    return lc_student_quantile(1 - 0.05 / LC_COMPARED / (double)pairs, LC_STUDENT_MOST);
}

enum lc_err lc_compared_effective(const double *runs, size_t n, double effective[LC_COMPARED]) {
    struct lc_quantile_interval median, tail;
    LC_TRY(lc_dependent_quantile(runs, n, 0.5, &median));
    LC_TRY(lc_dependent_quantile(runs, n, 0.95, &tail));
    for (int q = 0; q < LC_COMPARED; q++)
        effective[q] = lc_compared_quantiles[q] > 0.7 ? fmin(median.effective, tail.effective)
                                                      : median.effective;
    return LC_OK;
}

void lc_compared_bounds(const double *sorted, size_t n, double z,
                        const double effective[LC_COMPARED], double low[LC_COMPARED],
                        double high[LC_COMPARED]) {
    for (int q = 0; q < LC_COMPARED; q++) {
        double at = lc_compared_quantiles[q], half = z * sqrt(at * (1 - at) / effective[q]);
        low[q] = at - half > 0 ? log(lc_stats_quantile_sorted(sorted, n, at - half)) : -INFINITY;
        high[q] = at + half < 1 ? log(lc_stats_quantile_sorted(sorted, n, at + half)) : INFINITY;
    }
}

struct placed {
    double value;
    uint32_t at;
};

static int by_value(const void *a, const void *b) {
    const struct placed *x = a, *y = b;
    return (x->value > y->value) - (x->value < y->value);
}

/* z: of the bounds of quantiles. */
static enum lc_err side_new(struct side *s, const struct lc_fingerprint *f, double z) {
    double *runs, effective[LC_COMPARED];
    struct placed *order;
    *s = (struct side){0};
    LC_TRY(lc_alloc(&runs, f->n, sizeof runs[0]));
    for (size_t i = 0; i < f->n; i++)
        if (f->category[i] > LC_CATEGORY_WARMUP)
            runs[s->n++] = f->runs[i];
    enum lc_err err = lc_alloc(&order, s->n + 1, sizeof order[0]);
    if (err == LC_OK)
        err = lc_alloc(&s->sorted, s->n + 1, sizeof s->sorted[0]);
    if (err == LC_OK)
        err = lc_alloc(&s->place, 2 * (s->n + 1), sizeof s->place[0]);
    for (size_t i = 0; err == LC_OK && i < s->n; i++)
        order[i] = (struct placed){runs[i], (uint32_t)i};
    if (err == LC_OK) {
        s->drawn = s->place + s->n + 1;
        qsort(order, s->n, sizeof order[0], by_value);
        for (size_t i = 0; i < s->n; i++) {
            s->sorted[i] = order[i].value;
            s->place[order[i].at] = (uint32_t)i;
        }
        if (s->n > 0)
            err = lc_block_length(runs, s->n, &s->block);
        if (s->n > 0 && err == LC_OK)
            err = lc_compared_effective(runs, s->n, effective);
        if (s->n > 0 && err == LC_OK)
            lc_compared_bounds(s->sorted, s->n, z, effective, s->low, s->high);
    }
    free(order);
    free(runs);
    return err;
}

static void side_free(struct side *s) {
    free(s->sorted);
    free(s->place);
}

/* Logarithms of the quantiles of one draw: blocks with random beginnings, around the end. */
static void draw(struct side *s, uint64_t *random, double *quantiles) {
    memset(s->drawn, 0, s->n * sizeof s->drawn[0]);
    for (size_t taken = 0; taken < s->n;) {
        size_t from = (size_t)lc_random_below(random, s->n);
        for (size_t k = 0; k < s->block && taken < s->n; k++, taken++)
            s->drawn[s->place[(from + k) % s->n]]++;
    }
    size_t sum = 0, q = 0;
    for (size_t i = 0; i < s->n && q < LC_COMPARED; i++) {
        sum += s->drawn[i];
        while (q < LC_COMPARED && (double)sum > lc_compared_quantiles[q] * (double)(s->n - 1))
            quantiles[q++] = log(s->sorted[i]);
    }
    while (q < LC_COMPARED)
        quantiles[q++] = log(s->sorted[s->n - 1]);
}

/* The band: standard errors of the draws, and how many of them hold for all quantiles at once;
 * `wider` times that for all pairs at once. */
static enum lc_err make_band(struct side *a, struct side *b, uint64_t seed, double wider,
                             struct lc_bench_pair *pair) {
    double(*draws)[LC_COMPARED], from_a[LC_COMPARED], from_b[LC_COMPARED];
    double mean[LC_COMPARED] = {0}, error[LC_COMPARED] = {0}, *largest;
    LC_TRY(lc_alloc(&draws, DRAWS, sizeof draws[0]));
    enum lc_err err = lc_alloc(&largest, DRAWS, sizeof largest[0]);
    if (err != LC_OK) {
        free(draws);
        return err;
    }
    for (int d = 0; d < DRAWS; d++) {
        draw(a, &seed, from_a);
        draw(b, &seed, from_b);
        for (int q = 0; q < LC_COMPARED; q++) {
            draws[d][q] = from_b[q] - from_a[q];
            mean[q] += draws[d][q] / DRAWS;
        }
    }
    for (int d = 0; d < DRAWS; d++)
        for (int q = 0; q < LC_COMPARED; q++)
            error[q] += pow(draws[d][q] - mean[q], 2) / (DRAWS - 1);
    for (int q = 0; q < LC_COMPARED; q++)
        error[q] = fmax(sqrt(error[q]), LC_LEAST_ERROR);
    for (int d = 0; d < DRAWS; d++)
        for (int q = 0; q < LC_COMPARED; q++)
            largest[d] = fmax(largest[d], fabs(draws[d][q] - mean[q]) / error[q]);
    lc_stats_sort(largest, DRAWS);
    /* few blocks make errors of their own; both numbers: calibrated on pairs of equals (tests) */
    size_t whole = a->n / a->block + b->n / b->block;
    double blocks = (double)whole;
    double width = lc_stats_quantile_sorted(largest, DRAWS, 0.97) * (1 + 10 / blocks) * wider;
    for (int q = 0; q < LC_COMPARED; q++) {
        double shift = log(pair->b[q] / pair->a[q]);
        pair->shift[q] = expm1(shift);
        double low = b->low[q] - a->high[q], high = b->high[q] - a->low[q];
        if (isfinite(low) && isfinite(high)) {
            low = fmax(low, shift - width * error[q]);
            high = fmin(high, shift + width * error[q]);
        } else { /* one side alone would not say in which direction it may be wrong */
            low = -INFINITY;
            high = INFINITY;
        }
        pair->low[q] = expm1(low);
        pair->high[q] = expm1(high);
    }
    free(largest);
    free(draws);
    return LC_OK;
}

static bool differs(const struct lc_bench_pair *p, int q) {
    return p->low[q] > 0 || p->high[q] < 0;
}

bool lc_bench_crosses(const struct lc_bench_pair *p) {
    bool longer = false, shorter = false;
    for (int q = 0; q < LC_COMPARED && p->why == NULL; q++) {
        longer |= p->low[q] > 0;
        shorter |= p->high[q] < 0;
    }
    return longer && shorter;
}

/* Modes that are no part of a tail. */
#define LC_HEAVY 0.15

/* Weights of those that lie `apart` (of logarithms) at least: nearer ones are one. */
static size_t heavy_modes(const struct lc_modes *modes, double apart,
                          double weights[LC_MODES_MOST]) {
    double sum = 0;
    size_t n = 0;
    for (size_t i = 0; i < modes->n; i++) {
        sum += modes->mode[i].weight;
        if (i + 1 < modes->n &&
            log(modes->mode[i + 1].location_ns / modes->mode[i].location_ns) < apart)
            continue;
        if (sum >= LC_HEAVY)
            weights[n++] = sum;
        sum = 0;
    }
    return n;
}

/* What moves quantiles this far: run times that change from one mode to another move by as much as
 * the modes lie apart. Fine levels within one mode come and go from launch to launch. */
static double modes_apart(const struct lc_bench_pair *p) {
    double largest = 0;
    for (int q = 0; q < LC_COMPARED; q++)
        if (differs(p, q))
            largest = fmax(largest, fabs(log1p(p->shift[q])));
    return largest / 2;
}

/* As many, each with about the weight that it had; where they are is a shift. */
static bool same_modes(const struct lc_modes *a, const struct lc_modes *b, double apart) {
    double in_a[LC_MODES_MOST], in_b[LC_MODES_MOST];
    size_t n = heavy_modes(a, apart, in_a);
    if (heavy_modes(b, apart, in_b) != n)
        return false;
    for (size_t i = 0; i < n; i++)
        if (fabs(in_a[i] - in_b[i]) > 0.15)
            return false;
    return true;
}

/* The last quantiles moved this much more than the median: the body stood still beside them. */
enum { TAIL_FIRST = 7, TAIL_TIMES = 4 };

enum lc_bench_verdict lc_bench_judge(const struct lc_modes *a, const struct lc_modes *b,
                                     const struct lc_bench_pair *p) {
    bool any = false, tail = false;
    int body = 0;
    for (int q = 0; q < LC_COMPARED; q++) {
        any |= differs(p, q);
        body += q >= BODY_FIRST && q <= BODY_LAST && differs(p, q);
        tail |= q >= TAIL_FIRST && differs(p, q) &&
                fabs(p->shift[q]) > TAIL_TIMES * fabs(p->shift[MEDIAN]);
    }
    if (!any)
        return LC_BENCH_SAME;
    if (!same_modes(a, b, modes_apart(p)))
        return LC_BENCH_MODES;
    bool shifted = differs(p, MEDIAN) || body >= 2;
    return shifted && !tail ? LC_BENCH_SHIFTED : LC_BENCH_TAIL;
}

const char *lc_bench_why_not(const struct lc_fingerprint *a, const struct lc_fingerprint *b) {
    return strcmp(a->operation, b->operation) != 0 ? "different operations"
           : a->bytes != b->bytes                  ? "different sizes"
           : a->ranks != b->ranks                  ? "different numbers of ranks"
           : a->of[LC_CATEGORY_GOOD].count < LEAST || b->of[LC_CATEGORY_GOOD].count < LEAST
               ? "fewer than 30 repetitions"
               : NULL;
}

enum lc_err lc_bench_compare(const struct lc_fingerprint *a, const struct lc_fingerprint *b,
                             uint64_t seed, size_t pairs, struct lc_bench_pair *pair) {
    struct side sides[2] = {{0}, {0}};
    double z = lc_compared_normal(pairs);
    *pair = (struct lc_bench_pair){.verdict = LC_BENCH_NOT_COMPARABLE,
                                   .verdict_within = LC_BENCH_NOT_COMPARABLE,
                                   .why = lc_bench_why_not(a, b),
                                   .launches = {1, 1}};
    if (pair->why != NULL)
        return LC_OK;
    enum lc_err err = side_new(&sides[0], a, z);
    if (err == LC_OK)
        err = side_new(&sides[1], b, z);
    for (int q = 0; err == LC_OK && q < LC_COMPARED; q++) {
        pair->a[q] =
            lc_stats_quantile_sorted(sides[0].sorted, sides[0].n, lc_compared_quantiles[q]);
        pair->b[q] =
            lc_stats_quantile_sorted(sides[1].sorted, sides[1].n, lc_compared_quantiles[q]);
    }
    if (err == LC_OK)
        err = make_band(&sides[0], &sides[1], seed, z / lc_compared_normal(1), pair);
    if (err == LC_OK)
        pair->verdict = pair->verdict_within = lc_bench_judge(&a->modes, &b->modes, pair);
    side_free(&sides[0]);
    side_free(&sides[1]);
    return err;
}

/* Differences of two values, also of members in them; keys as "mpi.version", "nodes.0.name". */
static void add_differences(const char *name, json_t *a, json_t *b, json_t *list) {
    const char *key;
    json_t *value;
    size_t n;
    char inner[256];
    if (json_is_object(a) && json_is_object(b)) {
        for (int turn = 0; turn < 2; turn++)
            json_object_foreach(turn == 0 ? a : b, key, value) {
                json_t *other = json_object_get(turn == 0 ? b : a, key);
                if (turn == 1 && other != NULL)
                    continue;
                snprintf(inner, sizeof inner, "%s.%s", name, key);
                add_differences(inner, turn == 0 ? value : NULL, turn == 0 ? other : value, list);
            }
    } else if (json_is_array(a) && (n = json_array_size(a)) == json_array_size(b) && n > 0 &&
               json_is_object(json_array_get(a, 0))) {
        for (size_t i = 0; i < n; i++) {
            snprintf(inner, sizeof inner, "%s.%zu", name, i);
            add_differences(inner, json_array_get(a, i), json_array_get(b, i), list);
        }
    } else if (!json_equal(a, b)) {
        json_array_append_new(list, json_pack("{s:s, s:O, s:O}", "key", name, "a",
                                              a != NULL ? a : json_null(), "b",
                                              b != NULL ? b : json_null()));
    }
}

/* What differs from launch to launch though nobody has set it so. */
static bool is_outcome(const char *key) {
    static const char *const outcomes[] = {"begun",
                                           "begun_s",
                                           "duration_s",
                                           "job_s",
                                           "repetitions",
                                           "invalid",
                                           "late_first",
                                           "broadcast_ns",
                                           "window_ns",
                                           "overlap_compute_ns",
                                           "overlap_share",
                                           "overlap_share_ci",
                                           "stopped",
                                           "command",
                                           "launched_by",
                                           "start_skew_ns",
                                           "start_to_start_ns",
                                           "empty_ns",
                                           "median_less_empty_ns",
                                           "median_less_empty_ci_ns"};
    for (size_t i = 0; i < sizeof outcomes / sizeof outcomes[0]; i++)
        if (strcmp(key, outcomes[i]) == 0)
            return true;
    return false;
}

static json_t *settings_of(const struct lc_fingerprint *f) {
    json_t *settings = json_object(), *value;
    const char *key;
    json_object_foreach(json_object_get(f->about, "benchmark"), key, value) if (!is_outcome(key))
        json_object_set(settings, key, value);
    return settings;
}

json_t *lc_bench_differences(const struct lc_fingerprint *a, const struct lc_fingerprint *b) {
    static const char *const keys[] = {"nodes", "machine", "mpi", "environment"};
    json_t *list = json_array(), *x = settings_of(a), *y = settings_of(b);
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        json_t *in_a = json_object_get(a->about, keys[i]),
               *in_b = json_object_get(b->about, keys[i]);
        if (in_a != NULL && in_b != NULL) /* of what was imported nothing is known */
            add_differences(keys[i], in_a, in_b, list);
    }
    if (json_object_size(x) > 0 && json_object_size(y) > 0)
        add_differences("benchmark", x, y, list);
    json_decref(x);
    json_decref(y);
    return list;
}
