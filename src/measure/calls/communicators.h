/* Communicators and data types of the program, as this process knows them. */
#ifndef LC_MEASURE_CALLS_COMMUNICATORS_H
#define LC_MEASURE_CALLS_COMMUNICATORS_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

struct lc_call;
struct lc_coll;
struct lc_request;
struct lc_thread;

struct lc_type_slot {
    MPI_Datatype type;
    int64_t size_bytes;
};

/* A communicator of this process. Made when first seen, kept until it is freed. */
struct lc_comm {
    MPI_Comm handle;
    struct lc_comm *next;
    /* dense, unique in this process (never reused); 0 MPI_COMM_WORLD, 1 MPI_COMM_SELF */
    uint32_t id;
    uint32_t refs;      /* requests and windows that point here */
    uint32_t n_windows; /* made on it, for the clocks */
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
struct lc_comm *lc_comm_cold(struct lc_thread *t, MPI_Comm comm);
int64_t lc_type_cold(struct lc_thread *t, MPI_Datatype type);
void lc_type_free_begin(struct lc_thread *t, const MPI_Datatype *given);
void lc_comm_new_end(struct lc_call *call, int result, MPI_Comm parent, const MPI_Comm *comm);
void lc_spawned(int result, int root, MPI_Comm comm, const MPI_Comm *children);
void lc_comm_named(struct lc_call *call, int result, MPI_Comm comm, const char *name);
void lc_comm_idup_end(struct lc_call *call, struct lc_coll *coll, int result, MPI_Comm parent,
                      const MPI_Comm *comm, const MPI_Request *request);
void lc_comm_idup_complete(const struct lc_request *request);
void lc_comm_free_begin(struct lc_call *call, const MPI_Comm *comm);

#endif
