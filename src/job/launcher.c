#include "job/launcher.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"

enum { MOST_ANCESTORS = 8, MOST_JOB_VARIABLES = 4, WORDS_BYTES = 8192 };

/* Variables by which launchers number their processes, nearest launcher first: Open MPI and Hydra
 * run inside steps of Slurm, never the other way round. Hydra gives its job no name in the
 * environment; Slurm's PMI-2 does, which tells the two apart. */
struct row {
    enum lc_launcher_kind kind;
    const char *launcher, *rank, *size, *local_size;
    const char *only_with, *never_with;
    const char *job[MOST_JOB_VARIABLES]; /* what the launcher calls the job */
};

static const struct row rows[] = {
    {LC_LAUNCHER_OPENMPI,
     "Open MPI",
     "OMPI_COMM_WORLD_RANK",
     "OMPI_COMM_WORLD_SIZE",
     "OMPI_COMM_WORLD_LOCAL_SIZE",
     NULL,
     NULL,
     {"PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid", "OMPI_MCA_orte_precondition_transports",
      "JSM_NAMESPACE"}},
    {LC_LAUNCHER_MVAPICH,
     "MVAPICH",
     "MV2_COMM_WORLD_RANK",
     "MV2_COMM_WORLD_SIZE",
     "MV2_COMM_WORLD_LOCAL_SIZE",
     NULL,
     NULL,
     {"PMI_JOBID", "PMI_ID_JOB"}},
    {LC_LAUNCHER_FLUX,
     "Flux",
     "FLUX_TASK_RANK",
     "FLUX_JOB_SIZE",
     NULL,
     "FLUX_JOB_ID",
     NULL,
     {"FLUX_JOB_ID"}},
    {LC_LAUNCHER_HYDRA,
     "Hydra",
     "PMI_RANK",
     "PMI_SIZE",
     "MPI_LOCALNRANKS",
     "MPI_LOCALNRANKS",
     "PMI_JOBID",
     {NULL}},
    {LC_LAUNCHER_SLURM,
     "Slurm",
     "SLURM_PROCID",
     "SLURM_STEP_NUM_TASKS",
     NULL,
     "SLURM_STEP_ID",
     NULL,
     {"SLURM_CLUSTER_NAME", "SLURM_JOB_ID", "SLURM_STEP_ID"}},
    {LC_LAUNCHER_PMI,
     "PMI",
     "PMI_RANK",
     "PMI_SIZE",
     "MPI_LOCALNRANKS",
     NULL,
     NULL,
     {"PMI_JOBID", "PALS_APID", "LSB_JOBID", "PBS_JOBID"}},
    {LC_LAUNCHER_PMIX, "PMIx", "PMIX_RANK", "PMIX_SIZE", NULL, NULL, NULL, {"PMIX_NAMESPACE"}},
};

static const char *get(const struct lc_launch_source *source, const char *name) {
    return name == NULL ? NULL : source->variable(source->context, name);
}

static int32_t number(const struct lc_launch_source *source, const char *name, int32_t otherwise) {
    const char *text = get(source, name);
    if (text == NULL || *text == '\0')
        return otherwise;
    char *end;
    long value = strtol(text, &end, 10);
    return *end == '\0' && value >= 0 && value < INT32_MAX ? (int32_t)value : otherwise;
}

/* The steps that Slurm itself makes of batch scripts and of the shells of salloc have numbers from
 * 0xfffffff0 on: nothing was launched in them. */
static bool is_step_of_tasks(const struct lc_launch_source *source) {
    const char *text = get(source, "SLURM_STEP_ID");
    return text != NULL && strtoull(text, NULL, 10) < 0xfffffff0u;
}

/* "3,1" or "2(x2),1": tasks per node of the step; those of this node. */
static int32_t tasks_of_node(const struct lc_launch_source *source) {
    const char *at = get(source, "SLURM_STEP_TASKS_PER_NODE");
    long node = number(source, "SLURM_NODEID", -1);
    while (at != NULL && *at != '\0' && node >= 0) {
        char *end;
        long tasks = strtol(at, &end, 10), times = 1;
        if (end == at)
            break;
        if (strncmp(end, "(x", 2) == 0) {
            times = strtol(end + 2, &end, 10);
            end += *end == ')';
        }
        if (node < times)
            return tasks > 0 && tasks < INT32_MAX ? (int32_t)tasks : -1;
        node -= times;
        at = end + (*end == ',');
    }
    return -1;
}

static bool applies(const struct row *row, const struct lc_launch_source *source) {
    return number(source, row->rank, -1) >= 0 &&
           (row->only_with == NULL || get(source, row->only_with) != NULL) &&
           (row->never_with == NULL || get(source, row->never_with) == NULL) &&
           (row->kind != LC_LAUNCHER_SLURM || is_step_of_tasks(source));
}

static const struct row *find_row(const struct lc_launch_source *source) {
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (applies(&rows[i], source))
            return &rows[i];
    return NULL;
}

static enum lc_launch_wire find_wire(const struct lc_launch_source *source) {
    if (get(source, "PMIX_RANK") != NULL)
        return LC_WIRE_PMIX;
    return get(source, "PMI_FD") != NULL || get(source, "PMI_PORT") != NULL ||
                   get(source, "PMI_RANK") != NULL
               ? LC_WIRE_PMI
               : LC_WIRE_NONE;
}

static const struct row *find_place(struct lc_launch *launch,
                                    const struct lc_launch_source *source) {
    const struct row *row = find_row(source);
    *launch = (struct lc_launch){.rank = 0, .size = 1, .local_size = 1};
    launch->binding = get(source, "OMPI_MCA_hwloc_base_binding_policy");
    if (launch->binding == NULL)
        launch->binding = get(source, "SLURM_CPU_BIND");
    if (row == NULL)
        return NULL;
    int32_t size = number(source, row->size, -1);
    launch->kind = row->kind;
    launch->launcher = row->launcher;
    launch->rank = number(source, row->rank, 0);
    if (size <= launch->rank)
        size = number(source, "SLURM_NTASKS", -1);
    launch->size = size > launch->rank ? size : launch->rank + 1;
    launch->local_size = row->kind == LC_LAUNCHER_SLURM ? tasks_of_node(source)
                                                        : number(source, row->local_size, -1);
    launch->wire = find_wire(source);
    return row;
}

static uint64_t hash_text(uint64_t hash, const char *text) {
    return lc_hash_word(lc_hash_text(hash, text), 0xff);
}

/* Options of Hydra's proxies that say which mpiexec they belong to, on every node alike: its
 * address, and the number of the process group (a spawned one has its own). Intel MPI's tree of
 * proxies has the address one level up. */
static bool hash_proxy(uint64_t *hash, const char *words, size_t length) {
    static const char *const options[] = {"--control-port", "--upstream-host", "--upstream-port",
                                          "--pgid"};
    bool found = false;
    for (size_t at = 0; at < length; at += strlen(words + at) + 1)
        for (size_t i = 0; i < sizeof options / sizeof options[0]; i++)
            if (strcmp(words + at, options[i]) == 0 && at + strlen(words + at) + 1 < length) {
                found = found || strcmp(options[i], "--pgid") != 0;
                *hash = hash_text(*hash, words + at + strlen(words + at) + 1);
            }
    return found;
}

/* The nearest proxy among the ancestors names the job; false: there is none. */
static bool hash_ancestors(uint64_t *hash, const struct lc_launch_source *source) {
    static const char *const proxies[] = {"hydra_pmi_proxy", "hydra_bstrap_proxy", "pmi_proxy"};
    char words[WORDS_BYTES];
    for (int n = 0; n < MOST_ANCESTORS; n++) {
        size_t length = source->ancestor(source->context, n, words, sizeof words);
        if (length == 0)
            break;
        for (size_t i = 0; i < sizeof proxies / sizeof proxies[0]; i++)
            if (strstr(words, proxies[i]) != NULL && hash_proxy(hash, words, length))
                return true;
    }
    return false;
}

/* False: nothing names the job. */
static bool detect(struct lc_launch *launch, const struct lc_launch_source *source) {
    const struct row *row = find_place(launch, source);
    if (row == NULL)
        return true;
    uint64_t hash = hash_text(LC_HASH_BEGIN, row->launcher);
    bool named = false;
    for (int i = 0; i < MOST_JOB_VARIABLES && row->job[i] != NULL; i++) {
        const char *value = get(source, row->job[i]);
        named = named || value != NULL;
        hash = hash_text(hash, value != NULL ? value : "");
    }
    if (row->kind == LC_LAUNCHER_HYDRA || row->kind == LC_LAUNCHER_PMI)
        named = hash_ancestors(&hash, source) || named;
    launch->job = hash;
    return named;
}

void lc_launch_detect_from(struct lc_launch *launch, const struct lc_launch_source *source) {
    (void)detect(launch, source);
}

/* The own process as a source. */

static const char *own_variable(const void *context, const char *name) {
    (void)context;
    return getenv(name);
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

static size_t own_ancestor(const void *context, int n, char *words, size_t size) {
    (void)context;
    int pid = getppid();
    for (; n > 0 && pid > 1; n--)
        pid = parent_of(pid);
    return pid > 1 ? read_proc(pid, "cmdline", words, size) : 0;
}

static const struct lc_launch_source own = {own_variable, own_ancestor, NULL};

/* When a process began, in ticks since the machine did; 0: not known. */
static unsigned long long start_of(int pid) {
    char text[1024];
    const char *after = read_proc(pid, "stat", text, sizeof text) == 0 ? NULL : strrchr(text, ')');
    unsigned long long ticks = 0;
    if (after == NULL || sscanf(after + 1,
                                " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d "
                                "%*d %*d %*d %*d %llu",
                                &ticks) != 1)
        return 0;
    return ticks;
}

/* Was the variable in its environment when it started? Not where that is kept from us. */
static bool was_given(int pid, const char *variable) {
    char path[64], *text = NULL;
    size_t size = 0, length = strlen(variable);
    bool found = false;
    snprintf(path, sizeof path, "/proc/%d/environ", pid);
    FILE *file = fopen(path, "re");
    while (file != NULL && !found && getdelim(&text, &size, '\0', file) > 0)
        found = strncmp(text, variable, length) == 0 && text[length] == '=';
    free(text);
    if (file != NULL)
        fclose(file);
    return found;
}

/* The nearest ancestor that does not have the variable by which it numbers its processes: scripts
 * and wrappers between it and this process do. */
static int find_process(void) {
    const struct row *row = find_row(&own);
    int pid = row != NULL ? getppid() : 0;
    for (int n = 0; n < MOST_ANCESTORS && pid > 1 && was_given(pid, row->rank); n++)
        pid = parent_of(pid);
    return pid > 1 ? pid : 0;
}

void lc_launch_detect(struct lc_launch *launch) {
    bool named = detect(launch, &own);
    launch->process = find_process();
    if (named)
        return;
    /* A launcher that nobody knows: the ranks of one daemon belong together at least. */
    char host[256] = "", text[320];
    gethostname(host, sizeof host - 1);
    snprintf(text, sizeof text, "%s %d %llu", host, (int)getppid(), start_of(getppid()));
    launch->job = hash_text(launch->job, text);
}

void lc_launch_detect_place(struct lc_launch *launch) {
    (void)find_place(launch, &own);
}

bool lc_launch_in_allocation(void) {
    static const char *const names[] = {"SLURM_JOB_ID",   "PBS_NODEFILE", "LSB_DJOB_HOSTFILE",
                                        "PE_HOSTFILE",    "FLUX_JOB_ID",  "OAR_NODEFILE",
                                        "COBALT_NODEFILE"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (getenv(names[i]) != NULL)
            return true;
    return false;
}

const char *lc_launch_advice(const struct lc_launch *launch, enum lc_flavour flavour) {
    bool openmpi = flavour == LC_FLAVOUR_IS_OPENMPI;
    switch (launch->kind) {
    case LC_LAUNCHER_SLURM:
        return openmpi ? "try srun --mpi=pmix, or mpirun" : "try srun --mpi=pmi2, or mpiexec";
    case LC_LAUNCHER_OPENMPI:
        return openmpi ? "is it the mpirun of another Open MPI?"
                       : "that is Open MPI's mpirun: use the mpiexec of the program's MPI";
    default:
        return openmpi ? "that is not Open MPI's launcher: use the mpirun of the program's MPI"
                       : "use the mpiexec of the program's MPI";
    }
}
