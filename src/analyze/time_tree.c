#include "analyze/time_tree.h"

#include <string.h>

#include "analyze/region_class.h"

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

/* Lower-case names after "mpi_" as in region_class.c; the first match counts. */
static const struct {
    const char *name, *metric;
} mpi[] = {
    {"init*", "mpi_init_exit"},
    {"finalize", "mpi_init_exit"},
    {"barrier", "mpi_sync_collective"},
    {"ibarrier", "mpi_sync_collective"},
    {"win_fence", "mpi_rma_synchronization"},
    {"win_post", "mpi_rma_synchronization"},
    {"win_start", "mpi_rma_synchronization"},
    {"win_complete", "mpi_rma_synchronization"},
    {"win_wait", "mpi_rma_synchronization"},
    {"win_test", "mpi_rma_synchronization"},
    {"win_lock*", "mpi_rma_synchronization"},
    {"win_unlock*", "mpi_rma_synchronization"},
    {"win_flush*", "mpi_rma_synchronization"},
    {"win_sync", "mpi_rma_synchronization"},
    {"win_*", "mpi_mgmt_win"},
    {"comm_*", "mpi_mgmt_comm"},
    {"cart_create", "mpi_mgmt_comm"},
    {"cart_sub", "mpi_mgmt_comm"},
    {"graph_create", "mpi_mgmt_comm"},
    {"dist_graph_create*", "mpi_mgmt_comm"},
    {"intercomm_*", "mpi_mgmt_comm"},
    {"put", "mpi_rma_communication"},
    {"get", "mpi_rma_communication"},
    {"accumulate", "mpi_rma_communication"},
    {"get_accumulate", "mpi_rma_communication"},
    {"rput", "mpi_rma_communication"},
    {"rget", "mpi_rma_communication"},
    {"raccumulate", "mpi_rma_communication"},
    {"rget_accumulate", "mpi_rma_communication"},
    {"fetch_and_op", "mpi_rma_communication"},
    {"compare_and_swap", "mpi_rma_communication"},
    {"file_read*", "mpi_io_individual"},
    {"file_write*", "mpi_io_individual"},
    {"file_iread*", "mpi_io_individual"},
    {"file_iwrite*", "mpi_io_individual"},
    {"file_*", "mpi_mgmt_file"},
    {"*send", "mpi_point2point"},
    {"*recv", "mpi_point2point"},
    {"sendrecv*", "mpi_point2point"},
    {"isendrecv*", "mpi_point2point"},
    {"*probe", "mpi_point2point"},
    {"start*", "mpi_point2point"},
    {"wait*", "mpi_point2point"},
    {"test*", "mpi_point2point"},
};

/* Collectives of data, each also as I.. and (I)neighbor_... */
static const char *const collectives[] = {"bcast",     "gather*",   "scatter*", "allgather*",
                                          "alltoall*", "allreduce", "reduce*",  "scan",
                                          "exscan",    "neighbor_*"};

static bool is_collective(const char *name) {
    for (int i = 0; i < 2; i++)
        for (size_t k = 0; k < sizeof collectives / sizeof *collectives; k++)
            if (name[0] && lc_region_matches(collectives[k], name + (i && name[0] == 'i')))
                return true;
    return false;
}

static const char *mpi_metric(const char *region) {
    char name[128];
    if (!lc_region_mpi_name(region, name, sizeof name))
        return "mpi";
    if (strncmp(name, "file_", 5) == 0 && (strstr(name, "_all") || strstr(name, "_ordered")) &&
        (strstr(name, "read") || strstr(name, "write")))
        return "mpi_io_collective";
    for (size_t i = 0; i < sizeof mpi / sizeof *mpi; i++)
        if (lc_region_matches(mpi[i].name, name))
            return mpi[i].metric;
    return is_collective(name) ? "mpi_collective" : "mpi";
}

const char *lc_time_metric(const struct lc_an_region *region) {
    static const char *const omp[LC_FN_COUNT] = {
        [LC_FN_OMP_BARRIER] = "omp_ebarrier",  [LC_FN_OMP_IBARRIER] = "omp_ibarrier",
        [LC_FN_OMP_CRITICAL] = "omp_critical", [LC_FN_OMP_LOCK_API] = "omp_lock_api",
        [LC_FN_OMP_TASKWAIT] = "omp_taskwait",
    };
    if (region->mpi)
        return mpi_metric(region->name);
    if (strcmp(region->paradigm, "openmp") != 0 || region->fn == LC_FN_OMP_TASK ||
        region->fn == LC_FN_OMP_PARALLEL)
        return "execution";
    return omp[region->fn] ? omp[region->fn] : "omp_time";
}
