/* One rank has no memory left for the tool after MPI_Init: mappings that the measurement library
 * asks for are refused, and names of regions, which it keeps, use up what it has. Then the program
 * goes on with new call paths, and ends. no_memory.py runs it.
 *
 * no_memory RANK: that has none. */
#include "program.h"

#include "latecomer.h"

#include <dlfcn.h>
#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>

enum { PATHS = 1000, DEPTH = 10 };

static volatile int refusing;
static volatile long refused;

/* In place of libc's, for the libraries, too. */
__attribute__((visibility("default"))) void *mmap(void *address, size_t bytes, int protection,
                                                  int flags, int fd, off_t offset) {
    Dl_info from;
    if (refusing && dladdr(__builtin_return_address(0), &from) != 0 && from.dli_fname != NULL &&
        strstr(from.dli_fname, "latecomer-core") != NULL) {
        refused++;
        errno = ENOMEM;
        return MAP_FAILED;
    }
    return (void *)syscall(SYS_mmap, address, bytes, protection, flags, fd, offset);
}

/* From large pieces to small ones, until each size is refused some times; how often the smallest
 * one was. */
static long use_up(void) {
    static char name[1 << 20];
    long before = refused;
    for (size_t length = sizeof name - 1; length >= 8; length = length * 3 / 4) {
        before = refused;
        for (int i = 0; i < 2000 && refused < before + 3; i++) {
            memset(name, 'a' + i % 26, length);
            snprintf(name, 8, "%07d", i);
            name[7] = '-';
            name[length] = '\0';
            latecomer_begin(name);
            latecomer_end(name);
        }
    }
    return refused - before;
}

static void call(void) {
    int flag = 0;
    OK(MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
}

static void right(int path, int depth);

static __attribute__((noinline)) void left(int path, int depth) {
    if (depth == 0)
        call();
    else if (path & 1)
        right(path >> 1, depth - 1);
    else
        left(path >> 1, depth - 1);
    __asm__ volatile(""); /* no tail call */
}

static __attribute__((noinline)) void right(int path, int depth) {
    if (depth == 0)
        call();
    else if (path & 1)
        right(path >> 1, depth - 1);
    else
        left(path >> 1, depth - 1);
    __asm__ volatile("");
}

int main(int argc, char **argv) {
    int sum = 0;
    long small = 0;
    start_program(&argc, &argv);
    refusing = argc > 1 && rank == atoi(argv[1]);
    if (refusing)
        small = use_up();
    for (int path = 0; path < PATHS; path++)
        left(path, DEPTH);
    OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    OK(MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 1, &sum, 1, MPI_INT,
                    (rank + size - 1) % size, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    MPI_Finalize();
    fprintf(stderr, "[%d] refused %ld\n", rank, small);
    say("received %d", sum);
    return 0;
}
