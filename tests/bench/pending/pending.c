/* N receives are posted on each rank, then their N messages sent around a ring, then all completed
 * in some order; rank 0 prints the seconds of it.
 *
 * pending N forward|reverse|random|all|all_reverse same|tags|source|tag|any
 * same: one tag; tags: many; source: MPI_ANY_SOURCE; tag: MPI_ANY_TAG; any: both */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TAGS = 3000 };

static void put_in_order(int *which, int n, const char *order) {
    srand(1);
    for (int i = 0; i < n; i++) {
        which[i] = strstr(order, "reverse") != NULL ? n - 1 - i : i;
        int other = rand() % (i + 1);
        if (strcmp(order, "random") == 0) {
            which[i] = which[other];
            which[other] = i;
        }
    }
}

int main(int argc, char **argv) {
    int rank, size, sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int n = argc > 1 ? atoi(argv[1]) : 1000;
    const char *order = argc > 2 ? argv[2] : "forward", *kind = argc > 3 ? argv[3] : "same";
    size_t room = (size_t)n + 1;
    MPI_Request *recv = malloc(room * sizeof *recv), *send = malloc(room * sizeof *send);
    MPI_Request *sorted = malloc(room * sizeof *sorted);
    int *got = calloc(room, sizeof *got), *sent = calloc(room, sizeof *sent);
    int *which = calloc(room, sizeof *which);
    if (recv == NULL || send == NULL || sorted == NULL || got == NULL || sent == NULL ||
        which == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    put_in_order(which, n, order);
    int left = (rank + size - 1) % size, right = (rank + 1) % size;
    int many = strcmp(kind, "tags") == 0 || strcmp(kind, "tag") == 0 || strcmp(kind, "any") == 0;
    int source = strcmp(kind, "source") == 0 || strcmp(kind, "any") == 0 ? MPI_ANY_SOURCE : left;
    int any_tag = strcmp(kind, "tag") == 0 || strcmp(kind, "any") == 0;
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = MPI_Wtime();
    for (int i = 0; i < n; i++)
        MPI_Irecv(&got[i], 1, MPI_INT, source,
                  any_tag ? MPI_ANY_TAG
                  : many  ? i % TAGS
                          : 0,
                  MPI_COMM_WORLD, &recv[i]);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < n; i++) {
        sent[i] = i;
        MPI_Isend(&sent[i], 1, MPI_INT, right, many ? i % TAGS : 0, MPI_COMM_WORLD, &send[i]);
    }
    for (int i = 0; i < n; i++)
        sorted[i] = recv[which[i]];
    if (strncmp(order, "all", 3) == 0)
        MPI_Waitall(n, sorted, MPI_STATUSES_IGNORE);
    else
        for (int i = 0; i < n; i++)
            MPI_Wait(&sorted[i], MPI_STATUS_IGNORE);
    MPI_Waitall(n, send, MPI_STATUSES_IGNORE);
    double seconds = MPI_Wtime() - begin;
    for (int i = 0; i < n; i++)
        sum += got[i] != i;
    if (rank == 0)
        printf("%.6f\n", sum == 0 ? seconds : -1.0);
    free(recv);
    free(send);
    free(sorted);
    free(got);
    free(sent);
    free(which);
    MPI_Finalize();
    return sum != 0;
}
