/* Messages over the borders of windows: rounds of code outside, the phase "solve", code outside, a
 * barrier. Lengths tell all messages apart.
 *
 *   tag  sent                         received
 *   1    one before, two in the phase one before, two in the phase (first round: one), so that the
 *                                     last one of a round is received before the phase of the next
 *   2    in the phase                 posted before the phase, completed in it
 *   3    in the phase                 posted in it, completed after it
 *   4    one in the phase, one after it   the same
 *   5    in the phase                 in that of the next round
 *   6    one in the phase, one after  posted in it, completed in the next one; after it
 *
 * Of two reductions rank 0 has one in the phase, rank 1 has both there.
 *
 * With an argument rank 0 is killed in the phase of that round, or, if it is "started", measurement
 * is started before each phase and stopped after it. */
#include <mpi.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "latecomer.h"

enum { ROUNDS = 12, MOST = 4096 };

static char from[6][MOST], to[7][MOST];

static bool started;

static void begin(void) {
    if (started)
        latecomer_start();
    latecomer_begin("solve");
}

static void end(void) {
    latecomer_end("solve");
    if (started)
        latecomer_stop();
}

static int length(int round, int tag, int number) {
    return 1 + round * 64 + tag * 8 + number;
}

static void send(int number, int round, int tag) {
    MPI_Send(from[tag - 1], length(round, tag, number), MPI_CHAR, 1, tag, MPI_COMM_WORLD);
}

static void receive(int tag) {
    MPI_Recv(to[tag - 1], MOST, MPI_CHAR, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void reduce(void) {
    int one = 1, sum;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

static void sender(int round, bool killed) {
    MPI_Request request;
    send(0, round, 1);
    reduce();
    begin();
    send(1, round, 1);
    send(2, round, 1);
    send(0, round, 2);
    MPI_Isend(from[2], length(round, 3, 0), MPI_CHAR, 1, 3, MPI_COMM_WORLD, &request);
    send(0, round, 4);
    send(0, round, 5);
    send(0, round, 6);
    if (killed)
        raise(SIGKILL);
    reduce();
    end();
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    send(1, round, 4);
    send(1, round, 6);
}

static void receiver(int round) {
    static MPI_Request held;
    MPI_Request before, within;
    receive(1);
    MPI_Irecv(to[1], MOST, MPI_CHAR, 0, 2, MPI_COMM_WORLD, &before);
    begin();
    reduce();
    receive(1);
    if (round > 0) {
        receive(1);
        receive(5);
        MPI_Wait(&held, MPI_STATUS_IGNORE);
    }
    MPI_Wait(&before, MPI_STATUS_IGNORE);
    MPI_Irecv(to[2], MOST, MPI_CHAR, 0, 3, MPI_COMM_WORLD, &within);
    MPI_Irecv(to[5], MOST, MPI_CHAR, 0, 6, MPI_COMM_WORLD, &held);
    receive(4);
    reduce();
    end();
    MPI_Wait(&within, MPI_STATUS_IGNORE);
    receive(4);
    MPI_Recv(to[6], MOST, MPI_CHAR, 0, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (round == ROUNDS - 1)
        MPI_Wait(&held, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv) {
    int rank, last = argc > 1 ? atoi(argv[1]) : -1; /* round in which rank 0 is killed */
    started = argc > 1 && strcmp(argv[1], "started") == 0;
    last = started ? -1 : last;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int round = 0; round < ROUNDS; round++) {
        if (rank == 0)
            sender(round, round == last);
        if (rank == 1)
            receiver(round);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (rank == 1) {
        receive(1);
        receive(5);
    }
    MPI_Finalize();
    return 0;
}
