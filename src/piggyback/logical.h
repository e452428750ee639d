/* Logical clocks of one thread (docs/definitions/efficiency-factors.md): they grow while the thread
 * is in the state they count and take the maximum with the clock that comes in at every
 * happens-before edge.
 *
 * Nouns
 *   useful        `useful_global`: time outside MPI, all edges; with the vector of call paths that
 *                 made it (cpvec.h). Without OpenMP it is also `outside_mpi_global`
 *   own           `useful_thread`: no edges
 *   process       `useful_process`: edges inside the process
 *   outside_omp   `outside_omp_global`: all time of the interval but that in the OpenMP runtime;
 *                 kept as the tick at which it would have been 0
 *   phase_useful  as useful, from the begin of the current phase; phase_process as process
 *   lot           where vectors cost too much: of LC_LOT_ONE_OF windows of 2^lot ticks of the
 *                 node's clock one is drawn, the same for all ranks. Work that ends in the others
 *                 is added to LC_CP_UNKNOWN, and not published; who is behind such a clock keeps
 *                 its own vector and adds the difference there. So the vector is a sample
 *   interval      measured interval, numbered alike on all ranks; clocks of other intervals make no
 *                 edge
 *
 * Invariant: own <= process <= useful <= outside_omp at any time. Owner: one thread. */
#ifndef LC_PIGGYBACK_LOGICAL_H
#define LC_PIGGYBACK_LOGICAL_H

#include "base/hash.h"
#include "piggyback/cpvec.h"

enum { LC_LOT_ONE_OF = 16 };

struct lc_logical {
    uint64_t last; /* end of the last event: useful time runs from here */
    uint64_t useful, own, process, phase_useful, phase_own, phase_process;
    uint64_t origin;         /* outside_omp = now - origin */
    uint64_t in_mpi, in_omp; /* sums of the time in calls, and in the OpenMP runtime */
    uint64_t begin, skipped; /* of the interval; of our own work in it */
    uint64_t own_in_calls;   /* the part of it at the ends of calls: in_mpi leaves it out */
    uint32_t interval;       /* 0: not measuring */
    uint32_t phase;
    uint32_t rank;
    uint32_t node; /* where the last useful time was spent; at a call: most of it since the last */
    uint32_t longest_node; /* of the parts that regions cut this time into */
    uint64_t longest;      /* 0: no region since the last call */
    uint64_t grain; /* less new work than this is not published: a receiver books it on `node` */
    uint64_t published; /* useful, when the vector was published last */
    uint32_t lot;       /* 0: all */
    bool left_out;      /* the last work was */
    bool drawn;         /* work that was not is to be published */
    bool stale;         /* useful time was added since the vector was published */
    uint32_t version;
    uint64_t own_whatif[LC_WHATIF_MAX]; /* as vec.whatif, no edges */
    uint64_t own_counts[LC_CP_COUNTS];  /* as vec.counts, no edges */
    struct lc_cpvec vec;
};

/* The last call's own work at its end took less than usual: the program went on so long before
 * `last`, at the latest now. */
static inline uint64_t lc_logical_early(const struct lc_logical *l, uint64_t now) {
    uint64_t early = l->last > now ? l->last - now : 0;
    return early < l->own_in_calls ? early : l->own_in_calls;
}

static inline void lc_logical_back_to(struct lc_logical *l, uint64_t now) {
    uint64_t early = lc_logical_early(l, now);
    l->last -= early;
    l->skipped -= early;
    l->own_in_calls -= early;
}

/* Is work that ends now left out? */
static inline bool lc_logical_left_out(const struct lc_logical *l, uint64_t now) {
    return (lc_hash_key(now >> l->lot) >> 40) % LC_LOT_ONE_OF != 0;
}

/* factors[s * stride]: what useful time in this node counts in scenario s; NULL: 1. */
static inline void lc_logical_useful(struct lc_logical *l, uint64_t now, uint32_t node) {
    l->node = node;
    if (__builtin_expect(!l->interval, 0)) {
        l->last = now;
        return;
    }
    if (__builtin_expect(now < l->last, 0))
        lc_logical_back_to(l, now);
    uint64_t ticks = now > l->last ? now - l->last : 0;
    l->last = now;
    LC_SHOW(l->useful, l->useful + ticks);
    l->own += ticks;
    l->process += ticks;
    l->phase_useful += ticks;
    l->phase_own += ticks;
    l->phase_process += ticks;
    l->stale = true;
    uint64_t key = (uint64_t)l->rank << 32 | node;
    if (__builtin_expect(l->lot > 0, 0)) {
        l->left_out = lc_logical_left_out(l, now);
        l->drawn |= !l->left_out;
        key = l->left_out ? LC_CP_UNKNOWN : key;
    }
    lc_cpvec_add(&l->vec, key, ticks);
}

/* What-if: the useful time of the last `ticks` counts factor[s] in scenario s. */
static inline void lc_logical_whatif(struct lc_logical *l, uint64_t ticks, const float *factors) {
    for (uint32_t s = 0; s < l->vec.n_whatif; s++) {
        uint64_t counts = (uint64_t)((double)ticks * (double)factors[s]);
        LC_SHOW(l->vec.whatif[s], l->vec.whatif[s] + counts);
        l->own_whatif[s] += counts;
    }
}

/* What was counted since then: on this thread's way, and on the path that leads here. */
static inline void lc_logical_count(struct lc_logical *l, const uint64_t counts[LC_CP_COUNTS]) {
    for (int i = 0; l->interval && i < LC_CP_COUNTS; i++) {
        l->vec.counts[i] += counts[i];
        l->own_counts[i] += counts[i];
        l->stale |= counts[i] > 0;
    }
}

/* What a thread did since an earlier moment. */
struct lc_logical_since {
    uint64_t own, phase_own, whatif[LC_WHATIF_MAX], counts[LC_CP_COUNTS];
};

static inline void lc_logical_mark(const struct lc_logical *l, struct lc_logical_since *mark) {
    mark->own = l->own;
    mark->phase_own = l->phase_own;
    for (uint32_t s = 0; s < l->vec.n_whatif; s++)
        mark->whatif[s] = l->own_whatif[s];
    for (int i = 0; l->vec.counting && i < LC_CP_COUNTS; i++)
        mark->counts[i] = l->own_counts[i];
}

/* Back to the mark, whose place `since` takes, for an edge that came in then; the vector stays. */
void lc_logical_rewind(struct lc_logical *l, struct lc_logical_since *since);
/* Useful work since an edge came in: where, and the plain sum at its end. */
struct lc_logical_done {
    uint32_t node;
    uint64_t own;
};
/* Forward again, to where lc_logical_rewind was called; won: the edge brought another vector, to
 * which what was done since is to be added (done, n: where, with the plain sum `own` at its end,
 * in order; more than that: last node). */
void lc_logical_forward(struct lc_logical *l, const struct lc_logical_since *since, bool won,
                        const struct lc_logical_done *done, uint32_t n);

/* What this thread publishes at `now`, the entry into an operation. */
static inline void lc_logical_stamp(struct lc_logical *l, uint64_t now, struct lc_stamp *stamp) {
    stamp->enter = now;
    stamp->useful = l->useful;
    stamp->outside_omp = now - l->origin;
    stamp->phase_useful = l->phase_useful;
    stamp->interval = l->interval;
    stamp->phase = l->phase;
    stamp->node = l->node;
    bool silent = __builtin_expect(l->lot > 0, 0) && l->left_out && !l->drawn && l->version != 0;
    if (l->stale && !silent && (l->useful - l->published >= l->grain || !l->version)) {
        LC_SHOW(l->version, lc_cpvec_publish(&l->vec));
        l->published = l->useful;
        l->stale = l->drawn = false;
    }
    stamp->vector = l->version | (silent && l->stale ? LC_CP_SINCE : 0);
}

/* The maxima of an edge that ends at `now`, except the vector. True: the useful clock of the other
 * won, its vector is to be adopted. No branch depends on the stamp's clocks: who is ahead changes
 * all the time, and the line has just been fetched from another core. */
static inline bool lc_logical_edge(struct lc_logical *l, const struct lc_stamp *stamp,
                                   uint64_t now) {
    if (__builtin_expect(stamp->interval != l->interval || !l->interval, 0))
        return false;
    LC_SHOW(l->origin, now - lc_larger(now - l->origin, stamp->outside_omp));
    l->phase_useful =
        lc_larger(l->phase_useful, stamp->phase == l->phase ? stamp->phase_useful : 0);
    bool won = stamp->useful > l->useful;
    LC_SHOW(l->useful, lc_larger(l->useful, stamp->useful));
    return won;
}

/* The vector's part of an edge, for a stamp of a rank of this node; before: the clock then. */
static inline void lc_logical_adopt(struct lc_logical *l, const struct lc_stamp *stamp, bool won,
                                    uint64_t before, const struct lc_area *theirs) {
    if (__builtin_expect(lc_cpvec_continues(&l->vec, theirs, stamp), 1))
        lc_cpvec_continue(&l->vec, theirs, stamp, won);
    else if (won && (stamp->vector & LC_CP_SINCE) != 0)
        lc_cpvec_add(&l->vec, LC_CP_UNKNOWN, stamp->useful - before);
    else if (won)
        lc_cpvec_adopt_slow(&l->vec, theirs, stamp);
    l->stale |= won;
}

/* Both, and what-if clocks. */
static inline void lc_logical_take(struct lc_logical *l, const struct lc_stamp *stamp, uint64_t now,
                                   const struct lc_area *theirs) {
    uint64_t before = l->useful;
    bool won = lc_logical_edge(l, stamp, now);
    if (__builtin_expect(l->vec.n_whatif > 0, 0) && stamp->interval == l->interval)
        lc_cpvec_whatif(&l->vec, theirs, stamp->vector);
    lc_logical_adopt(l, stamp, won, before, theirs);
}

/* A new interval begins: all clocks are 0. interval 0: measurement stops. */
void lc_logical_begin(struct lc_logical *l, uint32_t interval, uint64_t now);

#endif
