#include "analyze/region_class.h"

#include <string.h>
#include <strings.h>

#include "format/mpi_function.h"
#include "format/omp_construct.h"

/* What the analysis makes of the kind of a function. */
static const uint8_t fn_of_kind[LC_MPI_KINDS] = {
    [LC_MPI_KIND_NONE] = LC_FN_MPI_OTHER,
    [LC_MPI_KIND_INIT] = LC_FN_MPI_INIT,
    [LC_MPI_KIND_FINALIZE] = LC_FN_MPI_FINALIZE,
    [LC_MPI_KIND_SESSION_INIT] = LC_FN_MPI_OTHER,
    [LC_MPI_KIND_SESSION_FINALIZE] = LC_FN_MPI_OTHER,
    [LC_MPI_KIND_SEND] = LC_FN_MPI_SEND,
    [LC_MPI_KIND_SSEND] = LC_FN_MPI_SSEND,
    [LC_MPI_KIND_LOCAL_SEND] = LC_FN_MPI_SENDX,
    [LC_MPI_KIND_RECV] = LC_FN_MPI_OTHER,
    [LC_MPI_KIND_SENDRECV] = LC_FN_MPI_SENDX,
    [LC_MPI_KIND_ISEND] = LC_FN_MPI_ISEND,
    [LC_MPI_KIND_ISSEND] = LC_FN_MPI_ISSEND,
    [LC_MPI_KIND_LOCAL_ISEND] = LC_FN_MPI_ISENDX,
    [LC_MPI_KIND_IRECV] = LC_FN_MPI_OTHER,
    [LC_MPI_KIND_WAIT] = LC_FN_MPI_WAIT,
    [LC_MPI_KIND_WAITANY] = LC_FN_MPI_WAIT,
    [LC_MPI_KIND_WAITALL] = LC_FN_MPI_WAIT,
    [LC_MPI_KIND_WAITSOME] = LC_FN_MPI_WAITSOME,
    [LC_MPI_KIND_TEST] = LC_FN_MPI_TEST,
    [LC_MPI_KIND_PROBE] = LC_FN_MPI_PROBE,
    [LC_MPI_KIND_MATCHED_PROBE] = LC_FN_MPI_MPROBE,
    [LC_MPI_KIND_WIN] = LC_FN_MPI_WIN,
    [LC_MPI_KIND_WIN_POST] = LC_FN_MPI_WIN,
    [LC_MPI_KIND_WIN_START] = LC_FN_MPI_WIN,
    [LC_MPI_KIND_WIN_COMPLETE] = LC_FN_MPI_WIN,
    [LC_MPI_KIND_WIN_WAIT] = LC_FN_MPI_WIN,
    [LC_MPI_KIND_FILE] = LC_FN_MPI_IO,
    [LC_MPI_KIND_NEIGHBOR] = LC_FN_MPI_NEIGHBOR,
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
                                         [OTF2_REGION_ROLE_FILE_IO] = "file io",
                                         [OTF2_REGION_ROLE_FILE_IO_METADATA] = "file io metadata",
                                         [OTF2_REGION_ROLE_ALLOCATE] = "allocate",
                                         [OTF2_REGION_ROLE_DEALLOCATE] = "deallocate",
                                         [OTF2_REGION_ROLE_POINT2POINT] = "point2point",
                                         [OTF2_REGION_ROLE_RMA] = "rma",
                                         [OTF2_REGION_ROLE_ARTIFICIAL] = "artificial"};

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

/* Whatever the name: bindings of other languages (R's Rmpi) have functions like mpi_allreduce. */
static bool is_programs_own(OTF2_Paradigm paradigm) {
    return paradigm == OTF2_PARADIGM_COMPILER || paradigm == OTF2_PARADIGM_USER ||
           paradigm == OTF2_PARADIGM_SAMPLING;
}

void lc_region_classify(struct lc_an_region *region, OTF2_Paradigm paradigm, OTF2_RegionRole role) {
    region->sampled = paradigm == OTF2_PARADIGM_SAMPLING;
    region->outlined = region->sampled && lc_omp_is_outlined(region->name);
    region->mpi = paradigm == OTF2_PARADIGM_MPI ||
                  (!is_programs_own(paradigm) && strncasecmp(region->name, "MPI_", 4) == 0);
    region->fn = LC_FN_OTHER;
    if (region->mpi)
        region->fn = fn_of_kind[lc_mpi_find_region(region->name)->kind];
    else if (paradigm == OTF2_PARADIGM_OPENMP)
        region->fn = omp_fn(region->name, role);
    else if (!region->sampled && strcmp(region->name, "pthread_mutex_lock") == 0)
        region->fn = LC_FN_PTHREAD_LOCK; /* of what samples found no calls were recorded */
    switch (region->fn) {
    case LC_FN_MPI_INIT:
    case LC_FN_MPI_FINALIZE:
    case LC_FN_MPI_PROBE:
    case LC_FN_MPI_MPROBE:
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
