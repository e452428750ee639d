/* The call-path cache: entries, the paths they stand for, and the cold half of the look-up
 * (entry.c). The hot half is entry_find.h. */
#ifndef LC_MEASURE_CALLPATH_ENTRY_H
#define LC_MEASURE_CALLPATH_ENTRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/hash.h"
#include "measure/unwind/walk.h" /* struct lc_check */

struct lc_loop;
struct lc_state_row;
struct lc_thread;

/* What a remembered path keeps of each function and region on it: 16 bytes. */
struct lc_item {
    uint32_t activation; /* lc_activation */
    /* address in the function's file from which the next one was called; regions: 0 */
    uint32_t site;
    uint32_t node; /* of the call tree */
    uint32_t region;
};
#define LC_ACTIVATION_UNKNOWN 0u         /* was not seen: never the same as another */
#define LC_SITE_UNKNOWN       UINT32_MAX /* generated code; a file of more than 4 GiB */

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
/* The path of all calls from the place of this entry's: "..." and the function that calls MPI. The
 * entry was made by this thread. */
struct lc_path *lc_path_of_caller(struct lc_thread *t, const struct lc_entry *entry);
/* Remembers in the entry how many leading activations it shares with the thread's last one, and the
 * row of the time between them. */
void lc_entry_transition(struct lc_thread *t, struct lc_entry *entry);
/* Unwinds again and counts where the entry is not what is on the stack
 * (LATECOMER_CHECK_PATHS). */
void lc_entry_check(struct lc_thread *t, const struct lc_entry *entry, uint64_t frame);
/* The row of a path, made if it is not there; never NULL: a spill row if the
 * state is full. */
struct lc_state_row *lc_row_cold(struct lc_thread *t, struct lc_path *path, uint32_t key);
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

struct lc_entry;
struct lc_thread;

struct lc_path_watch { /* NULL: nobody wants to */
    /* A node of the call tree is in use. With lc_core.lock held. */
    void (*node)(uint32_t node);
    /* The entries of this thread are about to move. */
    void (*moving)(struct lc_thread *t);
    /* A call path was seen for the first time. */
    void (*made)(const struct lc_entry *entry);
};
extern struct lc_path_watch lc_path_watch;

#endif
