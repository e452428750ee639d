/* One shadow collective, for shadow_collectives.c and composed_collectives.c; its place in the
 * tree. */
#ifndef LC_MEASURE_CLOCKS_SHADOW_PRIVATE_H
#define LC_MEASURE_CLOCKS_SHADOW_PRIVATE_H

#include <stdbool.h>
#include <stdint.h>

#include "measure/mpi/operations.h"
#include "measure/clocks/contexts.h"
#include "measure/clocks/shadow_collectives.h"
#include "measure/clocks/edges.h"
#include "piggyback/cpvec.h"
#include "piggyback/ring.h"

struct lc_shadow_batch;

/* What a member did from one operation to the next (composed_collectives.c). */
struct lc_shadow_step {
    double work; /* ns: the most of a member; where that was */
    struct lc_cp_item items[LC_STEP_ITEMS];
    uint64_t n_items;
    double whatif[LC_WHATIF_MAX];
    double latest; /* ns of the global clock */
    uint32_t latest_rank, latest_node;
    /* at the begin, at the end of the member where it was least; as no step changed it */
    double outside_omp, outside_omp_end;
};

struct lc_shadow {
    struct lc_shadow *next, *previous; /* of those under way */
    struct lc_clk_comm *c;
    /* of the operation, its lowest 31 bits: far fewer are under way; those of constructors (struct
     * lc_clk_coll, constructor) have the bit above */
    uint32_t number;
    enum lc_coll_kind kind;
    bool inter, both;              /* two groups; and each waits for all of both */
    bool direct;                   /* no tree */
    const int32_t *ranks, *others; /* of the own group (intra: of all), of the other one */
    int32_t n, me, n_others, root;
    bool is_root, takes_part; /* inter: a member of the root's group need not */
    bool own, sent, exchanged, come,
        over;           /* come: `received` is complete; over: nothing to pass on */
    bool wanted;        /* the backlog holds it, or a late edge */
    int32_t *to, *from; /* pairs: world ranks; from: -1 when it has come */
    int32_t n_to, n_from, n_received;
    uint64_t received_from; /* children of the tree, by step */
    /* reduced with others (composed_collectives.h) */
    bool composed, chained;           /* chained: among those of its communicator */
    struct lc_shadow *after, *before; /* of its communicator */
    bool soon;                        /* it came soon after the one before */
    bool relative, ended, few;        /* few: it is sent alone */
    uint64_t enter, end, origin,
        published;                 /* ticks; of outside_omp; when its clocks were published */
    struct lc_shadow_step step;    /* of this member, if relative */
    struct lc_shadow_batch *batch; /* it is the first of this one */
    /* of this one the number of steps that were counted, and the last of them (NULL: none yet) */
    uint32_t n_steps;
    struct lc_shadow *last_step;
    struct lc_shadow_record mine, up, received; /* not cleared: lc_shadow_empty */
};

static inline uint32_t lc_shadow_context(const struct lc_shadow *m) {
    return (m->c->context ^ 0x73686164) | LC_CONTEXT_FIRST;
}

/* ---- trees: place 0 is the root, the parent of v is v without its lowest bit */

enum { LC_SHADOW_LEVELS = 31 };

static inline int32_t lc_shadow_rank_at(const struct lc_shadow *m, int32_t place) {
    return m->ranks[(place + m->root) % m->n];
}

static inline int32_t lc_shadow_place(const struct lc_shadow *m) {
    return (m->me - m->root + m->n) % m->n;
}

/* The place of a child; -1: none at this level. */
static inline int32_t lc_shadow_child(const struct lc_shadow *m, int level) {
    int32_t v = lc_shadow_place(m), bit = (int32_t)1 << level;
    return (v == 0 || bit < (v & -v)) && v + bit < m->n ? v + bit : -1;
}

/* The rank of the parent. */
static inline int32_t lc_shadow_parent(const struct lc_shadow *m) {
    int32_t v = lc_shadow_place(m);
    return lc_shadow_rank_at(m, v & (v - 1));
}

/* ---- those under way, in the order in which they began */

/* The first one, or NULL; the others by `next`. */
struct lc_shadow *lc_shadow_first(void);
/* A new one, all 0, its records empty; NULL: no memory. */
struct lc_shadow *lc_shadow_take(void);
void lc_shadow_enlist(struct lc_shadow *m); /* one more */
/* One that is not listed. */
void lc_shadow_free(struct lc_shadow *m);
void lc_shadow_free_spare(void); /* memory of those that are over */
/* If nothing is to be done for it any more it goes, unless the backlog holds it. */
void lc_shadow_go(struct lc_shadow *m);
/* The one with this context and number; NULL: not begun. */
struct lc_shadow *lc_shadow_find(uint32_t context, uint32_t number);

#endif
