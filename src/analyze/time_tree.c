#include "analyze/time_tree.h"

#include <string.h>

#include "format/mpi_function.h"

const char *const lc_time_tree[] = {"execution",
                                    "mpi",
                                    "mpi_init_exit",
                                    "mpi_mgmt_comm",
                                    "mpi_mgmt_win",
                                    "mpi_mgmt_file",
                                    "mpi_synchronization",
                                    "mpi_sync_collective",
                                    "mpi_rma_synchronization",
                                    "mpi_communication",
                                    "mpi_point2point",
                                    "mpi_collective",
                                    "mpi_rma_communication",
                                    "mpi_io",
                                    "mpi_io_individual",
                                    "mpi_io_collective",
                                    "omp_time",
                                    "omp_synchronization",
                                    "omp_ebarrier",
                                    "omp_ibarrier",
                                    "omp_critical",
                                    "omp_lock_api",
                                    "omp_taskwait",
                                    NULL};

static const char *const mpi[LC_MPI_TIMES] = {
    [LC_MPI_TIME_NONE] = "mpi",
    [LC_MPI_TIME_INIT_EXIT] = "mpi_init_exit",
    [LC_MPI_TIME_MGMT_COMM] = "mpi_mgmt_comm",
    [LC_MPI_TIME_MGMT_WIN] = "mpi_mgmt_win",
    [LC_MPI_TIME_MGMT_FILE] = "mpi_mgmt_file",
    [LC_MPI_TIME_SYNC_COLLECTIVE] = "mpi_sync_collective",
    [LC_MPI_TIME_RMA_SYNCHRONIZATION] = "mpi_rma_synchronization",
    [LC_MPI_TIME_POINT2POINT] = "mpi_point2point",
    [LC_MPI_TIME_COLLECTIVE] = "mpi_collective",
    [LC_MPI_TIME_RMA_COMMUNICATION] = "mpi_rma_communication",
    [LC_MPI_TIME_IO_INDIVIDUAL] = "mpi_io_individual",
    [LC_MPI_TIME_IO_COLLECTIVE] = "mpi_io_collective",
};

const char *lc_time_metric(const struct lc_an_region *region) {
    static const char *const omp[LC_FN_COUNT] = {
        [LC_FN_OMP_BARRIER] = "omp_ebarrier",  [LC_FN_OMP_IBARRIER] = "omp_ibarrier",
        [LC_FN_OMP_CRITICAL] = "omp_critical", [LC_FN_OMP_LOCK_API] = "omp_lock_api",
        [LC_FN_OMP_TASKWAIT] = "omp_taskwait",
    };
    if (region->mpi)
        return mpi[lc_mpi_find_region(region->name)->time];
    if (strcmp(region->paradigm, "openmp") != 0 || region->fn == LC_FN_OMP_TASK ||
        region->fn == LC_FN_OMP_PARALLEL)
        return "execution";
    return omp[region->fn] ? omp[region->fn] : "omp_time";
}
