/* The clocks of the nodes. Ranks of a node share one counter and one rate (those of its lowest
 * rank); nodes are synchronised in MPI_Init and in MPI_Finalize along a binomial tree of their
 * lowest ranks, by ping-pong (Cristian 1989): offset = t_parent - (t_before + t_after) / 2 of the
 * fastest round, error <= (t_after - t_before) / 2 Errors add along the tree. Between the two, the
 * offset is linear in time. */
#include <math.h>
#include <stdlib.h>

#include "measure/clk.h"

enum {
    LC_SYNC_ROUNDS = 2000,
    LC_SYNC_LEAST = 20,
    LC_SYNC_NS = 40000000,
    LC_SYNC_GOOD_NS = 100000,
    LC_SYNC_TAG = 0x4c31
};

double lc_clk_local_ns(uint64_t ticks) {
    double ns = (double)(int64_t)(ticks - lc_clk.base_ticks) * lc_clk.ns_per_tick;
    return lc_clk.base_ns + ns * (1 + lc_clk.bend_drift) + lc_clk.bend_offset_ns;
}

double lc_clk_to_global(uint64_t ticks) {
    return lc_clk_local_ns(ticks) + lc_clk.offset_ns;
}

uint64_t lc_clk_from_global(double global_ns) {
    double local = global_ns - lc_clk.offset_ns - lc_clk.bend_offset_ns - lc_clk.base_ns;
    double ticks = local / (1 + lc_clk.bend_drift) / lc_clk.ns_per_tick;
    return lc_clk.base_ticks + (uint64_t)(int64_t)llround(ticks);
}

static uint32_t leader_of(uint32_t node) {
    uint32_t rank = 0;
    while (rank + 1 < lc_clk.size && lc_clk.node_of[rank] != node)
        rank++;
    return rank;
}

/* The child rings until it has had enough: many rounds on a quiet machine are over soon, on a busy
 * one time decides. */
static void ask(int parent, double *offset_ns, double *error_ns) {
    double best = INFINITY, from_parent[3], begin = lc_clk_local_ns(lc_ticks());
    for (int i = 0; i < LC_SYNC_ROUNDS; i++) {
        double before = lc_clk_local_ns(lc_ticks());
        lc_real.Send(&before, 1, MPI_DOUBLE, parent, LC_SYNC_TAG, lc_core.comm);
        lc_real.Recv(from_parent, 3, MPI_DOUBLE, parent, LC_SYNC_TAG, lc_core.comm,
                     MPI_STATUS_IGNORE);
        double after = lc_clk_local_ns(lc_ticks());
        if (after - before < best) {
            best = after - before;
            *offset_ns = from_parent[0] - (before + after) / 2 + from_parent[1];
            *error_ns = best / 2 + from_parent[2];
        }
        if (i >= LC_SYNC_LEAST &&
            after - begin > (best < LC_SYNC_GOOD_NS ? LC_SYNC_NS : 10 * LC_SYNC_NS))
            break;
    }
    double enough = INFINITY;
    lc_real.Send(&enough, 1, MPI_DOUBLE, parent, LC_SYNC_TAG, lc_core.comm);
}

static void answer(int child, double offset_ns, double error_ns) {
    for (;;) {
        double theirs;
        lc_real.Recv(&theirs, 1, MPI_DOUBLE, child, LC_SYNC_TAG, lc_core.comm, MPI_STATUS_IGNORE);
        if (isinf(theirs))
            return;
        double mine[3] = {lc_clk_local_ns(lc_ticks()), offset_ns, error_ns};
        lc_real.Send(mine, 3, MPI_DOUBLE, child, LC_SYNC_TAG, lc_core.comm);
    }
}

void lc_clk_sync(double *offset_ns, double *error_ns) {
    *offset_ns = *error_ns = 0;
    if (lc_clk.n_nodes < 2)
        return;
    uint32_t me = lc_clk.node, low = me ? me & -me : UINT32_MAX;
    if (leader_of(me) == lc_clk.rank) {
        if (me)
            ask((int)leader_of(me & (me - 1)), offset_ns, error_ns);
        for (uint32_t step = 1; step < low && me + step < lc_clk.n_nodes; step *= 2)
            answer((int)leader_of(me + step), *offset_ns, *error_ns);
    }
    double mine[2] = {*offset_ns, *error_ns}, *all = malloc(2 * lc_clk.size * sizeof *all);
    if (all == NULL) /* cannot be left out: the others wait */
        all = calloc(1, 2 * lc_clk.size * sizeof *all);
    lc_real.Allgather(mine, 2, MPI_DOUBLE, all, 2, MPI_DOUBLE, lc_core.comm);
    *offset_ns = all[2 * leader_of(me)];
    for (uint32_t i = 0; i < lc_clk.size; i++)
        if (all[2 * i + 1] > *error_ns)
            *error_ns = all[2 * i + 1];
    free(all);
}

void lc_clk_time_init(void) {
    lc_clock_calibrate();
    struct {
        uint64_t base_ticks;
        double base_ns, ns_per_tick;
    } mine = {lc_clock.base_ticks, (double)lc_clock.base_ns, lc_clock.ns_per_tick}, leader = mine;
    MPI_Comm node = MPI_COMM_NULL;
    if (lc_real.Comm_split(lc_core.comm, (int)lc_clk.node, lc_core.rank, &node) == MPI_SUCCESS) {
        lc_real.Bcast(&leader, (int)sizeof leader, MPI_BYTE, 0, node);
        lc_real.Comm_free(&node);
    }
    lc_clk.base_ticks = leader.base_ticks;
    lc_clk.base_ns = leader.base_ns;
    lc_clk.ns_per_tick = leader.ns_per_tick;
    const char *bend = getenv("LATECOMER_TEST_CLOCK");
    char *rest = NULL;
    if (bend != NULL) {
        lc_clk.bend_offset_ns = strtod(bend, &rest);
        lc_clk.bend_drift = rest != NULL && *rest == ',' ? strtod(rest + 1, NULL) * 1e-6 : 0;
    }
    lc_clk.slow_ticks = (uint64_t)(1000 / lc_clk.ns_per_tick);
    lc_clk_sync(&lc_clk.offset_ns, &lc_clk.sync_error_ns);
    lc_clk.sync_local_ns = lc_clk_local_ns(lc_ticks());
}
