/* Which code the time between MPI calls belongs to, and regions. Naps of known length in known
 * places, in virtual time; prints "path seconds" of what must be booked there, the program's own
 * clock around each nap, and the time between MPI_Init and MPI_Finalize that was no nap: at most so
 * much more may be booked anywhere. */
#include <latecomer.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define NOINLINE __attribute__((noinline, noclone))

static double spent[16];

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void nap(int where, int ms) {
    double begin = now();
    nanosleep(&(struct timespec){.tv_nsec = ms * 1000000L}, NULL);
    spent[where] += now() - begin;
}

static void mpi(void) {
    MPI_Barrier(MPI_COMM_SELF);
}

enum { MAIN, SOLVE, STEP, REGION, INNER, OFF, ROOT, N };

/* Two calls of one activation of step: the time between them is step's. */
NOINLINE static void step(void) {
    MPI_Barrier(MPI_COMM_SELF);
    nap(STEP, 20);
    MPI_Barrier(MPI_COMM_SELF);
}

/* Between the last call of a step and the first of the next, step has ended: solve is the deepest
 * that certainly ran. The steps are called from different places: an activation is known by its
 * return address and where that lies. */
NOINLINE static void solve(void) {
    step();
    nap(SOLVE, 10);
    step();
    nap(SOLVE, 10);
    step();
    nap(SOLVE, 10);
    MPI_Barrier(MPI_COMM_SELF);
}

NOINLINE static void with_region(void) {
    latecomer_begin("phase");
    nap(REGION, 30);
    MPI_Barrier(MPI_COMM_SELF);
    latecomer_begin("inner");
    nap(INNER, 15);
    latecomer_end("inner");
    nap(REGION, 5);
    latecomer_end("phase");
}

int main(int argc, char **argv) {
    nap(ROOT, 25); /* before the first call */
    MPI_Init(&argc, &argv);
    double begin = now(), naps = spent[ROOT];
    mpi();
    nap(MAIN, 20);
    mpi();
    solve();
    for (int i = 0; i < 2; i++)
        with_region();
    MPI_Barrier(MPI_COMM_SELF);
    if (strcmp(argc > 1 ? argv[1] : "", "api") == 0)
        latecomer_stop();
    else
        MPI_Pcontrol(0);
    nap(OFF, 40);
    MPI_Barrier(MPI_COMM_SELF);
    nap(OFF, 10);
    if (strcmp(argc > 1 ? argv[1] : "", "api") == 0)
        latecomer_start();
    else
        MPI_Pcontrol(1);
    nap(MAIN, 10);
    mpi();
    double rest = now() - begin;
    for (int i = 0; i < N; i++)
        naps -= spent[i];
    rest += naps;
    MPI_Finalize();
    printf("main %.6f\nmain/solve %.6f\nmain/solve/step %.6f\nmain/with_region/phase %.6f\n"
           "main/with_region/phase/inner %.6f\noff %.6f\nbefore %.6f\nrest %.6f\n",
           spent[MAIN], spent[SOLVE], spent[STEP], spent[REGION], spent[INNER], spent[OFF],
           spent[ROOT], rest);
    return 0;
}
