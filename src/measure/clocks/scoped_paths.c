#include "measure/clocks/scoped_paths.h"

#include "base/strbuf.h"
#include "format/facts.h"
#include "measure/clocks/clocks.h"
#include "measure/core/core.h"

struct end { /* MPI_DOUBLE_INT */
    double seconds;
    int rank;
};

struct path { /* of all intervals together */
    double seconds;
    struct end longest; /* of one interval */
    int thread;
};

static void own_lengths(const struct lc_interval *v, struct end mine[LC_PATHS]) {
    const double ticks[LC_PATHS] = {
        [LC_PATH_GLOBAL] = v != NULL ? v->chain : 0,
        [LC_PATH_PROCESS] = v != NULL ? v->process_chain : 0,
        [LC_PATH_THREAD] = v != NULL ? v->useful_max : 0,
        [LC_PATH_OUTSIDE_MPI] = v != NULL ? v->outside_mpi_max : 0,
        [LC_PATH_OUTSIDE_OMP] = v != NULL ? v->outside_omp : 0,
    };
    for (size_t i = 0; i < LC_PATHS; i++)
        mine[i] = (struct end){ticks[i] * lc_clk.ns_per_tick * 1e-9, lc_core.rank};
}

/* Collective: the longest paths of one interval, added on rank 0. */
static void add_interval(const struct lc_interval *v, struct path paths[LC_PATHS]) {
    struct end mine[LC_PATHS], longest[LC_PATHS];
    int ends[LC_PATHS], all[LC_PATHS];
    own_lengths(v, mine);
    lc_real.Allreduce(mine, longest, LC_PATHS, MPI_DOUBLE_INT, MPI_MAXLOC, lc_core.comm);
    for (size_t i = 0; i < LC_PATHS; i++)
        ends[i] = v != NULL && longest[i].rank == lc_core.rank ? v->ends[i] : -1;
    lc_real.Reduce(ends, all, LC_PATHS, MPI_INT, MPI_MAX, 0, lc_core.comm);
    for (size_t i = 0; lc_core.rank == 0 && i < LC_PATHS; i++) {
        paths[i].seconds += longest[i].seconds;
        if (longest[i].seconds > paths[i].longest.seconds) {
            paths[i].longest = longest[i];
            paths[i].thread = all[i];
        }
    }
}

void lc_clk_paths_put(uint32_t n, struct lc_strbuf *facts) {
    struct path paths[LC_PATHS] = {{0}};
    for (uint32_t k = 0; k < n; k++)
        add_interval(k < lc_clk.n_intervals && k < lc_clk.cap_intervals ? &lc_clk.intervals[k]
                                                                        : NULL,
                     paths);
    struct lc_fact_path fact[LC_PATHS];
    for (size_t i = 0; i < LC_PATHS; i++)
        fact[i] = (struct lc_fact_path){paths[i].seconds, paths[i].longest.rank, paths[i].thread};
    if (lc_core.rank == 0)
        lc_facts_put(facts, LC_FACT_PATHS, fact, sizeof fact);
}
