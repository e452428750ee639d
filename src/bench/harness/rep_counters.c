#include "bench/harness/rep_counters.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bench/harness/probe_layers.h"
#include "bench/word_list.h"

struct event {
    uint64_t config;
    const char *name;
};
static const struct event software[LC_PERF_EVENTS] = {
    {PERF_COUNT_SW_CONTEXT_SWITCHES, "context_switches"},
    {PERF_COUNT_SW_CPU_MIGRATIONS, "migrations"},
    {PERF_COUNT_SW_PAGE_FAULTS, "page_faults"}};
static const struct event hardware[LC_PERF_EVENTS] = {
    {PERF_COUNT_HW_CPU_CYCLES, "cycles"},
    {PERF_COUNT_HW_INSTRUCTIONS, "instructions"},
    {PERF_COUNT_HW_CACHE_MISSES, "cache_misses"},
    {PERF_COUNT_HW_BRANCH_MISSES, "branch_misses"}};

static void add_name(struct lc_rep_counters *c, const char *name) {
    snprintf(c->name[c->n++], LC_PART_NAME, "%s", name);
}

static int open_event(uint32_t type, uint64_t config, int group) {
    struct perf_event_attr attr = {.type = type,
                                   .size = sizeof attr,
                                   .config = config,
                                   .read_format = PERF_FORMAT_GROUP,
                                   .exclude_hv = 1};
    return (int)syscall(SYS_perf_event_open, &attr, 0, -1, group, PERF_FLAG_FD_CLOEXEC);
}

/* Those events that all ranks can read: one of them may be on another machine. */
static void open_perf(struct lc_rep_counters *c, struct lc_perf_group *g, uint32_t type,
                      const struct event *events, MPI_Comm comm, struct lc_strbuf *missing) {
    int why[LC_PERF_EVENTS], can[LC_PERF_EVENTS] = {0}, any = 0;
    for (int i = 0; i < LC_PERF_EVENTS && events[i].name != NULL; i++) {
        int fd = open_event(type, events[i].config, -1);
        why[i] = errno;
        can[i] = fd >= 0;
        if (fd >= 0)
            close(fd);
    }
    MPI_Allreduce(MPI_IN_PLACE, can, LC_PERF_EVENTS, MPI_INT, MPI_MIN, comm);
    for (int i = 0; i < LC_PERF_EVENTS; i++)
        any |= can[i];
    if (!any)
        lc_strbuf_printf(missing, "no %s events of the kernel on all ranks: %s\n",
                         type == PERF_TYPE_HARDWARE ? "hardware" : "software", strerror(why[0]));
    g->first = c->n;
    if (!any)
        return;
    for (int i = 0; i < LC_PERF_EVENTS && events[i].name != NULL; i++) {
        g->fds[i] = can[i] ? open_event(type, events[i].config, g->leader) : -1;
        if (g->leader < 0)
            g->leader = g->fds[i];
        if (can[i])
            add_name(c, events[i].name);
        else
            lc_strbuf_printf(missing, "no event %s on all ranks: %s\n", events[i].name,
                             strerror(why[i]));
    }
}

static void read_perf(const struct lc_perf_group *g, int64_t *values) {
    uint64_t group[1 + LC_PERF_EVENTS];
    if (g->leader < 0 || read(g->leader, group, sizeof group) <= 0)
        return;
    for (uint64_t i = 0; i < group[0] && i < LC_PERF_EVENTS; i++)
        values[g->first + i] = (int64_t)group[1 + i];
}

static void close_perf(struct lc_perf_group *g) {
    for (int i = 0; i < LC_PERF_EVENTS; i++)
        if (g->fds[i] >= 0)
            close(g->fds[i]);
}

static void open_papi(struct lc_rep_counters *c, MPI_Comm comm, const char *events,
                      struct lc_strbuf *missing) {
    lc_papi_open(&c->papi, comm, events, missing);
    c->papi_first = c->n;
    for (unsigned i = 0; i < c->papi.n; i++)
        memcpy(c->name[c->n++], c->papi.name[i], LC_PART_NAME);
}

static void open_delay(struct lc_rep_counters *c, const struct lc_load_reader *load, MPI_Comm comm,
                       struct lc_strbuf *missing) {
    int known = lc_load_delay(load) >= 0;
    MPI_Allreduce(MPI_IN_PLACE, &known, 1, MPI_INT, MPI_MIN, comm);
    c->delay_place = c->n;
    if (known) {
        c->load = load;
        add_name(c, "run_delay_ns");
    } else {
        lc_strbuf_puts(missing, "no run delay (/proc/thread-self/schedstat) on all ranks\n");
    }
}

static void open_mpi(struct lc_rep_counters *c, MPI_Comm comm, const char *wanted,
                     struct lc_strbuf *missing) {
    lc_mpi_variables_open(&c->mpi, comm, wanted, missing);
    c->mpi_first = c->n;
    memcpy(c->kind + c->n, c->mpi.kind, c->mpi.n);
    for (unsigned i = 0; i < c->mpi.n; i++)
        memcpy(c->name[c->n++], c->mpi.name[i], LC_PART_NAME);
}

void lc_rep_counters_open(struct lc_rep_counters *c, const struct lc_load_reader *load,
                          MPI_Comm comm, const struct lc_counter_options *options,
                          struct lc_strbuf *missing) {
    const char *wanted = options->sources;
    const struct lc_perf_group none = {.fds = {-1, -1, -1, -1}, .leader = -1};
    *c = (struct lc_rep_counters){.software = none, .hardware = none};
    c->rusage = lc_word_list_has(wanted, "rusage");
    if (c->rusage) {
        add_name(c, "voluntary_switches");
        add_name(c, "involuntary_switches");
        add_name(c, "minor_faults");
    }
    if (lc_word_list_has(wanted, "delay"))
        open_delay(c, load, comm, missing);
    if (lc_word_list_has(wanted, "perf"))
        open_perf(c, &c->software, PERF_TYPE_SOFTWARE, software, comm, missing);
    if (lc_word_list_has(wanted, "hardware"))
        open_perf(c, &c->hardware, PERF_TYPE_HARDWARE, hardware, comm, missing);
    if (lc_word_list_has(wanted, "mpi") || lc_word_list_has(wanted, "spc"))
        open_mpi(c, comm, options->variables, missing);
    open_papi(c, comm, options->papi, missing);
    c->n_read = c->n;
    if (lc_word_list_has(wanted, "probes"))
        c->n += lc_probe_layers_open(comm, c->name + c->n, LC_PART_COUNTERS - c->n - 1, missing);
    c->gap = lc_word_list_has(wanted, "gap");
    c->gap_place = c->n;
    if (c->gap)
        add_name(c, "spin_gap_ns");
}

void lc_rep_counters_close(struct lc_rep_counters *c) {
    close_perf(&c->software);
    close_perf(&c->hardware);
    lc_mpi_variables_close(&c->mpi);
}

void lc_rep_counters_read(const struct lc_rep_counters *c, int64_t *values) {
    if (c->rusage) {
        struct rusage usage;
        getrusage(RUSAGE_THREAD, &usage);
        values[0] = usage.ru_nvcsw;
        values[1] = usage.ru_nivcsw;
        values[2] = usage.ru_minflt;
    }
    if (c->load != NULL)
        values[c->delay_place] = lc_load_delay(c->load);
    read_perf(&c->software, values);
    read_perf(&c->hardware, values);
    lc_mpi_variables_read(&c->mpi, values + c->mpi_first);
    lc_papi_read(&c->papi, values + c->papi_first);
}
