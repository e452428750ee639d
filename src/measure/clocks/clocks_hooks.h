/* Logical clocks and piggyback: what happens at the hooks of hot.h (called only with the mode
 * bit set). Budget per call with a message (x86, 2 ranks): 25 ns, of them 15 for the line that
 * comes from the other core. */
#ifndef LC_MEASURE_CLOCKS_CLOCKS_HOOKS_H
#define LC_MEASURE_CLOCKS_CLOCKS_HOOKS_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "format/raw.h"
#include "measure/mpi/operations.h"
#include "measure/mpi/request.h"
#include "measure/core/core.h"
#include "measure/core/thread.h"
#include "base/timer.h"

struct lc_comm;

extern const struct lc_part lc_clocks_part;

/* Does the deferred work of the thread's last call now: the cache entry that it refers to is about
 * to move. */
void lc_clocks_catch_up(struct lc_thread *t);
/* A node of the call tree is in use: the nodes further out that stand for it, and for those around
 * it, in a full critical-path vector are told to the other ranks. With lc_core.lock held. */
void lc_clocks_path(uint32_t node);

/* The last `ticks` before the call begins were our own work: not useful time. */
void lc_clocks_skip(struct lc_call *call, uint64_t ticks);
/* From call->begin to its end polls lasted that were not timed (hot/polls.h). */
void lc_clocks_polled(struct lc_call *call);
/* Splits the time since the last event: it was spent in this node until `until` (ticks), which is
 * before the call began. Parts come in order of time. */
void lc_clocks_split(const struct lc_call *call, uint64_t until, uint32_t node);
/* All of the last `ticks` were split: `largest` had most of them. Ranks that wait for the first
 * thread are told that node, and find the other parts of that time by it (lc_past_gap); who waits
 * for another thread is told one node that was drawn by lot, in proportion. */
void lc_clocks_dominant(const struct lc_call *call, uint64_t ticks, uint32_t largest,
                        uint32_t drawn);
/* The thread counted that in the useful time since the last event (samples/counting.h). */
void lc_clocks_counted(struct lc_thread *t, const uint64_t counts[LC_COUNTERS]);
/* A call of MPI begins: useful time of the thread ends at call->begin. */
void lc_clocks_call_begin(struct lc_call *call);
/* The call has returned (call->end): its time is booked as MPI's, not as useful time. */
void lc_clocks_call_end(struct lc_call *call);
/* A send is about to be made: its entry goes out before the message. */
void lc_clocks_send(struct lc_call *call, struct lc_msg *msg);

/* A blocking send has returned; msg: as given to lc_clocks_send. */
void lc_clocks_send_done(struct lc_call *call, struct lc_msg *msg);
/* MPI has refused to start the send, or it came to no end. */
void lc_clocks_send_failed(struct lc_call *call, struct lc_msg *msg);
/* MPI has refused to start the receive, or it came to no end. */
void lc_clocks_recv_failed(struct lc_call *call, struct lc_msg *msg);
/* A collective operation failed; refused: this process has taken no part. */
void lc_clocks_coll_failed(struct lc_call *call, struct lc_coll *coll, bool refused);
/* The operation of a request came to no end. */
void lc_clocks_request_failed(struct lc_call *call, struct lc_request *request);
/* The message has come, longer than the buffer of a receive. */
void lc_clocks_recv_truncated(struct lc_call *call, struct lc_msg *msg);
/* The message of a request has come, longer than the buffer of its receive. */
void lc_clocks_truncated(struct lc_call *call, struct lc_request *request,
                         const MPI_Status *status);
/* A receive is about to be posted: its sender can see that from now on. */
void lc_clocks_recv(struct lc_call *call, struct lc_msg *msg);
/* A nonblocking receive has been started; msg->request: its request. */
void lc_clocks_recv_started(struct lc_call *call, struct lc_msg *msg);
/* A blocking receive has got its message; msg: source, tag and bytes of that message. */
void lc_clocks_recv_done(struct lc_call *call, struct lc_msg *msg);
/* The operations of n requests are complete; NULLs among them are skipped. */
void lc_clocks_completed(struct lc_call *call, int n, struct lc_request *const *requests,
                         const MPI_Status *statuses);
/* MPI_Cancel of a receive has had success: it gets no message, and is complete. */
void lc_clocks_recv_cancelled(struct lc_call *call, struct lc_request *request);
/* MPI_Request_free of an active request. */
void lc_clocks_request_free(struct lc_call *call, struct lc_request *request);
/* The call only asked (MPI_Test.., MPI_Iprobe, ..). It found nothing, or what it found is taken by
 * the thread's next call. */
void lc_clocks_asked(struct lc_call *call);
/* MPI_Probe has found a message of this peer and tag. */
void lc_clocks_probed(struct lc_call *call, struct lc_comm *comm, int peer, int tag);
/* MPI_Mprobe or MPI_Improbe has found a message. */
void lc_clocks_mprobed(struct lc_call *call, struct lc_matched *matched);
/* The message that MPI_Mprobe found is about to be received. */
void lc_clocks_mrecv(struct lc_call *call, struct lc_matched *matched, struct lc_msg *msg);
/* A collective operation is about to begin. */
void lc_clocks_coll_begin(struct lc_call *call, struct lc_coll *coll);
/* MPI has accepted it: a blocking one is complete. */
void lc_clocks_coll_end(struct lc_call *call, struct lc_coll *coll);
/* A constructor has made a communicator. */
void lc_clocks_comm_new(struct lc_call *call, struct lc_comm *comm);
/* Its members have waited for each other in the constructor. */
void lc_clocks_comm_sync(struct lc_call *call, struct lc_comm *comm);
/* A communicator is being freed. */
void lc_clocks_comm_free(struct lc_call *call, struct lc_comm *comm);
/* Without MPI: the rate of ticks as it is known at the end; before lc_clocks_finalize. */
void lc_clocks_recalibrate(void);
/* In MPI_Finalize, before MPI's: what is on its way is received, results are joined. Collective. */
void lc_clocks_finalize(struct lc_call *call);
/* A region of the program begins at call->begin; useful time is cut there. */
void lc_clocks_region_begin(struct lc_call *call, bool named);
/* The region `open` ends at call->begin; useful time is cut there. */
void lc_clocks_region_end(struct lc_call *call, struct lc_region_open *open);
/* The measurement is switched on or off. */
void lc_clocks_control(struct lc_call *call, bool on);
/* The first event of a thread: its clock begins with that of the process. */
void lc_clocks_thread_new(struct lc_call *call);
/* A thread of the program ends: its clock stops, its sums are kept. */
void lc_clocks_thread_end(struct lc_call *call);

/* An operation that makes all members of a communicator wait for each other begins. */
void lc_clocks_sync_begin(struct lc_call *call, struct lc_comm *comm);
/* The operation that lc_clocks_sync_begin announced ends; took_part: MPI did not refuse it. */
void lc_clocks_sync_end(struct lc_call *call, bool took_part);
/* A nonblocking operation begins that makes all members of a communicator wait for each other; comm
 * NULL: none. */
void lc_clocks_isync_begin(struct lc_call *call, struct lc_coll *coll, struct lc_comm *comm);
/* It has started; request NULL: its handle is shared, it is complete. */
void lc_clocks_isync_end(struct lc_call *call, struct lc_coll *coll, struct lc_request *request);

/* A file was opened over a communicator. */
void lc_clocks_file_new(MPI_File handle, struct lc_comm *comm);
/* A collective operation on the file begins. */
void lc_clocks_file_begin(struct lc_call *call, MPI_File handle);
/* A nonblocking collective operation on the file begins; it is noted in coll. */
void lc_clocks_file_ibegin(struct lc_call *call, MPI_File handle, struct lc_coll *coll);
/* The first half of a split one begins. */
void lc_clocks_file_split_begin(struct lc_call *call, MPI_File handle);
/* The second half of a split operation on the file ends. */
void lc_clocks_file_split_end(struct lc_call *call, MPI_File handle);
/* The file is closed: what is known of its handle is forgotten. */
void lc_clocks_file_closed(MPI_File handle);

/* A window was made over a communicator. */
void lc_clocks_win_new(struct lc_call *call, MPI_Win win, struct lc_comm *comm);
/* MPI_Win_free begins; collective over the window. */
void lc_clocks_win_free_begin(struct lc_call *call, MPI_Win win);
/* MPI_Win_free has returned; freed: else MPI refused, and the window is still there. */
void lc_clocks_win_free_end(struct lc_call *call, MPI_Win win, bool freed);
/* An operation that synchronises a window begins. */
void lc_clocks_win_begin(struct lc_call *call, enum lc_win_sync what, MPI_Win win,
                         const struct lc_win_epoch *epoch);

/* done: the call succeeded (MPI_Win_test: and found the epoch over) */
void lc_clocks_win_end(struct lc_call *call, enum lc_win_sync what, MPI_Win win,
                       const struct lc_win_epoch *epoch, bool done);
/* Before MPI completes these requests (MPI_Wait*, MPI_Test*). */
void lc_clocks_completing(struct lc_call *call, int n, struct lc_request *const *requests);

/* Work of the tool between two events. */

/* The call begins now; what was done since call->begin is not the program's. */
static inline void lc_skip_own_work(struct lc_call *call) {
    uint64_t now = lc_ticks();
    call->thread->counts.own_ticks += now - call->begin;
    if (call->mode & LC_MODE_CLOCKS)
        lc_clocks_skip(call, now - call->begin);
    call->begin = now;
}

#endif
