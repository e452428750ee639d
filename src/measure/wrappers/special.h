/* Wrappers written by hand. */
#ifndef LC_MEASURE_WRAPPERS_SPECIAL_H
#define LC_MEASURE_WRAPPERS_SPECIAL_H

#include <mpi.h>
#include <stdint.h>

#include "measure/core/core.h"

struct lc_call;

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

#endif
