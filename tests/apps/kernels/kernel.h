/* What the kernels have in common. Each is a small solver with the communication of a published
 * benchmark, whose result can be checked:
 *
 *     KERNEL [STEPS [SIZE [NS]]]
 *
 * NS: each unit of work (what a cell takes) is also a nap of so many nanoseconds: for virtual time,
 * in which computing takes none. Then the time of a rank that is no work is waiting, but for what
 * messages take. Prints a line per rank, "RANK UNITS NS", with the time of all steps, and
 * "verified" or "wrong". */
#ifndef KERNEL_H
#define KERNEL_H

#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "latecomer.h"

struct kernel {
    int rank, ranks, steps, size;
    long unit_ns, units;
    long long begin_ns;
};

static inline long long kernel_now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static inline struct kernel kernel_begin(int *argc, char ***argv, int steps, int size) {
    struct kernel k = {.steps = steps, .size = size};
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &k.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &k.ranks);
    k.steps = *argc > 1 ? atoi((*argv)[1]) : k.steps;
    k.size = *argc > 2 ? atoi((*argv)[2]) : k.size;
    k.unit_ns = *argc > 3 ? atol((*argv)[3]) : 0;
    k.begin_ns = kernel_now_ns();
    return k;
}

/* Behind the code that did it. */
static inline void kernel_worked(struct kernel *k, long units) {
    long long ns = units * k->unit_ns;
    struct timespec nap = {ns / 1000000000, ns % 1000000000};
    k->units += units;
    if (ns > 0)
        nanosleep(&nap, NULL);
}

/* Ends MPI; the status of main. */
static inline int kernel_end(const struct kernel *k, bool right) {
    printf("%d %ld %lld\n", k->rank, k->units, kernel_now_ns() - k->begin_ns);
    puts(right ? "verified" : "wrong");
    MPI_Finalize();
    return right ? EXIT_SUCCESS : EXIT_FAILURE;
}

static inline void *kernel_memory(size_t n, size_t size) {
    void *memory = calloc(n, size);
    if (memory == NULL)
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    return memory;
}

#endif
