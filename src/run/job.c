#include "run/job.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Variables by which launchers number their processes, in order of preference. Slurm's count only
 * inside a step, since a batch script sees them too. */
static const struct {
    const char *launcher, *rank, *size, *local_size, *only_with;
} launchers[] = {
    {"Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE",
     NULL},
    {"Hydra", "PMI_RANK", "PMI_SIZE", "MPI_LOCALNRANKS", NULL},
    {"MVAPICH", "MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_LOCAL_SIZE", NULL},
    {"Slurm", "SLURM_PROCID", "SLURM_NTASKS", NULL, "SLURM_STEP_ID"},
    {"PMIx", "PMIX_RANK", "PMIX_SIZE", NULL, NULL},
};

/* Variables that differ between jobs and agree within one. */
static const char *const job_variables[] = {
    "PMIX_NAMESPACE",
    "OMPI_MCA_orte_hnp_uri",
    "OMPI_MCA_orte_precondition_transports",
    "PMI_JOBID",
    "PMI_ID_JOB",
    "SLURM_JOB_ID",
    "SLURM_STEP_ID",
    "SLURM_CLUSTER_NAME",
    "LSB_JOBID",
    "PALS_APID",
    "JSM_NAMESPACE",
    "FLUX_JOB_ID",
};

static int32_t env_number(const char *name, int32_t otherwise) {
    const char *text = name == NULL ? NULL : getenv(name);
    if (text == NULL || *text == '\0')
        return otherwise;
    char *end;
    long number = strtol(text, &end, 10);
    return *end == '\0' && number >= 0 && number < INT32_MAX ? (int32_t)number : otherwise;
}

static uint64_t hash_bytes(uint64_t hash, const char *bytes, size_t length) {
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)bytes[i]) * 0x100000001b3u;
    return hash;
}

/* Reads at most size - 1 bytes of /proc/<pid>/<name>; the number read, NUL-terminated. */
static size_t read_proc(int pid, const char *name, char *text, size_t size) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", pid, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    size_t used = 0;
    text[0] = '\0';
    if (fd < 0)
        return 0;
    for (;;) {
        ssize_t got = read(fd, text + used, size - 1 - used);
        if (got <= 0)
            break;
        used += (size_t)got;
    }
    close(fd);
    text[used] = '\0';
    return used;
}

bool lc_process_has_env(int pid, const char *name) {
    static char text[256 * 1024];
    size_t length = read_proc(pid, "environ", text, sizeof text), name_length = strlen(name);
    for (size_t at = 0; at < length; at += strlen(text + at) + 1)
        if (strncmp(text + at, name, name_length) == 0 && text[at + name_length] == '=')
            return true;
    return false;
}

static int parent_of(int pid) {
    char text[1024];
    if (read_proc(pid, "stat", text, sizeof text) == 0)
        return 0;
    const char *after = strrchr(text, ')'); /* the name may hold anything */
    int parent = 0;
    if (after == NULL || sscanf(after + 1, " %*c %d", &parent) != 1)
        return 0;
    return parent;
}

static unsigned long long start_of(int pid) {
    char text[1024];
    if (read_proc(pid, "stat", text, sizeof text) == 0)
        return 0;
    const char *after = strrchr(text, ')');
    unsigned long long ticks = 0;
    if (after == NULL || sscanf(after + 1,
                                " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d "
                                "%*d %*d %*d %*d %llu",
                                &ticks) != 1)
        return 0;
    return ticks;
}

/* The launcher's process on this node: the first ancestor that does not carry the rank variable
 * itself. */
static int launcher_process(const char *rank_variable) {
    int pid = getppid();
    for (int depth = 0; pid > 1 && depth < 64; depth++) {
        if (!lc_process_has_env(pid, rank_variable))
            return pid;
        pid = parent_of(pid);
    }
    return pid;
}

/* Hydra gives no job id: its proxies carry the address of the one mpiexec and the number of the
 * process group. */
static uint64_t hash_hydra(uint64_t hash, int pid, bool one_node) {
    char text[8192], host[256] = "";
    size_t length = read_proc(pid, "cmdline", text, sizeof text);
    for (size_t at = 0; at < length; at += strlen(text + at) + 1)
        if (strcmp(text + at, "--control-port") == 0 || strcmp(text + at, "--pgid") == 0) {
            at += strlen(text + at) + 1;
            if (at < length)
                hash = hash_bytes(hash, text + at, strlen(text + at) + 1);
        }
    if (one_node) {
        unsigned long long started = start_of(pid);
        hash = hash_bytes(hash, (const char *)&pid, sizeof pid);
        hash = hash_bytes(hash, (const char *)&started, sizeof started);
        gethostname(host, sizeof host - 1);
        hash = hash_bytes(hash, host, strlen(host));
    }
    return hash;
}

static uint64_t hash_job(const char *rank_variable, bool one_node) {
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t i = 0; i < sizeof job_variables / sizeof job_variables[0]; i++) {
        const char *value = getenv(job_variables[i]);
        if (value != NULL)
            hash = hash_bytes(hash, value, strlen(value) + 1);
    }
    if (strncmp(rank_variable, "PMI_", 4) == 0)
        hash = hash_hydra(hash, launcher_process(rank_variable), one_node);
    return hash;
}

void lc_launch_detect(struct lc_launch *launch) {
    *launch = (struct lc_launch){.rank = 0, .size = 1, .local_size = 1};
    for (size_t i = 0; i < sizeof launchers / sizeof launchers[0]; i++) {
        int32_t rank = env_number(launchers[i].rank, -1);
        int32_t size = env_number(launchers[i].size, -1);
        if (rank < 0 || (launchers[i].only_with != NULL && getenv(launchers[i].only_with) == NULL))
            continue;
        launch->launcher = launchers[i].launcher;
        launch->rank = rank;
        launch->size = size > rank ? size : env_number("SLURM_NTASKS", rank + 1);
        launch->local_size = env_number(launchers[i].local_size, -1);
        launch->job = hash_job(launchers[i].rank, launch->local_size == launch->size);
        break;
    }
    launch->binding = getenv("OMPI_MCA_hwloc_base_binding_policy");
    if (launch->binding == NULL)
        launch->binding = getenv("SLURM_CPU_BIND");
}
