#include "bench/harness/rep_counters.h"

#include <dlfcn.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <latecomer_probe.h>

#include "base/timer.h"

static const struct {
    uint64_t config;
    const char *name;
} events[] = {{PERF_COUNT_SW_CONTEXT_SWITCHES, "context_switches"},
              {PERF_COUNT_SW_CPU_MIGRATIONS, "migrations"},
              {PERF_COUNT_SW_PAGE_FAULTS, "page_faults"}};
enum { EVENTS = sizeof events / sizeof events[0] };

static void add_name(struct lc_rep_counters *c, const char *name) {
    snprintf(c->name[c->n++], LC_PART_NAME, "%s", name);
}

static int open_event(uint64_t config, int group) {
    struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
                                   .size = sizeof attr,
                                   .config = config,
                                   .read_format = PERF_FORMAT_GROUP,
                                   .exclude_hv = 1};
    return (int)syscall(SYS_perf_event_open, &attr, 0, -1, group, PERF_FLAG_FD_CLOEXEC);
}

/* All of them as a group, which one system call reads. */
static void open_perf(struct lc_rep_counters *c, struct lc_strbuf *missing) {
    for (int i = 0; i < EVENTS; i++) {
        c->perf_fds[i] = open_event(events[i].config, c->perf_fd);
        if (c->perf_fds[i] < 0 && i == 0) {
            lc_strbuf_printf(missing, "no software events of the kernel: %s\n", strerror(errno));
            return;
        }
        if (i == 0)
            c->perf_fd = c->perf_fds[0];
        if (c->perf_fds[i] < 0)
            lc_strbuf_printf(missing, "no event %s: %s\n", events[i].name, strerror(errno));
    }
    c->perf_first = c->n;
    for (int i = 0; i < EVENTS; i++)
        if (c->perf_fds[i] >= 0)
            add_name(c, events[i].name);
}

/* A library with a table of probes may be linked, preloaded, or the MPI itself. */
static void open_probes(struct lc_rep_counters *c, struct lc_strbuf *missing) {
    struct latecomer_probe_table *t = dlsym(RTLD_DEFAULT, "latecomer_probe_table");
    c->probe_first = c->n;
    if (t == NULL)
        return;
    if (t->version != LATECOMER_PROBE_VERSION || t->n + (int)c->n + 1 > LC_PART_COUNTERS ||
        latecomer_probe_open(t, 1) != 0) {
        lc_strbuf_puts(missing, "no probes: too many, or of another version\n");
        return;
    }
    c->probes = t;
    for (int i = 0; i < t->n; i++)
        snprintf(c->name[c->n++], LC_PART_NAME, "probe_%.36s%s", t->name[i],
                 t->timer[i] ? "_ns" : "");
}

static bool has(const char *list, const char *word) {
    size_t length = strlen(word);
    for (const char *at = list; at != NULL; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, word, length) == 0 && (at[length] == ',' || at[length] == '\0'))
            return true;
    }
    return false;
}

void lc_rep_counters_open(struct lc_rep_counters *c, const char *wanted,
                          struct lc_strbuf *missing) {
    *c = (struct lc_rep_counters){.perf_fd = -1, .perf_fds = {-1, -1, -1}};
    c->rusage = has(wanted, "rusage");
    if (c->rusage) {
        add_name(c, "voluntary_switches");
        add_name(c, "involuntary_switches");
        add_name(c, "minor_faults");
    }
    if (has(wanted, "perf"))
        open_perf(c, missing);
    if (has(wanted, "probes"))
        open_probes(c, missing);
    c->gap = has(wanted, "gap");
    c->gap_place = c->n;
    if (c->gap)
        add_name(c, "spin_gap_ns");
}

void lc_rep_counters_close(struct lc_rep_counters *c) {
    for (int i = 0; i < EVENTS; i++)
        if (c->perf_fds[i] >= 0)
            close(c->perf_fds[i]);
}

void lc_rep_counters_read(const struct lc_rep_counters *c, int64_t *values) {
    if (c->rusage) {
        struct rusage usage;
        getrusage(RUSAGE_THREAD, &usage);
        values[0] = usage.ru_nvcsw;
        values[1] = usage.ru_nivcsw;
        values[2] = usage.ru_minflt;
    }
    if (c->perf_fd >= 0) {
        uint64_t group[1 + EVENTS];
        if (read(c->perf_fd, group, sizeof group) > 0)
            for (uint64_t i = 0; i < group[0] && i < EVENTS; i++)
                values[c->perf_first + i] = (int64_t)group[1 + i];
    }
}

void lc_rep_probes_begin(const struct lc_rep_counters *c) {
    if (c->probes == NULL)
        return;
    latecomer_probe_clear(c->probes, 0);
    latecomer_probe_repetition(c->probes, 0);
}

void lc_rep_probes_end(const struct lc_rep_counters *c, int64_t *values) {
    if (c->probes == NULL)
        return;
    latecomer_probe_repetition(c->probes, -1);
    for (int i = 0; i < c->probes->n; i++) {
        double value = (double)latecomer_probe_value(c->probes, 0, i);
        if (c->probes->timer[i] && lc_timer.tsc)
            value *= lc_timer.ns_per_tick;
        values[c->probe_first + (unsigned)i] = (int64_t)value;
    }
}
