#include "measure/clocks/iteration_outliers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/stats.h"

struct usual {
    double median, limit; /* s; what lies above the limit is unusual */
};

/* Above 1.5 times the median, and beyond what most differ by. */
static struct usual find_usual(const double *v, double *room, size_t n) {
    struct usual usual;
    memcpy(room, v, n * sizeof *v);
    lc_stats_sort(room, n);
    usual.median = lc_stats_quantile_sorted(room, n, 0.5);
    for (size_t i = 0; i < n; i++)
        room[i] = fabs(v[i] - usual.median);
    lc_stats_sort(room, n);
    usual.limit =
        fmax(1.5 * usual.median, usual.median + 6 * lc_stats_quantile_sorted(room, n, 0.5));
    return usual;
}

/* The first iterations, up to a quarter of all, as long as they are unusual. */
static size_t warm_up(const double *v, size_t n, double limit) {
    size_t i = 0;
    while (i < n && v[i] > limit)
        i++;
    return i <= n / 4 ? i : 0;
}

static int larger(const void *a, const void *b) {
    double x = ((const struct lc_iteration_run *)a)->excess_s,
           y = ((const struct lc_iteration_run *)b)->excess_s;
    return (x < y) - (x > y);
}

/* Runs of unusual iterations, the costliest LC_ITERATION_OUTLIERS. */
static size_t find_runs(const double *v, size_t begin, size_t n, const struct usual *usual,
                        struct lc_iteration_run runs[LC_ITERATION_OUTLIERS + 1]) {
    size_t n_runs = 0;
    for (size_t i = begin; i < n; i++) {
        if (v[i] <= usual->limit)
            continue;
        struct lc_iteration_run run = {.from = i};
        for (; i < n && v[i] > usual->limit; i++)
            run.excess_s += v[i] - usual->median;
        run.until = i;
        runs[n_runs++] = run;
        qsort(runs, n_runs, sizeof *runs, larger);
        n_runs = n_runs < LC_ITERATION_OUTLIERS ? n_runs : LC_ITERATION_OUTLIERS;
    }
    return n_runs;
}

/* The rank that most often worked longest there; -1: none in more than half of them. */
static int64_t busiest(const int32_t *who, const struct lc_iteration_run *run) {
    for (size_t i = run->from; i < run->until; i++) {
        size_t same = 0;
        for (size_t k = run->from; k < run->until; k++)
            same += who[k] == who[i];
        if (2 * same > run->until - run->from)
            return who[i];
    }
    return -1;
}

void lc_iterations_outliers(const double *elapsed_s, const int32_t *who, size_t n,
                            struct lc_fact_loop *loop) {
    struct lc_iteration_run runs[LC_ITERATION_OUTLIERS + 1];
    double *room = malloc(n * sizeof *room);
    if (room == NULL)
        return;
    struct usual usual = find_usual(elapsed_s, room, n);
    free(room);
    loop->median_s = usual.median;
    loop->warm_up = warm_up(elapsed_s, n, usual.limit);
    loop->n_runs = find_runs(elapsed_s, (size_t)loop->warm_up, n, &usual, runs);
    for (size_t i = 0; i < loop->n_runs; i++) {
        loop->runs[i] = runs[i];
        loop->runs[i].rank = busiest(who, &runs[i]);
    }
}
