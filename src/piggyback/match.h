/* Which entry belongs to which receive. MPI matches per (communicator, source, tag) in the order in
 * which receives are posted, but they complete in any order; so an entry is found by position: the
 * number of open receives posted earlier that belong to the same stream. Nouns: match_types.h.
 *
 * Parts, each using those below it only
 *   pending_entries  claims the place of an entry that has not arrived
 *   match            takes the entry of a receive
 *   arrivals         an entry that is read: to its pending place, or to the stash
 *   open_receives    which receives are open, and how many of a stream were posted before one
 *   streams          the stash: entries that were passed over, by stream
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

/* An entry that came as message, in order per source. */
void lc_match_add(struct lc_matcher *match, uint32_t source, const struct lc_ring_entry *entry,
                  const uint64_t *extra, uint32_t n_extra);

/* How many messages of the stream that have not been read from the ring go to receives that are
 * open already; LC_POSTS_UNSURE: not known, or as many. */
uint32_t lc_match_ahead(struct lc_matcher *match, uint32_t source, uint32_t context, int32_t tag);

/* The cold half of lc_match_take: everything but the next entry of a ring that nobody else can
 * have. NULL: absent; the entry is valid until the next call for this source. */
const struct lc_ring_entry *lc_match_take_slow(struct lc_matcher *match, uint32_t source,
                                               uint32_t context, int32_t tag, uint64_t order,
                                               uint32_t bytes);
/* The cold half of lc_match_look. NULL: not there, or not certain. */
const struct lc_ring_entry *lc_match_look_slow(struct lc_matcher *match, uint32_t source,
                                               uint32_t context, int32_t tag);

/* The first entry of a stream that has no receives of the program's own (context of a window), for
 * this source's next call; NULL: not there within `looks` looks (-1: only what was read before). */
const struct lc_stashed *lc_match_take_from(struct lc_matcher *match, uint32_t source,
                                            uint32_t context, int32_t tag, int looks);

/* The k-th entry (from 0) of the stream, after so many looks (0: of what is there); it stays there.
 * NULL: not there. */
struct lc_stashed *lc_match_nth(struct lc_matcher *match, uint32_t source, uint32_t context,
                                int32_t tag, uint32_t k, int looks);
/* The next one of its stream from `item` on that has so many bytes; counts a mispairing, and drops
 * what was passed over too often. NULL: not there. */
struct lc_stashed *lc_match_fitting(struct lc_matcher *match, uint32_t source,
                                    struct lc_stashed *item, uint32_t bytes);

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
