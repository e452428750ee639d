/* Benchmark of the whole trace analysis: seconds per phase, wall and processor time of the slowest
 * rank, beside plain reading of the same archive with libotf2, and the peak of memory per event.
 *
 *   [mpirun -n N] bench_rootcause [-j] DIR     an archive made by make_trace; -j: as JSON
 *
 * tests/bench/analyze/analyze.py makes the archives and the table. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "analyze/health.h"
#include "analyze/read.h"
#include "analyze/results.h"
#include "analyze/rootcause.h"
#include "analyze/waits.h"
#include "plain_read.h"

enum phase { PLAIN, READING, WAITS, ROOT_CAUSES, PHASES };

static const char *const names[PHASES] = {"plain", "reading", "waits", "root_causes"};

struct measured { /* of the slowest rank, and of all together */
    int64_t wall_ns[PHASES + 1], cpu_ns[PHASES + 1], peak_bytes[PHASES + 1];
    int64_t largest_peak_bytes;
    uint64_t n_plain;
};

static void check(enum lc_err err) {
    if (err != LC_OK) {
        fprintf(stderr, "bench_rootcause: %s\n", lc_err_text());
        lc_transport_abort(1);
    }
}

static int64_t clock_ns(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* Everybody is here: ends a phase. */
static void mark(struct measured *m, const struct lc_transport *comm, int phase) {
    struct rusage usage;
    int64_t together = 0;
    m->cpu_ns[phase] = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    lc_transport_allreduce_i64(comm, &together, 1, LC_OP_SUM);
    m->wall_ns[phase] = clock_ns(CLOCK_MONOTONIC);
    getrusage(RUSAGE_SELF, &usage);
    m->peak_bytes[phase] = usage.ru_maxrss * 1024;
}

static void reduce(struct measured *m, const struct lc_transport *comm) {
    for (int i = PHASES; i > 0; i--) {
        m->wall_ns[i] -= m->wall_ns[i - 1];
        m->cpu_ns[i] -= m->cpu_ns[i - 1];
    }
    int64_t n_plain = (int64_t)m->n_plain;
    m->largest_peak_bytes = m->peak_bytes[PHASES];
    lc_transport_allreduce_i64(comm, m->wall_ns, PHASES + 1, LC_OP_MAX);
    lc_transport_allreduce_i64(comm, m->cpu_ns, PHASES + 1, LC_OP_MAX);
    lc_transport_allreduce_i64(comm, m->peak_bytes, PHASES + 1, LC_OP_SUM);
    lc_transport_allreduce_i64(comm, &m->largest_peak_bytes, 1, LC_OP_MAX);
    lc_transport_allreduce_i64(comm, &n_plain, 1, LC_OP_SUM);
    m->n_plain = (uint64_t)n_plain;
}

static void print_json(const struct measured *m, const struct lc_trace *trace) {
    printf("{\"events\": %llu, \"locations\": %zu, \"ranks\": %u",
           (unsigned long long)trace->n_events, trace->n_locations, trace->comm->size);
    for (int i = 0; i < PHASES; i++)
        printf(", \"%s_s\": %.6f, \"%s_cpu_s\": %.6f, \"%s_peak_bytes\": %lld", names[i],
               (double)m->wall_ns[i + 1] / 1e9, names[i], (double)m->cpu_ns[i + 1] / 1e9, names[i],
               (long long)m->peak_bytes[i + 1]);
    printf(", \"largest_peak_bytes\": %lld}\n", (long long)m->largest_peak_bytes);
}

static void print_line(const struct measured *m, const struct lc_trace *trace, const char *name,
                       int first, int last) {
    int64_t wall = 0, cpu = 0;
    for (int i = first; i <= last; i++) {
        wall += m->wall_ns[i + 1];
        cpu += m->cpu_ns[i + 1];
    }
    double events = (double)trace->n_events / trace->comm->size;
    printf("%-28s wall %8.3f s %7.2f M/s and rank   processor %8.3f s %7.2f M/s and rank   "
           "peak %6.1f bytes per event (all ranks)\n",
           name, (double)wall / 1e9, events / ((double)wall / 1e3), (double)cpu / 1e9,
           events / ((double)cpu / 1e3), (double)m->peak_bytes[last + 1] / (double)trace->n_events);
}

static void print_table(const struct measured *m, const struct lc_trace *trace) {
    print_line(m, trace, "plain libotf2", PLAIN, PLAIN);
    print_line(m, trace, "reading", READING, READING);
    print_line(m, trace, "wait states", WAITS, WAITS);
    print_line(m, trace, "root causes", ROOT_CAUSES, ROOT_CAUSES);
    print_line(m, trace, "reading and wait states", READING, WAITS);
    print_line(m, trace, "everything", READING, ROOT_CAUSES);
}

int main(int argc, char **argv) {
    struct lc_transport comm;
    struct lc_health health;
    struct lc_trace *trace = NULL;
    struct measured m = {0};
    char path[4096];
    lc_transport_init(&comm, &argc, &argv);
    bool json = argc == 3 && strcmp(argv[1], "-j") == 0;
    if (argc != 2 && !json) {
        fprintf(stderr, "usage: bench_rootcause [-j] DIR\n");
        lc_transport_abort(2);
    }
    snprintf(path, sizeof path, "%s/traces.otf2", argv[argc - 1]);
    lc_health_init(&health);
    mark(&m, &comm, 0);
    m.n_plain = plain_read(path, comm.rank, comm.size);
    mark(&m, &comm, PLAIN + 1);
    check(lc_trace_read(&trace, &comm, path, &health, NULL));
    check(lc_results_new(&trace->results));
    mark(&m, &comm, READING + 1);
    check(lc_waits_find(trace));
    mark(&m, &comm, WAITS + 1);
    struct lc_rootcause_options options = {0};
    struct lc_rootcause_output output = {0};
    check(lc_rootcause_run(trace, &options, &output));
    mark(&m, &comm, ROOT_CAUSES + 1);
    reduce(&m, &comm);
    if (comm.rank == 0) {
        if (json)
            print_json(&m, trace);
        else
            print_table(&m, trace);
        if (m.n_plain != trace->n_events)
            fprintf(stderr, "bench_rootcause: plain reading saw %llu of %llu events\n",
                    (unsigned long long)m.n_plain, (unsigned long long)trace->n_events);
        if (!json)
            fputs(lc_strbuf_get(&output.lines), stdout);
    }
    lc_rootcause_output_free(&output);
    lc_trace_free(trace);
    lc_transport_finalize(&comm);
    return 0;
}
