#include "analyze/rma.h"

#include <stdlib.h>

#include "analyze/events.h"
#include "base/idmap.h"
#include "base/lookup.h"
#include "base/mem.h"

/* One side of an access epoch, on its way to the other side. Per (window, target, origin) the k-th
 * post belongs to the k-th start, the k-th complete to the k-th wait. */
struct side {
    int64_t enter, leave;   /* of the call */
    int64_t enter2, leave2; /* origins: of MPI_Win_complete */
    uint32_t window, target, origin, number;
    uint32_t location, cnode;
    uint32_t
        local; /* at home: index of the call that may wait (MPI_Win_wait; epoch of the origin) */
    uint32_t reserved;
};

struct epoch { /* of an origin: start and complete; of a target: post and wait */
    struct lc_loc *loc;
    const struct lc_rma *open, *close;
};

struct sides {
    struct side *items;
    uint32_t *dest;
    size_t count, cap, cap_dest;
};

struct rma {
    struct lc_trace *trace;
    struct epoch *epochs;
    size_t n_epochs, cap_epochs;
    struct sides out, own; /* own: what the arrivals are compared with */
};

static int64_t enter_of(const struct lc_loc *loc, const struct lc_rma *rma) {
    return loc->time[loc->calls[rma->call].enter];
}

static int64_t leave_of(const struct lc_loc *loc, const struct lc_rma *rma) {
    return loc->time[loc->calls[rma->call].leave];
}

static enum lc_err add(struct sides *sides, const struct side *side, uint32_t dest) {
    LC_TRY(lc_grow(&sides->items, &sides->cap, sides->count + 1, sizeof *sides->items));
    LC_TRY(lc_grow(&sides->dest, &sides->cap_dest, sides->count + 1, sizeof *sides->dest));
    sides->dest[sides->count] = dest;
    sides->items[sides->count++] = *side;
    return LC_OK;
}

static bool opens(const struct lc_rma *rma) {
    return rma->type == LC_RMA_POST || rma->type == LC_RMA_START;
}

/* close[i] of an opening call: the next one that closes it, as found from the end. */
static enum lc_err find_closing(const struct lc_loc_extra *extra, uint32_t *close) {
    struct lc_idmap next = {0};
    enum lc_err err = LC_OK;
    for (size_t i = extra->n_rma; i-- > 0 && err == LC_OK;) {
        const struct lc_rma *rma = &extra->rma[i];
        bool target = rma->type == LC_RMA_POST || rma->type == LC_RMA_WAIT;
        uint64_t key = (uint64_t)rma->window << 1 | target;
        if (opens(rma))
            close[i] = lc_idmap_get(&next, key);
        else
            err = lc_idmap_put(&next, key, (uint32_t)i);
    }
    lc_idmap_free(&next);
    return err;
}

/* Pairs the opening and closing calls of a location. */
static enum lc_err find_epochs(struct rma *r, struct lc_loc *loc) {
    const struct lc_loc_extra *extra = loc->extra;
    uint32_t *close = NULL;
    if (!extra || !extra->n_rma)
        return LC_OK;
    LC_TRY(lc_alloc(&close, extra->n_rma, sizeof *close));
    enum lc_err err = find_closing(extra, close);
    for (size_t i = 0; i < extra->n_rma && err == LC_OK; i++) {
        if (!opens(&extra->rma[i]) || close[i] == LC_NONE)
            continue;
        err = lc_grow(&r->epochs, &r->cap_epochs, r->n_epochs + 1, sizeof *r->epochs);
        if (err == LC_OK)
            r->epochs[r->n_epochs++] = (struct epoch){loc, &extra->rma[i], &extra->rma[close[i]]};
    }
    free(close);
    return err;
}

static enum lc_err describe(struct rma *r, size_t index) {
    const struct epoch *e = &r->epochs[index];
    bool target = e->open->type == LC_RMA_POST;
    for (uint32_t i = 0; i < e->open->n_members; i++) {
        uint32_t other = e->open->members[i];
        if (other == LC_NONE)
            continue;
        struct side side = {.enter = enter_of(e->loc, e->open),
                            .leave = leave_of(e->loc, e->open),
                            .enter2 = enter_of(e->loc, e->close),
                            .leave2 = leave_of(e->loc, e->close),
                            .window = e->open->window,
                            .target = target ? e->loc->process : other,
                            .origin = target ? other : e->loc->process,
                            .location = e->loc->id,
                            .local = (uint32_t)index};
        const struct lc_rma *acts = target ? e->open : e->close;
        side.cnode = e->loc->cnode[e->loc->calls[acts->call].enter];
        LC_TRY(add(&r->out, &side, r->trace->processes[other].owner));
        LC_TRY(add(&r->own, &side, 0));
    }
    return LC_OK;
}

static int compare_pairs(const struct side *x, const struct side *y) {
    if (x->window != y->window)
        return x->window < y->window ? -1 : 1;
    if (x->target != y->target)
        return x->target < y->target ? -1 : 1;
    return x->origin < y->origin ? -1 : x->origin > y->origin;
}

static int by_pair(const void *a, const void *b) {
    const struct side *x = a, *y = b;
    int pair = compare_pairs(x, y);
    if (pair != 0)
        return pair;
    if (x->location != y->location)
        return x->location < y->location ? -1 : 1;
    return x->enter < y->enter ? -1 : x->enter > y->enter;
}

static int by_number(const void *a, const void *b) {
    const struct side *x = a, *y = b;
    int pair = compare_pairs(x, y);
    if (pair != 0)
        return pair;
    return x->number < y->number ? -1 : x->number > y->number;
}

static void number(struct side *items, size_t n) {
    if (n)
        qsort(items, n, sizeof *items, by_pair);
    for (size_t i = 0; i < n; i++) {
        const struct side *before = i ? &items[i - 1] : NULL;
        items[i].number =
            before && compare_pairs(before, &items[i]) == 0 && before->location == items[i].location
                ? before->number + 1
                : 0;
    }
}

static bool is_target(const struct epoch *e) {
    return e->open->type == LC_RMA_POST;
}

/* When the partner of an epoch lets it go on: by MPI_Win_complete, MPI_Win_post. */
static int64_t release_by(const struct epoch *e, const struct side *partner) {
    return is_target(e) ? partner->enter2 : partner->enter;
}

/* The call that waits for the last partner. */
static const struct lc_rma *waiting_call(const struct epoch *e, const struct side *last) {
    return !is_target(e) && leave_of(e->loc, e->open) > release_by(e, last) ? e->open : e->close;
}

/* A partner that does not decide how long the epoch waits: the replay needs it. */
static enum lc_err note_partner(const struct epoch *e, const struct side *last,
                                const struct side *partner) {
    return lc_wait_arrived(e->loc,
                           &(struct lc_arrival){.release = release_by(e, partner),
                                                .call = waiting_call(e, last)->call,
                                                .cause = partner->location & LC_ARRIVAL_CAUSE,
                                                .kind = LC_ARRIVED_DATA});
}

/* The partner that acts last per epoch. */
static enum lc_err add_epoch_wait(const struct epoch *e, const struct side *last) {
    bool target = is_target(e);
    int64_t release = release_by(e, last);
    const struct lc_rma *call = waiting_call(e, last);
    struct lc_wait wait = {.start = enter_of(e->loc, call),
                           .release = release,
                           .end = leave_of(e->loc, call),
                           .cause_end = target ? last->leave2 : last->leave,
                           .instance = UINT64_MAX,
                           .cnode = e->loc->cnode[e->loc->calls[call->call].enter],
                           .cause = last->location,
                           .cause_cnode = last->cnode,
                           .kind = target ? LC_WAIT_RMA_EARLY_WAIT : LC_WAIT_RMA_LATE_POST,
                           .flags = LC_WAIT_STATE | LC_WAIT_BLOCKS};
    if (wait.release > wait.end)
        wait.flags |= LC_WAIT_CUT;
    if (lc_wait_ticks(&wait) > 0)
        return lc_wait_add(e->loc, &wait);
    return note_partner(e, last, last);
}

/* What the other side of an epoch says of it. */
static const struct side *find_partner(const struct rma *r, const struct side *own,
                                       const struct side *in, size_t n) {
    uint32_t partner = is_target(&r->epochs[own->local]) ? own->origin : own->target;
    size_t low = LC_FIRST_WHERE(k, 0, n, by_number(&in[k], own) >= 0);
    /* Both sides of a process that is its own partner arrive here: the other role is the one. */
    for (; low < n && by_number(&in[low], own) == 0; low++)
        if (r->trace->locations[in[low].location].process == partner)
            return &in[low];
    return NULL;
}

static enum lc_err find_waits(struct rma *r, struct side *in, size_t n) {
    const struct side **last;
    LC_TRY(lc_alloc(&last, r->n_epochs, sizeof *last));
    number(in, n);
    number(r->own.items, r->own.count);
    if (n)
        qsort(in, n, sizeof *in, by_number);
    enum lc_err err = LC_OK;
    for (size_t i = 0; i < r->own.count; i++) {
        const struct side *own = &r->own.items[i];
        const struct side *other = find_partner(r, own, in, n);
        const struct epoch *e = &r->epochs[own->local];
        const struct side **best = &last[own->local];
        int64_t later = other && *best ? release_by(e, other) - release_by(e, *best) : 1;
        if (other && (later > 0 || (later == 0 && other->location < (*best)->location)))
            *best = other;
    }
    for (size_t i = 0; i < r->n_epochs && err == LC_OK; i++)
        if (last[i])
            err = add_epoch_wait(&r->epochs[i], last[i]);
    for (size_t i = 0; i < r->own.count && err == LC_OK; i++) {
        const struct side *own = &r->own.items[i];
        const struct side *other = find_partner(r, own, in, n);
        if (other && other != last[own->local])
            err = note_partner(&r->epochs[own->local], last[own->local], other);
    }
    free(last);
    return err;
}

static enum lc_err prepare(struct rma *r) {
    for (size_t i = 0; i < r->trace->n_locs; i++)
        LC_TRY(find_epochs(r, &r->trace->locs[i]));
    for (size_t i = 0; i < r->n_epochs; i++)
        LC_TRY(describe(r, i));
    return LC_OK;
}

enum lc_err lc_rma_waits(struct lc_trace *trace) {
    struct rma r = {.trace = trace};
    struct side *in = NULL;
    size_t n = 0;
    enum lc_err err = lc_transport_agree(trace->comm, prepare(&r));
    if (err == LC_OK)
        err = lc_transport_exchange(trace->comm, r.out.items, r.out.dest, r.out.count, sizeof *in,
                                    (void **)&in, &n);
    if (err == LC_OK)
        err = lc_transport_agree(trace->comm, find_waits(&r, in, n));
    free(in);
    free(r.epochs);
    free(r.out.items);
    free(r.out.dest);
    free(r.own.items);
    free(r.own.dest);
    return err;
}
