/* Communicators and data types by handle, at each call: a small cache per thread (1 ns), after it
 * the tables of handles.c. */
#ifndef LC_MEASURE_MPI_HANDLE_CACHE_H
#define LC_MEASURE_MPI_HANDLE_CACHE_H

#include <mpi.h>
#include <stdint.h>

#include "measure/mpi/handles.h"
#include "measure/core/core.h"
#include "measure/core/thread.h"

/* Bytes of one element; 0 for MPI_DATATYPE_NULL and what MPI itself will refuse. */
static inline uint64_t lc_type_bytes(struct lc_thread *t, MPI_Datatype type) {
    uint64_t mix = (uint64_t)(uintptr_t)type;
    struct lc_type_slot *slot = &t->type_slots[(mix ^ mix >> 6 ^ mix >> 12) % LC_TYPE_SLOTS];
    if (lc_likely(slot->type == type && slot->size_bytes >= 0))
        return (uint64_t)slot->size_bytes;
    return (uint64_t)lc_type_cold(t, type);
}

/* NULL for MPI_COMM_NULL and what MPI will refuse. */
static inline struct lc_comm *lc_comm_get(struct lc_thread *t, MPI_Comm comm) {
    uint64_t mix = (uint64_t)(uintptr_t)comm;
    struct lc_comm *c = t->comm_slots[(mix ^ mix >> 5 ^ mix >> 10) % LC_COMM_SLOTS];
    if (lc_likely(c != NULL && c->handle == comm))
        return c;
    return lc_comm_cold(t, comm);
}

#endif
