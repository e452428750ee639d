/* Wrappers written by hand. */
#ifndef LC_MEASURE_CALLS_SPECIAL_H
#define LC_MEASURE_CALLS_SPECIAL_H

#include <mpi.h>
#include <stdint.h>

#include "measure/core.h"

struct lc_call;

/* What MPI_Init and MPI_Finalize are for the measurement, inside of both; collective. */
void lc_job_begin(struct lc_call *call);
void lc_job_end(struct lc_call *call);

/* Wrappers of calls that begin and end a measurement, or switch it. fn: the call (enum
 * lc_fn); frame, ra: of the caller; the others as MPI has them. Return what MPI returns. */
int lc_wrap_init(uint32_t fn, void *frame, void *ra, int *argc, char ***argv);
int lc_wrap_init_thread(uint32_t fn, void *frame, void *ra, int *argc, char ***argv, int required,
                        int *provided);
int lc_wrap_finalize(uint32_t fn, void *frame, void *ra);
int lc_wrap_abort(uint32_t fn, void *frame, void *ra, MPI_Comm comm, int errorcode);
int lc_wrap_pcontrol(uint32_t fn, void *frame, void *ra, int level);
int lc_wrap_session_init(uint32_t fn, void *frame, void *ra, MPI_Info info,
                         MPI_Errhandler errhandler, MPI_Session *session);
int lc_wrap_session_finalize(uint32_t fn, void *frame, void *ra, MPI_Session *session);

#endif
