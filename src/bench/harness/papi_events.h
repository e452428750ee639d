/* Events of PAPI (papi_avail and papi_native_avail list them) as counters of a repetition. The
 * library is looked for when it is wanted: nothing of it is needed to build. */
#ifndef LC_BENCH_HARNESS_PAPI_EVENTS_H
#define LC_BENCH_HARNESS_PAPI_EVENTS_H

#include <mpi.h>
#include <stdint.h>

#include "base/strbuf.h"
#include "bench/parts.h"

enum { LC_PAPI_MOST = 12 };

struct lc_papi_events {
    int (*read)(int set, long long *values); /* NULL: there are none */
    int set;
    char name[LC_PAPI_MOST][LC_PART_NAME];
    unsigned n;
};

/* Collective over comm: those of the events (names with commas; empty: nothing is done) that all of
 * its ranks can count together begin to count for this thread. For each that is left out, or for
 * all where the library is not there, a line goes to `missing`. */
void lc_papi_open(struct lc_papi_events *events, MPI_Comm comm, const char *wanted,
                  struct lc_strbuf *missing);

/* values[n]: what stands in them now. */
void lc_papi_read(const struct lc_papi_events *events, int64_t *values);

#endif
