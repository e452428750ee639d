/* What is to be known about this run of an MPI beside run times: library, variables, placement. */
#ifndef LC_BENCH_HARNESS_MPI_FACTS_H
#define LC_BENCH_HARNESS_MPI_FACTS_H

#include <mpi.h>
#include <stdbool.h>

#include "bench/parts.h"

/* Writes the first record of this rank, on the first of each node the facts of machine and loaded
 * libraries, and on rank 0 those of the MPI.
 * comm: all that measure. *oversubscribed: more ranks than cores on some node. Collective.
 * LC_ERR_NOMEM. */
enum lc_err lc_mpi_facts(struct lc_part_writer *part, MPI_Comm comm, bool *oversubscribed);

#endif
