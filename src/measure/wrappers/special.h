/* Wrappers written by hand. */
#ifndef LC_MEASURE_WRAPPERS_SPECIAL_H
#define LC_MEASURE_WRAPPERS_SPECIAL_H

#include <mpi.h>
#include <stdint.h>

#include "measure/core/core.h"
#include "measure/mpi/handles.h"

struct lc_request;

/* In MPI_Init, after MPI's; collective. */
void lc_job_begin(struct lc_call *call);
/* In MPI_Finalize, before MPI's; collective. */
void lc_job_end(struct lc_call *call);

/* Wrappers of calls that begin and end a measurement, or switch it. fn: the call (enum
 * lc_fn); frame, ra: of the caller; the others as MPI has them. Return what MPI returns. */
int lc_wrap_init(uint32_t fn, void *frame, void *ra, int *argc, char ***argv);
/* Wrapper of MPI_Init_thread, as lc_wrap_init. */
int lc_wrap_init_thread(uint32_t fn, void *frame, void *ra, int *argc, char ***argv, int required,
                        int *provided);
/* Wrapper of MPI_Finalize: gathers the result, then calls MPI's. Parameters as lc_wrap_init. */
int lc_wrap_finalize(uint32_t fn, void *frame, void *ra);
/* Wrapper of MPI_Abort: the state is left so that the parent can save it. As lc_wrap_init. */
int lc_wrap_abort(uint32_t fn, void *frame, void *ra, MPI_Comm comm, int errorcode);
/* Wrapper of MPI_Pcontrol: level 0 stops the measurement, 1 starts it. As lc_wrap_init. */
int lc_wrap_pcontrol(uint32_t fn, void *frame, void *ra, int level);
/* Wrapper of MPI_Session_init: the first session begins the measurement. As lc_wrap_init. */
int lc_wrap_session_init(uint32_t fn, void *frame, void *ra, MPI_Info info,
                         MPI_Errhandler errhandler, MPI_Session *session);
/* Wrapper of MPI_Session_finalize: as lc_wrap_init. */
int lc_wrap_session_finalize(uint32_t fn, void *frame, void *ra, MPI_Session *session);

/* What is done when the program makes, names or frees communicators, and at MPI_Comm_spawn. */

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
