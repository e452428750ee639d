/* What random programs found wrong in the waiting that `analyze` finds, each as small as it gets.
 * Working means that virtual time passes. */
#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>

static omp_lock_t lock, other;
static long total;

void sim_work(unsigned long long ns);

static void work(int n) {
    sim_work(100ull * n);
    __atomic_fetch_add(&total, n, __ATOMIC_RELAXED);
}

/* Tasks that wait for others as soon as they begin, inside of a wait. */
static void waits_at_once(void) {
#pragma omp parallel num_threads(2)
#pragma omp single
#pragma omp taskgroup
    for (int i = 0; i < 3; i++) {
#pragma omp task
        {
#pragma omp task
            work(20 + i);
#pragma omp task
            work(30);
#pragma omp taskwait
        }
    }
}

/* A thread in a barrier begins a task long after its creation, when what it depends on ends. */
static void begins_later(void) {
    char at = 0;
    (void)at;
    for (int i = 0; i < 8; i++) {
#pragma omp parallel num_threads(3)
#pragma omp single
        {
            work(5);
#pragma omp task depend(out : at)
            work(35);
#pragma omp task depend(in : at)
            work(1);
#pragma omp task depend(in : at)
            work(17);
#pragma omp taskwait
        }
    }
}

/* A taskgroup waits for none of the tasks that are made after it. */
static void empty_taskgroup(void) {
#pragma omp parallel num_threads(2)
#pragma omp master
    for (int i = 0; i < 3; i++) {
#pragma omp taskgroup
        work(1);
#pragma omp task
        work(0);
#pragma omp taskwait
    }
}

static void *beside(void *nothing) {
    for (int i = 0; i < 3; i++) {
        while (!omp_test_lock(&lock))
            sched_yield();
        work(29);
        omp_unset_lock(&lock);
        omp_set_lock(&other);
        work(2);
        omp_unset_lock(&other);
#pragma omp critical(outside)
        work(31);
    }
    return nothing;
}

/* Two threads of the program wait for each other's locks outside of all regions. */
static void outside_of_regions(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, beside, NULL);
    for (int i = 0; i < 3; i++) {
        work(10);
        omp_set_lock(&lock);
        work(7);
        omp_unset_lock(&lock);
        omp_set_lock(&other);
        work(20);
        omp_unset_lock(&other);
#pragma omp critical(outside)
        work(13);
    }
    pthread_join(thread, NULL);
}

/* Who asks for a lock that is free, and is not the first to get it: of two threads that ask for it
 * at the same time, one. */
static void *asks(void *nothing) {
    for (int i = 0; i < 20; i++) {
        omp_set_lock(&lock);
        work(3);
        omp_unset_lock(&lock);
#pragma omp critical(outside)
        work(5);
        work(2);
    }
    return nothing;
}

static void at_the_same_time(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, asks, NULL);
    asks(NULL);
    pthread_join(thread, NULL);
}

int main(void) {
    omp_init_lock(&lock);
    omp_init_lock(&other);
    waits_at_once();
    begins_later();
    empty_taskgroup();
    outside_of_regions();
    at_the_same_time();
    printf("%ld\n", total);
    return 0;
}
