/* Measured intervals of the process. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "measure/clocks/call_state.h"
#include "measure/clocks/clocks.h"
#include "measure/clocks/intervals.h"
#include "measure/clocks/what_if_factors.h"
#include "measure/core/thread.h"
#include "piggyback/cpvec.h"
#include "piggyback/logical.h"

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

bool lc_clk_is_between(const struct lc_clk_thread *k) {
    if (lc_clk.backlog || lc_clk.clocks_meet)
        return k->between && k->in_runtime == 0;
    return k->thread != NULL && k->thread->depth == 0 && !k->in_runtime;
}

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
    lc_clk_phase_interval(true, now, region);
}

static void keep_items(struct lc_interval *v, struct lc_clk_thread *longest) {
    v->items = malloc(LC_CP_ITEMS * sizeof *v->items);
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
    lc_clk_phase_interval(false, now, UINT32_MAX);
    lc_clk.on = false;
    lc_clk.switch_ticks = now;
    if (index < lc_clk.cap_intervals && index < LC_INTERVALS_MAX) {
        struct lc_interval *v = &lc_clk.intervals[index];
        struct lc_clk_thread *longest = NULL;
        v->end = now;
        for (struct lc_clk_thread *k = lc_clk.threads; k != NULL; k = k->next) {
            if (k->l.interval != lc_clk.n_intervals)
                continue;
            uint64_t since = k->in_runtime; /* its time there is neither useful, nor in MPI */
            uint64_t rest = lc_clk_is_between(k) && now > k->l.last ? now - k->l.last : 0;
            double own = (double)(k->l.own + rest), chain = (double)(k->l.useful + rest);
            if (rest > 0) {
                lc_cpvec_add(&k->l.vec, (uint64_t)k->l.rank << 32, rest);
                if (lc_clk.n_whatif > 0)
                    lc_logical_whatif(&k->l, rest, lc_clk_whatif_of(0));
            }
            v->threads += 1;
            v->useful_sum += own;
            v->in_mpi += (double)(k->l.in_mpi + k->l.own_in_calls); /* as in the profile */
            v->outside_mpi +=
                (double)(k->l.last + rest - k->l.begin - k->l.skipped - k->l.in_mpi - k->l.in_omp);
            longer(v, LC_PATH_THREAD, &v->useful_max, own, k);
            if (chain > v->chain || longest == NULL)
                longest = k;
            longer(v, LC_PATH_GLOBAL, &v->chain, chain, k);
            double outside = (double)(int64_t)((since ? since : now) - k->l.origin);
            double until = (double)(since ? now - k->l.begin : k->l.last + rest - k->l.begin);
            longer(v, LC_PATH_PROCESS, &v->process_chain, (double)(k->l.process + rest), k);
            longer(v, LC_PATH_OUTSIDE_OMP, &v->outside_omp, outside, k);
            if (k == lc_clk.threads) /* the first one: most processes call MPI from it */
                longer(v, LC_PATH_OUTSIDE_MPI, &v->outside_mpi_max,
                       until - (double)(k->l.skipped + k->l.in_mpi), k);
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
