/* The global clock of the benchmark's harness on the simulated MPI, whose true time is known:
 * sim_global_clock DIRECTORY
 *
 * As in a job, the clock is fitted, checked, read at some times, and checked again. Rank 0 prints
 * four numbers, in ns: the largest error of the times that are corrected by both checks, as they
 * are when a result is read; by how much an error is beyond the bound of its rank (negative: all
 * are within); the same of the uncorrected times and what the fit says of itself; the largest error
 * of the clocks without any fit. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/err.h"
#include "bench/harness/clock_fit.h"
#include "bench/parts_read.h"

enum { TIMES = 20, NAP_NS = 10000000 };

uint64_t sim_true_clock(void) __attribute__((weak)); /* tests/sim/sim.h */

static void need(enum lc_err err) {
    if (err == LC_OK)
        return;
    fprintf(stderr, "%s\n", lc_err_text());
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void put_head(struct lc_part_writer *part, const struct lc_own *own) {
    const struct lc_part_hello hello = {
        .magic = LC_PART_MAGIC, .rank = (uint32_t)own->rank, .size = (uint32_t)own->size};
    const struct lc_part_job head = {
        .operation = "clock", .sync = "none", .n_counters = 1, .counter = {"truth_ns"}};
    need(lc_part_put(part, LC_PART_HELLO, &hello, sizeof hello));
    need(lc_part_put(part, LC_PART_JOB, &head, sizeof head));
}

struct found {
    double error, beyond, beyond_model, unfitted;
};

/* One reading of the clock, and what it ought to show. */
static void read_once(const struct lc_harness_clock *clock, uint64_t base,
                      struct lc_part_writer *part, struct found *found) {
    uint64_t ticks = lc_ticks(), truth = sim_true_clock() - base;
    double global = lc_clock_global(clock, ticks);
    double local = (double)(int64_t)(ticks - base);
    const int64_t values[] = {llround(global), llround(global), 0, (int64_t)truth};
    found->beyond_model =
        fmax(found->beyond_model, fabs(global - (double)truth) - lc_clock_error(clock, global));
    found->unfitted = fmax(found->unfitted, fabs(local - (double)truth));
    need(lc_part_put(part, LC_PART_REPS, values, sizeof values));
}

/* What is in the result in the end: read as the command reads it. */
static void compare(const char *file, double bound, struct found *found) {
    struct lc_rank_part part;
    need(lc_rank_part_read(file, &part));
    for (size_t i = 0; i < part.jobs[0].n; i++) {
        const int64_t *v = lc_job_rep(&part.jobs[0], i);
        double error = fabs((double)(v[LC_REP_START] - v[LC_REP_COUNTERS]));
        found->error = fmax(found->error, error);
        found->beyond = fmax(found->beyond, error - bound);
    }
    lc_rank_part_free(&part);
}

int main(int argc, char **argv) {
    struct lc_own own;
    struct lc_harness_clock clock;
    struct lc_clock_checked before, after;
    struct lc_part_writer part;
    struct found found = {-INFINITY, -INFINITY, -INFINITY, -INFINITY}, all;
    char file[4096];
    if (argc != 2 || sim_true_clock == NULL)
        return 2;
    lc_timer_init();
    MPI_Init(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &own.comm);
    MPI_Comm_rank(own.comm, &own.rank);
    MPI_Comm_size(own.comm, &own.size);
    uint64_t base = lc_timer.base_ticks; /* rank 0's: its node has the true time */
    MPI_Bcast(&base, sizeof base, MPI_BYTE, 0, own.comm);
    need(lc_part_open(&part, argv[1], (uint32_t)own.rank));
    put_head(&part, &own);
    lc_clock_begin(&clock, &own);
    lc_clock_check(&clock, &before);
    for (int i = 0; i < TIMES; i++) {
        const struct timespec nap = {.tv_nsec = NAP_NS / (1 + own.rank % 3)};
        nanosleep(&nap, NULL);
        read_once(&clock, base, &part, &found);
    }
    lc_clock_check(&clock, &after);
    const struct lc_part_end end = {.stopped = "repetitions",
                                    .begun_ns = before.at_ns,
                                    .begun_residual_ns = before.residual_ns,
                                    .ended_ns = after.at_ns,
                                    .residual_ns = after.residual_ns,
                                    .error_ns = fmax(before.error_ns, after.error_ns)};
    need(lc_part_put(&part, LC_PART_END, &end, sizeof end));
    need(lc_part_flush(&part));
    lc_part_close(&part);
    snprintf(file, sizeof file, "%s/rank-%d", argv[1], own.rank);
    compare(file, end.error_ns, &found);
    MPI_Reduce(&found, &all, sizeof all / sizeof(double), MPI_DOUBLE, MPI_MAX, 0, own.comm);
    if (own.rank == 0)
        printf("%.1f %.1f %.1f %.1f\n", all.error, all.beyond, all.beyond_model, all.unfitted);
    lc_clock_end(&clock);
    MPI_Comm_free(&own.comm);
    MPI_Finalize();
    return 0;
}
