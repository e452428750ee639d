/* Performance variables of the MPI library (MPI_T): those that only grow, as counters of a
 * repetition. Open MPI has its software counters there (OMPI_MCA_mpi_spc_attach=all). */
#ifndef LC_BENCH_HARNESS_MPI_VARIABLES_H
#define LC_BENCH_HARNESS_MPI_VARIABLES_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/strbuf.h"
#include "bench/parts.h"

enum { LC_MPI_VARIABLES_MOST = 24 };

struct lc_mpi_variables {
    bool open; /* MPI_T is initialised */
    MPI_T_pvar_session session;
    MPI_T_pvar_handle handle[LC_MPI_VARIABLES_MOST];
    MPI_Datatype type[LC_MPI_VARIABLES_MOST];
    char name[LC_MPI_VARIABLES_MOST][LC_PART_NAME];
    unsigned n;
};

/* Collective over comm: the same variables on all of its ranks. What is not available is left out;
 * a line for it goes to `missing`. */
void lc_mpi_variables_open(struct lc_mpi_variables *variables, MPI_Comm comm,
                           struct lc_strbuf *missing);
/* Gives back what lc_mpi_variables_open asked of MPI. */
void lc_mpi_variables_close(struct lc_mpi_variables *variables);

/* values[n]: what stands in them now; times in ns. */
void lc_mpi_variables_read(const struct lc_mpi_variables *variables, int64_t *values);

#endif
