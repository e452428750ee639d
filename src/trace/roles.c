/* Roles of MPI functions and constructs of OpenMP, as other tools of the field give them. */
#include <stdlib.h>
#include <string.h>

#include "trace/rank.h"

struct role {
    const char *name; /* without "MPI_"; ascending */
    OTF2_RegionRole role;
};

static const struct role roles[] = {
    {"Accumulate", OTF2_REGION_ROLE_ATOMIC},
    {"Allgather", OTF2_REGION_ROLE_COLL_ALL2ALL},
    {"Allgatherv", OTF2_REGION_ROLE_COLL_ALL2ALL},
    {"Alloc_mem", OTF2_REGION_ROLE_ALLOCATE},
    {"Allreduce", OTF2_REGION_ROLE_COLL_ALL2ALL},
    {"Alltoall", OTF2_REGION_ROLE_COLL_ALL2ALL},
    {"Alltoallv", OTF2_REGION_ROLE_COLL_ALL2ALL},
    {"Alltoallw", OTF2_REGION_ROLE_COLL_ALL2ALL},
    {"Barrier", OTF2_REGION_ROLE_BARRIER},
    {"Bcast", OTF2_REGION_ROLE_COLL_ONE2ALL},
    {"Bsend", OTF2_REGION_ROLE_POINT2POINT},
    {"Bsend_init", OTF2_REGION_ROLE_POINT2POINT},
    {"Compare_and_swap", OTF2_REGION_ROLE_ATOMIC},
    {"Exscan", OTF2_REGION_ROLE_COLL_OTHER},
    {"Fetch_and_op", OTF2_REGION_ROLE_ATOMIC},
    {"File_close", OTF2_REGION_ROLE_FILE_IO_METADATA},
    {"File_delete", OTF2_REGION_ROLE_FILE_IO_METADATA},
    {"File_iread", OTF2_REGION_ROLE_FILE_IO},
    {"File_iread_all", OTF2_REGION_ROLE_FILE_IO},
    {"File_iread_at", OTF2_REGION_ROLE_FILE_IO},
    {"File_iread_at_all", OTF2_REGION_ROLE_FILE_IO},
    {"File_iread_shared", OTF2_REGION_ROLE_FILE_IO},
    {"File_iwrite", OTF2_REGION_ROLE_FILE_IO},
    {"File_iwrite_all", OTF2_REGION_ROLE_FILE_IO},
    {"File_iwrite_at", OTF2_REGION_ROLE_FILE_IO},
    {"File_iwrite_at_all", OTF2_REGION_ROLE_FILE_IO},
    {"File_iwrite_shared", OTF2_REGION_ROLE_FILE_IO},
    {"File_open", OTF2_REGION_ROLE_FILE_IO_METADATA},
    {"File_read", OTF2_REGION_ROLE_FILE_IO},
    {"File_read_all", OTF2_REGION_ROLE_FILE_IO},
    {"File_read_all_begin", OTF2_REGION_ROLE_FILE_IO},
    {"File_read_all_end", OTF2_REGION_ROLE_FILE_IO},
    {"File_read_at", OTF2_REGION_ROLE_FILE_IO},
    {"File_read_at_all", OTF2_REGION_ROLE_FILE_IO},
    {"File_read_at_all_begin", OTF2_REGION_ROLE_FILE_IO},
    {"File_read_at_all_end", OTF2_REGION_ROLE_FILE_IO},
    {"File_read_ordered", OTF2_REGION_ROLE_FILE_IO},
    {"File_read_ordered_begin", OTF2_REGION_ROLE_FILE_IO},
    {"File_read_ordered_end", OTF2_REGION_ROLE_FILE_IO},
    {"File_read_shared", OTF2_REGION_ROLE_FILE_IO},
    {"File_seek", OTF2_REGION_ROLE_FILE_IO_METADATA},
    {"File_seek_shared", OTF2_REGION_ROLE_FILE_IO_METADATA},
    {"File_sync", OTF2_REGION_ROLE_FILE_IO},
    {"File_write", OTF2_REGION_ROLE_FILE_IO},
    {"File_write_all", OTF2_REGION_ROLE_FILE_IO},
    {"File_write_all_begin", OTF2_REGION_ROLE_FILE_IO},
    {"File_write_all_end", OTF2_REGION_ROLE_FILE_IO},
    {"File_write_at", OTF2_REGION_ROLE_FILE_IO},
    {"File_write_at_all", OTF2_REGION_ROLE_FILE_IO},
    {"File_write_at_all_begin", OTF2_REGION_ROLE_FILE_IO},
    {"File_write_at_all_end", OTF2_REGION_ROLE_FILE_IO},
    {"File_write_ordered", OTF2_REGION_ROLE_FILE_IO},
    {"File_write_ordered_begin", OTF2_REGION_ROLE_FILE_IO},
    {"File_write_ordered_end", OTF2_REGION_ROLE_FILE_IO},
    {"File_write_shared", OTF2_REGION_ROLE_FILE_IO},
    {"Free_mem", OTF2_REGION_ROLE_DEALLOCATE},
    {"Gather", OTF2_REGION_ROLE_COLL_ALL2ONE},
    {"Gatherv", OTF2_REGION_ROLE_COLL_ALL2ONE},
    {"Get", OTF2_REGION_ROLE_RMA},
    {"Get_accumulate", OTF2_REGION_ROLE_ATOMIC},
    {"Iallgather", OTF2_REGION_ROLE_COLL_ALL2ALL},
    {"Iallgatherv", OTF2_REGION_ROLE_COLL_ALL2ALL},
    {"Iallreduce", OTF2_REGION_ROLE_COLL_ALL2ALL},
    {"Ialltoall", OTF2_REGION_ROLE_COLL_ALL2ALL},
    {"Ialltoallv", OTF2_REGION_ROLE_COLL_ALL2ALL},
    {"Ialltoallw", OTF2_REGION_ROLE_COLL_ALL2ALL},
    {"Ibarrier", OTF2_REGION_ROLE_BARRIER},
    {"Ibcast", OTF2_REGION_ROLE_COLL_ONE2ALL},
    {"Ibsend", OTF2_REGION_ROLE_POINT2POINT},
    {"Iexscan", OTF2_REGION_ROLE_COLL_OTHER},
    {"Igather", OTF2_REGION_ROLE_COLL_ALL2ONE},
    {"Igatherv", OTF2_REGION_ROLE_COLL_ALL2ONE},
    {"Improbe", OTF2_REGION_ROLE_POINT2POINT},
    {"Imrecv", OTF2_REGION_ROLE_POINT2POINT},
    {"Ineighbor_allgather", OTF2_REGION_ROLE_COLL_ALL2ALL},
    {"Ineighbor_allgatherv", OTF2_REGION_ROLE_COLL_ALL2ALL},
    {"Ineighbor_alltoall", OTF2_REGION_ROLE_COLL_ALL2ALL},
    {"Ineighbor_alltoallv", OTF2_REGION_ROLE_COLL_ALL2ALL},
    {"Ineighbor_alltoallw", OTF2_REGION_ROLE_COLL_ALL2ALL},
    {"Iprobe", OTF2_REGION_ROLE_POINT2POINT},
    {"Irecv", OTF2_REGION_ROLE_POINT2POINT},
    {"Ireduce", OTF2_REGION_ROLE_COLL_ALL2ONE},
    {"Ireduce_scatter", OTF2_REGION_ROLE_COLL_ALL2ALL},
    {"Ireduce_scatter_block", OTF2_REGION_ROLE_COLL_ALL2ALL},
    {"Irsend", OTF2_REGION_ROLE_POINT2POINT},
    {"Iscan", OTF2_REGION_ROLE_COLL_OTHER},
    {"Iscatter", OTF2_REGION_ROLE_COLL_ONE2ALL},
    {"Iscatterv", OTF2_REGION_ROLE_COLL_ONE2ALL},
    {"Isend", OTF2_REGION_ROLE_POINT2POINT},
    {"Isendrecv", OTF2_REGION_ROLE_POINT2POINT},
    {"Isendrecv_replace", OTF2_REGION_ROLE_POINT2POINT},
    {"Issend", OTF2_REGION_ROLE_POINT2POINT},
    {"Mprobe", OTF2_REGION_ROLE_POINT2POINT},
    {"Mrecv", OTF2_REGION_ROLE_POINT2POINT},
    {"Neighbor_allgather", OTF2_REGION_ROLE_COLL_ALL2ALL},
    {"Neighbor_allgatherv", OTF2_REGION_ROLE_COLL_ALL2ALL},
    {"Neighbor_alltoall", OTF2_REGION_ROLE_COLL_ALL2ALL},
    {"Neighbor_alltoallv", OTF2_REGION_ROLE_COLL_ALL2ALL},
    {"Neighbor_alltoallw", OTF2_REGION_ROLE_COLL_ALL2ALL},
    {"Probe", OTF2_REGION_ROLE_POINT2POINT},
    {"Put", OTF2_REGION_ROLE_RMA},
    {"Raccumulate", OTF2_REGION_ROLE_ATOMIC},
    {"Recv", OTF2_REGION_ROLE_POINT2POINT},
    {"Recv_init", OTF2_REGION_ROLE_POINT2POINT},
    {"Reduce", OTF2_REGION_ROLE_COLL_ALL2ONE},
    {"Reduce_scatter", OTF2_REGION_ROLE_COLL_ALL2ALL},
    {"Reduce_scatter_block", OTF2_REGION_ROLE_COLL_ALL2ALL},
    {"Rget", OTF2_REGION_ROLE_RMA},
    {"Rget_accumulate", OTF2_REGION_ROLE_ATOMIC},
    {"Rput", OTF2_REGION_ROLE_RMA},
    {"Rsend", OTF2_REGION_ROLE_POINT2POINT},
    {"Rsend_init", OTF2_REGION_ROLE_POINT2POINT},
    {"Scan", OTF2_REGION_ROLE_COLL_OTHER},
    {"Scatter", OTF2_REGION_ROLE_COLL_ONE2ALL},
    {"Scatterv", OTF2_REGION_ROLE_COLL_ONE2ALL},
    {"Send", OTF2_REGION_ROLE_POINT2POINT},
    {"Send_init", OTF2_REGION_ROLE_POINT2POINT},
    {"Sendrecv", OTF2_REGION_ROLE_POINT2POINT},
    {"Sendrecv_replace", OTF2_REGION_ROLE_POINT2POINT},
    {"Ssend", OTF2_REGION_ROLE_POINT2POINT},
    {"Ssend_init", OTF2_REGION_ROLE_POINT2POINT},
    {"Win_allocate", OTF2_REGION_ROLE_ALLOCATE},
    {"Win_allocate_shared", OTF2_REGION_ROLE_ALLOCATE},
};

static int compare(const void *key, const void *element) {
    return strcmp(key, ((const struct role *)element)->name);
}

OTF2_RegionRole lc_trace_role(const char *mpi_function) {
    char name[64];
    const char *begin = strncmp(mpi_function, "MPI_", 4) == 0 ? mpi_function + 4 : mpi_function;
    size_t length = strlen(begin);
    if (length > 2 && strcmp(begin + length - 2, "_c") == 0)
        length -= 2; /* large counts do the same */
    if (length >= sizeof(name))
        return OTF2_REGION_ROLE_FUNCTION;
    memcpy(name, begin, length);
    name[length] = 0;
    const struct role *found =
        bsearch(name, roles, sizeof(roles) / sizeof(roles[0]), sizeof(roles[0]), compare);
    return found ? found->role : OTF2_REGION_ROLE_FUNCTION;
}

/* The first match counts. */
static const struct role omp_roles[] = {
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
