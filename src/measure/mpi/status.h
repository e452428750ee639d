/* What a status of MPI says, without calling MPI. */
#ifndef LC_MEASURE_MPI_STATUS_H
#define LC_MEASURE_MPI_STATUS_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "measure/mpi/request.h"
#include "measure/core/core.h"

/* Output arguments are read only when MPI has accepted the call: before, they may be anything. */
static inline bool lc_flag_is_set(int result, const int *flag) {
    return result == MPI_SUCCESS && *flag != 0;
}

static inline MPI_Status *lc_own_status(MPI_Status *status, MPI_Status *own) {
    return status == MPI_STATUS_IGNORE ? own : status;
}

/* Bytes of a received message; fields of the status where MPI_Get_count with MPI_BYTE would return
 * the same. */
static inline uint64_t lc_status_bytes(const MPI_Status *status) {
#if defined(LC_FLAVOUR_OPENMPI)
    return status->_ucount;
#else
    return (uint64_t)(uint32_t)status->count_lo |
           (uint64_t)((uint32_t)status->count_hi_and_cancelled >> 1) << 32;
#endif
}

static inline bool lc_status_cancelled(const MPI_Status *status) {
#if defined(LC_FLAVOUR_OPENMPI)
    return status->_cancelled != 0;
#else
    return (status->count_hi_and_cancelled & 1) != 0;
#endif
}

/* MPICH (4.0) leaves the status of MPI_Isendrecv as it was: what stands there may be anything. */
static inline bool lc_status_is_set(const struct lc_request *r, const MPI_Status *status) {
    return lc_likely(!r->exchange) || (status->MPI_TAG == r->tag && status->MPI_SOURCE == r->peer);
}

#endif
