/* Wrappers written by hand. */
#ifndef LC_MEASURE_CALLS_SPECIAL_H
#define LC_MEASURE_CALLS_SPECIAL_H

#include <mpi.h>
#include <stdint.h>

#include "measure/core.h"

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
