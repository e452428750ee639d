/* Shadow collectives. Each member sends its clocks at its entry; what it receives is the
 * maximum of those whose data came to it:
 *   barrier, allreduce, ..     up a binomial tree and down again; those that are certain to be the
 *                              same on all members several at once (composed_collectives.c)
 *   bcast, scatter             from the root to all; of more than LC_SHADOW_DIRECT down a tree
 *   reduce, gather             to the root; of more than LC_SHADOW_DIRECT up a tree
 *   scan, exscan               from member to member
 *   alltoallv/w, neighbours    to those that the program sends something to
 * In an intercommunicator each group has its tree, the first members exchange. Parts are named by
 * communicator and number of the operation, so a member that had an error in one does not disturb
 * the next. A member passes on what it receives from the moment when the program has called the
 * operation, whatever its own clocks wait for; so who waits, waits only for what members had done
 * before they entered. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/timer.h"
#include "measure/mpi/handles.h"
#include "measure/mpi/operations.h"
#include "measure/clocks/call_state.h"
#include "measure/clocks/clocks.h"
#include "measure/clocks/collectives.h"
#include "measure/clocks/contexts.h"
#include "measure/clocks/edges.h"
#include "measure/clocks/records.h"
#include "measure/clocks/wait_states.h"
#include "measure/core/thread.h"
#include "piggyback/match.h"
#include "measure/clocks/global_time.h"
#include "measure/clocks/origins.h"
#include "piggyback/match_types.h"

/* What a member of a collective operation tells the others. */

_Static_assert(sizeof(struct lc_shadow_record) / sizeof(uint64_t) <= LC_STASH_ROOM,
               "a record of a collective is an entry that waits for its turn");

enum { HEAD = offsetof(struct lc_shadow_record, extra) / sizeof(uint64_t) };

/* Of no member yet. */
static void empty_record(struct lc_shadow_record *r) {
    memset(r, 0, (HEAD + 2) * sizeof(uint64_t));
    r->past[0] = 0;
}

static void copy_past(const struct lc_shadow_record *from, struct lc_shadow_record *to) {
    to->past[0] = 0;
    memcpy(to->past, from->past,
           lc_clk_origins_words(from->past, LC_PAST_WORDS) * sizeof *to->past);
}

static void copy_extra(const struct lc_shadow_record *from, struct lc_shadow_record *to) {
    memcpy(to->extra, from->extra, lc_clk_extra_words(from->extra) * sizeof *to->extra);
}

void lc_shadow_copy(const struct lc_shadow_record *from, struct lc_shadow_record *to) {
    if (from->n == 0) {
        empty_record(to);
        return;
    }
    memcpy(to, from, HEAD * sizeof(uint64_t));
    copy_extra(from, to);
    copy_past(from, to);
}

uint32_t lc_shadow_pack(const struct lc_shadow_record *r, uint64_t *words) {
    uint32_t n = HEAD;
    n += r->n > 0 ? lc_clk_extra_words(r->extra) : 0;
    memcpy(words, r, n * sizeof *words);
    uint32_t past = r->n > 0 ? lc_clk_origins_words(r->past, LC_PAST_WORDS) : 0;
    memcpy(words + n, r->past, past * sizeof *words);
    return n + past;
}

bool lc_shadow_unpack(const uint64_t *words, uint32_t n, struct lc_shadow_record *r) {
    uint32_t head = HEAD;
    empty_record(r);
    if (n <= head) /* of no member */
        return true;
    if (words[head] > LC_RECORD_ITEMS)
        return false;
    head += lc_clk_extra_words(words + head);
    if (n < head || n - head > LC_PAST_WORDS)
        return false;
    memcpy(r, words, head * sizeof *words);
    memcpy(r->past, words + head, (n - head) * sizeof *words);
    if (lc_clk_origins_words(r->past, n - head) == 0)
        r->past[0] = 0;
    return true;
}

void lc_shadow_merge(const struct lc_shadow_record *a, struct lc_shadow_record *b) {
    bool empty = b->n == 0;
    if (a->n > 0 && empty)
        lc_shadow_copy(a, b);
    if (a->n == 0 || empty)
        return;
    if (a->latest > b->latest || (a->latest == b->latest && a->latest_rank < b->latest_rank)) {
        b->latest = a->latest;
        b->latest_rank = a->latest_rank;
        b->latest_node = a->latest_node;
        copy_past(a, b);
    }
    if (a->earliest < b->earliest ||
        (a->earliest == b->earliest && a->earliest_rank < b->earliest_rank)) {
        b->earliest = a->earliest;
        b->earliest_rank = a->earliest_rank;
        b->earliest_node = a->earliest_node;
    }
    b->n += a->n;
    if (a->interval != b->interval && a->interval < b->interval)
        return;
    bool newer = a->interval > b->interval;
    if (newer || a->outside_omp > b->outside_omp)
        b->outside_omp = a->outside_omp;
    if (newer || a->phase > b->phase ||
        (a->phase == b->phase && a->phase_useful > b->phase_useful)) {
        b->phase = a->phase;
        b->phase_useful = a->phase_useful;
    }
    uint32_t theirs = lc_clk_generation_of(a->extra), own = lc_clk_generation_of(b->extra);
    bool only_a = newer || theirs > own; /* as adopt_extra in edges.c */
    uint64_t whatif[LC_WHATIF_MAX], scenarios = only_a ? a->extra[1] : b->extra[1];
    for (uint32_t s = 0; s < LC_WHATIF_MAX; s++)
        whatif[s] = only_a || (theirs == own && a->extra[2 + s] > b->extra[2 + s])
                        ? a->extra[2 + s]
                        : b->extra[2 + s];
    if (newer || a->useful > b->useful) {
        b->useful = a->useful;
        b->interval = a->interval;
        copy_extra(a, b);
    }
    b->extra[1] = scenarios;
    memcpy(b->extra + 2, whatif, sizeof whatif);
}

void lc_shadow_fill(struct lc_clk_thread *k, const struct lc_stamp *stamp,
                    struct lc_shadow_record *r) {
    r->n = 1;
    r->useful = lc_clk_ns_from(stamp->useful);
    r->outside_omp = lc_clk_ns_from(stamp->outside_omp);
    r->phase_useful = lc_clk_ns_from(stamp->phase_useful);
    r->interval = stamp->interval;
    r->phase = stamp->phase;
    r->latest = r->earliest = lc_clk_to_global(stamp->enter);
    r->latest_rank = r->earliest_rank = lc_clk.rank;
    r->latest_node = r->earliest_node = stamp->node;
    lc_clk_extra(k, NULL, LC_RECORD_ITEMS, r->extra);
    lc_clk_origins_pack(-1, r->past);
}

static uint64_t ticks_of(double ns) {
    return (uint64_t)(int64_t)(ns / lc_clk.ns_per_tick);
}

static struct lc_stamp stamp_of(const struct lc_shadow_record *r) {
    return (struct lc_stamp){.enter = lc_clk_from_global(r->latest),
                             .useful = ticks_of(r->useful),
                             .outside_omp = ticks_of(r->outside_omp),
                             .phase_useful = ticks_of(r->phase_useful),
                             .interval = r->interval,
                             .phase = r->phase};
}

/* False: nothing. */
static bool lc_shadow_edge_of(const struct lc_shadow_record *r, enum lc_coll_kind kind,
                              uint64_t end, struct lc_shadow_edge *e) {
    if (r->n == 0)
        return false;
    *e = (struct lc_shadow_edge){.stamp = stamp_of(r), .extra = r->extra};
    if (kind == LC_COLL_SYNC &&
        lc_clk_came_after(e->stamp.enter, end)) /* it ended before all had come */
        return false;
    bool first = kind == LC_COLL_N2ONE;
    e->release = first ? lc_clk_from_global(r->earliest) : e->stamp.enter;
    e->rank = first ? r->earliest_rank : r->latest_rank;
    e->node = first ? r->earliest_node : r->latest_node;
    lc_clk_origins_take(r->latest_rank, r->past, LC_PAST_WORDS);
    return true;
}

void lc_shadow_apply(struct lc_clk_thread *k, struct lc_call *call, const struct lc_clk_coll *x,
                     const struct lc_shadow_record *r) {
    struct lc_shadow_edge e;
    if (!lc_shadow_edge_of(r, x->kind, call->end, &e))
        return;
    lc_clk_edge(k, lc_clk.rank, &e.stamp, call->end, e.extra, LC_RECORD_EXTRA);
    if (e.rank != lc_clk.rank)
        lc_clk_coll_candidate(k, call, x, e.release, e.rank, e.node);
}

/* ---- those under way */

/* In the order in which they began: most arrivals belong to the oldest. */
static struct lc_shadow *under_way, *under_way_last;

static struct lc_shadow *spare; /* by `next` */

/* A new one, all 0, its records empty; NULL: no memory. */
static struct lc_shadow *take_shadow(void) {
    struct lc_shadow *m = spare;
    if (m != NULL)
        spare = m->next;
    else
        m = malloc(sizeof *m);
    if (m == NULL)
        return NULL;
    memset(m, 0, offsetof(struct lc_shadow, mine));
    empty_record(&m->mine);
    empty_record(&m->up);
    empty_record(&m->received);
    return m;
}

void lc_shadow_free_spare(void) {
    for (struct lc_shadow *m = spare, *next; m != NULL; m = next) {
        next = m->next;
        free(m);
    }
    spare = NULL;
}

static void enlist(struct lc_shadow *m) {
    m->previous = under_way_last;
    *(m->previous != NULL ? &m->previous->next : &under_way) = m;
    under_way_last = m;
}

static void leave(struct lc_shadow *m) {
    *(m->previous != NULL ? &m->previous->next : &under_way) = m->next;
    *(m->next != NULL ? &m->next->previous : &under_way_last) = m->previous;
}

static void free_shadow(struct lc_shadow *m) {
    lc_clk_comm_unuse(m->c);
    free(m->to);
    free(m->from);
    m->next = spare;
    spare = m;
}

void lc_shadow_go(struct lc_shadow *m) {
    if (!m->over || m->wanted)
        return;
    leave(m);
    free_shadow(m);
}

struct lc_shadow *lc_shadow_find(uint32_t context, uint32_t number) {
    struct lc_shadow *m = under_way;
    while (m != NULL && (m->number != number || lc_shadow_context(m) != context))
        m = m->next;
    return m;
}

enum { LC_SHADOW_DIRECT = 64 };

static bool some_to(struct lc_thread *t, const struct lc_coll *coll, int i) {
    return coll->send.counts != NULL && lc_side_bytes_at(t, &coll->send, coll->large, i) > 0;
}

/* ---- messages */

/* Only the words that are set. */
static void send_record(const struct lc_shadow *m, int32_t rank, const struct lc_shadow_record *r) {
    uint64_t words[LC_PART_WORDS];
    uint32_t n = lc_shadow_pack(r, words + LC_RECORD_HEAD);
    memset(words, 0, LC_RECORD_HEAD * sizeof *words);
    words[6] = (uint64_t)lc_shadow_context(m) << 32 | m->number;
    words[7] = LC_RECORD_SHADOW;
    if (rank < 0)
        return;
    if (!lc_clk_packet_add((uint32_t)rank, LC_PART_SHADOW, words, LC_RECORD_HEAD + n))
        lc_clk.counts.skipped++;
    else if (m->kind == LC_COLL_ONE2N || m->kind == LC_COLL_N2ONE)
        lc_clk_packet_row((uint32_t)rank);
}

static bool receive_record(const struct lc_shadow *m, int32_t rank, struct lc_shadow_record *r) {
    const struct lc_stashed *item =
        rank >= 0 ? lc_match_take_from(&lc_clk.match, (uint32_t)rank, lc_shadow_context(m),
                                       (int32_t)m->number, -1)
                  : NULL;
    if (item == NULL)
        return false;
    return lc_shadow_unpack(item->extra, item->n_extra, r);
}

/* ---- trees */

static bool received_from_children(struct lc_shadow *m) {
    bool all = true;
    struct lc_shadow_record r;
    for (int step = 0; step < LC_SHADOW_LEVELS && ((int32_t)1 << step) < m->n; step++) {
        int32_t c = lc_shadow_child(m, step);
        if (c < 0 || m->received_from >> step & 1)
            continue;
        if (receive_record(m, lc_shadow_rank_at(m, c), &r)) {
            lc_shadow_merge(&r, &m->up);
            m->received_from |= 1ull << step;
        } else {
            all = false;
        }
    }
    return all;
}

static void send_to_children(const struct lc_shadow *m) {
    for (int step = 0; step < LC_SHADOW_LEVELS && ((int32_t)1 << step) < m->n; step++)
        if (lc_shadow_child(m, step) >= 0)
            send_record(m, lc_shadow_rank_at(m, lc_shadow_child(m, step)), &m->received);
}

/* ---- one step of each kind */

static void all_to_all(struct lc_shadow *m) {
    bool top = lc_shadow_place(m) == 0;
    if (!m->sent) {
        if (!received_from_children(m) || !m->own)
            return;
        m->sent = true;
        if (!top)
            send_record(m, lc_shadow_parent(m), &m->up);
        else if (m->inter)
            send_record(m, m->others[0], &m->up);
        else
            lc_shadow_copy(&m->up, &m->received);
    }
    if ((!top && !receive_record(m, lc_shadow_parent(m), &m->received)) ||
        (top && m->inter && !receive_record(m, m->others[0], &m->received)))
        return;
    if (top && m->inter && m->both)
        lc_shadow_merge(&m->up, &m->received);
    m->come = m->over = true;
    send_to_children(m);
}

static void from_root(struct lc_shadow *m) {
    if (m->inter || m->direct) {
        const int32_t *ranks = m->inter ? m->others : m->ranks;
        int32_t n = m->inter ? m->n_others : m->n;
        if (m->is_root && !m->own)
            return;
        for (int32_t i = 0; m->is_root && i < n; i++)
            if (m->inter || i != m->me)
                send_record(m, ranks[i], &m->mine);
        if (!m->is_root && m->takes_part && !receive_record(m, ranks[m->root], &m->received))
            return;
    } else {
        if (lc_shadow_place(m) == 0 && !m->own)
            return;
        if (lc_shadow_place(m) == 0)
            lc_shadow_copy(&m->mine, &m->received);
        else if (!receive_record(m, lc_shadow_parent(m), &m->received))
            return;
        send_to_children(m);
    }
    m->come = m->over = true;
}

/* The root need not send anything. */
static void to_root(struct lc_shadow *m) {
    if (m->is_root && m->takes_part && (m->inter || m->direct)) {
        struct lc_shadow_record r;
        for (int32_t i = 0; i < m->n_from; i++)
            if (m->from[i] >= 0 && receive_record(m, m->from[i], &r)) {
                lc_shadow_merge(&r, &m->received);
                m->from[i] = -1;
                m->n_received++;
            }
        m->come = m->over = m->n_received == m->n_from;
        return;
    }
    if (!m->inter && !m->direct) {
        if (!received_from_children(m) || (!m->own && !m->is_root))
            return;
        if (m->is_root)
            lc_shadow_copy(&m->up, &m->received);
        else
            send_record(m, lc_shadow_parent(m), &m->up);
    } else if (!m->own && m->takes_part) {
        return;
    } else if (m->takes_part) {
        send_record(m, m->inter ? m->others[m->root] : m->ranks[m->root], &m->mine);
    }
    m->come = m->over = true;
}

static void to_next(struct lc_shadow *m) {
    if (!m->come && m->me > 0 && !receive_record(m, m->ranks[m->me - 1], &m->received))
        return;
    m->come = true;
    if (!m->own)
        return;
    lc_shadow_copy(&m->received, &m->up);
    lc_shadow_merge(&m->mine, &m->up);
    if (m->me + 1 < m->n)
        send_record(m, m->ranks[m->me + 1], &m->up);
    m->over = true;
}

static void in_pairs(struct lc_shadow *m) {
    struct lc_shadow_record r;
    for (int32_t i = 0; m->own && !m->sent && i < m->n_to; i++)
        send_record(m, m->to[i], &m->mine);
    m->sent |= m->own;
    for (int32_t i = 0; i < m->n_from; i++)
        if (m->from[i] >= 0 && receive_record(m, m->from[i], &r)) {
            lc_shadow_merge(&r, &m->received);
            m->from[i] = -1;
            m->n_received++;
        }
    m->come = m->n_received == m->n_from;
    m->over = m->come && m->sent;
}

static void step(struct lc_shadow *m) {
    switch (m->kind) {
    case LC_COLL_BARRIER:
    case LC_COLL_SYNC:
    case LC_COLL_N2N:
        if (m->composed)
            lc_clk_composed_advance(m);
        else
            all_to_all(m);
        break;
    case LC_COLL_ONE2N:
        from_root(m);
        break;
    case LC_COLL_N2ONE:
        to_root(m);
        break;
    case LC_COLL_SCAN:
    case LC_COLL_EXSCAN:
        to_next(m);
        break;
    case LC_COLL_V2V:
    case LC_COLL_NEIGHBOR:
        in_pairs(m);
        break;
    }
}

/* ---- life */

/* A composed one goes itself, when it is known. */
static void go_on(struct lc_shadow *m) {
    if (m->composed && !m->over) {
        lc_clk_composed_advance(m);
        return;
    }
    if (!m->over)
        step(m);
    lc_shadow_go(m);
}

void lc_clk_shadow_part(uint32_t context, uint32_t number) {
    struct lc_shadow *m = lc_shadow_find(context, number);
    if (m != NULL)
        go_on(m);
}

bool lc_clk_shadows_left(void) {
    for (const struct lc_shadow *m = under_way; m != NULL; m = m->next)
        if (!m->over)
            return true;
    return false;
}

void lc_clk_shadows_give_up(void) {
    for (struct lc_shadow *m = under_way, *next; m != NULL; m = next) {
        next = m->next;
        lc_clk.counts.skipped += !m->over;
        if (m->composed)
            lc_clk_composed_drop(m);
        m->over = true;
        go_on(m);
    }
}

bool lc_clk_within_timeout(struct lc_clk_timeout *t, uint64_t left, uint32_t ms) {
    if (left != t->left || t->since == 0) {
        t->left = left;
        t->since = lc_patience_ticks();
    }
    return left > 0 && lc_patience_ticks() - t->since < ms * 1000ull * lc_clk.slow_ticks;
}

/* Pairs that exchange something; false: no memory. */
static bool set_pairs(struct lc_call *call, struct lc_shadow *m, const struct lc_clk_coll *x,
                      const struct lc_coll *coll) {
    int32_t n = m->inter ? m->n_others : m->n, me = m->inter ? -1 : m->me;
    const int32_t *ranks = m->inter ? m->others : m->ranks;
    m->to = calloc((size_t)n + 1, sizeof *m->to);
    m->from = calloc((size_t)n + 1, sizeof *m->from);
    if (m->to == NULL || m->from == NULL)
        return false;
    if (m->kind == LC_COLL_N2ONE) {
        for (int32_t i = 0; i < n; i++)
            if (i != me)
                m->from[m->n_from++] = ranks[i];
        return true;
    }
    if (m->kind == LC_COLL_V2V) {
        for (int32_t i = 0; i < n; i++) {
            bool from = i != me && x->from != NULL && x->from[i];
            if (from)
                m->from[m->n_from++] = ranks[i];
            if (i != me && (coll->in_place ? from : some_to(call->thread, coll, i)))
                m->to[m->n_to++] = ranks[i];
        }
        return true;
    }
    uint8_t *to = calloc(2 * (size_t)n + 1, 1);
    const int32_t *targets = x->c->targets != NULL ? x->c->targets : x->c->sources;
    int n_targets = x->c->targets != NULL ? x->c->n_targets : x->c->n_sources;
    if (to == NULL)
        return false;
    uint8_t *from = to + n;
    for (int i = 0; i < n_targets; i++)
        if (targets[i] >= 0 && targets[i] != me)
            to[targets[i]] = 1;
    for (int i = 0; i < x->c->n_sources; i++)
        if (x->c->sources[i] >= 0 && x->c->sources[i] != me)
            from[x->c->sources[i]] = 1;
    for (int32_t i = 0; i < n; i++) {
        if (to[i])
            m->to[m->n_to++] = ranks[i];
        if (from[i])
            m->from[m->n_from++] = ranks[i];
    }
    free(to);
    return true;
}

struct lc_shadow *lc_clk_shadow_new(struct lc_call *call, const struct lc_clk_coll *x,
                                    const struct lc_comm *comm, const struct lc_coll *coll) {
    struct lc_shadow *m = take_shadow();
    if (m == NULL)
        return NULL;
    m->c = x->c;
    m->c->uses++;
    m->number = x->constructor ? (uint32_t)x->op : (uint32_t)x->op & INT32_MAX;
    m->kind = x->kind;
    m->inter = comm->inter;
    m->both = m->inter && x->kind == LC_COLL_SYNC;
    m->ranks = comm->inter ? m->c->local : m->c->ranks;
    m->others = m->c->ranks;
    m->n = comm->size;
    m->me = comm->rank;
    m->n_others = comm->remote_size;
    bool rooted = x->kind == LC_COLL_ONE2N || x->kind == LC_COLL_N2ONE;
    m->root = rooted && x->root >= 0 ? x->root : 0;
    m->is_root = x->is_root;
    m->takes_part = !rooted || !m->inter || x->is_root || x->root >= 0;
    m->direct = m->n <= LC_SHADOW_DIRECT;
    m->wanted = true;
    bool pairs = x->kind == LC_COLL_V2V || x->kind == LC_COLL_NEIGHBOR ||
                 (x->kind == LC_COLL_N2ONE && m->is_root && (m->inter || m->direct));
    if (m->ranks == NULL || (pairs && !set_pairs(call, m, x, coll))) {
        free_shadow(m);
        return NULL;
    }
    enlist(m);
    lc_clk.counts.shadows++;
    if (x->certain)
        lc_clk_composed_begin(m, call->begin);
    go_on(m); /* others may have sent already */
    return m;
}

void lc_clk_shadow_ended(struct lc_shadow *m, uint64_t end) {
    if (m->composed)
        lc_clk_composed_end(m, end);
}

void lc_clk_shadow_refused(struct lc_shadow *m) {
    if (m->composed)
        lc_clk_composed_drop(m);
}

void lc_clk_shadow_drop(struct lc_shadow *m) {
    m->wanted = false;
    m->over = true;
    lc_clk.counts.shadows--;
    if (m->composed)
        lc_clk_composed_drop(m);
    go_on(m);
}

void lc_clk_shadow_publish(struct lc_clk_thread *k, struct lc_shadow *m,
                           const struct lc_stamp *stamp) {
    if (stamp != NULL && !m->over)
        lc_shadow_fill(k, stamp, &m->mine);
    if (m->composed) {
        m->origin = k->l.origin;
        m->published = lc_patience_ticks();
        m->few = k->todo;
    } else {
        lc_shadow_merge(&m->mine, &m->up);
    }
    m->own = true;
    if (!m->over)
        step(m);
}

bool lc_clk_shadow_arrived(const struct lc_shadow *m) {
    return m->come;
}

void lc_clk_shadow_end(struct lc_clk_thread *k, struct lc_call *call, const struct lc_clk_coll *x,
                       struct lc_shadow *m) {
    bool reads =
        x->receives && !((x->kind == LC_COLL_SCAN || x->kind == LC_COLL_EXSCAN) && m->me == 0);
    if (reads && m->come)
        lc_shadow_apply(k, call, x, &m->received);
    bool forced = reads && !m->come;
    m->wanted = forced && !m->over && lc_clk_open_collective(k, call, m, lc_clk_coll_wait(call, x));
    lc_clk.counts.skipped += forced && !m->wanted;
    go_on(m);
}

bool lc_clk_shadow_edge(const struct lc_shadow *m, uint64_t end, struct lc_shadow_edge *e) {
    return lc_shadow_edge_of(&m->received, m->kind, end, e);
}

void lc_clk_shadow_release(struct lc_shadow *m) {
    m->wanted = false;
    go_on(m);
}
