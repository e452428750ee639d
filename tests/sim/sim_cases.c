/* What the simulated MPI does with programs that show its orders, or that go wrong: sim_cases CASE.
 *
 *   order     rank 0 says from whom it receives, one after the other; from the others at once
 *   deadlock  all ranks receive
 *   spin      rank 1 never calls MPI again
 *   exit      rank 1 ends with status 3 before the others are done
 *   killed    rank 1 kills itself
 *   abort     rank 1 calls MPI_Abort with 5
 *   behind    rank 0 receives a last message from a rank whose clocks are behind, and then makes
 *             more calls than events can wait
 *   posts     rank 1 waits for the receive of a synchronous send that rank 2 posts late, and then
 *             makes more calls than events can wait, before its clocks can know of that
 *   minute    a barrier every 100 ms for a minute, and 500 at once in the middle: rank 0 says how
 *             long these took, and all, ns
 *   switched  measurement is switched off and on 1,000 times, for work of 10 us
 *   clocks    how much later it is by each clock after a nap of 2.5 s, ns
 *   polls     rank 0 looks for a message by MPI_Iprobe, by reading the clock, and by naps */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static int rank, size;

static long long now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000ll + t.tv_nsec;
}

static void order(void) {
    int x = rank;
    for (int round = 0; round < 3; round++) {
        for (int i = 1; rank == 0 && i < size; i++) {
            MPI_Status s;
            MPI_Recv(&x, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &s);
            printf("%d ", s.MPI_SOURCE);
        }
        if (rank > 0)
            MPI_Send(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (rank == 0)
        printf("\n");
}

static void polls(void) {
    int x = 0, flag = 0;
    MPI_Request r;
    MPI_Barrier(MPI_COMM_WORLD);
    long long begin = now();
    for (int i = 0; i < 3; i++) {
        if (rank > 0) {
            usleep(7000);
            MPI_Send(&x, 1, MPI_INT, 0, i, MPI_COMM_WORLD);
        } else if (i == 0) {
            while (!flag)
                MPI_Iprobe(1, i, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        } else if (i == 1) {
            MPI_Irecv(&x, 1, MPI_INT, 1, i, MPI_COMM_WORLD, &r);
            while (now() < begin + 14000000) /* as one waits for a moment */
                ;
            MPI_Wait(&r, MPI_STATUS_IGNORE);
        } else {
            for (flag = 0; !flag; usleep(100))
                MPI_Iprobe(1, i, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        }
        if (rank == 0)
            printf("%lld us\n", (now() - begin) / 1000);
        if (rank == 0 && i != 1)
            MPI_Recv(&x, 1, MPI_INT, 1, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

/* That of time() is in whole seconds. */
static void clocks(void) {
    struct timespec wall, later_wall;
    struct timeval day, later_day;
    clock_gettime(CLOCK_REALTIME, &wall);
    gettimeofday(&day, NULL);
    time_t seconds = time(NULL);
    double mpi = MPI_Wtime();
    long long begin = now();
    usleep(2500000);
    long long nap = now() - begin;
    mpi = MPI_Wtime() - mpi;
    seconds = time(NULL) - seconds;
    gettimeofday(&later_day, NULL);
    clock_gettime(CLOCK_REALTIME, &later_wall);
    long long by_day = (later_day.tv_sec - day.tv_sec) * 1000000000ll +
                       (later_day.tv_usec - day.tv_usec) * 1000ll,
              by_wall = (later_wall.tv_sec - wall.tv_sec) * 1000000000ll + later_wall.tv_nsec -
                        wall.tv_nsec;
    if (rank == 0)
        printf("%lld %lld %lld %.0f %lld\n", nap, by_wall, by_day, 1e9 * mpi, (long long)seconds);
}

/* Rank 2 is on another node; its clocks say when it posted its receive at its next call. */
static void behind(void) {
    int x = 0;
    if (rank == 0) {
        MPI_Recv(&x, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < 1000; i++)
            MPI_Barrier(MPI_COMM_SELF);
    } else if (rank == 1) {
        MPI_Ssend(&x, 1, MPI_INT, 2, 0, MPI_COMM_WORLD);
        MPI_Send(&x, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
    } else {
        MPI_Recv(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        usleep(900000);
    }
}

/* The send ends with the post where the network takes no time. */
static void posts(void) {
    int x = 0;
    if (rank == 1) {
        MPI_Ssend(&x, 1, MPI_INT, 2, 0, MPI_COMM_WORLD);
        for (int i = 0; i < 1000; i++)
            MPI_Barrier(MPI_COMM_SELF);
    } else if (rank == 2) {
        usleep(10000);
        MPI_Recv(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        usleep(900000);
    }
}

/* Sends are started together and waited for one by one; their receives follow each other faster
 * than the sender hears of the first. */
static void burst(void) {
    enum { N = 40 };
    int x[N] = {0};
    MPI_Request sent[N];
    if (rank == 0) {
        for (int i = 0; i < N; i++)
            MPI_Issend(&x[i], 1, MPI_INT, 1, i, MPI_COMM_WORLD, &sent[i]);
        for (int i = 0; i < N; i++)
            MPI_Wait(&sent[i], MPI_STATUS_IGNORE);
    } else if (rank == 1) {
        usleep(10000);
        for (int i = 0; i < N; i++)
            MPI_Recv(&x[i], 1, MPI_INT, 0, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

/* Rank 1 waits for a message on another node until the one before it was cancelled. */
/* Rank 1 does not receive the second one. */
static void leftover(void) {
    int x = 0;
    if (rank == 0)
        for (int tag = 0; tag < 2; tag++)
            MPI_Send(&x, 1, MPI_INT, 1, tag, MPI_COMM_WORLD);
    else if (rank == 1)
        MPI_Recv(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void cancels(void) {
    int x[2] = {0};
    MPI_Request sent;
    if (rank == 0) {
        for (int gone = 0; !gone; usleep(1000)) {
            MPI_Status status;
            int done;
            MPI_Issend(&x[0], 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &sent);
            usleep(1000);
            MPI_Cancel(&sent);
            MPI_Test(&sent, &done, &status);
            if (done)
                MPI_Test_cancelled(&status, &gone);
            MPI_Send(&gone, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
            if (!gone)
                MPI_Wait(&sent, MPI_STATUS_IGNORE);
        }
        MPI_Send(&x[1], 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    } else if (rank == 1) {
        for (int gone = 0; !gone;) {
            MPI_Recv(&gone, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Recv(&x[0], 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    }
}

static void switched(void) {
    for (int i = 0; i < 1000; i++) {
        MPI_Pcontrol(0);
        usleep(10);
        MPI_Pcontrol(1);
        usleep(10);
    }
}

static void minute(void) {
    long long first = now(), burst = 0;
    for (int i = 0; i < 600; i++) {
        usleep(100000);
        MPI_Barrier(MPI_COMM_WORLD);
        long long begin = now();
        for (int j = 0; j < 500 && i == 200; j++)
            MPI_Barrier(MPI_COMM_WORLD);
        if (i == 200)
            burst = now() - begin;
    }
    if (rank == 0)
        printf("%lld %lld\n", burst, now() - first);
}

int main(int argc, char **argv) {
    const char *which = argc > 1 ? argv[1] : "";
    int x = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (strcmp(which, "order") == 0)
        order();
    else if (strcmp(which, "polls") == 0)
        polls();
    else if (strcmp(which, "clocks") == 0)
        clocks();
    else if (strcmp(which, "behind") == 0)
        behind();
    else if (strcmp(which, "posts") == 0)
        posts();
    else if (strcmp(which, "burst") == 0)
        burst();
    else if (strcmp(which, "cancels") == 0)
        cancels();
    else if (strcmp(which, "leftover") == 0)
        leftover();
    else if (strcmp(which, "switched") == 0)
        switched();
    else if (strcmp(which, "minute") == 0)
        minute();
    else if (strcmp(which, "deadlock") == 0)
        MPI_Recv(&x, 1, MPI_INT, (rank + 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else if (rank == 1 && strcmp(which, "spin") == 0)
        for (volatile int i = 0;; i = i + 1)
            ;
    else if (rank == 1 && strcmp(which, "exit") == 0)
        return 3;
    else if (rank == 1 && strcmp(which, "killed") == 0)
        raise(SIGKILL);
    else if (rank == 1 && strcmp(which, "abort") == 0)
        MPI_Abort(MPI_COMM_WORLD, 5);
    MPI_Finalize();
    return 0;
}
