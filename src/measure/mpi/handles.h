/* Communicators and data types of the program by handle, as this process knows them. Records of
 * freed communicators are kept for a while, as requests may still point to them. */
#ifndef LC_MEASURE_MPI_HANDLES_H
#define LC_MEASURE_MPI_HANDLES_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "measure/mpi/operations.h"
#include "measure/core/core.h"
#include "measure/core/thread.h"
#include "format/facts.h"

/* A communicator of this process. Made when first seen, kept until it is freed. */
struct lc_comm {
    MPI_Comm handle;
    struct lc_comm *next;
    /* dense, unique in this process (never reused); 0 MPI_COMM_WORLD, 1 MPI_COMM_SELF */
    uint32_t id;
    uint32_t refs;      /* requests and windows that point here */
    uint32_t n_windows; /* made on it, for the clocks */
    uint32_t row_flags; /* members and group, for lc_call.flags of collectives */
    int32_t size, rank;
    int32_t remote_size; /* intercommunicators, else 0 */
    int32_t n_in, n_out; /* neighbours of its topology; -1: not asked yet */
    bool inter, freed;
    /* world rank of each rank (of the remote group for an intercommunicator); MPI_UNDEFINED if not
     * in MPI_COMM_WORLD */
    int32_t *world;
    int32_t *local_world;   /* world rank of each rank of the local group */
    struct lc_comm *parent; /* given to its constructor; NULL: unknown */
    uint64_t uid;           /* same on all members once the hooks have agreed on one; 0 before */
    void *clocks;
    void *trace;
};
/* What the cache of the thread does not have. The record of a communicator, made
 * if it is new; NULL: none such, or no memory. May call MPI. */
struct lc_comm *lc_comm_cold(struct lc_thread *t, MPI_Comm comm);
/* Bytes of an element; 0: no such type */
int64_t lc_type_cold(struct lc_thread *t, MPI_Datatype type);

/* Before MPI_Type_free: all threads forget it. */
void lc_type_free_begin(struct lc_thread *t, const MPI_Datatype *given);

/* Before a handle is freed: the record stays for a while. */
void lc_comm_forget(struct lc_thread *t, MPI_Comm comm);

/* The next id. With lc_core.lock held. */
uint32_t lc_comm_id_new(void);
/* Enters the record of a handle that MPI has filled in. With lc_core.lock held. */
void lc_comm_insert(struct lc_comm *c, MPI_Comm handle);

/* Communicators and data types by handle, at each call: a small cache per thread (1 ns), after it
 * the tables of handles.c. */

/* Bytes of one element; 0 for MPI_DATATYPE_NULL and what MPI itself will refuse. */
static inline uint64_t lc_type_bytes(struct lc_thread *t, MPI_Datatype type) {
    uint64_t mix = (uint64_t)(uintptr_t)type;
    struct lc_type_slot *slot = &t->type_slots[(mix ^ mix >> 6 ^ mix >> 12) % LC_TYPE_SLOTS];
    if (lc_likely(slot->type == type && slot->size_bytes >= 0))
        return (uint64_t)slot->size_bytes;
    return (uint64_t)lc_type_cold(t, type);
}

/* Bytes for, or from, partner i. */
static inline uint64_t lc_side_bytes_at(struct lc_thread *t, const struct lc_side *side, bool large,
                                        int i) {
    uint64_t count = side->counts != NULL ? lc_count_at(side->counts, large, i) : side->count;
    return count * lc_type_bytes(t, side->types != NULL ? side->types[i] : side->type);
}

/* NULL for MPI_COMM_NULL and what MPI will refuse. */
static inline struct lc_comm *lc_comm_get(struct lc_thread *t, MPI_Comm comm) {
    uint64_t mix = (uint64_t)(uintptr_t)comm;
    struct lc_comm *c = t->comm_slots[(mix ^ mix >> 5 ^ mix >> 10) % LC_COMM_SLOTS];
    if (lc_likely(c != NULL && c->handle == comm))
        return c;
    return lc_comm_cold(t, comm);
}

/* The world ranks of the *n members of a group, MPI_UNDEFINED for one outside of MPI_COMM_WORLD;
 * the caller frees them. NULL, 0: MPI does not tell, or no memory. */
int32_t *lc_group_world(MPI_Group group, int *n);

/* Who is in which communicator: the groups of ranks that communicators of this process had, each
 * once, however many communicators it had. Rows of collectives carry the number that a group has
 * here (LC_RAW_ROW_GROUP_SHIFT); which ranks these are, the parent puts together from what all
 * ranks know: their own position in groups that are named by a hash of their ranks. Goes into the
 * facts (gather/rank_facts.c). */

/* All so far. With lc_core.lock held. */
void lc_groups_get(struct lc_groups *groups);

/* The neighbours of a rank in the topology of its communicator: Cartesian, graph or distributed
 * graph. Asked once per communicator, by counts of bytes, clocks and traces. */

struct lc_neighbours {
    int *sources, *targets; /* with MPI_PROC_NULL among them; targets NULL: the same as sources */
    int n_sources, n_targets;
};

/* Of `rank`, the caller's in `comm`; without a topology, or without memory, there are none. The
 * caller frees both with free(). */
void lc_neighbours_of(MPI_Comm comm, int rank, struct lc_neighbours *neighbours);

/* The Cartesian grid of the program: the largest of its communicators with one, as this process saw
 * it. Goes into the facts (gather/rank_facts.c). */

/* A communicator was made: its grid, kept if it is the largest so far; n_dims 0 without one, or
 * with one of a single process. */
struct lc_grid lc_grid_seen(const struct lc_comm *comm);
/* The largest Cartesian grid seen so far; without dimensions: none. */
struct lc_grid lc_grid_largest(void);

#endif
