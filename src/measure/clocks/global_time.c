/* The clocks of the nodes. Ranks of a node share one counter and one rate (those of its lowest
 * rank); nodes are synchronised in MPI_Init and in MPI_Finalize along a binomial tree of their
 * lowest ranks, by ping-pong (Cristian 1989): offset = t_parent - (t_before + t_after) / 2 of the
 * fastest round, error <= (t_after - t_before) / 2. Errors add up along the tree. Between the two,
 * the offset is linear in time; a trace gets more points.
 *
 * Waits are measured while the program runs, so they need the drift before its end: in long runs
 * the nodes are synchronised again, shortly, at the end of a collective operation of all ranks that
 * synchronises anyway: after 2 s, 4 s, .. and then every minute. Rank 0 looks at its clock at such
 * operations with certain numbers, and tells the others whether it is time, and how many operations
 * there are between later looks: a few in each step, unless operations are rare or come in bursts.
 * No call waits for the answer: it is taken at the next look, two operations later or more: by then
 * each rank has been through an operation in which all wait for all, and what rank 0 sent before
 * that has arrived. */
#include <math.h>
#include <stdlib.h>

#include "base/c_numbers.h"
#include "base/timer.h"
#include "measure/clocks/clocks.h"
#include "measure/clocks/global_time.h"
#include "measure/core/core.h"
#include "measure/core/thread.h"
#include "base/mem.h"
#include "measure/mpi/handles.h"
#include "measure/clocks/contexts.h"
#include "measure/trace/trace_area.h"

enum {
    LC_SYNC_ROUNDS = 2000,
    LC_SYNC_LEAST = 20,
    LC_SYNC_NS = 40000000,
    LC_SYNC_GOOD_NS = 100000,
    LC_RESYNC_NS = 2000000, /* of waiting in each step of the tree */
    LC_RESYNC_WORST_NS = 20000,
    LC_LOOKS_LEAST = 2, /* operations from one look to the next */
    LC_LOOKS_FIRST = 4,
    LC_LOOKS_MOST = 64, /* so that none is far away when a burst of operations is over */
    LC_SYNC_TAG = 0x4c31
};

#define LC_SYNC_AS_GOOD 1.05 /* times the fastest round */

/* A test makes the clock of this process another one: LATECOMER_TEST_CLOCK=offset,drift,curve in
 * ns, ppm and ppm per second. */
static double lc_clk_local_ns(uint64_t ticks) {
    double ns = (double)(int64_t)(ticks - lc_clk.base_ticks) * lc_clk.ns_per_tick;
    return lc_clk.base_ns + lc_timer_bent(&lc_clk.bend, ns);
}

double lc_clk_to_global(uint64_t ticks) {
    double local = lc_clk_local_ns(ticks);
    return local + lc_clk.now.offset_ns + lc_clk.drift * (local - lc_clk.now.local_ns);
}

/* Ticks at a time of the node's clock, ns. */
static uint64_t lc_clk_from_local(double local_ns) {
    double ns = lc_timer_straight(&lc_clk.bend, local_ns - lc_clk.base_ns);
    return lc_clk.base_ticks + (uint64_t)(int64_t)llround(ns / lc_clk.ns_per_tick);
}

uint64_t lc_clk_from_global(double global_ns) {
    double since = global_ns - lc_clk.now.offset_ns - lc_clk.now.local_ns;
    return lc_clk_from_local(lc_clk.now.local_ns + since / (1 + lc_clk.drift));
}

double lc_clk_global_s(const struct lc_offset_ends *c, uint64_t ticks) {
    double local = lc_clk_local_ns(ticks);
    double part = c->local_end > c->local_begin
                      ? (local - c->local_begin) / (c->local_end - c->local_begin)
                      : 0;
    return (local + c->offset_begin + (c->offset_end - c->offset_begin) * part) * 1e-9;
}

static uint32_t leader_of(uint32_t node) {
    uint32_t rank = 0;
    while (rank + 1 < lc_clk.size && lc_clk.node_of[rank] != node)
        rank++;
    return rank;
}

/* The fastest round with the parent of this node so far. */
static struct {
    int parent;
    double ns; /* 0: none yet */
} fastest;

/* The child rings until it has had enough: many rounds on a quiet machine are over soon, on a busy
 * one time decides. During the run, where calls wait for it, a round that is about as fast as the
 * fastest one before is enough: more of them would hardly make the bound smaller, and the parent
 * was there. */
static void ask(int parent, double budget_ns, struct lc_clk_measured *m) {
    double best = INFINITY, from_parent[3], begin = lc_clk_local_ns(lc_ticks());
    double good =
        budget_ns < LC_SYNC_NS && fastest.parent == parent ? LC_SYNC_AS_GOOD * fastest.ns : 0;
    for (int i = 0; i < LC_SYNC_ROUNDS; i++) {
        double before = lc_clk_local_ns(lc_ticks());
        lc_real.Send(&before, 1, MPI_DOUBLE, parent, LC_SYNC_TAG, lc_core.comm);
        lc_real.Recv(from_parent, 3, MPI_DOUBLE, parent, LC_SYNC_TAG, lc_core.comm,
                     MPI_STATUS_IGNORE);
        double after = lc_clk_local_ns(lc_ticks());
        if (after - before < best) {
            best = after - before;
            m->local_ns = (before + after) / 2;
            m->offset_ns = from_parent[0] - m->local_ns + from_parent[1];
            m->error_ns = best / 2 + from_parent[2];
        }
        if (best <= good)
            break;
        if (i >= LC_SYNC_LEAST &&
            after - begin > (best < LC_SYNC_GOOD_NS ? budget_ns : 10 * budget_ns))
            break;
    }
    if (fastest.ns == 0)
        fastest.parent = parent;
    if (fastest.parent == parent && (fastest.ns == 0 || best < fastest.ns))
        fastest.ns = best;
    double enough = INFINITY;
    lc_real.Send(&enough, 1, MPI_DOUBLE, parent, LC_SYNC_TAG, lc_core.comm);
}

static void answer(int child, const struct lc_clk_measured *m) {
    for (;;) {
        double theirs;
        lc_real.Recv(&theirs, 1, MPI_DOUBLE, child, LC_SYNC_TAG, lc_core.comm, MPI_STATUS_IGNORE);
        if (isinf(theirs))
            return;
        double mine[3] = {lc_clk_local_ns(lc_ticks()), m->offset_ns, m->error_ns};
        lc_real.Send(mine, 3, MPI_DOUBLE, child, LC_SYNC_TAG, lc_core.comm);
    }
}

/* The same among one rank per node: world ranks, the first is the reference; `me`: place of the
 * caller. */
static void lc_clk_measure_leaders(const int *leaders, uint32_t n, uint32_t me, double budget_ns,
                                   struct lc_clk_measured *m) {
    uint32_t low = me ? me & -me : UINT32_MAX;
    *m = (struct lc_clk_measured){.local_ns = lc_clk_local_ns(lc_ticks())};
    if (me)
        ask(leaders[me & (me - 1)], budget_ns, m);
    for (uint32_t step = 1; step < low && me + step < n; step *= 2)
        answer(leaders[me + step], m);
}

static void sync_nodes(double budget_ns, struct lc_clk_measured *m) {
    *m = (struct lc_clk_measured){.local_ns = lc_clk_local_ns(lc_ticks())};
    if (lc_clk.n_nodes < 2)
        return;
    int *leaders = malloc(lc_clk.n_nodes * sizeof *leaders);
    struct lc_clk_measured *all = malloc(lc_clk.size * sizeof *all);
    bool all_ok =
        lc_on_all(leaders != NULL && all != NULL, lc_core.comm) && leaders != NULL && all != NULL;
    for (uint32_t i = 0; all_ok && i < lc_clk.n_nodes; i++)
        leaders[i] = (int)leader_of(i);
    if (all_ok && leaders[lc_clk.node] == (int)lc_clk.rank)
        lc_clk_measure_leaders(leaders, lc_clk.n_nodes, lc_clk.node, budget_ns, m);
    if (all_ok) {
        struct lc_clk_measured mine = *m;
        lc_real.Allgather(&mine, sizeof mine, MPI_BYTE, all, sizeof mine, MPI_BYTE, lc_core.comm);
        *m = all[leaders[lc_clk.node]];
        for (uint32_t i = 0; i < lc_clk.size; i++)
            if (all[i].error_ns > m->error_ns)
                m->error_ns = all[i].error_ns;
    }
    free(all);
    free(leaders);
}

void lc_clk_measure_offset(struct lc_clk_measured *m) {
    sync_nodes(LC_SYNC_NS, m);
}

static bool resync_due(void) {
    double now = lc_clk_local_ns(lc_ticks());
    if (now < lc_clk.resync_at_ns)
        return false;
    lc_clk.resync_step_ns = fmin(2 * lc_clk.resync_step_ns, 60e9);
    lc_clk.resync_at_ns = now + lc_clk.resync_step_ns;
    return true;
}

bool lc_clk_came_after(uint64_t enter, uint64_t end) {
    if (enter <= end || lc_clk.n_nodes < 2)
        return enter > end;
    double error = 2 * (fmax(lc_clk.sync_error_ns, lc_clk.resync_error_ns) + lc_clk.ahead_ns) +
                   LC_CLK_DRIFT * (lc_clk_local_ns(end) - lc_clk.now.local_ns);
    return (double)(enter - end) * lc_clk.ns_per_tick > error;
}

void lc_clk_compare(const struct lc_clk_measured *m) {
    double expected = lc_clk.now.offset_ns + lc_clk.drift * (m->local_ns - lc_clk.now.local_ns);
    lc_clk.ahead_ns = fmax(lc_clk.ahead_ns, fabs(m->offset_ns - expected));
}

static void resync(void) {
    struct lc_clk_measured m;
    sync_nodes(LC_RESYNC_NS, &m);
    double since = m.local_ns - lc_clk.sync_local_ns;
    if (m.error_ns > fmax(LC_RESYNC_WORST_NS, 4 * lc_clk.sync_error_ns) || since <= 0)
        return;
    lc_clk_compare(&m);
    lc_clk.drift = (m.offset_ns - lc_clk.offset_ns) / since;
    lc_clk.now = m;
    lc_clk.resync_error_ns = fmax(lc_clk.resync_error_ns, m.error_ns);
    lc_clk.n_resyncs++;
}

static struct { /* alike on all ranks */
    bool off;   /* threads of some rank may call MPI at the same time: operations have no order */
    uint64_t n, next, step;
    double looked_ns;    /* on rank 0 */
    MPI_Request request; /* of the last look's answer, which nobody has taken yet */
    uint64_t answer[2];  /* is it time, operations between the next look and the one after it */
} looks = {.step = LC_LOOKS_FIRST, .request = MPI_REQUEST_NULL};

/* What rank 0 told at the look before: has come long since. */
static bool take_answer(void) {
    if (looks.request == MPI_REQUEST_NULL)
        return false;
    lc_real.Wait(&looks.request, MPI_STATUS_IGNORE);
    looks.step = looks.answer[1];
    return looks.answer[0] != 0;
}

static void ask_rank_0(void) {
    looks.answer[0] = 0;
    looks.answer[1] = looks.step;
    if (lc_core.rank == 0) {
        double now = lc_clk_local_ns(lc_ticks()), passed = now - looks.looked_ns;
        double wanted = fmin(lc_clk.resync_step_ns, 60e9) / 8;
        looks.looked_ns = now;
        if (passed < wanted / 2 && looks.step < LC_LOOKS_MOST)
            looks.answer[1] *= 2;
        else if (passed > wanted && looks.step > LC_LOOKS_LEAST)
            looks.answer[1] /= 2;
        looks.answer[0] = resync_due();
    }
    lc_real.Ibcast(looks.answer, 2, MPI_UINT64_T, 0, lc_core.comm, &looks.request);
}

void lc_clk_resync_look(struct lc_call *call) {
    if (lc_clk.n_nodes < 2 || looks.off || looks.n++ < looks.next)
        return;
    if (take_answer()) {
        resync();
        call->end = lc_ticks();
    }
    looks.next = looks.n + looks.step - 1;
    ask_rank_0();
}

void lc_clk_resync_end(void) {
    take_answer();
}

void lc_clk_time_init(void) {
    lc_timer_calibrate();
    struct {
        uint64_t base_ticks;
        double base_ns, ns_per_tick;
    } mine = {lc_timer.base_ticks, (double)lc_timer.base_ns, lc_timer.ns_per_tick}, leader = mine;
    MPI_Comm node = MPI_COMM_NULL;
    if (lc_real.Comm_split(lc_core.comm, (int)lc_clk.node, lc_core.rank, &node) == MPI_SUCCESS) {
        lc_real.Bcast(&leader, (int)sizeof leader, MPI_BYTE, 0, node);
        lc_real.Comm_free(&node);
    }
    lc_clk.base_ticks = leader.base_ticks;
    lc_clk.base_ns = leader.base_ns;
    lc_clk.ns_per_tick = leader.ns_per_tick;
    lc_timer_bend_get(&lc_clk.bend);
    lc_clk.slow_ticks = (uint64_t)(1000 / lc_clk.ns_per_tick);
    struct lc_clk_measured m;
    lc_clk_measure_offset(&m);
    lc_clk.offset_ns = m.offset_ns;
    lc_clk.sync_error_ns = m.error_ns;
    lc_clk.sync_local_ns = m.local_ns;
    lc_clk.now = m;
    int multiple = lc_core.multiple, any = 1;
    lc_real.Allreduce(&multiple, &any, 1, MPI_INT, MPI_MAX, lc_core.comm);
    looks.off = any;
    looks.looked_ns = m.local_ns;
    lc_clk.resync_step_ns = 2e9;
    lc_clk.resync_at_ns = m.local_ns + lc_clk.resync_step_ns;
}

/* Clock offsets of the nodes for the event trace: measured in MPI_Init and MPI_Finalize
 * (global_time.c) and, in long runs, at barriers: clocks drift by a part in 10^7 or so that changes
 * with the temperature, and a reader interpolates linearly between two points.
 *
 * A barrier serves if it is over a communicator with members on several nodes, the first node (that
 * of rank 0, whose clock is the global one) among them. Then the lowest member of each node
 * measures its offset, as in MPI_Init. Its rank 0 decides: it looks at the clock at every barrier
 * whose number is due, and tells the others whether it is time, and how many barriers later to look
 * again: a few times per interval in the long run, and the number of looks before that grows with
 * the logarithm of the number of barriers. The measurement belongs to the time of the barrier. */

/* A point that is worse than this and than those of the ends would make things worse. */
enum { LC_POINT_GOOD_NS = 20000 };
enum { LC_POINT_NS = 2000000, LC_STEP_MAX = 1 << 20, LC_NEVER = 0x7fffffff };

static struct {
    bool on, at_barriers;
    double interval_ns, measured_ns;
    struct { /* of rank 0: ticks of the global clock */
        uint64_t base_ticks;
        double base_ns, ns_per_tick;
    } root;
    struct lc_clk_measured *points; /* measured by this rank at barriers */
    size_t n_points, cap_points;
} trace;

/* In ticks: time stamps of the trace are those of each node, its global time is that of rank 0. */
static void define(const struct lc_clk_measured *m) {
    uint64_t ticks = lc_clk_from_local(m->local_ns);
    double global_ns = m->local_ns + m->offset_ns;
    int64_t since = llround((global_ns - trace.root.base_ns) / trace.root.ns_per_tick);
    int64_t offset = (int64_t)(trace.root.base_ticks - ticks) + since;
    lc_trace_define_clock(ticks, offset, (uint64_t)(m->error_ns / trace.root.ns_per_tick));
}

void lc_clk_trace_begin(void) {
    const char *interval = lc_option("LATECOMER_CLOCK_SYNC");
    int no = !lc_trace_wanted(), multiple = lc_core.multiple, mine[2] = {no, multiple}, any[2];
    if (lc_clk.n_nodes < 2) { /* one clock: the trace says so */
        lc_trace_define_clock(lc_ticks(), 0, 0);
        return;
    }
    lc_real.Allreduce(mine, any, 2, MPI_INT, MPI_MAX, lc_core.comm);
    if (any[0])
        return;
    trace.root.base_ticks = lc_clk.base_ticks;
    trace.root.base_ns = lc_clk.base_ns;
    trace.root.ns_per_tick = lc_clk.ns_per_tick;
    trace.interval_ns = 1e9 * (interval != NULL && *interval ? lc_strtod(interval, NULL) : 30);
    lc_real.Bcast(&trace.root, (int)sizeof trace.root, MPI_BYTE, 0, lc_core.comm);
    lc_real.Bcast(&trace.interval_ns, 1, MPI_DOUBLE, 0, lc_core.comm);
    trace.measured_ns = lc_clk.sync_local_ns;
    trace.on = true;
    trace.at_barriers = trace.interval_ns > 0 && !any[1];
    lc_trace_define_bend(lc_clk.base_ticks, lc_clk.ns_per_tick, &lc_clk.bend);
    define(&(struct lc_clk_measured){lc_clk.sync_local_ns, lc_clk.offset_ns, lc_clk.sync_error_ns});
}

/* The lowest member of each node, by node; the number of nodes, 0 if the first one is not there.
 * NULL: no memory. */
static int *leaders_of(const struct lc_comm *comm, uint32_t *n, uint32_t *me) {
    int *leaders = malloc(lc_clk.n_nodes * sizeof *leaders);
    uint32_t place = 0;
    *n = *me = 0;
    for (uint32_t node = 0; leaders != NULL && node < lc_clk.n_nodes; node++)
        leaders[node] = -1;
    for (int32_t i = 0; leaders != NULL && i < comm->size; i++)
        if (comm->world[i] >= 0 && leaders[lc_clk.node_of[comm->world[i]]] < 0)
            leaders[lc_clk.node_of[comm->world[i]]] = comm->world[i];
    for (uint32_t node = 0; leaders != NULL && leaders[0] >= 0 && node < lc_clk.n_nodes; node++) {
        if (node == lc_clk.node)
            *me = place;
        if (leaders[node] >= 0)
            leaders[place++] = leaders[node];
    }
    *n = place;
    return leaders;
}

static void measure(const int *leaders, uint32_t n, uint32_t me) {
    struct lc_clk_measured m;
    if (leaders[me] != (int)lc_clk.rank)
        return;
    lc_clk_measure_leaders(leaders, n, me, LC_POINT_NS, &m);
    bool good = m.error_ns <= fmax(2 * lc_clk.sync_error_ns, LC_POINT_GOOD_NS);
    if (me == 0 || !good ||
        lc_grow(&trace.points, &trace.cap_points, trace.n_points + 1, sizeof *trace.points) !=
            LC_OK)
        return;
    trace.points[trace.n_points++] = m;
    define(&m);
}

/* Is it time to measure? And after how many barriers to ask again. */
static void look(struct lc_clk_comm *c, int32_t *due) {
    double now = lc_clk_local_ns(lc_ticks()), passed = now - c->looked_ns;
    *due = now - trace.measured_ns >= trace.interval_ns;
    if (passed < trace.interval_ns / 8 && c->sync_step < LC_STEP_MAX)
        c->sync_step *= 2;
    else if (passed > trace.interval_ns / 4 && c->sync_step > 1)
        c->sync_step /= 2;
    c->looked_ns = now;
    if (*due)
        trace.measured_ns = now;
}

void lc_clk_trace_barrier(struct lc_call *call, struct lc_comm *comm) {
    struct lc_clk_comm *c = lc_clk_comm_of(comm);
    if (!trace.at_barriers || comm->inter)
        return;
    if (c->n_barriers++ < c->next_sync)
        return;
    uint32_t n = 0, me = 0;
    int *leaders = leaders_of(comm, &n, &me);
    int32_t decision[2] = {0, LC_NEVER};
    if (lc_on_all(leaders != NULL, comm->handle) && leaders != NULL && n > 1) {
        c->sync_step = c->sync_step ? c->sync_step : 1;
        if (comm->rank == 0)
            look(c, &decision[0]);
        decision[1] = (int32_t)c->sync_step;
        lc_real.Bcast(decision, 2, MPI_INT32_T, 0, comm->handle);
        c->sync_step = (uint32_t)decision[1];
        if (decision[0])
            measure(leaders, n, me);
    }
    c->next_sync = decision[1] == LC_NEVER ? UINT32_MAX : c->n_barriers + (uint32_t)decision[1] - 1;
    free(leaders);
    call->end = lc_ticks();
}

/* What the members of a node have measured holds for all of them. */
static void define_all(MPI_Comm node) {
    int size = 0, mine = (int)(trace.n_points * sizeof *trace.points), total = 0;
    lc_real.Comm_size(node, &size);
    int *counts = malloc(2 * (size_t)size * sizeof *counts);
    if (!lc_on_all(counts != NULL, node) || counts == NULL) {
        free(counts);
        return;
    }
    lc_real.Allgather(&mine, 1, MPI_INT, counts, 1, MPI_INT, node);
    for (int i = 0; i < size; i++) {
        counts[size + i] = total;
        total += counts[i];
    }
    struct lc_clk_measured *all = malloc((size_t)total + 1);
    if (lc_on_all(all != NULL, node) && all != NULL && total > 0) {
        lc_real.Allgatherv(trace.points, mine, MPI_BYTE, all, counts, counts + size, MPI_BYTE,
                           node);
        for (size_t i = 0; i < (size_t)total / sizeof *all; i++)
            define(&all[i]);
    }
    free(all);
    free(counts);
}

void lc_clk_trace_end(const struct lc_clk_measured *m) {
    MPI_Comm node = MPI_COMM_NULL;
    if (lc_clk.n_nodes < 2)
        lc_trace_define_clock(lc_ticks(), 0, 0);
    if (!trace.on)
        return;
    trace.on = trace.at_barriers = false;
    define(m);
    if (lc_real.Comm_split(lc_core.comm, (int)lc_clk.node, lc_core.rank, &node) == MPI_SUCCESS) {
        define_all(node);
        lc_real.Comm_free(&node);
    }
    free(trace.points);
    trace.points = NULL;
    trace.n_points = trace.cap_points = 0;
}
