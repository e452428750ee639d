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
#include <math.h>
#include <stdlib.h>

#include "base/c_numbers.h"
#include "base/mem.h"
#include "base/timer.h"
#include "measure/mpi/handles.h"
#include "measure/clocks/clocks.h"
#include "measure/clocks/contexts.h"
#include "measure/clocks/global_time.h"
#include "measure/clocks/trace_offsets.h"
#include "measure/core/core.h"
#include "measure/core/core_options.h"
#include "measure/core/thread.h"
#include "measure/trace/definitions.h"
#include "measure/trace/trace_area.h"

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
    int32_t ok = leaders != NULL, all_ok = 0, decision[2] = {0, LC_NEVER};
    lc_real.Allreduce(&ok, &all_ok, 1, MPI_INT32_T, MPI_MIN, comm->handle);
    if (all_ok && leaders != NULL && n > 1) {
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
    int ok = counts != NULL, all_ok = 0;
    lc_real.Allreduce(&ok, &all_ok, 1, MPI_INT, MPI_MIN, node);
    if (!all_ok || counts == NULL) {
        free(counts);
        return;
    }
    lc_real.Allgather(&mine, 1, MPI_INT, counts, 1, MPI_INT, node);
    for (int i = 0; i < size; i++) {
        counts[size + i] = total;
        total += counts[i];
    }
    struct lc_clk_measured *all = malloc((size_t)total + 1);
    ok = all != NULL;
    lc_real.Allreduce(&ok, &all_ok, 1, MPI_INT, MPI_MIN, node);
    if (all_ok && all != NULL && total > 0) {
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
