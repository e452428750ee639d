/* Change points by PELT: R. Killick, P. Fearnhead, I. A. Eckley: Optimal detection of changepoints
 * with a linear computational cost. JASA 107, 2012. Cost of a segment: its squared distances from
 * its mean, in units of the noise. */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/stats.h"
#include "bench/cumulative.h"
#include "bench/modes.h"

enum { LEAST = 10, CELLS_MOST = 4096 };

struct cells { /* sums over groups of repetitions, so that long series take bounded time */
    size_t n, group;
    double *sum, *square; /* [n + 1], from the beginning */
};

/* The noise of a series without its level: from differences of neighbours; autocorrelation makes it
 * too small, so differences over a few repetitions are tried, too. */
static double noise_of(const double *values, size_t n, double *scratch) {
    double noise = 0;
    for (size_t lag = 1; lag <= LEAST && lag < n; lag++) {
        for (size_t i = lag; i < n; i++)
            scratch[i - lag] = fabs(values[i] - values[i - lag]);
        lc_stats_sort(scratch, n - lag);
        noise = fmax(noise, 1.4826 / sqrt(2.0) * lc_stats_quantile_sorted(scratch, n - lag, 0.5));
    }
    return fmax(noise, 1e-4);
}

/* The median of the LC_RUNNING_WINDOW values around each, of fewer at the ends: what stands there
 * is not repeated, so that a slow first repetition makes no level of its own. */
static void running_middle(const double *runs, size_t n, double *middle) {
    enum { HALF = LC_RUNNING_WINDOW / 2 };
    double values[LC_RUNNING_WINDOW];
    for (size_t i = 0; i < n; i++) {
        size_t from = i > HALF ? i - HALF : 0, to = i + HALF < n ? i + HALF + 1 : n;
        for (size_t k = from; k < to; k++)
            values[k - from] = runs[k];
        lc_stats_sort(values, to - from);
        middle[i] = lc_stats_quantile_sorted(values, to - from, 0.5);
    }
}

/* Levels (log of the running median), and by how much log x is away from them, at most three times
 * the noise; both in units of the noise. level: [n] or NULL. */
static enum lc_err split(const double *runs, size_t n, double *level, double *deviation) {
    double *memory;
    LC_TRY(lc_alloc(&memory, 2 * n, sizeof memory[0]));
    double *middle = memory, *scratch = memory + n;
    running_middle(runs, n, middle);
    for (size_t i = 0; i < n; i++)
        deviation[i] = log(runs[i]);
    double noise = noise_of(deviation, n, scratch);
    for (size_t i = 0; i < n; i++) {
        double at = log(middle[i]);
        deviation[i] = fmin(fmax((deviation[i] - at) / noise, -3), 3);
        if (level != NULL)
            level[i] = at / noise;
    }
    free(memory);
    return LC_OK;
}

/* log x without what is far from its level. scratch: [n]. */
static enum lc_err make_clean(const double *runs, size_t n, double *clean, double *scratch) {
    LC_TRY(split(runs, n, clean, scratch));
    for (size_t i = 0; i < n; i++)
        clean[i] += scratch[i];
    return LC_OK;
}

/* The mean of the LC_RUNNING_WINDOW values around each, of fewer at the ends, is taken off. sums:
 * [n + 1]. */
static void take_mean_off(double *values, size_t n, double *sums) {
    enum { HALF = LC_RUNNING_WINDOW / 2 };
    sums[0] = 0;
    for (size_t i = 0; i < n; i++)
        sums[i + 1] = sums[i] + values[i];
    for (size_t i = 0; i < n; i++) {
        size_t from = i > HALF ? i - HALF : 0, to = i + HALF < n ? i + HALF + 1 : n;
        values[i] -= (sums[to] - sums[from]) / (double)(to - from);
    }
}

enum lc_err lc_deviations(const double *runs, size_t n, double *deviations) {
    double *scratch;
    LC_TRY(lc_alloc(&scratch, n + 1, sizeof scratch[0]));
    enum lc_err err = make_clean(runs, n, deviations, scratch);
    if (err == LC_OK)
        take_mean_off(deviations, n, scratch);
    free(scratch);
    return err;
}

static enum lc_err make_cells(const double *clean, size_t n, struct cells *c) {
    c->group = (n + CELLS_MOST - 1) / CELLS_MOST;
    c->n = n / c->group;
    LC_TRY(lc_alloc(&c->sum, 2 * (c->n + 1), sizeof c->sum[0]));
    c->square = c->sum + c->n + 1;
    for (size_t i = 0; i < c->n; i++) {
        c->sum[i + 1] = c->sum[i];
        c->square[i + 1] = c->square[i];
        for (size_t k = i * c->group; k < (i + 1) * c->group; k++) {
            c->sum[i + 1] += clean[k];
            c->square[i + 1] += clean[k] * clean[k];
        }
    }
    return LC_OK;
}

static double cost(const struct cells *c, size_t from, size_t to) {
    double sum = c->sum[to] - c->sum[from], count = (double)((to - from) * c->group);
    return c->square[to] - c->square[from] - sum * sum / count;
}

struct search {
    double *best; /* [n + 1] cost of the best division of the first cells */
    size_t *last; /* [n + 1] its last change point */
    size_t *open; /* candidates for the last change point */
    size_t n_open;
};

static void search_all(const struct cells *c, double penalty, struct search *s) {
    size_t least = (LEAST + c->group - 1) / c->group;
    s->best[0] = -penalty;
    for (size_t to = 1; to <= c->n; to++) {
        s->best[to] = INFINITY;
        if (to < least)
            continue;
        s->open[s->n_open++] = to - least; /* a division of nothing, or of cells enough */
        for (size_t k = 0; k < s->n_open; k++) {
            double total = s->best[s->open[k]] + cost(c, s->open[k], to) + penalty;
            if (total < s->best[to]) {
                s->best[to] = total;
                s->last[to] = s->open[k];
            }
        }
        size_t kept = 0; /* what is worse by the penalty now will never be best again */
        for (size_t k = 0; k < s->n_open; k++)
            if (s->best[s->open[k]] + cost(c, s->open[k], to) <= s->best[to])
                s->open[kept++] = s->open[k];
        s->n_open = kept;
    }
}

static enum lc_err collect(const struct cells *c, const struct search *s, size_t **points,
                           size_t *count) {
    for (size_t to = s->last[c->n]; to > 0; to = s->last[to])
        ++*count;
    LC_TRY(lc_alloc(points, *count, sizeof(*points)[0]));
    size_t at = *count;
    for (size_t to = s->last[c->n]; to > 0; to = s->last[to])
        (*points)[--at] = to * c->group;
    return LC_OK;
}

enum lc_err lc_change_points(const double *runs, size_t n, size_t **points, size_t *count) {
    *points = NULL;
    *count = 0;
    if (n < 2 * LEAST)
        return LC_OK;
    double *clean;
    struct cells c = {0};
    struct search s = {0};
    LC_TRY(lc_alloc(&clean, 2 * n, sizeof clean[0]));
    enum lc_err err = make_clean(runs, n, clean, clean + n);
    if (err == LC_OK)
        err = make_cells(clean, n, &c);
    if (err == LC_OK)
        err = lc_alloc(&s.best, c.n + 1, sizeof s.best[0]);
    if (err == LC_OK)
        err = lc_alloc(&s.last, 2 * (c.n + 1), sizeof s.last[0]);
    if (err == LC_OK) {
        s.open = s.last + c.n + 1;
        search_all(&c, 5 * log((double)n), &s);
        err = collect(&c, &s, points, count);
    }
    free(s.best);
    free(s.last);
    free(c.sum);
    free(clean);
    return err;
}
