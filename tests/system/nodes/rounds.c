/* rounds N MS [END]: N rounds of work (MS milliseconds, rank 0 twice as long), a barrier and an
 * allreduce. END: what happens instead of a good end: "kill R" rank R dies of SIGKILL in the
 * middle, "linger" MPI_Finalize does not return on any rank; "begun PATH" a good end, and each rank
 * makes the file PATH.RANK after its second round; "later PATH" MPI_Finalize returns, and the
 * program goes on until there is the file PATH. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* An attribute of MPI_COMM_SELF is deleted inside MPI_Finalize. */
static int linger(MPI_Comm comm, int key, void *value, void *state) {
    (void)comm, (void)key, (void)value, (void)state;
    for (;;)
        sleep(1000);
    return MPI_SUCCESS;
}

static void make_file(const char *path, int rank) {
    char name[4096];
    snprintf(name, sizeof name, "%s.%d", path, rank);
    FILE *file = fopen(name, "w");
    if (file == NULL)
        perror(name);
    else
        fclose(file);
}

int main(int argc, char **argv) {
    int rank, size, rounds = atoi(argv[1]), ms = atoi(argv[2]);
    const char *end = argc > 3 ? argv[3] : "";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < rounds; i++) {
        int sum;
        usleep((useconds_t)(ms * (rank == 0 ? 2 : 1)) * 1000);
        if (i == rounds / 2 && strcmp(end, "kill") == 0 && rank == atoi(argv[4]))
            raise(SIGKILL);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        if (i == 1 && strcmp(end, "begun") == 0)
            make_file(argv[4], rank);
    }
    if (rank == 0) {
        printf("%d ranks, %d rounds\n", size, rounds);
        fflush(stdout);
    }
    if (strcmp(end, "linger") == 0) {
        int key;
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, linger, &key, NULL);
        MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
    }
    MPI_Finalize();
    for (int i = 0; strcmp(end, "later") == 0 && access(argv[4], F_OK) != 0 && i < 20000; i++)
        usleep(5000); /* bounded, so that nothing stays behind a failed test */
    return 0;
}
