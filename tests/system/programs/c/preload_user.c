/* Prints whether the library that the user preloads is there; after MPI_Init LD_PRELOAD must be the
 * user's own again. */
#include "program.h"

int preloaded_answer(void) __attribute__((weak));

int main(int argc, char **argv) {
    start_program(&argc, &argv);
    const char *preload = getenv("LD_PRELOAD"), *slash = preload ? strrchr(preload, '/') : NULL;
    OK(MPI_Barrier(MPI_COMM_WORLD));
    say("preloaded=%d LD_PRELOAD=%s", preloaded_answer ? preloaded_answer() : 0,
        slash ? slash + 1 : "");
    return end_program();
}
