/* What else ran on this rank's CPUs while it measured: read between batches of repetitions. */
#ifndef LC_BENCH_HARNESS_LOAD_READER_H
#define LC_BENCH_HARNESS_LOAD_READER_H

#include <sched.h>
#include <stdbool.h>

#include "bench/parts.h"

struct lc_load_reader {
    int schedstat, stat; /* descriptors, or -1 */
    cpu_set_t cpus;      /* that this rank may use */
};

/* For the calling thread. What is not there stays unknown. */
void lc_load_open(struct lc_load_reader *reader);
/* Closes what lc_load_open() opened. */
void lc_load_close(struct lc_load_reader *reader);

/* What stands there now, at a global time; `whole`: in /proc/stat, too, which takes the longer the
 * more CPUs there are. */
void lc_load_read(const struct lc_load_reader *reader, double now_ns, bool whole,
                  struct lc_part_load *load);

/* ns in which the thread has waited for a CPU; -1: unknown. */
int64_t lc_load_delay(const struct lc_load_reader *reader);

#endif
