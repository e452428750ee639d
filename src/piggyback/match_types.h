/* What the matcher (match.h) keeps. MPI matches per (communicator, source, tag) in the order in
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
 *   pending    an entry that belongs to a receive but has not arrived: its place in the stream is
 *              kept, and the stream's next entry is put there (pending_entries.c). */
#ifndef LC_PIGGYBACK_MATCH_TYPES_H
#define LC_PIGGYBACK_MATCH_TYPES_H

#include "piggyback/order_tree.h"
#include "piggyback/posts.h"

#define LC_ANY INT32_MIN          /* any tag; any source */
enum { LC_MATCH_OPEN_SCAN = 32 }; /* receives, or entries, that are looked at one by one */
enum { LC_ANY_BYTES = -1 };       /* of a message whose size is not known */
enum { LC_STASH_ROOM = 128 };     /* words that a pending entry may bring */
#define LC_GIVEN_UP UINT32_MAX    /* `passed` of a pending place that nobody wants any more */

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

/* What is told of an entry to somebody who does not take it. */
struct lc_glance {
    struct lc_stashed *item; /* not there yet; NULL: what follows is known */
    uint64_t enter;          /* of the call that sends */
    uint32_t node;           /* that the sender was in */
};

static inline void lc_glance_fill(struct lc_glance *glance, const struct lc_ring_entry *entry) {
    *glance = (struct lc_glance){.enter = entry->stamp.enter, .node = entry->stamp.node};
}

struct lc_stream;
struct lc_stashed {
    struct lc_stashed *next, *previous;
    struct lc_stream *stream;
    struct lc_order_node place; /* in its stream, where that is indexed */
    /* in the ring, to see that it was made void; NULL for entries that came as messages */
    struct lc_ring_entry *origin;
    struct lc_ring_entry entry;
    uint32_t passed;          /* how often a mismatch passed over it */
    bool pending;             /* not there yet */
    bool claimed;             /* by a receive; else one posted before it will claim it */
    bool roomy;               /* there is room for LC_STASH_ROOM words */
    uint32_t wanted;          /* pending: bytes of the message */
    struct lc_glance *glance; /* pending: to be told when it arrives; or NULL */
    uint32_t n_extra;
    uint64_t extra[]; /* what came with the entry (transport by messages): a vector */
};

struct lc_stream { /* what is stashed of a stream, or open; not kept when nothing is */
    struct lc_stream *next;
    struct lc_stashed *first, *last;
    uint32_t context;
    int32_t tag;
    uint32_t n_items;                          /* stashed */
    bool indexed;                              /* they are in `items` too */
    uint64_t arrived;                          /* entries so far: the next one's key */
    struct lc_order_node *items;               /* by arrival */
    struct lc_stashed *pending, *last_pending; /* those not there yet, in order */
    uint32_t n_unclaimed;                      /* of these */
    struct lc_order_node *open; /* exact receives by order, while the source counts them */
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
    struct lc_stashed *spare, *spare_roomy; /* free lists; of plain entries, with room for words */
    struct lc_stream *spare_streams;
    const struct lc_match_calls *calls;
    void *user;
    struct lc_match_counts counts;
};

#endif
