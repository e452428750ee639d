/* The call-path cache: entries, the paths they stand for, and the cold half of the look-up
 * (path.c). The hot half is in hot.h. */
#ifndef LC_MEASURE_PATHS_ENTRY_H
#define LC_MEASURE_PATHS_ENTRY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct lc_state_row;
struct lc_thread;

struct lc_item {
    /* where the return address of this activation lies; regions: serial of the entry that began
     * it */
    uint64_t slot;
    uint64_t value; /* that return address; regions: 0 */
    /* run-time address in this function from which the next one was called; regions: 0 */
    uint64_t site;
    uint32_t node; /* of the call tree */
    uint32_t region;
};
enum { LC_CHECKS_AT_ONCE = 4 };

struct lc_check {
    int64_t offset; /* from the wrapper's frame address */
    uint64_t expected;
};
enum { LC_PATH_ROWS = 6 };

struct lc_row_ref {
    struct lc_state_row *row;
    uint32_t key; /* size class | flags << 8 */
};

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
    struct lc_path *path;
    uint32_t n_checks; /* a multiple of LC_CHECKS_AT_ONCE: the last one is repeated */
    uint32_t n_items;  /* from the root to the caller (MPI calls), to the region itself (regions) */
    /* items that ran until this event: n_items, at the begin of a region one less */
    uint32_t n_current;
    uint32_t n_previous; /* items that run after it: n_items, at the end of a region one less */
    bool pass;           /* made by a language binding for itself: not the program's call */
    bool transient;      /* of a path that cannot be kept: overwritten soon */
    bool used;           /* by paths/entries.c */
    uint32_t serial;     /* unique per thread; context of what happens inside a region */
    /* the last two transitions: where the time since the previous event belongs */
    struct lc_entry *previous[2];
    struct lc_state_row *gap_row[2];
    uint64_t gap_ticks[2];  /* time since the previous event, not yet in the thread's sites */
    uint32_t gap_common[2]; /* leading items of the same activation in both */
    uint32_t gap_node[2];
    struct lc_item *items;
    struct lc_check checks[];
};

/* cold half of the look-up */
struct lc_entry *lc_entry_cold(struct lc_thread *t, uint64_t fn_ctx, uint64_t ra, uint64_t frame);
void lc_entry_transition(struct lc_thread *t, struct lc_entry *entry);
void lc_entry_check(struct lc_thread *t, const struct lc_entry *entry, uint64_t frame); /* counts */
struct lc_state_row *lc_row_cold(struct lc_thread *t, struct lc_path *path, uint32_t key);
struct lc_state_row *lc_time_row(struct lc_thread *t, uint32_t node);
enum lc_err lc_thread_paths_init(struct lc_thread *t);
void lc_thread_paths_free(struct lc_thread *t);
void lc_thread_paths_flush(struct lc_thread *t); /* paths/entries.c: code was unloaded */
struct lc_entry *lc_plain_entry(void);           /* room for any path; NULL: no memory */

#endif
