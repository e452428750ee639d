/* The end of the trace: definitions of all ranks, brought together. */
#ifndef LC_MEASURE_TRACE_TRACE_UNIFY_H
#define LC_MEASURE_TRACE_TRACE_UNIFY_H

/* Once, after MPI_Finalize's end stamp; collective if lc_core.agreed. */
void lc_trace_close(void);

#endif
