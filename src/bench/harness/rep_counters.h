/* Counters of one repetition: read right before and after the operation, never around the
 * synchronisation. Sources: getrusage, software events of the kernel, the longest gap in the
 * synchronisation's spin, probes of a library in this process (include/latecomer_probe.h). */
#ifndef LC_BENCH_HARNESS_REP_COUNTERS_H
#define LC_BENCH_HARNESS_REP_COUNTERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/strbuf.h"
#include "bench/parts.h"

struct latecomer_probe_table;

struct lc_rep_counters {
    bool rusage, gap;
    int perf_fd; /* group leader, or -1 */
    int perf_fds[3];
    unsigned n; /* of all sources */
    char name[LC_PART_COUNTERS][LC_PART_NAME];
    unsigned perf_first, gap_place, probe_first;
    struct latecomer_probe_table *probes; /* NULL: there are none */
};

/* `wanted`: names of sources with commas: rusage, perf, gap, probes; "none". What is not
 * available is left out; a line for each goes to `missing`. */
void lc_rep_counters_open(struct lc_rep_counters *counters, const char *wanted,
                          struct lc_strbuf *missing);
void lc_rep_counters_close(struct lc_rep_counters *counters);

/* values[n]: what stands in the counters now; the gap is not touched. */
void lc_rep_counters_read(const struct lc_rep_counters *counters, int64_t *values);

/* Around the operation: probes record from here on, and their values are taken. */
void lc_rep_probes_begin(const struct lc_rep_counters *counters);
void lc_rep_probes_end(const struct lc_rep_counters *counters, int64_t *values);

#endif
