#include "model/metrics.h"

#include <stdio.h>
#include <string.h>

/* Metrics with a name of their own. Parents stand before their children, and hold data themselves:
 * a parent contains its children. */
struct entry {
    const char *name, *parent;
    enum lc_metric_kind kind;
    enum lc_dtype dtype;
    const char *unit, *display, *descr;
};

#define SECONDS LC_METRIC_EXCLUSIVE, LC_DTYPE_DOUBLE, "sec"
#define COUNT   LC_METRIC_EXCLUSIVE, LC_DTYPE_UINT64, "occ"
#define BYTES   LC_METRIC_EXCLUSIVE, LC_DTYPE_UINT64, "bytes"

static const struct entry table[] = {
    {"time", NULL, LC_METRIC_INCLUSIVE, LC_DTYPE_DOUBLE, "sec", "Time",
     "Wall time of the location."},
    {"time_error", NULL, SECONDS, "Time: standard error",
     "Standard error of the call path's own time, where samples have divided it; sums are upper "
     "bounds."},
    {"execution", "time", SECONDS, "Execution", "Time of the call path itself."},
    {"mpi", "execution", SECONDS, "MPI", "Time in MPI calls."},
    {"mpi_init_exit", "mpi", SECONDS, "MPI init and exit", "Time to start and to end MPI."},
    {"mpi_mgmt_comm", "mpi", SECONDS, "MPI communicators", "Time in calls on communicators."},
    {"mpi_mgmt_win", "mpi", SECONDS, "MPI windows", "Time to create, free and query windows."},
    {"mpi_mgmt_file", "mpi", SECONDS, "MPI files", "Time to open, close and query files."},
    {"mpi_synchronization", "mpi", SECONDS, "MPI synchronisation", "Time to synchronise."},
    {"mpi_sync_collective", "mpi_synchronization", SECONDS, "MPI barriers", "Time in barriers."},
    {"mpi_rma_synchronization", "mpi_synchronization", SECONDS, "MPI one-sided synchronisation",
     "Time in fences, epochs and locks of windows."},
    {"mpi_communication", "mpi", SECONDS, "MPI communication", "Time to communicate."},
    {"mpi_point2point", "mpi_communication", SECONDS, "MPI point-to-point",
     "Time in calls on messages and requests."},
    {"mpi_collective", "mpi_communication", SECONDS, "MPI collective",
     "Time in collective operations that move data."},
    {"mpi_rma_communication", "mpi_communication", SECONDS, "MPI one-sided",
     "Time in one-sided communication."},
    {"mpi_io", "mpi", SECONDS, "MPI file access", "Time to read and write files."},
    {"mpi_io_individual", "mpi_io", SECONDS, "MPI individual file access",
     "Time to read and write files, each process on its own."},
    {"mpi_io_collective", "mpi_io", SECONDS, "MPI collective file access",
     "Time to read and write files together."},
    {"omp_time", "execution", SECONDS, "OpenMP", "Time in OpenMP constructs, without their code."},
    {"omp_synchronization", "omp_time", SECONDS, "OpenMP synchronisation",
     "Time to synchronise threads."},
    {"omp_ebarrier", "omp_synchronization", SECONDS, "OpenMP explicit barriers",
     "Time in explicit barriers."},
    {"omp_ibarrier", "omp_synchronization", SECONDS, "OpenMP implicit barriers",
     "Time in implicit barriers."},
    {"omp_critical", "omp_synchronization", SECONDS, "OpenMP critical",
     "Time in critical, atomic and ordered constructs."},
    {"omp_lock_api", "omp_synchronization", SECONDS, "OpenMP locks", "Time to take locks."},
    {"omp_taskwait", "omp_synchronization", SECONDS, "OpenMP taskwait",
     "Time in taskwait and taskgroup."},
    {"visits", NULL, COUNT, "Visits", "Number of times the call path was entered."},
    {"instructions", NULL, COUNT, "Instructions",
     "Instructions that the processor has completed, outside of the kernel (--counters)."},
    {"cycles", NULL, COUNT, "Cycles",
     "Cycles of the processor that the thread had, outside of the kernel (--counters)."},
    {"page_faults", NULL, COUNT, "Page faults",
     "Pages that the kernel had to provide when they were used (--counters)."},
    {"context_switches", NULL, COUNT, "Context switches",
     "Number of times the thread left the processor (--counters)."},
    {"min_time", NULL, LC_METRIC_EXCLUSIVE, LC_DTYPE_MIN_DOUBLE, "sec", "Shortest call",
     "Duration of the shortest single call."},
    {"max_time", NULL, LC_METRIC_EXCLUSIVE, LC_DTYPE_MAX_DOUBLE, "sec", "Longest call",
     "Duration of the longest single call."},
    {"mpi_unfinished", NULL, SECONDS, "Unfinished calls",
     "Time in MPI calls that had not returned when the program ended, or when it was looked at."},

    /* Messages and collectives: counts (waitstates.md 2.7) */
    {"syncs_send", NULL, COUNT, "Synchronising sends", "Messages without bytes that were sent."},
    {"mpi_slr_count", "syncs_send", COUNT, "Late receivers, no bytes",
     "Late Receiver wait states of messages without bytes."},
    {"syncs_recv", NULL, COUNT, "Synchronising receives",
     "Messages without bytes that were received."},
    {"mpi_sls_count", "syncs_recv", COUNT, "Late senders, no bytes",
     "Late Sender wait states of messages without bytes."},
    {"mpi_slswo_count", "mpi_sls_count", COUNT, "Wrong order, no bytes",
     "Late Sender wait states of messages without bytes that were received in wrong order."},
    {"syncs_coll", NULL, COUNT, "Synchronising collectives",
     "Collective operations in which this process neither sent nor received bytes."},
    {"comms_send", NULL, COUNT, "Sends", "Messages with bytes that were sent."},
    {"mpi_clr_count", "comms_send", COUNT, "Late receivers",
     "Late Receiver wait states of messages with bytes."},
    {"comms_recv", NULL, COUNT, "Receives", "Messages with bytes that were received."},
    {"mpi_cls_count", "comms_recv", COUNT, "Late senders",
     "Late Sender wait states of messages with bytes."},
    {"mpi_clswo_count", "mpi_cls_count", COUNT, "Wrong order",
     "Late Sender wait states of messages with bytes that were received in wrong order."},
    {"comms_cxch", NULL, COUNT, "Collective exchanges",
     "Collective operations in which this process both sent and received bytes."},
    {"comms_csrc", NULL, COUNT, "Collectives as source",
     "Collective operations in which this process only sent bytes."},
    {"comms_cdst", NULL, COUNT, "Collectives as destination",
     "Collective operations in which this process only received bytes."},
    {"bytes_sent", NULL, BYTES, "Bytes sent", "Bytes sent in point-to-point messages."},
    {"bytes_rcvd", NULL, BYTES, "Bytes received", "Bytes received in point-to-point messages."},
    {"bytes_cout", NULL, BYTES, "Collective bytes out", "Bytes sent in collective operations."},
    {"bytes_cin", NULL, BYTES, "Collective bytes in", "Bytes received in collective operations."},
    {"bytes_put", NULL, BYTES, "Bytes put", "Bytes written by one-sided communication."},
    {"bytes_get", NULL, BYTES, "Bytes got", "Bytes read by one-sided communication."},

    /* Wait states (waitstates.md 2.2 to 2.6) */
    {"mpi_latesender", NULL, SECONDS, "Late Sender",
     "Waiting in a receive until the sender enters its send."},
    {"mpi_latesender_wo", "mpi_latesender", SECONDS, "Late Sender, wrong order",
     "Late Sender waiting while an earlier message, received later, was on its way."},
    {"mpi_lswo_different", "mpi_latesender_wo", SECONDS, "Wrong order, different sources",
     "Wrong order where the earlier message comes from another process."},
    {"mpi_lswo_same", "mpi_latesender_wo", SECONDS, "Wrong order, same source",
     "Wrong order where the earlier message comes from the same process."},
    {"mpi_latereceiver", NULL, SECONDS, "Late Receiver",
     "Waiting in a send until the receiver posts its receive."},
    {"mpi_probe_wait", NULL, SECONDS, "Wait at Probe",
     "Waiting in MPI_Probe or MPI_Mprobe until the sender of the message that is found enters its "
     "send."},
    {"mpi_poll_wait", NULL, SECONDS, "Wait by Polling",
     "Time in calls that only ask (MPI_Test.., MPI_Iprobe, ..) and found nothing, one after the "
     "other, until the process enters the call that they asked for."},
    {"mpi_barrier_wait", NULL, SECONDS, "Wait at Barrier",
     "Waiting in a barrier until the last process enters it."},
    {"mpi_wait_nxn", NULL, SECONDS, "Wait at N x N",
     "Waiting in an all-to-all operation until the last sender enters it."},
    {"mpi_latebroadcast", NULL, SECONDS, "Late Broadcast",
     "Waiting in a broadcast or scatter until the root enters it."},
    {"mpi_earlyreduce", NULL, SECONDS, "Early Reduce",
     "Waiting of the root of a reduction or gather until the first other process enters it."},
    {"mpi_earlyscan", NULL, SECONDS, "Early Scan",
     "Waiting in a scan until the last process of lower rank enters it."},
    {"mpi_mgmt_comm_wait", NULL, SECONDS, "Wait at communicator construction",
     "Waiting in the construction of a communicator until the last process enters it."},
    {"mpi_neighbor_wait", NULL, SECONDS, "Wait for neighbour",
     "Waiting in a neighbourhood collective until the last neighbour enters it."},
    {"mpi_io_collective_wait", NULL, SECONDS, "Wait at collective I/O",
     "Waiting in a collective file operation until the last process enters it."},
    {"mpi_rma_wait_at_create", NULL, SECONDS, "Wait at window creation",
     "Waiting in the creation of a window until the last process enters it."},
    {"mpi_rma_wait_at_free", NULL, SECONDS, "Wait at window destruction",
     "Waiting in the destruction of a window until the last process enters it."},
    {"mpi_rma_wait_at_fence", NULL, SECONDS, "Wait at fence",
     "Waiting in a window fence until the last process enters it."},
    {"mpi_rma_early_wait", NULL, SECONDS, "Early Wait",
     "Waiting in MPI_Win_wait until the last origin calls MPI_Win_complete."},
    {"mpi_rma_sync_late_post", NULL, SECONDS, "Late Post",
     "Waiting in MPI_Win_start or MPI_Win_complete until the last target calls MPI_Win_post."},
    {"mpi_rma_sync_lock_competition", NULL, SECONDS, "Lock competition",
     "Waiting for the lock of a window until the last holder releases it."},
    {"omp_ebarrier_wait", NULL, SECONDS, "Wait at explicit barrier",
     "Waiting in an explicit OpenMP barrier until the last thread enters it, less tasks run "
     "there."},
    {"omp_ibarrier_wait", NULL, SECONDS, "Wait at implicit barrier",
     "Waiting in an implicit OpenMP barrier until the last thread enters it, less tasks run "
     "there."},
    {"omp_taskwait_wait", NULL, SECONDS, "Wait at taskwait",
     "Time in taskwait or at the end of a taskgroup, less tasks run there."},
    {"omp_lock_contention_critical", NULL, SECONDS, "Critical section contention",
     "Waiting for a critical section that another thread holds."},
    {"omp_lock_contention_api", NULL, SECONDS, "Lock contention",
     "Waiting for an OpenMP lock that another thread holds."},
    {"pthread_lock_contention_mutex_lock", NULL, SECONDS, "Mutex contention",
     "Waiting for a mutex that another thread holds."},
    {"omp_idle_threads", NULL, SECONDS, "Idle threads",
     "Worker threads outside of parallel regions, until the master's next fork."},
    {"omp_limited_parallelism", "omp_idle_threads", SECONDS, "Limited parallelism",
     "Idle threads during a parallel region whose team is smaller than the largest one."},
    {"omp_management", NULL, SECONDS, "OpenMP management",
     "Time to start and to end teams of threads."},
    {"omp_fork", "omp_management", SECONDS, "OpenMP fork",
     "Time from a fork to the first event of each thread of the team."},
    {"omp_task_wait", NULL, SECONDS, "Ready tasks",
     "Time in which tasks were ready, but no thread ran them."},
    {"omp_task_work", NULL, SECONDS, "Work of tasks",
     "Useful time of the tasks of a construct, on the threads that ended them."},
    {"omp_task_span", NULL, SECONDS, "Span of tasks",
     "Longest chain of the useful time of a construct's tasks, with a clock per task; once per "
     "process."},
    {"omp_tasks_created", NULL, COUNT, "Tasks created", "Tasks that this thread created."},
    {"omp_tasks_stolen", NULL, COUNT, "Tasks of other threads",
     "Tasks that this thread ran, and another one had created."},
    {"omp_tasks_at_once", NULL, COUNT, "Tasks at once",
     "The most tasks of a construct that ran at the same time; once per process."},

    /* Beginning, end, completion (2.5) */
    {"mpi_init_completion", NULL, SECONDS, "MPI_Init completion",
     "Time in MPI_Init after the last process entered and the first process left it."},
    {"mpi_finalize_wait", NULL, SECONDS, "Wait at MPI_Finalize",
     "Waiting in MPI_Finalize until the last process enters it."},
    {"mpi_barrier_completion", NULL, SECONDS, "Barrier completion",
     "Time in a barrier after the last process entered and the first process left it."},
    {"mpi_nxn_completion", NULL, SECONDS, "N x N completion",
     "Time in an all-to-all operation after the last sender entered and the first process left "
     "it."},

    /* Estimated from minima, without communication (wait-state-profile.md) */
    {"mpi_latesender_estimated", NULL, SECONDS, "Late Sender, estimated",
     "Time in receiving calls above the shortest call of the same function and size class on this "
     "process."},
    {"mpi_latereceiver_estimated", NULL, SECONDS, "Late Receiver, estimated",
     "Time in sending calls above the shortest call of the same function and size class on this "
     "process."},
    {"mpi_wait_nxn_estimated", NULL, SECONDS, "Wait at N x N, estimated",
     "Time in all-to-all operations above the shortest call of the same function and size class on "
     "any process."},
    {"mpi_barrier_wait_estimated", NULL, SECONDS, "Wait at Barrier, estimated",
     "Time in barriers above the shortest barrier on any process."},
    {"mpi_latebroadcast_estimated", NULL, SECONDS, "Late Broadcast, estimated",
     "Time of processes other than the root in broadcasts and scatters above the shortest such "
     "call on any process."},
    {"mpi_earlyreduce_estimated", NULL, SECONDS, "Early Reduce, estimated",
     "Time of the root in reductions and gathers above the shortest such call on any process."},

    {"mpi_waitall_estimated", NULL, SECONDS, "MPI_Waitall, estimated",
     "Time in MPI_Waitall, MPI_Waitany and MPI_Waitsome above the shortest such call of the same "
     "size class on this process. The method is wrong for them: in no sum."},

    /* Critical path and indicators (waitstates.md 4 and 5; pop-and-critical-path.md) */
    {"critical_path_useful", NULL, SECONDS, "Critical path of useful work",
     "Contribution to the longest chain of useful work, followed while the program ran."},
    {"critical_path", NULL, SECONDS, "Critical path",
     "Contribution to the chain of activities that determines the run time."},
    {"critical_path_imbalance", "critical_path", SECONDS, "Critical-path imbalance",
     "Time on the critical path above the average time of all processes in the same call path "
     "(wall-clock time)."},
    {"critical_path_activities", "performance_impact_criticalpath", SECONDS,
     "Critical-path activities",
     "Time of each process in call paths of the critical path, up to their time on the path "
     "(allocation time, as the following)."},
    {"non_critical_path_activities", "performance_impact", SECONDS, "Non-critical-path activities",
     "Time of each process above the time that the call path has on the critical path."},
    {"critical_imbalance_impact", "performance_impact_criticalpath", SECONDS, "Imbalance impact",
     "Waiting of all processes, attributed to the imbalanced call paths of the critical path."},
    {"intra_partition_imbalance", "critical_imbalance_impact", SECONDS, "Intra-partition imbalance",
     "Imbalance impact through processes that run the call path themselves."},
    {"inter_partition_imbalance", "critical_imbalance_impact", SECONDS, "Inter-partition imbalance",
     "Imbalance impact through processes that never run the call path."},
};

const struct lc_waiting_metric lc_waiting_metrics[] = {
    {"mpi_latesender", "mpi_point2point", "Late Sender", "receives that wait for the send"},
    {"mpi_latereceiver", "mpi_point2point", "Late Receiver", "sends that wait for the receive"},
    {"mpi_probe_wait", "mpi_point2point", "Wait at Probe", "probes that wait for the send"},
    {"mpi_poll_wait", "mpi_point2point", "Wait by Polling",
     "tests and probes, again and again, until the other process comes"},
    {"mpi_wait_nxn", "mpi_collective", "Wait at N x N",
     "all-to-all operations that wait for the last process"},
    {"mpi_barrier_wait", "mpi_sync_collective", "Wait at Barrier",
     "barriers that wait for the last process"},
    {"mpi_latebroadcast", "mpi_collective", "Late Broadcast",
     "broadcasts and scatters that wait for the root"},
    {"mpi_earlyreduce", "mpi_collective", "Early Reduce",
     "roots of reductions that wait for the others"},
    {"mpi_earlyscan", "mpi_collective", "Early Scan", "scans that wait for lower ranks"},
    {"mpi_mgmt_comm_wait", "mpi_mgmt_comm", "Communicator",
     "communicator construction that waits for the last"},
    {"mpi_neighbor_wait", "mpi_collective", "Neighbour",
     "neighbourhood collectives that wait for a neighbour"},
    {"mpi_io_collective_wait", "mpi_io_collective", "Collective I/O",
     "file operations that wait for the last process"},
    {"mpi_rma_wait_at_create", "mpi_mgmt_win", "Window creation",
     "window creation that waits for the last"},
    {"mpi_rma_wait_at_free", "mpi_mgmt_win", "Window destruction",
     "window destruction that waits for the last"},
    {"mpi_rma_wait_at_fence", "mpi_rma_synchronization", "Fence",
     "fences that wait for the last process"},
    {"mpi_rma_early_wait", "mpi_rma_synchronization", "Early Wait",
     "MPI_Win_wait before the origins are done"},
    {"mpi_rma_sync_lock_competition", "mpi_rma_synchronization", "Window lock",
     "locks of windows that others hold"},
    {"mpi_rma_sync_late_post", "mpi_rma_synchronization", "Late Post",
     "accesses that wait for MPI_Win_post"},
    {"mpi_finalize_wait", "mpi_init_exit", "Wait at Finalize",
     "MPI_Finalize that waits for the last process"},
    {"omp_ebarrier_wait", "omp_ebarrier", "OpenMP barrier",
     "explicit barriers that wait for the last thread"},
    {"omp_ibarrier_wait", "omp_ibarrier", "OpenMP implicit",
     "implicit barriers that wait for the last thread"},
    {"omp_lock_contention_critical", "omp_critical", "Critical section",
     "threads that wait for a critical section"},
    {"omp_lock_contention_api", "omp_lock_api", "OpenMP lock", "threads that wait for a lock"},
    {"pthread_lock_contention_mutex_lock", NULL, "Mutex", "threads that wait for a mutex"},
    {"omp_taskwait_wait", "omp_taskwait", "Task wait", "threads that wait for tasks"},
    {"omp_idle_threads", NULL, "Idle threads", "worker threads outside of parallel regions"},
    {NULL, NULL, NULL, NULL},
};

/* Also parts of the time of calls, but no waiting. */
static const struct {
    const char *name, *around;
} completions[] = {
    {"mpi_barrier_completion", "mpi_sync_collective"},
    {"mpi_nxn_completion", "mpi_collective"},
    {"mpi_init_completion", "mpi_init_exit"},
};

/* Sums over metrics, named as in Scalasca: no analysis computes them, each is the sum of its
 * children. Those of root causes exist once for each delay-cost model. */
struct sum {
    const char *name, *parent, *display, *descr;
};

static const struct sum sums[] = {
    {"delay", NULL, "Delay costs",
     "All waiting that this code caused, directly or through others."},
    {"delay_mpi", "delay", "Delay costs in MPI", "Waiting in MPI calls that this code caused."},
    {"delay_p2p", "delay_mpi", "Delay costs, point-to-point",
     "Waiting in point-to-point communication that this code caused."},
    {"delay_collective", "delay_mpi", "Delay costs, collective",
     "Waiting in operations of several processes that this code caused."},
    {"delay_omp", "delay", "Delay costs of threads", "Waiting of threads that this code caused."},
    {"waitstates_direct_vs_indirect", NULL, "Wait states, direct and indirect",
     "Waiting by its origin: code of the late process, or earlier waiting."},
    {"mpi_wait_direct", "waitstates_direct_vs_indirect", "Direct wait states",
     "Waiting caused by code of the late process."},
    {"omp_wait_direct", "waitstates_direct_vs_indirect", "Direct wait states of threads",
     "Waiting of threads caused by code of the late one."},
    {"mpi_wait_indirect", "waitstates_direct_vs_indirect", "Indirect wait states",
     "Waiting caused by earlier waiting of the late process."},
    {"omp_wait_indirect", "waitstates_direct_vs_indirect", "Indirect wait states of threads",
     "Waiting of threads caused by earlier waiting of the late one."},
    {"waitstates_propagating_vs_terminal", NULL, "Wait states, propagating and terminal",
     "Waiting by its effect: it makes another process or thread wait later, or nobody."},
    {"mpi_wait_propagating", "waitstates_propagating_vs_terminal", "Propagating wait states",
     "Waiting that makes another process wait later."},
    {"omp_wait_propagating", "waitstates_propagating_vs_terminal",
     "Propagating wait states of threads", "Waiting of threads that makes others wait later."},
    {"mpi_wait_terminal", "waitstates_propagating_vs_terminal", "Terminal wait states",
     "Waiting that delays nobody else."},
    {"omp_wait_terminal", "waitstates_propagating_vs_terminal", "Terminal wait states of threads",
     "Waiting of threads that delays nobody else."},
    {"performance_impact", NULL, "Performance impact",
     "All time of all processes: that of code itself, and waiting at the code whose imbalance "
     "caused it."},
    {"performance_impact_criticalpath", "performance_impact", "Impact of the critical path",
     "Activities on the critical path and the waiting that their imbalance causes."},
};

/* Root causes (waitstates.md 3.3, 3.4): families of names, one member per kind of wait state, each
 * for both delay-cost models. */
struct kind {
    const char *name;  /* in delay_* and mpi_wait_direct_*, mpi_wait_indirect_* */
    const char *alias; /* in mpi_wait_propagating_*, mpi_wait_terminal_* */
    const char *display;
    const char *paradigm; /* of the classification: "omp" instead of mpi_wait_direct_* */
    const char *group;    /* the sum over this and like kinds that the delay costs belong to */
};

static const struct kind kinds[] = {
    {"latesender", "ls", "Late Sender", "mpi", "delay_p2p"},
    {"latereceiver", "lr", "Late Receiver", "mpi", "delay_p2p"},
    {"probe", "probe", "Wait at Probe", "mpi", "delay_p2p"},
    {"barrier", "barrier", "Wait at Barrier", "mpi", "delay_collective"},
    {"n2n", "n2n", "Wait at N x N", "mpi", "delay_collective"},
    {"12n", "12n", "Late Broadcast", "mpi", "delay_collective"},
    {"n21", "n21", "Early Reduce", "mpi", "delay_collective"},
    {"scan", "scan", "Early Scan", "mpi", "delay_collective"},
    {"mgmt", "mgmt", "Wait at communicator construction", "mpi", "delay_collective"},
    {"finalize", "finalize", "Wait at MPI_Finalize", "mpi", "delay_collective"},
    {"rma", "rma", "One-sided synchronisation", "mpi", "delay_mpi"},
    {"io", "io", "Wait at collective I/O", "mpi", "delay_collective"},
    {"neighbor", "neighbor", "Wait for neighbour", "mpi", "delay_collective"},
    {"ompbarrier", "ompbarrier", "Wait at OpenMP barrier", "omp", "delay_omp"},
    {"ompidle", "ompidle", "Idle threads", "omp", "delay_omp"},
    {"lock", "lock", "Lock contention", "omp", "delay_omp"},
    {"omptask", "omptask", "Wait for tasks", "omp", "delay_omp"},
};

enum spelling { NAME, ALIAS };
/* The parent: of the kind, "delay_KIND_aggregate", one of each paradigm. */
enum above { GROUP, AGGREGATE, PARADIGM };

struct family {
    const char *prefix, *suffix; /* prefix: behind the paradigm where that is the parent */
    enum spelling spelling;
    enum above above;
    const char *parent;          /* PARADIGM: behind it */
    const char *display, *descr; /* descr: %s is the kind */
};

static const struct family families[] = {
    {"delay_", "_aggregate", NAME, GROUP, NULL, "delay costs",
     "Waiting of kind %s that this code caused, directly or through others."},
    {"delay_", "", NAME, AGGREGATE, NULL, "delay costs, short-term",
     "Waiting of kind %s that this code caused directly."},
    {"delay_", "_longterm", NAME, AGGREGATE, NULL, "delay costs, long-term",
     "Waiting of kind %s that this code caused through other wait states."},
    {"_wait_direct_", "", NAME, PARADIGM, "_wait_direct", "direct",
     "Waiting of kind %s caused by code of the late process."},
    {"_wait_indirect_", "", NAME, PARADIGM, "_wait_indirect", "indirect",
     "Waiting of kind %s caused by earlier waiting of the late process."},
    {"_wait_propagating_", "", ALIAS, PARADIGM, "_wait_propagating", "propagating",
     "Waiting of kind %s that makes another process wait later."},
    {"_wait_terminal_", "", ALIAS, PARADIGM, "_wait_terminal", "terminal",
     "Waiting of kind %s that delays nobody else."},
};

/* A metric of any table. */
struct described {
    enum lc_metric_kind kind;
    enum lc_dtype dtype;
    const char *unit;
    char parent[LC_METRIC_NAME]; /* "": none */
    char display[160], descr[512];
    bool sum;
};

static const char waitfirst_suffix[] = "_waitfirst";

static bool ends_with(const char *name, const char *end) {
    size_t length = strlen(name), tail = strlen(end);
    return length >= tail && strcmp(name + length - tail, end) == 0;
}

static bool describe_entry(const char *name, struct described *d) {
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        const struct entry *e = &table[i];
        if (strcmp(e->name, name) != 0)
            continue;
        *d = (struct described){.kind = e->kind, .dtype = e->dtype, .unit = e->unit};
        snprintf(d->parent, sizeof d->parent, "%s", e->parent != NULL ? e->parent : "");
        snprintf(d->display, sizeof d->display, "%s", e->display);
        snprintf(d->descr, sizeof d->descr, "%s", e->descr);
        return true;
    }
    return false;
}

/* Of both delay-cost models: texts and parent of the model that `name` belongs to. */
static void finish_text(struct described *d, const char *parent, bool waitfirst,
                        const char *display, const char *descr) {
    snprintf(d->parent, sizeof d->parent, "%s%s", parent != NULL ? parent : "",
             parent != NULL && waitfirst ? waitfirst_suffix : "");
    snprintf(d->display, sizeof d->display, "%s%s", display, waitfirst ? " (wait-first)" : "");
    snprintf(d->descr, sizeof d->descr, "%s%s", descr,
             waitfirst ? " Model wait-first: waiting of the cause is charged before its code."
                       : "");
}

static bool has_models(const char *sum) {
    return strncmp(sum, "performance_", 12) != 0;
}

static bool describe_sum(const char *base, bool waitfirst, struct described *d) {
    for (size_t i = 0; i < sizeof sums / sizeof sums[0]; i++)
        if (strcmp(sums[i].name, base) == 0 && (!waitfirst || has_models(base))) {
            d->sum = true;
            finish_text(d, sums[i].parent, waitfirst, sums[i].display, sums[i].descr);
            return true;
        }
    return false;
}

static bool describe_member(const char *base, const struct family *family, const struct kind *kind,
                            bool waitfirst, struct described *d) {
    const char *spelling = family->spelling == ALIAS ? kind->alias : kind->name;
    char name[LC_METRIC_NAME], parent[LC_METRIC_NAME], display[128], sentence[256];
    snprintf(name, sizeof name, "%s%s%s%s", family->above == PARADIGM ? kind->paradigm : "",
             family->prefix, spelling, family->suffix);
    if (strcmp(name, base) != 0)
        return false;
    d->sum = family->above == GROUP;
    if (family->above == PARADIGM)
        snprintf(parent, sizeof parent, "%s%s", kind->paradigm, family->parent);
    else if (family->above == AGGREGATE)
        snprintf(parent, sizeof parent, "delay_%s_aggregate", kind->name);
    else
        snprintf(parent, sizeof parent, "%s", kind->group);
    snprintf(display, sizeof display, "%s: %s", kind->display, family->display);
    /* The format is one of the constants above. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(sentence, sizeof sentence, family->descr, kind->display);
#pragma GCC diagnostic pop
    finish_text(d, parent, waitfirst, display, sentence);
    return true;
}

/* Whether any table has the metric. */
static bool describe(const char *name, struct described *d) {
    char base[LC_METRIC_NAME];
    bool waitfirst = ends_with(name, waitfirst_suffix);
    if (strlen(name) >= sizeof base)
        return false;
    if (describe_entry(name, d))
        return true;
    snprintf(base, sizeof base, "%s", name);
    if (waitfirst)
        base[strlen(base) - strlen(waitfirst_suffix)] = '\0';
    *d = (struct described){.kind = LC_METRIC_EXCLUSIVE, .dtype = LC_DTYPE_DOUBLE, .unit = "sec"};
    if (describe_sum(base, waitfirst, d))
        return true;
    for (size_t f = 0; f < sizeof families / sizeof families[0]; f++)
        for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
            if (describe_member(base, &families[f], &kinds[k], waitfirst, d))
                return true;
    return false;
}

enum lc_err lc_metrics_add(struct lc_model *model, const char *name, uint32_t *id) {
    uint32_t found = lc_model_find_metric(model, name);
    struct described d;
    if (found != LC_NONE) {
        if (id != NULL)
            *id = found;
        return LC_OK;
    }
    if (!describe(name, &d))
        return lc_fail(LC_ERR_NOT_FOUND,
                       "metric %s: not in the table of metrics: add it to metrics.c", name);
    struct lc_metric metric = {.parent = LC_NONE,
                               .kind = d.kind,
                               .dtype = d.dtype,
                               .name = (char *)name,
                               .display = d.display,
                               .unit = (char *)d.unit,
                               .descr = d.descr};
    if (d.parent[0] != '\0')
        LC_TRY(lc_metrics_add(model, d.parent, &metric.parent));
    else if (lc_metrics_time_around(name) != NULL)
        metric.parent = lc_model_find_metric(model, lc_metrics_time_around(name));
    return lc_model_add_metric(model, &metric, id);
}

const char *lc_metrics_time_around(const char *name) {
    for (const struct lc_waiting_metric *wait = lc_waiting_metrics; wait->name != NULL; wait++)
        if (strcmp(wait->name, name) == 0)
            return wait->around;
    for (size_t i = 0; i < sizeof completions / sizeof *completions; i++)
        if (strcmp(completions[i].name, name) == 0)
            return completions[i].around;
    return NULL;
}

bool lc_metrics_parent(const char *name, char parent[LC_METRIC_NAME]) {
    struct described d;
    if (!describe(name, &d) || d.parent[0] == '\0')
        return false;
    memcpy(parent, d.parent, sizeof d.parent);
    return true;
}

bool lc_metrics_is_sum(const char *name) {
    struct described d;
    return describe(name, &d) && d.sum;
}
