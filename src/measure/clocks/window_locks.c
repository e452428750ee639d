/* Edges of windows' locks: an epoch gets them from all epochs at the same target that it conflicts
 * with (one of the two is exclusive) and that had ended when it ended.
 *
 * Inside a node each rank keeps two lines per target in its area, its last exclusive and its last
 * shared epoch there; who ends an epoch reads those of all members. Members of other nodes are
 * sent a record at the end of an epoch: of the first LC_CREDIT_FIRST epochs all of them, of later
 * ones those that lock this window too. A rank announces that once, before its first lock; the
 * others then send it their last epochs. A member from which nothing arrives any more gets at most
 * LC_CREDIT records. Nothing waits: a record that has not arrived when an epoch ends is too late
 * for it, one that arrives too early is kept.
 *
 * MPI_Win_lock waits for the last holder on this node. MPI hands the lock over within the holder's
 * MPI_Win_unlock, so that one's begin is in its line before, and its end as soon as it is over: who
 * gets the lock finds the first there, and waits until the second if that was not later. */
#include <stdlib.h>
#include <string.h>

#include "measure/clocks/backlog.h"
#include "measure/clocks/call_state.h"
#include "measure/clocks/clocks.h"
#include "measure/clocks/edges.h"
#include "measure/clocks/records.h"
#include "measure/clocks/clock_messages.h"
#include "measure/clocks/contexts.h"
#include "measure/clocks/wait_states.h"
#include "measure/core/thread.h"
#include "piggyback/area.h"
#include "piggyback/logical.h"
#include "piggyback/match.h"

enum { LC_CREDIT_FIRST = 16, LC_CREDIT = 256, LC_LOOKS = 3 };

struct lc_unlock { /* two lines: the last epoch of a rank at one target */
    struct lc_stamp stamp;
    _Atomic uint32_t version; /* odd while it is written; 0: none yet */
    uint32_t unused;
    uint64_t ended;
    /* The last MPI_Win_unlock, at once: the next holder reads this when it has got the lock. */
    _Atomic uint64_t begin, end; /* end: 0 until then */
    _Atomic uint32_t node;
    uint32_t unused_too[11];
};
_Static_assert(sizeof(struct lc_unlock) == 128, "two cache lines");

struct kept { /* an epoch that ended after the own one, for the next */
    struct lc_stamp stamp;
    int32_t tag;
    uint32_t n_extra;
    uint64_t extra[LC_RECORD_EXTRA];
};

struct lc_away {
    uint32_t credit; /* records it may still be sent */
    bool missed;     /* some were not, and its records arrived since */
    struct kept *kept;
};

static bool is_away(const struct lc_clk_locks *w, int i) {
    int32_t rank = w->comm.world[i];
    return rank >= 0 && rank != (int32_t)lc_clk.rank && lc_clk.areas[rank].head == NULL;
}

void lc_clk_locks_init(struct lc_clk_locks *w) {
    size_t n = (size_t)w->comm.size;
    uint64_t at = lc_area_take(&lc_clk.mine, 2 * n * sizeof *w->lines);
    if (at && lc_area_set_log(&lc_clk.mine, w->id, at))
        w->lines = lc_area_at(&lc_clk.mine, at);
    bool away = false;
    for (int i = 0; i < w->comm.size; i++)
        away = away || is_away(w, i);
    w->away = away && lc_clk.records ? calloc(n, sizeof *w->away) : NULL;
    for (size_t i = 0; w->away != NULL && i < n; i++)
        w->away[i].credit = LC_CREDIT_FIRST;
}

void lc_clk_locks_free(struct lc_clk_locks *w) {
    if (w->lines != NULL)
        lc_area_set_log(&lc_clk.mine, w->id, 0);
    for (int i = 0; w->away != NULL && i < w->comm.size; i++)
        free(w->away[i].kept);
    free(w->away);
    w->away = NULL;
}

/* ---- inside the node */

static void publish(const struct lc_clk_locks *w, int target, bool shared, uint64_t ended,
                    const struct lc_stamp *stamp) {
    if (w->lines == NULL)
        return;
    struct lc_unlock *line = &w->lines[2 * target + shared];
    uint32_t version = atomic_load_explicit(&line->version, memory_order_relaxed);
    atomic_store_explicit(&line->version, version + 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    line->stamp = *stamp;
    line->ended = ended;
    /* release: who sees the even version sees the line (look_at) */
    atomic_store_explicit(&line->version, version + 2, memory_order_release);
}

static bool look_at(const struct lc_unlock *line, struct lc_unlock *copy) {
    uint32_t version = atomic_load_explicit(&line->version, memory_order_acquire);
    if (version == 0 || version & 1)
        return false;
    memcpy(copy, line, sizeof *copy);
    atomic_thread_fence(memory_order_acquire);
    return atomic_load_explicit(&line->version, memory_order_relaxed) == version;
}

static void read_lines(struct lc_call *call, struct lc_clk_thread *k, const struct lc_clk_locks *w,
                       int target, bool shared) {
    int kinds = shared ? 1 : 2; /* exclusive ones; shared ones */
    for (int i = 0; i < w->comm.size; i++) {
        int32_t rank = w->comm.world[i];
        if (rank < 0 || rank == (int32_t)lc_clk.rank || lc_clk.areas[rank].head == NULL)
            continue;
        uint64_t at = lc_area_find_log(&lc_clk.areas[rank], w->id);
        const struct lc_unlock *lines = at ? lc_area_at(&lc_clk.areas[rank], at) : NULL;
        for (int kind = 0; lines != NULL && kind < kinds; kind++) {
            struct lc_unlock line;
            if (look_at(&lines[2 * target + kind], &line) && line.ended < call->end)
                lc_clk_edge(k, (uint32_t)rank, &line.stamp, call->end, NULL, 0);
        }
    }
}

/* Who held the lock last, as far as it is on this node. */
struct holder {
    uint64_t begin, end; /* of its MPI_Win_unlock; end: at most that of the waiting call */
    uint32_t rank, node;
    int target;
    bool shared;
};

/* Who holds a lock that conflicts follows the other; of those that hold at the same time the one
 * that lets go last counts. */
static bool is_later(const struct holder *a, const struct holder *b) {
    bool conflict = a->target == b->target && !(a->shared && b->shared);
    if (conflict || a->end == b->end)
        return a->begin > b->begin;
    return a->end > b->end;
}

static void read_holder(struct holder *last, const struct lc_unlock *lines, int line, uint32_t rank,
                        uint64_t now) {
    struct holder h = {.rank = rank, .target = line / 2, .shared = line % 2 != 0};
    h.begin = atomic_load_explicit(&lines[line].begin, memory_order_acquire);
    h.end = atomic_load_explicit(&lines[line].end, memory_order_relaxed);
    h.node = atomic_load_explicit(&lines[line].node, memory_order_relaxed);
    h.end = h.end == 0 || h.end > now ? now : h.end;
    if (h.begin != 0 && h.begin <= now && (last->begin == 0 || is_later(&h, last)))
        *last = h;
}

static void find_holder(struct holder *last, const struct lc_clk_locks *w, int first, int end,
                        bool shared, uint64_t now) {
    for (int i = 0; i < w->comm.size; i++) {
        int32_t rank = w->comm.world[i];
        bool own = rank == (int32_t)lc_clk.rank;
        if (rank < 0 || (!own && lc_clk.areas[rank].head == NULL))
            continue;
        uint64_t at = own ? 0 : lc_area_find_log(&lc_clk.areas[rank], w->id);
        const struct lc_unlock *lines = own  ? w->lines
                                        : at ? lc_area_at(&lc_clk.areas[rank], at)
                                             : NULL;
        for (int line = 2 * first; lines != NULL && line < 2 * end; line++)
            if (!shared || line % 2 == 0) /* shared ones do not conflict */
                read_holder(last, lines, line, (uint32_t)rank, now);
    }
}

static void book_wait(struct lc_call *call, struct lc_clk_thread *k, void *data) {
    struct holder last;
    memcpy(&last, data, sizeof last);
    lc_clk_lock();
    lc_clk_candidate(k, call, LC_MEASURED_WIN_LOCK, last.end - call->begin, last.rank, last.node);
    lc_clk_unlock();
}

/* ---- between nodes; target comm.size: all of them */

static int32_t tag_of(int target, bool shared) {
    return LC_TAG_EPOCH + 2 * target + shared;
}

static bool conflicts(const struct lc_clk_locks *w, int target, bool shared, int32_t tag) {
    int other = (tag - LC_TAG_EPOCH) / 2, all = w->comm.size;
    bool others_shared = (tag - LC_TAG_EPOCH) % 2 != 0;
    return !(shared && others_shared) && (other == target || other == all || target == all);
}

static void keep(struct lc_away *away, const struct lc_stashed *item) {
    if (away->kept == NULL)
        away->kept = malloc(sizeof *away->kept);
    if (away->kept == NULL)
        return;
    away->kept->stamp = item->entry.stamp;
    away->kept->tag = item->entry.tag;
    away->kept->n_extra = item->n_extra < LC_RECORD_EXTRA ? item->n_extra : LC_RECORD_EXTRA;
    memcpy(away->kept->extra, item->extra, away->kept->n_extra * sizeof *item->extra);
}

static void seen_again(struct lc_away *away) {
    away->missed |= away->credit == 0;
    away->credit = LC_CREDIT;
}

/* Epochs of a member at one target, or all. */
static void take_epochs(struct lc_call *call, struct lc_clk_thread *k, const struct lc_clk_locks *w,
                        int member, int32_t tag) {
    struct lc_away *away = &w->away[member];
    uint32_t rank = (uint32_t)w->comm.world[member];
    const struct lc_stashed *item;
    while ((item = lc_match_take_from(&lc_clk.match, rank, w->context, tag, 0)) != NULL) {
        struct lc_stamp stamp = item->entry.stamp;
        seen_again(away);
        if (stamp.enter < call->end)
            lc_clk_edge(k, rank, &stamp, call->end, item->extra, item->n_extra);
        else
            keep(away, item);
    }
}

static void take_epochs_of(struct lc_call *call, struct lc_clk_thread *k,
                           const struct lc_clk_locks *w, int member, int target, bool shared) {
    struct lc_away *away = &w->away[member];
    struct kept *kept = away->kept;
    uint32_t rank = (uint32_t)w->comm.world[member];
    int all = w->comm.size;
    lc_match_drain(&lc_clk.match, rank);
    if (kept != NULL && kept->stamp.enter < call->end && conflicts(w, target, shared, kept->tag)) {
        lc_clk_edge(k, rank, &kept->stamp, call->end, kept->extra, kept->n_extra);
        free(kept);
        away->kept = NULL;
    }
    while (lc_match_take_from(&lc_clk.match, rank, w->context, LC_TAG_LOCKER, 0) != NULL)
        seen_again(away);
    for (int t = target == all ? 0 : target; t <= target && t < all; t++)
        take_epochs(call, k, w, member, tag_of(t, false));
    if (!shared) {
        take_epochs(call, k, w, member, tag_of(target, true));
        take_epochs(call, k, w, member, tag_of(all, true));
    }
}

/* Sends the last own epochs to a member that got no records of them. */
static void catch_up(struct lc_clk_thread *k, const struct lc_clk_locks *w, int member) {
    struct lc_away *away = &w->away[member];
    away->missed = false;
    for (int t = 0; w->lines != NULL && t < w->comm.size; t++)
        for (int shared = 0; shared < 2; shared++) {
            struct lc_unlock line;
            if (away->credit > 0 && look_at(&w->lines[2 * t + shared], &line)) {
                away->credit--;
                lc_clk_put(k, (uint32_t)w->comm.world[member], &line.stamp, w->context,
                           tag_of(t, shared != 0));
            }
        }
}

static void exchange(struct lc_call *call, struct lc_clk_thread *k, const struct lc_clk_locks *w,
                     int target, bool shared) {
    lc_clk_lock();
    for (int look = 0; look < LC_LOOKS; look++) /* MPI may need to be asked more than once */
        lc_clk_packets_take(true);
    for (int i = 0; i < w->comm.size; i++)
        if (is_away(w, i))
            take_epochs_of(call, k, w, i, target, shared);
    struct lc_stamp stamp;
    for (int i = 0; i < w->comm.size; i++)
        if (is_away(w, i) && w->away[i].missed)
            catch_up(k, w, i);
    lc_logical_stamp(&k->l, call->end, &stamp);
    for (int i = 0; i < w->comm.size; i++)
        if (is_away(w, i) && w->away[i].credit > 0) {
            w->away[i].credit--;
            lc_clk_put(k, (uint32_t)w->comm.world[i], &stamp, w->context, tag_of(target, shared));
        }
    lc_clk_unlock();
}

/* ---- points */

void lc_clk_lock_begin(struct lc_call *call, struct lc_clk_locks *w) {
    struct lc_clk_thread *k = call->thread->clocks;
    if (k == NULL || w->away == NULL || w->announced)
        return;
    w->announced = true;
    for (int i = 0; i < w->comm.size; i++)
        if (is_away(w, i))
            lc_clk_put_at_begin(call, k, (uint32_t)w->comm.world[i], w->context, LC_TAG_LOCKER);
}

void lc_clk_lock_hold(struct lc_call *call, struct lc_clk_locks *w, int target, bool shared) {
    static const struct lc_event_type event = {.run = book_wait};
    struct lc_clk_thread *k = call->thread->clocks;
    int first = target < 0 ? 0 : target, end = target < 0 ? w->comm.size : target + 1;
    for (int i = first; i < end; i++)
        w->held[i] = shared ? 1 : 2;
    struct holder last = {0};
    if (k != NULL)
        find_holder(&last, w, first, end, shared, call->end);
    if (last.end > call->begin && last.rank != lc_clk.rank)
        lc_clk_event(&event, k, call, &last, sizeof last);
}

struct releasing {
    struct lc_unlock *lines;
    int first, end;
    bool shared;
};

static void note_node(struct lc_call *call, struct lc_clk_thread *k, void *data) {
    struct releasing x;
    (void)call;
    memcpy(&x, data, sizeof x);
    for (int i = x.first; i < x.end; i++)
        atomic_store_explicit(&x.lines[2 * i + x.shared].node, k->l.node, memory_order_relaxed);
}

void lc_clk_lock_ends(struct lc_call *call, struct lc_clk_locks *w, int target) {
    static const struct lc_event_type event = {.run = note_node};
    struct lc_clk_thread *k = call->thread->clocks;
    int first = target < 0 ? 0 : target, end = target < 0 ? w->comm.size : target + 1;
    struct releasing x = {w->lines, first, end, w->held[first] == 1};
    if (k == NULL || w->lines == NULL || w->held[first] == 0)
        return;
    lc_clk_event(&event, k, call, &x, sizeof x);
    for (int i = first; i < end; i++) {
        struct lc_unlock *line = &w->lines[2 * i + x.shared];
        atomic_store_explicit(&line->end, 0, memory_order_relaxed);
        /* release: who sees it sees the node (read_holder) */
        atomic_store_explicit(&line->begin, call->begin, memory_order_release);
    }
}

struct ending {
    struct lc_clk_locks *w;
    int target; /* -1: all */
    bool shared;
};

static void over(struct lc_call *call, struct lc_clk_thread *k, void *data) {
    struct ending x;
    memcpy(&x, data, sizeof x);
    struct lc_clk_locks *w = x.w;
    int first = x.target < 0 ? 0 : x.target, end = x.target < 0 ? w->comm.size : x.target + 1;
    for (int i = first; i < end; i++)
        read_lines(call, k, w, i, x.shared);
    if (w->away != NULL)
        exchange(call, k, w, x.target < 0 ? w->comm.size : x.target, x.shared);
    struct lc_stamp stamp;
    lc_logical_stamp(&k->l, call->end, &stamp);
    for (int i = first; i < end; i++)
        publish(w, i, x.shared, call->end, &stamp);
}

void lc_clk_lock_over(struct lc_call *call, struct lc_clk_locks *w, int target) {
    static const struct lc_event_type event = {.run = over};
    struct lc_clk_thread *k = call->thread->clocks;
    int first = target < 0 ? 0 : target, end = target < 0 ? w->comm.size : target + 1;
    struct ending x = {w, target, w->held[first] == 1};
    if (k == NULL || w->held[first] == 0)
        return;
    for (int i = first; i < end; i++) {
        LC_CLK_LOG("K %u %d %d\n", w->context, i, x.shared);
        if (w->lines != NULL)
            atomic_store_explicit(&w->lines[2 * i + x.shared].end, call->end, memory_order_relaxed);
        w->held[i] = 0;
    }
    lc_clk_event(&event, k, call, &x, sizeof x);
}
