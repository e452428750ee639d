/* One job: repetitions of one operation, synchronised, timed, and written to the part of this rank.
 * docs/definitions/micro-benchmark.md, section 1. */
#ifndef LC_BENCH_HARNESS_MEASURE_JOB_H
#define LC_BENCH_HARNESS_MEASURE_JOB_H

#include <signal.h>

#include "bench/harness/bench_operations.h"
#include "bench/harness/clock_fit.h"
#include "bench/harness/load_reader.h"
#include "bench/harness/rep_counters.h"

enum lc_bench_sync {
    LC_SYNC_ROUNDTIME,
    LC_SYNC_WINDOW,
    LC_SYNC_BARRIER,
    LC_SYNC_NONE,
    LC_BENCH_SYNCS
};
extern const char *const lc_bench_sync_names[LC_BENCH_SYNCS];

struct lc_job_options {
    enum lc_bench_sync sync;
    uint64_t reps;
    double seconds;   /* at most */
    double precision; /* 0: none */
    bool in_place, progress;
    bool truth; /* tests: clocks are bent, and their true errors are told */
    int root;
    uint32_t every; /* each so many (at least 2) is a repetition with counters */
};

struct lc_harness {
    struct lc_own own;
    MPI_Comm comm; /* that is measured */
    int color;     /* of comm, where it is split */
    struct lc_harness_clock clock;
    struct lc_rep_counters counters;
    struct lc_load_reader load;
    struct lc_part_writer part;
    const char *status;  /* file for the exit code, or "" */
    bool oversubscribed; /* more ranks than cores on some node: waiting gives the core away */
    volatile sig_atomic_t *interrupted;
};

enum lc_measured_end {
    LC_JOB_DONE,
    LC_JOB_LACKING, /* this MPI does not have the operation, or too few ranks, which was said */
    LC_JOB_INTERRUPTED
};

/* Collective. A failure of MPI on a rank is one line there and the end of the job with MPI_Abort.
 * LC_ERR_NOMEM, LC_ERR_RANGE, LC_ERR_IO. */
enum lc_err lc_measure_job(struct lc_harness *harness, const char *operation, uint64_t bytes,
                           const struct lc_job_options *options, enum lc_measured_end *end);

/* After a failure that other ranks do not know of: one line, what was measured is written, the job
 * ends. */
_Noreturn void lc_harness_abort(struct lc_harness *harness, const char *what);

/* Leaves the exit code for the command that started this job (cli/relay.h), if it waits for one. */
void lc_harness_tell(const struct lc_harness *harness, char code);

#endif
