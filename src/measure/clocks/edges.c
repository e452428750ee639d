/* Edges that come in: at the end of the call that they end at, or, where that is open, later. */
#include <string.h>
#include <stdbool.h>
#include <stdlib.h>
#include <stddef.h>

#include "measure/clocks/call_state.h"
#include "measure/clocks/clock_messages.h"
#include "measure/clocks/clocks.h"
#include "measure/clocks/edges.h"
#include "measure/clocks/records.h"
#include "piggyback/cpvec.h"
#include "piggyback/logical.h"
#include "measure/clocks/collectives.h"
#include "measure/clocks/wait_states.h"
#include "piggyback/match.h"
#include "piggyback/pending_entries.h"
#include "measure/clocks/what_if_factors.h"

bool lc_work_add(struct lc_work_since *w, uint64_t ticks, uint32_t node, bool part) {
    if (part && ticks > 0 && ticks >= w->longest) {
        w->longest = ticks;
        w->longest_node = node;
    }
    w->node = !part && w->longest > ticks ? w->longest_node : node;
    if (!part)
        w->longest = 0;
    if (ticks == 0)
        return true;
    uint64_t key = (uint64_t)lc_clk.rank << 32 | node;
    uint32_t i = 0;
    while (i < w->n_items && w->items[i].key != key)
        i++;
    if (i == LC_STEP_ITEMS)
        return false;
    if (i == w->n_items)
        w->items[w->n_items++] = (struct lc_cp_item){key, 0};
    w->items[i].ticks += ticks;
    w->ticks += ticks;
    const float *factors = lc_clk.n_whatif > 0 ? lc_clk_whatif_of(node) : NULL;
    for (uint32_t s = 0; factors != NULL && s < lc_clk.n_whatif; s++)
        w->whatif[s] += (uint64_t)((double)ticks * (double)factors[s]);
    return true;
}

bool lc_work_portion(struct lc_work_since *w, const struct lc_portion_done *portion) {
    uint32_t i = 0;
    while (i < w->n_portions &&
           (w->portions[i].node != portion->node || w->portions[i].call != portion->call))
        i++;
    if (i == LC_STEP_ITEMS)
        return false;
    if (i == w->n_portions)
        w->portions[w->n_portions++] = (struct lc_portion_done){portion->node, portion->call, 0, 0};
    w->portions[i].n += portion->n;
    w->portions[i].ticks += portion->ticks;
    return true;
}

void lc_work_whatif(const struct lc_work_since *w, uint64_t whatif[LC_WHATIF_MAX]) {
    bool chosen = lc_clk_has_chosen();
    for (uint32_t s = 0; s < LC_WHATIF_MAX; s++)
        whatif[s] = s >= lc_clk.n_whatif ? 0 : chosen ? w->ticks : w->whatif[s];
    for (uint32_t i = 0; chosen && i < w->n_portions; i++)
        lc_clk_portion_changes(&w->portions[i], whatif);
}

uint32_t lc_work_items(const struct lc_work_since *w, struct lc_cp_item *items) {
    for (uint32_t i = 0; i < w->n_items; i++)
        items[i] = (struct lc_cp_item){w->items[i].key, lc_clk_ns_of(w->items[i].ticks)};
    return w->n_items;
}

/* extra: number of items, of scenarios, what-if clocks, items (key, ns) */
uint32_t lc_clk_whatif_words(const struct lc_clk_thread *k, const struct lc_stamp *then,
                             uint64_t *words) {
    uint64_t old[LC_WHATIF_MAX] = {0};
    const uint64_t *clocks = k->l.vec.whatif;
    uint32_t generation = k->l.vec.generation;
    if (lc_clk.n_whatif == 0) {
        memset(words, 0, LC_WHATIF_MAX * sizeof *words);
        return 0;
    }
    if (then != NULL && lc_cpvec_whatif_then(&k->l.vec, then->vector, old, &generation)) {
        clocks = old;
    } else if (then != NULL && lc_clk_has_chosen()) { /* those of now are too large */
        clocks = old;
        generation = LC_GENERATION_LOST;
    }
    for (uint32_t s = 0; s < LC_WHATIF_MAX; s++)
        words[s] = s < lc_clk.n_whatif ? lc_clk_ns_of(clocks[s]) : 0;
    return generation;
}

uint32_t lc_clk_extra(struct lc_clk_thread *k, const struct lc_stamp *then, uint32_t room,
                      uint64_t *extra) {
    struct lc_cp_item *items = (struct lc_cp_item *)(extra + 2 + LC_WHATIF_MAX);
    uint32_t n = lc_cpvec_pack(&k->l.vec, items, room);
    extra[0] = n;
    uint32_t generation = lc_clk_whatif_words(k, then, extra + 2);
    extra[1] = lc_clk_pack_scenarios(lc_clk.n_whatif, generation); /* | LC_RECORD_WAITS, .. */
    for (uint32_t i = 0; i < n; i++)
        items[i].ticks = lc_clk_ns_of(items[i].ticks);
    return 2 + LC_WHATIF_MAX + 2 * n;
}

void lc_clk_extra_add(uint64_t *extra, const struct lc_cp_item *items, uint32_t n) {
    struct lc_cp_item *all = (struct lc_cp_item *)(extra + 2 + LC_WHATIF_MAX);
    for (uint32_t k = 0; k < n && k < LC_STEP_ITEMS; k++) {
        uint32_t has = (uint32_t)extra[0], i = 0, smallest = 0;
        for (; i < has && all[i].key != items[k].key; i++)
            smallest = all[i].ticks < all[smallest].ticks ? i : smallest;
        if (i < has) {
            all[i].ticks += items[k].ticks;
        } else if (has < LC_RECORD_ITEMS) {
            all[has] = items[k];
            extra[0]++;
        } else if (all[smallest].ticks < items[k].ticks) {
            all[smallest] = items[k];
        }
    }
}

static void adopt_extra(struct lc_clk_thread *k, const uint64_t *extra, uint32_t n_extra, bool won,
                        uint64_t useful) {
    if (n_extra < 2 + LC_WHATIF_MAX || extra[0] > LC_RECORD_ITEMS ||
        n_extra < 2 + LC_WHATIF_MAX + 2 * extra[0])
        return;
    const uint32_t generation = lc_clk_generation_of(extra);
    uint32_t n = generation == k->l.vec.generation ? lc_clk_scenarios_of(extra) : 0;
    /* those of an earlier one are no larger than these were when they began; of a later one (a
     * reply that was sent late) it is not known what they would have been */
    k->l.vec.n_whatif_lost += generation > k->l.vec.generation && k->l.vec.n_whatif > 0;
    for (uint32_t s = 0; s < lc_clk.n_whatif && s < n; s++) {
        uint64_t theirs = lc_clk_ticks_of(extra[2 + s]);
        if (theirs > k->l.vec.whatif[s])
            LC_SHOW(k->l.vec.whatif[s], theirs);
    }
    if (!won)
        return;
    struct lc_cp_item items[LC_RECORD_ITEMS];
    memcpy(items, extra + 2 + LC_WHATIF_MAX, extra[0] * sizeof *items);
    for (uint32_t i = 0; i < extra[0]; i++)
        items[i].ticks = lc_clk_ticks_of(items[i].ticks);
    lc_cpvec_adopt_items(&k->l.vec, items, (uint32_t)extra[0], useful);
    k->l.stale = true;
}

void lc_clk_edge_far(struct lc_clk_thread *k, uint32_t source, const struct lc_stamp *stamp,
                     uint64_t now, const uint64_t *extra, uint32_t n_extra) {
    uint64_t before = k->l.useful;
    bool won = lc_logical_edge(&k->l, stamp, now);
    if (won && n_extra == 0) { /* a small step that was published without a vector */
        lc_cpvec_add(&k->l.vec, (uint64_t)source << 32 | stamp->node, stamp->useful - before);
        k->l.stale = true;
    } else if (stamp->interval == k->l.interval) {
        adopt_extra(k, extra, n_extra, won, stamp->useful);
    }
}

void lc_clk_count_unseen(uint64_t *kind) {
    if (!lc_clk.ready)
        return;
    lc_clk_lock();
    ++*kind;
    lc_clk.counts.unseen++;
    lc_clk_unlock();
}

/* ---- open edges */

/* Of a thread: edges back from the posts of receives, edges of messages and collective operations;
 * of the process: waits for posts. */
enum { POSTS_MOST = 16, ARRIVALS_MOST = 255, WAITS_MOST = 256 };

enum open_from { FROM_POST, FROM_MESSAGE, FROM_COLLECTIVE };

struct lc_open {
    struct lc_open *next;
    struct lc_clk_thread *k;
    enum open_from from;
    union {
        uint32_t seq;             /* of the message whose receive is posted */
        struct lc_stashed *item;  /* of the message */
        struct lc_shadow *shadow; /* of the collective operation */
    };
    uint32_t source;            /* the rank that it comes from */
    enum lc_measured_wait kind; /* LC_MEASURED_KINDS: no wait state is open */
    struct lc_call_end at;
    struct lc_booked *instead; /* NULL: nothing can be booked */
    /* in its thread's list: the edge is open; given up: it was, and is missing if it ever comes */
    bool listed, given_up;
    bool synchronous; /* of a post, as in struct lc_ended; else the send need not have waited */
    uint64_t bytes;
};
static struct lc_open *unused;            /* lc_clk.lock, as what follows */
static struct lc_open *waits[WAITS_MOST]; /* for posts */
static uint32_t n_waits;

static struct lc_open *open_new(void) {
    struct lc_open *o = unused;
    if (o == NULL)
        return malloc(sizeof *o);
    unused = o->next;
    return o;
}

/* Neither its edge nor its wait is open any more. */
static void free_if_closed(struct lc_open *o) {
    if (o->listed || o->instead != NULL)
        return;
    o->next = unused;
    unused = o;
}

/* Into the thread's list: posts, the oldest first, then what arrives, the latest first. */
static void list(struct lc_open *o) {
    struct lc_open **at = &o->k->open_edges;
    while (*at != NULL && (*at)->from == FROM_POST)
        at = &(*at)->next;
    o->next = *at;
    *at = o;
    o->listed = o->k->todo = true;
    ++*(o->from == FROM_POST ? &o->k->n_open_posts : &o->k->n_open_arrivals);
}

static void unlist(struct lc_open **at) {
    struct lc_open *o = *at;
    *at = o->next;
    o->listed = false;
    --*(o->from == FROM_POST ? &o->k->n_open_posts : &o->k->n_open_arrivals);
}

/* Nobody looks for the edge any more; its wait is still booked if the post becomes known. */
static void give_up(struct lc_open **at) {
    struct lc_open *o = *at;
    unlist(at);
    o->given_up = true;
    free_if_closed(o);
}

/* Room for the edge of a post: the oldest one goes, of those that need not have waited if any. */
static void give_up_oldest_post(struct lc_clk_thread *k) {
    struct lc_open **at = &k->open_edges;
    while (*at != NULL && (*at)->from == FROM_POST && (*at)->synchronous)
        at = &(*at)->next;
    if (*at == NULL || (*at)->from != FROM_POST)
        at = &k->open_edges;
    if (*at != NULL) /* there are posts: always */
        give_up(at);
}

/* Where the table is full another one goes: most have no reply, since the receive was posted before
 * the send. */
static void wait_for_post(struct lc_open *o) {
    static uint32_t victim;
    uint32_t i = n_waits < WAITS_MOST ? n_waits++ : victim++ % WAITS_MOST;
    if (waits[i] != NULL) {
        lc_clk_booked_drop(&waits[i]->instead);
        free_if_closed(waits[i]);
    }
    waits[i] = o;
}

/* It is open at the end of this call, whose wait state may have to be booked anew. */
static void set_end(struct lc_open *o, const struct lc_call *call) {
    const struct lc_logical *l = &o->k->l;
    o->at = (struct lc_call_end){.begin = call->begin,
                                 .end = call->end,
                                 .useful = l->useful,
                                 .interval = l->interval,
                                 .phase = l->phase};
    lc_logical_mark(l, &o->at.since);
    if (o->kind != LC_MEASURED_KINDS)
        o->instead = lc_clk_booked_hold(o->k, call);
}

/* The one place where a call ends before all is known that its clocks and its wait state depend on:
 * it waits for nothing, and what is not known is open. `edge`: the edge is, not only the wait.
 * False: nothing is open, for want of room, or since nothing is measured. */
static bool lc_open_edge(const struct lc_call *call, const struct lc_open *what, bool edge) {
    struct lc_clk_thread *k = what->k;
    bool post = what->from == FROM_POST;
    struct lc_open *o = NULL;
    if (k->l.interval && (post || k->n_open_arrivals < ARRIVALS_MOST))
        o = open_new();
    if (o == NULL)
        return false;
    *o = *what;
    set_end(o, call);
    if (post && o->instead != NULL)
        wait_for_post(o);
    if (post && edge && k->n_open_posts == POSTS_MOST)
        give_up_oldest_post(k);
    if (edge)
        list(o);
    else
        free_if_closed(o);
    return true;
}

void lc_clk_count_missing(uint64_t ticks) {
    lc_clk.counts.edges_late++;
    lc_clk.counts.late_useful += ticks;
    for (uint32_t s = 0; s < lc_clk.n_whatif; s++)
        lc_clk.counts.late_whatif[s] += ticks;
}

/* The edge is not made. No clock is larger than the time since the interval began. */
static void count_unknown(const struct lc_clk_thread *k, const struct lc_call *call) {
    uint64_t most = call->end > k->l.origin ? call->end - k->l.origin : 0;
    if (k->l.interval)
        lc_clk_count_missing(most > k->l.useful ? most - k->l.useful : 0);
}

/* The message shares the record of a later one from the same source: the edge is made there, with
 * the later clock. Until then this thread's clocks were too low by what that clock is ahead of them
 * now, at most. */
static bool share(const struct lc_call *call, const struct lc_open *what) {
    struct lc_clk_thread *k = what->k;
    struct lc_open *o = k->l.interval ? k->open_edges : NULL;
    while (o != NULL && (o->from != FROM_MESSAGE || o->source != what->source ||
                         o->at.interval != k->l.interval))
        o = o->next;
    if (o == NULL)
        return false;
    uint64_t useful = o->at.useful;
    lc_match_release(&lc_clk.match, o->item);
    lc_clk_booked_drop(&o->instead);
    o->item = what->item;
    o->kind = what->kind;
    set_end(o, call);
    o->at.useful = lc_min(useful, o->at.useful);
    o->at.calls = 1;
    return true;
}

void lc_clk_open_message(struct lc_clk_thread *k, const struct lc_call *call, uint32_t source,
                         struct lc_stashed *item) {
    bool waits_for_it = lc_clk.fn_class[call->fn] != LC_FN_OTHER;
    struct lc_open what = {.k = k,
                           .from = FROM_MESSAGE,
                           .item = item,
                           .source = source,
                           .kind = waits_for_it ? LC_MEASURED_LATESENDER : LC_MEASURED_KINDS};
    if (lc_open_edge(call, &what, true) || share(call, &what))
        return;
    count_unknown(k, call);
    lc_match_release(&lc_clk.match, item);
}

bool lc_clk_open_collective(struct lc_clk_thread *k, const struct lc_call *call,
                            struct lc_shadow *shadow, enum lc_measured_wait kind) {
    struct lc_open what = {
        .k = k, .from = FROM_COLLECTIVE, .shadow = shadow, .source = lc_clk.rank, .kind = kind};
    if (lc_open_edge(call, &what, true))
        return true;
    count_unknown(k, call);
    return false;
}

void lc_clk_open_post(struct lc_clk_thread *k, const struct lc_call *call,
                      const struct lc_ended *sent, bool edge, bool wait) {
    struct lc_open what = {.k = k,
                           .from = FROM_POST,
                           .seq = sent->seq,
                           .source = sent->to,
                           .kind = wait ? LC_MEASURED_LATERECEIVER : LC_MEASURED_KINDS,
                           .synchronous = sent->synchronous,
                           .bytes = sent->bytes};
    if (wait) /* so that the state of this call counts as not booked yet */
        lc_clk_candidate(k, call, LC_MEASURED_LATERECEIVER, 0, sent->to, 0);
    if (edge || wait)
        lc_open_edge(call, &what, edge);
}

/* ---- what has become known */

/* The call waited for what happened at `then` on the late rank. */
static void book(const struct lc_open *o, uint32_t rank, uint32_t node, uint64_t then) {
    if (o->instead == NULL || then <= o->at.begin || rank == lc_clk.rank)
        return;
    struct lc_candidate c = {.ticks = lc_min(then, o->at.end) - o->at.begin,
                             .kind = o->kind,
                             .late_rank = rank,
                             .late_node = node,
                             .begin = o->at.begin};
    lc_clk_book_later(o->instead, &c);
}

enum { LEARN_US = 20 }; /* shorter waits may be the time that a send takes */

/* Which standard sends to other nodes MPI buffers: those that ended before their receive was
 * posted, until one of their size has waited. */
static void learn(const struct lc_open *o, const struct lc_stamp *post) {
    if (o->bytes >= lc_clk.buffered_bytes && post->enter >= o->at.end)
        lc_clk.buffered_bytes = o->bytes + 1;
    else if (o->bytes > 0 && o->bytes < lc_clk.buffered_bytes && post->enter < o->at.end &&
             post->enter > o->at.begin + LEARN_US * lc_clk.slow_ticks)
        lc_clk.buffered_bytes = o->bytes;
}

/* The post of a receive is known: so is the wait for it. */
static void take_wait(struct lc_open *o, const struct lc_stamp *post) {
    if (lc_clk.areas[o->source].head == NULL)
        learn(o, post);
    uint64_t waited;
    if (!lc_clk_post_edge(o->source, o->synchronous, post->enter, o->at.begin, o->at.end,
                          &waited) ||
        post->enter <= o->at.begin)
        return;
    if (o->given_up && post->interval == o->at.interval && post->useful > o->at.useful)
        lc_clk_count_missing(post->useful - o->at.useful);
    book(o, o->source, post->node, post->enter);
}

static uint32_t slot_of(uint32_t rank, uint32_t seq) {
    return (rank * 131 + seq) % LC_REPLY_SLOTS;
}

const struct lc_reply_slot *lc_clk_find_reply(uint32_t rank, uint32_t seq) {
    const struct lc_reply_slot *slot = &lc_clk.replies[slot_of(rank, seq)];
    return slot->seq == seq && slot->rank == rank ? slot : NULL;
}

/* With lc_clk.lock: called while rings are read. */
void lc_clk_reply(void *user, uint32_t source, const struct lc_ring_entry *entry) {
    (void)user;
    uint32_t seq = (uint32_t)entry->tag, i = 0;
    struct lc_reply_slot *slot = &lc_clk.replies[slot_of(source, seq)];
    slot->rank = source;
    slot->seq = seq;
    slot->stamp = entry->stamp;
    if (lc_clk.areas[source].head != NULL)
        slot->n_extra = 0;
    while (i < n_waits && (waits[i]->source != source || waits[i]->seq != seq))
        i++;
    if (i == n_waits)
        return;
    struct lc_open *o = waits[i];
    take_wait(o, &entry->stamp);
    lc_clk_booked_drop(&o->instead);
    free_if_closed(o);
    waits[i] = waits[--n_waits];
    waits[n_waits] = NULL;
}

void lc_clk_reply_extra(uint32_t rank, int32_t seq, const uint64_t *extra, uint32_t n) {
    struct lc_reply_slot *slot = &lc_clk.replies[slot_of(rank, (uint32_t)seq)];
    if (slot->extra == NULL)
        slot->extra = malloc(LC_RECORD_EXTRA * sizeof *slot->extra);
    slot->n_extra = slot->extra == NULL ? 0 : n < LC_RECORD_EXTRA ? n : LC_RECORD_EXTRA;
    if (slot->n_extra > 0)
        memcpy(slot->extra, extra, slot->n_extra * sizeof *extra);
}

/* By how much the published clocks of this thread were too low, at most: by as much as the clock
 * was when the call ended, also where other edges have made up for it since. Of what-if clocks that
 * is not known, so it is taken to be as much, at least. */
static void count_late(const struct lc_logical *l, uint64_t too_low, const uint64_t *whatif) {
    bool changed = too_low > 0;
    lc_clk.counts.late_useful += too_low;
    for (uint32_t s = 0; s < l->vec.n_whatif; s++) {
        uint64_t more = l->vec.whatif[s] - whatif[s];
        changed |= more > 0;
        lc_clk.counts.late_whatif[s] += more > too_low ? more : too_low;
    }
    lc_clk.counts.edges_late += changed;
}

/* The edge is made where it belongs. */
static void edge_later(struct lc_open *o, const struct lc_stamp *stamp, const uint64_t *extra,
                       uint32_t n_extra) {
    struct lc_clk_thread *k = o->k;
    struct lc_call_end *at = &o->at;
    if (stamp->interval != at->interval || at->interval != k->l.interval)
        return;
    uint64_t whatif[LC_WHATIF_MAX];
    memcpy(whatif, k->l.vec.whatif, sizeof whatif);
    if (at->phase != k->l.phase) /* the edge ends outside this phase */
        at->since.phase_own = k->l.phase_own;
    lc_logical_rewind(&k->l, &at->since);
    uint64_t before = k->l.useful;
    lc_clk_edge(k, o->source, stamp, at->end, extra, n_extra);
    lc_logical_forward(&k->l, &at->since, k->l.useful > before, k->done, k->n_done);
    if (at->calls > 0)
        count_late(&k->l, stamp->useful > at->useful ? stamp->useful - at->useful : 0, whatif);
}

bool lc_clk_waits_for_posts(void) {
    return n_waits > 0;
}

enum outcome { STAYS, MADE, GIVEN_UP };

static enum outcome look_for_post(struct lc_open *o) {
    enum { LOOKS = 4, CALLS = 64 }; /* looks into ring or network; calls that it is remembered */
    const struct lc_reply_slot *reply = lc_clk_find_reply(o->source, o->seq);
    if (reply == NULL && (o->at.calls < LOOKS || (o->synchronous && lc_clk.backlog))) {
        lc_match_drain(&lc_clk.match, o->source);
        reply = lc_clk_find_reply(o->source, o->seq);
    }
    if (reply == NULL)
        return ++o->at.calls < (o->synchronous ? CALLS : LOOKS) ? STAYS : GIVEN_UP;
    uint64_t waited;
    if (lc_clk_post_edge(o->source, o->synchronous, reply->stamp.enter, o->at.begin, o->at.end,
                         &waited))
        edge_later(o, &reply->stamp, reply->extra, reply->n_extra);
    return MADE;
}

static enum outcome look_for_message(struct lc_open *o) {
    if (o->item->pending)
        return STAYS;
    struct lc_stamp stamp = o->item->entry.stamp;
    edge_later(o, &stamp, o->item->extra, o->item->n_extra);
    book(o, o->source, stamp.node, stamp.enter);
    lc_match_release(&lc_clk.match, o->item);
    return MADE;
}

static enum outcome look_for_collective(struct lc_open *o) {
    struct lc_shadow_edge e;
    if (!lc_clk_shadow_arrived(o->shadow))
        return STAYS;
    if (lc_clk_shadow_edge(o->shadow, o->at.end, &e)) {
        edge_later(o, &e.stamp, e.extra, LC_RECORD_EXTRA);
        book(o, e.rank, e.node, e.release);
    }
    lc_clk_shadow_release(o->shadow);
    return MADE;
}

static enum outcome look_for(struct lc_open *o) {
    if (o->from == FROM_POST)
        return look_for_post(o);
    o->at.calls++; /* this one has begun */
    enum outcome outcome = o->from == FROM_MESSAGE ? look_for_message(o) : look_for_collective(o);
    if (outcome == MADE)
        lc_clk_booked_drop(&o->instead);
    return outcome;
}

void lc_clk_open_edges_take(struct lc_clk_thread *k) {
    lc_clk_lock();
    for (struct lc_open **at = &k->open_edges, *o; (o = *at) != NULL;) {
        enum outcome outcome = look_for(o);
        if (outcome == STAYS) {
            at = &o->next;
        } else if (outcome == GIVEN_UP) {
            give_up(at);
        } else {
            unlist(at);
            free_if_closed(o);
        }
    }
    lc_clk_unlock();
}
