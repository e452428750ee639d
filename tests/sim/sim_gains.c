/* Programs with one fault each, of random size, whose cure is known:
 * sim-gains KIND WAY CURED SEED ROUNDS.
 *
 * In each round ranks work in `fault` and then in `other`, both with random times about U; from a
 * drawn round on (0 to 40 % of all) the fault is there:
 *   slow_rank  one rank works longer in `fault`; cured: it takes the mean of the others each time
 *   half       the upper half does; cured: all take the mean of all
 *   turns      each in its turn; cured: the same
 *   serial     rank 0 works alone in `fault`; cured: it does not
 *   late_root  it does so before a broadcast; cured: it does not
 *   shared     one rank works longer in `fault`, and twice as much longer in `other`, before it
 *              meets the others, which work longer elsewhere: they wait for a part of the lateness
 *              only; cured: as slow_rank, which saves more than they wait for `fault`
 *   chain      each works in `fault` when its left neighbour is done; cured: all at once, evenly
 * WAY is how ranks meet in between: "barrier", or "ring": by messages to the right, and every
 * second round in an allreduce. "multiple": as "ring", with MPI_THREAD_MULTIPLE; "threads": as
 * "barrier", with that, and from the middle on a second thread has allreduces of its own. */
#include <mpi.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_ROUNDS = 256, MOST_RANKS = 16 };
static const double U_NS = 1e6;

enum kind { SLOW_RANK, HALF, TURNS, SERIAL, LATE_ROOT, SHARED, CHAIN, KINDS };
static const char *const names[KINDS] = {"slow_rank", "half",   "turns", "serial",
                                         "late_root", "shared", "chain"};

static int rank, ranks, rounds;
static bool ring, cured;
static enum kind kind;
static double faulty[MOST_ROUNDS][MOST_RANKS], even[MOST_ROUNDS][MOST_RANKS];
static double hiding[MOST_ROUNDS]; /* of all but the last rank */
static uint64_t state;

/* SplitMix64 */
static double drawn(double low, double high) {
    uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return low + (high - low) * (double)((z ^ z >> 31) >> 11) * 0x1p-53;
}

static bool is_alone(void) {
    return kind == SERIAL || kind == LATE_ROOT;
}

static bool is_late(int r, int i) {
    switch (kind) {
    case HALF:
        return r >= ranks / 2;
    case TURNS:
        return i % ranks == r;
    case SLOW_RANK:
    case SHARED:
        return r == ranks - 1;
    default:
        return false;
    }
}

static double mean_without(int left_out) {
    double sum = 0;
    int n = 0;
    for (int i = 0; i < rounds; i++)
        for (int r = 0; r < ranks; r++) {
            sum += r != left_out ? faulty[i][r] : 0;
            n += r != left_out;
        }
    return sum / n;
}

/* Every rank draws the same. */
static void plan(void) {
    double scatter = drawn(0.01, 0.3), excess = drawn(0.3, 3) * U_NS;
    int begin = kind == CHAIN ? 0 : (int)drawn(0, 0.4 * rounds);
    for (int i = 0; i < rounds; i++)
        for (int r = 0; r < ranks; r++) {
            even[i][r] = U_NS * drawn(1 - scatter, 1 + scatter);
            faulty[i][r] = is_alone() ? 0 : U_NS * drawn(1 - scatter, 1 + scatter);
            double longer = excess * drawn(1 - scatter, 1 + scatter);
            if (i >= begin && (is_late(r, i) || (is_alone() && r == 0)))
                faulty[i][r] += longer;
            if (kind == SHARED && r == ranks - 1)
                even[i][r] += 2 * excess;
            hiding[i] = kind == SHARED ? 2.5 * excess : 0;
        }
    if (!cured)
        return;
    double mean =
        is_alone() ? 0 : mean_without(kind == SLOW_RANK || kind == SHARED ? ranks - 1 : -1);
    for (int i = 0; i < rounds; i++)
        for (int r = 0; r < ranks; r++)
            if ((kind != SLOW_RANK && kind != SHARED) || r == ranks - 1)
                faulty[i][r] = mean;
}

static void work(double ns) {
    struct timespec time = {(time_t)(ns / 1e9), (long)ns % 1000000000};
    if (ns >= 1)
        nanosleep(&time, NULL);
}

static void meet(void) {
    int out = rank, in;
    if (kind == SHARED) /* they meet in `hide` */
        MPI_Barrier(MPI_COMM_SELF);
    else if (ring)
        MPI_Sendrecv(&out, 1, MPI_INT, (rank + 1) % ranks, 0, &in, 1, MPI_INT,
                     (rank + ranks - 1) % ranks, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else
        MPI_Barrier(MPI_COMM_WORLD);
}

/* Code between two calls is that of the function that both have in common: both are here. */
static __attribute__((noinline)) void fault(int i) {
    int value = rank;
    meet();
    if (kind == CHAIN && !cured && rank > 0)
        MPI_Recv(&value, 1, MPI_INT, rank - 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    work(faulty[i][rank]);
    if (kind == CHAIN && !cured && rank + 1 < ranks)
        MPI_Send(&value, 1, MPI_INT, rank + 1, 1, MPI_COMM_WORLD);
    if (kind == LATE_ROOT)
        MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);
    else
        meet();
}

static __attribute__((noinline)) void other(int i) {
    meet();
    work(even[i][rank]);
    meet();
}

static __attribute__((noinline)) void hide(int i) {
    MPI_Barrier(MPI_COMM_SELF);
    work(rank < ranks - 1 ? hiding[i] : 0);
    MPI_Barrier(MPI_COMM_WORLD);
}

static MPI_Comm of_second;

static void *second_thread(void *none) {
    int sum;
    for (int i = 0; i < rounds; i++)
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, of_second);
    return none;
}

int main(int argc, char **argv) {
    int sum, provided;
    const char *way = argc == 6 ? argv[2] : "";
    const bool threads = strcmp(way, "threads") == 0, multiple = strcmp(way, "multiple") == 0;
    pthread_t second;
    MPI_Init_thread(&argc, &argv, threads || multiple ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE,
                    &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    while (argc == 6 && kind < KINDS && strcmp(argv[1], names[kind]) != 0)
        kind++;
    rounds = argc == 6 ? atoi(argv[5]) : 0;
    if (rounds < 1 || rounds > MOST_ROUNDS || ranks > MOST_RANKS || kind == KINDS)
        MPI_Abort(MPI_COMM_WORLD, 2);
    ring = multiple || strcmp(way, "ring") == 0;
    cured = strcmp(argv[3], "cured") == 0;
    state = strtoull(argv[4], NULL, 10);
    plan();
    if (threads)
        MPI_Comm_dup(MPI_COMM_WORLD, &of_second);
    for (int i = 0; i < rounds; i++) {
        if (threads && i == rounds / 2 && pthread_create(&second, NULL, second_thread, NULL) != 0)
            MPI_Abort(MPI_COMM_WORLD, 2);
        fault(i);
        other(i);
        if (kind == SHARED)
            hide(i);
        if (ring && i % 2 == 1)
            MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
    if (threads)
        pthread_join(second, NULL);
    MPI_Finalize();
    return 0;
}
