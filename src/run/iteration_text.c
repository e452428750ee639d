/* What a result says of the iterations of phases and loops. */
#include <math.h>
#include <stdlib.h>

#include "base/stats.h"
#include "run/facts_index.h"

enum { VALUES = 256 };

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

/* --- by rank */

static void put_cells(const struct lc_fact_field *f, int value, struct lc_strbuf *out) {
    const double *cells = (const double *)(f + 1);
    lc_strbuf_putc(out, '[');
    for (size_t row = 0; row < f->rows; row++) {
        lc_strbuf_puts(out, row > 0 ? ", [" : "[");
        for (size_t b = 0; b < f->blocks; b++) {
            const double *cell = cells + (row * f->blocks + b) * LC_FIELD_VALUES;
            lc_strbuf_puts(out, b > 0 ? ", " : "");
            if (cell[LC_FIELD_PRESENT] > 0)
                lc_strbuf_printf(out, "%.6g",
                                 cell[value] / cell[LC_FIELD_PRESENT] / (double)f->unit);
            else
                lc_strbuf_puts(out, "null");
        }
        lc_strbuf_putc(out, ']');
    }
    lc_strbuf_putc(out, ']');
}

void lc_facts_put_field(const struct lc_fact_field *f, struct lc_strbuf *out) {
    if (f == NULL)
        return;
    lc_strbuf_printf(out, "\"by_rank\": {\"ranks\": %llu, \"block\": %llu, \"elapsed_s\": ",
                     (unsigned long long)f->ranks, (unsigned long long)(f->block * f->unit));
    put_cells(f, LC_FIELD_ELAPSED, out);
    lc_strbuf_puts(out, ", \"waiting_s\": ");
    put_cells(f, LC_FIELD_WAITING, out);
    lc_strbuf_puts(out, "}, ");
}

/* --- loops */

static const double *column(const struct lc_fact_loop *loop, size_t number) {
    return (const double *)(loop + 1) + number * loop->n;
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
static void put_factors(const struct lc_fact_loop *loop, struct lc_strbuf *out) {
    double useful = 0, most = 0, threads = 0, process = 0, chain = 0;
    for (size_t i = 0; i < loop->n; i++) {
        double longest = column(loop, LC_LOOP_MOST)[i];
        useful += column(loop, LC_LOOP_USEFUL)[i];
        process += column(loop, LC_LOOP_PROCESS)[i];
        most += longest;
        chain +=
            fmin(fmax(column(loop, LC_LOOP_CHAIN)[i], longest), column(loop, LC_LOOP_ELAPSED)[i]);
        threads = fmax(threads, column(loop, LC_LOOP_THREADS)[i]);
    }
    double balance = ratio(useful, threads * most), communication = ratio(most, loop->total_s);
    double outside = fmin(fmax(loop->outside_omp_s, chain), loop->total_s);
    double of_mpi = ratio(process, threads * most), mpi = ratio(chain, outside);
    put_paradigm("factors", balance, communication, out);
    put_paradigm("mpi", of_mpi, mpi, out);
    put_paradigm("omp", of_mpi > 0 ? balance / of_mpi : 1, mpi > 0 ? communication / mpi : 1, out);
}

static void put_runs(const struct lc_fact_loop *loop, struct lc_strbuf *out) {
    lc_strbuf_puts(out, ", \"outliers\": [");
    for (size_t i = 0; i < loop->n_runs; i++) {
        const struct lc_iteration_run *run = &loop->runs[i];
        double length = (double)(run->until - run->from);
        lc_strbuf_printf(out,
                         "%s{\"from\": %llu, \"to\": %llu, \"times_median\": %.6g, "
                         "\"excess_s\": %.9g, \"rank\": ",
                         i > 0 ? ", " : "", (unsigned long long)(run->from * loop->stride + 1),
                         (unsigned long long)(run->until * loop->stride),
                         loop->median_s > 0 ? 1 + run->excess_s / length / loop->median_s : 0,
                         run->excess_s);
        lc_strbuf_printf(out, run->rank >= 0 ? "%d}" : "null}", (int)run->rank);
    }
    lc_strbuf_putc(out, ']');
}

static void put_loop(const struct lc_fact_loop *loop, const struct lc_fact_field *field,
                     struct lc_strbuf *out) {
    size_t n = (size_t)loop->n, unit = (size_t)loop->stride;
    const double *elapsed = column(loop, LC_LOOP_ELAPSED);
    unsigned long long iterations = (unsigned long long)(loop->n * loop->stride);
    lc_strbuf_printf(
        out,
        "{\"found_by\": \"recurring calls\", \"loop\": %llu, \"ranks\": %d, \"count\": "
        "%llu, \"kept\": %llu, \"start_s\": %.17g, \"elapsed_s\": %.17g, ",
        (unsigned long long)loop->number, loop->ranks, iterations, iterations, loop->start_s,
        loop->elapsed_s);
    lc_facts_put_field(field, out);
    put_factors(loop, out);
    lc_iterations_put_each(out, elapsed, n, unit);
    lc_strbuf_puts(out, "\"iterations\": {");
    double *room = malloc(n * sizeof *room);
    if (room != NULL) {
        for (size_t i = 0; i < n; i++)
            room[i] = ratio(column(loop, LC_LOOP_USEFUL)[i],
                            column(loop, LC_LOOP_THREADS)[i] * elapsed[i]);
        lc_iterations_put(out, "parallel_efficiency", room, n, unit, 1);
        lc_strbuf_puts(out, ", ");
        for (size_t i = 0; i < n; i++)
            room[i] = elapsed[i] / (double)unit;
        lc_iterations_put(out, "elapsed_s", room, n, unit, -1);
        lc_strbuf_printf(out, "}, \"warm_up\": %llu",
                         (unsigned long long)(loop->warm_up * loop->stride));
        put_runs(loop, out);
    } else {
        lc_strbuf_putc(out, '}');
    }
    free(room);
    lc_strbuf_putc(out, '}');
}

void lc_facts_put_loops(const struct lc_facts *f, struct lc_strbuf *out) {
    struct lc_byte_reader reader = f->all;
    struct lc_fact_record fact;
    const struct lc_fact_field *field = NULL;
    bool any = false;
    lc_strbuf_puts(out, ", \"iterations\": [");
    while (lc_facts_next(&reader, &fact)) {
        if (fact.kind == LC_FACT_LOOP) {
            lc_strbuf_puts(out, any ? ", " : "");
            put_loop(fact.data, field, out);
            any = true;
        }
        field = fact.kind == LC_FACT_FIELD ? fact.data : NULL;
    }
    lc_strbuf_putc(out, ']');
    if (f->left_out != NULL)
        lc_strbuf_printf(out,
                         ", \"loops_left_out\": {\"loops\": %llu, \"most_s\": %.17g, "
                         "\"unwatched\": %llu}",
                         (unsigned long long)f->left_out->loops, f->left_out->most_s,
                         (unsigned long long)f->left_out->unwatched);
}
