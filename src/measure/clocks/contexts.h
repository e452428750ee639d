/* Communicators: a number that all members find without talking, the log of their
 * collectives. */
#ifndef LC_MEASURE_CLOCKS_CONTEXTS_H
#define LC_MEASURE_CLOCKS_CONTEXTS_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "measure/calls/communicators.h"
#include "piggyback/colllog.h"
#include "piggyback/combine.h"

struct lc_clk_comm {
    uint32_t context;
    bool shadow; /* members on several nodes: collectives by messages on `copy` */
    bool alone;  /* one member: no edges */
    uint32_t n_barriers, next_sync, sync_step; /* trace_offsets.c */
    double looked_ns;
    MPI_Comm copy;               /* MPI_COMM_NULL: none, or not yet: */
    struct lc_clk_copy_use *use; /* of it by shadow collectives; NULL: none yet */
    struct lc_clk_copy *making;  /* after MPI_Comm_idup; NULL: it is there */
    struct lc_clk_copy *next;    /* of what MPI_Comm_idup is about to make of this one */
    struct lc_clk_comm *maker;   /* while it is not there: of the parent, */
    struct lc_clk_comm *child;   /* which knows this one */
    bool freed;                  /* by the program; it is here until nothing of the above is left */
    bool copies_ready; /* nothing of that, on any member, since all were in a collective */
    struct lc_clk_comm *unready; /* the next one in the list of those whose copy is not there */
    struct lc_shadow *waiting;   /* operations that began before it is, in order */
    uint32_t n_syncs;            /* exchanges over it in constructors */
    struct lc_colllog log;
    struct lc_combine combine; /* more than 8 members, all on this node */
    int32_t *sources,
        n_sources; /* neighbourhood: ranks this one receives from; n -1: not asked yet */
    int32_t *targets, n_targets; /* ranks it sends to; NULL: the same as sources */
};

static inline struct lc_clk_comm *lc_clk_comm_of(const struct lc_comm *comm) {
    return comm->clocks;
}

/* World rank of a peer, -1 if it has none. */
static inline int32_t lc_clk_world(const struct lc_comm *comm, int32_t peer) {
    return peer >= 0 && peer < (comm->inter ? comm->remote_size : comm->size) ? comm->world[peer]
                                                                              : -1;
}
void lc_clk_comm_make(struct lc_comm *comm, bool constructor);

#endif
