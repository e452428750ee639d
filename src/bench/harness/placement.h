/* Where ranks may run, and what of that spoils run times. */
#ifndef LC_BENCH_HARNESS_PLACEMENT_H
#define LC_BENCH_HARNESS_PLACEMENT_H

#include <mpi.h>
#include <sched.h>

#include "bench/parts.h"

/* What may be wrong on some node; the first two are not both told. */
enum lc_spoiled {
    LC_SPOILED_CPUS,     /* more ranks than CPUs that they may use */
    LC_SPOILED_BINDING,  /* some ranks share CPUs though others have more */
    LC_SPOILED_SMT,      /* some ranks share cores as hardware threads */
    LC_SPOILED_QUOTA,    /* the control group allows fewer CPUs than there are ranks */
    LC_SPOILED_GOVERNOR, /* the frequency is not held */
    LC_SPOILED
};

struct lc_placement {
    cpu_set_t cpus; /* of this rank */
    int node_rank, node_ranks;
    int spoiled[LC_SPOILED]; /* of any node: 1 */
};

/* Looks, and agrees over comm. Collective. */
void lc_placement_find(MPI_Comm comm, struct lc_placement *placement);

/* Writes where this rank runs and, on the first of a node, its quota; on rank 0 of comm a warning
 * for what is spoiled. LC_ERR_NOMEM. */
enum lc_err lc_placement_write(const struct lc_placement *placement, MPI_Comm comm,
                               struct lc_part_writer *part);

#endif
