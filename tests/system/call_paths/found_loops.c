/* Loops without annotation, that the tool is to find: found_loops KIND N. Work is sleeping.
 *   flat        N times an allreduce
 *   no_work     the same, one right after the other
 *   nested      N iterations, in each 15 of an inner loop in another function
 *   output      N iterations of two calls, every 10th writes (another call site)
 *   neighbours  N iterations, each with 4 messages to either side from one call site
 *   few         9 iterations
 *   slow        N iterations; 5 of them, from N / 2 on, take 4 times as long on the last rank; the
 *               first 4 take as long on all
 *   commands_5, commands_13
 *               16 commands are read, of which the 5th, or 13th, makes N iterations
 *   setup       12 times in set-up, then N iterations in another function
 *   edges       6 visits of a site, N iterations in another function, 6 visits of the site again
 *   halves      even ranks make N iterations in one function, odd ones in another
 *   uneven      odd ranks make 12 calls of their own, then all of them N iterations, all in one
 *               function
 *   setups      20 loops of 12 iterations, each one call deeper, then N iterations
 *   turns       one rank after the other makes N iterations, then N others of the same function,
 *               and waits for nobody in them */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int rank, ranks, n;

__attribute__((noinline)) static void work(double ms) {
    struct timespec time = {0, (long)(ms * 1e6)};
    nanosleep(&time, NULL);
    __asm__ volatile("");
}

__attribute__((noinline)) static double sum(void) {
    double mine = rank, all = 0;
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

__attribute__((noinline)) static double inner(void) {
    double all = 0;
    for (int i = 0; i < 15; i++) {
        work(0.1);
        all += sum();
    }
    return all;
}

__attribute__((noinline)) static void exchange(void) {
    MPI_Request requests[16];
    static int in[8], out[8];
    int k = 0;
    for (int i = 0; i < 4; i++) {
        MPI_Irecv(&in[i], 1, MPI_INT, (rank + 1) % ranks, i, MPI_COMM_WORLD, &requests[k++]);
        MPI_Isend(&out[i], 1, MPI_INT, (rank + ranks - 1) % ranks, i, MPI_COMM_WORLD,
                  &requests[k++]);
    }
    MPI_Waitall(k, requests, MPI_STATUSES_IGNORE);
    __asm__ volatile("");
}

__attribute__((noinline)) static void steps(void) {
    volatile double all = 0;
    for (int i = 0; i < n; i++) {
        work(3);
        all += sum();
    }
}

__attribute__((noinline)) static void commands(int which) {
    for (int i = 1; i <= 16; i++) {
        int command = i == which;
        MPI_Bcast(&command, 1, MPI_INT, 0, MPI_COMM_WORLD);
        if (command)
            steps();
        __asm__ volatile("");
    }
}

__attribute__((noinline)) static void even(MPI_Comm half) {
    for (int i = 0; i < n; i++) {
        work(3);
        MPI_Barrier(half);
    }
}

__attribute__((noinline)) static void odd(MPI_Comm half) {
    for (int i = 0; i < n; i++) {
        work(2);
        MPI_Barrier(half);
    }
}

__attribute__((noinline)) static void halves(void) {
    MPI_Comm half;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    if (rank % 2 == 0)
        even(half);
    else
        odd(half);
    MPI_Comm_free(&half);
}

__attribute__((noinline)) static void uneven(void) {
    for (int i = 0; i < 12 && rank % 2 == 1; i++) {
        work(1);
        MPI_Barrier(MPI_COMM_SELF);
    }
    for (int i = 0; i < n; i++) {
        double mine = rank, all = 0;
        work(3);
        MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        MPI_Bcast(&all, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    }
}

__attribute__((noinline)) static void turns(void) {
    if (rank > 0)
        MPI_Recv(NULL, 0, MPI_INT, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < n; i++) {
        work(0.2);
        MPI_Barrier(MPI_COMM_SELF);
    }
    for (int i = 0; i < n; i++) {
        work(0.3);
        MPI_Barrier(MPI_COMM_SELF);
    }
    if (rank < ranks - 1)
        MPI_Send(NULL, 0, MPI_INT, rank + 1, 0, MPI_COMM_WORLD);
}

__attribute__((noinline)) static void edge(void) {
    volatile double all = 0;
    for (int i = 0; i < 6; i++)
        all += sum();
}

__attribute__((noinline)) static void setups(int more) {
    volatile double all = 0;
    for (int i = 0; i < 12; i++)
        all += sum();
    if (more > 0)
        setups(more - 1);
    __asm__ volatile("");
}

__attribute__((noinline)) static void run(const char *kind) {
    int slow = strcmp(kind, "slow") == 0, rounds = strcmp(kind, "few") == 0 ? 9 : n;
    volatile double all = 0;
    if (strcmp(kind, "setup") == 0)
        for (int i = 0; i < 12; i++)
            MPI_Bcast(&rounds, 1, MPI_INT, 0, MPI_COMM_WORLD);
    for (int i = 0; i < rounds; i++) {
        if (strcmp(kind, "nested") == 0) {
            all += inner();
            MPI_Barrier(MPI_COMM_WORLD);
        } else if (strcmp(kind, "neighbours") == 0) {
            work(2);
            exchange();
        } else if (strcmp(kind, "no_work") == 0) {
            all += sum();
        } else {
            work(slow && (i < 4 || (rank == ranks - 1 && i >= n / 2 && i < n / 2 + 5)) ? 12 : 3);
            all += sum();
        }
        if (strcmp(kind, "output") == 0) {
            MPI_Barrier(MPI_COMM_WORLD);
            if (i % 10 == 9)
                MPI_Bcast(&rounds, 1, MPI_INT, 0, MPI_COMM_WORLD);
        }
    }
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    n = argc > 2 ? atoi(argv[2]) : 0;
    if (argc > 2 && strncmp(argv[1], "commands_", 9) == 0)
        commands(atoi(argv[1] + 9));
    else if (argc > 2 && strcmp(argv[1], "halves") == 0)
        halves();
    else if (argc > 2 && strcmp(argv[1], "uneven") == 0)
        uneven();
    else if (argc > 2 && strcmp(argv[1], "turns") == 0)
        turns();
    else if (argc > 2 && strcmp(argv[1], "edges") == 0) {
        edge();
        steps();
        edge();
    } else if (argc > 2 && strcmp(argv[1], "setups") == 0) {
        setups(19);
        steps();
    } else if (argc > 2)
        run(argv[1]);
    MPI_Finalize();
    return argc > 2 ? 0 : 1;
}
