/* Benchmark of the whole trace analysis: events per second and processor, per phase, and the peak
 * of memory per event.
 *
 *   [mpirun -n N] bench_rootcause DIR        an archive made by make_trace
 *
 * Processor time, not wall time, so that other load on the machine disturbs little; with several
 * ranks the slowest counts. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "analyze/health.h"
#include "analyze/read.h"
#include "analyze/results.h"
#include "analyze/rootcause.h"
#include "analyze/waits.h"

static void check(enum lc_err err) {
    if (err != LC_OK) {
        fprintf(stderr, "bench_rootcause: %s\n", lc_err_text());
        lc_comm_abort(1);
    }
}

static int64_t cpu_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static void report(const struct lc_trace *trace, const char *phase, int64_t ns) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    int64_t largest = ns, memory = usage.ru_maxrss * 1024;
    lc_comm_allreduce_i64(trace->comm, &largest, 1, LC_OP_MAX);
    lc_comm_allreduce_i64(trace->comm, &memory, 1, LC_OP_SUM);
    if (trace->comm->rank == 0)
        printf("%-24s %8.3f s  %7.2f M events/s and rank  peak %6.1f bytes per event (all ranks)\n",
               phase, (double)largest / 1e9,
               (double)trace->n_events / (double)trace->comm->size / ((double)largest / 1e3),
               (double)memory / (double)trace->n_events);
}

int main(int argc, char **argv) {
    struct lc_comm comm;
    struct lc_health health;
    struct lc_trace *trace = NULL;
    char path[4096];
    lc_comm_init(&comm, &argc, &argv);
    if (argc != 2) {
        fprintf(stderr, "usage: bench_rootcause DIR\n");
        lc_comm_abort(2);
    }
    snprintf(path, sizeof path, "%s/traces.otf2", argv[1]);
    lc_health_init(&health);
    int64_t t0 = cpu_ns();
    check(lc_trace_read(&trace, &comm, path, &health, NULL, NULL));
    int64_t t1 = cpu_ns();
    report(trace, "reading", t1 - t0);
    check(lc_results_new(&trace->results));
    t1 = cpu_ns();
    check(lc_waits_find(trace));
    int64_t t2 = cpu_ns();
    report(trace, "wait states", t2 - t1);
    struct lc_rootcause_options options = {0};
    struct lc_rootcause_output output = {0};
    t2 = cpu_ns();
    check(lc_rootcause_run(trace, &options, &output));
    int64_t t3 = cpu_ns();
    report(trace, "root causes", t3 - t2);
    report(trace, "everything", t3 - t0);
    if (comm.rank == 0)
        fputs(lc_strbuf_get(&output.lines), stdout);
    lc_rootcause_output_free(&output);
    lc_trace_free(trace);
    lc_comm_finalize(&comm);
    return 0;
}
