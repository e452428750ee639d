/* Many calls, for what call paths cost and how they are kept. Prints calls made, as
 * misleading_stacks.c does.
 *
 *   data N             a register of the caller holds other data in each call, that looks like a
 *                      frame pointer: one call path
 *   many PLACES N      call paths that begin at PLACES places of the stack, 60 functions deep, N
 *                      times each, one after the other
 *   spread N           three call paths to a function that calls MPI_Comm_rank, MPI_Wtime and
 *                      MPI_Sendrecv, 4 N times
 *   beyond N           N times, and MPI_Finalize, on a path that is too deep to be kept */
#include <alloca.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOINLINE __attribute__((noinline, noclone))

static long calls, times;
static volatile int sink;

NOINLINE static void call(void) {
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    calls++;
}

#if defined(__x86_64__)
/* A frame without frame pointer, 512 words large; %rbp points to word n of it while f runs. */
void with_data(long n, void (*f)(void));
__asm__(".text\n"
        ".type with_data, @function\n"
        "with_data:\n"
        "  .cfi_startproc\n"
        "  push %rbp\n"
        "  .cfi_def_cfa_offset 16\n"
        "  .cfi_offset 6, -16\n"
        "  sub $4096, %rsp\n"
        "  .cfi_def_cfa_offset 4112\n"
        "  lea (%rsp,%rdi,8), %rbp\n"
        "  call *%rsi\n"
        "  add $4096, %rsp\n"
        "  .cfi_def_cfa_offset 16\n"
        "  pop %rbp\n"
        "  .cfi_def_cfa_offset 8\n"
        "  ret\n"
        "  .cfi_endproc\n"
        ".size with_data, .-with_data\n");
#else
static void with_data(long n, void (*f)(void)) {
    sink = (int)n;
    f();
}
#endif

NOINLINE static void deep(int n) {
    if (n > 0)
        deep(n - 1);
    else
        call();
    sink = n;
}

NOINLINE static void place(int n) {
    volatile char *room = alloca((size_t)n * 16 + 16);
    room[0] = (char)n;
    deep(60);
    sink = (unsigned char)room[0];
}

NOINLINE static void shared(void) {
    call();
    double now = MPI_Wtime();
    sink = (int)now;
    int in = 1, out;
    MPI_Sendrecv(&in, 1, MPI_INT, 0, 1, &out, 1, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    times++;
}

NOINLINE static void first(void) {
    shared();
    sink = 1;
}
NOINLINE static void second(void) {
    volatile char room[64];
    room[1] = 1;
    shared();
    sink = (unsigned char)room[1];
}
NOINLINE static void third(void) {
    volatile char room[256];
    room[1] = 1;
    shared();
    sink = (unsigned char)room[1];
}
NOINLINE static void spread(long n) {
    for (long i = 0; i < n; i++) {
        first();
        second();
        third();
        first();
    }
}

NOINLINE static void beyond(int depth, long n) {
    if (depth > 0) {
        beyond(depth - 1, n);
    } else {
        for (long i = 0; i < n; i++)
            call();
        MPI_Finalize();
    }
    sink = depth;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    const char *what = argc > 1 ? argv[1] : "";
    long n = argc > 2 ? atol(argv[2]) : 1;
    if (strcmp(what, "data") == 0)
        for (long i = 0; i < n; i++)
            with_data(i % 512, call);
    else if (strcmp(what, "many") == 0)
        for (long k = 0; k < atol(argv[3]); k++)
            for (int i = 0; i < (int)n; i++)
                place(i);
    else if (strcmp(what, "beyond") == 0)
        beyond(600, n);
    else
        spread(n);
    if (strcmp(what, "beyond") != 0)
        MPI_Finalize();
    printf("MPI_Comm_rank %ld\n", calls);
    if (times > 0)
        printf("MPI_Wtime %ld\nMPI_Sendrecv %ld\n", times, times);
    return 0;
}
