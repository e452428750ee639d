#include "bench/harness/placement.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cpu_sets.h"
#include "base/mem.h"
#include "bench/system_load.h"

static const char governor_file[] = "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor";

/* Each CPU as the first hardware thread of its core. */
static void cores_of(const cpu_set_t *cpus, cpu_set_t *cores) {
    CPU_ZERO(cores);
    for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        char file[96], list[256];
        if (!CPU_ISSET(cpu, cpus))
            continue;
        snprintf(file, sizeof file, "/sys/devices/system/cpu/cpu%zu/topology/thread_siblings_list",
                 cpu);
        lc_first_line(file, list, sizeof list);
        char *end;
        unsigned long first = strtoul(list, &end, 10);
        CPU_SET(end != list && first < CPU_SETSIZE ? first : cpu, cores);
    }
}

/* CPUs that the control group of this process and those above it allow; 0: no limit is known. */
static double quota(void) {
    char line[512];
    lc_first_line("/proc/self/cgroup", line, sizeof line);
    return lc_cpu_quota_of("/sys/fs/cgroup", line);
}

/* Ranks of one node, from their sets of CPUs. */
static void look_at_sets(MPI_Comm node, struct lc_placement *p) {
    cpu_set_t *sets, all, cores;
    int n = p->node_ranks;
    MPI_Allreduce(&p->cpus, &all, (int)sizeof all, MPI_BYTE, MPI_BOR, node);
    p->spoiled[LC_SPOILED_CPUS] = CPU_COUNT(&all) < n;
    cores_of(&p->cpus, &cores);
    int room = lc_alloc(&sets, (size_t)n, sizeof sets[0]) == LC_OK;
    MPI_Allreduce(MPI_IN_PLACE, &room, 1, MPI_INT, MPI_MIN, node);
    if (room) {
        MPI_Allgather(&p->cpus, (int)sizeof all, MPI_BYTE, sets, (int)sizeof all, MPI_BYTE, node);
        p->spoiled[LC_SPOILED_BINDING] = lc_cpu_sets_short(sets, n) && !p->spoiled[LC_SPOILED_CPUS];
        bool on_cpus = lc_cpu_sets_short(sets, n);
        MPI_Allgather(&cores, (int)sizeof all, MPI_BYTE, sets, (int)sizeof all, MPI_BYTE, node);
        p->spoiled[LC_SPOILED_SMT] = !on_cpus && lc_cpu_sets_short(sets, n);
    }
    free(sets);
}

void lc_placement_find(MPI_Comm comm, struct lc_placement *p) {
    MPI_Comm node;
    char governor[64];
    int rank;
    *p = (struct lc_placement){.node_rank = 0};
    (void)sched_getaffinity(0, sizeof p->cpus, &p->cpus);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &p->node_ranks);
    MPI_Comm_rank(node, &p->node_rank);
    look_at_sets(node, p);
    MPI_Comm_free(&node);
    double allowed = quota();
    p->spoiled[LC_SPOILED_QUOTA] = allowed > 0 && allowed < p->node_ranks;
    lc_first_line(governor_file, governor, sizeof governor);
    p->spoiled[LC_SPOILED_GOVERNOR] = governor[0] != '\0' && strcmp(governor, "performance") != 0;
    MPI_Allreduce(MPI_IN_PLACE, p->spoiled, LC_SPOILED, MPI_INT, MPI_MAX, comm);
}

static enum lc_err put_number(struct lc_part_writer *part, const char *section, const char *key,
                              double value) {
    char text[32];
    snprintf(text, sizeof text, "%g", value);
    return lc_part_fact(part, section, key, text);
}

enum lc_err lc_placement_write(const struct lc_placement *p, MPI_Comm comm,
                               struct lc_part_writer *part) {
    static const char *const warnings[LC_SPOILED] = {
        "oversubscribed", "ranks are bound to the same cores",
        "ranks share cores as hardware threads (SMT)",
        "the control group allows fewer CPUs than there are ranks",
        "the frequency governor is not `performance`: clocks change"};
    unsigned cpu, numa_node;
    int rank;
    if (syscall(SYS_getcpu, &cpu, &numa_node, NULL) == 0) {
        LC_TRY(put_number(part, "placement", "cpu", cpu));
        LC_TRY(put_number(part, "placement", "numa_node", numa_node));
    }
    double allowed = quota();
    if (p->node_rank == 0 && allowed > 0)
        LC_TRY(put_number(part, "machine", "cpu_quota", allowed));
    MPI_Comm_rank(comm, &rank);
    for (int i = 0; i < LC_SPOILED && rank == 0; i++)
        if (p->spoiled[i])
            LC_TRY(lc_part_fact(part, "warning", warnings[i], ""));
    return LC_OK;
}
