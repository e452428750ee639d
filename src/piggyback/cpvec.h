/* Which call paths the critical path spent its time in: a bounded vector that belongs to a thread's
 * clock of useful time. Where another clock wins a maximum its vector wins whole (Hollingsworth
 * 1996).
 *
 * Nouns
 *   item     (rank, node of its call tree) and ticks
 *   what-if  clocks of useful time that counts other than it took, one per scenario; they take
 *            their own maxima. Their versions are kept in a circle of their own, much larger: 64
 *            bytes each
 *   generation  of what-if clocks: all ranks begin others at the same point, where all have waited
 *            for each other; edges count between clocks of one generation. Where clocks lag behind
 *            the program, some ranks come to that point earlier than others
 *   recent   what was added since the items were taken over or published; folded into the items
 *            when it is full or asked for
 *   outer    an item that also has the ticks of code inside of its node, as far as that had to
 *            leave the vector: its key has LC_CP_OUTER
 *   other    ticks of items that had to leave the vector and have no outer node, or were lost on
 *            the way
 *   counts   what the processor and the kernel counted on the path (--counters): goes with the
 *            vector that wins, between ranks that share memory
 *   version  a copy of the vector as it was at a send, in the sender's area, named by a number that
 *            travels in the stamp; a small circle of them, so that nobody waits: a reader that
 *            finds its version overwritten takes the latest one, scaled to its clock
 *
 *   unknown  an item of ticks of which it was not noted where they were spent, as that costs too
 *            much (lc_logical.lot); at the end they are spread over what was added meanwhile
 *
 *   delta    a version that says what was added to a whole one, of any rank of the node: most of
 *            the time few items change between two sends, and ranks that take turns add to the
 *            same whole version. Not where what-if clocks or counts go with versions
 *
 * Invariant: items + recent + other = the clock it belongs to; where `base` is not 0, items + other
 * are that whole version. While the same version of the same thread wins again and again (two ranks
 * that take turns) only `recent` is set: nothing is read.
 * Owner: one thread; versions are read by all ranks of the node. */
#ifndef LC_PIGGYBACK_CPVEC_H
#define LC_PIGGYBACK_CPVEC_H

#include "base/choose.h"
#include "piggyback/ring.h"

/* Writes a word of a thread's clocks that another thread may look at meanwhile (begin_as_first in
 * measure/clocks/new_threads.c): it is there whole, and orders nothing. */
#define LC_SHOW(word, value) __atomic_store_n(&(word), (value), __ATOMIC_RELAXED)

enum {
    LC_CP_ITEMS = 64,
    LC_CP_VERSIONS = 64,
    LC_CP_HINTS = 64,
    LC_CP_DELTA = 15,  /* items: a delta is four lines */
    LC_CP_RECENT = 16, /* with what the sender worked since */
    LC_CP_DELTAS = 64,
    LC_CP_BORROWED =
        16, /* deltas to a version of another thread, which may overwrite it, in a row */
    LC_WHATIF_MAX = 6,
    LC_CP_COUNTS = 5,           /* counters */
    LC_WHATIF_VERSIONS = 16384, /* of a process' first thread */
    LC_WHATIF_VERSIONS_FEW = 1024
};

#define LC_CP_OUTER   (1ull << 63)
#define LC_CP_UNKNOWN (LC_CP_OUTER - 1) /* no rank has such a node */
#define LC_CP_SINCE   (1u << 31)        /* in a stamp's version: its thread has worked since */

struct lc_cp_item {
    uint64_t key; /* rank << 32 | node, LC_CP_OUTER */
    uint64_t ticks;
};

struct lc_cp_version {        /* in the area; head is one line */
    _Atomic uint32_t version; /* 0 while it is written */
    uint32_t n;
    uint64_t other;
    uint64_t counts[LC_CP_COUNTS];
    struct lc_cp_item items[LC_CP_ITEMS];
};

struct lc_cp_delta {
    _Atomic uint32_t version; /* 0 while it is written */
    uint32_t base, base_rank; /* the whole version */
    uint32_t n;
    struct lc_cp_item items[LC_CP_DELTA];
};
_Static_assert(sizeof(struct lc_cp_delta) == 256, "four lines");

struct lc_whatif_version {
    _Atomic uint32_t version; /* 0 while it is written */
    uint32_t generation;      /* of the clocks */
    uint64_t clocks[LC_WHATIF_MAX];
    uint64_t unused_too;
};

struct lc_cp_circle {        /* of one thread, in the area */
    _Atomic uint32_t latest; /* whole version */
    uint32_t n_whatif;       /* versions of what-if clocks, a power of two */
    uint64_t whatif;         /* their offset in the area; 0: none */
    /* generation << 32 | version: those before belong to generations before, or have no clocks */
    _Atomic uint64_t whatif_since;
    uint32_t unused[10];
    struct lc_cp_delta deltas[LC_CP_DELTAS];
    struct lc_cp_version versions[LC_CP_VERSIONS];
};

struct lc_cpvec { /* what nearly each event touches stands first */
    uint32_t n;
    uint32_t n_recent;
    uint32_t base;    /* items and other are this whole version of `base_of`; 0: of none */
    uint32_t borrows; /* deltas to it that may still be published */
    uint32_t n_whatif;
    uint32_t generation; /* of these clocks: how often they have begun */
    bool counting; /* counters go with the vector: no version of another thread is only continued */
    bool tagged;   /* else tags are not those of the items */
    uint64_t other;
    const struct lc_area *base_of;
    uint64_t base_sum;                   /* and belong to this clock */
    struct lc_cp_circle *circle;         /* NULL: nothing is published */
    const struct lc_area *mine;          /* NULL: nobody reads what is published */
    uint32_t next, next_delta;           /* versions to publish next */
    struct lc_whatif_version *published; /* of the what-if clocks, or NULL */
    const struct lc_area *areas;         /* by rank: outer nodes; NULL: not known */
    uint32_t n_areas;
    uint32_t thread; /* index in the area's table of circles */
    /* clocks of the what-if scenarios; winners of their own maxima */
    uint64_t whatif[LC_WHATIF_MAX];
    uint64_t counts[LC_CP_COUNTS];
    uint64_t n_overwritten, n_whatif_lost; /* versions that came too late to be read */
    uint64_t tags[LC_CP_ITEMS / 8];        /* a byte of each key's hash */
    uint8_t hints[LC_CP_HINTS];            /* by node: index of an item that may be it */
    struct lc_cp_item recent[LC_CP_RECENT];
    struct lc_cp_item items[LC_CP_ITEMS];
};

/* thread < LC_AREA_THREADS; others publish nothing. mine NULL: nobody reads what is published, but
 * what-if clocks are kept (lc_cpvec_whatif_then). */
void lc_cpvec_init(struct lc_cpvec *vec, struct lc_area *mine, uint32_t thread, uint32_t n_whatif);
/* As lc_cpvec_init, in the circle of a thread that has ended and publishes no more: versions that
 * it published stay where they are, and this thread's follow them. */
void lc_cpvec_init_after(struct lc_cpvec *vec, struct lc_cpvec *ended, uint32_t n_whatif);
/* Room for what-if clocks that begin later; false: no memory. mine: as in lc_cpvec_init. */
bool lc_cpvec_whatif_room(struct lc_cpvec *vec, struct lc_area *mine);
/* n what-if clocks (0: none) from now on: edges of earlier versions do not count in them. All ranks
 * do so at the same point, when they have waited for each other. */
void lc_cpvec_whatif_begin(struct lc_cpvec *vec, uint32_t n);
struct lc_cp_kept {
    struct lc_cp_item items[LC_CP_ITEMS];
    uint32_t n;
};
/* The items as they are. */
void lc_cpvec_keep(struct lc_cpvec *vec, struct lc_cp_kept *kept);
/* Spreads the ticks of which it is not known where they were spent over the items, in proportion to
 * what these have more than in `kept`; returns how many ticks that is. */
uint64_t lc_cpvec_spread(struct lc_cpvec *vec, const struct lc_cp_kept *kept);
/* Forgets all items; what-if clocks stay. */
void lc_cpvec_forget(struct lc_cpvec *vec);
/* Forgets all items and what-if clocks. */
void lc_cpvec_clear(struct lc_cpvec *vec);
/* Items that have to leave are added to the node further out that stands for them, as the areas of
 * their ranks say (lc_area_outer). */
void lc_cpvec_know(struct lc_cpvec *vec, const struct lc_area *areas, uint32_t n_areas);

/* Items hold all; needed before they are looked at. */
void lc_cpvec_fold(struct lc_cpvec *vec);

/* Adds ticks to a key (slow: one that is not among the recent ones). */
void lc_cpvec_add_slow(struct lc_cpvec *vec, uint64_t key, uint64_t ticks);
static inline void lc_cpvec_add(struct lc_cpvec *vec, uint64_t key, uint64_t ticks) {
    for (uint32_t i = 0; i < vec->n_recent; i++)
        if (vec->recent[i].key == key) {
            vec->recent[i].ticks += ticks;
            return;
        }
    lc_cpvec_add_slow(vec, key, ticks);
}

/* Publishes the vector as it is; the number for the stamp, 0: none. */
uint32_t lc_cpvec_publish(struct lc_cpvec *vec);

/* Takes over the vector that a stamp of another thread names. What the thread worked since it
 * published belongs to where it was last. */
void lc_cpvec_adopt_slow(struct lc_cpvec *vec, const struct lc_area *theirs,
                         const struct lc_stamp *stamp);

/* Does the stamp name the version that the items are already? */
static inline bool lc_cpvec_continues(const struct lc_cpvec *vec, const struct lc_area *theirs,
                                      const struct lc_stamp *stamp) {
    return vec->base != 0 && stamp->vector == vec->base && theirs == vec->base_of &&
           stamp->useful >= vec->base_sum;
}
/* Then it is taken over without reading it; `won` false: nothing changes (and no branch). */
static inline void lc_cpvec_continue(struct lc_cpvec *vec, const struct lc_area *theirs,
                                     const struct lc_stamp *stamp, bool won) {
    uint64_t key = (uint64_t)theirs->head->rank << 32 | stamp->node;
    uint64_t ticks = stamp->useful - vec->base_sum;
    uint64_t mask = lc_mask(won);
    vec->n_recent = (uint32_t)lc_choose(mask, 1, vec->n_recent);
    vec->recent[0].key = lc_choose(mask, key, vec->recent[0].key);
    vec->recent[0].ticks = lc_choose(mask, ticks, vec->recent[0].ticks);
}
/* Takes the n items that a rank of another node sent. */
void lc_cpvec_adopt_items(struct lc_cpvec *vec, const struct lc_cp_item *items, uint32_t n,
                          uint64_t useful);
/* The what-if clocks of the thread itself when it published a version, and their generation; false:
 * not there any more. */
bool lc_cpvec_whatif_then(const struct lc_cpvec *vec, uint32_t version, uint64_t *clocks,
                          uint32_t *generation);
/* The first n what-if clocks of a version, and their generation; false: it has none, or they are
 * gone. */
bool lc_cpvec_whatif_read(const struct lc_area *theirs, uint32_t version, uint32_t n,
                          uint64_t *clocks, uint32_t *generation);
/* Maxima of the what-if clocks with these. */
static inline void lc_cpvec_whatif_take(struct lc_cpvec *vec, const uint64_t *clocks) {
    for (uint32_t i = 0; i < vec->n_whatif; i++)
        if (clocks[i] > vec->whatif[i])
            LC_SHOW(vec->whatif[i], clocks[i]);
}
/* Maxima of the what-if clocks with those of a version; counts it where they are not there any more
 * (the other is LC_WHATIF_VERSIONS ahead). */
void lc_cpvec_whatif(struct lc_cpvec *vec, const struct lc_area *theirs, uint32_t version);

/* The largest items first, at most `room`; returns their number. */
uint32_t lc_cpvec_pack(struct lc_cpvec *vec, struct lc_cp_item *items, uint32_t room);

#endif
