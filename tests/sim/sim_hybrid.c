/* A program of MPI and OpenMP as its arguments say, step by step; R: the rank that does it.
 *   w:R:NS         it works
 *   r:R:NS,NS,..   a region, a thread for each
 *   b:R:NS,NS,..   the same twice, with a barrier between
 *   t:R:NS,NS,..   a region of two threads, one of which creates a task for each
 *   m:R:S          a message from R to S
 *   a              an allreduce of all */
#include <mpi.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 16 };
void sim_work(unsigned long long ns);

static int split(const char *text, long *values) {
    int n = 0;
    for (char *end; n < MOST && *text != '\0'; text = *end != '\0' ? end + 1 : end)
        values[n++] = strtol(text, &end, 10);
    return n;
}

static void region(const long *ns, int n, int times) {
#pragma omp parallel num_threads(n)
    for (int i = 0; i < times; i++) {
        sim_work((unsigned long long)ns[omp_get_thread_num()]);
        if (i + 1 < times) {
#pragma omp barrier
        }
    }
}

static void tasks(const long *ns, int n) {
#pragma omp parallel num_threads(2)
#pragma omp single
    for (int i = 0; i < n; i++) {
#pragma omp task
        sim_work((unsigned long long)ns[i]);
    }
}

static void message(int rank, int from, int to) {
    int x = 0;
    if (rank == from)
        MPI_Send(&x, 1, MPI_INT, to, 0, MPI_COMM_WORLD);
    else if (rank == to)
        MPI_Recv(&x, 1, MPI_INT, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void step(const char *text, int rank) {
    char *end = NULL;
    int who = text[0] != 'a' ? (int)strtol(text + 2, &end, 10) : -1, x = 0;
    long values[MOST];
    int n = end != NULL ? split(end + 1, values) : 0;
    if (text[0] == 'a')
        MPI_Allreduce(MPI_IN_PLACE, &x, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    else if (text[0] == 'm')
        message(rank, who, (int)values[0]);
    else if (who == rank && text[0] == 'w')
        sim_work((unsigned long long)values[0]);
    else if (who == rank && text[0] == 't')
        tasks(values, n);
    else if (who == rank)
        region(values, n, text[0] == 'b' ? 2 : 1);
}

int main(int argc, char **argv) {
    int rank = 0, level = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 1; i < argc; i++)
        step(argv[i], rank);
    MPI_Finalize();
    return 0;
}
