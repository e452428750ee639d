/* <mpi.h>, and the types of newer versions that it lacks: a core measures programs of newer MPIs
 * than the one it was built with. Handles are as the library of that flavour defines them; the
 * other types only stand behind pointers. Included instead of <mpi.h>. */
#ifndef LC_MEASURE_CORE_MPI_COMPAT_H
#define LC_MEASURE_CORE_MPI_COMPAT_H

#include <mpi.h>

#if defined(LC_FLAVOUR_OPENMPI) && OMPI_MAJOR_VERSION < 5
typedef struct ompi_instance_t *MPI_Session;
typedef struct ompi_f08_status_public_t MPI_F08_status;
typedef void MPI_Session_errhandler_function(MPI_Session *session, int *error, ...);
#endif

#if defined(LC_FLAVOUR_OPENMPI) && OMPI_MAJOR_VERSION < 6
typedef void MPI_User_function_c(void *in, void *inout, MPI_Count *count, MPI_Datatype *datatype);
typedef int MPI_Datarep_conversion_function_c(void *user, MPI_Datatype datatype, MPI_Count count,
                                              void *file, MPI_Offset position, void *extra);
#endif

#if defined(LC_FLAVOUR_MPICH) && MPICH_NUMVERSION < 40100000 /* 4.1 */
typedef int MPIX_Stream;
#endif
#if defined(LC_FLAVOUR_MPICH) && MPICH_NUMVERSION < 40200000
typedef struct MPIX_Iov MPIX_Iov;
#endif

#endif
