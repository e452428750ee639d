/* What the accuracy of estimates from minima was published for (Mao et al. 2014, 4.1): calls that
 * wait, but not each time. sometimes_late wavefront|halo|sums, on 4 ranks. */
#include <mpi.h>
#include <string.h>
#include <time.h>

enum { STEPS = 40 };

static int rank, ranks;

/* From 1 to 9 ms; each rank is the slowest one at times, and the fastest one at others. */
static void work(int step) {
    struct timespec nap = {0, (1 + (rank * 7 + step * step * 3) % 9) * 1000000L};
    nanosleep(&nap, NULL);
}

/* As blts of LU: a pipeline from the first rank to the last one. */
static void wavefront(int step) {
    double front[8] = {0};
    if (rank > 0)
        MPI_Recv(front, 8, MPI_DOUBLE, rank - 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    work(step);
    if (rank + 1 < ranks)
        MPI_Send(front, 8, MPI_DOUBLE, rank + 1, 1, MPI_COMM_WORLD);
}

/* A ring whose messages travel while ranks work. */
static void halo(int step) {
    double in[8], out[8] = {0};
    MPI_Request request;
    MPI_Irecv(in, 8, MPI_DOUBLE, (rank + ranks - 1) % ranks, 2, MPI_COMM_WORLD, &request);
    work(step);
    MPI_Send(out, 8, MPI_DOUBLE, (rank + 1) % ranks, 2, MPI_COMM_WORLD);
    work(step + 1);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void sums(int step) {
    double own = rank, sum;
    work(step);
    MPI_Allreduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const char *what = argc > 1 ? argv[1] : "";
    for (int step = 0; step < STEPS; step++)
        if (strcmp(what, "wavefront") == 0)
            wavefront(step);
        else if (strcmp(what, "halo") == 0)
            halo(step);
        else
            sums(step);
    MPI_Finalize();
    return 0;
}
