/* What a communicator holds for the clocks, and how long it lives. */
#ifndef LC_MEASURE_CLOCKS_CONTEXTS_H
#define LC_MEASURE_CLOCKS_CONTEXTS_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "measure/mpi/handles.h"
#include "piggyback/colllog.h"
#include "piggyback/combine.h"

struct lc_clk_thread;
struct lc_shadow;

struct lc_clk_comm {
    uint32_t context;
    bool shadow; /* members on several nodes: collectives by messages */
    bool alone;  /* one member: no edges */
    uint32_t n_barriers, next_sync, sync_step; /* global_time.c */
    double looked_ns;
    bool freed;    /* by the program; it is here until nothing uses it: */
    uint32_t uses; /* shadow collectives */
    /* of these, composed ones that are not known yet, in order (collectives.h) */
    struct lc_shadow *first_composed, *last_composed;
    uint64_t composed_end;  /* ticks: of the last one */
    bool lags;              /* of a member the clocks lagged far behind, as the last batch told */
    double known_ns;        /* global clock: when the last member entered the last one known */
    int32_t *ranks, *local; /* world ranks, of the remote group; inter: of the local group */
    uint32_t n_syncs;       /* exchanges over it in constructors */
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

/* One shadow collective less: frees it if the program has. With lc_clk.lock. */
void lc_clk_comm_unuse(struct lc_clk_comm *c);

/* Constructors whose new communicator has other members than the communicator passed to them
 * (MPI_Intercomm_create, MPI_Comm_spawn, ..) synchronise all members of the new one (both groups):
 * an edge from every member to every other. */

/* Frees what the exchange needed; before MPI_Finalize. */
void lc_clk_constructor_sync_finish(void);

/* Communicators: a number that all members find without talking, the log of their
 * collectives. */

/* The clocks' part of a new communicator (comm->clocks; NULL remains where there is no memory). */
void lc_clk_comm_make(struct lc_comm *comm);

/* Epochs of locks of a window. */
enum { LC_TAG_POST, LC_TAG_COMPLETE, LC_TAG_LOCKER, LC_TAG_EPOCH }; /* of a window's entries */

struct lc_clk_locks {
    struct lc_comm comm; /* a copy: the program may free its communicator */
    uint32_t context;
    uint64_t id;             /* of the lines */
    struct lc_unlock *lines; /* own, two per target: exclusive, shared; NULL: none */
    uint8_t *held;           /* by target: 1 shared, 2 exclusive */
    struct lc_away *away;    /* by member; NULL: all are on this node */
    bool announced;
};
void lc_clk_locks_init(struct lc_clk_locks *w); /* both with lc_clk.lock held */
/* It is freed. With lc_clk.lock held. */
void lc_clk_locks_free(struct lc_clk_locks *w);
/* Before MPI_Win_lock and MPI_Win_lock_all. Targets, here and below: -1 is all. */
void lc_clk_lock_begin(struct lc_call *call, struct lc_clk_locks *w);
/* After them. */
void lc_clk_lock_hold(struct lc_call *call, struct lc_clk_locks *w, int target, bool shared);
/* Before MPI_Win_unlock and MPI_Win_unlock_all. */
void lc_clk_lock_ends(struct lc_call *call, struct lc_clk_locks *w, int target);
/* After them. */
void lc_clk_lock_over(struct lc_call *call, struct lc_clk_locks *w, int target);

#endif
