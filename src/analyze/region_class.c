#include "analyze/region_class.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

/* Lower-case names after "mpi_", as lc_region_matches takes them. The first match counts. */
static const struct {
    const char *name;
    uint8_t fn;
} mpi_table[] = {
    {"init", LC_FN_MPI_INIT},
    {"init_thread", LC_FN_MPI_INIT},
    {"finalize", LC_FN_MPI_FINALIZE},
    {"send", LC_FN_MPI_SEND},
    {"ssend", LC_FN_MPI_SEND},
    {"bsend", LC_FN_MPI_SENDX},
    {"rsend", LC_FN_MPI_SENDX},
    {"sendrecv*", LC_FN_MPI_SENDX},
    {"issend", LC_FN_MPI_ISSEND},
    {"ibsend", LC_FN_MPI_ISENDX},
    {"irsend", LC_FN_MPI_ISENDX},
    {"isend", LC_FN_MPI_ISEND},
    {"isendrecv*", LC_FN_MPI_ISEND},
    {"start*", LC_FN_MPI_ISEND},
    {"wait", LC_FN_MPI_WAIT},
    {"waitany", LC_FN_MPI_WAIT},
    {"waitall", LC_FN_MPI_WAIT},
    {"waitsome", LC_FN_MPI_WAITSOME},
    {"test*", LC_FN_MPI_TEST},
    {"request_get_status*", LC_FN_MPI_TEST},
    {"*probe", LC_FN_MPI_TEST},
    {"win_*", LC_FN_MPI_WIN},
    {"file_*", LC_FN_MPI_IO},
    {"neighbor_*", LC_FN_MPI_NEIGHBOR},
    {"ineighbor_*", LC_FN_MPI_NEIGHBOR},
};

static const char *const paradigm_names[] = {
    [OTF2_PARADIGM_USER] = "user",        [OTF2_PARADIGM_COMPILER] = "compiler",
    [OTF2_PARADIGM_OPENMP] = "openmp",    [OTF2_PARADIGM_MPI] = "mpi",
    [OTF2_PARADIGM_PTHREAD] = "pthread",  [OTF2_PARADIGM_MEASUREMENT_SYSTEM] = "measurement",
    [OTF2_PARADIGM_CUDA] = "cuda",        [OTF2_PARADIGM_SHMEM] = "shmem",
    [OTF2_PARADIGM_SAMPLING] = "sampling"};

static const char *const role_names[] = {[OTF2_REGION_ROLE_FUNCTION] = "function",
                                         [OTF2_REGION_ROLE_WRAPPER] = "wrapper",
                                         [OTF2_REGION_ROLE_LOOP] = "loop",
                                         [OTF2_REGION_ROLE_CODE] = "code",
                                         [OTF2_REGION_ROLE_PARALLEL] = "parallel",
                                         [OTF2_REGION_ROLE_WORKSHARE] = "workshare",
                                         [OTF2_REGION_ROLE_SINGLE] = "single",
                                         [OTF2_REGION_ROLE_MASTER] = "master",
                                         [OTF2_REGION_ROLE_CRITICAL] = "critical",
                                         [OTF2_REGION_ROLE_ATOMIC] = "atomic",
                                         [OTF2_REGION_ROLE_BARRIER] = "barrier",
                                         [OTF2_REGION_ROLE_IMPLICIT_BARRIER] = "implicit barrier",
                                         [OTF2_REGION_ROLE_TASK] = "task",
                                         [OTF2_REGION_ROLE_TASK_CREATE] = "task create",
                                         [OTF2_REGION_ROLE_TASK_WAIT] = "taskwait",
                                         [OTF2_REGION_ROLE_COLL_ONE2ALL] = "one2all",
                                         [OTF2_REGION_ROLE_COLL_ALL2ONE] = "all2one",
                                         [OTF2_REGION_ROLE_COLL_ALL2ALL] = "all2all",
                                         [OTF2_REGION_ROLE_COLL_OTHER] = "other collective",
                                         [OTF2_REGION_ROLE_FILE_IO] = "file_io",
                                         [OTF2_REGION_ROLE_POINT2POINT] = "point2point",
                                         [OTF2_REGION_ROLE_RMA] = "rma",
                                         [OTF2_REGION_ROLE_ARTIFICIAL] = "artificial"};

bool lc_region_mpi_name(const char *name, char *out, size_t size) {
    if (strncasecmp(name, "MPI_", 4) != 0)
        return false;
    size_t n = strlen(name + 4);
    while (n && name[3 + n] == '_')
        n--;
    if (!n || n >= size)
        return false;
    for (size_t i = 0; i < n; i++)
        out[i] = (char)tolower((unsigned char)name[4 + i]);
    out[n] = 0;
    return true;
}

bool lc_region_matches(const char *pattern, const char *name) {
    size_t n = strlen(pattern), m = strlen(name);
    if (pattern[0] == '*')
        return m >= n - 1 && strcmp(name + m - (n - 1), pattern + 1) == 0;
    if (pattern[n - 1] == '*')
        return strncmp(pattern, name, n - 1) == 0;
    return strcmp(pattern, name) == 0;
}

static uint8_t mpi_fn(const char *name) {
    for (size_t i = 0; i < sizeof mpi_table / sizeof *mpi_table; i++)
        if (lc_region_matches(mpi_table[i].name, name))
            return mpi_table[i].fn;
    return LC_FN_MPI_OTHER;
}

static uint8_t omp_fn(const char *name, OTF2_RegionRole role) {
    switch (role) {
    case OTF2_REGION_ROLE_PARALLEL:
        return LC_FN_OMP_PARALLEL;
    case OTF2_REGION_ROLE_BARRIER:
        return LC_FN_OMP_BARRIER;
    case OTF2_REGION_ROLE_IMPLICIT_BARRIER:
        return LC_FN_OMP_IBARRIER;
    case OTF2_REGION_ROLE_CRITICAL:
    case OTF2_REGION_ROLE_ATOMIC:
    case OTF2_REGION_ROLE_ORDERED:
        return LC_FN_OMP_CRITICAL;
    case OTF2_REGION_ROLE_TASK_WAIT:
        return LC_FN_OMP_TASKWAIT;
    case OTF2_REGION_ROLE_TASK:
    case OTF2_REGION_ROLE_TASK_UNTIED:
        return LC_FN_OMP_TASK;
    default:
        return strncasecmp(name, "omp_set_", 8) == 0 && strstr(name, "lock") ? LC_FN_OMP_LOCK_API
                                                                             : LC_FN_OMP_OTHER;
    }
}

bool lc_region_omp_synchronises(uint8_t fn) {
    return fn == LC_FN_OMP_BARRIER || fn == LC_FN_OMP_IBARRIER || fn == LC_FN_OMP_CRITICAL ||
           fn == LC_FN_OMP_LOCK_API || fn == LC_FN_OMP_TASKWAIT;
}

void lc_region_classify(struct lc_an_region *region, OTF2_Paradigm paradigm, OTF2_RegionRole role) {
    char name[128];
    bool named = lc_region_mpi_name(region->name, name, sizeof name);
    region->mpi = paradigm == OTF2_PARADIGM_MPI || named;
    if (region->mpi)
        region->fn = named ? mpi_fn(name) : LC_FN_MPI_OTHER;
    else if (paradigm == OTF2_PARADIGM_OPENMP)
        region->fn = omp_fn(region->name, role);
    else if (strcmp(region->name, "pthread_mutex_lock") == 0)
        region->fn = LC_FN_PTHREAD_LOCK;
    else
        region->fn = LC_FN_OTHER;
    switch (region->fn) {
    case LC_FN_MPI_INIT:
    case LC_FN_MPI_FINALIZE:
    case LC_FN_OMP_BARRIER:
    case LC_FN_OMP_IBARRIER:
    case LC_FN_OMP_TASKWAIT:
    case LC_FN_OMP_TASK:
        region->special = true;
        break;
    default:
        region->special = region->phase;
    }
    size_t n_paradigms = sizeof paradigm_names / sizeof *paradigm_names;
    size_t n_roles = sizeof role_names / sizeof *role_names;
    const char *text = paradigm < n_paradigms ? paradigm_names[paradigm] : NULL;
    region->paradigm = region->mpi ? "mpi" : text ? text : "unknown";
    text = role < n_roles ? role_names[role] : NULL;
    region->role = text ? text : "unknown";
}
