/* Which entry belongs to which receive. MPI matches per (communicator, source, tag) in the order in
 * which receives are posted, but they complete in any order; so an entry is found by position: the
 * number of open receives posted earlier that belong to the same stream. Nouns: match_types.h.
 *
 * Invariants: the stash plus the unread ring is the source's stream of entries in order, each at
 * most once. Never waits. Used by one process for all its receives, by several threads in turn (the
 * caller holds a lock). */
#ifndef LC_PIGGYBACK_MATCH_H
#define LC_PIGGYBACK_MATCH_H

#include "piggyback/match_types.h"

/* n_sources: ranks of the world. calls and user stay the caller's. LC_ERR_NOMEM: nothing to free.
 */
enum lc_err lc_match_init(struct lc_matcher *match, uint32_t n_sources,
                          const struct lc_match_calls *calls, void *user);
/* What it holds itself; receives that are still open stay the caller's. */
void lc_match_free(struct lc_matcher *match);

/* A receive becomes open (after it was posted) and leaves the list (completed, cancelled, freed).
 */
static inline bool lc_recv_has_wildcard(const struct lc_recv *recv) {
    return recv->source == LC_ANY || recv->tag == LC_ANY;
}

/* Cold halves: with a wildcard; where the streams of the source keep theirs, or shall. */
void lc_match_open_wildcard(struct lc_matcher *match, struct lc_recv *recv);
void lc_match_close_wildcard(struct lc_matcher *match, struct lc_recv *recv);
void lc_match_opened(struct lc_matcher *match, struct lc_source *s, struct lc_recv *recv);
void lc_match_closed(struct lc_matcher *match, struct lc_source *s, struct lc_recv *recv);

static inline void lc_match_open(struct lc_matcher *match, struct lc_recv *recv) {
    if (__builtin_expect(lc_recv_has_wildcard(recv), 0)) {
        lc_match_open_wildcard(match, recv);
        return;
    }
    struct lc_source *s = &match->sources[recv->source];
    recv->next = NULL;
    recv->previous = s->last;
    *(s->last ? &s->last->next : &s->first) = recv;
    s->last = recv;
    s->n_open++;
    recv->open = true;
    recv->place.count = 0;
    if (__builtin_expect(s->n_open > LC_MATCH_OPEN_SCAN || s->counted, 0))
        lc_match_opened(match, s, recv);
}

/* Of a receive whose wildcard is known by now (lc_match_take), `source` and `tag` are those of its
 * message. */
static inline void lc_match_close(struct lc_matcher *match, struct lc_recv *recv) {
    if (!recv->open)
        return;
    if (__builtin_expect(lc_recv_has_wildcard(recv), 0)) {
        lc_match_close_wildcard(match, recv);
        return;
    }
    struct lc_source *s = &match->sources[recv->source];
    *(recv->previous ? &recv->previous->next : &s->first) = recv->next;
    *(recv->next ? &recv->next->previous : &s->last) = recv->previous;
    s->n_open--;
    recv->open = false;
    if (__builtin_expect(s->counted, 0))
        lc_match_closed(match, s, recv);
}

/* An entry that came as message, in order per source. */
void lc_match_add(struct lc_matcher *match, uint32_t source, const struct lc_ring_entry *entry,
                  const uint64_t *extra, uint32_t n_extra);

/* How many messages of the stream that have not been read from the ring go to receives that are
 * open already; LC_POSTS_UNSURE: not known, or as many. */
uint32_t lc_match_ahead(struct lc_matcher *match, uint32_t source, uint32_t context, int32_t tag);

/* Cold halves. */
const struct lc_ring_entry *lc_match_take_slow(struct lc_matcher *match, uint32_t source,
                                               uint32_t context, int32_t tag, uint64_t order,
                                               uint32_t bytes);
const struct lc_ring_entry *lc_match_look_slow(struct lc_matcher *match, uint32_t source,
                                               uint32_t context, int32_t tag);

/* As lc_match_take, where entries may come after their messages: the place is taken now, the entry
 * is there when `pending` is false. To be released; NULL: no memory. */
struct lc_stashed *lc_match_claim(struct lc_matcher *match, uint32_t source, uint32_t context,
                                  int32_t tag, uint64_t order, uint32_t bytes);
/* Releases an item; one that is still pending is given up. NULL: nothing. */
void lc_match_release(struct lc_matcher *match, struct lc_stashed *item);

/* The first entry of a stream that has no receives of the program's own (context of a window), for
 * this source's next call; NULL: not there within `looks` looks (-1: only what was read before). */
const struct lc_stashed *lc_match_take_from(struct lc_matcher *match, uint32_t source,
                                            uint32_t context, int32_t tag, int looks);

/* Reads everything that is there of this source: replies go to `reply`, entries to the stash. */
void lc_match_drain(struct lc_matcher *match, uint32_t source);

/* Takes the entry of a receive (no longer open) that got a message of (source, context, tag);
 * `order` is its own. NULL: absent. The entry is valid until the next call for this source. */
static inline const struct lc_ring_entry *lc_match_take(struct lc_matcher *match, uint32_t source,
                                                        uint32_t context, int32_t tag,
                                                        uint64_t order, uint32_t bytes) {
    struct lc_source *s = &match->sources[source];
    if (__builtin_expect(
            !s->n_open && !match->n_wildcards && !s->n_stash && !s->n_void_keys && !s->taken, 1)) {
        struct lc_ring_entry *entry = lc_ring_peek(&s->ring);
        if (__builtin_expect(entry && entry->tag == tag && entry->bytes == bytes &&
                                 atomic_load_explicit(&entry->context, memory_order_relaxed) ==
                                     context,
                             1)) {
            lc_ring_advance(&s->ring);
            match->counts.taken++;
            return entry;
        }
    }
    return lc_match_take_slow(match, source, context, tag, order, bytes);
}

/* The entry that a receive about to be posted (exact source and tag, not yet open) will get, if its
 * sender has entered already. */
static inline const struct lc_ring_entry *lc_match_look(struct lc_matcher *match, uint32_t source,
                                                        uint32_t context, int32_t tag) {
    struct lc_source *s = &match->sources[source];
    if (__builtin_expect(!s->n_open && !match->n_wildcards && !s->n_stash, 1)) {
        struct lc_ring_entry *entry = lc_ring_peek(&s->ring);
        if (!entry && !s->messages)
            return NULL;
        if (entry && entry->tag == tag &&
            atomic_load_explicit(&entry->context, memory_order_relaxed) == context)
            return entry;
    }
    return lc_match_look_slow(match, source, context, tag);
}

#endif
