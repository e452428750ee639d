/* Ranks that come at different times to what synchronises without data: construction of
 * communicators and windows, fences, epochs, collective files. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static int rank, size;

static void work(int ms, int late_rank) {
    struct timespec t = {.tv_nsec = (rank == late_rank ? 4 * ms : ms) * 1000000l};
    nanosleep(&t, NULL);
}

static void fences(MPI_Win win) {
    for (int i = 0; i < 3; i++) {
        MPI_Win_fence(0, win);
        work(4, i % size);
        MPI_Put(&rank, 1, MPI_INT, (rank + 1) % size, rank, 1, MPI_INT, win);
        MPI_Win_fence(0, win);
    }
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
}

static void epochs(MPI_Win win, MPI_Comm comm) {
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    MPI_Group all, targets, origins;
    MPI_Comm_group(comm, &all);
    MPI_Group_incl(all, 1, &to, &targets);
    MPI_Group_incl(all, 1, &from, &origins);
    for (int i = 0; i < 4; i++) {
        work(3, size - 1); /* posts late */
        MPI_Win_post(origins, 0, win);
        MPI_Win_start(targets, 0, win);
        MPI_Put(&rank, 1, MPI_INT, to, rank, 1, MPI_INT, win);
        work(2, 0); /* completes late */
        MPI_Win_complete(win);
        MPI_Win_wait(win);
    }
    MPI_Group_free(&targets);
    MPI_Group_free(&origins);
    MPI_Group_free(&all);
}

static void files(MPI_Comm comm, const char *name) {
    MPI_File file;
    work(4, 0);
    MPI_File_open(comm, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                  MPI_INFO_NULL, &file);
    work(4, 1);
    MPI_File_write_at_all(file, 4 * rank, &rank, 1, MPI_INT, MPI_STATUS_IGNORE);
    work(4, 0);
    MPI_File_close(&file);
}

int main(int argc, char **argv) {
    MPI_Comm twin, half;
    MPI_Win win;
    int *box;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    work(4, 0);
    MPI_Comm_dup(MPI_COMM_WORLD, &twin);
    work(4, 1);
    MPI_Comm_split(twin, rank % 2, 0, &half);
    work(4, 0);
    MPI_Win_allocate(4 * size, 4, MPI_INFO_NULL, twin, &box, &win);
    fences(win);
    epochs(win, twin);
    files(twin, argv[1]);
    work(4, 1);
    MPI_Win_free(&win);
    MPI_Comm_free(&half);
    MPI_Comm_free(&twin);
    MPI_Finalize();
    return 0;
}
