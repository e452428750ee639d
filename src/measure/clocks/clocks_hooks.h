/* Logical clocks and piggyback: what happens at the points of hooks.h (called only with the mode
 * bit set). Budget per call with a message (x86, 2 ranks): 25 ns, of them 15 for the line that
 * comes from the other core. */
#ifndef LC_MEASURE_CLOCKS_CLOCKS_HOOKS_H
#define LC_MEASURE_CLOCKS_CLOCKS_HOOKS_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "measure/calls/operations.h"
#include "measure/calls/request.h"
#include "measure/thread.h"

struct lc_comm;

/* Does what the thread's last call has left: its entry moves. */
void lc_clocks_catch_up(struct lc_thread *t);
/* A node of the call tree is in use: the nodes further out that stand for it, and for those around
 * it, in a full critical-path vector are told to the other ranks. With lc_core.lock held. */
void lc_clocks_path(uint32_t node);

/* The last `ticks` before the call begins were our own work: not useful time. */
void lc_clocks_skip(struct lc_call *call, uint64_t ticks);
/* Before the call began, until then (ticks), time was spent in this node; in order of time. */
void lc_clocks_spent(const struct lc_call *call, uint64_t until, uint32_t node);
/* Others that wait for this thread hear that it was here for that long. */
void lc_clocks_mostly(const struct lc_call *call, uint64_t ticks, uint32_t node);
void lc_clocks_call_begin(struct lc_call *call);
void lc_clocks_call_end(struct lc_call *call);
void lc_clocks_send(struct lc_call *call, struct lc_msg *msg);

static inline void lc_clocks_send_started(struct lc_call *call, struct lc_msg *msg) {
    (void)call; /* the request carries msg->clocks */
    (void)msg;
}
void lc_clocks_send_done(struct lc_call *call, struct lc_msg *msg);
/* MPI has refused to start the operation, or (_request_failed) it came to no end. Truncated: the
 * message has come, longer than the buffer. */
void lc_clocks_send_failed(struct lc_call *call, struct lc_msg *msg);
void lc_clocks_recv_failed(struct lc_call *call, struct lc_msg *msg);
/* refused: this process has taken no part */
void lc_clocks_coll_failed(struct lc_call *call, struct lc_coll *coll, bool refused);
void lc_clocks_request_failed(struct lc_call *call, struct lc_request *request);
void lc_clocks_recv_truncated(struct lc_call *call, struct lc_msg *msg);
void lc_clocks_truncated(struct lc_call *call, struct lc_request *request,
                         const MPI_Status *status);
void lc_clocks_recv(struct lc_call *call, struct lc_msg *msg);
void lc_clocks_recv_started(struct lc_call *call, struct lc_msg *msg);
void lc_clocks_recv_done(struct lc_call *call, struct lc_msg *msg);
void lc_clocks_completed(struct lc_call *call, int n, struct lc_request *const *requests,
                         const MPI_Status *statuses);
void lc_clocks_request_free(struct lc_call *call, struct lc_request *request);
void lc_clocks_mprobed(struct lc_call *call, struct lc_matched *matched);
void lc_clocks_mrecv(struct lc_call *call, struct lc_matched *matched, struct lc_msg *msg);
void lc_clocks_coll_begin(struct lc_call *call, struct lc_coll *coll);
void lc_clocks_coll_end(struct lc_call *call, struct lc_coll *coll);
void lc_clocks_comm_new(struct lc_call *call, struct lc_comm *comm);
void lc_clocks_comm_sync(struct lc_call *call, struct lc_comm *comm);
void lc_clocks_comm_free(struct lc_call *call, struct lc_comm *comm);
void lc_clocks_init(struct lc_call *call);
/* Without MPI: the rate of ticks as it is known at the end; before lc_clocks_finalize. */
void lc_clocks_recalibrate(void);
void lc_clocks_finalize(struct lc_call *call);
void lc_clocks_region_begin(struct lc_call *call);
void lc_clocks_region_end(struct lc_call *call, struct lc_region_open *open);
void lc_clocks_control(struct lc_call *call, bool on);
void lc_clocks_thread_new(struct lc_call *call);
void lc_clocks_thread_end(struct lc_call *call);

/* operations that make all members of a communicator wait for each other;
 * windows */
void lc_clocks_sync_begin(struct lc_call *call, struct lc_comm *comm);
void lc_clocks_sync_end(struct lc_call *call, bool took_part);
/* The same of a nonblocking one; request NULL: its handle is shared, it is complete. comm NULL:
 * none
 */
void lc_clocks_isync_begin(struct lc_call *call, struct lc_coll *coll, struct lc_comm *comm);
void lc_clocks_isync_end(struct lc_call *call, struct lc_coll *coll, struct lc_request *request);

/* collective operations of files */
void lc_clocks_file_new(MPI_File handle, struct lc_comm *comm);
void lc_clocks_file_begin(struct lc_call *call, MPI_File handle);
void lc_clocks_file_ibegin(struct lc_call *call, MPI_File handle, struct lc_coll *coll);
void lc_clocks_file_split_begin(struct lc_call *call, MPI_File handle);
void lc_clocks_file_split_end(struct lc_call *call, MPI_File handle);
void lc_clocks_file_closed(MPI_File handle);

enum lc_win_sync {
    LC_WIN_FENCE,
    LC_WIN_LOCK,
    LC_WIN_LOCK_ALL,
    LC_WIN_UNLOCK,
    LC_WIN_UNLOCK_ALL,
    LC_WIN_FLUSH,
    LC_WIN_FLUSH_ALL,
    LC_WIN_START,
    LC_WIN_POST,
    LC_WIN_COMPLETE,
    LC_WIN_WAIT
};

struct lc_win_epoch { /* what an operation of enum lc_win_sync was given */
    int32_t target;   /* -1: none */
    int32_t assertion;
    bool shared;
    MPI_Group group;
};
void lc_clocks_win_new(struct lc_call *call, MPI_Win win, struct lc_comm *comm);
void lc_clocks_win_free_begin(struct lc_call *call, MPI_Win win);
/* freed: else MPI refused, and the window is still there */
void lc_clocks_win_free_end(struct lc_call *call, MPI_Win win, bool freed);
void lc_clocks_win_begin(struct lc_call *call, enum lc_win_sync what, MPI_Win win,
                         const struct lc_win_epoch *epoch);

/* done: the call succeeded (MPI_Win_test: and found the epoch over) */
void lc_clocks_win_end(struct lc_call *call, enum lc_win_sync what, MPI_Win win,
                       const struct lc_win_epoch *epoch, bool done);
void lc_clocks_completing(struct lc_call *call, int n, struct lc_request *const *requests);

static inline void lc_clocks_tested(struct lc_call *call, int n,
                                    struct lc_request *const *requests) {
    (void)call;
    (void)n;
    (void)requests;
}

static inline void lc_clocks_cancel(struct lc_call *call, struct lc_request *request) {
    (void)call; /* settled when the request completes: only then it is known whether it was
                   cancelled */
    (void)request;
}

#endif
