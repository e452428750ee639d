#include "bench/harness/mpi_facts.h"

#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/cpu_sets.h"
#include "job/mpi_flavour.h"
#include "base/timer.h"
#include "bench/harness/placement.h"
#include "bench/system_load.h"

/* Control variables that choose how collectives and messages work, out of a thousand. */
static bool is_chief(const char *name) {
    static const char *const parts[] = {"algorithm", "coll_tuned", "coll_base", "eager", "intra_"};
    if (strcmp(name, "pml") == 0 || strcmp(name, "btl") == 0 || strcmp(name, "coll") == 0)
        return true;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (strcasestr(name, parts[i]) != NULL)
            return true;
    return false;
}

/* What launchers tell their processes, another thing in each launch. */
static bool is_of_launch(const char *name) {
    return strstr(name, "_uri") != NULL || strstr(name, "session_dir") != NULL ||
           strstr(name, "jobid") != NULL;
}

/* Its value as text; false where it cannot be read without an object. */
static bool read_cvar(int index, MPI_Datatype type, char *text, size_t size) {
    MPI_T_cvar_handle handle;
    int count;
    union {
        int i;
        unsigned u;
        unsigned long ul;
        unsigned long long ull;
        double d;
        bool b;
        char c[4096];
    } value = {.c = ""};
    if (MPI_T_cvar_handle_alloc(index, NULL, &handle, &count) != MPI_SUCCESS)
        return false;
    bool is_text = type == MPI_CHAR;
    bool ok = (is_text ? count < (int)sizeof value.c : count == 1) &&
              MPI_T_cvar_read(handle, &value) == MPI_SUCCESS;
    MPI_T_cvar_handle_free(&handle);
    if (type == MPI_INT)
        snprintf(text, size, "%d", value.i);
    else if (type == MPI_UNSIGNED)
        snprintf(text, size, "%u", value.u);
    else if (type == MPI_UNSIGNED_LONG)
        snprintf(text, size, "%lu", value.ul);
    else if (type == MPI_UNSIGNED_LONG_LONG)
        snprintf(text, size, "%llu", value.ull);
    else if (type == MPI_DOUBLE)
        snprintf(text, size, "%g", value.d);
    else if (type == MPI_C_BOOL)
        snprintf(text, size, "%d", value.b);
    else if (is_text)
        snprintf(text, size, "%.*s", (int)sizeof value.c - 1, value.c);
    else
        ok = false;
    return ok;
}

/* All that can be read without an object, and how many cannot. */
static enum lc_err write_cvars(struct lc_part_writer *part) {
    char number[16];
    int provided, n = 0, left_out = 0;
    enum lc_err err = LC_OK;
    if (MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) != MPI_SUCCESS)
        return LC_OK;
    MPI_T_cvar_get_num(&n);
    for (int i = 0; i < n && err == LC_OK; i++) {
        char name[256] = "", description[8] = "", text[4200];
        int name_size = sizeof name, description_size = sizeof description;
        int verbosity, binding, scope;
        MPI_Datatype type;
        MPI_T_enum values;
        if (MPI_T_cvar_get_info(i, name, &name_size, &verbosity, &type, &values, description,
                                &description_size, &binding, &scope) != MPI_SUCCESS ||
            binding != MPI_T_BIND_NO_OBJECT || !read_cvar(i, type, text, sizeof text)) {
            left_out++;
            continue;
        }
        if (is_of_launch(name))
            continue;
        bool chief = is_chief(name) || getenv(name) != NULL; /* what somebody has set */
        err = lc_part_fact(part, chief ? "parameters" : "other_parameters", name, text);
    }
    MPI_T_finalize();
    snprintf(number, sizeof number, "%d", left_out);
    return err != LC_OK ? err : lc_part_fact(part, "mpi", "parameters_left_out", number);
}

/* Variables that tell an MPI what to do. */
static const char *const of_mpi[] = {"OMPI_MCA_", "MPIR_CVAR_", "MPICH_",    "UCX_", "FI_",
                                     "I_MPI_",    "PRTE_MCA_",  "PMIX_MCA_", NULL};
/* What else changes how processes run. The rest of the environment is nobody's business. */
static const char *const of_system[] = {
    "LD_",  "OMP_",  "GOMP_", "KMP_",  "MALLOC_", "GLIBC_TUNABLES", "HCOLL_",
    "IBV_", "MLX5_", "PSM2_", "PSM3_", "HFI_",    "NCCL_",          NULL};

static enum lc_err write_environment(struct lc_part_writer *part, const char *section,
                                     const char *const *begins) {
    enum lc_err err = LC_OK;
    for (char **entry = environ; *entry != NULL && err == LC_OK; entry++)
        for (size_t i = 0; begins[i] != NULL && err == LC_OK; i++) {
            const char *equals = strchr(*entry, '=');
            /* what mpirun itself tells its processes differs in each run */
            if (strncmp(*entry, begins[i], strlen(begins[i])) != 0 || equals == NULL ||
                strncmp(*entry, "OMPI_MCA_orte_", 14) == 0 ||
                strncmp(*entry, "OMPI_MCA_ess_", 13) == 0 ||
                strncmp(*entry, "OMPI_MCA_initial_wdir", 21) == 0)
                continue;
            char name[256];
            snprintf(name, sizeof name, "%.*s", (int)(equals - *entry), *entry);
            err = lc_part_fact(part, section, name, equals + 1);
        }
    return err;
}

static void processor(char *text, size_t size) {
    char line[512];
    FILE *in = fopen("/proc/cpuinfo", "re");
    text[0] = '\0';
    while (in != NULL && fgets(line, sizeof line, in) != NULL)
        if (strncmp(line, "model name", 10) == 0 && strchr(line, ':') != NULL) {
            snprintf(text, size, "%.*s", (int)strcspn(strchr(line, ':') + 2, "\n"),
                     strchr(line, ':') + 2);
            break;
        }
    if (in != NULL)
        fclose(in);
}

static enum lc_err write_machine(struct lc_part_writer *part) {
    static const struct {
        const char *key, *file;
    } files[] = {
        {"kernel", "/proc/sys/kernel/osrelease"},
        {"governor", "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"},
        {"smt", "/sys/devices/system/cpu/smt/active"},
        {"numa_nodes", "/sys/devices/system/node/online"},
        {"cpus", "/sys/devices/system/cpu/online"},
        {"clocksource", "/sys/devices/system/clocksource/clocksource0/current_clocksource"}};
    char text[512];
    processor(text, sizeof text);
    enum lc_err err = lc_part_fact(part, "machine", "processor", text);
    for (size_t i = 0; i < sizeof files / sizeof files[0] && err == LC_OK; i++) {
        lc_first_line(files[i].file, text, sizeof text);
        if (text[0] != '\0')
            err = lc_part_fact(part, "machine", files[i].key, text);
    }
    return err;
}

struct library_list {
    struct lc_part_writer *part;
    enum lc_err err;
};

static int write_library_path(struct dl_phdr_info *info, size_t size, void *data) {
    struct library_list *list = data;
    const char *slash = strrchr(info->dlpi_name, '/');
    (void)size;
    if (slash != NULL && list->err == LC_OK)
        list->err = lc_part_fact(list->part, "libraries", slash + 1, info->dlpi_name);
    return list->err != LC_OK;
}

/* All that are loaded here, once MPI has begun. */
static enum lc_err write_libraries(struct lc_part_writer *part) {
    struct library_list list = {part, LC_OK};
    dl_iterate_phdr(write_library_path, &list);
    return list.err;
}

static enum lc_err write_library(struct lc_part_writer *part) {
    char text[MPI_MAX_LIBRARY_VERSION_STRING], product[128];
    int length, version, subversion;
    MPI_Get_library_version(text, &length);
    MPI_Get_version(&version, &subversion);
    lc_mpi_product(text, product, sizeof product);
    char *number = strrchr(product, ' ');
    LC_TRY(lc_part_fact(part, "mpi", "version", number != NULL ? number + 1 : ""));
    if (number != NULL)
        *number = '\0';
    LC_TRY(lc_part_fact(part, "mpi", "name", product));
    snprintf(product, sizeof product, "%d.%d", version, subversion);
    return lc_part_fact(part, "mpi", "standard", product);
}

enum lc_err lc_mpi_facts(struct lc_part_writer *part, MPI_Comm comm, bool *oversubscribed) {
    struct lc_part_hello hello = {.magic = LC_PART_MAGIC};
    struct lc_placement placement;
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    lc_placement_find(comm, &placement);
    *oversubscribed =
        placement.spoiled[LC_SPOILED_CPUS] != 0 || placement.spoiled[LC_SPOILED_BINDING] != 0;
    hello.rank = (uint32_t)rank;
    hello.size = (uint32_t)size;
    hello.node_ranks = (uint32_t)placement.node_ranks;
    hello.cores = (uint32_t)CPU_COUNT(&placement.cpus);
    gethostname(hello.node, sizeof hello.node - 1);
    lc_cpu_list(&placement.cpus, hello.cpus, sizeof hello.cpus);
    LC_TRY(lc_part_put(part, LC_PART_HELLO, &hello, sizeof hello));
    if (placement.node_rank == 0) {
        LC_TRY(write_machine(part));
        LC_TRY(write_libraries(part));
    }
    LC_TRY(lc_placement_write(&placement, comm, part));
    if (rank != 0)
        return LC_OK;
    LC_TRY(write_library(part));
    LC_TRY(lc_part_fact(part, "clock", "source",
                        lc_timer.by_counter ? LC_COUNTER_NAME : "CLOCK_MONOTONIC_RAW"));
    LC_TRY(write_environment(part, "parameters", of_mpi));
    LC_TRY(write_environment(part, "environment", of_system));
    return write_cvars(part);
}
