/* mpi.h with the functions that MPI-3 removed: Open MPI's library has them, its header hides them.
 */
#ifndef ALL_OF_MPI_H
#define ALL_OF_MPI_H

#define OMPI_OMIT_MPI1_COMPAT_DECLS    0
#define OMPI_REMOVED_USE_STATIC_ASSERT 0
#define __mpi_interface_removed__(function, instead)
#include <mpi.h>

#if defined(OPEN_MPI) && OMPI_MAJOR_VERSION < 5 /* persistent collectives */
#include <mpi-ext.h>
#endif

#endif
