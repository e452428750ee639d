/* Edges of what synchronises without being a collective operation of data: construction of
 * communicators and windows, fences (every member -> every member), and windows' other epochs:
 *   post -> complete        the target's post enters before the origin's epoch can end
 *   complete -> wait        an entry per target, as for a message
 *   unlock -> next unlock   an epoch of a lock ends after those that it conflicts with have ended;
 *                           MPI may acquire late, so the end of the epoch is all one can see. Each
 *                           rank keeps two lines per target in its area; window_locks.c tells the
 *                           ranks of other nodes.
 * A window's entries have a context of their own, made of that of its communicator and the number
 * of windows made on it. */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "measure/mpi/handles.h"
#include "measure/mpi/operations.h"
#include "measure/mpi/request.h"
#include "measure/clocks/backlog.h"
#include "measure/clocks/call_state.h"
#include "measure/clocks/clocks.h"
#include "measure/clocks/clocks_hooks.h"
#include "measure/clocks/contexts.h"
#include "measure/clocks/edges.h"
#include "measure/clocks/clock_messages.h"
#include "measure/clocks/wait_states.h"
#include "measure/core/core.h"
#include "measure/core/thread.h"
#include "piggyback/match.h"
#include "piggyback/pending_entries.h"
#include "measure/clocks/collectives.h"

enum { LC_SYNC_LOOKS = 1000 };

struct ranks { /* world ranks of a group */
    int32_t *world;
    int n;
};

struct window {
    MPI_Win handle;
    struct window *next;
    struct lc_clk_locks locks;
    struct lc_comm *of;
    struct ranks access, exposure;
    struct lc_booked *start; /* MPI_Win_start of the access epoch; NULL: nothing can be booked */
    uint64_t start_begin, start_end;
    bool off; /* out of step: no more edges of posts and completions */
};
static struct window *windows;

/* ---- every member -> every member */

void lc_clocks_sync_begin(struct lc_call *call, struct lc_comm *comm) {
    struct lc_clk_thread *k = call->thread->clocks;
    if (k == NULL || comm == NULL)
        return;
    struct lc_coll coll = {.comm = comm, .kind = LC_COLL_SYNC, .root = -1};
    lc_clocks_coll_begin(call, &coll);
    k->sync_comm = coll.clocks != NULL ? comm : NULL;
    k->sync = coll.clocks;
}

void lc_clocks_sync_end(struct lc_call *call, bool took_part) {
    struct lc_clk_thread *k = call->thread->clocks;
    if (k == NULL || k->sync_comm == NULL)
        return;
    struct lc_coll coll = {
        .comm = k->sync_comm, .kind = LC_COLL_SYNC, .root = -1, .clocks = k->sync};
    k->sync_comm = NULL;
    if (took_part) {
        lc_clocks_coll_end(call, &coll);
        /* records of locks are sent when they are over, or not at all */
        if (lc_clk.backlog && lc_clk.fn_syncs[call->fn] == LC_MEASURED_WIN_CREATE)
            lc_clk_backlog_drain();
    } else
        lc_clocks_coll_failed(call, &coll, true);
}

void lc_clocks_isync_begin(struct lc_call *call, struct lc_coll *coll, struct lc_comm *comm) {
    *coll = (struct lc_coll){.comm = comm, .kind = LC_COLL_SYNC, .root = -1, .nonblocking = true};
    if (comm != NULL)
        lc_clocks_coll_begin(call, coll);
}

void lc_clocks_isync_end(struct lc_call *call, struct lc_coll *coll, struct lc_request *request) {
    if (coll->clocks == NULL)
        return;
    coll->request = request;
    if (request != NULL)
        request->comm = coll->comm;
    lc_clocks_coll_end(call, coll);
}

/* A copy of a communicator that the program may free before what was made of it. */
static bool keep_comm(struct lc_comm *copy, struct lc_comm *comm) {
    *copy = *comm;
    copy->world = malloc((size_t)comm->size * sizeof *comm->world);
    if (copy->world == NULL)
        return false;
    memcpy(copy->world, comm->world, (size_t)comm->size * sizeof *comm->world);
    lc_clk_lock();
    comm->refs++;
    lc_clk_unlock();
    return true;
}

/* ---- windows */

static struct window *find(MPI_Win win) {
    lc_clk_lock();
    struct window *w = windows;
    while (w != NULL && w->handle != win)
        w = w->next;
    lc_clk_unlock();
    return w;
}

static void number(struct window *w) {
    const struct lc_clk_comm *c = w->locks.comm.clocks;
    w->locks.id = lc_hash_mix(c->log.id + lc_hash_key(++w->of->n_windows));
    w->locks.context =
        (uint32_t)w->locks.id < LC_CONTEXT_FIRST ? LC_CONTEXT_FIRST : (uint32_t)w->locks.id;
}

void lc_clocks_win_new(struct lc_call *call, MPI_Win win, struct lc_comm *comm) {
    (void)call;
    struct window *w = calloc(1, sizeof *w);
    size_t n = (size_t)comm->size;
    if (w == NULL || comm->clocks == NULL || comm->inter) {
        free(w);
        return;
    }
    w->handle = win;
    w->of = comm;
    w->locks.held = calloc(n, 1);
    if (w->locks.held == NULL || !keep_comm(&w->locks.comm, comm)) {
        free(w->locks.held);
        free(w);
        return;
    }
    lc_clk_lock();
    number(w);
    lc_clk_locks_init(&w->locks);
    w->next = windows;
    windows = w;
    lc_clk_unlock();
}

void lc_clocks_win_free_begin(struct lc_call *call, MPI_Win win) {
    struct window *w = find(win);
    if (w != NULL)
        lc_clocks_sync_begin(call, &w->locks.comm);
}

static void release(struct lc_call *call, struct lc_clk_thread *k, void *data) {
    struct window *w;
    (void)call;
    (void)k;
    memcpy(&w, data, sizeof w);
    lc_clk_lock();
    lc_clk_locks_free(&w->locks);
    lc_clk_booked_drop(&w->start);
    lc_clk_unlock();
    free(w->access.world);
    free(w->exposure.world);
    free(w->locks.comm.world);
    free(w->locks.held);
    free(w);
}

void lc_clocks_win_free_end(struct lc_call *call, MPI_Win win, bool freed) {
    static const struct lc_event_type event = {.run = release};
    struct window *w = find(win);
    if (w == NULL)
        return;
    lc_clocks_sync_end(call, freed);
    if (!freed)
        return;
    lc_clk_lock();
    struct window **at = &windows;
    while (*at != w)
        at = &(*at)->next;
    *at = w->next;
    lc_clk_unlock();
    lc_clk_event(&event, call->thread->clocks, call, &w, sizeof w);
}

static void set_group(struct ranks *ranks, MPI_Group group) {
    free(ranks->world);
    ranks->world = lc_group_world(group, &ranks->n);
}

static void notify(struct lc_call *call, const struct window *w, const struct ranks *to,
                   int32_t tag) {
    struct lc_clk_thread *k = call->thread->clocks;
    for (int i = 0; k != NULL && !w->off && i < to->n; i++)
        if (to->world[i] >= 0 && to->world[i] != (int32_t)lc_clk.rank) {
            LC_CLK_LOG("U %d %u %d\n", to->world[i], w->locks.context, tag);
            lc_clk_put_at_begin(call, k, (uint32_t)to->world[i], w->locks.context, tag);
        }
}

/* What an epoch waited for, as far as records have arrived. MPI may let an access epoch wait for
 * its posts at its begin already: the wait is booked there then, where it is known only now. */
struct epoch_wait {
    struct window *w;
    uint64_t start_begin, start_end, enter; /* of the latest */
    uint32_t kind, rank, node;
};

static void wait_for(struct lc_clk_thread *k, const struct lc_call *call,
                     const struct epoch_wait *h) {
    struct lc_candidate c = {.kind = h->kind, .late_rank = h->rank, .late_node = h->node};
    if (h->enter == 0 || c.kind == LC_MEASURED_KINDS)
        return;
    lc_clk_lock();
    if (c.kind == LC_MEASURED_WIN_POST && h->enter < h->start_end) {
        c.ticks = h->enter > h->start_begin ? h->enter - h->start_begin : 0;
        c.begin = h->start_begin;
        if (h->w->start != NULL && c.ticks > 0)
            lc_clk_book_later(h->w->start, &c);
    } else if (h->enter > call->begin) {
        c.ticks = lc_min(h->enter, call->end) - call->begin;
        lc_clk_candidate(k, call, c.kind, c.ticks, c.late_rank, c.late_node);
    }
    lc_clk_unlock();
}

/* With lc_clk.lock. */
static void take_notice(struct lc_clk_thread *k, const struct lc_call *call, struct epoch_wait *h,
                        uint32_t source, const struct lc_stashed *item) {
    struct lc_stamp stamp = item->entry.stamp;
    lc_clk_edge(k, source, &stamp, call->end, item->extra, item->n_extra);
    if (stamp.enter > h->enter) {
        h->enter = stamp.enter;
        h->rank = source;
        h->node = stamp.node;
    }
}

/* Where clocks lag behind the program: one record after the other, when it arrives. */
struct one_notice {
    struct lc_stashed *item;
    struct epoch_wait *all; /* the last one frees it */
    uint32_t source;
    bool last;
};

static bool has_arrived(void *data) {
    struct one_notice x;
    memcpy(&x, data, sizeof x);
    lc_clk_lock();
    if (x.item != NULL && x.item->pending)
        lc_match_drain(&lc_clk.match, x.source);
    bool arrived = x.item == NULL || !x.item->pending;
    lc_clk_unlock();
    return arrived;
}

static void take_notice_later(struct lc_call *call, struct lc_clk_thread *k, void *data) {
    struct one_notice x;
    memcpy(&x, data, sizeof x);
    lc_clk_lock();
    if (x.item != NULL && !x.item->pending)
        take_notice(k, call, x.all, x.source, x.item);
    else if (x.item != NULL)
        lc_clk.counts.skipped++;
    lc_clk.match.counts.taken -= x.item != NULL && !x.item->pending; /* not a message's */
    lc_match_release(&lc_clk.match, x.item);
    lc_clk_unlock();
    if (x.last) {
        wait_for(k, call, x.all);
        free(x.all);
    }
}

static void take_notices_in_backlog(struct lc_call *call, struct lc_clk_thread *k,
                                    const struct epoch_wait *h, const struct ranks *from,
                                    int32_t tag) {
    static const struct lc_event_type event = {.ready = has_arrived, .run = take_notice_later};
    struct epoch_wait *all = malloc(sizeof *all);
    if (all == NULL)
        return;
    *all = *h;
    for (int i = 0; i < from->n; i++) {
        struct one_notice x = {.all = all, .source = (uint32_t)from->world[i]};
        x.last = i + 1 == from->n;
        if (from->world[i] >= 0 && x.source != lc_clk.rank) {
            LC_CLK_LOG("V %u %u %d\n", x.source, h->w->locks.context, tag);
            lc_clk_lock();
            x.item = lc_match_claim(&lc_clk.match, x.source, h->w->locks.context, tag, UINT64_MAX,
                                    (uint32_t)LC_ANY_BYTES);
            lc_clk_unlock();
        }
        lc_clk_backlog_submit(&event, k, call, &x, sizeof x);
    }
    if (from->n <= 0)
        free(all);
}

/* The entries were written before the calls that let this one end. */
static void take_notices(struct lc_call *call, struct window *w, const struct ranks *from,
                         int32_t tag) {
    struct lc_clk_thread *k = call->thread->clocks;
    struct epoch_wait h = {.w = w,
                           .start_begin = w->start_begin,
                           .start_end = w->start_end,
                           .kind = lc_clk.fn_syncs[call->fn]};
    if (k == NULL || w->off)
        return;
    if (lc_clk.backlog) {
        take_notices_in_backlog(call, k, &h, from, tag);
        return;
    }
    for (int i = 0; !w->off && i < from->n; i++) {
        int32_t source = from->world[i];
        if (source < 0 || source == (int32_t)lc_clk.rank)
            continue;
        lc_clk_lock();
        const struct lc_stashed *item = lc_match_take_from(&lc_clk.match, (uint32_t)source,
                                                           w->locks.context, tag, LC_SYNC_LOOKS);
        if (item != NULL) {
            LC_CLK_LOG("V %d %u %d\n", source, w->locks.context, tag);
            take_notice(k, call, &h, (uint32_t)source, item);
        } else {
            w->off = true;
            lc_clk.counts.skipped++;
        }
        lc_clk_unlock();
    }
    wait_for(k, call, &h);
}

static void note_start(struct lc_call *call, struct lc_clk_thread *k, void *data) {
    struct window *w;
    memcpy(&w, data, sizeof w);
    lc_clk_lock();
    lc_clk_booked_drop(&w->start);
    w->start = lc_clk_booked_hold(k, call);
    lc_clk_unlock();
}

/* MPI may wait for the posts here: what for is known at the end of the epoch. */
static void start(struct lc_call *call, struct window *w) {
    static const struct lc_event_type event = {.run = note_start};
    struct lc_clk_thread *k = call->thread->clocks;
    w->start_begin = call->begin;
    w->start_end = call->end;
    if (k != NULL)
        lc_clk_event(&event, k, call, &w, sizeof w);
}

/* ---- points */

/* A flush is local to its process; some programs do nothing else most of the time. */
static struct window *ordering(enum lc_win_sync what, MPI_Win win) {
    return what == LC_WIN_FLUSH || what == LC_WIN_FLUSH_ALL ? NULL : find(win);
}

/* Not MPI_PROC_NULL, whose lock nobody waits for. */
static bool is_member(const struct window *w, int target) {
    return target >= 0 && target < w->locks.comm.size;
}

void lc_clocks_win_begin(struct lc_call *call, enum lc_win_sync what, MPI_Win win,
                         const struct lc_win_epoch *epoch) {
    struct window *w = ordering(what, win);
    if (w == NULL)
        return;
    if (what == LC_WIN_FENCE) {
        lc_clocks_sync_begin(call, &w->locks.comm);
        struct lc_clk_thread *k = call->thread->clocks;
        if (epoch->assertion & MPI_MODE_NOPRECEDE && k != NULL && k->sync_comm != NULL) {
            /* Nobody needs to wait here, so there is no edge. It takes part all the same: others
             * may not have the assertion. */
            k->sync->receives = false;
            k->sync->nonblocking = true;
        }
    }
    if (what == LC_WIN_POST) {
        set_group(&w->exposure, epoch->group);
        notify(call, w, &w->exposure, LC_TAG_POST);
    }
    if (what == LC_WIN_LOCK || what == LC_WIN_LOCK_ALL)
        lc_clk_lock_begin(call, &w->locks);
    if (what == LC_WIN_UNLOCK && is_member(w, epoch->target))
        lc_clk_lock_ends(call, &w->locks, epoch->target);
    if (what == LC_WIN_UNLOCK_ALL)
        lc_clk_lock_ends(call, &w->locks, -1);
    if (what == LC_WIN_START)
        set_group(&w->access, epoch->group);
    if (what == LC_WIN_COMPLETE)
        notify(call, w, &w->access, LC_TAG_COMPLETE);
}

void lc_clocks_win_end(struct lc_call *call, enum lc_win_sync what, MPI_Win win,
                       const struct lc_win_epoch *epoch, bool done) {
    struct window *w = ordering(what, win);
    int target = epoch->target;
    if (what == LC_WIN_FENCE) /* also of one that failed: the others count it */
        lc_clocks_sync_end(call, true);
    if (w == NULL || !done)
        return;
    if ((what == LC_WIN_LOCK || what == LC_WIN_UNLOCK) && !is_member(w, target))
        return;
    switch (what) {
    case LC_WIN_START:
        start(call, w);
        break;
    case LC_WIN_COMPLETE:
        take_notices(call, w, &w->access, LC_TAG_POST);
        break;
    case LC_WIN_WAIT:
        take_notices(call, w, &w->exposure, LC_TAG_COMPLETE);
        break;
    case LC_WIN_LOCK:
        lc_clk_lock_hold(call, &w->locks, target, epoch->shared);
        break;
    case LC_WIN_LOCK_ALL:
        lc_clk_lock_hold(call, &w->locks, -1, true);
        break;
    case LC_WIN_UNLOCK:
        lc_clk_lock_over(call, &w->locks, target);
        break;
    case LC_WIN_UNLOCK_ALL:
        lc_clk_lock_over(call, &w->locks, -1);
        break;
    default:
        break;
    }
}

/* Edges of collective operations of files: every member -> every member. Nonblocking ones begin
 * where they are started and end where their request is complete, split ones where their second
 * half ends. They count as operations of the file's communicator. */

static struct file {
    MPI_File handle;
    struct lc_comm comm;
    struct lc_coll split; /* in progress: clocks is not NULL */
    struct file *next;
} * files;

void lc_clocks_file_new(MPI_File handle, struct lc_comm *comm) {
    struct file *f = comm->clocks != NULL && !comm->inter ? calloc(1, sizeof *f) : NULL;
    if (f == NULL || !keep_comm(&f->comm, comm)) {
        free(f);
        return;
    }
    f->handle = handle;
    lc_clk_lock();
    f->next = files;
    files = f;
    lc_clk_unlock();
}

static struct file **place_of(MPI_File handle) {
    struct file **at = &files;
    while (*at != NULL && (*at)->handle != handle)
        at = &(*at)->next;
    return at;
}

static struct file *find_file(MPI_File handle) {
    lc_clk_lock();
    struct file *f = *place_of(handle);
    lc_clk_unlock();
    return f;
}

void lc_clocks_file_begin(struct lc_call *call, MPI_File handle) {
    struct file *f = find_file(handle);
    if (f != NULL)
        lc_clocks_sync_begin(call, &f->comm);
}

void lc_clocks_file_ibegin(struct lc_call *call, MPI_File handle, struct lc_coll *coll) {
    struct file *f = find_file(handle);
    lc_clocks_isync_begin(call, coll, f != NULL ? &f->comm : NULL);
}

void lc_clocks_file_split_begin(struct lc_call *call, MPI_File handle) {
    struct file *f = find_file(handle);
    if (f != NULL && f->split.clocks == NULL)
        lc_clocks_isync_begin(call, &f->split, &f->comm);
    if (lc_clk.backlog && f != NULL && f->split.clocks != NULL)
        lc_clk_coll_publish_in_backlog(call, call->thread->clocks, f->split.clocks);
}

void lc_clocks_file_split_end(struct lc_call *call, MPI_File handle) {
    struct file *f = find_file(handle);
    if (f == NULL || f->split.clocks == NULL)
        return;
    lc_clocks_isync_end(call, &f->split, NULL);
    f->split.clocks = NULL;
}

void lc_clocks_file_closed(MPI_File handle) {
    lc_clk_lock();
    struct file **at = place_of(handle), *f = *at;
    if (f != NULL)
        *at = f->next;
    lc_clk_unlock();
    if (f != NULL)
        free(f->comm.world);
    free(f);
}
