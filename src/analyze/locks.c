#include "analyze/locks.h"

#include <stdlib.h>

#include "analyze/events.h"
#include "analyze/health.h"
#include "base/mem.h"

struct held {
    struct lc_loc *loc;
    const struct lc_lock_event *event;
};

static int by_order(const void *a, const void *b) {
    const struct held *x = a, *y = b;
    if (x->event->lock != y->event->lock)
        return x->event->lock < y->event->lock ? -1 : 1;
    if (x->event->order != y->event->order)
        return x->event->order < y->event->order ? -1 : 1;
    return x->loc->id < y->loc->id ? -1 : x->loc->id > y->loc->id;
}

static uint8_t kind_of(uint32_t fn) {
    return fn == LC_FN_PTHREAD_LOCK   ? LC_WAIT_PTHREAD_LOCK
           : fn == LC_FN_OMP_LOCK_API ? LC_WAIT_OMP_LOCK
                                      : LC_WAIT_OMP_CRITICAL;
}

static enum lc_err add_lock_wait(struct lc_trace *trace, const struct held *before,
                                 const struct held *now) {
    const struct lc_lock_event *a = before->event, *b = now->event;
    if (a->lock != b->lock || a->order + 1 != b->order || a->released == INT64_MAX) {
        if (b->order > 1)
            lc_health_note(trace->health, LC_HEALTH_LOCK_ORDER, now->loc->id);
        return LC_OK;
    }
    if (before->loc == now->loc)
        return LC_OK;
    struct lc_wait wait = {.start = b->enter,
                           .release = a->released,
                           .end = b->acquired,
                           .cause_end = a->released,
                           .instance = UINT64_MAX,
                           .cnode = b->cnode,
                           .cause = before->loc->id,
                           .cause_cnode = a->release_cnode,
                           .kind = kind_of(b->fn),
                           .flags = LC_WAIT_STATE | LC_WAIT_BLOCKS};
    if (wait.release > wait.end)
        wait.flags |= LC_WAIT_CUT;
    return lc_wait_ticks(&wait) > 0 ? lc_wait_add(now->loc, &wait) : LC_OK;
}

enum lc_err lc_lock_waits(struct lc_trace *trace, struct lc_loc *locs, uint32_t n_locs) {
    size_t total = 0, n = 0;
    struct held *all;
    for (uint32_t l = 0; l < n_locs; l++)
        total += locs[l].extra ? locs[l].extra->n_locks : 0;
    LC_TRY(lc_alloc(&all, total, sizeof *all));
    for (uint32_t l = 0; l < n_locs; l++)
        for (size_t i = 0; locs[l].extra && i < locs[l].extra->n_locks; i++)
            all[n++] = (struct held){&locs[l], &locs[l].extra->locks[i]};
    if (n)
        qsort(all, n, sizeof *all, by_order);
    enum lc_err err = LC_OK;
    for (size_t i = 1; i < n && err == LC_OK; i++)
        if (all[i].event->lock == all[i - 1].event->lock)
            err = add_lock_wait(trace, &all[i - 1], &all[i]);
    free(all);
    return err;
}
