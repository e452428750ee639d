/* Measured intervals of the process. */
#include <stdlib.h>
#include <string.h>
#include <math.h>

#include "base/mem.h"
#include "measure/callpath/entry.h"
#include "measure/clocks/call_state.h"
#include "measure/clocks/clocks.h"
#include "measure/clocks/intervals.h"
#include "measure/clocks/what_if_factors.h"
#include "measure/core/thread.h"
#include "piggyback/cpvec.h"
#include "piggyback/logical.h"
#include "base/hash.h"
#include "base/strbuf.h"
#include "format/facts.h"
#include "format/omp_construct.h"
#include "measure/core/core.h"
#include "measure/core/state_write.h"
#include "measure/clocks/global_time.h"

/* The thread sees that measurement was switched, or a phase began or ended, since its last event.
 * Its useful time of the interval that ended was closed for it. */
void lc_clk_catch_up(struct lc_clk_thread *k, uint64_t now) {
    uint32_t interval = lc_clk.on ? lc_clk.n_intervals : 0;
    if (k->l.interval != interval)
        lc_logical_begin(&k->l, interval, lc_min(lc_clk.switch_ticks, now));
    lc_clk_phase_catch_up(k);
    k->epoch = lc_clk.epoch;
}

/* Of the program: twice its number, 1 more while it is over. */
static _Atomic uint32_t seen = 1;
static _Atomic uint64_t seen_begin; /* ticks */

void lc_clk_interval_seen(bool on, uint64_t switched) {
    if (on)
        atomic_store_explicit(&seen_begin, switched, memory_order_relaxed);
    uint32_t now = atomic_load_explicit(&seen, memory_order_relaxed);
    uint32_t next = on ? now + (now & 1) : now | 1;
    atomic_store_explicit(&seen, next, memory_order_relaxed);
}

uint32_t lc_clk_interval_now(void) {
    uint32_t now = atomic_load_explicit(&seen, memory_order_relaxed);
    return now & 1 ? 0 : now / 2;
}

uint32_t lc_clk_interval_of(const struct lc_clk_thread *k, uint64_t *begin) {
    *begin = lc_clk.backlog ? atomic_load_explicit(&seen_begin, memory_order_relaxed) : k->l.begin;
    return lc_clk.backlog ? lc_clk_interval_now() : k->l.interval;
}

/* Is the thread between two calls, where the clocks are? */
static bool is_between(const struct lc_clk_thread *k) {
    if (lc_clk.backlog || lc_clk.clocks_meet)
        return k->between && k->in_runtime == 0;
    return k->thread != NULL && k->thread->depth == 0 && !k->in_runtime;
}

/* An interval begins or ends. With lc_clk_all_lock. */
static void phase_interval(bool on, uint64_t now, uint32_t region);

void lc_clk_interval_begin(uint64_t now, uint32_t region) {
    size_t cap = lc_clk.cap_intervals;
    lc_clk.on = true;
    lc_clk.switch_ticks = now;
    lc_clk.epoch++;
    lc_clk.n_intervals++;
    if (lc_clk.n_intervals > LC_INTERVALS_MAX ||
        lc_grow(&lc_clk.intervals, &cap, lc_clk.n_intervals, sizeof *lc_clk.intervals) != LC_OK)
        return;
    lc_clk.cap_intervals = (uint32_t)cap;
    struct lc_interval *v = &lc_clk.intervals[lc_clk.n_intervals - 1];
    *v = (struct lc_interval){.begin = now, .end = now};
    for (size_t i = 0; i < LC_PATHS; i++)
        v->ends[i] = -1;
    phase_interval(true, now, region);
}

static void keep_items(struct lc_interval *v, struct lc_clk_thread *longest) {
    v->items = malloc(LC_CP_ITEMS * sizeof *v->items);
    lc_clk_spread(longest);
    if (v->items != NULL)
        v->n_items = lc_cpvec_pack(&longest->l.vec, v->items, LC_CP_ITEMS);
    memcpy(v->counts, longest->l.vec.counts, sizeof v->counts);
}

/* Of one kind of path: the longest so far, and where it ends. */
static void longer(struct lc_interval *v, enum lc_path_scope kind, double *longest, double length,
                   const struct lc_clk_thread *k) {
    if (length <= *longest)
        return;
    *longest = length;
    v->ends[kind] = (int32_t)k->index;
}

/* Sums over the threads of the process. Threads between two calls add their useful time until now.
 */
void lc_clk_interval_end(uint64_t now) {
    uint32_t index = lc_clk.n_intervals - 1;
    phase_interval(false, now, UINT32_MAX);
    lc_clk.on = false;
    lc_clk.switch_ticks = now;
    if (index < lc_clk.cap_intervals && index < LC_INTERVALS_MAX) {
        struct lc_interval *v = &lc_clk.intervals[index];
        struct lc_clk_thread *longest = NULL;
        v->end = now;
        for (struct lc_clk_thread *k = lc_clk.threads; k != NULL; k = k->next) {
            if (k->l.interval != lc_clk.n_intervals)
                continue;
            uint64_t early = lc_logical_early(&k->l, now);
            uint64_t last = k->l.last - early, skipped = k->l.skipped - early;
            uint64_t since = k->in_runtime; /* its time there is neither useful, nor in MPI */
            uint64_t rest = is_between(k) && now > last ? now - last : 0;
            double own = (double)(k->l.own + rest), chain = (double)(k->l.useful + rest);
            if (rest > 0) {
                lc_cpvec_add(&k->l.vec, (uint64_t)k->l.rank << 32, rest);
                if (lc_clk.n_whatif > 0)
                    lc_logical_whatif(&k->l, rest, lc_clk_whatif_of(0));
            }
            v->threads += 1;
            v->useful_sum += own;
            v->in_mpi += (double)(k->l.in_mpi + k->l.own_in_calls - early); /* as in the profile */
            v->outside_mpi +=
                (double)(last + rest - k->l.begin - skipped - k->l.in_mpi - k->l.in_omp);
            longer(v, LC_PATH_THREAD, &v->useful_max, own, k);
            if (chain > v->chain || longest == NULL)
                longest = k;
            longer(v, LC_PATH_GLOBAL, &v->chain, chain, k);
            double outside = (double)(int64_t)((since ? since : now) - k->l.origin);
            double until = (double)(since ? now - k->l.begin : last + rest - k->l.begin);
            v->alive += (k->thread != NULL ? until : (double)(last - k->l.begin)) - (double)skipped;
            longer(v, LC_PATH_PROCESS, &v->process_chain, (double)(k->l.process + rest), k);
            longer(v, LC_PATH_OUTSIDE_OMP, &v->outside_omp, outside, k);
            if (k == lc_clk.threads) /* the first one: most processes call MPI from it */
                longer(v, LC_PATH_OUTSIDE_MPI, &v->outside_mpi_max,
                       until - (double)(skipped + k->l.in_mpi), k);
            for (uint32_t s = 0; s < lc_clk.n_whatif; s++)
                if ((double)k->l.vec.whatif[s] > v->whatif[s])
                    v->whatif[s] = (double)k->l.vec.whatif[s];
        }
        v->process_max_sum = v->threads * v->useful_max;
        uint64_t ended[LC_WHATIF_MAX] = {0};
        if (lc_clk.task_chain != NULL)
            v->task_chain = (double)lc_clk.task_chain(lc_clk.n_intervals, ended);
        for (uint32_t s = 0; s < lc_clk.n_whatif; s++)
            if ((double)ended[s] > v->whatif[s])
                v->whatif[s] = (double)ended[s];
        if (longest != NULL)
            keep_items(v, longest);
    }
    lc_clk.epoch++;
}

/* Named phases: the outermost regions by name of the thread that called MPI_Init (functions that
 * are regions around or inside them do not count). The k-th phase of
 * a name on every rank is one iteration; edges count inside an iteration only.
 *
 *   id         name and number of the iteration as one word, alike on all ranks; travels in stamps
 *   iteration  begin, end, useful time of the threads of this process, longest chain since its
 *              begin
 *
 * At most LC_PHASE_NAMES names and LC_PHASE_KEPT iterations of each are kept; what is beyond is
 * counted. A thread that sees the change late is put right by lc_clk_phase_catch_up. */

enum { LC_PHASE_NAMES = 64, LC_PHASE_KEPT = 65536 };

struct lc_iteration { /* ticks */
    uint64_t begin, end, useful_sum, useful_max, chain, waited;
    uint64_t process_chain, task_chain; /* edges of the process only; a clock per task, 0: none */
    uint64_t outside, outside_before;   /* of OpenMP: longest chain of the interval, until its end
                                         * and until its begin */
    uint32_t threads;
};

struct lc_phase_name {
    uint32_t region;
    uint64_t key; /* of the name */
    const char *text;
    uint64_t count;
    struct lc_iteration *list;
    size_t n, cap;
};

static struct lc_phase_name names[LC_PHASE_NAMES];
static uint32_t n_names;
static struct lc_phase_name *open; /* NULL: outside */
static uint64_t waited_before;     /* by this process, when it began */
static uint64_t outside_before;    /* as of lc_iteration */

/* Never 0, and MPI_MAX orders it as C does: MPICH 4.0 compares MPI_UINT64_T as if it had a sign. */
static uint64_t key_of(const char *text) {
    uint64_t hash = lc_hash_bytes(LC_HASH_BEGIN, text, strnlen(text, LC_PHASE_TEXT - 1));
    uint64_t key = hash & INT64_MAX;
    return key != 0 ? key : 1;
}

static struct lc_phase_name *name_of(uint32_t region) {
    for (uint32_t i = 0; i < n_names; i++)
        if (names[i].region == region)
            return &names[i];
    struct lc_region_name r = lc_region_get(region);
    if (r.text == NULL || n_names == LC_PHASE_NAMES)
        return NULL;
    names[n_names] =
        (struct lc_phase_name){.region = region, .key = key_of(r.text), .text = r.text};
    return &names[n_names++];
}

/* The longest chain of the interval outside of OpenMP, of the threads of this process. */
static uint64_t outside_omp(uint64_t now) {
    uint64_t longest = 0;
    for (const struct lc_clk_thread *k = lc_clk.threads; k != NULL; k = k->next) {
        int64_t chain = (int64_t)((k->in_runtime ? k->in_runtime : now) - k->l.origin);
        if (k->l.interval == lc_clk.n_intervals && chain > (int64_t)longest)
            longest = (uint64_t)chain;
    }
    return longest;
}

/* With lc_clk_all_lock. */
static void begin(uint32_t region, uint64_t now) {
    struct lc_phase_name *p = name_of(region);
    if (p == NULL)
        return;
    open = p;
    waited_before = lc_clk.waited_ticks;
    outside_before = outside_omp(now);
    p->count++;
    uint32_t id = (uint32_t)((p->key + lc_hash_key(p->count)) >> 32);
    lc_clk.phase = id ? id : 1;
    if (!lc_clk.backlog)
        LC_CLK_LOG("F 1 %llu %s\n", (unsigned long long)now, p->text);
    lc_clk.phase_ticks = now;
    lc_clk.epoch++;
}

static void end(uint64_t now) {
    struct lc_phase_name *p = open;
    struct lc_iteration it = {.begin = lc_clk.phase_ticks,
                              .end = now,
                              .waited = lc_clk.waited_ticks - waited_before,
                              .outside = outside_omp(now),
                              .outside_before = outside_before};
    for (struct lc_clk_thread *k = lc_clk.threads; k != NULL; k = k->next) {
        if (k->l.phase != lc_clk.phase)
            continue;
        uint64_t rest = is_between(k) && now > k->l.last ? now - k->l.last : 0;
        uint64_t own = k->l.phase_own + rest, chain = k->l.phase_useful + rest;
        it.threads++;
        it.useful_sum += own;
        it.useful_max = own > it.useful_max ? own : it.useful_max;
        it.chain = chain > it.chain ? chain : it.chain;
        uint64_t process = k->l.phase_process + rest;
        it.process_chain = process > it.process_chain ? process : it.process_chain;
    }
    if (lc_clk.phase_chain != NULL)
        it.task_chain = lc_clk.phase_chain(lc_clk.phase, now);
    open = NULL;
    lc_clk.phase = 0;
    if (!lc_clk.backlog)
        LC_CLK_LOG("F 0 %llu %s\n", (unsigned long long)now, p->text);
    lc_clk.phase_ticks = now;
    lc_clk.epoch++;
    if (p->n == LC_PHASE_KEPT || p->n + 1 != p->count ||
        lc_grow(&p->list, &p->cap, p->n + 1, sizeof *p->list) != LC_OK)
        return;
    p->list[p->n++] = it;
}

/* Useful time since the last event, not yet counted, ran partly before the change: as much is taken
 * away as will be added too much (unsigned, so it may be below 0 until then). */
void lc_clk_phase_catch_up(struct lc_clk_thread *k) {
    if (k->l.phase == lc_clk.phase)
        return;
    k->l.phase = lc_clk.phase;
    uint64_t before = lc_clk.phase_ticks > k->l.last ? lc_clk.phase_ticks - k->l.last : 0;
    k->l.phase_own = k->l.phase_useful = k->l.phase_process = 0 - before;
}

/* Of a region's begin; functions that are regions have an address, constructs of OpenMP are none
 * of the program's. */
static bool region_of(const struct lc_call *call, uint32_t *region) {
    uint32_t code = (uint32_t)call->entry->fn_ctx;
    if (code < lc_region_fn(0, false))
        return false;
    *region = (code - lc_region_fn(0, false)) / 2;
    const struct lc_region_name name = lc_region_get(*region);
    return name.address == 0 && !lc_omp_is_construct(name.text);
}

uint32_t lc_clk_phase_of(const struct lc_clk_thread *k, const struct lc_call *call) {
    uint32_t region;
    return k == lc_clk.threads && region_of(call, &region) ? region : UINT32_MAX;
}

void lc_clk_phase_log(uint32_t region, uint64_t now) {
    static uint32_t logged = UINT32_MAX;
    if (lc_clk.log == NULL || (region == UINT32_MAX) == (logged == UINT32_MAX) ||
        (region != UINT32_MAX && lc_clk_interval_now() == 0))
        return;
    struct lc_region_name r = lc_region_get(region != UINT32_MAX ? region : logged);
    LC_CLK_LOG("F %d %llu %s\n", region != UINT32_MAX, (unsigned long long)now,
               r.text != NULL ? r.text : "");
    logged = region;
}

void lc_clk_phase_begin(struct lc_clk_thread *k, const struct lc_call *call) {
    uint32_t region;
    if (k != lc_clk.threads || !region_of(call, &region))
        return;
    lc_clk_all_lock();
    if (lc_clk.on && open == NULL) {
        begin(region, call->begin);
        lc_clk_catch_up(k, call->begin);
    }
    lc_clk_all_unlock();
}

void lc_clk_phase_end(struct lc_clk_thread *k, const struct lc_call *call) {
    if (k != lc_clk.threads)
        return;
    lc_clk_all_lock();
    if (open != NULL) {
        end(call->begin);
        lc_clk_catch_up(k, call->begin);
    }
    lc_clk_all_unlock();
}

uint32_t lc_clk_open_region(void) {
    lc_biased_lock(&lc_clk.lock); /* the thread does not go */
    const struct lc_thread *t = lc_clk.threads != NULL ? lc_clk.threads->thread : NULL;
    uint32_t region =
        t != NULL ? atomic_load_explicit(&t->named_region, memory_order_relaxed) - 1 : UINT32_MAX;
    lc_biased_unlock(&lc_clk.lock);
    return region;
}

static void phase_interval(bool on, uint64_t now, uint32_t region) {
    if (on && open == NULL && region != UINT32_MAX)
        begin(region, now);
    if (!on && open != NULL)
        end(now);
}

/* ---- reduction over all ranks */

/* This rank's share of the first n iterations of p (NULL: it has none). */
static void fill(const struct lc_phase_name *p, size_t n, const struct lc_offset_ends *c,
                 double *max, double *sum) {
    double s = lc_clk.ns_per_tick * 1e-9;
    for (size_t i = 0; i < n * LC_PHASE_MAXIMA; i++)
        max[i] = -INFINITY;
    for (size_t i = 0; p != NULL && i < p->n && i < n; i++) {
        const struct lc_iteration *it = &p->list[i];
        double *m = max + i * LC_PHASE_MAXIMA;
        m[LC_PHASE_BEGIN] = -lc_clk_global_s(c, it->begin);
        m[LC_PHASE_END] = lc_clk_global_s(c, it->end);
        m[LC_PHASE_USEFUL] = (double)it->useful_max * s;
        m[LC_PHASE_CHAIN] = (double)it->chain * s;
        m[LC_PHASE_PROCESS] = (double)it->process_chain * s;
        m[LC_PHASE_TASK] = (double)it->task_chain * s;
        m[LC_PHASE_OUTSIDE] = (double)it->outside * s;
        m[LC_PHASE_OUTSIDE_BEFORE] = (double)it->outside_before * s;
        m[LC_PHASE_THREADS] = it->threads;
        sum[i * LC_PHASE_SUMS + LC_PHASE_SUM_THREADS] = it->threads;
        sum[i * LC_PHASE_SUMS + LC_PHASE_SUM_USEFUL] = (double)it->useful_sum * s;
        sum[i * LC_PHASE_SUMS + LC_PHASE_SUM_PROCESS] = (double)it->useful_max * s * it->threads;
    }
}

/* Collective: the first n iterations of each rank that has as many. */
static void put_ranks(const struct lc_phase_name *p, size_t n, struct lc_strbuf *facts) {
    double *elapsed = calloc(2 * n + 1, sizeof *elapsed), seconds = lc_clk.ns_per_tick * 1e-9;
    double *waiting = elapsed != NULL ? elapsed + n : NULL;
    bool has = elapsed != NULL && p != NULL && p->n >= n;
    for (size_t i = 0; has && i < n; i++) {
        elapsed[i] = (double)(p->list[i].end - p->list[i].begin) * seconds;
        waiting[i] = (double)p->list[i].waited * seconds;
    }
    lc_iterations_put_ranks(has ? elapsed : NULL, waiting, n, 1, facts);
    free(elapsed);
}

/* Collective. */
static void reduce_phase(const struct lc_phase_name *p, const struct lc_offset_ends *c,
                         struct lc_strbuf *facts) {
    uint64_t mine[2] = {p != NULL ? p->n : 0, p != NULL ? p->count : 0}, all[2];
    struct lc_fact_phase fact = {.one_rank = lc_core.size == 1};
    int who = p != NULL ? lc_core.rank : lc_core.size, first = 0;
    lc_real.Allreduce(mine, all, 2, MPI_UINT64_T, MPI_MAX, lc_core.comm);
    lc_real.Allreduce(&who, &first, 1, MPI_INT, MPI_MIN, lc_core.comm);
    if (p != NULL)
        strncpy(fact.name, p->text, sizeof fact.name - 1);
    lc_real.Bcast(fact.name, sizeof fact.name, MPI_CHAR, first, lc_core.comm);
    size_t n = (size_t)all[0];
    fact.n = n;
    fact.count = all[1];
    double *max = calloc(2 * n * LC_PHASE_MAXIMA + 1, sizeof *max),
           *sum = calloc(2 * n * LC_PHASE_SUMS + 1, sizeof *sum);
    bool all_ok = lc_on_all(max != NULL && sum != NULL, lc_core.comm);
    if (all_ok && max != NULL && sum != NULL && n > 0) {
        fill(p, n, c, max, sum);
        lc_real.Reduce(max, max + n * LC_PHASE_MAXIMA, (int)(n * LC_PHASE_MAXIMA), MPI_DOUBLE,
                       MPI_MAX, 0, lc_core.comm);
        lc_real.Reduce(sum, sum + n * LC_PHASE_SUMS, (int)(n * LC_PHASE_SUMS), MPI_DOUBLE, MPI_SUM,
                       0, lc_core.comm);
        put_ranks(p, n, facts);
        if (lc_core.rank == 0) {
            size_t begin = lc_facts_begin(facts, LC_FACT_PHASE, &fact, sizeof fact);
            lc_strbuf_add(facts, (const char *)(max + n * LC_PHASE_MAXIMA),
                          n * LC_PHASE_MAXIMA * sizeof *max);
            lc_strbuf_add(facts, (const char *)(sum + n * LC_PHASE_SUMS),
                          n * LC_PHASE_SUMS * sizeof *sum);
            lc_facts_end(facts, begin);
        }
    }
    free(max);
    free(sum);
}

/* Ranks need not know the same names: the largest key that is left is next. */
void lc_clk_phases_put(const struct lc_offset_ends *c, struct lc_strbuf *facts) {
    size_t n = 0;
    uint64_t below = UINT64_MAX;
    for (;;) {
        const struct lc_phase_name *p = NULL;
        for (uint32_t i = 0; i < n_names; i++)
            if (names[i].key < below && (p == NULL || names[i].key > p->key))
                p = &names[i];
        uint64_t mine = p != NULL ? p->key : 0, next = 0;
        lc_real.Allreduce(&mine, &next, 1, MPI_UINT64_T, MPI_MAX, lc_core.comm);
        if (next == 0 || n == LC_PHASE_NAMES)
            break;
        reduce_phase(p != NULL && p->key == next ? p : NULL, c, facts);
        n++;
        below = next;
    }
}
