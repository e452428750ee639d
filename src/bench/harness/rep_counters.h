/* Counters of one repetition: read right before and after the operation, never around the
 * synchronisation. Sources: getrusage, software and hardware events (perf), the longest gap in the
 * synchronisation's spin, performance variables of MPI_T, events of PAPI, probes of a library here
 * (include/latecomer_probe.h). */
#ifndef LC_BENCH_HARNESS_REP_COUNTERS_H
#define LC_BENCH_HARNESS_REP_COUNTERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/strbuf.h"
#include "bench/harness/mpi_variables.h"
#include "bench/harness/papi_events.h"
#include "bench/parts.h"

struct latecomer_probe_table;

enum { LC_PERF_EVENTS = 4 };
/* Events of the kernel that one system call reads. */
struct lc_perf_group {
    int fds[LC_PERF_EVENTS]; /* -1: not there */
    int leader;              /* its descriptor, or -1: none is there */
    unsigned first;          /* place of its counters */
};

struct lc_rep_counters {
    bool rusage, gap, audit; /* audit: some blocks of repetitions without counters */
    struct lc_perf_group software, hardware;
    unsigned n; /* of all sources */
    char name[LC_PART_COUNTERS][LC_PART_NAME];
    unsigned gap_place, probe_first, audit_place, mpi_first, papi_first;
    struct lc_papi_events papi;
    struct lc_mpi_variables mpi;          /* n 0: none */
    struct latecomer_probe_table *probes; /* NULL: there are none */
};

/* Collective over comm. `wanted`: names of sources with commas: rusage, perf, mpi, gap, probes,
 * hardware, audit; "none". `papi`: names of events with commas, or "". What is not available on all
 * ranks is left out; a line for each goes to `missing`. */
void lc_rep_counters_open(struct lc_rep_counters *counters, MPI_Comm comm, const char *wanted,
                          const char *papi, struct lc_strbuf *missing);
/* Closes the counters of the kernel. */
void lc_rep_counters_close(struct lc_rep_counters *counters);

/* values[n]: what stands in the counters now; the gap is not touched. */
void lc_rep_counters_read(const struct lc_rep_counters *counters, int64_t *values);

/* Around the operation: probes record from here on, and their values are taken. */
void lc_rep_probes_begin(const struct lc_rep_counters *counters);
/* After the operation: their values, one per probe, timers in ns. */
void lc_rep_probes_end(const struct lc_rep_counters *counters, int64_t *values);

#endif
