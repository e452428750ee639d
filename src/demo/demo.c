/* The bundled imbalanced program: waiting of known size on known ranks and call paths, in rounds
 * that alternate with rounds without waiting (a wait that is in every call would be invisible to a
 * minimum). Work is sleeping, so it needs no cores; where there are fewer cores than ranks, Open
 * MPI's ranks sleep while they wait, too, so that they leave the cores to those that wake up.
 *
 * With U = 20 ms and ROUNDS = 10 imbalanced rounds, waiting per rank (P ranks), built in:
 *   step_barrier     rank P-1 works 2 U, the others 1 U: all but the last wait 1 U in MPI_Barrier
 *   step_allreduce   even ranks work 3 U, odd ones 1 U: odd ranks wait 2 U in MPI_Allreduce
 *   step_message     even ranks send after 3 U, their odd neighbours receive after 1 U: these wait
 *                    2 U in MPI_Recv
 * Work ends at instants that are counted from a start that rank 0 gives, so that lateness of waking
 * up does not add up. On a busy machine sleeping still takes longer than asked. So the program
 * looks at the clock around each of these calls, and with the argument "expect" rank 0 prints what
 * waiting there really was, as "metric callpath rank built_in_s waited_s estimated_s": waited from
 * the times of entering on all ranks, estimated from the durations and their minimum.
 *
 * "--cured=STEP" takes the cause of one step's waiting away, "--cured" those of all: what a
 * predicted gain is compared with. In step_barrier the last rank works as the others do then, in
 * the other two all ranks work the mean. */
#define _GNU_SOURCE
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 10, CALM_ROUNDS = 5 };
enum { BARRIER, ALLREDUCE, MESSAGE, STEPS };
static const char *const step_names[STEPS] = {"step_barrier", "step_allreduce", "step_message"};
static int cured[STEPS];
static double unit_s = 0.02;
static int rank, ranks;

/* When this rank entered and left the call of each step and round, in seconds of a clock that all
 * processes of a node share. */
struct call {
    double enter, leave;
};
static struct call calls[STEPS][ROUNDS + CALM_ROUNDS];
static double least_barrier_s = 1e9; /* of the barriers that align the ranks */
static double start_s;               /* of the work of this step, on the clock of all ranks */

static double now_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

#ifdef OPEN_MPI
static int shares_cores; /* fewer cores than ranks */

/* In place of the C library's: Open MPI calls it again and again where a rank waits, if it knows of
 * more ranks than cores. In a wait that goes on it sleeps, for so long that its samples still say
 * where ranks sleep (which they do not for more than 1,000 times a second). */
__attribute__((visibility("default"))) int sched_yield(void) {
    static double since_s, last_s;
    double now = now_s();
    if (now > last_s + 0.0001)
        since_s = now;
    int sleeps = shares_cores && now > since_s + 0.0002;
    long status = sleeps ? syscall(SYS_nanosleep, &(struct timespec){0, 1000000}, NULL)
                         : syscall(SYS_sched_yield);
    last_s = now_s();
    return (int)status;
}

static void look_for_cores(void) {
    cpu_set_t cores;
    shares_cores = sched_getaffinity(0, sizeof cores, &cores) == 0 && CPU_COUNT(&cores) < ranks;
}
#else
static void look_for_cores(void) {
}
#endif

/* Sleeps until so many units after the start of the step. */
__attribute__((noinline)) static void work(double units) {
    struct timespec end;
    double seconds = start_s + units * unit_s;
    end.tv_sec = (time_t)seconds;
    end.tv_nsec = (long)((seconds - (double)end.tv_sec) * 1e9);
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, NULL);
}

/* Starts a step together, so that what follows does not depend on earlier lateness: called by the
 * step, whose work then lies between two calls of its own. */
__attribute__((noinline)) static void align(void) {
    for (int i = 0; i < 2; i++) {
        double enter = now_s();
        MPI_Barrier(MPI_COMM_WORLD);
        double length = now_s() - enter;
        if (length < least_barrier_s)
            least_barrier_s = length;
    }
    start_s = now_s();
    double common_s = start_s + 0.002;
    MPI_Bcast(&common_s, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    if (common_s > start_s - 1 && common_s < start_s + 1) /* not another node's clock */
        start_s = common_s;
}

__attribute__((noinline)) static void step_barrier(int imbalanced, struct call *call) {
    align();
    work(imbalanced && rank == ranks - 1 && !cured[BARRIER] ? 2 : 1);
    call->enter = now_s();
    MPI_Barrier(MPI_COMM_WORLD);
    call->leave = now_s();
}

__attribute__((noinline)) static void step_allreduce(int imbalanced, struct call *call) {
    int longer = (ranks + 1) / 2; /* even ranks */
    double mine = rank, sum = 0, mean = 1 + 2.0 * longer / ranks;
    align();
    work(!imbalanced ? 1 : cured[ALLREDUCE] ? mean : rank % 2 == 0 ? 3 : 1);
    call->enter = now_s();
    MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    call->leave = now_s();
    if (sum != ranks * (ranks - 1) / 2.0)
        MPI_Abort(MPI_COMM_WORLD, 1);
}

__attribute__((noinline)) static void step_message(int imbalanced, struct call *call) {
    int partner = rank ^ 1;
    int value = rank;
    double mean = imbalanced ? 2 : 1.5;
    align();
    if (partner >= ranks) {
        work(1);
    } else if (rank % 2 == 0) {
        work(cured[MESSAGE] ? mean : imbalanced ? 3 : 1);
        call->enter = now_s();
        MPI_Send(&value, 1, MPI_INT, partner, 7, MPI_COMM_WORLD);
    } else {
        work(cured[MESSAGE] ? mean : imbalanced ? 1 : 2);
        call->enter = now_s();
        MPI_Recv(&value, 1, MPI_INT, partner, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        call->leave = now_s();
    }
}

static void solve(void) {
    for (int i = 0; i < ROUNDS + CALM_ROUNDS; i++) {
        int imbalanced = i % 3 != 2; /* every third round is calm */
        step_barrier(imbalanced, &calls[BARRIER][i]);
        step_allreduce(imbalanced, &calls[ALLREDUCE][i]);
        step_message(imbalanced, &calls[MESSAGE][i]);
    }
}

/* all[r * STEPS * n + step * n + round] */
static struct call *call_of(struct call *all, int r, int step, int round) {
    int n = ROUNDS + CALM_ROUNDS;
    return &all[(r * STEPS + step) * n + round];
}

/* When the last one came that rank r had to wait for. */
static double release(struct call *all, int r, int step, int round) {
    double latest = 0;
    if (step == MESSAGE)
        return call_of(all, r ^ 1, step, round)->enter;
    for (int k = 0; k < ranks; k++)
        if (call_of(all, k, step, round)->enter > latest)
            latest = call_of(all, k, step, round)->enter;
    return latest;
}

static void print_line(struct call *all, int r, int step, double built_in_s) {
    static const char *const names[STEPS] = {"mpi_barrier_wait step_barrier/MPI_Barrier",
                                             "mpi_wait_nxn step_allreduce/MPI_Allreduce",
                                             "mpi_latesender step_message/MPI_Recv"};
    double waited = 0, sum = 0, least = step == BARRIER ? least_barrier_s : 1e9;
    for (int i = 0; i < ROUNDS + CALM_ROUNDS; i++) {
        const struct call *own = call_of(all, r, step, i);
        double wait = release(all, r, step, i) - own->enter, length = own->leave - own->enter;
        waited += wait < 0 ? 0 : wait > length ? length : wait;
        sum += length;
        for (int k = 0; k < ranks; k++) { /* late senders: only this process's minimum counts */
            const struct call *other = call_of(all, k, step, i);
            if ((step != MESSAGE || k == r) && other->leave - other->enter < least)
                least = other->leave - other->enter;
        }
    }
    printf("%s %d %.6f %.6f %.6f\n", names[step], r, built_in_s, waited,
           sum - (ROUNDS + CALM_ROUNDS) * least);
}

static void print_expectation(void) {
    struct call *all = malloc((size_t)ranks * sizeof calls);
    double least = least_barrier_s;
    if (all == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Reduce(&least, &least_barrier_s, 1, MPI_DOUBLE, MPI_MIN, 0, MPI_COMM_WORLD);
    MPI_Gather(calls, sizeof calls, MPI_BYTE, all, sizeof calls, MPI_BYTE, 0, MPI_COMM_WORLD);
    for (int r = 0; rank == 0 && r < ranks; r++) {
        if (r != ranks - 1)
            print_line(all, r, BARRIER, ROUNDS * unit_s);
        if (r % 2 == 1)
            print_line(all, r, ALLREDUCE, 2 * ROUNDS * unit_s);
        if (r % 2 == 1)
            print_line(all, r, MESSAGE, 2 * ROUNDS * unit_s);
    }
    free(all);
}

/* Is it "--cured" or "--cured=STEP"? */
static int take_cure(const char *argument) {
    static const char option[] = "--cured";
    size_t length = sizeof option - 1;
    int taken = 0;
    if (strncmp(argument, option, length) != 0)
        return 0;
    for (int step = 0; step < STEPS; step++)
        if (argument[length] == '\0' ||
            (argument[length] == '=' && strcmp(argument + length + 1, step_names[step]) == 0))
            cured[step] = taken = 1;
    return taken;
}

/* What is neither an option nor a unit of work ends the program. */
static int read_arguments(int argc, char **argv) {
    int expect = 0;
    for (int i = 1; i < argc; i++) {
        char *end = argv[i];
        if (take_cure(argv[i]))
            continue;
        if (strcmp(argv[i], "expect") == 0) {
            expect = 1;
            continue;
        }
        unit_s = strtod(argv[i], &end) / 1000;
        if (*end == '\0' && unit_s > 0 && unit_s <= 10)
            continue;
        if (rank == 0)
            fprintf(stderr,
                    "latecomer-demo: \"%s\" is neither a unit of work (1 to 10000 ms) nor "
                    "\"expect\", --cured, --cured=%s, --cured=%s, --cured=%s\n",
                    argv[i], step_names[0], step_names[1], step_names[2]);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    return expect;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int expect = read_arguments(argc, argv);
    look_for_cores();
    solve();
    if (expect)
        print_expectation();
    if (rank == 0)
        printf("latecomer-demo: done, %d rounds on %d ranks\n", ROUNDS + CALM_ROUNDS, ranks);
    MPI_Finalize();
    return 0;
}
