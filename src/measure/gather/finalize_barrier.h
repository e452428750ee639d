/* The last of the library's own messages, before MPI ends. */
#ifndef LC_MEASURE_GATHER_FINALIZE_BARRIER_H
#define LC_MEASURE_GATHER_FINALIZE_BARRIER_H

/* Works around a hang of MPICH over UCX: exchanges a message with every rank, then a barrier.
 * Collective if lc_core.agreed; nothing where the workaround is not needed. */
void lc_finalize_barrier(void);

#endif
