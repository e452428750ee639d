/* Where logical clocks (clocks_hooks.h) and the event trace (trace_hooks.h) attach to the wrappers.
 * Every point costs one predictable branch on call->mode when both are off. Points run also while
 * measurement is stopped (no LC_MODE_ON), and inside the MPI call (depth 1), so that MPI may be
 * called through lc_real. Order in a call: call_begin, then what the operation begins, the MPI
 * call, then what it completed, call_end. */
#ifndef LC_MEASURE_HOT_HOOKS_H
#define LC_MEASURE_HOT_HOOKS_H

#include "measure/clocks/clocks_hooks.h"
#include "measure/core/core.h"
#include "measure/trace/trace_hooks.h"

#define LC_HOOK_OF(sides, name, parameters, arguments)                                             \
    static inline void lc_hook_##name parameters {                                                 \
        sides(name, arguments)                                                                     \
    }
#define LC_CLOCKS(name, arguments)                                                                 \
    if (lc_unlikely(call->mode & LC_MODE_CLOCKS))                                                  \
        lc_clocks_##name arguments;
#define LC_TRACE(name, arguments)                                                                  \
    if (lc_unlikely(call->mode & LC_MODE_TRACE))                                                   \
        lc_trace_##name arguments;
#define LC_BOTH(name, arguments)             LC_CLOCKS(name, arguments) LC_TRACE(name, arguments)
#define LC_HOOK(name, parameters, arguments) LC_HOOK_OF(LC_BOTH, name, parameters, arguments)
#define LC_CLOCKS_HOOK(name, parameters, arguments)                                                \
    LC_HOOK_OF(LC_CLOCKS, name, parameters, arguments)
#define LC_TRACE_HOOK(name, parameters, arguments) LC_HOOK_OF(LC_TRACE, name, parameters, arguments)

LC_HOOK(call_begin, (struct lc_call * call), (call))
LC_HOOK(call_end, (struct lc_call * call), (call))
/* Before any send: blocking, MPI_Isend, start of a persistent one, the sending half of
 * MPI_Sendrecv. */
LC_CLOCKS_HOOK(send, (struct lc_call * call, struct lc_msg *msg), (call, msg))
/* A nonblocking or persistent send was started: msg->request. */
LC_TRACE_HOOK(send_started, (struct lc_call * call, struct lc_msg *msg), (call, msg))
/* A blocking send returned. */
LC_HOOK(send_done, (struct lc_call * call, struct lc_msg *msg), (call, msg))
/* Before any receive is posted. */
LC_CLOCKS_HOOK(recv, (struct lc_call * call, struct lc_msg *msg), (call, msg))
LC_HOOK(recv_started, (struct lc_call * call, struct lc_msg *msg), (call, msg))
/* A blocking receive completed; peer, tag, bytes are those of the message. Not called for
 * MPI_PROC_NULL. */
LC_HOOK(recv_done, (struct lc_call * call, struct lc_msg *msg), (call, msg))
/* Before a call that may complete requests; requests[i] NULL: not known. */
LC_CLOCKS_HOOK(completing, (struct lc_call * call, int n, struct lc_request *const *requests),
               (call, n, requests))
/* requests[i] NULL: not known, or not completed by this call. statuses[i] tells source, tag;
 * lc_status_bytes, lc_status_cancelled. */
LC_HOOK(completed,
        (struct lc_call * call, int n, struct lc_request *const *requests,
         const MPI_Status *statuses),
        (call, n, requests, statuses))
/* A test that found these active requests (those not NULL) incomplete. */
LC_TRACE_HOOK(tested, (struct lc_call * call, int n, struct lc_request *const *requests),
              (call, n, requests))
LC_CLOCKS_HOOK(request_free, (struct lc_call * call, struct lc_request *request), (call, request))
LC_CLOCKS_HOOK(mprobed, (struct lc_call * call, struct lc_matched *matched), (call, matched))
/* MPI_Mrecv, before: msg->peer.. are known; blocking ones are completed by recv_done, MPI_Imrecv by
 * recv_started and completed. */
LC_CLOCKS_HOOK(mrecv, (struct lc_call * call, struct lc_matched *matched, struct lc_msg *msg),
               (call, matched, msg))
LC_HOOK(coll_begin, (struct lc_call * call, struct lc_coll *coll), (call, coll))
/* Blocking: it is over. Nonblocking: it was started, coll->request (NULL if the handle is shared).
 */
LC_HOOK(coll_end, (struct lc_call * call, struct lc_coll *coll), (call, coll))
/* A new communicator, inside its constructor; with lc_core.agreed all members are here, and may
 * communicate. */
LC_HOOK(comm_new, (struct lc_call * call, struct lc_comm *comm), (call, comm))
LC_HOOK(comm_free, (struct lc_call * call, struct lc_comm *comm), (call, comm))
/* Regions: call->entry's last item is the region; at the end call->entry is that of latecomer_end.
 */
LC_HOOK(region_begin, (struct lc_call * call), (call))
LC_HOOK(region_end, (struct lc_call * call, struct lc_region_open *open), (call, open))
/* Measurement goes on or off in this process; call->begin is the time. Called once, by the thread
 * that switches. */
LC_HOOK(control, (struct lc_call * call, bool on), (call, on))
#undef LC_HOOK
#undef LC_CLOCKS_HOOK
#undef LC_TRACE_HOOK
#undef LC_HOOK_OF
#undef LC_CLOCKS
#undef LC_TRACE
#undef LC_BOTH

#endif
