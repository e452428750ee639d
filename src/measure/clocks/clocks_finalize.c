/* What the clocks give, merged over all ranks in MPI_Finalize by reductions (O(log P) messages per
 * rank): factors per interval and of all intervals together, critical-path profile, predictions,
 * clock synchronisation, counts. */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "format/facts.h"
#include "measure/clocks/call_state.h"
#include "measure/clocks/what_if_factors.h"
#include "measure/clocks/clocks.h"
#include "measure/clocks/edges.h"
#include "measure/clocks/clocks_hooks.h"
#include "measure/clocks/global_time.h"
#include "measure/clocks/intervals.h"
#include "measure/clocks/contexts.h"
#include "measure/clocks/wait_states.h"
#include "measure/core/core.h"
#include "measure/core/state_write.h"
#include "measure/core/thread.h"
#include "piggyback/match.h"
#include "measure/clocks/backlog.h"
#include "measure/clocks/records.h"

struct end {       /* MPI_DOUBLE_INT */
    double length; /* seconds, or ticks */
    int rank;
};

struct path { /* of all intervals together */
    double seconds;
    struct end longest; /* of one interval */
    int thread;
};

/* A program that switches measurement on and off has many intervals: so many of them are told at
 * once. */
enum { AT_ONCE = 64 };

/* NULL: this rank has none of this number. */
static const struct lc_interval *known_interval(uint32_t k) {
    return k < lc_clk.n_intervals && k < lc_clk.cap_intervals ? &lc_clk.intervals[k] : NULL;
}

static void own_lengths(const struct lc_interval *v, struct end mine[LC_PATHS]) {
    const double ticks[LC_PATHS] = {
        [LC_PATH_GLOBAL] = v != NULL ? v->chain : 0,
        [LC_PATH_PROCESS] = v != NULL ? v->process_chain : 0,
        [LC_PATH_THREAD] = v != NULL ? v->useful_max : 0,
        [LC_PATH_OUTSIDE_MPI] = v != NULL ? v->outside_mpi_max : 0,
        [LC_PATH_OUTSIDE_OMP] = v != NULL ? v->outside_omp : 0,
    };
    for (size_t i = 0; i < LC_PATHS; i++)
        mine[i] = (struct end){ticks[i] * lc_clk.ns_per_tick * 1e-9, lc_core.rank};
}

/* Collective: the longest paths of this and the next intervals, `many` of them, added on rank 0. */
static void add_intervals(uint32_t first, uint32_t many, struct path paths[LC_PATHS]) {
    struct end mine[AT_ONCE][LC_PATHS], longest[AT_ONCE][LC_PATHS];
    int ends[AT_ONCE][LC_PATHS], all[AT_ONCE][LC_PATHS];
    const int n = (int)many * LC_PATHS;
    for (uint32_t k = 0; k < many; k++)
        own_lengths(known_interval(first + k), mine[k]);
    lc_real.Allreduce(mine, longest, n, MPI_DOUBLE_INT, MPI_MAXLOC, lc_core.comm);
    for (uint32_t k = 0; k < many; k++) {
        const struct lc_interval *v = known_interval(first + k);
        for (size_t i = 0; i < LC_PATHS; i++)
            ends[k][i] = v != NULL && longest[k][i].rank == lc_core.rank ? v->ends[i] : -1;
    }
    lc_real.Reduce(ends, all, n, MPI_INT, MPI_MAX, 0, lc_core.comm);
    for (uint32_t k = 0; lc_core.rank == 0 && k < many; k++)
        for (size_t i = 0; i < LC_PATHS; i++) {
            paths[i].seconds += longest[k][i].length;
            if (longest[k][i].length > paths[i].longest.length) {
                paths[i].longest = longest[k][i];
                paths[i].thread = all[k][i];
            }
        }
}

/* Collective; adds LC_FACT_PATHS on rank 0, over the first n intervals of all ranks. */
static void lc_clk_paths_put(uint32_t n, struct lc_strbuf *facts) {
    struct path paths[LC_PATHS] = {{0}};
    for (uint32_t k = 0; k < n; k += AT_ONCE)
        add_intervals(k, n - k < AT_ONCE ? n - k : AT_ONCE, paths);
    struct lc_fact_path fact[LC_PATHS];
    for (size_t i = 0; i < LC_PATHS; i++)
        fact[i] = (struct lc_fact_path){paths[i].seconds, paths[i].longest.rank, paths[i].thread};
    if (lc_core.rank == 0)
        lc_facts_put(facts, LC_FACT_PATHS, fact, sizeof fact);
}

enum { N_TOTAL = offsetof(struct lc_fact_counts, events_most) / sizeof(uint64_t) };

static struct lc_strbuf facts; /* on rank 0 */

const struct lc_strbuf *lc_clocks_facts(void) {
    return &facts;
}

/* ---- factors */

static void fill_interval(const struct lc_interval *v, const struct lc_offset_ends *c, double *max,
                          double *sum) {
    double s = lc_clk.ns_per_tick * 1e-9;
    max[LC_INTERVAL_BEGIN] = -lc_clk_global_s(c, v->begin);
    max[LC_INTERVAL_END] = lc_clk_global_s(c, v->end);
    max[LC_INTERVAL_USEFUL] = v->useful_max * s;
    max[LC_INTERVAL_CHAIN] = v->chain * s;
    max[LC_INTERVAL_OMP] = v->outside_omp * s;
    max[LC_INTERVAL_THREADS] = v->threads;
    max[LC_INTERVAL_PROCESS] = v->process_chain * s;
    max[LC_INTERVAL_TASK] = v->task_chain * s;
    double mpi = v->threads > 0 ? v->in_mpi * s / v->threads : 0;
    max[LC_INTERVAL_MPI] = -mpi;
    for (uint32_t i = 0; i < lc_clk.n_whatif; i++)
        max[LC_INTERVAL_WHATIF + i] = v->whatif[i] * s;
    sum[LC_INTERVAL_SUM_THREADS] = v->threads;
    sum[LC_INTERVAL_SUM_USEFUL] = v->useful_sum * s;
    sum[LC_INTERVAL_SUM_OUTSIDE] = v->outside_mpi * s;
    sum[LC_INTERVAL_SUM_ALIVE] = v->alive * s;
    sum[LC_INTERVAL_SUM_PROCESS] = v->process_max_sum * s;
    sum[LC_INTERVAL_SUM_MPI] = mpi;
    sum[LC_INTERVAL_SUM_PRESENT] = 1;
}

/* Mean time in MPI of the processes of each node; the least of them. pairs: room for four numbers
 * of each interval. */
static void node_means(double *max, const double *sum, double *pairs, uint32_t n) {
    MPI_Comm comm = MPI_COMM_NULL;
    if (lc_real.Comm_split(lc_core.comm, (int)lc_clk.node, lc_core.rank, &comm) != MPI_SUCCESS)
        return;
    double *all = pairs + 2 * (size_t)n;
    for (size_t k = 0; k < n; k++) {
        pairs[2 * k] = sum[k * LC_INTERVAL_SUMS + LC_INTERVAL_SUM_MPI];
        pairs[2 * k + 1] = sum[k * LC_INTERVAL_SUMS + LC_INTERVAL_SUM_PRESENT];
    }
    lc_real.Allreduce(pairs, all, 2 * (int)n, MPI_DOUBLE, MPI_SUM, comm);
    for (size_t k = 0; k < n; k++)
        max[k * LC_INTERVAL_MAXIMA + LC_INTERVAL_NODE_MPI] =
            all[2 * k + 1] > 0 ? -all[2 * k] / all[2 * k + 1] : -INFINITY;
    lc_real.Comm_free(&comm);
}

/* ---- critical-path profile: the longest chain of each interval, given back to the ranks whose
 * code it is */

static uint32_t counters;                  /* that all ranks read */
static uint64_t path_counts[LC_CP_COUNTS]; /* of all intervals */

static void agree_on_counters(void) {
    int own[LC_CP_COUNTS], all[LC_CP_COUNTS] = {0};
    for (int i = 0; i < LC_CP_COUNTS; i++)
        own[i] = (lc_core.counters & 1u << i) != 0;
    lc_real.Allreduce(own, all, LC_CP_COUNTS, MPI_INT, MPI_MIN, lc_core.comm);
    for (int i = 0; i < LC_CP_COUNTS; i++)
        counters |= all[i] != 0 ? 1u << i : 0;
}

static void put_counters(void) {
    struct lc_fact_counters fact = {.asked = lc_core.counters_asked,
                                    .counted = counters,
                                    .path_known =
                                        !lc_clk.backlog}; /* they do not go between nodes */
    memcpy(fact.path, path_counts, sizeof fact.path);
    if (lc_core.counters_asked != 0 && lc_core.rank == 0)
        lc_facts_put(&facts, LC_FACT_COUNTERS, &fact, sizeof fact);
}

/* The longest chain of an interval: of the rank on which it ends, all 0 on others. */
struct longest {
    uint64_t n;
    uint64_t counts[LC_CP_COUNTS];
    struct lc_cp_item items[LC_CP_ITEMS];
};
_Static_assert(sizeof(struct longest) % sizeof(uint64_t) == 0, "they are added up as words");

static void take_longest(const struct lc_interval *v, struct longest *chain) {
    if (v == NULL)
        return;
    chain->n = v->items != NULL ? v->n_items : 0;
    memcpy(chain->counts, v->counts, sizeof chain->counts);
    if (chain->n > 0)
        memcpy(chain->items, v->items, chain->n * sizeof *chain->items);
}

/* Adds the seconds that it has code for, and those of them for code further out. */
static void book_longest(const struct longest *chain, double *attributed, double *outer) {
    for (int i = 0; i < LC_CP_COUNTS && counters != 0; i++)
        path_counts[i] += chain->counts[i];
    for (uint64_t i = 0; i < chain->n; i++) {
        const struct lc_cp_item *item = &chain->items[i];
        double seconds = (double)item->ticks * lc_clk.ns_per_tick * 1e-9;
        *attributed += seconds;
        *outer += item->key & LC_CP_OUTER ? seconds : 0;
        if ((item->key & ~LC_CP_OUTER) >> 32 == lc_clk.rank)
            lc_clk_book_node((uint32_t)item->key, item->ticks, LC_STATE_WAIT_TIMES, 0, 0);
    }
}

/* Seconds that have a call path; *outer: of which further out than they were spent. */
static double share_path(uint32_t n, double *outer) {
    static struct longest own[AT_ONCE], chains[AT_ONCE];
    double attributed = 0;
    struct end mine[AT_ONCE], longest[AT_ONCE];
    for (uint32_t first = 0; first < n; first += AT_ONCE) {
        const uint32_t many = n - first < AT_ONCE ? n - first : AT_ONCE;
        for (uint32_t k = 0; k < many; k++) {
            const struct lc_interval *v = known_interval(first + k);
            mine[k] = (struct end){v != NULL ? v->chain : 0, lc_core.rank};
        }
        lc_real.Allreduce(mine, longest, (int)many, MPI_DOUBLE_INT, MPI_MAXLOC, lc_core.comm);
        memset(own, 0, many * sizeof *own);
        for (uint32_t k = 0; k < many; k++)
            if (longest[k].rank == lc_core.rank)
                take_longest(known_interval(first + k), &own[k]);
        lc_real.Allreduce(own, chains, (int)(many * sizeof *own / sizeof(uint64_t)), MPI_UINT64_T,
                          MPI_SUM, lc_core.comm);
        for (uint32_t k = 0; k < many; k++)
            book_longest(&chains[k], &attributed, outer);
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
        (double)lc_clk.largest_violation * lc_clk.ns_per_tick};
    double *all = lc_core.rank == 0 ? calloc(PER_RANK * (size_t)lc_core.size, sizeof *all) : NULL;
    if (lc_on_first(all != NULL))
        lc_real.Gather(mine, PER_RANK, MPI_DOUBLE, all, PER_RANK, MPI_DOUBLE, 0, lc_core.comm);
    if (all == NULL) /* all ranks but the first */
        return;
    double largest = 0;
    for (uint32_t rank = 0; rank < lc_clk.size; rank++)
        largest = fmax(largest, all[PER_RANK * rank + 4]);
    struct lc_fact_clocks clocks = {.error_s = c->error * 1e-9,
                                    .wait_error_s = wait_error_ns(all) * 1e-9,
                                    .largest_violation_s = largest * 1e-9,
                                    .nodes = lc_clk.n_nodes,
                                    .during_run = lc_clk.n_resyncs};
    size_t begin = lc_facts_begin(&facts, LC_FACT_CLOCKS, &clocks, sizeof clocks);
    for (uint32_t node = 0, rank = 0; node < lc_clk.n_nodes; node++) {
        for (rank = 0; rank + 1 < lc_clk.size && lc_clk.node_of[rank] != node;)
            rank++;
        const struct lc_fact_node fact = {.offset_begin_s = -all[PER_RANK * rank] * 1e-9,
                                          .offset_end_s = -all[PER_RANK * rank + 1] * 1e-9,
                                          .drift_ppm = all[PER_RANK * rank + 2]};
        lc_strbuf_add(&facts, (const char *)&fact, sizeof fact);
    }
    lc_facts_end(&facts, begin);
    free(all);
}

static void put_counts(void) {
    const struct lc_match_counts *m = &lc_clk.match.counts;
    struct lc_fact_counts totals = {0}, mine = lc_clk.counts;
    mine.taken = m->taken;
    mine.absent = m->absent;
    mine.unsure = m->unsure;
    mine.mispaired = m->mispaired;
    mine.late = m->late;
    mine.void_entries = m->void_entries;
    mine.late_useful = lc_clk_ns_of(mine.late_useful);
    mine.waited = (uint64_t)((double)lc_clk.waited_ticks * lc_clk.ns_per_tick);
    for (uint32_t i = 0; i < lc_clk.size; i++)
        mine.lost += lc_clk.outs[i].n_lost;
    for (struct lc_clk_thread *k = lc_clk.threads; k != NULL; k = k->next) {
        mine.overwritten += k->l.vec.n_overwritten;
        mine.vectors += k->l.vec.next + k->l.vec.next_delta;
        mine.whatif_lost += k->l.vec.n_whatif_lost;
    }
    for (uint32_t s = 0; s < lc_clk.n_whatif; s++)
        mine.late_whatif[s] = lc_clk_ns_of(mine.late_whatif[s]);
    uint32_t seen = lc_clk_whatif_seen(), all_seen = 0;
    lc_real.Reduce(&mine, &totals, N_TOTAL, MPI_UINT64_T, MPI_SUM, 0, lc_core.comm);
    lc_real.Reduce(&seen, &all_seen, 1, MPI_UINT32_T, MPI_BOR, 0, lc_core.comm);
    lc_real.Reduce(&mine.events_most, &totals.events_most, 1, MPI_UINT64_T, MPI_MAX, 0,
                   lc_core.comm);
    if (lc_core.rank != 0)
        return;
    lc_facts_put(&facts, LC_FACT_COUNTS, &totals, sizeof totals);
    lc_clk_whatif_facts(all_seen, &facts);
}

/* max and sum: over all ranks, n each. */
static void put_intervals(uint32_t n, const double *max, const double *sum, double attributed,
                          double outer) {
    const struct lc_fact_intervals fact = {.n = n,
                                           .one_rank = lc_core.size == 1,
                                           .n_whatif = lc_clk.n_whatif,
                                           .given = lc_clk_has_chosen() ? 0 : lc_clk_whatif_given(),
                                           .tasks_at = lc_clk_whatif_tasks_at(),
                                           .chosen = lc_clk_why_chosen(),
                                           .attributed_s = attributed,
                                           .outer_s = outer};
    size_t begin = lc_facts_begin(&facts, LC_FACT_INTERVALS, &fact, sizeof fact);
    lc_strbuf_add(&facts, (const char *)max, (size_t)n * LC_INTERVAL_MAXIMA * sizeof *max);
    lc_strbuf_add(&facts, (const char *)sum, (size_t)n * LC_INTERVAL_SUMS * sizeof *sum);
    lc_facts_end(&facts, begin);
}

/* What the clocks of scenarios that were chosen in the run are behind that of useful time; an
 * interval without them: 0. */
static void chosen_gains(uint32_t n, const double *max) {
    double saved[LC_WHATIF_MAX] = {0};
    for (uint32_t k = 0; k < n; k++)
        for (uint32_t s = 0; s < LC_WHATIF_MAX; s++)
            if (max[k * LC_INTERVAL_MAXIMA + LC_INTERVAL_WHATIF + s] > 0)
                saved[s] += max[k * LC_INTERVAL_MAXIMA + LC_INTERVAL_CHAIN] -
                            max[k * LC_INTERVAL_MAXIMA + LC_INTERVAL_WHATIF + s];
    lc_clk_chosen_finish(saved);
}

static void reduce_intervals(const struct lc_offset_ends *c) {
    uint32_t mine = lc_clk.n_intervals < LC_INTERVALS_MAX ? lc_clk.n_intervals : LC_INTERVALS_MAX,
             n = 0;
    lc_real.Allreduce(&mine, &n, 1, MPI_UINT32_T, MPI_MAX, lc_core.comm);
    double *max = calloc(2 * (size_t)n * LC_INTERVAL_MAXIMA + 1, sizeof *max);
    double *sum = calloc(2 * (size_t)n * LC_INTERVAL_SUMS + 1, sizeof *sum);
    double *pairs = calloc(4 * (size_t)n + 1, sizeof *pairs);
    bool all_ok = lc_on_all(max != NULL && sum != NULL && pairs != NULL, lc_core.comm);
    if (all_ok && max != NULL && sum != NULL && pairs != NULL && n > 0) {
        for (uint32_t i = 0; i < n * LC_INTERVAL_MAXIMA; i++)
            max[i] = -INFINITY;
        for (uint32_t k = 0; k < mine && k < lc_clk.cap_intervals; k++)
            fill_interval(&lc_clk.intervals[k], c, max + k * LC_INTERVAL_MAXIMA,
                          sum + k * LC_INTERVAL_SUMS);
        node_means(max, sum, pairs, n);
        lc_real.Reduce(max, max + n * LC_INTERVAL_MAXIMA, (int)(n * LC_INTERVAL_MAXIMA), MPI_DOUBLE,
                       MPI_MAX, 0, lc_core.comm);
        lc_real.Reduce(sum, sum + n * LC_INTERVAL_SUMS, (int)(n * LC_INTERVAL_SUMS), MPI_DOUBLE,
                       MPI_SUM, 0, lc_core.comm);
        chosen_gains(n, max + n * LC_INTERVAL_MAXIMA);
        agree_on_counters();
        double outer = 0, attributed = share_path(n, &outer);
        if (lc_core.rank == 0)
            put_intervals(n, max + n * LC_INTERVAL_MAXIMA, sum + n * LC_INTERVAL_SUMS, attributed,
                          outer);
        lc_clk_paths_put(n, &facts);
        lc_clk_phases_put(c, &facts);
        lc_clk_iterations_put(c, &facts);
        lc_clk_pairs_put(&facts);
        put_counters();
    }
    free(max);
    free(sum);
    free(pairs);
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
    lc_clk_open_edges_take(k);
    lc_clk_all_lock();
    if (lc_clk.on)
        lc_clk_interval_end(call->begin);
    lc_clk_all_unlock();
    /* replies still in rings: late receivers of sends that ended before the reply arrived */
    for (uint32_t i = 0; i < lc_clk.size && lc_clk_waits_for_posts(); i++)
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
    lc_clk_sites_close();
    reduce_intervals(&c);
    lc_clk_merge_blame(&facts);
    lc_clk_constructor_sync_finish();
    lc_clk_records_finish();
}
