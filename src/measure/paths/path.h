/* The parts of the call-path code: unwind.c (the stack as frames), modules.c (addresses to
 * modules), draft.c (frames to items and nodes), path.c (entries), call_sites.c (between which
 * calls time was spent). */
#ifndef LC_MEASURE_PATHS_PATH_H
#define LC_MEASURE_PATHS_PATH_H

#include "measure/core.h"

enum { LC_FRAMES_MAX = 1024, LC_FRAMES_CACHED = 512, LC_ITEMS_MAX = 128 };

/* A function activation outside of the wrapper, innermost first. */
struct lc_frame {
    uint64_t ip;      /* where it goes on */
    uint64_t sp;      /* stack pointer there */
    uint64_t fp;      /* frame-pointer register there */
    uint64_t ip_slot; /* where ip was found; 0: not in memory */
    uint64_t fp_slot; /* the same for fp */
    uint64_t start;   /* begin of the function; 0: unknown */
    bool signal;      /* interrupted here: ip is no return address */
};

/* At the start: libunwind remembers the rules of 128 return addresses, too few for large programs,
 * whose every step would be a search then. */
void lc_unwind_init(void);
/* A library went away; another one may come to lie there. */
void lc_unwind_forget(void);
/* Frames outside of the wrapper with this frame address, found by libunwind: right for all that has
 * tables, and slow (20 system calls for each frame). *complete: the outermost one was reached. The
 * usual way is lc_walk (paths/walk.h). */
int lc_unwind(uint64_t frame, struct lc_frame *frames, int max, bool *complete);
/* The words to compare, innermost first; false: not cacheable. *n <= 3 * n_frames. */
bool lc_unwind_checks(uint64_t frame, const struct lc_frame *frames, int n_frames,
                      struct lc_check *checks, uint32_t *n);

enum lc_module_kind { LC_MODULE_OTHER, LC_MODULE_PROGRAM, LC_MODULE_LIBC, LC_MODULE_MPI };

struct lc_module {
    uint64_t begin, end; /* mapped */
    uint64_t bias;
    uint32_t id; /* in the state */
    enum lc_module_kind kind;
};

/* The module that holds an address; NULL: none (generated code). With lc_core.lock held. The
 * pointer holds until the next call. */
const struct lc_module *lc_module_find(uint64_t address);
void lc_modules_forget(void);

/* Between which two call sites the time of a node was spent, per thread: sums over the transitions
 * (previous event, event) of entries. Takes the sum of one slot of an entry, before that is used
 * again. */
void lc_sites_take(struct lc_thread *t, struct lc_entry *e, int slot);
void lc_sites_take_all(struct lc_thread *t);
/* The pair that took most of the node's time in all threads, as run-time addresses; false: none. */
bool lc_sites_most(uint32_t node, uint64_t *from, uint64_t *to);

/* Interned names of regions; ids are dense. Regions by address are functions compiled with
 * -finstrument-functions. */
struct lc_region_name {
    uint64_t address; /* 0: by name */
    uint32_t name;    /* index of the state's names */
    char *text;
};
uint32_t lc_region_by_name(const char *name); /* LC_NONE: no memory */
uint32_t lc_region_by_address(uint64_t address);
struct lc_region_name lc_region_get(uint32_t id);

/* Codes in an entry's key besides enum lc_fn: two per region. */
static inline uint32_t lc_region_fn(uint32_t region, bool end) {
    return LC_FN_COUNT + 2 + region * 2 + (end ? 1 : 0);
}
enum { LC_FN_CONTROL = LC_FN_COUNT }; /* latecomer_start, latecomer_stop */

#endif
