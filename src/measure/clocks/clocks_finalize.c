/* What the clocks give, merged over all ranks in MPI_Finalize by reductions (O(log P) messages per
 * rank): factors per interval and of all intervals together, critical-path profile, predictions,
 * clock synchronisation, counts. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_text.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "measure/clocks/blame_merge.h"
#include "measure/clocks/call_state.h"
#include "measure/clocks/chosen_scenarios.h"
#include "measure/clocks/clocks.h"
#include "measure/clocks/clocks_finalize.h"
#include "measure/clocks/clocks_hooks.h"
#include "measure/clocks/global_time.h"
#include "measure/clocks/intervals.h"
#include "measure/clocks/constructor_sync.h"
#include "measure/clocks/iterations.h"
#include "measure/clocks/pair_rows.h"
#include "measure/clocks/phases.h"
#include "measure/clocks/scoped_paths.h"
#include "measure/clocks/trace_offsets.h"
#include "measure/clocks/wait_states.h"
#include "measure/clocks/what_if_factors.h"
#include "measure/core/core.h"
#include "measure/core/state_write.h"
#include "measure/core/thread.h"
#include "piggyback/match.h"
#include "format/pop.h"
#include "measure/clocks/backlog_progress.h"
#include "measure/clocks/record_arrivals.h"

/* Values per interval, in seconds, reduced element by element. */
enum {
    MAX_BEGIN, /* negative: the earliest */
    MAX_END,
    MAX_USEFUL,
    MAX_CHAIN,
    MAX_OMP,
    MAX_THREADS,
    MAX_PROCESS,
    MAX_TASK,
    MAX_MPI,      /* negative: the least */
    MAX_NODE_MPI, /* negative: the least of the nodes' means */
    MAX_WHATIF,
    N_MAX = MAX_WHATIF + LC_WHATIF_MAX
};
enum { SUM_THREADS, SUM_USEFUL, SUM_OUTSIDE, SUM_PROCESS, SUM_MPI, SUM_PRESENT, N_SUM };

struct lc_clk_total { /* counts, summed over ranks */
    uint64_t messages, taken, absent, unsure, mispaired, late, void_entries, lost, violations;
    uint64_t collectives, skipped, overwritten, waited;
    uint64_t records, replies, packets, packed, record_bytes, shadows, combined, unresolved, unseen;
    uint64_t forced, edges_late, late_useful, late_whatif[LC_WHATIF_MAX], whatif_lost; /* ns */
};
enum { N_TOTAL = sizeof(struct lc_clk_total) / sizeof(uint64_t) };

static struct lc_strbuf pop_text, meta_text;
static struct lc_clk_total totals; /* on rank 0 */
static uint32_t names_seen;        /* of the what-if scenarios; on rank 0 */

const char *lc_clocks_pop_text(void) {
    return pop_text.length > 0 && lc_strbuf_ok(&pop_text) ? pop_text.text : NULL;
}

const char *lc_clocks_meta_text(void) {
    return meta_text.length > 0 && lc_strbuf_ok(&meta_text) ? meta_text.text : NULL;
}

/* ---- factors */

static void fill_interval(const struct lc_interval *v, const struct lc_offset_ends *c, double *max,
                          double *sum) {
    double s = lc_clk.ns_per_tick * 1e-9;
    max[MAX_BEGIN] = -lc_clk_global_s(c, v->begin);
    max[MAX_END] = lc_clk_global_s(c, v->end);
    max[MAX_USEFUL] = v->useful_max * s;
    max[MAX_CHAIN] = v->chain * s;
    max[MAX_OMP] = v->outside_omp * s;
    max[MAX_THREADS] = v->threads;
    max[MAX_PROCESS] = v->process_chain * s;
    max[MAX_TASK] = v->task_chain * s;
    double mpi = v->threads > 0 ? v->in_mpi * s / v->threads : 0;
    max[MAX_MPI] = -mpi;
    for (uint32_t i = 0; i < lc_clk.n_whatif; i++)
        max[MAX_WHATIF + i] = v->whatif[i] * s;
    sum[SUM_THREADS] = v->threads;
    sum[SUM_USEFUL] = v->useful_sum * s;
    sum[SUM_OUTSIDE] = v->outside_mpi * s;
    sum[SUM_PROCESS] = v->process_max_sum * s;
    sum[SUM_MPI] = mpi;
    sum[SUM_PRESENT] = 1;
}

/* Mean time in MPI of the processes of each node; the least of them. */
static void node_means(double *max, const double *sum, uint32_t n) {
    MPI_Comm comm = MPI_COMM_NULL;
    if (lc_real.Comm_split(lc_core.comm, (int)lc_clk.node, lc_core.rank, &comm) != MPI_SUCCESS)
        return;
    double pair[2];
    for (uint32_t k = 0; k < n; k++) {
        double mine[2] = {sum[k * N_SUM + SUM_MPI], sum[k * N_SUM + SUM_PRESENT]};
        lc_real.Allreduce(mine, pair, 2, MPI_DOUBLE, MPI_SUM, comm);
        max[k * N_MAX + MAX_NODE_MPI] = pair[1] > 0 ? -pair[0] / pair[1] : -INFINITY;
    }
    lc_real.Comm_free(&comm);
}

/* The longest chain with a clock per task: where these clocks do not travel between ranks, it is
 * the longest of a rank. No explicit task ran: that of threads. */
static double task_chain(const double *max) {
    uint32_t s = lc_clk_whatif_tasks_at();
    if (max[MAX_TASK] <= 0)
        return max[MAX_CHAIN];
    return s < LC_WHATIF_MAX ? max[MAX_WHATIF + s] : max[MAX_TASK];
}

static void pop_sums(const double *max, const double *sum, struct lc_pop_sums *out) {
    *out = (struct lc_pop_sums){.n_threads = sum[SUM_THREADS],
                                .useful_sum = sum[SUM_USEFUL],
                                .outside_mpi_sum = sum[SUM_OUTSIDE],
                                .useful_max = max[MAX_USEFUL],
                                .process_max_sum = sum[SUM_PROCESS],
                                .process_chain_max = max[MAX_PROCESS],
                                .critical_path = max[MAX_CHAIN],
                                .outside_omp_max = max[MAX_OMP],
                                .elapsed = max[MAX_END] + max[MAX_BEGIN],
                                .task_critical_path = task_chain(max),
                                .mpi_min = -max[MAX_MPI],
                                .mpi_node_min = -max[MAX_NODE_MPI],
                                .mpi_mean =
                                    sum[SUM_MPI] / (sum[SUM_PRESENT] > 0 ? sum[SUM_PRESENT] : 1),
                                .threads = max[MAX_THREADS] > 1,
                                .tasks = max[MAX_TASK] > 0 && lc_core.size == 1};
}

/* Several intervals: everything is added; the threads are those of the interval with most. */
static void add_sums(struct lc_pop_sums *total, const struct lc_pop_sums *one, double whatif[],
                     const double *max) {
    if (one->n_threads > total->n_threads)
        total->n_threads = one->n_threads;
    total->useful_sum += one->useful_sum;
    total->outside_mpi_sum += one->outside_mpi_sum;
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
    for (uint32_t s = 0; s < lc_clk.n_whatif; s++)
        whatif[s] += max[MAX_WHATIF + s];
}

static void put_intervals(const double *max, const double *sum, uint32_t n) {
    lc_strbuf_printf(&pop_text, ", \"intervals\": [");
    for (uint32_t k = 0; k < n; k++) {
        struct lc_pop_sums sums;
        struct lc_pop pop;
        pop_sums(max + k * N_MAX, sum + k * N_SUM, &sums);
        lc_pop_compute(&sums, &pop);
        lc_strbuf_printf(&pop_text, "%s{\"elapsed_s\": %.17g, \"critical_path_s\": %.17g, ",
                         k ? ", " : "", sums.elapsed, sums.critical_path);
        lc_pop_factors_json("factors", &pop.all, &pop_text);
        lc_strbuf_putc(&pop_text, '}');
    }
    lc_strbuf_putc(&pop_text, ']');
}

/* What the run takes besides the critical path: the OpenMP runtime from X to T, the network from CP
 * to X (in programs without threads: to T). */
static double rest_of(const struct lc_pop_sums *sums, uint32_t scenario) {
    double outside_omp = sums->threads ? sums->outside_omp_max : sums->elapsed;
    double network = lc_clk_whatif_no_mpi(scenario) ? 0 : outside_omp - sums->critical_path;
    return network + (lc_clk_whatif_no_omp(scenario) ? 0 : sums->elapsed - outside_omp);
}

/* Predicted run time: what the critical path loses, the run loses, and what is free. */
static void put_whatif(const struct lc_pop_sums *sums, const double whatif[]) {
    lc_strbuf_puts(&pop_text, ", \"what_if\": [");
    for (uint32_t s = 0; s < lc_clk_whatif_given(); s++) {
        double rest = rest_of(sums, s);
        lc_strbuf_printf(&pop_text, "%s{\"spec\": ", s ? ", " : "");
        lc_json_put(&pop_text, lc_clk_whatif_text(s));
        lc_strbuf_printf(
            &pop_text,
            ", \"critical_path_s\": %.17g, \"predicted_s\": %.17g, \"measured_s\": %.17g, "
            "\"error_s\": %.9g, \"edges_lost\": %llu",
            whatif[s], whatif[s] + rest, sums->elapsed, (double)totals.late_whatif[s] * 1e-9,
            (unsigned long long)totals.whatif_lost);
        lc_clk_whatif_unknown(s, names_seen, &pop_text);
        lc_strbuf_putc(&pop_text, '}');
    }
    lc_strbuf_putc(&pop_text, ']');
}

/* ---- critical-path profile: the longest chain of each interval, given back to the ranks whose
 * code it is */

/* Seconds that have a call path; *outer: of which further out than they were spent. */
static double share_path(uint32_t n, double *outer) {
    double attributed = 0;
    struct {
        double chain;
        int rank;
    } mine, longest;
    for (uint32_t k = 0; k < n; k++) {
        const struct lc_interval *v =
            k < lc_clk.n_intervals && k < lc_clk.cap_intervals ? &lc_clk.intervals[k] : NULL;
        struct lc_cp_item items[LC_CP_ITEMS] = {{0, 0}};
        int count = v != NULL && v->items != NULL ? (int)v->n_items : 0;
        mine.chain = v != NULL ? v->chain : 0;
        mine.rank = lc_core.rank;
        lc_real.Allreduce(&mine, &longest, 1, MPI_DOUBLE_INT, MPI_MAXLOC, lc_core.comm);
        if (count > 0)
            memcpy(items, v->items, (size_t)count * sizeof *items);
        lc_real.Bcast(&count, 1, MPI_INT, longest.rank, lc_core.comm);
        lc_real.Bcast(items, count * (int)sizeof *items, MPI_BYTE, longest.rank, lc_core.comm);
        for (int i = 0; i < count; i++) {
            double seconds = (double)items[i].ticks * lc_clk.ns_per_tick * 1e-9;
            attributed += seconds;
            *outer += items[i].key & LC_CP_OUTER ? seconds : 0;
            if ((items[i].key & ~LC_CP_OUTER) >> 32 == lc_clk.rank)
                lc_clk_book_node((uint32_t)items[i].key, items[i].ticks, LC_STATE_WAIT_TIMES, 0, 0);
        }
    }
    return attributed;
}

/* ---- counts and clocks of the nodes */

/* What each rank tells of its clocks: offset at both ends, drift, error, the largest violation of
 * order, ns. */
enum { PER_RANK = 5 };

/* A wait is a difference of two nodes' clocks; of each the offset to the clock of rank 0 is known,
 * with the error of the synchronisations and what the drift made of it until the next one. */
static double wait_error_ns(const double *all) {
    double largest = 0, second = 0; /* of two nodes */
    uint32_t of = 0;
    for (uint32_t rank = 0; rank < lc_clk.size; rank++) {
        double error = all[PER_RANK * rank + 3];
        if (lc_clk.node_of[rank] == 0)
            continue;
        if (lc_clk.node_of[rank] == of) {
            largest = fmax(largest, error);
        } else if (error > largest) {
            second = largest;
            largest = error;
            of = lc_clk.node_of[rank];
        } else {
            second = fmax(second, error);
        }
    }
    return largest + second;
}

static void put_clocks(const struct lc_offset_ends *c) {
    double seconds = (c->local_end - c->local_begin) * 1e-9;
    double mine[PER_RANK] = {
        c->offset_begin, c->offset_end,
        seconds > 0 ? -(c->offset_end - c->offset_begin) / seconds * 1e-3 : 0,
        lc_clk.n_nodes > 1 ? fmax(c->error, lc_clk.resync_error_ns) + lc_clk.ahead_ns : 0,
        (double)lc_clk.counts.largest_violation * lc_clk.ns_per_tick};
    double *all = lc_core.rank == 0 ? calloc(PER_RANK * (size_t)lc_core.size, sizeof *all) : NULL;
    int ok = lc_core.rank != 0 || all != NULL;
    lc_real.Bcast(&ok, 1, MPI_INT, 0, lc_core.comm);
    if (ok)
        lc_real.Gather(mine, PER_RANK, MPI_DOUBLE, all, PER_RANK, MPI_DOUBLE, 0, lc_core.comm);
    if (all == NULL) /* all ranks but the first */
        return;
    double largest = 0;
    for (uint32_t rank = 0; rank < lc_clk.size; rank++)
        largest = fmax(largest, all[PER_RANK * rank + 4]);
    lc_strbuf_printf(&meta_text,
                     ", \"clock_sync\": {\"nodes\": %u, \"error_s\": %.9g, \"wait_error_s\": %.9g, "
                     "\"largest_violation_s\": %.9g, \"during_run\": %u, \"per_node\": [",
                     lc_clk.n_nodes, c->error * 1e-9, wait_error_ns(all) * 1e-9, largest * 1e-9,
                     lc_clk.n_resyncs);
    for (uint32_t node = 0, rank = 0; node < lc_clk.n_nodes; node++) {
        for (rank = 0; rank + 1 < lc_clk.size && lc_clk.node_of[rank] != node;)
            rank++;
        /* of the node's clock against that of rank 0: what it shows more, and how much faster it
         * runs */
        lc_strbuf_printf(
            &meta_text, "%s{\"offset_begin_s\": %.9f, \"offset_end_s\": %.9f, \"drift_ppm\": %.6f}",
            node ? ", " : "", -all[PER_RANK * rank] * 1e-9, -all[PER_RANK * rank + 1] * 1e-9,
            all[PER_RANK * rank + 2]);
    }
    lc_strbuf_puts(&meta_text, "]}");
    free(all);
}

static void put_counts(void) {
    const struct lc_match_counts *m = &lc_clk.match.counts;
    struct lc_clk_total mine = {.messages = lc_clk.counts.messages,
                                .taken = m->taken,
                                .absent = m->absent,
                                .unsure = m->unsure,
                                .mispaired = m->mispaired,
                                .late = m->late,
                                .void_entries = m->void_entries,
                                .violations = lc_clk.counts.violations,
                                .collectives = lc_clk.counts.collectives,
                                .skipped = lc_clk.counts.skipped,
                                .records = lc_clk.counts.records,
                                .replies = lc_clk.counts.replies,
                                .packets = lc_clk.counts.packets,
                                .packed = lc_clk.counts.packed,
                                .record_bytes = lc_clk.counts.record_bytes,
                                .shadows = lc_clk.counts.shadows,
                                .combined = lc_clk.counts.combined,
                                .unresolved = lc_clk.counts.unresolved,
                                .unseen = lc_clk.counts.unseen,
                                .forced = lc_clk.counts.forced,
                                .edges_late = lc_clk.counts.edges_late,
                                .late_useful = lc_clk_ns_of(lc_clk.counts.late_useful),
                                .waited =
                                    (uint64_t)((double)lc_clk.waited_ticks * lc_clk.ns_per_tick)};
    for (uint32_t i = 0; i < lc_clk.size; i++)
        mine.lost += lc_clk.outs[i].n_lost;
    for (struct lc_clk_thread *k = lc_clk.threads; k != NULL; k = k->next) {
        mine.overwritten += k->l.vec.n_overwritten;
        mine.whatif_lost += k->l.vec.n_whatif_lost;
    }
    for (uint32_t s = 0; s < lc_clk.n_whatif; s++)
        mine.late_whatif[s] = lc_clk_ns_of(lc_clk.counts.late_whatif[s]);
    uint32_t seen = lc_clk_whatif_seen();
    uint64_t most = lc_clk.counts.events_most, all_most = 0;
    lc_real.Reduce(&mine, &totals, N_TOTAL, MPI_UINT64_T, MPI_SUM, 0, lc_core.comm);
    lc_real.Reduce(&seen, &names_seen, 1, MPI_UINT32_T, MPI_BOR, 0, lc_core.comm);
    lc_real.Reduce(&most, &all_most, 1, MPI_UINT64_T, MPI_MAX, 0, lc_core.comm);
    if (lc_core.rank != 0)
        return;
    lc_strbuf_printf(
        &meta_text,
        "\"messages_total\": %llu, \"messages_matched\": %llu, \"piggyback\": {\"absent\": %llu, "
        "\"unsure\": %llu, \"mispaired\": %llu, \"late\": %llu, \"void\": %llu, \"lost\": %llu, "
        "\"order_violations\": %llu, \"collectives\": %llu, \"collectives_skipped\": %llu, "
        "\"vectors_overwritten\": %llu, \"records\": %llu, \"replies\": %llu, "
        "\"packets\": %llu, \"replies_packed\": %llu, "
        "\"record_bytes\": %llu, \"mirrors\": %llu, \"combined\": %llu, \"posts_unknown\": %llu, "
        "\"edges_late\": %llu, \"events_forced\": %llu, \"events_most\": %llu, "
        "\"communicator_unknown\": %llu}, "
        "\"waiting_measured_s\": "
        "%.9f",
        (unsigned long long)totals.messages, (unsigned long long)totals.taken,
        (unsigned long long)totals.absent, (unsigned long long)totals.unsure,
        (unsigned long long)totals.mispaired, (unsigned long long)totals.late,
        (unsigned long long)totals.void_entries, (unsigned long long)totals.lost,
        (unsigned long long)totals.violations, (unsigned long long)totals.collectives,
        (unsigned long long)totals.skipped, (unsigned long long)totals.overwritten,
        (unsigned long long)totals.records, (unsigned long long)totals.replies,
        (unsigned long long)totals.packets, (unsigned long long)totals.packed,
        (unsigned long long)totals.record_bytes, (unsigned long long)totals.shadows,
        (unsigned long long)totals.combined, (unsigned long long)totals.unresolved,
        (unsigned long long)totals.edges_late, (unsigned long long)totals.forced,
        (unsigned long long)all_most, (unsigned long long)totals.unseen,
        (double)totals.waited * 1e-9);
}

/* Without the closing brace. */
static bool put_pop(uint32_t n, const double *max, const double *sum, double attributed,
                    double outer) {
    struct lc_pop_sums total = {0}, one;
    double whatif[LC_WHATIF_MAX] = {0};
    struct lc_pop pop;
    for (uint32_t k = 0; k < n; k++) {
        pop_sums(max + k * N_MAX, sum + k * N_SUM, &one);
        add_sums(&total, &one, whatif, max + k * N_MAX);
    }
    if (!lc_pop_compute(&total, &pop))
        return false;
    /* Each late edge may count in full, but no clock is larger than the time that has passed. */
    double error =
        fmin((double)totals.late_useful * 1e-9, fmax(total.elapsed - total.critical_path, 0));
    double rest = total.critical_path > 0 ? 1 - attributed / total.critical_path : 0;
    lc_strbuf_putc(&pop_text, '{');
    lc_pop_json(&pop, &pop_text);
    lc_strbuf_printf(&pop_text,
                     ", \"elapsed_s\": %.17g, \"critical_path_error_s\": %.9g, "
                     "\"not_attributed\": %.9g, \"attributed_further_out\": %.9g",
                     total.elapsed, error, rest > 0 ? rest : 0,
                     total.critical_path > 0 ? outer / total.critical_path : 0);
    if (n > 1)
        put_intervals(max, sum, n);
    if (lc_clk_whatif_given() > 0 && !lc_clk_has_chosen())
        put_whatif(&total, whatif);
    lc_strbuf_printf(&meta_text, ", \"unattributed_share\": %.9g", rest > 0 ? rest : 0);
    return true;
}

/* What the clocks of scenarios that were chosen in the run are behind that of useful time; an
 * interval without them: 0. */
static void chosen_gains(uint32_t n, const double *max) {
    double saved[LC_WHATIF_MAX] = {0};
    for (uint32_t k = 0; k < n; k++)
        for (uint32_t s = 0; s < LC_WHATIF_MAX; s++)
            if (max[k * N_MAX + MAX_WHATIF + s] > 0)
                saved[s] += max[k * N_MAX + MAX_CHAIN] - max[k * N_MAX + MAX_WHATIF + s];
    lc_clk_chosen_finish(saved);
}

static void reduce_intervals(const struct lc_offset_ends *c) {
    uint32_t mine = lc_clk.n_intervals < LC_INTERVALS_MAX ? lc_clk.n_intervals : LC_INTERVALS_MAX,
             n = 0;
    lc_real.Allreduce(&mine, &n, 1, MPI_UINT32_T, MPI_MAX, lc_core.comm);
    double *max = calloc(2 * (size_t)n * N_MAX + 1, sizeof *max);
    double *sum = calloc(2 * (size_t)n * N_SUM + 1, sizeof *sum);
    int ok = max != NULL && sum != NULL, all_ok = 0;
    lc_real.Allreduce(&ok, &all_ok, 1, MPI_INT, MPI_MIN, lc_core.comm);
    if (all_ok && max != NULL && sum != NULL && n > 0) {
        for (uint32_t i = 0; i < n * N_MAX; i++)
            max[i] = -INFINITY;
        for (uint32_t k = 0; k < mine && k < lc_clk.cap_intervals; k++)
            fill_interval(&lc_clk.intervals[k], c, max + k * N_MAX, sum + k * N_SUM);
        node_means(max, sum, n);
        lc_real.Reduce(max, max + n * N_MAX, (int)(n * N_MAX), MPI_DOUBLE, MPI_MAX, 0,
                       lc_core.comm);
        lc_real.Reduce(sum, sum + n * N_SUM, (int)(n * N_SUM), MPI_DOUBLE, MPI_SUM, 0,
                       lc_core.comm);
        chosen_gains(n, max + n * N_MAX);
        double outer = 0, attributed = share_path(n, &outer);
        bool any =
            lc_core.rank == 0 && put_pop(n, max + n * N_MAX, sum + n * N_SUM, attributed, outer);
        struct lc_strbuf phases = {0};
        lc_clk_paths_put(n, &phases);
        lc_clk_phases_put(c, &phases);
        lc_clk_iterations_put(c, &phases);
        lc_clk_pairs_put(&phases);
        if (any) {
            lc_strbuf_puts(&pop_text, lc_strbuf_ok(&phases) ? lc_strbuf_get(&phases) : "");
            lc_strbuf_putc(&pop_text, '}');
        }
        lc_strbuf_free(&phases);
    }
    free(max);
    free(sum);
}

/* What the nodes of the calls are: N node parent name, functions as module+offset. */
static void log_nodes(void) {
    const struct lc_state_node *nodes = lc_state_nodes();
    uint32_t n = atomic_load_explicit(&lc_core.state->nodes.count, memory_order_acquire);
    for (uint32_t i = 1; i < n; i++)
        if (lc_raw_is_named(nodes[i].kind))
            LC_CLK_LOG("N %u %u %s\n", i, nodes[i].parent, lc_state_name_of(nodes[i].ref));
        else if (nodes[i].kind == LC_RAW_FRAME && nodes[i].ref != LC_NONE)
            LC_CLK_LOG("N %u %u %s+0x%llx\n", i, nodes[i].parent, lc_state_path_of(nodes[i].ref),
                       (unsigned long long)nodes[i].offset);
}

static void close_log(uint64_t now) {
    if (lc_clk.log == NULL)
        return;
    LC_CLK_LOG("E %llu\n", (unsigned long long)now);
    log_nodes();
    fclose(lc_clk.log);
    lc_clk.log = NULL;
}

void lc_clocks_finalize(struct lc_call *call) {
    struct lc_clk_thread *k = call->thread->clocks;
    if (!lc_clk.ready || k == NULL || !lc_core.agreed)
        return;
    close_log(call->begin);
    if (lc_clk.backlog)
        lc_clk_backlog_finish(k);
    lc_clk_resolve(k);
    pthread_mutex_lock(&lc_clk.lock);
    if (lc_clk.on)
        lc_clk_interval_end(call->begin);
    pthread_mutex_unlock(&lc_clk.lock);
    /* replies still in rings: late receivers of sends that ended before the reply arrived */
    for (uint32_t i = 0; i < lc_clk.size && lc_clk.n_pending > 0; i++)
        lc_match_drain(&lc_clk.match, i);
    struct lc_offset_ends c = {.offset_begin = lc_clk.offset_ns,
                               .local_begin = lc_clk.sync_local_ns};
    struct lc_clk_measured end;
    lc_clk_resync_end();
    lc_clk_measure_offset(&end);
    lc_clk_compare(&end);
    lc_clk_trace_end(&end);
    c.offset_end = end.offset_ns;
    c.local_end = end.local_ns;
    c.error = end.error_ns > lc_clk.sync_error_ns ? end.error_ns : lc_clk.sync_error_ns;
    lc_clk_book_finalize(k, call, &c);
    put_counts();
    put_clocks(&c);
    if (lc_core.rank == 0)
        lc_strbuf_printf(&meta_text, ", \"clock_error_s\": %.9g", c.error * 1e-9);
    lc_clk_sites_close();
    reduce_intervals(&c);
    lc_clk_merge_blame(&meta_text);
    lc_clk_constructor_sync_finish();
    lc_clk_records_finish();
}
