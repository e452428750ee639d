/* "pop": efficiency factors, critical paths, predictions and phases, of the sums that the clocks
 * gave. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_text.h"
#include "format/pop.h"
#include "format/raw.h"
#include "run/facts_index.h"

/* --- intervals */

static const double *maxima_of(const struct lc_fact_intervals *v, size_t k) {
    return (const double *)(v + 1) + k * LC_INTERVAL_MAXIMA;
}

static const double *sums_of(const struct lc_fact_intervals *v, size_t k) {
    return (const double *)(v + 1) + v->n * LC_INTERVAL_MAXIMA + k * LC_INTERVAL_SUMS;
}

/* The longest chain with a clock per task: where these clocks do not travel between ranks, it is
 * the longest of a rank. No explicit task ran: that of threads. */
static double task_chain(const struct lc_fact_intervals *v, const double *max) {
    if (max[LC_INTERVAL_TASK] <= 0)
        return max[LC_INTERVAL_CHAIN];
    return v->tasks_at < LC_WHAT_IF_SCENARIOS ? max[LC_INTERVAL_WHATIF + v->tasks_at]
                                              : max[LC_INTERVAL_TASK];
}

static struct lc_pop_sums interval_sums(const struct lc_fact_intervals *v, size_t k) {
    const double *max = maxima_of(v, k), *sum = sums_of(v, k);
    double present = sum[LC_INTERVAL_SUM_PRESENT] > 0 ? sum[LC_INTERVAL_SUM_PRESENT] : 1;
    return (struct lc_pop_sums){.n_threads = sum[LC_INTERVAL_SUM_THREADS],
                                .useful_sum = sum[LC_INTERVAL_SUM_USEFUL],
                                .outside_mpi_sum = sum[LC_INTERVAL_SUM_OUTSIDE],
                                .alive_sum = sum[LC_INTERVAL_SUM_ALIVE],
                                .useful_max = max[LC_INTERVAL_USEFUL],
                                .process_max_sum = sum[LC_INTERVAL_SUM_PROCESS],
                                .process_chain_max = max[LC_INTERVAL_PROCESS],
                                .critical_path = max[LC_INTERVAL_CHAIN],
                                .outside_omp_max = max[LC_INTERVAL_OMP],
                                .elapsed = max[LC_INTERVAL_END] + max[LC_INTERVAL_BEGIN],
                                .task_critical_path = task_chain(v, max),
                                .mpi_min = -max[LC_INTERVAL_MPI],
                                .mpi_node_min = -max[LC_INTERVAL_NODE_MPI],
                                .mpi_mean = sum[LC_INTERVAL_SUM_MPI] / present,
                                .threads = max[LC_INTERVAL_THREADS] > 1,
                                .tasks = max[LC_INTERVAL_TASK] > 0 && v->one_rank};
}

/* Everything is added; the threads are those of the part with most. */
static void add_sums(struct lc_pop_sums *total, const struct lc_pop_sums *one) {
    if (one->n_threads > total->n_threads)
        total->n_threads = one->n_threads;
    total->useful_sum += one->useful_sum;
    total->outside_mpi_sum += one->outside_mpi_sum;
    total->alive_sum += one->alive_sum;
    total->useful_max += one->useful_max;
    total->process_max_sum += one->process_max_sum;
    total->process_chain_max += one->process_chain_max;
    total->critical_path += one->critical_path;
    total->outside_omp_max += one->outside_omp_max;
    total->elapsed += one->elapsed;
    total->task_critical_path += one->task_critical_path;
    total->mpi_min += one->mpi_min;
    total->mpi_node_min += one->mpi_node_min;
    total->mpi_mean += one->mpi_mean;
    total->threads |= one->threads;
    total->tasks |= one->tasks;
}

static void put_intervals(const struct lc_fact_intervals *v, struct lc_strbuf *out) {
    lc_strbuf_printf(out, ", \"intervals\": [");
    for (size_t k = 0; k < v->n; k++) {
        struct lc_pop_sums sums = interval_sums(v, k);
        struct lc_pop pop;
        lc_pop_compute(&sums, &pop);
        lc_strbuf_printf(out, "%s{\"elapsed_s\": %.17g, \"critical_path_s\": %.17g, ",
                         k > 0 ? ", " : "", sums.elapsed, sums.critical_path);
        lc_pop_factors_json("factors", &pop.all, out);
        lc_strbuf_putc(out, '}');
    }
    lc_strbuf_putc(out, ']');
}

/* --- predictions */

/* What the run takes besides the critical path: the OpenMP runtime from X to T, the network from CP
 * to X (in programs without threads: to T). */
static double rest_of(const struct lc_pop_sums *sums, const struct lc_fact_scenario *scenario) {
    double outside_omp = sums->threads ? sums->outside_omp_max : sums->elapsed;
    double network = scenario->no_mpi ? 0 : outside_omp - sums->critical_path;
    return network + (scenario->no_omp ? 0 : sums->elapsed - outside_omp);
}

static void put_unknown(const struct lc_facts *f, uint32_t scenario, struct lc_strbuf *out) {
    struct lc_byte_reader reader = f->all;
    struct lc_fact_record fact;
    const char *before = "";
    lc_strbuf_puts(out, ", \"unknown\": [");
    while (lc_facts_next(&reader, &fact)) {
        const struct lc_fact_unknown *unknown = fact.data;
        if (fact.kind != LC_FACT_UNKNOWN || unknown->scenario != scenario)
            continue;
        lc_strbuf_puts(out, before);
        lc_json_put(out, unknown->name);
        before = ", ";
    }
    lc_strbuf_putc(out, ']');
}

/* Predicted run time: what the critical path loses, the run loses, and what is free. */
static void put_whatif(const struct lc_facts *f, const struct lc_pop_sums *sums,
                       struct lc_strbuf *out) {
    struct lc_byte_reader reader = f->all;
    struct lc_fact_record fact;
    uint32_t s = 0;
    lc_strbuf_puts(out, ", \"what_if\": [");
    while (s < f->intervals->given && lc_facts_next(&reader, &fact)) {
        if (fact.kind != LC_FACT_SCENARIO)
            continue;
        const struct lc_fact_scenario *scenario = fact.data;
        double path = 0;
        for (size_t k = 0; k < f->intervals->n; k++)
            path += maxima_of(f->intervals, k)[LC_INTERVAL_WHATIF + s];
        lc_strbuf_printf(out, "%s{\"spec\": ", s > 0 ? ", " : "");
        lc_json_put(out, scenario->text);
        lc_strbuf_printf(
            out,
            ", \"critical_path_s\": %.17g, \"predicted_s\": %.17g, \"measured_s\": %.17g, "
            "\"error_s\": %.9g, \"edges_lost\": %llu",
            path, path + rest_of(sums, scenario), sums->elapsed,
            f->counts != NULL ? (double)f->counts->late_whatif[s] * 1e-9 : 0,
            f->counts != NULL ? (unsigned long long)f->counts->whatif_lost : 0);
        put_unknown(f, s, out);
        lc_strbuf_putc(out, '}');
        s++;
    }
    lc_strbuf_putc(out, ']');
}

/* --- critical paths, pairs of ranks */

static void put_paths(const struct lc_fact_path *paths, struct lc_strbuf *out) {
    static const struct {
        const char *scope, *counts;
    } kinds[LC_PATHS] = {
        [LC_PATH_GLOBAL] = {"global", "useful"},
        [LC_PATH_PROCESS] = {"process", "useful"},
        [LC_PATH_THREAD] = {"thread", "useful"},
        [LC_PATH_OUTSIDE_MPI] = {"process", "outside MPI"},
        [LC_PATH_OUTSIDE_OMP] = {"global", "outside OpenMP"},
    };
    lc_strbuf_puts(out, ", \"paths\": [");
    for (size_t i = 0; i < LC_PATHS; i++) {
        lc_strbuf_printf(out, "%s{\"scope\": \"%s\", \"counts\": \"%s\", \"length_s\": %.17g, ",
                         i > 0 ? ", " : "", kinds[i].scope, kinds[i].counts, paths[i].seconds);
        lc_strbuf_printf(out, "\"rank\": %d, \"thread\": ", paths[i].rank);
        if (paths[i].thread >= 0)
            lc_strbuf_printf(out, "%d}", paths[i].thread);
        else
            lc_strbuf_puts(out, "null}");
    }
    lc_strbuf_putc(out, ']');
}

static void put_pairs(const struct lc_fact_pairs *left_out, size_t n, struct lc_strbuf *out) {
    const struct lc_fact_pair *pairs = (const struct lc_fact_pair *)(left_out + 1);
    lc_strbuf_puts(out, ", \"pairs\": {\"rows\": [");
    for (size_t i = 0; i < n; i++)
        lc_strbuf_printf(out, "%s[%.0f, %.0f, %.9g, %.0f, %.0f]", i > 0 ? ", " : "", pairs[i].from,
                         pairs[i].to, pairs[i].waiting_s, pairs[i].messages, pairs[i].bytes);
    lc_strbuf_printf(out,
                     "], \"left_out\": {\"pairs\": %.0f, \"waiting_s\": %.9g, \"messages\": %.0f, "
                     "\"bytes\": %.0f}}",
                     left_out->pairs, left_out->waiting_s, left_out->messages, left_out->bytes);
}

/* --- phases */

static struct lc_pop_sums phase_sums(const struct lc_fact_phase *phase, size_t i) {
    const double *max = (const double *)(phase + 1) + i * LC_PHASE_MAXIMA;
    const double *sum =
        (const double *)(phase + 1) + phase->n * LC_PHASE_MAXIMA + i * LC_PHASE_SUMS;
    double chain = max[LC_PHASE_CHAIN], elapsed = max[LC_PHASE_END] + max[LC_PHASE_BEGIN];
    double outside = max[LC_PHASE_OUTSIDE] - max[LC_PHASE_OUTSIDE_BEFORE];
    return (struct lc_pop_sums){
        .n_threads = sum[LC_PHASE_SUM_THREADS],
        .useful_sum = sum[LC_PHASE_SUM_USEFUL],
        .useful_max = max[LC_PHASE_USEFUL],
        .process_max_sum = sum[LC_PHASE_SUM_PROCESS],
        .process_chain_max = max[LC_PHASE_PROCESS],
        .critical_path = chain,
        .outside_omp_max = fmax(chain, fmin(outside, elapsed)),
        .elapsed = elapsed,
        .task_critical_path = max[LC_PHASE_TASK] > 0 ? fmin(max[LC_PHASE_TASK], chain) : chain,
        .threads = max[LC_PHASE_THREADS] > 1,
        .tasks = max[LC_PHASE_TASK] > 0 && phase->one_rank};
}

/* Appends nothing where there is no memory, or nothing to compute. */
static void put_phase(const struct lc_fact_phase *phase, const struct lc_fact_field *field,
                      struct lc_strbuf *out) {
    struct lc_pop_sums total = {0};
    struct lc_pop pop;
    size_t n = (size_t)phase->n;
    double *efficiency = malloc(2 * n * sizeof *efficiency);
    if (efficiency == NULL)
        return;
    double *elapsed = efficiency + n, at_least_s[LC_POP_CURVE] = {0};
    for (size_t i = 0; i < n; i++) {
        struct lc_pop_sums s = phase_sums(phase, i);
        add_sums(&total, &s);
        lc_pop_compute(&s, &pop);
        lc_pop_curve_add(&pop, at_least_s);
        efficiency[i] = pop.all.parallel_efficiency;
        elapsed[i] = s.elapsed;
    }
    if (lc_pop_compute(&total, &pop)) {
        lc_strbuf_puts(out, "{\"name\": ");
        lc_json_put(out, phase->name);
        lc_strbuf_printf(
            out,
            ", \"count\": %llu, \"kept\": %zu, \"elapsed_s\": %.17g, \"critical_path_s\": %.17g, "
            "\"task_critical_path_s\": %.17g",
            (unsigned long long)phase->count, n, total.elapsed, total.critical_path,
            total.task_critical_path);
        if (pop.task_work_s > 0)
            lc_pop_curve_json(pop.task_work_s, at_least_s, out);
        lc_strbuf_puts(out, ", ");
        lc_pop_factors_json("factors", &pop.all, out);
        lc_strbuf_puts(out, ", ");
        lc_pop_factors_json("mpi", &pop.mpi, out);
        lc_strbuf_puts(out, ", ");
        lc_pop_factors_json("omp", &pop.omp, out);
        lc_strbuf_puts(out, ", ");
        lc_facts_put_field(field, out);
        lc_iterations_put_each(out, elapsed, n, 1);
        lc_strbuf_puts(out, "\"iterations\": {");
        lc_iterations_put(out, "parallel_efficiency", efficiency, n, 1, 1);
        lc_strbuf_puts(out, ", ");
        lc_iterations_put(out, "elapsed_s", elapsed, n, 1, -1);
        lc_strbuf_puts(out, "}}");
    }
    free(efficiency);
}

enum { PHASES_MOST = 64 };

struct phase { /* with the field before it */
    const struct lc_fact_phase *phase;
    const struct lc_fact_field *field;
    double begin;
};

static int by_begin(const void *a, const void *b) {
    double x = ((const struct phase *)a)->begin, y = ((const struct phase *)b)->begin;
    return (x > y) - (x < y);
}

/* `, "phases": [..]` if there is a phase. */
static void put_phases(const struct lc_facts *f, struct lc_strbuf *out) {
    struct phase phases[PHASES_MOST] = {0};
    size_t n = 0;
    struct lc_byte_reader reader = f->all;
    struct lc_fact_record fact;
    const struct lc_fact_field *field = NULL;
    while (n < PHASES_MOST && lc_facts_next(&reader, &fact)) {
        if (fact.kind == LC_FACT_FIELD) {
            field = fact.data;
            continue;
        }
        if (fact.kind == LC_FACT_PHASE) {
            const struct lc_fact_phase *phase = fact.data;
            phases[n++] =
                (struct phase){phase, field, -((const double *)(phase + 1))[LC_PHASE_BEGIN]};
        }
        field = NULL;
    }
    qsort(phases, n, sizeof *phases, by_begin);
    bool any = false;
    for (size_t i = 0; i < n; i++) {
        struct lc_strbuf text = {0};
        put_phase(phases[i].phase, phases[i].field, &text);
        if (text.length > 0 && lc_strbuf_ok(&text)) {
            lc_strbuf_puts(out, any ? ", " : ", \"phases\": [");
            lc_strbuf_puts(out, text.text);
            any = true;
        }
        lc_strbuf_free(&text);
    }
    if (any)
        lc_strbuf_putc(out, ']');
}

/* --- all of it */

static void put_counter_names(const char *key, uint32_t which, struct lc_strbuf *out) {
    const char *separator = "";
    lc_strbuf_printf(out, "\"%s\": [", key);
    for (int i = 0; i < LC_COUNTERS; i++)
        if (which & 1u << i) {
            lc_strbuf_printf(out, "%s\"%s\"", separator, lc_raw_counters[i]);
            separator = ", ";
        }
    lc_strbuf_puts(out, "], ");
}

static void put_counters(const struct lc_fact_counters *c, struct lc_strbuf *out) {
    _Static_assert(sizeof c->path / sizeof *c->path == LC_COUNTERS, "one for each counter");
    lc_strbuf_puts(out, ", \"counters\": {");
    put_counter_names("asked", c->asked, out);
    put_counter_names("counted", c->counted, out);
    lc_strbuf_puts(out, "\"critical_path\": {");
    for (int i = 0; i < LC_COUNTERS; i++) {
        lc_strbuf_printf(out, "%s\"%s\": ", i > 0 ? ", " : "", lc_raw_counters[i]);
        if ((c->counted & 1u << i) != 0 && c->path_known)
            lc_strbuf_printf(out, "%llu", (unsigned long long)c->path[i]);
        else
            lc_strbuf_puts(out, "null");
    }
    lc_strbuf_puts(out, "}}");
}

double lc_facts_put_pop(const struct lc_facts *f, struct lc_strbuf *out) {
    struct lc_pop_sums total = {0};
    struct lc_pop pop;
    const struct lc_fact_intervals *v = f->intervals;
    for (size_t k = 0; v != NULL && k < v->n; k++) {
        struct lc_pop_sums one = interval_sums(v, k);
        add_sums(&total, &one);
    }
    if (v == NULL || !lc_pop_compute(&total, &pop))
        return -1;
    /* Each late edge may count in full, but no clock is larger than the time that has passed. */
    double late = f->counts != NULL ? (double)f->counts->late_useful * 1e-9 : 0;
    double error = fmin(late, fmax(total.elapsed - total.critical_path, 0));
    double rest = total.critical_path > 0 ? 1 - v->attributed_s / total.critical_path : 0;
    rest = rest > 0 ? rest : 0;
    lc_strbuf_putc(out, '{');
    lc_pop_json(&pop, out);
    lc_strbuf_printf(out,
                     ", \"threads\": %.0f, \"threads_at_once\": %.9g, "
                     "\"elapsed_s\": %.17g, \"critical_path_error_s\": %.9g, "
                     "\"not_attributed\": %.9g, \"attributed_further_out\": %.9g",
                     total.n_threads, total.alive_sum / total.elapsed, total.elapsed, error, rest,
                     total.critical_path > 0 ? v->outer_s / total.critical_path : 0);
    const char *chosen = lc_chosen_clocks_name(v->chosen);
    if (!v->one_rank && chosen != NULL)
        lc_strbuf_printf(out, ", \"chosen_clocks\": \"%s\"", chosen);
    if (v->n > 1)
        put_intervals(v, out);
    if (v->given > 0)
        put_whatif(f, &total, out);
    if (f->paths != NULL)
        put_paths(f->paths, out);
    put_phases(f, out);
    lc_facts_put_loops(f, out);
    if (f->pairs != NULL)
        put_pairs(f->pairs, f->n_pairs, out);
    if (f->counters != NULL)
        put_counters(f->counters, out);
    lc_strbuf_putc(out, '}');
    return rest;
}
