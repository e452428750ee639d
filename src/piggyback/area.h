/* The shared memory through which ranks of one node exchange times: each rank owns one area,
 * all others of the node map it.
 *
 * Nouns
 *   area     a sparse file in memory; begins with struct lc_area_head, the rest is handed out by a
 *            counter and never moves
 *   offset   a place in an area, from its begin; 0 means nothing
 *   ring     row of entries from one rank to another (ring.h); the head holds the offset of the
 *            header of one ring per world rank
 *   log      collective log of one communicator (colllog.h), found by the communicator's id in a
 *            small hash table
 *
 * Invariants: only the owner allocates; others write only the words that ring.h and colllog.h name;
 * no pointer is ever stored. */
#ifndef LC_PIGGYBACK_AREA_H
#define LC_PIGGYBACK_AREA_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

enum { LC_AREA_LOGS = 4096, LC_AREA_THREADS = 64, LC_AREA_NODES = 65536 };
#define LC_AREA_MAGIC 0x4c434152454131ull

struct lc_area_log {
    _Atomic uint64_t id; /* of the communicator; 0 empty, 1 was freed */
    _Atomic uint64_t offset;
};

struct lc_area_head {
    _Atomic uint64_t magic; /* stored last, when the head is valid */
    uint64_t bytes;
    _Atomic uint64_t used;
    uint64_t rings; /* offset of uint64_t[n_ranks]: headers of outgoing rings */
    uint64_t posts; /* offset of uint64_t[n_ranks]: posted receives by source (posts.h) */
    uint64_t outer; /* offset of uint32_t[LC_AREA_NODES]: see lc_area_outer; 0: no room */
    /* offsets of struct lc_past (past.h), by thread; the first is that of the first thread */
    _Atomic uint64_t pasts[LC_AREA_THREADS];
    _Atomic uint32_t n_pasts;
    uint32_t n_ranks, rank;
    /* offsets of the threads' versions of vectors (cpvec.h) */
    _Atomic uint64_t vectors[LC_AREA_THREADS];
    struct lc_area_log logs[LC_AREA_LOGS];
};

struct lc_area {
    struct lc_area_head *head; /* NULL: not mapped */
    size_t bytes;
};

/* Bytes that an area of a job of n_ranks takes at most (virtual; pages are taken when used). */
size_t lc_area_size(uint32_t n_ranks);

/* Makes a head in zeroed memory of `bytes`. */
void lc_area_init(struct lc_area *area, void *memory, size_t bytes, uint32_t rank,
                  uint32_t n_ranks);

/* 0 unless the memory is a valid area of the same job size. */
int lc_area_attach(struct lc_area *area, void *memory, size_t bytes, uint32_t n_ranks);

/* Zeroed, aligned to 64 bytes; 0 if the area is full. Owner only. */
uint64_t lc_area_take(struct lc_area *area, size_t bytes);

static inline void *lc_area_at(const struct lc_area *area, uint64_t offset) {
    return (char *)area->head + offset;
}

/* The node of the owner's call tree, further out, that stands for a node where there is no room for
 * it (cpvec.h); 0: none, or not known. */
static inline uint32_t lc_area_outer(const struct lc_area *area, uint32_t node) {
    uint64_t at = area->head != NULL && node < LC_AREA_NODES ? area->head->outer : 0;
    if (at == 0)
        return 0;
    return atomic_load_explicit((_Atomic uint32_t *)lc_area_at(area, at) + node,
                                memory_order_relaxed);
}
/* Tells the other ranks which node stands for `node` further out. By the owner of the area only. */
void lc_area_set_outer(struct lc_area *area, uint32_t node, uint32_t outer);

/* Registers (offset > 0) or removes (offset 0) a log. Returns 0 if the table is full. Owner only.
 */
int lc_area_set_log(struct lc_area *area, uint64_t id, uint64_t offset);
/* The offset of a log in another's area; 0: not there. */
uint64_t lc_area_find_log(const struct lc_area *area, uint64_t id);

#endif
