/* Records of regions, tasks, taskgroups and dependences: of one size per kind, from a pool of the
 * thread that makes them. A record that dies on another thread goes back to its pool through a list
 * that only its owner empties; so memory stays what was needed at once. */
#ifndef LC_MEASURE_OPENMP_OMP_POOL_H
#define LC_MEASURE_OPENMP_OMP_POOL_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

enum lc_omp_kind {
    LC_OMP_REGION,
    LC_OMP_TASK,
    LC_OMP_GROUP,
    LC_OMP_SET,
    LC_OMP_LINK,
    LC_OMP_ENTRY,
    LC_OMP_KINDS
};

/* What several threads write has cache lines of its own. */
enum { LC_OMP_LINE = 64 };

struct lc_omp_pools;

struct lc_omp_item { /* first in every record */
    struct lc_omp_item *next;
    struct lc_omp_pools *owner;
    _Atomic uint32_t references;
    uint32_t kind; /* enum lc_omp_kind */
};

struct lc_omp_pools {
    struct lc_omp_item *free[LC_OMP_KINDS];
    char *chunk, *chunk_end;
    char apart[LC_OMP_LINE];            /* the owner's are not in a line that others write */
    _Atomic(struct lc_omp_item *) back; /* of all kinds; from other threads */
    char apart_too[LC_OMP_LINE];
};

/* With one reference, its first `clear` bytes else 0, what follows as it was. size: bytes of a
 * record of this kind, always the same. NULL: no memory. */
void *lc_omp_take_part(struct lc_omp_pools *pools, enum lc_omp_kind kind, size_t size,
                       size_t clear);
/* All of it else 0. */
static inline void *lc_omp_take(struct lc_omp_pools *pools, enum lc_omp_kind kind, size_t size) {
    return lc_omp_take_part(pools, kind, size, size);
}
/* Gives it back: `mine` are the pools of the calling thread. */
void lc_omp_give(struct lc_omp_pools *mine, struct lc_omp_item *item);

typedef void (*lc_omp_end_fn)(struct lc_omp_pools *mine, struct lc_omp_item *item);
/* What is done when the last reference to a record of this kind is gone: it also gives it back.
 * Nothing set: no more than that. */
void lc_omp_at_end(enum lc_omp_kind kind, lc_omp_end_fn does);

/* One reference to a record (the item is first in it) less: with the last one it goes back. `mine`
 * as above; NULL: nothing. */
void lc_omp_unkeep(struct lc_omp_pools *mine, void *record);

/* One reference more: for each one lc_omp_unkeep. */
static inline void lc_omp_keep(struct lc_omp_item *item) {
    atomic_fetch_add_explicit(&item->references, 1, memory_order_relaxed);
}

#endif
