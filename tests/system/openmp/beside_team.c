/* What samples in teams of OpenMP must not disturb: signals that come to their threads, fork in a
 * region, teams that are made anew again and again, detached threads with regions of their own, no
 * descriptor left, exit in a region. beside_team ROUNDS: "fine" at its end. */
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <omp.h>

enum { TEAM = 3, DETACHED = 40 };

static atomic_int ticks, failures;
static sem_t ended;

static void check(int right, const char *what) {
    if (right)
        return;
    printf("WRONG: %s\n", what);
    failures++;
}

static void on_tick(int number) {
    (void)number;
    ticks++;
}

static double cpu_s(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

__attribute__((noinline)) static double work(double seconds) {
    volatile double sum = 0;
    for (double end = cpu_s() + seconds; cpu_s() < end;)
        for (int i = 0; i < 1000; i++)
            sum += i;
    return sum;
}

/* Ticks go to whatever thread runs; a sleep in a region is not cut short by samples. */
static void signals(void) {
    struct sigaction action = {.sa_handler = on_tick, .sa_flags = SA_RESTART}, old;
    struct itimerval every = {{0, 10000}, {0, 10000}}, never = {{0, 0}, {0, 0}};
    sigaction(SIGPROF, &action, &old);
    setitimer(ITIMER_PROF, &every, NULL);
    for (int i = 0; i < 100 && ticks < 5; i++) {
#pragma omp parallel num_threads(TEAM)
        work(0.02);
    }
    setitimer(ITIMER_PROF, &never, NULL);
    sigaction(SIGPROF, &old, NULL);
    check(ticks >= 5, "number of SIGPROF");
#pragma omp parallel num_threads(TEAM)
    {
        struct timespec time = {0, 20000000}, left;
        work(0.01);
        check(nanosleep(&time, &left) == 0, "nanosleep was interrupted");
    }
}

/* The child works on, alone; the team goes on as well. */
static void forks(void) {
#pragma omp parallel num_threads(TEAM)
    {
        work(0.01);
        if (omp_get_thread_num() == 1) {
            int status;
            pid_t child = fork();
            if (child == 0) {
                work(0.01);
                _exit(7);
            }
            check(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
                      WEXITSTATUS(status) == 7,
                  "forked child");
        }
        work(0.01);
    }
}

/* GCC's runtime makes the threads of inner teams anew each time. */
static void nested(int rounds) {
    int sum = 0;
    omp_set_max_active_levels(2);
    for (int i = 0; i < rounds; i++) {
#pragma omp parallel num_threads(2) reduction(+ : sum)
        {
            int inner = 0;
#pragma omp parallel num_threads(2) reduction(+ : inner)
            inner += 1;
            sum += inner;
        }
    }
    omp_set_max_active_levels(1);
    check(sum == 4 * rounds, "sum of nested regions");
}

static void *region_of_its_own(void *unused) {
    int sum = 0;
#pragma omp parallel num_threads(2) reduction(+ : sum)
    {
        work(0.001);
        sum += 1;
    }
    check(sum == 2, "region of a detached thread");
    sem_post(&ended);
    return unused;
}

static void detached(int n) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    for (int i = 0; i < n; i++) {
        pthread_t id;
        check(pthread_create(&id, &attributes, region_of_its_own, NULL) == 0, "pthread_create");
    }
    for (int i = 0; i < n; i++)
        sem_wait(&ended);
    pthread_attr_destroy(&attributes);
}

/* A team, and then threads, that begin while no descriptor is left. */
static void without_descriptors(void) {
    struct rlimit limit, less;
    int next = dup(0);
    close(next);
    getrlimit(RLIMIT_NOFILE, &limit);
    less = (struct rlimit){(rlim_t)next, limit.rlim_max};
    setrlimit(RLIMIT_NOFILE, &less);
    detached(2);
    check(dup(0) < 0, "a descriptor is left");
    setrlimit(RLIMIT_NOFILE, &limit);
    check(dup(0) == next, "the next descriptor is another one");
    close(next);
}

int main(int argc, char **argv) {
    int rounds = argc > 1 ? atoi(argv[1]) : 100;
    sem_init(&ended, 0, 0);
    signals();
    forks();
    nested(rounds);
    detached(DETACHED);
    without_descriptors();
#pragma omp parallel num_threads(TEAM)
    {
        work(0.02);
        if (omp_get_thread_num() == TEAM - 1) {
            puts(failures == 0 ? "fine" : "not fine");
            exit(failures == 0 ? 5 : 6); /* while the others work */
        }
        work(0.1);
    }
    return 7;
}
