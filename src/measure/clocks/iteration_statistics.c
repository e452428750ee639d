#include "measure/clocks/iteration_statistics.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/stats.h"
#include "base/strbuf.h"

enum {
    VALUES = 256,
};

/* What the line through all values (least squares) gains from the first to the last. */
static double drift(const double *v, size_t n) {
    double mean = lc_stats_mean(v, n), middle = ((double)n - 1) / 2, above = 0, below = 0;
    for (size_t i = 0; i < n; i++) {
        double x = (double)i - middle;
        above += x * (v[i] - mean);
        below += x * x;
    }
    return below > 0 ? above / below * ((double)n - 1) : 0;
}

void lc_iterations_put(struct lc_strbuf *out, const char *name, double *v, size_t n, size_t unit,
                       int sign) {
    size_t best = 0, worst = 0;
    for (size_t i = 1; i < n; i++) {
        if (sign * v[i] > sign * v[best])
            best = i;
        if (sign * v[i] < sign * v[worst])
            worst = i;
    }
    double first = v[0], gain = drift(v, n), ends[2] = {v[best], v[worst]};
    lc_stats_sort(v, n);
    lc_strbuf_printf(out,
                     "\"%s\": {\"first\": %.17g, \"best\": %.17g, \"best_at\": %zu, \"median\": "
                     "%.17g, \"worst\": %.17g, \"worst_at\": %zu, \"drift\": %.17g}",
                     name, first, ends[0], best * unit + 1, lc_stats_quantile_sorted(v, n, 0.5),
                     ends[1], worst * unit + 1, gain);
}

void lc_iterations_put_each(struct lc_strbuf *out, const double *elapsed_s, size_t n, size_t unit) {
    size_t block = (n + VALUES - 1) / VALUES;
    lc_strbuf_printf(out, "\"each\": {\"block\": %zu, \"elapsed_s\": [", block * unit);
    for (size_t i = 0; i + block <= n; i += block)
        lc_strbuf_printf(out, "%s%.9g", i > 0 ? ", " : "",
                         lc_stats_mean(elapsed_s + i, block) / (double)unit);
    lc_strbuf_puts(out, "]}, ");
}

/* --- loops --- */

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

struct run { /* of iterations: [from, until) */
    size_t from, until;
    double excess;
};

static int larger(const void *a, const void *b) {
    double x = ((const struct run *)a)->excess, y = ((const struct run *)b)->excess;
    return (x < y) - (x > y);
}

/* Runs of unusual iterations, the costliest LC_ITERATION_OUTLIERS. */
static size_t find_runs(const double *v, size_t begin, size_t n, const struct usual *usual,
                        struct run runs[LC_ITERATION_OUTLIERS + 1]) {
    size_t n_runs = 0;
    for (size_t i = begin; i < n; i++) {
        if (v[i] <= usual->limit)
            continue;
        struct run run = {.from = i};
        for (; i < n && v[i] > usual->limit; i++)
            run.excess += v[i] - usual->median;
        run.until = i;
        runs[n_runs++] = run;
        qsort(runs, n_runs, sizeof *runs, larger);
        n_runs = n_runs < LC_ITERATION_OUTLIERS ? n_runs : LC_ITERATION_OUTLIERS;
    }
    return n_runs;
}

/* The rank that most often worked longest there; -1: none in more than half of them. */
static int32_t busiest(const struct lc_iteration_values *values, const struct run *run) {
    for (size_t i = run->from; values->who != NULL && i < run->until; i++) {
        size_t same = 0;
        for (size_t k = run->from; k < run->until; k++)
            same += values->who[k] == values->who[i];
        if (2 * same > run->until - run->from)
            return values->who[i];
    }
    return -1;
}

static void put_runs(const struct lc_iteration_values *values, const struct usual *usual,
                     const struct run *runs, size_t n, struct lc_strbuf *out) {
    lc_strbuf_puts(out, ", \"outliers\": [");
    for (size_t i = 0; i < n; i++) {
        double length = (double)(runs[i].until - runs[i].from);
        lc_strbuf_printf(out,
                         "%s{\"from\": %llu, \"to\": %llu, \"times_median\": %.6g, "
                         "\"excess_s\": %.9g, \"rank\": ",
                         i > 0 ? ", " : "", (unsigned long long)runs[i].from * values->visits + 1,
                         (unsigned long long)runs[i].until * values->visits,
                         usual->median > 0 ? 1 + runs[i].excess / length / usual->median : 0,
                         runs[i].excess);
        int32_t rank = busiest(values, &runs[i]);
        lc_strbuf_printf(out, rank >= 0 ? "%d}" : "null}", rank);
    }
    lc_strbuf_putc(out, ']');
}

static double ratio(double a, double b) {
    return b > 0 ? fmin(a / b, 1) : 1;
}

static void put_paradigm(const char *name, double balance, double communication,
                         struct lc_strbuf *out) {
    lc_strbuf_printf(out,
                     "\"%s\": {\"parallel_efficiency\": %.17g, \"load_balance\": %.17g, "
                     "\"communication_efficiency\": %.17g}, ",
                     name, balance * communication, balance, communication);
}

/* Sums over the iterations, before the quotients. Communication of MPI is serialisation times
 * transfer, max CP_p / CP * CP / X: the critical path itself need not be known. */
static void put_factors(const struct lc_iteration_values *values, struct lc_strbuf *out) {
    double elapsed = values->total_s, useful = 0, most = 0, threads = 0, process = 0, chain = 0;
    for (size_t i = 0; i < values->n; i++) {
        double longest = values->most_s != NULL ? values->most_s[i] : 0;
        useful += values->useful_s[i];
        process += values->process_s[i];
        most += longest;
        chain += fmin(fmax(values->chain_s[i], longest), values->elapsed_s[i]);
        threads = fmax(threads, values->threads[i]);
    }
    double balance = ratio(useful, threads * most), communication = ratio(most, elapsed);
    double outside = fmin(fmax(values->outside_omp_s, chain), elapsed);
    double of_mpi = ratio(process, threads * most), mpi = ratio(chain, outside);
    put_paradigm("factors", balance, communication, out);
    put_paradigm("mpi", of_mpi, mpi, out);
    put_paradigm("omp", of_mpi > 0 ? balance / of_mpi : 1, mpi > 0 ? communication / mpi : 1, out);
}

size_t lc_iterations_describe(const struct lc_iteration_values *values,
                              struct lc_iteration_run told[LC_ITERATION_OUTLIERS],
                              struct lc_strbuf *out) {
    size_t n_told = 0;
    double *room = malloc((values->n + 1) * sizeof *room);
    struct run runs[LC_ITERATION_OUTLIERS + 1];
    put_factors(values, out);
    lc_iterations_put_each(out, values->elapsed_s, values->n, (size_t)values->visits);
    lc_strbuf_puts(out, "\"iterations\": {");
    if (room != NULL && values->n > 0) {
        struct usual usual = find_usual(values->elapsed_s, room, values->n);
        size_t warm = warm_up(values->elapsed_s, values->n, usual.limit);
        size_t n_runs = find_runs(values->elapsed_s, warm, values->n, &usual, runs);
        for (size_t i = 0; i < values->n; i++)
            room[i] = ratio(values->useful_s[i], values->threads[i] * values->elapsed_s[i]);
        lc_iterations_put(out, "parallel_efficiency", room, values->n, (size_t)values->visits, 1);
        lc_strbuf_puts(out, ", ");
        for (size_t i = 0; i < values->n; i++)
            room[i] = values->elapsed_s[i] / (double)values->visits;
        lc_iterations_put(out, "elapsed_s", room, values->n, (size_t)values->visits, -1);
        lc_strbuf_printf(out, "}, \"warm_up\": %llu", (unsigned long long)warm * values->visits);
        put_runs(values, &usual, runs, n_runs, out);
        for (; n_told < n_runs; n_told++)
            told[n_told] = (struct lc_iteration_run){runs[n_told].from, runs[n_told].until,
                                                     busiest(values, &runs[n_told])};
    } else {
        lc_strbuf_putc(out, '}');
    }
    free(room);
    return n_told;
}
