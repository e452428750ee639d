/* Roles of MPI functions and constructs of OpenMP, as other tools of the field give them. */
#include <string.h>

#include "format/mpi_function.h"
#include "trace/rank.h"

OTF2_RegionRole lc_trace_role(const char *mpi_function) {
    static const OTF2_RegionRole roles[LC_MPI_ROLES] = {
        [LC_MPI_ROLE_NONE] = OTF2_REGION_ROLE_FUNCTION,
        [LC_MPI_ROLE_POINT2POINT] = OTF2_REGION_ROLE_POINT2POINT,
        [LC_MPI_ROLE_BARRIER] = OTF2_REGION_ROLE_BARRIER,
        [LC_MPI_ROLE_ONE2ALL] = OTF2_REGION_ROLE_COLL_ONE2ALL,
        [LC_MPI_ROLE_ALL2ONE] = OTF2_REGION_ROLE_COLL_ALL2ONE,
        [LC_MPI_ROLE_ALL2ALL] = OTF2_REGION_ROLE_COLL_ALL2ALL,
        [LC_MPI_ROLE_OTHER_COLLECTIVE] = OTF2_REGION_ROLE_COLL_OTHER,
        [LC_MPI_ROLE_RMA] = OTF2_REGION_ROLE_RMA,
        [LC_MPI_ROLE_ATOMIC] = OTF2_REGION_ROLE_ATOMIC,
        [LC_MPI_ROLE_FILE_IO] = OTF2_REGION_ROLE_FILE_IO,
        [LC_MPI_ROLE_FILE_IO_METADATA] = OTF2_REGION_ROLE_FILE_IO_METADATA,
        [LC_MPI_ROLE_ALLOCATE] = OTF2_REGION_ROLE_ALLOCATE,
        [LC_MPI_ROLE_DEALLOCATE] = OTF2_REGION_ROLE_DEALLOCATE,
    };
    return roles[lc_mpi_find(mpi_function)->role];
}

/* The first match counts. */
static const struct {
    const char *name;
    OTF2_RegionRole role;
} omp_roles[] = {
    {"atomic", OTF2_REGION_ROLE_ATOMIC},
    {"barrier", OTF2_REGION_ROLE_BARRIER},
    {"create task", OTF2_REGION_ROLE_TASK_CREATE},
    {"critical sblock", OTF2_REGION_ROLE_CRITICAL_SBLOCK},
    {"critical", OTF2_REGION_ROLE_CRITICAL},
    {"distribute", OTF2_REGION_ROLE_LOOP},
    {"for", OTF2_REGION_ROLE_LOOP},
    {"implicit barrier", OTF2_REGION_ROLE_IMPLICIT_BARRIER},
    {"master", OTF2_REGION_ROLE_MASTER},
    {"omp_", OTF2_REGION_ROLE_WRAPPER},
    {"ordered sblock", OTF2_REGION_ROLE_ORDERED_SBLOCK},
    {"ordered", OTF2_REGION_ROLE_ORDERED},
    {"parallel", OTF2_REGION_ROLE_PARALLEL},
    {"sections", OTF2_REGION_ROLE_SECTIONS},
    {"single", OTF2_REGION_ROLE_SINGLE},
    {"taskgroup", OTF2_REGION_ROLE_TASK_WAIT},
    {"taskloop", OTF2_REGION_ROLE_LOOP},
    {"taskwait", OTF2_REGION_ROLE_TASK_WAIT},
    {"task", OTF2_REGION_ROLE_TASK},
    {"teams", OTF2_REGION_ROLE_PARALLEL},
    {"workshare", OTF2_REGION_ROLE_WORKSHARE},
};

OTF2_RegionRole lc_trace_omp_role(const char *construct) {
    for (size_t i = 0; i < sizeof omp_roles / sizeof *omp_roles; i++)
        if (strncmp(construct, omp_roles[i].name, strlen(omp_roles[i].name)) == 0)
            return omp_roles[i].role;
    return OTF2_REGION_ROLE_CODE;
}
