/* Around calls that make all members of a communicator wait for each other without data:
 * constructors, collective operations of files. */
#ifndef LC_MEASURE_WRAPPERS_SYNC_H
#define LC_MEASURE_WRAPPERS_SYNC_H

#include <mpi.h>
#include <stdbool.h>

#include "measure/wrappers/failed.h"
#include "measure/wrappers/communicators.h"
#include "measure/mpi/operations.h"
#include "measure/clocks/clocks_hooks.h"
#include "measure/core/core.h"
#include "measure/hot/hot.h"
#include "measure/core/thread.h"

/* Around a call that makes all members of `comm` wait for each other. */
static inline void lc_sync_begin(struct lc_call *call, MPI_Comm comm) {
    struct lc_comm *c = call->mode & LC_MODE_CLOCKS ? lc_comm_get(call->thread, comm) : NULL;
    if (c != NULL && !c->inter)
        lc_clocks_sync_begin(call, c);
}

static inline void lc_sync_end(struct lc_call *call, int result) {
    if (call->mode & LC_MODE_CLOCKS)
        lc_clocks_sync_end(call, lc_likely(result == MPI_SUCCESS) || !lc_was_refused(result));
}

static inline void lc_file_sync_begin(struct lc_call *call, MPI_File file) {
    if (call->mode & LC_MODE_CLOCKS)
        lc_clocks_file_begin(call, file);
}

/* Nonblocking ones. */
static inline void lc_idup_begin(struct lc_call *call, struct lc_coll *coll, MPI_Comm comm) {
    coll->clocks = NULL;
    if (call->mode & LC_MODE_CLOCKS)
        lc_clocks_isync_begin(call, coll, lc_comm_get(call->thread, comm));
}

static inline void lc_file_isync_begin(struct lc_call *call, struct lc_coll *coll, MPI_File file) {
    coll->clocks = NULL;
    if (call->mode & LC_MODE_CLOCKS)
        lc_clocks_file_ibegin(call, file, coll);
}
/* The begin of a nonblocking collective of a file, after the call. */
void lc_file_isync_end(struct lc_call *call, struct lc_coll *coll, int result,
                       const MPI_Request *request);

static inline void lc_file_split_sync(struct lc_call *call, MPI_File file, bool begins) {
    if (call->mode & LC_MODE_CLOCKS)
        (begins ? lc_clocks_file_split_begin : lc_clocks_file_split_end)(call, file);
}

/* A constructor whose members are only those of the new communicator. */
static inline void lc_comm_sync(struct lc_call *call, int result, const MPI_Comm *comm) {
    struct lc_comm *c = result == MPI_SUCCESS ? lc_comm_get(call->thread, *comm) : NULL;
    if (call->mode & LC_MODE_CLOCKS && c != NULL)
        lc_clocks_comm_sync(call, c);
}

/* A constructor over the members of `comm`, after lc_sync_end: those of both groups. */
static inline void lc_comm_sync_groups(struct lc_call *call, int result, MPI_Comm comm) {
    struct lc_comm *c = result == MPI_SUCCESS ? lc_comm_get(call->thread, comm) : NULL;
    if (call->mode & LC_MODE_CLOCKS && c != NULL && c->inter)
        lc_clocks_comm_sync(call, c);
}

static inline void lc_file_known(struct lc_call *call, int result, MPI_Comm comm,
                                 const MPI_File *file) {
    struct lc_comm *c = result == MPI_SUCCESS ? lc_comm_get(call->thread, comm) : NULL;
    if (call->mode & LC_MODE_CLOCKS && c != NULL)
        lc_clocks_file_new(*file, c);
}

/* A file that could not be closed is still open. */
static inline void lc_file_sync_over(int result, MPI_File file) {
    if (result == MPI_SUCCESS)
        lc_clocks_file_closed(file);
}

#endif
