/* Records that are seldom, or of which a call may write many. */
#ifndef LC_MEASURE_TRACE_TRACE_CALLS_H
#define LC_MEASURE_TRACE_TRACE_CALLS_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "measure/mpi/handles.h"
#include "measure/core/core.h"

struct lc_call;
struct lc_coll;
struct lc_grid;
struct lc_part;
struct lc_request;
struct lc_trace_stream;

extern const struct lc_part lc_trace_part;

/* Records of requests that completed, with more than the hot path knows. */
void lc_trace_completed(struct lc_call *call, int n, struct lc_request *const *requests,
                        const MPI_Status *statuses);
/* A request that was tested, and not complete. */
void lc_trace_tested_cold(struct lc_trace_stream *stream, const struct lc_request *request);
/* The record of a collective operation that completed. */
void lc_trace_coll_write(struct lc_call *call, struct lc_coll *coll, bool nonblocking);

/* It came to no end; a message that it was to receive is not in the trace. */
void lc_trace_request_failed(struct lc_call *call, struct lc_request *request);

/* A constructor over `parent` was called. */
void lc_trace_made_from(struct lc_call *call, struct lc_comm *parent);
/* After MPI_Comm_set_name: the name is a definition. */
void lc_trace_comm_named(struct lc_call *call, struct lc_comm *comm, const char *name);
/* Its Cartesian topology. */
void lc_trace_comm_grid(struct lc_call *call, struct lc_comm *comm, const struct lc_grid *grid);

/* the ranks of `comm` that this one receives from in neighbourhood operations */
void lc_trace_define_neighbours(struct lc_call *call, struct lc_comm *comm, const int *sources,
                                int n);

/* A communicator that no constructor announced (MPI_Comm_idup, ..). */
void lc_trace_comm_found(struct lc_call *call, struct lc_comm *comm);
/* A constructor has made this communicator: it gets its definition. */
void lc_trace_comm_new(struct lc_call *call, struct lc_comm *comm);
/* A communicator is being freed: a record. */
void lc_trace_comm_free(struct lc_call *call, struct lc_comm *comm);
/* The number of a communicator in records. */
static inline uint32_t lc_trace_comm_id(struct lc_call *call, struct lc_comm *comm) {
    if (lc_unlikely(comm->trace == NULL))
        lc_trace_comm_found(call, comm);
    return comm->id;
}

/* An outermost region by name is a phase: its name becomes a parameter. */
void lc_trace_phase(struct lc_call *call);

#endif
