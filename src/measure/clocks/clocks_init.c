/* Begin of the clocks in MPI_Init. */
#include <stdlib.h>
#include <string.h>

#include "base/far_barrier.h"
#include "base/timer.h"
#include "measure/mpi/handles.h"
#include "measure/mpi/request.h"
#include "measure/clocks/backlog.h"
#include "measure/clocks/call_state.h"
#include "measure/clocks/what_if_factors.h"
#include "measure/clocks/clocks.h"
#include "measure/clocks/edges.h"
#include "measure/clocks/clocks_hooks.h"
#include "measure/clocks/contexts.h"
#include "measure/clocks/global_time.h"
#include "measure/clocks/intervals.h"
#include "measure/clocks/clock_messages.h"
#include "measure/clocks/origins.h"
#include "measure/clocks/records.h"
#include "measure/core/core.h"
#include "measure/callpath/budget.h"
#include "measure/callpath/loops.h"
#include "measure/callpath/entry.h"
#include "measure/core/thread.h"
#include "piggyback/match.h"
#include "piggyback/ring.h"

static int status_of(void *user, const struct lc_recv *recv, int32_t *source, int32_t *tag) {
    (void)user;
    const struct lc_request *request = recv->owner;
    int flag = 0;
    MPI_Status status;
    if (request == NULL || request->handle == MPI_REQUEST_NULL || request->comm == NULL ||
        (request->persistent && lc_requests.asking_ends_persistent) ||
        lc_real.Request_get_status(request->handle, &flag, &status) != MPI_SUCCESS || !flag)
        return 0;
    *source = lc_status_cancelled(&status) ? -1 : lc_clk_world(request->comm, status.MPI_SOURCE);
    *tag = status.MPI_TAG;
    return 1;
}

static const struct lc_match_calls match_calls = {status_of, lc_clk_record_pull, lc_clk_reply};

/* What the clocks make of the kind of a function, and of its wait state. */
static const uint8_t class_of[LC_MPI_KINDS] = {
    [LC_MPI_KIND_RECV] = LC_FN_PLAIN,        [LC_MPI_KIND_SEND] = LC_FN_PLAIN,
    [LC_MPI_KIND_SSEND] = LC_FN_PLAIN,       [LC_MPI_KIND_WAIT] = LC_FN_PLAIN,
    [LC_MPI_KIND_WAITANY] = LC_FN_PLAIN,     [LC_MPI_KIND_WAITALL] = LC_FN_WAITALL,
    [LC_MPI_KIND_WAITSOME] = LC_FN_WAITSOME, [LC_MPI_KIND_SENDRECV] = LC_FN_SENDRECV,
    [LC_MPI_KIND_PROBE] = LC_FN_PLAIN,       [LC_MPI_KIND_MATCHED_PROBE] = LC_FN_PLAIN,
};

static enum lc_measured_wait sync_of(enum lc_mpi_wait wait) {
    switch (wait) {
    case LC_MPI_WAIT_COMMUNICATOR:
        return LC_MEASURED_COMM;
    case LC_MPI_WAIT_COLLECTIVE_IO:
        return LC_MEASURED_FILE;
    case LC_MPI_WAIT_WIN_CREATE:
        return LC_MEASURED_WIN_CREATE;
    case LC_MPI_WAIT_WIN_FREE:
        return LC_MEASURED_WIN_FREE;
    case LC_MPI_WAIT_WIN_FENCE:
        return LC_MEASURED_WIN_FENCE;
    case LC_MPI_WAIT_EARLY_WAIT:
        return LC_MEASURED_WIN_EARLY;
    case LC_MPI_WAIT_LATE_POST:
        return LC_MEASURED_WIN_POST;
    default:
        return LC_MEASURED_KINDS;
    }
}

static void classify(void) {
    for (uint32_t fn = 0; fn < LC_FN_COUNT; fn++) {
        const struct lc_mpi_function *facts = &lc_fn_facts[fn];
        enum lc_mpi_kind kind = facts->kind;
        lc_clk.fn_class[fn] = class_of[kind];
        lc_clk.fn_syncs[fn] = sync_of(facts->wait);
        lc_clk.fn_starts[fn] = kind == LC_MPI_KIND_ISEND || kind == LC_MPI_KIND_ISSEND ||
                               kind == LC_MPI_KIND_LOCAL_ISEND || kind == LC_MPI_KIND_IRECV;
        lc_clk.fn_sends[fn] =
            kind == LC_MPI_KIND_SEND || kind == LC_MPI_KIND_SSEND || kind == LC_MPI_KIND_SENDRECV;
        /* Open MPI (4.1) hangs when it gets on with MPI_Comm_idup between the begins of two. */
        lc_clk.fn_silent[fn] = (facts->flags & LC_MPI_NO_PROGRESS) != 0;
        lc_clk.fn_uniform[fn] = (facts->flags & LC_MPI_UNIFORM) != 0;
    }
}

static bool make_tables(void) {
    int ok[2] = {lc_match_init(&lc_clk.match, lc_clk.size, &match_calls, NULL) == LC_OK,
                 lc_option("LATECOMER_OPENMP_TASKS") == NULL};
    int all[2] = {0, 0}; /* is the same of all ranks: there are tables; no explicit tasks */
    lc_real.Allreduce(ok, all, 2, MPI_INT, MPI_MIN, lc_core.comm);
    if (!all[0])
        return false;
    if (!all[1] && lc_clk.size > 1)
        lc_clk_whatif_add_tasks();
    for (uint32_t i = 0; i < lc_clk.size; i++) {
        struct lc_source *s = &lc_clk.match.sources[i];
        s->messages = lc_clk.areas[i].head == NULL;
        lc_ring_in_init(&s->ring, s->messages ? NULL : &lc_clk.areas[i], lc_clk.rank);
        s->messages = s->messages && lc_clk.records;
    }
    lc_clk.match.sources[lc_clk.rank].posts.off = true; /* nobody waits for itself */
    return true;
}

/* The thread of MPI_Init and others that were seen before get clocks now. */
static void adopt_threads(struct lc_call *call) {
    for (struct lc_clk_thread *k = lc_clk.threads; k != NULL; k = k->next) {
        k->l.rank = lc_clk.rank;
        lc_owned_init(&k->lock, lc_clk.visits > LC_VISITS_SELDOM);
    }
    lc_clocks_thread_new(call);
}

/* In MPI_Init, after MPI's: shared memory and clocks are set up. Collective. */
static void init(struct lc_call *call) {
    lc_clk.rank = (uint32_t)lc_core.rank;
    lc_clk.size = (uint32_t)lc_core.size;
    lc_clk.buffered_bytes = LC_RENDEZVOUS_BYTES;
    classify();
    lc_clk_whatif_init();
    if (!lc_core.agreed || !lc_clk_memory()) {
        lc_mode_change(LC_MODE_CLOCKS, 0);
        return;
    }
    lc_clk_time_init();
    if (!make_tables() || lc_real.Comm_dup(lc_core.comm, &lc_clk.comm) != MPI_SUCCESS) {
        lc_mode_change(LC_MODE_CLOCKS, 0);
        return;
    }
    lc_clk_trace_begin();
    lc_loops_waited = &lc_clk.waited_ticks;
    lc_loops_threads = lc_clk_iteration_visit;
    bool away = false;
    for (uint32_t i = 0; i < lc_clk.size; i++)
        away |= lc_clk.areas[i].head == NULL;
    lc_clk.threads_meet = lc_core.multiple || away;
    lc_clk.clocks_meet = lc_core.multiple && !(away && lc_clk.records);
    if (lc_clk.clocks_meet && !lc_far_barrier_possible())
        lc_clk.visits = LC_VISITS_SELDOM + 1;
    lc_clk.ready = true;
    adopt_threads(call);
    lc_clk_origins_init();
    lc_clk.finish_may_wait = lc_core.multiple;
    lc_clk.may_defer = !lc_core.multiple && lc_clk.n_threads == 1 && !(away && lc_clk.records);
    lc_clk_choose_init(away && !lc_clk.records);
    lc_clk_comm_make(lc_comm_get(call->thread, MPI_COMM_WORLD));
    lc_clk_comm_make(lc_comm_get(call->thread, MPI_COMM_SELF));
    lc_real.Barrier(lc_core.comm);
    const char *log = lc_option("LATECOMER_CLOCKS_LOG");
    char path[4096];
    if (log != NULL && snprintf(path, sizeof path, "%s.%u", log, lc_clk.rank) < (int)sizeof path)
        lc_clk.log = fopen(path, "we");
    struct lc_clk_thread *k = call->thread->clocks;
    uint64_t now = LC_ALONE ? lc_core.init_ticks : lc_ticks();
    if (!lc_core.start_stopped) {
        lc_clk_all_lock();
        lc_clk_interval_begin(now, UINT32_MAX);
        lc_clk_all_unlock();
    }
    lc_clk_interval_seen(lc_clk.on, now);
    if (k != NULL) {
        lc_clk_catch_up(k, now);
        k->seen = now;
    }
    if (away && lc_clk.records) {
        lc_clk_records_init();
        lc_clk_own_locks();
        lc_clk_backlog_init();
        const char *composed = lc_option("LATECOMER_TEST_COMPOSED");
        lc_clk.alone_each = composed != NULL && strcmp(composed, "off") == 0;
        for (struct lc_clk_thread *t = lc_clk.threads; t != NULL; t = t->next)
            t->between = t != k;
        lc_clk.backlog = true;
    }
    LC_CLK_LOG("B %llu %.17g\n", (unsigned long long)now, lc_clk.ns_per_tick);
}

static void start(struct lc_stub *stub) {
    (void)stub;
    lc_path_watch.node = lc_clocks_path;
    lc_path_watch.moving = lc_clocks_catch_up;
    lc_budget_watch.calls = lc_clk_carry_rarer;
}

const struct lc_part lc_clocks_part = {.mode = LC_MODE_CLOCKS,
                                       .start = start,
                                       .init = init,
                                       .thread_new = lc_clocks_thread_new,
                                       .thread_end = lc_clocks_thread_end,
                                       .finalize = lc_clocks_finalize};

void lc_clocks_recalibrate(void) {
    lc_timer_calibrate();
    if (lc_clk.ready)
        lc_clk.ns_per_tick = lc_timer.ns_per_tick;
}
