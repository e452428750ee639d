/* The call-path cache: entries, the paths they stand for, and the cold half of the look-up
 * (entry.c), the hot half, and the memory of entries (entries.c). */
#ifndef LC_MEASURE_CALLPATH_ENTRY_H
#define LC_MEASURE_CALLPATH_ENTRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/hash.h"
#include "measure/unwind/walk.h" /* struct lc_check */
#include "format/state.h"
#include "measure/callpath/python_stack.h"
#include "measure/core/core.h"
#include "measure/core/thread.h"

struct lc_loop;

/* What a remembered path keeps of each function and region on it: 16 bytes. */
struct lc_item {
    uint32_t activation; /* lc_activation */
    /* address in the function's file from which the next one was called; of Python its line, and in
     * the bits above which of the calls in that line (lc_site_in_line); regions: 0 */
    uint32_t site;
    uint32_t node; /* of the call tree */
    uint32_t region;
};
#define LC_ACTIVATION_UNKNOWN 0u         /* was not seen: never the same as another */
#define LC_SITE_UNKNOWN       UINT32_MAX /* generated code; a file of more than 4 GiB */

enum { LC_LINE_BITS = 20 };
/* line 0: unknown. Calls of one line have different sites unless a multiple of 8 KiB of code is
 * between them. */
static inline uint32_t lc_site_in_line(uint32_t line, uint64_t instruction) {
    uint32_t call = (uint32_t)(instruction >> 1) << LC_LINE_BITS;
    return line == 0 || line >> LC_LINE_BITS != 0 ? LC_SITE_UNKNOWN : call | line;
}

/* Which activation of a function it is: the place of its return address on the stack, and that
 * address (regions: serial of the entry that began it, 0). Different ones of the same node have
 * different numbers if their places or their addresses are equal; else but for one in 2^32. */
static inline uint32_t lc_activation(uint64_t slot, uint64_t value) {
    uint32_t number = (uint32_t)slot ^ lc_hash_key32((uint32_t)value);
    return number != LC_ACTIVATION_UNKNOWN ? number : 1;
}

enum { LC_CHECKS_AT_ONCE = 4 };
enum { LC_PATH_ROWS = 6 };

struct lc_row_ref {
    struct lc_state_row *row;
    uint32_t key; /* size class | flags << 8 | members of the communicator << 16 */
};

/* 0: no bytes, else 1 + floor(log2(bytes)). */
static inline uint32_t lc_size_class(uint64_t bytes) {
    return bytes == 0 ? 0 : 64u - (uint32_t)__builtin_clzll(bytes);
}

struct lc_path {
    struct lc_path *next; /* same hash */
    uint32_t node;        /* dense id in this process, index of the state's node table */
    uint32_t fn;          /* enum lc_fn, LC_FN_COUNT: a region */
    uint32_t n_rows;
    uint32_t n_more;
    struct lc_row_ref rows[LC_PATH_ROWS];
    struct lc_row_ref *more; /* beyond LC_PATH_ROWS */
    void *clocks;            /* per path data of the hooks, NULL at first */
    void *trace;
};

struct lc_entry {
    struct lc_entry *next; /* same hash */
    uint64_t ra, frame;    /* key: return address and frame address of the wrapper */
    uint64_t fn_ctx;       /* key: function | regions << 32 */
    uint16_t n_checks;     /* a multiple of LC_CHECKS_AT_ONCE: the last one is repeated */
    uint16_t n_items; /* from the root to the caller (MPI calls), to the region itself (regions) */
    /* items that ran until this event: n_items, at the begin of a region one less */
    uint16_t n_current;
    uint16_t n_previous; /* items that run after it: n_items, at the end of a region one less */
    struct lc_path *path;
    struct lc_item *items;     /* after the checks */
    struct lc_entry *follower; /* of the next event, the last time that it was looked for */
    /* the last two transitions: where the time since the previous event belongs */
    struct lc_entry *previous[2];
    struct lc_state_row *gap_row[2];
    uint64_t gap_ticks[2];  /* time since the previous event, not yet in the thread's sites */
    uint32_t gap_common[2]; /* leading items of the same activation in both */
    uint32_t gap_node[2];
    struct lc_loop *gap_loop[2]; /* of which it is a visit (loops.h); NULL: of none */
    uint32_t serial;             /* unique per thread; context of what happens inside a region */
    bool pass;                   /* made by a language binding for itself: not the program's call */
    bool transient;              /* of a path that cannot be kept: overwritten soon */
    bool cut;                    /* the budget left out all but the caller (budget.h) */
    bool used;                   /* by callpath/entries.c */
    struct lc_check checks[];
};

_Static_assert(sizeof(struct lc_item) == 16 && sizeof(struct lc_check) == 12 &&
                   sizeof(struct lc_entry) == 152,
               "call paths are to be small");

/* Entries that it points to are about to go. */
static inline void lc_entry_forget_others(struct lc_entry *entry) {
    entry->previous[0] = entry->previous[1] = entry->follower = NULL;
}

/* The cold half of the look-up: searches, else unwinds and makes the entry; never NULL. The
 * thread's cache owns the entry. */
struct lc_entry *lc_entry_cold(struct lc_thread *t, uint64_t fn_ctx, uint64_t ra, uint64_t frame);
/* The path of all calls from the place of this entry's: "..." and the function that calls MPI, or
 * begins the region. The entry was made by this thread. */
struct lc_path *lc_path_of_caller(struct lc_thread *t, const struct lc_entry *entry);
/* Remembers in the entry how many leading activations it shares with the thread's last one, and the
 * row of the time between them. */
void lc_entry_transition(struct lc_thread *t, struct lc_entry *entry);
/* The time before this call, which was booked just now on the innermost function that both calls
 * have in common, and from now on the time between these two, is that of `node`, a function around
 * it: what is inside of that had returned. false: it is none of those, or a region lies between. */
bool lc_gap_leave(struct lc_call *call, uint32_t node);
/* Unwinds again and counts where the entry is not what is on the stack
 * (LATECOMER_CHECK_PATHS). */
void lc_entry_check(struct lc_thread *t, const struct lc_entry *entry, uint64_t frame);
/* The row of a path, made if it is not there; never NULL: a spill row if the
 * state is full. */
struct lc_state_row *lc_row_cold(struct lc_thread *t, struct lc_path *path, uint32_t key);
enum { LC_ROWS_ADDRESSES = 4096 }; /* of a thread; samples at others are not kept by address */

/* The row of a class and node in the table of the class, made if it is not there; NULL: the state
 * is full, or no memory. address: of LC_RAW_CLASS_ADDRESS, rows of which are found by it as well;
 * else 0. */
struct lc_state_row *lc_row_of(struct lc_thread *t, struct lc_row_table *table, uint32_t class,
                               uint32_t node, uint64_t address);
/* The row of a node's time, made if it is not there; never NULL: a row that nobody reads if the
 * state is full. */
struct lc_state_row *lc_time_row(struct lc_thread *t, uint32_t node);
/* What a thread keeps of call paths. */
extern const struct lc_part lc_paths_part;
/* Forgets all entries: code was unloaded. */
void lc_thread_paths_flush(struct lc_thread *t);
/* A zeroed entry with room for any path, for the caller to free(); NULL: no memory. */
struct lc_entry *lc_plain_entry(void);

/* What rooms above want to hear of call paths; what starts the core sets it. */

struct lc_path_watch { /* NULL: nobody wants to */
    /* A node of the call tree is in use. With lc_core.lock held. */
    void (*node)(uint32_t node);
    /* The entries of this thread are about to move. */
    void (*moving)(struct lc_thread *t);
    /* A call path was seen for the first time. */
    void (*made)(const struct lc_entry *entry);
};
extern struct lc_path_watch lc_path_watch;

/* The validated cache (the look-up of the call path): an entry holds, besides its key, the places
 * on the stack where return addresses lie (and frame pointers that other frames are found by), and
 * their contents. Equal return address, stack pointer and frame pointer of a frame mean that the
 * next return address lies at the same place; it is compared; so by induction, equal words mean the
 * same call path. The first difference ends the comparison: no place is read that is not proven. */

static inline uint32_t lc_bucket(uint64_t ra, uint64_t frame) {
    uint64_t mix = lc_hash_key(ra ^ (frame << 7));
    return (uint32_t)(mix >> 54); /* LC_BUCKETS = 2^10 */
}

static inline bool lc_differs(const struct lc_check *check, uint64_t frame) {
    return *(const uint64_t *)(frame + (uint64_t)check->offset) != check->expected;
}

static inline bool lc_entry_holds(const struct lc_entry *entry, uint64_t frame) {
    const struct lc_check *check = entry->checks, *end = check + entry->n_checks;
    for (; check < end; check += LC_CHECKS_AT_ONCE)
        if (lc_differs(check, frame) || lc_differs(check + 1, frame) ||
            lc_differs(check + 2, frame) || lc_differs(check + 3, frame))
            return false;
    return true;
}

static inline bool lc_entry_is(const struct lc_entry *entry, uint64_t fn_ctx, uint64_t ra,
                               uint64_t frame) {
    return entry->ra == ra && entry->frame == frame && entry->fn_ctx == fn_ctx &&
           lc_entry_holds(entry, frame);
}

/* NULL: the path is not known. */
__attribute__((no_sanitize("address", "thread"))) static inline struct lc_entry *
lc_entry_known(struct lc_thread *t, uint64_t fn_ctx, uint64_t ra, uint64_t frame) {
    struct lc_entry *e = t->last->follower; /* programs go in circles: mostly the same again */
    if (e != NULL && lc_entry_is(e, fn_ctx, ra, frame))
        return e;
    for (e = t->buckets[lc_bucket(ra, frame)]; e != NULL; e = e->next)
        if (lc_entry_is(e, fn_ctx, ra, frame))
            return t->last->follower = e;
    return NULL;
}

static inline uint64_t lc_fn_context(struct lc_thread *t, uint32_t fn) {
    return fn | (uint64_t)lc_context(t) << 32;
}

static inline struct lc_entry *lc_entry_find(struct lc_thread *t, uint32_t fn, uint64_t ra,
                                             uint64_t frame) {
    uint64_t fn_ctx = lc_fn_context(t, fn);
    struct lc_entry *e = lc_entry_known(t, fn_ctx, ra, frame);
    return lc_likely(e != NULL) ? e : lc_entry_cold(t, fn_ctx, ra, frame);
}

static inline struct lc_state_row *lc_row(struct lc_thread *t, struct lc_path *path, uint32_t key) {
    for (uint32_t i = 0; i < path->n_rows; i++)
        if (path->rows[i].key == key)
            return path->rows[i].row;
    return lc_row_cold(t, path, key);
}

/* Memory of the remembered call paths of a thread. When it is full, entries that were not used
 * since the last time go, and their memory is used again; where paths that went come back, or most
 * are in use, the memory grows instead, up to LC_ENTRIES_MOST per thread and LC_ENTRIES_PROCESS in
 * all.
 *
 * Whether an entry was used costs the hot path nothing: each use adds to gap_ticks, which is
 * emptied when the entry is made and when it is looked at here.
 *
 * Invariant: the thread's last entry and those of its open regions stay (at another place: nobody
 * else keeps pointers to entries beyond an event). */

struct lc_draft;
struct lc_pool;

enum {
    LC_ENTRIES_FIRST = 8 << 20,
    LC_ENTRIES_MOST = 64 << 20,
    LC_ENTRIES_PROCESS = 256 << 20 /* what threads take beyond their first part */
};

/* The entry of a draft, linked into its bucket; one that cannot be kept is overwritten by the one
 * after the next such. */
struct lc_entry *lc_entry_new(struct lc_thread *t, const struct lc_draft *d, uint64_t fn_ctx,
                              uint64_t ra, uint64_t frame);
/* Another thread goes on with what this one remembers: it has a stack of its own. */
void lc_entries_other_stack(struct lc_thread *t);
/* Frees all entries of a thread, when it ends. */
void lc_entries_free(struct lc_thread *t);

/* Memory of the entries of one thread's call-path cache: taken in blocks, given back as a whole; at
 * most its capacity. */

/* An empty pool, for good. NULL: no memory. */
struct lc_pool *lc_pool_new(size_t capacity_bytes);

/* The address or line of this item's site; 0: it is a region, LC_SITE_UNKNOWN. */
uint32_t lc_item_place(const struct lc_item *item);

/* Between which two call sites the time of a node was spent, per thread: sums over the transitions
 * (previous event, event) of entries. Takes the sum of one slot of an entry, before that is used
 * again. */
void lc_sites_take(struct lc_thread *t, struct lc_entry *e, int slot);
/* Takes the sums of all slots of all entries. */
void lc_sites_take_all(struct lc_thread *t);

/* The pair that took most of the node's time in all threads, as addresses in its file;
 * false: none. */
bool lc_sites_most(uint32_t node, uint64_t *from, uint64_t *to);

/* A call path while its entry is made: the stack is unwound, what is not shown is cut off, open
 * regions are put where they were begun, and nodes are interned. Used by entry.c. */

enum { LC_DRAFT_ITEMS = LC_ITEMS_MAX + LC_REGION_DEPTH + 2 };

/* What is known of the path. */
struct lc_draft {
    struct lc_item items[LC_DRAFT_ITEMS];
    uint32_t n_items;
    struct lc_check checks[3 * LC_FRAMES_CACHED];
    uint32_t n_checks;
    bool cacheable;
    struct lc_frame frames[LC_FRAMES_MAX];
    struct lc_walk walk; /* kept from draft to draft */
};

/* The stack outside of the wrapper with this frame address, by unwinding. */
void lc_draft_unwind(struct lc_thread *t, struct lc_draft *d, uint64_t frame);
/* The path of an entry that was kept. */
void lc_draft_copy(struct lc_draft *d, const struct lc_entry *e);
/* The stack by libunwind alone; counts the frames that remembered rules find otherwise. */
void lc_draft_check(struct lc_thread *t, struct lc_draft *d, uint64_t frame);
/* The function around the return address alone, inside of the open regions; after "..." where
 * other call paths are whole. */
void lc_draft_caller(struct lc_thread *t, struct lc_draft *d, uint64_t ra, uint64_t frame);
/* Adds the region that begins: one item more, or, where its address says so, the innermost frame.
 * With lc_core.lock held. */
void lc_draft_region(struct lc_draft *d, uint32_t region, uint32_t serial);
/* The node that the first n items lead to; 0: none. */
uint32_t lc_draft_node(const struct lc_draft *d, uint32_t n);

#endif
