/* The harness' own collectives from point-to-point messages, on a communicator of its own: what
 * they cost does not change with the collectives of the library under test. A failure of MPI ends
 * the job (MPI_ERRORS_ARE_FATAL on this communicator). */
#ifndef LC_BENCH_HARNESS_OWN_MESSAGES_H
#define LC_BENCH_HARNESS_OWN_MESSAGES_H

#include <mpi.h>
#include <stdint.h>

struct lc_own {
    MPI_Comm comm;
    int rank, size;
};

/* From rank 0 along a binomial tree. */
void lc_own_broadcast(const struct lc_own *own, int64_t *values, int n);
enum { LC_OWN_MOST = 512 };
/* values[i] becomes the largest of all ranks; to rank 0 and back; n <= LC_OWN_MOST. Collective. */
void lc_own_maximum(const struct lc_own *own, int64_t *values, int n);
/* Dissemination barrier (Hensgen et al. 1988): ceil(log2 p) rounds. */
void lc_own_barrier(const struct lc_own *own);

#endif
