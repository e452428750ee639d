/* Two ranks whose messages cost the tool more than its budget, in virtual time. What a run takes is
 * printed, between MPI_Init and MPI_Finalize, and with both: "took NS NS". No OpenMP in it.
 *
 *   sim-answers answers ROUNDS NS each works for NS when the other one's message has come, and
 *                                 answers: the first in "ask", the second in "answer", twice as
 *                                 long
 *   sim-answers uneven ROUNDS NS  they exchange messages; one works for NS before that ("shorter"),
 *                                 the other one, by turns, for twice as long ("longer")
 */
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void sim_work(uint64_t ns);
uint64_t sim_true_clock(void);

#define NOINLINE __attribute__((noinline, noclone))

static volatile int sink;
static int other;

static void send(void) {
    int out = 1;
    MPI_Send(&out, 1, MPI_INT, other, 2, MPI_COMM_WORLD);
}

static void receive(void) {
    int in;
    MPI_Recv(&in, 1, MPI_INT, other, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    sink = in;
}

NOINLINE static void ask(uint64_t ns) {
    receive();
    sim_work(ns);
    send();
    sink = 1;
}

NOINLINE static void answer(uint64_t ns) {
    receive();
    sim_work(2 * ns);
    send();
    sink = 2;
}

static void exchange(void) {
    int in, out = 1;
    MPI_Sendrecv(&out, 1, MPI_INT, other, 3, &in, 1, MPI_INT, other, 3, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    sink = in;
}

NOINLINE static void longer(uint64_t ns) {
    MPI_Barrier(MPI_COMM_SELF);
    sim_work(2 * ns);
    exchange();
    sink = 3;
}

NOINLINE static void shorter(uint64_t ns) {
    MPI_Barrier(MPI_COMM_SELF);
    sim_work(ns);
    exchange();
    sink = 4;
}

int main(int argc, char **argv) {
    int rank;
    uint64_t started = sim_true_clock();
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    other = 1 - rank;
    if (argc < 4)
        return 2;
    bool turns = strcmp(argv[1], "answers") == 0;
    int rounds = atoi(argv[2]);
    uint64_t ns = strtoull(argv[3], NULL, 10), begin = sim_true_clock();
    if (turns && rank == 1)
        send(); /* the first one begins */
    for (int i = 0; i < rounds; i++)
        if (turns)
            (rank == 0 ? ask : answer)(ns);
        else
            ((i + rank) % 2 == 0 ? longer : shorter)(ns);
    if (turns && rank == 0)
        receive();
    uint64_t end = sim_true_clock();
    MPI_Finalize();
    if (rank == 0)
        printf("took %llu %llu\n", (unsigned long long)(end - begin),
               (unsigned long long)(sim_true_clock() - started));
    return 0;
}
