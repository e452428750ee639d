/* Known work between calls of MPI, by one rank that talks to itself: for what the tool costs, and
 * whether that is kept apart from the program's own time.
 *
 *   known_work BLOCKS CALLS WORK [regions]
 * BLOCKS times, in turns: WORK steps of about a nanosecond before each of CALLS calls; the same
 * with calls that go past the tool; the work alone. Taking turns, all three see the same machine.
 * Prints a line per block: the seconds of the three, in this order. With regions, the calls that
 * the tool sees are in regions block0, block1.. */
#include <latecomer.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "past_the_tool.h"

#define NOINLINE __attribute__((noinline, noclone))

typedef int sendrecv_fn(const void *, int, MPI_Datatype, int, int, void *, int, MPI_Datatype, int,
                        int, MPI_Comm, MPI_Status *);

static volatile uint64_t sink;
static sendrecv_fn *sendrecv_past;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC_RAW, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* What stands before is done before what stands after begins. Else a processor works on hundreds
 * of instructions at a time, and nothing tells whose time that is. */
static inline void in_order(void) {
#if defined(__x86_64__)
    __asm__ volatile("lfence" ::: "memory");
#else
    __sync_synchronize();
#endif
}

/* A chain of multiplications: nothing of it runs beside anything else. */
NOINLINE static uint64_t work(long steps, uint64_t x) {
    in_order();
    for (long i = 0; i < steps; i++)
        x = x * 6364136223846793005ull + 1442695040888963407ull;
    in_order();
    return x;
}

NOINLINE static void loop(long calls, long steps) {
    int in = 1, out;
    for (long i = 0; i < calls; i++) {
        sink = work(steps, sink);
        MPI_Sendrecv(&in, 1, MPI_INT, 0, 1, &out, 1, MPI_INT, 0, 1, MPI_COMM_SELF,
                     MPI_STATUS_IGNORE);
    }
}

NOINLINE static void loop_past(long calls, long steps) {
    int in = 1, out;
    for (long i = 0; i < calls; i++) {
        sink = work(steps, sink);
        sendrecv_past(&in, 1, MPI_INT, 0, 1, &out, 1, MPI_INT, 0, 1, MPI_COMM_SELF,
                      MPI_STATUS_IGNORE);
    }
}

NOINLINE static void loop_alone(long calls, long steps) {
    for (long i = 0; i < calls; i++)
        sink = work(steps, sink);
}

int main(int argc, char **argv) {
    static void (*const loops[])(long, long) = {loop, loop_past, loop_alone};
    static const char *const names[] = {"libmpi.so.40", "libmpich.so.12"};
    MPI_Init(&argc, &argv);
    long blocks = argc > 3 ? atol(argv[1]) : 1, calls = argc > 3 ? atol(argv[2]) : 1;
    long steps = argc > 3 ? atol(argv[3]) : 1;
    for (int i = 0; i < 2 && sendrecv_past == NULL; i++)
        *(void **)&sendrecv_past = past_the_tool(names[i], "PMPI_Sendrecv");
    if (sendrecv_past == NULL)
        return 77;
    bool regions = argc > 4 && strcmp(argv[4], "regions") == 0;
    double(*seconds)[3] = calloc((size_t)blocks, sizeof *seconds);
    if (seconds == NULL)
        return 1;
    for (long b = -5; b < blocks; b++) {
        char name[32];
        snprintf(name, sizeof name, b < 0 ? "warm" : "block%ld", b);
        for (int i = 0; i < 3; i++) {
            int flag;
            MPI_Initialized(&flag); /* what lies between two rounds of a loop is main's */
            if (regions && i == 0)
                latecomer_begin(name);
            double from = now();
            loops[i](calls, steps);
            double took = now() - from;
            if (regions && i == 0)
                latecomer_end(name);
            if (b >= 0)
                seconds[b][i] = took;
        }
    }
    for (long b = 0; b < blocks; b++)
        printf("%.9f %.9f %.9f\n", seconds[b][0], seconds[b][1], seconds[b][2]);
    free(seconds);
    MPI_Finalize();
    return 0;
}
