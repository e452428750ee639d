/* OpenMP programs whose critical path is known: each pattern keeps logical clocks of its own, of
 * the durations that it measures itself and the edges that the OpenMP specification promises, and
 * prints them. Threads sleep, so that two cores are enough. Edges of the oracle are plain shared
 * variables behind the construct that orders them, or atomics where nothing of OpenMP may be
 * added.
 *
 * known PATTERN THREADS: U rank thread seconds, then CP, TACP, T, and of explicit tasks
 * WORK and the longest ONE, in seconds, from the start of the
 * process, or (third argument "switched") from when it switches measurement on. With -DWITH_MPI:
 * the patterns `hybrid`, `hybrid_loop` and `hybrid_tasks`. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "latecomer.h"
#ifdef WITH_MPI
#include <mpi.h>
#endif

enum { MOST = 64, SCALE = 3 }; /* threads; what work() is given, in ms */
struct clocks {
    double thread, task, process;
};
static double useful[MOST];        /* of each thread */
static struct clocks clocks[MOST]; /* of each thread: what it knows now */
static pthread_mutex_t latch = PTHREAD_MUTEX_INITIALIZER;
static struct clocks met; /* maxima of those who meet */
static double longest, longest_task, longest_process;
static double in_tasks, longest_one; /* work of explicit tasks; of the longest of them */
static _Thread_local int task_runs;
static _Thread_local double task_took;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC_RAW, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double larger(double a, double b) {
    return a > b ? a : b;
}

static void take(struct clocks *to, const struct clocks *from) {
    to->thread = larger(to->thread, from->thread);
    to->task = larger(to->task, from->task);
    to->process = larger(to->process, from->process);
}

static struct clocks *mine(void) {
    return &clocks[omp_get_thread_num()];
}

/* Useful time of this thread, in its task. */
static void work(double ms) {
    ms *= SCALE;
    double begin = now();
    struct timespec t = {.tv_sec = (time_t)(ms / 1000),
                         .tv_nsec = (long)((ms - 1000 * (double)(time_t)(ms / 1000)) * 1e6)};
    nanosleep(&t, NULL);
    double took = now() - begin;
    struct clocks *c = mine();
    useful[omp_get_thread_num()] += took;
    task_took += task_runs ? took : 0;
    c->thread += took;
    c->task += took;
    c->process += took;
}

static void give(struct clocks *to, const struct clocks *from) {
    pthread_mutex_lock(&latch);
    take(to, from);
    longest = larger(longest, from->thread);
    longest_task = larger(longest_task, from->task);
    longest_process = larger(longest_process, from->process);
    pthread_mutex_unlock(&latch);
}

static void forked(const struct clocks *at) {
    struct clocks *c = mine();
    pthread_mutex_lock(&latch);
    take(c, at);
    c->task = at->task; /* an implicit task of its own */
    pthread_mutex_unlock(&latch);
}

/* Around the join of a region: everybody gives, the master takes. */
static void joined(void) {
    take(&clocks[0], &met);
    give(&met, &clocks[0]);
}

/* The threads take turns: 1/n. */
static void chain(int n) {
    struct clocks at = clocks[0], turn = {0};
#pragma omp parallel num_threads(n)
    {
        forked(&at);
#pragma omp for ordered schedule(static, 1)
        for (int i = 0; i < 4 * n; i++) {
#pragma omp ordered
            {
                take(mine(), &turn);
                work(10);
                turn = *mine();
            }
        }
        give(&met, mine());
    }
    joined();
}

#if defined __clang__ || defined OWN_RUNTIME /* LLVM's runtime fails at what GCC makes of it */
/* Rows of iterations that wait for the one above: a wavefront, odd rows are slower. The loop counts
 * from 1 in steps of 2. */
static void doacross(int n) {
    enum { COLUMNS = 4 };
    struct clocks at = clocks[0], above[2 * MOST][COLUMNS] = {{{0}}};
#pragma omp parallel num_threads(n)
    {
        forked(&at);
#pragma omp for ordered(2) schedule(static, 1)
        for (int i = 1; i < 4 * n; i += 2)
            for (int j = 0; j < COLUMNS; j++) {
                work(3);
#pragma omp ordered depend(sink : i - 2, j)
                if (i > 1)
                    take(mine(), &above[i / 2 - 1][j]);
                work(i / 2 % 2 ? 9 : 6);
                above[i / 2][j] = *mine();
#pragma omp ordered depend(source)
            }
        give(&met, mine());
    }
    joined();
}
#endif

static void imbalance(int n) {
    for (int round = 0; round < 4; round++) {
        struct clocks at = clocks[0];
#pragma omp parallel num_threads(n)
        {
            forked(&at);
            work(15 * (omp_get_thread_num() + 1));
            give(&met, mine());
        }
        joined();
    }
}

/* Barriers between steps in which another thread has most to do. */
static void rotating(int n) {
    struct clocks at = clocks[0];
#pragma omp parallel num_threads(n)
    {
        forked(&at);
        for (int step = 0; step < 2 * n; step++) {
            work(omp_get_thread_num() == step % n ? 30 : 10);
            give(&met, mine());
#pragma omp barrier
            take(mine(), &met);
#pragma omp barrier
        }
    }
    joined();
}

static void serial(int n) {
    work(80);
    struct clocks at = clocks[0];
#pragma omp parallel num_threads(n)
    {
        forked(&at);
        work(40);
        give(&met, mine());
    }
    joined();
    work(40);
}

static void bound(int n, int with_lock) {
    struct clocks at = clocks[0], last = {0};
    omp_lock_t lock;
    omp_init_lock(&lock);
#pragma omp parallel num_threads(n)
    {
        forked(&at);
        for (int i = 0; i < 6; i++) {
            work(3);
            if (with_lock) {
                omp_set_lock(&lock);
                take(mine(), &last);
                work(10);
                last = *mine();
                omp_unset_lock(&lock);
            } else {
#pragma omp critical
                {
                    take(mine(), &last);
                    work(10);
                    last = *mine();
                }
            }
        }
        give(&met, mine());
    }
    joined();
    omp_destroy_lock(&lock);
}

/* Begin and end of an explicit task: what the thread knew stays with the thread; the task's clock
 * is the task's. */
static double task_begins(const struct clocks *created, const struct clocks *before) {
    struct clocks *c = mine();
    double thread_task = c->task;
    task_runs = 1;
    task_took = 0;
    take(c, created);
    c->task = created->task;
    if (before != NULL)
        take(c, before);
    return thread_task;
}

static void task_ends(struct clocks *to, double thread_task) {
    struct clocks *c = mine();
    give(to, c);
    c->task = thread_task;
    pthread_mutex_lock(&latch);
    in_tasks += task_took;
    longest_one = larger(longest_one, task_took);
    pthread_mutex_unlock(&latch);
    task_runs = 0;
}

static void tasks(int n) {
    struct clocks at = clocks[0], done = {0};
#pragma omp parallel num_threads(n)
    {
        forked(&at);
#pragma omp single
        {
            for (int i = 0; i < 12; i++) {
                struct clocks created = *mine();
#pragma omp task firstprivate(i, created)
                {
                    double kept = task_begins(&created, NULL);
                    work(10 + 2 * i);
                    task_ends(&done, kept);
                }
            }
#pragma omp taskwait
            take(mine(), &done);
            work(20);
            give(&met, mine());
        }
    }
    joined();
}

/* a -> two readers -> b, beside tasks of nobody's; a taskgroup waits. */
static void depend(int n) {
    struct clocks at = clocks[0], done = {0}, wrote = {0}, has_read = {0};
    int x = 0;
    (void)x; /* only its address counts */
#pragma omp parallel num_threads(n)
    {
        forked(&at);
#pragma omp single
        {
#pragma omp taskgroup
            {
                struct clocks created = *mine();
                for (int round = 0; round < 3; round++) {
#pragma omp task depend(inout : x) firstprivate(created)
                    {
                        double kept = task_begins(&created, &has_read);
                        work(20);
                        give(&wrote, mine());
                        task_ends(&done, kept);
                    }
                    for (int i = 0; i < 3; i++)
#pragma omp task depend(in : x) firstprivate(created)
                    {
                        double kept = task_begins(&created, &wrote);
                        work(15);
                        give(&has_read, mine());
                        task_ends(&done, kept);
                    }
                }
            }
            take(mine(), &done);
            give(&met, mine());
        }
    }
    joined();
}

/* A task in a task, and the barrier waits for both. */
static void nested(int n) {
    struct clocks at = clocks[0];
#pragma omp parallel num_threads(n)
    {
        forked(&at);
#pragma omp single
        for (int i = 0; i < 4; i++) {
            struct clocks created = *mine();
#pragma omp task firstprivate(created)
            {
                double kept = task_begins(&created, NULL);
                work(10);
                struct clocks inner = *mine();
#pragma omp task firstprivate(inner)
                {
                    double kept_inner = task_begins(&inner, NULL);
                    work(20);
                    task_ends(&met, kept_inner);
                }
                work(5);
                task_ends(&met, kept);
            }
        }
        give(&met, mine());
    }
    joined();
}

#ifdef WITH_MPI
/* Imbalance of threads and of ranks, in turns; the ranks meet in an allreduce. */
static void hybrid(int n, int rank, int size) {
    for (int round = 0; round < 6; round++) {
        struct clocks at = clocks[0];
#pragma omp parallel num_threads(n)
        {
            forked(&at);
            work(10 + 10 * (omp_get_thread_num() == round % n) + 10 * (rank == round / 2 % size));
            give(&met, mine());
        }
        joined();
        double all = 0;
        MPI_Allreduce(&clocks[0].thread, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        clocks[0].thread = larger(clocks[0].thread, all);
        clocks[0].task = larger(clocks[0].task, all);
    }
    give(&met, &clocks[0]);
}

static __attribute__((noinline)) void iteration(int n, int rank) {
    work(2);
    struct clocks at = clocks[0];
#pragma omp parallel num_threads(n)
    {
        forked(&at);
        work(4 + 4 * (omp_get_thread_num() == n - 1) + 4 * (rank == 0));
        give(&met, mine());
    }
    joined();
    double all = 0;
    MPI_Allreduce(&clocks[0].thread, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    clocks[0].thread = larger(clocks[0].thread, all);
    clocks[0].task = larger(clocks[0].task, all);
}

/* A serial part, and the same imbalance, in each iteration of a loop. */
static __attribute__((noinline)) void hybrid_loop(int n, int rank) {
    for (int round = 0; round < 16; round++)
        iteration(n, rank);
    give(&met, &clocks[0]);
}

/* Tasks of different lengths on the threads of ranks, which meet in an allreduce: each rank knows
 * both clocks then. */
static void hybrid_tasks(int n, int rank, int size) {
    for (int round = 0; round < 4; round++) {
        struct clocks at = clocks[0], done = {0};
#pragma omp parallel num_threads(n)
        {
            forked(&at);
#pragma omp single
            {
                for (int i = 0; i < 3; i++) {
                    struct clocks created = *mine();
#pragma omp task firstprivate(i, created)
                    {
                        double kept = task_begins(&created, NULL);
                        work(10 + 5 * i + 10 * (rank == round % size));
                        task_ends(&done, kept);
                    }
                }
#pragma omp taskwait
                take(mine(), &done);
            }
            give(&met, mine());
        }
        joined();
        double both[2] = {clocks[0].thread, clocks[0].task}, all[2] = {0};
        MPI_Allreduce(both, all, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        clocks[0].thread = all[0];
        clocks[0].task = all[1];
    }
    give(&met, &clocks[0]);
}
#endif

static double loaded;

__attribute__((constructor)) static void remember_start(void) {
    loaded = now();
}

/* The start of the process and of the runtime is work of the first thread, too. */
static void count_start(void) {
    double took = now() - loaded;
    useful[0] = clocks[0].thread = clocks[0].task = clocks[0].process = took;
    printf("START %.9f\n", took);
}

/* LLVM's runtime has it; what GCC links with does not. */
/* libgomp has no omp_control_tool. */
static void switch_measurement(int command) {
    int (*control)(int, int, void *) =
        (int (*)(int, int, void *))dlsym(RTLD_DEFAULT, "omp_control_tool");
    if (control == NULL && command == 1)
        latecomer_start();
    else if (control == NULL)
        latecomer_stop();
    else if (control(command, 0, NULL) != 0)
        exit(3);
}

/* Another phase, in which the threads' clocks become far apart. */
static void phase_before(int n) {
    latecomer_begin("before");
#pragma omp parallel num_threads(n)
    usleep(10000 + 30000 * (omp_get_thread_num() == n - 1));
    latecomer_end("before");
}

int main(int argc, char **argv) {
    double begin = loaded;
    int switched = argc > 3 && strcmp(argv[3], "switched") == 0;
    int phase = argc > 3 && strcmp(argv[3], "phase") == 0;
    omp_get_max_threads(); /* starts the runtime */
    const char *pattern = argc > 1 ? argv[1] : "";
    int n = argc > 2 ? atoi(argv[2]) : 2, rank = 0;
#ifdef WITH_MPI
    int size, level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (phase) {
        phase_before(n);
        MPI_Barrier(MPI_COMM_WORLD);
        latecomer_begin("pattern");
    }
    begin = now();
    if (strcmp(pattern, "hybrid") == 0)
        hybrid(n, rank, size);
    else if (strcmp(pattern, "hybrid_loop") == 0)
        hybrid_loop(n, rank);
    else if (strcmp(pattern, "hybrid_tasks") == 0)
        hybrid_tasks(n, rank, size);
#else
    if (phase) {
        phase_before(n);
        latecomer_begin("pattern");
        begin = now();
    } else if (switched) {
        switch_measurement(1); /* start */
        begin = now();
    } else {
        count_start();
    }
#endif
    if (strcmp(pattern, "chain") == 0)
        chain(n);
    else if (strcmp(pattern, "imbalance") == 0)
        imbalance(n);
#if defined __clang__ || defined OWN_RUNTIME
    else if (strcmp(pattern, "doacross") == 0)
        doacross(n);
#endif
    else if (strcmp(pattern, "rotating") == 0)
        rotating(n);
    else if (strcmp(pattern, "serial") == 0)
        serial(n);
    else if (strcmp(pattern, "critical") == 0)
        bound(n, 0);
    else if (strcmp(pattern, "lock") == 0)
        bound(n, 1);
    else if (strcmp(pattern, "tasks") == 0)
        tasks(n);
    else if (strcmp(pattern, "depend") == 0)
        depend(n);
    else if (strcmp(pattern, "nested") == 0)
        nested(n);
    give(&met, &clocks[0]);
    double took = now() - begin;
    if (phase)
        latecomer_end("pattern");
    if (switched)
        switch_measurement(2); /* pause */
    for (int i = 0; i < n; i++)
        printf("U %d %d %.9f\n", rank, i, useful[i]);
    printf("CP %.9f\nTACP %.9f\nPROCESS %.9f\nT %.9f\nWORK %.9f\nONE %.9f\n", longest, longest_task,
           longest_process, took, in_tasks, longest_one);
    fflush(stdout);
#ifdef WITH_MPI
    MPI_Finalize();
#endif
    return 0;
}
