/* One-sided communication in the trace. */
#ifndef LC_MEASURE_TRACE_TRACE_RMA_H
#define LC_MEASURE_TRACE_TRACE_RMA_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "measure/mpi/operations.h"

struct lc_call;

/* Windows and one-sided operations (trace_rma.c, synchronising.c). */
enum lc_rma_kind { LC_RMA_PUT, LC_RMA_GET, LC_RMA_ACCUMULATE, LC_RMA_FETCH, LC_RMA_SWAP };
/* After a constructor of a window; it is read if the call succeeded. */
void lc_win_new_end(struct lc_call *call, int result, MPI_Comm comm, const MPI_Win *win);
/* Before MPI_Win_free: the window leaves the list, a record of its end is written. */
void lc_win_free_begin(struct lc_call *call, MPI_Win win);
/* After MPI_Win_set_name; result: what MPI returned. */
void lc_win_named(struct lc_call *call, int result, MPI_Win win, const char *name);
/* A one-sided operation is started: bytes to the target, and back. */
void lc_trace_rma(struct lc_call *call, enum lc_rma_kind kind, MPI_Win win, int target,
                  uint64_t bytes, uint64_t bytes_back);
/* Before an operation that synchronises windows. */
void lc_trace_win_begin(struct lc_call *call, enum lc_win_sync what, MPI_Win win);
/* After it; rank: the target, -1: none. */
void lc_trace_win_end(struct lc_call *call, enum lc_win_sync what, MPI_Win win, int rank,
                      MPI_Group group, bool shared);

#endif
