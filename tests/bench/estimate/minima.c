/* The end of a large run, on rank 0's parent: minima, estimates and their description from
 * synthetic rows, one per rank, function and size class.
 *
 * minima RANKS FUNCTIONS [CLASSES [MEGABYTES]]: prints what it took (tests/figure.py); exit 1 if
 * it took more memory. Sums are checked against the formula: every row has 10 calls that took 1 us
 * longer each than the minimum of its process, whose minimum lies (rank % 7) us above that of all.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/timer.h"
#include "run/estimate.h"

static const char *const functions[] = {"MPI_Recv",      "MPI_Wait",    "MPI_Waitall", "MPI_Ssend",
                                        "MPI_Sendrecv",  "MPI_Barrier", "MPI_Bcast",   "MPI_Reduce",
                                        "MPI_Allreduce", "MPI_Alltoall"};
enum { N_FUNCTIONS = sizeof functions / sizeof functions[0], CALLS = 10 };

static struct lc_raw_row row_of(uint32_t rank, uint32_t function, uint32_t size_class) {
    uint64_t min_ns = 5000 + 1000 * (rank % 7);
    return (struct lc_raw_row){.node = function,
                               .location = rank,
                               .size_class = size_class,
                               .flags = LC_RAW_ROW_RECV | (function == 7 ? LC_RAW_ROW_ROOT : 0),
                               .count = CALLS,
                               .sum_ns = CALLS * (min_ns + 1000),
                               .min_ns = min_ns,
                               .max_ns = min_ns + 2000};
}

/* Not ru_maxrss: it begins with what the process that called exec had. */
static long peak_kib(void) {
    long kib = 0;
    char line[128];
    FILE *status = fopen("/proc/self/status", "r");
    if (status == NULL)
        return 0;
    while (fgets(line, sizeof line, status) != NULL && sscanf(line, "VmHWM: %ld", &kib) != 1)
        ;
    fclose(status);
    return kib;
}

static enum lc_err fill(struct lc_raw *raw, uint32_t ranks) {
    uint32_t id, host;
    LC_TRY(lc_raw_add_name(raw, "node", &host));
    for (uint32_t f = 0; f < N_FUNCTIONS; f++)
        LC_TRY(lc_raw_add_name(raw, functions[f], &id));
    for (uint32_t r = 0; r < ranks; r++) {
        struct lc_raw_location location = {.rank = (int32_t)r, .host = host};
        LC_TRY(lc_raw_add_location(raw, &location, &id));
    }
    return LC_OK;
}

int main(int argc, char **argv) {
    uint32_t ranks = argc > 1 ? (uint32_t)atol(argv[1]) : 65536;
    uint32_t n_functions = argc > 2 ? (uint32_t)atol(argv[2]) : N_FUNCTIONS;
    uint32_t n_classes = argc > 3 ? (uint32_t)atol(argv[3]) : 1;
    struct lc_raw *raw;
    struct lc_minima *minima;
    struct lc_strbuf json = {0};
    if (n_functions > N_FUNCTIONS || lc_raw_new(&raw) != LC_OK || fill(raw, ranks) != LC_OK)
        return 2;
    long before_kib = peak_kib();
    uint64_t begin = lc_monotonic_raw_ns();
    if (lc_minima_new(&minima, raw) != LC_OK)
        return 2;
    for (uint32_t r = 0; r < ranks; r++)
        for (uint32_t f = 0; f < n_functions; f++)
            for (uint32_t s = 0; s < n_classes; s++) {
                struct lc_raw_row row = row_of(r, f, s);
                if (lc_minima_see(minima, f + 1, &row) != LC_OK)
                    return 2;
            }
    double sum_s = 0, expected_s = 0;
    for (uint32_t r = 0; r < ranks; r++)
        for (uint32_t f = 0; f < n_functions; f++)
            for (uint32_t s = 0; s < n_classes; s++) {
                struct lc_raw_row row = row_of(r, f, s);
                double above = f < 5 ? 0 : r % 7; /* collectives: minimum of all processes */
                sum_s += lc_minima_wait(minima, f + 1, &row);
                expected_s +=
                    f == 6 && (row.flags & LC_RAW_ROW_ROOT) ? 0 : CALLS * (1 + above) * 1e-6;
            }
    lc_minima_describe(minima, &json);
    double seconds = (double)(lc_monotonic_raw_ns() - begin) * 1e-9;
    double megabytes = (double)(peak_kib() - before_kib) / 1024;
    printf("%u ranks x %u functions x %u size classes\n", ranks, n_functions, n_classes);
    printf("figure memory %.1f MB\nfigure time %.4f s\n", megabytes, seconds);
    lc_minima_free(minima);
    lc_strbuf_free(&json);
    lc_raw_free(raw);
    if (sum_s < expected_s * (1 - 1e-9) || sum_s > expected_s * (1 + 1e-9)) {
        printf("waiting: %.9f s instead of %.9f s\n", sum_s, expected_s);
        return 1;
    }
    return argc > 4 && megabytes > atof(argv[4]);
}
