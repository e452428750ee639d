#include "analyze/rma_lock.h"

#include <stdlib.h>

#include "analyze/events.h"
#include "base/idmap.h"
#include "base/lookup.h"
#include "base/mem.h"

struct holding { /* on its way to the home of the window */
    int64_t acquired, released;
    int64_t enter, leave;    /* of the releasing call */
    int64_t order;           /* one of these: see find_in_order */
    uint32_t window, target; /* LC_NONE: all targets */
    uint32_t lock;
    uint32_t location, epoch; /* index in extra->rma_locks */
    uint32_t cnode;           /* of the releasing call */
    uint32_t shared;
};

struct verdict { /* on its way back: the last conflicting holder before */
    int64_t enter, released, leave;
    uint32_t location, epoch, cause, cause_cnode;
    bool opens; /* who waits had the lock when the call that opened its epoch returned */
};

/* The last of each to let go of a target, so far. */
struct target {
    const struct holding *exclusive, *shared;
};

struct targets { /* of one window */
    struct lc_idmap index;
    struct target *list; /* as many as there are holdings, at the most */
    size_t n;
    struct target any; /* exclusive: of any target; shared: of all targets at once */
};

static int by_window(const void *a, const void *b) {
    const struct holding *x = a, *y = b;
    if (x->window != y->window)
        return x->window < y->window ? -1 : 1;
    return (x->lock > y->lock) - (x->lock < y->lock);
}

static int by_order(const void *a, const void *b) {
    const struct holding *x = a, *y = b;
    if (x->order != y->order)
        return x->order < y->order ? -1 : 1;
    if (x->acquired != y->acquired)
        return x->acquired < y->acquired ? -1 : 1;
    if (x->location != y->location)
        return x->location < y->location ? -1 : 1;
    return x->epoch < y->epoch ? -1 : x->epoch > y->epoch;
}

static bool conflict(const struct holding *a, const struct holding *b) {
    return !(a->shared && b->shared) &&
           (a->target == b->target || a->target == LC_NONE || b->target == LC_NONE);
}

/* Who holds a lock that conflicts follows the other; of those that hold at the same time the one
 * that is released last counts. Of equal ones the exclusive one, then the one that comes first in
 * the order. Either may be NULL. */
static const struct holding *later(const struct holding *a, const struct holding *b) {
    if (!a || !b)
        return a ? a : b;
    int64_t x = conflict(a, b) ? a->order : a->released;
    int64_t y = conflict(a, b) ? b->order : b->released;
    if (x != y)
        return x > y ? a : b;
    if (a->shared != b->shared)
        return a->shared ? b : a;
    return a < b ? a : b;
}

static enum lc_err collect(const struct lc_trace *trace, struct holding **out, uint32_t **dest,
                           size_t *n) {
    size_t count = 0;
    for (size_t i = 0; i < trace->n_locs; i++)
        count += trace->locs[i].extra ? trace->locs[i].extra->n_rma_locks : 0;
    LC_TRY(lc_alloc(out, count, sizeof **out));
    LC_TRY(lc_alloc(dest, count, sizeof **dest));
    for (size_t i = 0; i < trace->n_locs; i++) {
        const struct lc_loc *loc = &trace->locs[i];
        for (size_t k = 0; loc->extra && k < loc->extra->n_rma_locks; k++) {
            const struct lc_rma_lock *e = &loc->extra->rma_locks[k];
            if (e->close == LC_NONE)
                continue;
            const struct lc_mpi_call *close = &loc->calls[e->close];
            (*dest)[*n] = e->window % trace->comm->size;
            (*out)[(*n)++] = (struct holding){.acquired = e->acquired,
                                              .released = e->released,
                                              .enter = loc->time[close->enter],
                                              .leave = loc->time[close->leave],
                                              .window = e->window,
                                              .target = e->target,
                                              .lock = e->lock,
                                              .location = loc->id,
                                              .epoch = (uint32_t)k,
                                              .cnode = loc->cnode[close->enter],
                                              .shared = e->shared};
        }
    }
    return LC_OK;
}

static enum lc_err find_target(struct targets *targets, uint32_t target, uint32_t *index) {
    *index = lc_idmap_get(&targets->index, target);
    if (*index != LC_NONE)
        return LC_OK;
    *index = (uint32_t)targets->n;
    targets->list[targets->n++] = (struct target){NULL, NULL};
    return lc_idmap_put(&targets->index, target, *index);
}

/* The last conflicting holder before this one, which is a holder from now on. */
static enum lc_err succeed(struct targets *targets, const struct holding *own,
                           const struct holding **before) {
    struct target *any = &targets->any;
    if (own->target == LC_NONE) {
        *before = own->shared ? any->exclusive : later(any->exclusive, any->shared);
        any->shared = later(any->shared, own);
        return LC_OK;
    }
    uint32_t index;
    LC_TRY(find_target(targets, own->target, &index));
    struct target *target = &targets->list[index];
    *before = target->exclusive;
    if (own->shared) {
        target->shared = later(target->shared, own);
        return LC_OK;
    }
    *before = later(*before, later(target->shared, any->shared));
    target->exclusive = later(target->exclusive, own);
    any->exclusive = later(any->exclusive, own);
    return LC_OK;
}

/* In the order of the holdings of one window, whose list of targets it begins anew. */
static void begin(struct targets *targets, struct holding *holdings, size_t n) {
    qsort(holdings, n, sizeof *holdings, by_order);
    lc_idmap_clear(&targets->index);
    targets->n = 0;
    targets->any = (struct target){NULL, NULL};
}

/* Whether each got the lock before the call that opened its epoch returned: if not, an epoch
 * overlaps with one that it conflicts with. */
static enum lc_err find_opening(struct targets *targets, struct holding *holdings, size_t n,
                                bool *opens) {
    for (size_t i = 0; i < n; i++)
        holdings[i].order = holdings[i].enter;
    begin(targets, holdings, n);
    *opens = true;
    for (size_t i = 0; i < n && *opens; i++) {
        const struct holding *before;
        LC_TRY(succeed(targets, &holdings[i], &before));
        *opens = !before || before->enter <= holdings[i].acquired;
    }
    return LC_OK;
}

/* A lock is handed over somewhere in the releasing call, often long before that returns. So where
 * epochs do not overlap, holders follow each other in the order in which these calls begin; where
 * they do, MPI_Win_lock returned without the lock, and there is only the order of releases. */
static enum lc_err find_in_order(const struct lc_trace *trace, struct targets *targets,
                                 struct holding *holdings, size_t n, struct verdict *out,
                                 uint32_t *dest, size_t *n_out) {
    bool opens;
    LC_TRY(find_opening(targets, holdings, n, &opens));
    for (size_t i = 0; i < n && !opens; i++)
        holdings[i].order = holdings[i].released;
    begin(targets, holdings, n);
    for (size_t i = 0; i < n; i++) {
        const struct holding *own = &holdings[i], *before;
        LC_TRY(succeed(targets, own, &before));
        if (!before || before->location == own->location)
            continue;
        dest[*n_out] = lc_trace_owner(trace, own->location);
        out[(*n_out)++] = (struct verdict){.enter = before->enter,
                                           .released = before->released,
                                           .leave = before->leave,
                                           .location = own->location,
                                           .epoch = own->epoch,
                                           .cause = before->location,
                                           .cause_cnode = before->cnode,
                                           .opens = opens};
    }
    return LC_OK;
}

static enum lc_err find_by_window(const struct lc_trace *trace, struct targets *targets,
                                  struct holding *in, size_t n, struct verdict *out, uint32_t *dest,
                                  size_t *n_out) {
    for (size_t first = 0, end = 0; first < n; first = end) {
        while (end < n && by_window(&in[first], &in[end]) == 0)
            end++;
        LC_TRY(find_in_order(trace, targets, &in[first], end - first, out, dest, n_out));
    }
    return LC_OK;
}

static enum lc_err find_waits(const struct lc_trace *trace, struct holding *in, size_t n,
                              struct verdict **out, uint32_t **dest, size_t *n_out) {
    struct targets targets = {0};
    LC_TRY(lc_alloc(out, n, sizeof **out));
    LC_TRY(lc_alloc(dest, n, sizeof **dest));
    LC_TRY(lc_alloc(&targets.list, n, sizeof *targets.list));
    if (n)
        qsort(in, n, sizeof *in, by_window);
    enum lc_err err = find_by_window(trace, &targets, in, n, *out, *dest, n_out);
    lc_idmap_free(&targets.index);
    free(targets.list);
    return err;
}

/* The call waits for the release if that lies within it; all that is known of it is that it lies
 * between the begin of the releasing call and its record. The longer of two waits is kept. */
static void consider(const struct lc_loc *loc, const struct verdict *v, uint32_t call_index,
                     struct lc_wait *longest) {
    const struct lc_mpi_call *call = &loc->calls[call_index];
    int64_t start = loc->time[call->enter], end = loc->time[call->leave];
    if (v->enter > end || v->released <= start)
        return;
    int64_t release = v->released < end ? v->released : end;
    if (release - start <= lc_wait_ticks(longest))
        return;
    *longest = (struct lc_wait){.start = start,
                                .release = release,
                                .end = end,
                                .cause_end = v->leave,
                                .instance = UINT64_MAX,
                                .cnode = loc->cnode[call->enter],
                                .cause = v->cause,
                                .cause_cnode = v->cause_cnode,
                                .kind = LC_WAIT_RMA_LOCK,
                                .flags = LC_WAIT_STATE | LC_WAIT_BLOCKS};
}

/* Of the calls that open, flush and close the epoch the one that waits longest; a release before
 * all of them is noted, since it may come too late when time is saved. */
static enum lc_err add_wait_of(struct lc_trace *trace, const struct verdict *v) {
    struct lc_loc *loc = lc_trace_loc(trace, v->location);
    const struct lc_loc_extra *extra = loc->extra;
    const struct lc_rma_lock *e = &extra->rma_locks[v->epoch];
    if (v->released <= loc->time[loc->calls[e->open].enter])
        return lc_wait_arrived(loc, &(struct lc_arrival){.release = v->released,
                                                         .call = e->open,
                                                         .cause = v->cause & LC_ARRIVAL_CAUSE,
                                                         .kind = LC_ARRIVED_DATA});
    struct lc_wait longest = {0};
    consider(loc, v, e->open, &longest);
    size_t first = LC_FIRST_WHERE(i, 0, extra->n_rma_flushes, extra->rma_flushes[i].call > e->open);
    for (size_t i = first;
         i < extra->n_rma_flushes && extra->rma_flushes[i].call < e->close && !v->opens; i++)
        if (extra->rma_flushes[i].window == e->window)
            consider(loc, v, extra->rma_flushes[i].call, &longest);
    if (!v->opens)
        consider(loc, v, e->close, &longest);
    return lc_wait_ticks(&longest) > 0 ? lc_wait_add(loc, &longest) : LC_OK;
}

static int by_start(const void *a, const void *b) {
    const struct lc_wait *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    if (x->release != y->release)
        return x->release > y->release ? -1 : 1;
    return (x->cause > y->cause) - (x->cause < y->cause);
}

/* One wait state per call: the longest, where a call asks for several locks. waits[first ..] are
 * those for locks. */
static void keep_longest(struct lc_loc *loc, size_t first) {
    size_t n = first;
    if (loc->n_waits > first)
        qsort(&loc->waits[first], loc->n_waits - first, sizeof *loc->waits, by_start);
    for (size_t i = first; i < loc->n_waits; i++)
        if (i == first || loc->waits[i].start != loc->waits[n - 1].start)
            loc->waits[n++] = loc->waits[i];
    loc->n_waits = n;
}

static int by_waiting(const void *a, const void *b) {
    const struct verdict *x = a, *y = b;
    if (x->location != y->location)
        return x->location < y->location ? -1 : 1;
    return (x->epoch > y->epoch) - (x->epoch < y->epoch);
}

static enum lc_err add_waits(struct lc_trace *trace, struct verdict *verdicts, size_t n) {
    if (n > 0)
        qsort(verdicts, n, sizeof *verdicts, by_waiting);
    for (size_t i = 0; i < n;) {
        struct lc_loc *loc = lc_trace_loc(trace, verdicts[i].location);
        size_t first = loc->n_waits;
        for (; i < n && verdicts[i].location == loc->id; i++)
            LC_TRY(add_wait_of(trace, &verdicts[i]));
        keep_longest(loc, first);
    }
    return LC_OK;
}

enum lc_err lc_rma_lock_waits(struct lc_trace *trace) {
    const struct lc_transport *comm = trace->comm;
    struct holding *out = NULL, *in = NULL;
    struct verdict *verdicts = NULL, *back = NULL;
    uint32_t *dest = NULL, *back_dest = NULL;
    size_t n_out = 0, n_in = 0, n_verdicts = 0, n_back = 0;
    enum lc_err err = lc_transport_agree(comm, collect(trace, &out, &dest, &n_out));
    if (err == LC_OK)
        err = lc_transport_exchange(comm, out, dest, n_out, sizeof *in, (void **)&in, &n_in);
    if (err == LC_OK)
        err = lc_transport_agree(comm,
                                 find_waits(trace, in, n_in, &verdicts, &back_dest, &n_verdicts));
    if (err == LC_OK)
        err = lc_transport_exchange(comm, verdicts, back_dest, n_verdicts, sizeof *back,
                                    (void **)&back, &n_back);
    if (err == LC_OK)
        err = add_waits(trace, back, n_back);
    free(out);
    free(in);
    free(dest);
    free(verdicts);
    free(back);
    free(back_dest);
    return lc_transport_agree(comm, err);
}
