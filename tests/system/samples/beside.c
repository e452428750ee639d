/* What samples must not disturb: interval timers and their signals, system calls that wait, fork
 * (the child works on, also through MPI's wrappers), exec, thousands of short threads, a program
 * that uses performance events itself, or ends at invalid floating-point operations. "fine" from
 * each rank. */
#include <errno.h>
#include <fenv.h>
#include <linux/perf_event.h>
#include <mpi.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t ticks;
static volatile double sink;

static void fail(const char *what) {
    printf("WRONG: %s\n", what);
    fflush(stdout);
    MPI_Abort(MPI_COMM_WORLD, 3);
}

static void on_tick(int signo) {
    (void)signo;
    ticks++;
}

static double cpu_s(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void work(double seconds) {
    for (double end = cpu_s() + seconds; cpu_s() < end;)
        for (int i = 0; i < 1000; i++)
            sink += i;
}

static void interval_timers(void) {
    struct sigaction act = {.sa_handler = on_tick}, old;
    struct itimerval every = {{0, 10000}, {0, 10000}}, none = {0};
    sigaction(SIGPROF, &act, &old);
    double begin = cpu_s();
    setitimer(ITIMER_PROF, &every, NULL);
    do /* beside other programs ticks are rare: the kernel tells a process one at a time */
        work(0.1);
    while (ticks < 10 && cpu_s() - begin < 10);
    setitimer(ITIMER_PROF, &none, NULL);
    sigaction(SIGPROF, &old, NULL);
    if (ticks < 10 || ticks > 10 + 120 * (cpu_s() - begin))
        fail("number of SIGPROF");
}

static void calls_that_wait(void) {
    struct timespec time = {0, 200000000}, left;
    int ends[2];
    const char *sample = getenv("LATECOMER_SAMPLE");
    bool signals = sample != NULL && strncmp(sample, "timer", 5) == 0; /* one may come first */
    if (nanosleep(&time, &left) != 0 && (!signals || nanosleep(&left, NULL) != 0))
        fail("nanosleep was interrupted");
    if (pipe(ends) != 0)
        fail("pipe");
    pid_t child = fork();
    if (child == 0) {
        usleep(200000);
        _exit(write(ends[1], "x", 1) == 1 ? 0 : 1);
    }
    char byte;
    if (read(ends[0], &byte, 1) != 1)
        fail("read was interrupted");
    waitpid(child, NULL, 0);
    close(ends[0]);
    close(ends[1]);
}

static void processes(void) {
    int status;
    pid_t child = fork();
    if (child == 0) {
        int version, sub;
        work(0.05);
        MPI_Get_version(&version, &sub); /* nothing of the parent's samples is there */
        _exit(version > 0 ? 7 : 8);
    }
    if (waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 7)
        fail("forked child");
    child = fork();
    if (child == 0) {
        execl("/bin/true", "true", (char *)NULL);
        _exit(9);
    }
    if (waitpid(child, &status, 0) != child || status != 0)
        fail("exec");
}

static void *thread(void *unused) {
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return unused;
}

static void short_threads(void) {
    for (int i = 0; i < 2000; i += 8) {
        pthread_t all[8];
        for (int k = 0; k < 8; k++)
            if (pthread_create(&all[k], NULL, thread, NULL) != 0)
                fail("pthread_create");
        for (int k = 0; k < 8; k++)
            pthread_join(all[k], NULL);
    }
}

/* Its own event, where the kernel allows one. */
static void own_events(void) {
    struct perf_event_attr attr;
    uint64_t ns = 0;
    memset(&attr, 0, sizeof attr);
    attr.size = sizeof attr;
    attr.type = PERF_TYPE_SOFTWARE;
    attr.config = PERF_COUNT_SW_TASK_CLOCK;
    attr.exclude_kernel = 1;
    int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
    if (fd < 0)
        return;
    work(0.1);
    MPI_Barrier(MPI_COMM_WORLD);
    if (read(fd, &ns, sizeof ns) != sizeof ns || ns < 50000000) /* of 0.1 s */
        fail("own performance event");
    close(fd);
}

/* Calls follow each other at once, so that most samples fall between them or into the tool. */
static void trapped_calls(void) {
    enum { CALLS = 1000000 };
    int raises = FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW, in = 0, out = 0;
    feenableexcept(raises);
    for (int i = 0; i < CALLS; i++)
        MPI_Sendrecv(&out, 1, MPI_INT, MPI_PROC_NULL, 0, &in, 1, MPI_INT, MPI_PROC_NULL, 0,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    fedisableexcept(raises);
}

int main(int argc, char **argv) {
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    interval_timers();
    calls_that_wait();
    processes();
    if (level == MPI_THREAD_MULTIPLE)
        short_threads();
    own_events();
    trapped_calls();
    MPI_Barrier(MPI_COMM_WORLD);
    printf("fine\n");
    MPI_Finalize();
    return 0;
}
