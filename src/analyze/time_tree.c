#include "analyze/time_tree.h"

#include <string.h>

#include "analyze/region.h"

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

/* Lower-case names behind "mpi_" as in region.c; the first match counts. */
static const struct {
    const char *name, *group, *kind;
} mpi[] = {
    {"init*", NULL, "mpi_init_exit"},
    {"finalize", NULL, "mpi_init_exit"},
    {"barrier", "mpi_synchronization", "mpi_sync_collective"},
    {"ibarrier", "mpi_synchronization", "mpi_sync_collective"},
    {"win_fence", "mpi_synchronization", "mpi_rma_synchronization"},
    {"win_post", "mpi_synchronization", "mpi_rma_synchronization"},
    {"win_start", "mpi_synchronization", "mpi_rma_synchronization"},
    {"win_complete", "mpi_synchronization", "mpi_rma_synchronization"},
    {"win_wait", "mpi_synchronization", "mpi_rma_synchronization"},
    {"win_test", "mpi_synchronization", "mpi_rma_synchronization"},
    {"win_lock*", "mpi_synchronization", "mpi_rma_synchronization"},
    {"win_unlock*", "mpi_synchronization", "mpi_rma_synchronization"},
    {"win_flush*", "mpi_synchronization", "mpi_rma_synchronization"},
    {"win_sync", "mpi_synchronization", "mpi_rma_synchronization"},
    {"win_*", NULL, "mpi_mgmt_win"},
    {"comm_*", NULL, "mpi_mgmt_comm"},
    {"cart_create", NULL, "mpi_mgmt_comm"},
    {"cart_sub", NULL, "mpi_mgmt_comm"},
    {"graph_create", NULL, "mpi_mgmt_comm"},
    {"dist_graph_create*", NULL, "mpi_mgmt_comm"},
    {"intercomm_*", NULL, "mpi_mgmt_comm"},
    {"put", "mpi_communication", "mpi_rma_communication"},
    {"get", "mpi_communication", "mpi_rma_communication"},
    {"accumulate", "mpi_communication", "mpi_rma_communication"},
    {"get_accumulate", "mpi_communication", "mpi_rma_communication"},
    {"rput", "mpi_communication", "mpi_rma_communication"},
    {"rget", "mpi_communication", "mpi_rma_communication"},
    {"raccumulate", "mpi_communication", "mpi_rma_communication"},
    {"rget_accumulate", "mpi_communication", "mpi_rma_communication"},
    {"fetch_and_op", "mpi_communication", "mpi_rma_communication"},
    {"compare_and_swap", "mpi_communication", "mpi_rma_communication"},
    {"file_read*", "mpi_io", "mpi_io_individual"},
    {"file_write*", "mpi_io", "mpi_io_individual"},
    {"file_iread*", "mpi_io", "mpi_io_individual"},
    {"file_iwrite*", "mpi_io", "mpi_io_individual"},
    {"file_*", NULL, "mpi_mgmt_file"},
    {"*send", "mpi_communication", "mpi_point2point"},
    {"*recv", "mpi_communication", "mpi_point2point"},
    {"sendrecv*", "mpi_communication", "mpi_point2point"},
    {"isendrecv*", "mpi_communication", "mpi_point2point"},
    {"*probe", "mpi_communication", "mpi_point2point"},
    {"start*", "mpi_communication", "mpi_point2point"},
    {"wait*", "mpi_communication", "mpi_point2point"},
    {"test*", "mpi_communication", "mpi_point2point"},
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

static size_t mpi_metrics(const char *region, const char **names) {
    char name[128];
    size_t n = 0;
    names[n++] = "mpi";
    if (!lc_region_mpi_name(region, name, sizeof name))
        return n;
    if (strncmp(name, "file_", 5) == 0 && (strstr(name, "_all") || strstr(name, "_ordered")) &&
        (strstr(name, "read") || strstr(name, "write"))) {
        names[n++] = "mpi_io";
        names[n++] = "mpi_io_collective";
        return n;
    }
    for (size_t i = 0; i < sizeof mpi / sizeof *mpi; i++) {
        if (!lc_region_matches(mpi[i].name, name))
            continue;
        if (mpi[i].group)
            names[n++] = mpi[i].group;
        names[n++] = mpi[i].kind;
        return n;
    }
    if (is_collective(name)) {
        names[n++] = "mpi_communication";
        names[n++] = "mpi_collective";
    }
    return n;
}

size_t lc_time_metrics(const struct lc_an_region *region, const char *names[LC_TIME_DEPTH]) {
    static const char *const omp[LC_FN_COUNT] = {
        [LC_FN_OMP_BARRIER] = "omp_ebarrier",  [LC_FN_OMP_IBARRIER] = "omp_ibarrier",
        [LC_FN_OMP_CRITICAL] = "omp_critical", [LC_FN_OMP_LOCK_API] = "omp_lock_api",
        [LC_FN_OMP_TASKWAIT] = "omp_taskwait",
    };
    size_t n = 0;
    names[n++] = "execution";
    if (region->mpi)
        return n + mpi_metrics(region->name, names + n);
    if (strcmp(region->paradigm, "openmp") != 0 || region->fn == LC_FN_OMP_TASK ||
        region->fn == LC_FN_OMP_PARALLEL)
        return n;
    names[n++] = "omp_time";
    if (omp[region->fn]) {
        names[n++] = "omp_synchronization";
        names[n++] = omp[region->fn];
    }
    return n;
}
