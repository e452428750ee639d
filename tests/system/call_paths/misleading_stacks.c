/* Call paths made to fool the cache: frames of variable size that leave stale return addresses
 * behind, recursion, realigned frames, longjmp, signal handlers, callbacks, threads, a random call
 * graph. Run with LATECOMER_CHECK_PATHS, which compares every path with full unwinding. Prints the
 * number of MPI calls made. */
#include <alloca.h>
#include <mpi.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOINLINE __attribute__((noinline, noclone))

static __thread long calls;
static __thread uint64_t seed = 88172645463325252ull;
static volatile char sink;

static uint32_t rnd(void) {
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (uint32_t)(seed >> 32);
}

NOINLINE static int mpi(void) {
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    calls++;
    return rank;
}

NOINLINE static int leaf(int n) {
    char *p = alloca((size_t)n * 16 + 16);
    memset(p, n, (size_t)n * 16 + 16);
    int r = mpi();
    sink = p[n];
    return r + 1;
}

/* The same frame address from two callers, with the other's return address still on the stack. */
NOINLINE static int caller_a(int n) {
    char *p = alloca((size_t)(64 - n) * 16 + 16);
    p[0] = (char)n;
    int r = leaf(n);
    sink = p[0];
    return r + 2;
}

NOINLINE static int caller_b(int n) {
    char *p = alloca((size_t)(64 - n) * 16 + 16);
    p[1] = (char)n;
    int r = leaf(n);
    sink = p[1];
    return r + 3;
}

NOINLINE static int odd(int n);
NOINLINE static int even(int n) {
    int r = mpi();
    return n == 0 ? r : odd(n - 1) + 1;
}
NOINLINE static int odd(int n) {
    int r = leaf(n % 7);
    return n == 0 ? r : even(n - 1) + 2;
}

NOINLINE static int deep(int n) {
    int r = n == 0 ? mpi() : deep(n - 1);
    sink = (char)r;
    return r + 1;
}

NOINLINE static int realigned(int n) {
    _Alignas(64) volatile char big[256];
    big[n & 255] = (char)n;
    int r = (n & 1) ? caller_a(n & 31) : mpi();
    return r + big[n & 255];
}

static jmp_buf back;
NOINLINE static void jumper(int n) {
    if (n > 0) {
        jumper(n - 1);
        sink = (char)n;
        return;
    }
    mpi();
    if (mpi() >= 0)
        longjmp(back, 1);
}

static void on_signal(int number) {
    (void)number;
    mpi(); /* between MPI calls of a single thread: harmless here */
}

NOINLINE static void by_signal(int n) {
    volatile int x = n;
    raise(SIGUSR1);
    sink = (char)x;
}

static int compare(const void *a, const void *b) {
    mpi();
    return *(const int *)a - *(const int *)b;
}

/* A random call graph: each node calls some others with frames of random size. */
NOINLINE static int node(int which, int depth);
#define NODE(k)                                                                                    \
    NOINLINE static int node##k(int depth) {                                                       \
        size_t bytes = (rnd() % 8) * 16 + 16;                                                      \
        char *p = alloca(bytes);                                                                   \
        p[0] = (char)(k);                                                                          \
        int r = depth == 0 ? mpi() : node((int)(rnd() % 6), depth - 1);                            \
        if (rnd() % 4 == 0)                                                                        \
            r += mpi();                                                                            \
        sink = p[0];                                                                               \
        return r + (k);                                                                            \
    }
NODE(0)
NODE(1)
NODE(2)
NODE(3)
NODE(4)
NODE(5)
NOINLINE static int node(int which, int depth) {
    static int (*const all[])(int) = {node0, node1, node2, node3, node4, node5};
    int r = all[which](depth);
    sink = (char)r;
    return r + 1;
}

static void everything(int rounds) {
    for (int i = 0; i < rounds; i++) {
        caller_a(i % 48);
        caller_b(i % 48);
        even(i % 9);
        deep(i % 60);
        realigned(i);
        node((int)(rnd() % 6), (int)(rnd() % 7));
    }
}

static void *thread_main(void *arg) {
    seed += (uint64_t)(uintptr_t)arg * 7919;
    everything(*(int *)arg);
    long *made = malloc(sizeof *made);
    *made = calls;
    return made;
}

int main(int argc, char **argv) {
    int rounds = argc > 1 ? atoi(argv[1]) : 300, provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    everything(rounds);
    for (volatile int i = 0; i < 20; i++)
        if (setjmp(back) == 0)
            jumper(i);
    signal(SIGUSR1, on_signal);
    for (int i = 0; i < 20; i++)
        by_signal(i);
    int numbers[50];
    for (int i = 0; i < 50; i++)
        numbers[i] = (int)(rnd() % 1000);
    qsort(numbers, 50, sizeof *numbers, compare);
    pthread_t thread;
    long *made = NULL;
    if (provided == MPI_THREAD_MULTIPLE && pthread_create(&thread, NULL, thread_main, &rounds) == 0)
        pthread_join(thread, (void **)&made);
    MPI_Finalize();
    printf("MPI_Comm_rank %ld\n", calls + (made != NULL ? *made : 0));
    free(made);
    return 0;
}
