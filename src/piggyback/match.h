/* Which entry belongs to which receive. MPI matches per (communicator, source, tag) in the order in
 * which receives are posted, but they complete in any order; so an entry is found by position: the
 * number of open receives posted earlier that belong to the same stream.
 *
 * Nouns
 *   stream     messages of one source with one (context, tag)
 *   open       a receive that was posted and is not complete
 *   stash      entries of a source that were passed over, by stream and in order; so rings are
 *              always read in order
 *   wildcard   a receive with any source or any tag: which stream it belongs to is only known when
 *              it is matched
 *   absent     no entry where one should be
 *   unsure     which stream an earlier wildcard receive belongs to could not be found out
 *   mispaired  sizes differ
 *
 * Invariants: the stash plus the unread ring is the source's stream of entries in order, each at
 * most once. Never waits. Used by one process for all its receives, by several threads in turn (the
 * caller holds a lock). */
#ifndef LC_PIGGYBACK_MATCH_H
#define LC_PIGGYBACK_MATCH_H

#include "piggyback/order_tree.h"
#include "piggyback/posts.h"

#define LC_ANY INT32_MIN          /* any tag; any source */
enum { LC_MATCH_OPEN_SCAN = 32 }; /* receives, or entries, that are looked at one by one */
enum { LC_ANY_BYTES = -1 };       /* of a message whose size is not known */

struct lc_recv {
    struct lc_recv *next, *previous;
    int32_t source; /* world rank or LC_ANY */
    int32_t tag;    /* or LC_ANY */
    uint32_t context;
    uint32_t node;
    uint64_t order;       /* ascending in post order */
    struct lc_stamp post; /* clocks of this thread when it was posted; enter: the time */
    void *owner;          /* whatever `status` needs */
    bool open;
    struct lc_order_node place; /* among the receives of its stream, where streams keep theirs */
};

struct lc_stream;
struct lc_stashed {
    struct lc_stashed *next, *previous;
    struct lc_stream *stream;
    struct lc_order_node place; /* in its stream, where that is indexed */
    /* in the ring, to see that it was made void; NULL for entries that came as messages */
    struct lc_ring_entry *origin;
    struct lc_ring_entry entry;
    uint32_t passed; /* how often a mismatch passed over it */
    uint32_t n_extra;
    uint64_t extra[]; /* what came with the entry (transport by messages): a vector */
};

struct lc_stream { /* what is stashed of a stream, or open; not kept when nothing is */
    struct lc_stream *next;
    struct lc_stashed *first, *last;
    uint32_t context;
    int32_t tag;
    uint32_t n_items;            /* stashed */
    bool indexed;                /* they are in `items` too */
    uint64_t arrived;            /* entries so far: the next one's key */
    struct lc_order_node *items; /* by arrival */
    struct lc_order_node *open;  /* exact receives by order, while the source counts them */
};

/* Open receives of one pattern with a wildcard, in post order; not kept when there is none. */
struct lc_pattern {
    struct lc_pattern *next;
    struct lc_recv *first, *last;
    uint32_t context;
    int32_t source, tag; /* one of them LC_ANY */
};

struct lc_source {
    struct lc_ring_in ring;
    struct lc_posts posts;        /* receives of this source, for its senders */
    struct lc_recv *first, *last; /* open receives that belong to it, in no order */
    struct lc_stream **streams;   /* hash table of n_buckets, a power of two */
    struct lc_stashed *taken;     /* the stash's entry that lc_match_take returned last */
    uint32_t n_open, n_stash;     /* receives, entries */
    uint32_t n_streams, n_buckets;
    uint32_t seen_voids; /* of the ring: entries of cancelled sends that were looked for */
    uint32_t n_void_keys,
        cap_void_keys;   /* entries that were absent and are void when they come late */
    uint64_t *void_keys; /* context << 32 | tag */
    bool messages;       /* entries come as messages: `pull` */
    bool counted;        /* streams keep their open receives: many are open, or one that had a
                            wildcard is matched */
};

/* What the matcher asks its user. */
struct lc_match_calls {
    /* Has this open wildcard receive been matched, and with what? 1 yes (source, tag set), 0 no. */
    int (*status)(void *user, const struct lc_recv *recv, int32_t *source, int32_t *tag);
    /* Fetch the next that has arrived from a source without ring, with lc_match_add; false:
     * nothing.
     */
    bool (*pull)(void *user, uint32_t source);
    /* An entry with LC_CONTEXT_REPLY was read. */
    void (*reply)(void *user, uint32_t source, const struct lc_ring_entry *entry);
};

struct lc_match_counts {
    uint64_t taken, absent, unsure, mispaired, void_entries, late;
};

struct lc_matcher {
    struct lc_source *sources; /* by world rank */
    uint32_t n_sources;
    uint32_t n_wildcards;         /* open, and not known to be matched */
    struct lc_pattern **patterns; /* hash table of n_pattern_buckets, a power of two */
    uint32_t n_patterns, n_pattern_buckets;
    struct lc_pattern *spare_patterns;
    struct lc_stashed *spare; /* free lists; of plain entries */
    struct lc_stream *spare_streams;
    const struct lc_match_calls *calls;
    void *user;
    struct lc_match_counts counts;
};

enum lc_err lc_match_init(struct lc_matcher *match, uint32_t n_sources,
                          const struct lc_match_calls *calls, void *user);
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

/* The first entry of a stream that has no receives of the program's own (context of a window), for
 * this source's next call; NULL: not there within `looks` looks. */
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
