/* Messages and collectives without end: to be killed. argv[1]: rank that kills itself, argv[2]:
 * after so many rounds (-1: never); ends by itself after 1500 rounds. argv[3],
 * argv[4]: then the parent of rank argv[4] is hindered. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static int exchange(int rank, int size, int round) {
    int out = round, in = 0;
    MPI_Request requests[2];
    MPI_Status statuses[2];
    MPI_Irecv(&in, 1, MPI_INT, (rank + size - 1) % size, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(&out, 1, MPI_INT, (rank + 1) % size, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, statuses);
    return in;
}

/* A number: the parent's files cannot grow beyond so many bytes; else a file that is in its way. */
static void hinder(const char *how) {
    struct rlimit limit = {(rlim_t)atol(how), (rlim_t)atol(how)};
    if (limit.rlim_cur > 0) {
        prlimit(getppid(), RLIMIT_FSIZE, &limit, NULL);
        return;
    }
    char dir[4096];
    snprintf(dir, sizeof(dir), "%s", how);
    *strrchr(dir, '/') = 0;
    mkdir(dir, 0777);
    FILE *file = fopen(how, "w");
    if (file != NULL)
        fclose(file);
}

int main(int argc, char **argv) {
    int rank, size, sum = 0, total = 0;
    int victim = argc > 1 ? atoi(argv[1]) : -1, rounds = argc > 2 ? atoi(argv[2]) : -1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int round = 0; round < 1500; round++) {
        if (rank == victim && round == rounds)
            kill(getpid(), SIGKILL);
        sum += exchange(rank, size, round);
        MPI_Allreduce(&sum, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
    if (argc > 4 && rank == atoi(argv[4]))
        hinder(argv[3]);
    MPI_Finalize();
    return total == 0;
}
