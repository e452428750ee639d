/* The wrappers, in the order of mpi_functions.tsv. */
#ifndef LC_MEASURE_WRAPPERS_WRAPPERS_H
#define LC_MEASURE_WRAPPERS_WRAPPERS_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "measure/wrappers/coll.h"
#include "measure/wrappers/special.h"
#include "measure/wrappers/complete.h"
#include "measure/wrappers/messages.h"
#include "measure/mpi/request.h"
#include "measure/hot/hot.h"
#include "measure/trace/trace_hooks.h"
#include "measure/mpi/handles.h"
#include "measure/clocks/clocks_hooks.h"
#include "measure/core/core.h"
#include "measure/core/thread.h"
#include "measure/samples/counting.h"

struct lc_wrapper {
    void *function;
    void **real;
};
extern const struct lc_wrapper lc_wrappers[];

/* What the generated wrappers do for windows and one-sided operations. */

static inline void lc_rma_begin(struct lc_call *call, enum lc_rma_kind kind, MPI_Win win,
                                int target, uint64_t count, MPI_Datatype type, uint64_t back_count,
                                MPI_Datatype back_type) {
    uint64_t bytes = count * lc_type_bytes(call->thread, type);
    uint64_t back = back_count ? back_count * lc_type_bytes(call->thread, back_type) : 0;
    if (lc_unlikely(call->mode & LC_MODE_TRACE))
        lc_trace_rma(call, kind, win, target, bytes, back);
    if (lc_unlikely(target < 0)) /* MPI_PROC_NULL */
        return;
    call->bytes_sent = kind == LC_RMA_GET ? 0 : bytes;
    call->bytes_rcvd = kind == LC_RMA_GET ? bytes : back;
    call->class_bytes = bytes > back ? bytes : back;
    lc_counting_sent(call, call->bytes_sent);
}

static inline void lc_win_sync_begin(struct lc_call *call, enum lc_win_sync what, MPI_Win win,
                                     const struct lc_win_epoch *epoch) {
    if (call->mode & LC_MODE_CLOCKS)
        lc_clocks_win_begin(call, what, win, epoch);
    if (lc_unlikely(call->mode & LC_MODE_TRACE))
        lc_trace_win_begin(call, what, win);
}

static inline void lc_win_sync_end(struct lc_call *call, enum lc_win_sync what, MPI_Win win,
                                   const struct lc_win_epoch *epoch, bool done) {
    if (call->mode & LC_MODE_CLOCKS)
        lc_clocks_win_end(call, what, win, epoch, done);
    if (lc_unlikely(call->mode & LC_MODE_TRACE) && done)
        lc_trace_win_end(call, what, win, epoch->target, epoch->group, epoch->shared);
}

static inline void lc_win_made(struct lc_call *call, int result, MPI_Comm comm,
                               const MPI_Win *win) {
    lc_sync_end(call, result);
    lc_win_new_end(call, result, comm, win);
    struct lc_comm *c = result == MPI_SUCCESS ? lc_comm_get(call->thread, comm) : NULL;
    if (call->mode & LC_MODE_CLOCKS && c != NULL)
        lc_clocks_win_new(call, *win, c);
}

static inline void lc_win_freeing(struct lc_call *call, MPI_Win win) {
    lc_win_free_begin(call, win);
    if (call->mode & LC_MODE_CLOCKS)
        lc_clocks_win_free_begin(call, win);
}

static inline void lc_win_freed(struct lc_call *call, MPI_Win win, int result) {
    if (call->mode & LC_MODE_CLOCKS)
        lc_clocks_win_free_end(call, win, result == MPI_SUCCESS);
}

#endif
