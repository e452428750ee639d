/* Counters of one repetition. Some are read right before and after the operation, never around
 * the synchronisation: getrusage, run delay, software and hardware events (perf), performance
 * variables of MPI_T, events of PAPI. Reading them takes longer than many an operation, so only
 * some repetitions have them. The others need nothing between the start and the call, so every
 * repetition has them: the longest gap in the synchronisation's spin, probes of libraries here
 * (probe_layers.h). */
#ifndef LC_BENCH_HARNESS_REP_COUNTERS_H
#define LC_BENCH_HARNESS_REP_COUNTERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/strbuf.h"
#include "bench/harness/load_reader.h"
#include "bench/harness/mpi_variables.h"
#include "bench/harness/papi_events.h"
#include "bench/parts.h"

enum { LC_PERF_EVENTS = 4 };
/* Events of the kernel that one system call reads. */
struct lc_perf_group {
    int fds[LC_PERF_EVENTS]; /* -1: not there */
    int leader;              /* its descriptor, or -1: none is there */
    unsigned first;          /* place of its counters */
};

struct lc_rep_counters {
    bool rusage, gap;
    const struct lc_load_reader *load; /* NULL: no run delay */
    struct lc_perf_group software, hardware;
    unsigned n;      /* of all sources */
    unsigned n_read; /* the first of them are read around the operation */
    char name[LC_PART_COUNTERS][LC_PART_NAME];
    uint8_t kind[LC_PART_COUNTERS];                         /* enum lc_counter_kind */
    unsigned gap_place, delay_place, mpi_first, papi_first; /* probes: from n_read on */
    struct lc_papi_events papi;
    struct lc_mpi_variables mpi; /* n 0: none */
};

struct lc_counter_options {
    const char *sources; /* rusage, delay, perf, mpi, gap, probes, hardware, with commas; "none" */
    const char *papi;    /* names of events with commas, or "" */
    const char *variables; /* names of performance variables, or parts of them, or "": all */
};

/* Collective over comm. Run delay is read from `load`, which is borrowed. What is not available on
 * all ranks is left out; a line for each goes to `missing`. */
void lc_rep_counters_open(struct lc_rep_counters *counters, const struct lc_load_reader *load,
                          MPI_Comm comm, const struct lc_counter_options *options,
                          struct lc_strbuf *missing);
/* Closes the counters of the kernel. */
void lc_rep_counters_close(struct lc_rep_counters *counters);

/* Before the first reading of a repetition: watermarks begin anew. */
static inline void lc_rep_counters_begin(const struct lc_rep_counters *counters) {
    lc_mpi_variables_reset(&counters->mpi);
}
/* values[n_read]: what stands in the counters now. */
void lc_rep_counters_read(const struct lc_rep_counters *counters, int64_t *values);

#endif
