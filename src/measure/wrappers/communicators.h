/* What is done when the program makes, names or frees communicators, and at MPI_Comm_spawn. */
#ifndef LC_MEASURE_WRAPPERS_COMMUNICATORS_H
#define LC_MEASURE_WRAPPERS_COMMUNICATORS_H

#include <mpi.h>

#include "measure/mpi/handles.h"

struct lc_call;
struct lc_coll;
struct lc_request;

/* After a constructor: `comm` is read only if it succeeded; parent MPI_COMM_NULL: it has none. */
void lc_comm_new_end(struct lc_call *call, int result, MPI_Comm parent, const MPI_Comm *comm);
/* After MPI_Comm_spawn: counts the processes that are not measured, and says so once. */
void lc_spawned(int result, int root, MPI_Comm comm, const MPI_Comm *children);
/* After MPI_Comm_set_name; result: what MPI returned. */
void lc_comm_named(struct lc_call *call, int result, MPI_Comm comm, const char *name);
/* MPI_Comm_idup, and the completion of its request: only then the handle is valid. */
void lc_comm_idup_end(struct lc_call *call, struct lc_coll *coll, int result, MPI_Comm parent,
                      const MPI_Comm *comm, const MPI_Request *request);
/* The request of an MPI_Comm_idup is complete: its handle is valid now. */
void lc_comm_idup_complete(const struct lc_request *request);
/* Before MPI_Comm_free and MPI_Comm_disconnect. */
void lc_comm_free_begin(struct lc_call *call, const MPI_Comm *comm);

#endif
