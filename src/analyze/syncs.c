#include "analyze/syncs.h"

#include <stdlib.h>

#include "analyze/event_order.h"
#include "analyze/radix.h"
#include "base/mem.h"

struct link { /* a wait, on its way to the owner of its cause; and back, with time = T(S) */
    uint64_t instance;
    int64_t time; /* the earlier end of the two calls */
    uint32_t cause, waiting;
};

enum lc_err lc_sync_add(struct lc_loc *loc, int64_t time, uint64_t instance, uint32_t group) {
    if (loc->n_syncs == loc->cap_syncs)
        LC_TRY(lc_reserve(&loc->syncs, &loc->cap_syncs, loc->n_syncs + 1, sizeof *loc->syncs));
    loc->syncs[loc->n_syncs++] = (struct lc_sync){time, instance, group, 0};
    return LC_OK;
}

static bool links(const struct lc_wait *w) {
    if (w->instance == UINT64_MAX || !(w->flags & LC_WAIT_STATE) || (w->flags & LC_WAIT_CUT))
        return false;
    return w->kind != LC_WAIT_NEIGHBOR &&
           ((w->flags & LC_WAIT_NONBLOCKING) || w->kind == LC_WAIT_12N || w->kind == LC_WAIT_N21 ||
            w->kind == LC_WAIT_SCAN);
}

static enum lc_err collect(const struct lc_trace *trace, struct link **out, uint32_t **dest,
                           size_t *n) {
    size_t count = 0;
    for (size_t i = 0; i < trace->n_locs; i++)
        for (size_t k = 0; k < trace->locs[i].n_waits; k++)
            count += links(&trace->locs[i].waits[k]);
    LC_TRY(lc_alloc(out, count, sizeof **out));
    LC_TRY(lc_alloc(dest, count, sizeof **dest));
    *n = 0;
    for (size_t i = 0; i < trace->n_locs; i++)
        for (size_t k = 0; k < trace->locs[i].n_waits; k++) {
            const struct lc_wait *w = &trace->locs[i].waits[k];
            if (!links(w))
                continue;
            (*dest)[*n] = lc_trace_owner(trace, w->cause);
            (*out)[(*n)++] =
                (struct link){w->instance, w->end < w->cause_end ? w->end : w->cause_end, w->cause,
                              trace->locs[i].id};
        }
    return LC_OK;
}

/* Order: operation, cause, waiting location. */
static uint64_t point_key(const void *links, uint32_t index, int level) {
    const struct link *x = (const struct link *)links + index;
    return level == 0 ? (uint64_t)x->cause << 32 | x->waiting : x->instance;
}

/* Owner of the causes: one point per (instance, cause); its time goes into all its links and into
 * the cause's list. */
static enum lc_err join_causes(struct lc_trace *trace, struct link *in, size_t n, uint32_t *dest) {
    LC_TRY(lc_sort_by(in, n, sizeof *in, point_key, 2));
    for (size_t i = 0; i < n;) {
        size_t end = i;
        int64_t time = INT64_MAX;
        for (; end < n && in[end].instance == in[i].instance && in[end].cause == in[i].cause; end++)
            time = in[end].time < time ? in[end].time : time;
        LC_TRY(lc_sync_add(lc_trace_loc(trace, in[i].cause), time, in[i].instance, in[i].cause));
        for (; i < end; i++) {
            in[i].time = time;
            dest[i] = lc_trace_owner(trace, in[i].waiting);
        }
    }
    return LC_OK;
}

enum lc_err lc_syncs_find(struct lc_trace *trace) {
    const struct lc_transport *comm = trace->comm;
    struct link *out = NULL, *in = NULL, *back = NULL;
    uint32_t *dest = NULL, *back_dest = NULL;
    size_t n_out = 0, n_in = 0, n_back = 0;
    enum lc_err err = lc_transport_agree(comm, collect(trace, &out, &dest, &n_out));
    if (err == LC_OK)
        err = lc_transport_exchange(comm, out, dest, n_out, sizeof *in, (void **)&in, &n_in);
    if (err == LC_OK)
        err = lc_transport_agree(comm, lc_alloc(&back_dest, n_in, sizeof *back_dest));
    if (err == LC_OK)
        err = lc_transport_agree(comm, join_causes(trace, in, n_in, back_dest));
    if (err == LC_OK)
        err =
            lc_transport_exchange(comm, in, back_dest, n_in, sizeof *back, (void **)&back, &n_back);
    for (size_t i = 0; i < n_back && err == LC_OK; i++)
        err = lc_sync_add(lc_trace_loc(trace, back[i].waiting), back[i].time, back[i].instance,
                          back[i].cause);
    for (size_t i = 0; i < trace->n_locs && err == LC_OK; i++)
        err = lc_order_syncs(&trace->locs[i]);
    free(out);
    free(dest);
    free(in);
    free(back);
    free(back_dest);
    return lc_transport_agree(comm, err);
}
