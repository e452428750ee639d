/* The bundled imbalanced program: waiting of known size on known ranks and call paths, in rounds
 * that alternate with rounds without waiting (a wait that is in every call would be invisible to a
 * minimum). Work is sleeping, so it needs no cores.
 *
 * With UNIT = 20 ms and ROUNDS = 10 imbalanced rounds, waiting per rank (P ranks):
 *   step_barrier     rank r works 2 * UNIT if r = P-1, else 1 UNIT: all but the last wait 1 UNIT in
 * MPI_Barrier step_allreduce   rank r works (r % 2 ? 1 : 3) UNIT: odd ranks wait 2 UNIT in
 * MPI_Allreduce step_message     even ranks send after 3 UNIT, their odd neighbours receive after 1
 * UNIT: they wait 2 UNIT in MPI_Recv Expected totals over the run are printed by rank 0 on request
 * (argument "expect"), as "metric callpath rank seconds". */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 10, CALM_ROUNDS = 5 };
static double unit_s = 0.02;
static int rank, ranks;

/* The work measures itself: sleeping takes a little longer than asked, and by how much is nobody's
 * fault but the machine's. */
__attribute__((noinline)) static void work(double units) {
    struct timespec nap;
    double seconds = units * unit_s;
    nap.tv_sec = (time_t)seconds;
    nap.tv_nsec = (long)((seconds - (double)nap.tv_sec) * 1e9);
    nanosleep(&nap, NULL);
}

/* Starts a step together, so that what follows does not depend on earlier lateness. */
__attribute__((noinline)) static void align(void) {
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
}

__attribute__((noinline)) static void step_barrier(int imbalanced) {
    work(imbalanced && rank == ranks - 1 ? 2 : 1);
    MPI_Barrier(MPI_COMM_WORLD);
}

__attribute__((noinline)) static void step_allreduce(int imbalanced) {
    double mine = rank, sum = 0;
    work(imbalanced && rank % 2 == 0 ? 3 : 1);
    MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (sum != ranks * (ranks - 1) / 2.0)
        MPI_Abort(MPI_COMM_WORLD, 1);
}

__attribute__((noinline)) static void step_message(int imbalanced) {
    int partner = rank ^ 1;
    int value = rank;
    if (partner >= ranks) {
        work(1);
    } else if (rank % 2 == 0) {
        work(imbalanced ? 3 : 1);
        MPI_Send(&value, 1, MPI_INT, partner, 7, MPI_COMM_WORLD);
    } else {
        work(imbalanced ? 1 : 2);
        MPI_Recv(&value, 1, MPI_INT, partner, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

static void solve(void) {
    for (int i = 0; i < ROUNDS + CALM_ROUNDS; i++) {
        int imbalanced = i % 3 != 2; /* every third round is calm */
        align();
        step_barrier(imbalanced);
        align();
        step_allreduce(imbalanced);
        align();
        step_message(imbalanced);
    }
}

static void print_expectation(void) {
    double unit = ROUNDS * unit_s;
    for (int r = 0; r < ranks; r++) {
        if (r != ranks - 1)
            printf("mpi_barrier_wait step_barrier/MPI_Barrier %d %.6f\n", r, unit);
        if (r % 2 == 1)
            printf("mpi_wait_nxn step_allreduce/MPI_Allreduce %d %.6f\n", r, 2 * unit);
        if (r % 2 == 1)
            printf("mpi_latesender step_message/MPI_Recv %d %.6f\n", r, 2 * unit);
    }
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int expect = 0;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "expect") == 0)
            expect = 1;
        else
            unit_s = atof(argv[i]) / 1000;
    }
    if (unit_s <= 0 || unit_s > 10) {
        if (rank == 0)
            fprintf(stderr, "latecomer-demo: the unit of work is a number of ms from 1 to 10000\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    if (expect && rank == 0)
        print_expectation();
    solve();
    if (rank == 0)
        printf("latecomer-demo: done, %d rounds on %d ranks\n", ROUNDS + CALM_ROUNDS, ranks);
    MPI_Finalize();
    return 0;
}
