#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "base/parents_file.h"
#include "base/timer.h"
#include "measure/stub/stub.h"
#include "measure/wrappers/special.h"
#include "measure/mpi/request.h"
#include "measure/core/core.h"
#include "measure/gather/finalize.h"
#include "measure/hot/hot.h"
#include "measure/hot/locations.h"
#include "measure/core/thread.h"

/* Wrappers with work of their own: MPI_Init, MPI_Finalize, MPI_Abort, MPI_Pcontrol, sessions. */

/* Sends a byte to the parent (LATECOMER_NOTIFY=<pid>:<fd>, a pipe); false: nobody reads it. */
static bool notify_parent(char what) {
    int pipe = lc_open_parents(lc_core.notify, LC_PARENTS_PIPE_LINK, O_WRONLY | O_NONBLOCK);
    if (pipe < 0)
        return false;
    bool ok = write(pipe, &what, 1) == 1;
    close(pipe);
    return ok;
}

/* Scripts remove the copy of a program that they ran: its parent, which finds names in that file,
 * must have opened it before the program ends. By now it has, unless it got no processor. */
static void wait_until_file_is_open(void) {
    enum { NAP_NS = 1000000, NAPS = 5000 };
    for (int i = 0; i < NAPS && atomic_load(&lc_core.state->has_file) == 0; i++)
        nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
}

/* The handle that MPI gives to all sends that are complete at once: it stands for no request of its
 * own, and several threads may hold it at one time. MPICH's has no name; two sends to MPI_PROC_NULL
 * reveal it. */
static void find_empty_request(void) {
    if (LC_ALONE)
        return;
#if defined(LC_FLAVOUR_OPENMPI)
    lc_requests.empty = (MPI_Request)dlsym(lc_core.stub->mpi, "ompi_request_empty");
#else
    MPI_Request sends[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    for (int i = 0; i < 2; i++)
        if (lc_real.Isend(NULL, 0, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_SELF, &sends[i]) !=
            MPI_SUCCESS)
            return;
    if (sends[0] == sends[1])
        lc_requests.empty = sends[0];
    lc_real.Waitall(2, sends, MPI_STATUSES_IGNORE);
#endif
}

/* MPICH 4.2: MPI_Request_get_status makes a persistent request that is complete inactive, so that
 * the program's wait finds nothing. A message to ourselves shows it. */
static bool asking_ends_persistent(void) {
    enum { TAG = 0, TRIES = 1000 };
    int out = 0, in = 0, flag = 0;
    MPI_Request receive, send;
    MPI_Status asked, waited = {.MPI_SOURCE = MPI_UNDEFINED};
    if (lc_real.Recv_init(&in, 1, MPI_INT, 0, TAG, MPI_COMM_SELF, &receive) != MPI_SUCCESS)
        return true;
    lc_real.Start(&receive);
    lc_real.Isend(&out, 1, MPI_INT, 0, TAG, MPI_COMM_SELF, &send);
    for (int i = 0; i < TRIES && !flag; i++)
        lc_real.Request_get_status(receive, &flag, &asked);
    lc_real.Wait(&receive, &waited);
    lc_real.Wait(&send, MPI_STATUS_IGNORE);
    lc_real.Request_free(&receive);
    return !flag || waited.MPI_SOURCE != 0;
}

static bool calls_are_filtered(void) {
    enum { FILTER = 2 };
    return prctl(PR_GET_SECCOMP) == FILTER;
}

/* setuid, among others, closes the memory of a process to those without rights. */
static bool closed_before; /* when MPI_Init ended */

static bool memory_is_closed(void) {
    return prctl(PR_GET_DUMPABLE) != 1 && geteuid() != 0;
}

/* A program that filters its system calls since MPI_Init, or has become another user, may have lost
 * one that MPI needs for messages of more than a few KiB (process_vm_readv), and MPI may end it
 * then, though its own messages are small. So ours are left away, and the parents save what each
 * rank has. */
static void give_up_if_restricted(void) {
    enum { FILTERED = 1, CLOSED = 2 };
    int since_init = (!lc_core.filtered_before && calls_are_filtered() ? FILTERED : 0) |
                     (!closed_before && memory_is_closed() ? CLOSED : 0);
    int any = 0;
    if (!lc_core.agreed || lc_core.size == 1 ||
        lc_real.Allreduce(&since_init, &any, 1, MPI_INT, MPI_BOR, lc_core.comm) != MPI_SUCCESS ||
        any == 0)
        return;
    lc_core.agreed = false;
    if (lc_core.rank == 0)
        lc_say_once("the program %s: the critical path and what waits cost are left out",
                    any & FILTERED ? "filters its system calls (seccomp)"
                                   : "has given up rights since MPI_Init");
}

void lc_job_begin(struct lc_call *call) {
    struct lc_state_header *h = lc_core.state;
    uint64_t begin_ns = lc_monotonic_raw_ns();
    lc_core.filtered_before = calls_are_filtered();
    closed_before = memory_is_closed();
    lc_core.init_ticks = call->end;
    lc_real.Comm_rank(MPI_COMM_WORLD, &lc_core.rank);
    lc_real.Comm_size(MPI_COMM_WORLD, &lc_core.size);
    lc_real.Query_thread(&lc_core.provided_level);
    lc_core.multiple = lc_core.provided_level == MPI_THREAD_MULTIPLE;
    lc_core.initialised = true;
    find_empty_request();
    lc_requests.asking_ends_persistent = LC_ALONE || asking_ends_persistent();
    h->rank = lc_core.rank;
    h->size = lc_core.size;
    h->thread_level = lc_core.provided_level;
    h->init_ns = lc_monotonic_raw_ns();
    lc_comm_cold(call->thread, MPI_COMM_WORLD);
    lc_comm_cold(call->thread, MPI_COMM_SELF);
    lc_agree();
    notify_parent('i');
    const char *clocks = lc_option("LATECOMER_CLOCKS");
    if (lc_core.agreed && (clocks == NULL || strcmp(clocks, "off") != 0))
        lc_mode_change(0, LC_MODE_CLOCKS);
    call->mode = atomic_load_explicit(&call->thread->mode, memory_order_relaxed);
    if (call->mode & LC_MODE_LIVE)
        lc_parts_init(call);
    h->start_ns += lc_monotonic_raw_ns() - begin_ns;
}

/* MPI_Init and MPI_Init_thread end here. Our own work after it is not booked. */
static void leave_init(struct lc_call *call, int result) {
    struct lc_thread *t = call->thread;
    if (result == MPI_SUCCESS)
        lc_job_begin(call);
    lc_leave(call);
    t->last_ticks = lc_ticks();
}

int lc_wrap_init(uint32_t fn, void *frame, void *ra, int *argc, char ***argv) {
    struct lc_call call;
    if (!lc_enter(&call, fn, frame, ra))
        return lc_real.Init(argc, argv);
    lc_agree_announce();
    int result = lc_real.Init(argc, argv);
    lc_stamp_end(&call);
    leave_init(&call, result);
    return result;
}

int lc_wrap_init_thread(uint32_t fn, void *frame, void *ra, int *argc, char ***argv, int required,
                        int *provided) {
    struct lc_call call;
    if (!lc_enter(&call, fn, frame, ra))
        return lc_real.Init_thread(argc, argv, required, provided);
    lc_core.required_level = required;
    lc_agree_announce();
    int result = lc_real.Init_thread(argc, argv, required, provided);
    lc_stamp_end(&call);
    leave_init(&call, result);
    return result;
}

/* The profile is written after a barrier of our own, so that waiting for the last rank is booked
 * as time in MPI_Finalize, as it would be without the tool, and our own work is not. */
void lc_job_end(struct lc_call *call) {
    struct lc_thread *t = call->thread;
    struct lc_state_header *h = lc_core.state;
    give_up_if_restricted();
    uint64_t come_ns = lc_monotonic_raw_ns(); /* where ranks agree, the last one has come, too */
    lc_polls_settle();
    lc_parts_finalize(call);
    if (lc_core.agreed)
        lc_real.Barrier(lc_core.comm);
    if (!LC_ALONE) {
        lc_stamp_end(call);
        lc_leave(call);
    }
    t->depth = 1;
    h->finalize_ns = h->end_ns = lc_monotonic_raw_ns();
    lc_parts_write();
    lc_mode_change(LC_MODE_LIVE | LC_MODE_ON | LC_MODE_CLOCKS | LC_MODE_TRACE, 0);
    lc_core.finalized = true;
    h->finish_ns = lc_monotonic_raw_ns() - come_ns;
    if (lc_core.rank == 0 && lc_core.agreed &&
        notify_parent('f')) /* the result is whole, whatever MPI_Finalize does now */
        wait_until_file_is_open();
}

int lc_wrap_finalize(uint32_t fn, void *frame, void *ra) {
    struct lc_call call;
    if (!lc_enter(&call, fn, frame, ra))
        return lc_real.Finalize();
    lc_job_end(&call);
    int result = lc_real.Finalize();
    lc_core.state->end_ns = lc_monotonic_raw_ns();
    call.thread->depth = 0;
    return result;
}

int lc_wrap_abort(uint32_t fn, void *frame, void *ra, MPI_Comm comm, int errorcode) {
    struct lc_call call;
    if (lc_enter(&call, fn, frame, ra)) {
        /* It does not return: it is booked as a call of no duration. */
        lc_stamp_end(&call);
        lc_leave(&call);
    } else if (!lc_core.initialised || lc_core.forked || (lc_core.mode & LC_MODE_LIVE) == 0) {
        return lc_real.Abort(comm, errorcode);
    } /* else in an error handler, or in that of a signal */
    lc_core.state->ending_code = errorcode;
    atomic_store_explicit(&lc_core.state->ending, LC_ENDING_ABORT, memory_order_release);
    lc_core.state->end_ns = lc_monotonic_raw_ns();
    /* The launcher may kill the parents with the program: they get up to 2 s to save the result. */
    if (notify_parent('a'))
        for (int i = 0; i < 1000 && atomic_load(&lc_core.state->saved) == 0; i++)
            nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    return lc_real.Abort(comm, errorcode);
}

int lc_wrap_pcontrol(uint32_t fn, void *frame, void *ra, int level) {
    struct lc_call call;
    bool measured = lc_enter(&call, fn, frame, ra);
    int result = lc_real.Pcontrol(level);
    if (!measured)
        return result;
    lc_stamp_end(&call);
    lc_leave(&call);
    if (level == 0 || level == 1)
        lc_control(level == 1, frame, ra);
    else
        atomic_fetch_add_explicit(&lc_core.n_pcontrol_ignored, 1, memory_order_relaxed);
    return result;
}

/* Sessions have no MPI_COMM_WORLD: such a process is measured alone, its parent saves the result,
 * which is complete if no session is open at the end. */
static _Atomic int open_sessions;

static void all_sessions_closed(bool closed) {
    unsigned from = closed ? LC_ENDING_NONE : LC_ENDING_SESSIONS;
    atomic_compare_exchange_strong(&lc_core.state->ending, &from,
                                   closed ? LC_ENDING_SESSIONS : LC_ENDING_NONE);
}

int lc_wrap_session_init(uint32_t fn, void *frame, void *ra, MPI_Info info,
                         MPI_Errhandler errhandler, MPI_Session *session) {
    struct lc_call call;
    if (!lc_enter(&call, fn, frame, ra))
        return lc_real.Session_init(info, errhandler, session);
    if (!lc_core.initialised && lc_core.rank < 0)
        lc_agree_announce();
    int result = lc_real.Session_init(info, errhandler, session);
    lc_stamp_end(&call);
    if (result == MPI_SUCCESS && atomic_fetch_add(&open_sessions, 1) == 0)
        all_sessions_closed(false);
    lc_leave(&call);
    return result;
}

int lc_wrap_session_finalize(uint32_t fn, void *frame, void *ra, MPI_Session *session) {
    struct lc_call call;
    if (!lc_enter(&call, fn, frame, ra))
        return lc_real.Session_finalize(session);
    int result = lc_real.Session_finalize(session);
    lc_stamp_end(&call);
    lc_leave(&call);
    bool last = result == MPI_SUCCESS && atomic_fetch_sub(&open_sessions, 1) == 1;
    if (!lc_core.initialised) {
        lc_agree_peers();
        if (last)
            all_sessions_closed(true);
        notify_parent('i');
    }
    return result;
}
