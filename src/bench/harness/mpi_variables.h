/* Performance variables of the MPI library (MPI_T) as counters of a repetition, by their classes:
 * what grows, what stands in levels, watermarks and states after the operation. Open MPI has its
 * software counters there (OMPI_MCA_mpi_spc_attach=all, `--counters spc`). */
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
    double scale[LC_MPI_VARIABLES_MOST]; /* of numbers that are not whole: 1e9 of seconds, .. */
    uint8_t kind[LC_MPI_VARIABLES_MOST]; /* enum lc_counter_kind */
    bool resets[LC_MPI_VARIABLES_MOST];  /* a watermark that may be reset */
    char name[LC_MPI_VARIABLES_MOST][LC_PART_NAME];
    unsigned n;
};

/* Collective over comm: the same variables on all of its ranks. `wanted`: names, or parts of them,
 * with commas; "": all. What is not available is left out; lines for it go to `missing`. */
void lc_mpi_variables_open(struct lc_mpi_variables *variables, MPI_Comm comm, const char *wanted,
                           struct lc_strbuf *missing);
/* Gives back what lc_mpi_variables_open asked of MPI. */
void lc_mpi_variables_close(struct lc_mpi_variables *variables);

/* Watermarks begin anew. */
void lc_mpi_variables_reset(const struct lc_mpi_variables *variables);
/* values[n]: what stands in them now; times in ns, shares in millionths. */
void lc_mpi_variables_read(const struct lc_mpi_variables *variables, int64_t *values);

#endif
