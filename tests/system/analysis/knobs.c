/* Programs with one fault each that a knob takes away: knobs KIND ON ROUNDS [U]. Work is sleeping,
 * so it needs no cores. With ON 1 (U in ms, 60 if not given):
 *   turns       each rank in turn works 3 U, the others U; OFF: all 1.5 U (with 4 ranks)
 *   half        the upper half of the ranks works 3 U, the lower U; OFF: all 2 U
 *   slow_rank   the last rank works 2 U, the others U; OFF: all U
 *   serial      rank 0 works U alone while the others wait, then all work U; OFF: not before
 *   late_root   rank 0 works U before it broadcasts, then all work U; OFF: not before
 *   chain       each rank works U when its left neighbour is done; OFF: all at once
 *   burst       as slow_rank, after the last round 400,000 messages of each rank to itself */
#include <mpi.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int rank, ranks, on;
static double unit_s = 0.06;

#ifdef OPEN_MPI
/* It calls this where it waits; in place of the C library's it leaves the core to those whose sleep
 * is over. Not a nap of the program's, which would take virtual time. Less than a thousand times a
 * second: a rank that leaves the processor more often is not asked where it does. */
__attribute__((visibility("default"))) int sched_yield(void) {
    return (int)syscall(SYS_nanosleep, &(struct timespec){0, 1200000}, NULL);
}
#endif

/* Up to 3 us more, in turn: of ranks that work alike another one is the last each time. */
__attribute__((noinline)) static void work(double units) {
    static int calls;
    double seconds = units * unit_s + (calls++ * 7 + rank * 5) % 4 * 1e-6;
    struct timespec time = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
    nanosleep(&time, NULL);
}

__attribute__((noinline)) static void turns(int i) {
    work(!on ? 1 + 2.0 / ranks : i % ranks == rank ? 3 : 1);
    MPI_Barrier(MPI_COMM_WORLD);
}

__attribute__((noinline)) static void half(int i) {
    (void)i;
    work(!on ? 2 : rank >= ranks / 2 ? 3 : 1);
    MPI_Barrier(MPI_COMM_WORLD);
}

__attribute__((noinline)) static void slow_rank(int i) {
    (void)i;
    work(on && rank == ranks - 1 ? 2 : 1);
    MPI_Barrier(MPI_COMM_WORLD);
}

__attribute__((noinline)) static void prepare(void) {
    if (on && rank == 0)
        work(1);
    MPI_Barrier(MPI_COMM_WORLD);
}

__attribute__((noinline)) static void serial(int i) {
    (void)i;
    prepare();
    work(1);
    MPI_Barrier(MPI_COMM_WORLD);
}

__attribute__((noinline)) static void root(void) {
    int value = rank;
    if (on && rank == 0)
        work(1);
    MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);
}

__attribute__((noinline)) static void late_root(int i) {
    (void)i;
    root();
    work(1);
    MPI_Barrier(MPI_COMM_WORLD);
}

__attribute__((noinline)) static void chain(int i) {
    int value = rank;
    (void)i;
    MPI_Barrier(MPI_COMM_WORLD); /* code between calls is their common caller's: here, this one */
    if (on && rank > 0)
        MPI_Recv(&value, 1, MPI_INT, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    work(1);
    if (on && rank + 1 < ranks)
        MPI_Send(&value, 1, MPI_INT, rank + 1, 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
}

__attribute__((noinline)) static void burst(int i) {
    int out = rank, in = -1;
    slow_rank(i);
    for (int k = 0; i == 0 && k < 400000; k++)
        MPI_Sendrecv(&out, 1, MPI_INT, rank, 0, &in, 1, MPI_INT, rank, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
}

/* A short portion of the caller's work. */
__attribute__((noinline)) static void set_up(void) {
    nanosleep(&(struct timespec){0, 5000}, NULL);
    MPI_Barrier(MPI_COMM_SELF);
}

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        void (*run)(int i);
    } kinds[] = {{"turns", turns},   {"half", half},           {"slow_rank", slow_rank},
                 {"serial", serial}, {"late_root", late_root}, {"chain", chain},
                 {"burst", burst}};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    on = argc > 2 && atoi(argv[2]);
    if (argc > 4)
        unit_s = atof(argv[4]) / 1e3;
    for (int i = 0; i < 30; i++)
        set_up();
    for (size_t k = 0; argc > 3 && k < sizeof kinds / sizeof kinds[0]; k++)
        for (int i = 0; strcmp(argv[1], kinds[k].name) == 0 && i < atoi(argv[3]); i++)
            kinds[k].run(atoi(argv[3]) - 1 - i);
    MPI_Finalize();
    return argc > 3 ? 0 : 1;
}
