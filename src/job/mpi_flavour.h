/* Which MPI a library is: the one place that knows. A flavour is a binary interface: whatever
 * follows MPICH's (Intel MPI, MVAPICH, Cray MPICH, ParaStation MPI) is measured by the core that
 * was built with MPICH.
 * File names only propose: several MPIs share some (libmpi.so.12 was Open MPI 1.10's as well). What
 * the library says of itself (MPI_Get_library_version) and what it exports decide.
 * Used by the preloaded library, which has no other part of base in it, by `doctor` and `run`. */
#ifndef LC_JOB_MPI_FLAVOUR_H
#define LC_JOB_MPI_FLAVOUR_H

#include <stdbool.h>
#include <stddef.h>

/* The numbers stand in results. */
enum lc_flavour { LC_FLAVOUR_UNKNOWN, LC_FLAVOUR_IS_OPENMPI, LC_FLAVOUR_IS_MPICH };

/* Open MPI's handles are addresses of objects, this is one of them. MPICH's handles are numbers. */
#define LC_OPENMPI_SYMBOL "ompi_mpi_comm_world"
/* What Open MPI's library calls itself, since 3.0. */
#define LC_OPENMPI_SONAME "libmpi.so.40"
/* What every MPI library exports, and nothing else: languages' bindings and tools do not. */
#define LC_MPI_SYMBOL "PMPI_Init"

const char *lc_flavour_name(enum lc_flavour flavour); /* "Open MPI", "MPICH", "unknown" */
/* As in the names of our own files: "openmpi", "mpich"; NULL if unknown. */
const char *lc_flavour_word(enum lc_flavour flavour);

/* By the name of a library's file (with or without folders): what it most probably is. */
enum lc_flavour lc_flavour_of_file(const char *path);

/* By MPI_Get_library_version's text; unknown also for those of an interface that no core has (the
 * standard one of MPI 5, Open MPI before 3). */
enum lc_flavour lc_flavour_of_text(const char *library_version);

/* What decides in the end: text may be NULL (a library before MPI 3, or one that is not running).
 */
enum lc_flavour lc_flavour_decide(const char *path, const char *library_version,
                                  bool has_openmpi_symbol);

/* "Open MPI 4.1.4", "Intel MPI 2021.10", ..; the first line of the text if nobody knows it. */
void lc_mpi_product(const char *library_version, char *out, size_t bytes);

#endif
