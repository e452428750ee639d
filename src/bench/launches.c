#include "bench/launches.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/stats.h"
#include "base/student.h"
#include "bench/random.h"

/* What no two variants are told apart by: clocks tick in whole nanoseconds. */
#define LC_LEAST_ERROR 1e-4
#define LC_LEVEL       0.95

/* Mean and standard error of log a - log b. */
static void log_difference(const double *a, const double *b, size_t n, double *mean,
                           double *error) {
    double sum = 0, squares = 0;
    for (size_t i = 0; i < n; i++)
        sum += log(a[i] / b[i]);
    *mean = sum / (double)n;
    for (size_t i = 0; i < n; i++)
        squares += pow(log(a[i] / b[i]) - *mean, 2);
    *error = n > 1 ? fmax(sqrt(squares / (double)(n - 1) / (double)n), LC_LEAST_ERROR) : INFINITY;
}

struct lc_ratio lc_launches_ratio(const double *a, const double *b, size_t n, double level) {
    double mean, error;
    log_difference(a, b, n, &mean, &error);
    if (n < 2)
        return (struct lc_ratio){exp(mean), 0, INFINITY, 0};
    double half = error * lc_student_quantile(level, (double)(n - 1));
    return (struct lc_ratio){exp(mean), exp(mean - half), exp(mean + half), mean / error};
}

struct pair {
    size_t slow, fast;
    double t;
};

static int by_distance(const void *a, const void *b) {
    double x = ((const struct pair *)a)->t, y = ((const struct pair *)b)->t;
    return (x < y) - (x > y);
}

struct placed {
    size_t variant;
    double level;
};

static int by_level(const void *a, const void *b) {
    const struct placed *x = a, *y = b;
    return (x->level > y->level) - (x->level < y->level);
}

static enum lc_err sort_variants(const double *times, size_t n, size_t rounds, size_t *order) {
    struct placed *placed;
    LC_TRY(lc_alloc(&placed, n, sizeof placed[0]));
    for (size_t v = 0; v < n; v++) {
        placed[v].variant = v;
        for (size_t r = 0; r < rounds; r++)
            placed[v].level += log(times[v * rounds + r]);
    }
    qsort(placed, n, sizeof placed[0], by_level);
    for (size_t v = 0; v < n; v++)
        order[v] = placed[v].variant;
    free(placed);
    return LC_OK;
}

/* Holm: the pair that is farthest apart against the level of all pairs, the next against that of
 * one fewer, .., until one is not told apart. */
static void tell_apart(struct pair *pairs, size_t n, size_t rounds,
                       struct lc_ranked_variant *ranked) {
    qsort(pairs, n, sizeof pairs[0], by_distance);
    for (size_t i = 0; i < n && rounds > 1; i++) {
        double level = 1 - (1 - LC_LEVEL) / (double)(n - i);
        if (pairs[i].t <= lc_student_quantile(level, (double)(rounds - 1)))
            break;
        ranked[pairs[i].slow].first++;
        ranked[pairs[i].fast].last--;
    }
}

enum lc_err lc_launches_rank(const double *times, size_t n, size_t rounds,
                             struct lc_ranked_variant *ranked, size_t *order) {
    struct pair *pairs;
    double *copy;
    size_t n_pairs = 0;
    double level = 1 - (1 - LC_LEVEL) / (double)(n > 2 ? n - 1 : 1);
    LC_TRY(sort_variants(times, n, rounds, order));
    LC_TRY(lc_alloc(&pairs, n * n + 1, sizeof pairs[0]));
    enum lc_err err = lc_alloc(&copy, rounds, sizeof copy[0]);
    for (size_t v = 0; v < n && err == LC_OK; v++) {
        const double *own = times + v * rounds;
        for (size_t r = 0; r < rounds; r++)
            copy[r] = own[r];
        lc_stats_sort(copy, rounds);
        ranked[v] = (struct lc_ranked_variant){
            .median = lc_stats_quantile_sorted(copy, rounds, 0.5),
            .first = 1,
            .last = n,
            .ratio = lc_launches_ratio(own, times + order[0] * rounds, rounds, level)};
        for (size_t o = 0; o < v; o++) {
            double t = lc_launches_ratio(own, times + o * rounds, rounds, level).t;
            pairs[n_pairs++] =
                (struct pair){.slow = t > 0 ? v : o, .fast = t > 0 ? o : v, .t = fabs(t)};
        }
    }
    if (err == LC_OK) {
        ranked[order[0]].ratio = (struct lc_ratio){1, 1, 1, 0};
        tell_apart(pairs, n_pairs, rounds, ranked);
    }
    free(copy);
    free(pairs);
    return err;
}

void lc_launches_shuffle(size_t *items, size_t n, uint64_t *random) {
    for (size_t i = 0; i < n; i++) {
        size_t other = (size_t)lc_random_below(random, i + 1);
        items[i] = items[other];
        items[other] = i;
    }
}
