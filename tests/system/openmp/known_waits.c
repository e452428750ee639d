/* OpenMP programs whose waiting is known: each pattern notes when its threads came to a construct,
 * and when what they wait for happened, and prints the waiting that follows by the definitions:
 * WANT METRIC SECONDS.. (one per thread, in no order). Threads sleep, so that two cores are enough.
 *
 * waits PATTERN */
#define _GNU_SOURCE
#include <omp.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { MOST = 8, TASKS = 12 };

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC_RAW, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void nap(double ms) {
    struct timespec t = {.tv_nsec = (long)(ms * 1e6)};
    nanosleep(&t, NULL);
}

static double larger(double a, double b) {
    return a > b ? a : b;
}

static double smaller(double a, double b) {
    return a < b ? a : b;
}

static double latest_of(const double *times, int n) {
    double latest = times[0];
    for (int i = 1; i < n; i++)
        latest = larger(latest, times[i]);
    return latest;
}

static void want(const char *metric, const double *values, int n) {
    printf("WANT %s", metric);
    for (int i = 0; i < n; i++)
        printf(" %.9f", values[i]);
    putchar('\n');
}

static void want_until(const char *metric, const double *came, double release, int n) {
    double waits[MOST];
    for (int i = 0; i < n; i++)
        waits[i] = larger(release - came[i], 0);
    want(metric, waits, n);
}

static struct ran { /* a task */
    double created, begin, end;
    int by;
} tasks[TASKS];
static double ready[MOST], created[MOST], stolen[MOST];

static void run_task(struct ran *task, double ms, int creator) {
    task->begin = now();
    task->by = omp_get_thread_num();
    nap(ms);
    task->end = now();
    stolen[task->by] += task->by != creator;
}

/* By how much the tasks that a thread ran lie in a window. */
static double within(int thread, double begin, double end, int n) {
    double sum = 0;
    for (int i = 0; i < n; i++)
        if (tasks[i].by == thread)
            sum += larger(smaller(tasks[i].end, end) - larger(tasks[i].begin, begin), 0);
    return sum;
}

static void want_tasks(int n_tasks, int n) {
    for (int i = 0; i < n_tasks; i++)
        ready[tasks[i].by] += tasks[i].begin - tasks[i].created;
    want("omp_task_wait", ready, n);
    want("omp_tasks_created", created, n);
    want("omp_tasks_stolen", stolen, n);
}

static void barrier(void) {
    double first[3], second[3];
#pragma omp parallel num_threads(3)
    {
        int i = omp_get_thread_num();
        nap(i == 2 ? 300 : 60);
        first[i] = now();
#pragma omp barrier
        nap(i == 1 ? 240 : 30);
        second[i] = now();
    }
    want_until("omp_ebarrier_wait", first, latest_of(first, 3), 3);
    want_until("omp_ibarrier_wait", second, latest_of(second, 3), 3);
}

/* Tasks that are run in a barrier: before the last thread comes that is no waiting, and after it
 * nobody waits for a thread. */
static void barrier_tasks(void) {
    double came[2], waits[2];
#pragma omp parallel num_threads(2)
    {
        int i = omp_get_thread_num();
        if (i == 0) {
            for (int k = 0; k < 3; k++) {
                tasks[k].created = now();
                created[0]++;
#pragma omp task firstprivate(k)
                run_task(&tasks[k], 120, 0);
            }
            nap(200);
        }
        came[i] = now();
    }
    double last = latest_of(came, 2);
    for (int i = 0; i < 2; i++)
        waits[i] = last - came[i] - within(i, came[i], last, 3);
    want("omp_ibarrier_wait", waits, 2);
    want_tasks(3, 2);
}

/* In a taskwait, or at the end of a taskgroup, for a long task that another thread runs, and a
 * short one that this thread runs meanwhile. */
static void task_waiting(int group) {
    double came = 0, waits[2] = {0};
    static _Atomic int started;
    int producer = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
    {
        producer = omp_get_thread_num();
        created[producer] = 2;
#pragma omp taskgroup
        {
            tasks[0].created = now();
#pragma omp task
            {
                atomic_store(&started, 1);
                run_task(&tasks[0], 300, producer);
            }
            while (!atomic_load(&started))
                nap(1);
            tasks[1].created = now();
#pragma omp task
            run_task(&tasks[1], 90, producer);
            came = now();
            if (!group) {
#pragma omp taskwait
            }
        }
        nap(30);
    }
    double last = larger(tasks[0].end, tasks[1].end);
    waits[producer] = last - came - within(producer, came, last, 2);
    want("omp_taskwait_wait", waits, 2);
    want_tasks(2, 2);
}

static void idle(void) {
    double ends[3], waits[3] = {0};
#pragma omp parallel num_threads(3)
    {
        nap(30);
        ends[omp_get_thread_num()] = now();
    }
    nap(300);
    double fork = now();
#pragma omp parallel num_threads(3)
    nap(30);
    nap(60); /* no fork follows: not waited for */
    waits[1] = waits[2] = fork - latest_of(ends, 3);
    want("omp_idle_threads", waits, 3);
}

/* While it is idle, most of the time another thread is in a region of one thread. */
static void limited(void) {
    double ends[3], waits[3] = {0}, smaller[3] = {0};
#pragma omp parallel num_threads(3)
    {
        nap(30);
        ends[omp_get_thread_num()] = now();
    }
    double since = now();
#pragma omp parallel num_threads(1)
    nap(200);
    smaller[1] = smaller[2] = now() - since;
    nap(60);
    double fork = now();
#pragma omp parallel num_threads(3)
    nap(30);
    waits[1] = waits[2] = fork - latest_of(ends, 3);
    want("omp_idle_threads", waits, 3);
    want("omp_limited_parallelism", smaller, 3);
}

static void lock(int with_lock) {
    double came[2], began[2], released[2], waits[2] = {0};
    omp_lock_t api;
    omp_init_lock(&api);
#pragma omp parallel num_threads(2)
    {
        int i = omp_get_thread_num();
        nap(i == 0 ? 90 : 3);
        came[i] = now();
        if (with_lock) {
            omp_set_lock(&api);
            began[i] = now();
            nap(240);
            released[i] = now();
            omp_unset_lock(&api);
        } else {
#pragma omp critical
            {
                began[i] = now();
                nap(240);
                released[i] = now();
            }
        }
    }
    int second = began[1] > began[0];
    waits[second] = larger(released[!second] - came[second], 0);
    want(with_lock ? "omp_lock_contention_api" : "omp_lock_contention_critical", waits, 2);
    omp_destroy_lock(&api);
}

#if defined __clang__ || defined OWN_RUNTIME /* LLVM's runtime fails at what GCC makes of it */
/* The second iteration comes to its sink long before the first to its source. */
static void doacross(void) {
    double came[2], released[2], waits[2] = {0};
#pragma omp parallel num_threads(2)
    {
#pragma omp for ordered(1) schedule(static, 1)
        for (int i = 0; i < 2; i++) {
            nap(i == 0 ? 240 : 30);
            came[i] = now();
#pragma omp ordered depend(sink : i - 1)
            nap(60);
            released[i] = now();
#pragma omp ordered depend(source)
        }
    }
    waits[1] = larger(released[0] - came[1], 0);
    want("omp_lock_contention_critical", waits, 2);
}
#endif

/* Ready tasks: those of a chain are ready when the one before them has ended. */
static void ready_tasks(int chain) {
    int x = 0;
    (void)x; /* only its address counts */
#pragma omp parallel num_threads(2)
#pragma omp single
    {
        int producer = omp_get_thread_num();
        created[producer] = 6;
        for (int i = 0; i < 6; i++) {
            tasks[i].created = now();
            if (chain) {
#pragma omp task depend(inout : x) firstprivate(i)
                run_task(&tasks[i], 30, producer);
            } else {
#pragma omp task firstprivate(i)
                run_task(&tasks[i], 60, producer);
            }
        }
    }
    for (int i = 1; chain && i < 6; i++)
        tasks[i].created = larger(tasks[i].created, tasks[i - 1].end);
    want_tasks(6, 2);
}

/* What a fork takes lies between what the threads see of it. */
static void management(void) {
    double took[3] = {0};
    for (int round = 0; round < 20; round++) {
        double before = now();
#pragma omp parallel num_threads(3)
        {
            took[omp_get_thread_num()] += now() - before;
            nap(1);
        }
        nap(1);
    }
    printf("MOST omp_fork %.9f\n", took[0] + took[1] + took[2]);
}

int main(int argc, char **argv) {
    const char *pattern = argc > 1 ? argv[1] : "";
    if (strcmp(pattern, "barrier") == 0)
        barrier();
    else if (strcmp(pattern, "barrier_tasks") == 0)
        barrier_tasks();
    else if (strcmp(pattern, "taskwait") == 0)
        task_waiting(0);
    else if (strcmp(pattern, "taskgroup") == 0)
        task_waiting(1);
    else if (strcmp(pattern, "idle") == 0)
        idle();
    else if (strcmp(pattern, "limited") == 0)
        limited();
    else if (strcmp(pattern, "critical") == 0)
        lock(0);
    else if (strcmp(pattern, "lock") == 0)
        lock(1);
#if defined __clang__ || defined OWN_RUNTIME
    else if (strcmp(pattern, "doacross") == 0)
        doacross();
#endif
    else if (strcmp(pattern, "ready") == 0)
        ready_tasks(0);
    else if (strcmp(pattern, "chain") == 0)
        ready_tasks(1);
    else if (strcmp(pattern, "management") == 0)
        management();
    return 0;
}
