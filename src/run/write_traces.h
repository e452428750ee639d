/* The trace of a run, after the program ended: each parent its own rank, rank 0 the definitions. */
#ifndef LC_RUN_WRITE_TRACES_H
#define LC_RUN_WRITE_TRACES_H

#include "run/run.h"

/* After MPI_Finalize, on every rank; on rank 0 it waits for the others. Says what came of it. */
void lc_run_trace_finish(struct lc_run *run);

/* After another end, by the writer of the node: saves what the ranks left in memory. */
void lc_run_trace_salvage(struct lc_run *run);

#endif
