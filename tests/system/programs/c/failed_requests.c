/* Two ranks: receives that fail again and again, as the messages are longer than the buffers,
 * completed by every function that does so: what the tool has kept for them it uses again, and what
 * failed has received nothing. Its memory comes from mappings (own_heap.c), which this program
 * counts. */
#include "program.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/syscall.h>

enum { WARM = 300, MOST = 40, LONG = 64, SHORT = 8, BURST = 10 };

static char sent[LONG], received[MOST][LONG];
static MPI_Status statuses[MOST];
static volatile size_t mapped;

/* In place of libc's, for the libraries, too: bytes that the measurement library asks for. */
__attribute__((visibility("default"))) void *mmap(void *address, size_t bytes, int protection,
                                                  int flags, int fd, off_t offset) {
    Dl_info from;
    if (dladdr(__builtin_return_address(0), &from) != 0 && from.dli_fname != NULL &&
        strstr(from.dli_fname, "latecomer-core") != NULL)
        mapped += bytes;
    return (void *)syscall(SYS_mmap, address, bytes, protection, flags, fd, offset);
}

static int open_ones(int n, const MPI_Request *r) {
    int open = 0;
    for (int i = 0; i < n; i++)
        open += r[i] != MPI_REQUEST_NULL;
    return open;
}

/* Until all are complete; how many calls said that something failed. */
static int complete(int how, int n, MPI_Request *r) {
    int failed = 0, indices[MOST], index, done, flag;
    while (open_ones(n, r) > 0)
        switch (how) {
        case 0:
            failed += MPI_Waitsome(n, r, &done, indices, statuses) != MPI_SUCCESS;
            break;
        case 1:
            failed += MPI_Testsome(n, r, &done, indices, statuses) != MPI_SUCCESS;
            break;
        case 2:
            failed += MPI_Waitany(n, r, &index, statuses) != MPI_SUCCESS;
            break;
        case 3:
            failed += MPI_Testany(n, r, &index, &flag, statuses) != MPI_SUCCESS;
            break;
        case 4:
            failed += MPI_Waitall(n, r, statuses) != MPI_SUCCESS;
            break;
        case 5:
            failed += MPI_Testall(n, r, &flag, statuses) != MPI_SUCCESS;
            break;
        case 6:
            failed += MPI_Wait(&r[open_ones(n, r) - 1], statuses) != MPI_SUCCESS;
            break;
        default:
            failed += MPI_Test(&r[open_ones(n, r) - 1], &flag, statuses) != MPI_SUCCESS;
        }
    return failed;
}

/* A message of LONG bytes for each receive, which has room for SHORT of them. */
static int one_round(int how, int n) {
    MPI_Request r[MOST];
    for (int i = 0; i < n; i++)
        if (rank == 0)
            OK(MPI_Send(sent, LONG, MPI_BYTE, 1, i, MPI_COMM_WORLD));
        else
            OK(MPI_Irecv(received[i], SHORT, MPI_BYTE, 0, i, MPI_COMM_WORLD, &r[i]));
    return rank == 0 ? 0 : complete(how, n, r);
}

int main(int argc, char **argv) {
    static const char *const names[] = {"waitsome", "testsome", "waitany", "testany",
                                        "waitall",  "testall",  "wait",    "test"};
    int rounds = argc > 1 ? atoi(argv[1]) : 1100;
    start_program(&argc, &argv);
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    for (int how = 0; how < 8; how++) {
        int failed = 0;
        size_t before = 0;
        for (int round = 0; round < rounds; round++) {
            if (round == WARM)
                before = mapped;
            if (round % BURST == 0)
                OK(MPI_Barrier(MPI_COMM_WORLD));
            failed += one_round(how, round % 4 == 0 ? 3 : MOST) > 0; /* few, and more than 16 */
        }
        size_t grown = mapped - before;
        if (grown > 0)
            fprintf(stderr, "%s: %zu bytes more\n", names[how], grown);
        say("%s: %d rounds failed, memory %s", names[how], failed,
            grown < 5 << 20 ? "as before" : "grows");
    }
    return end_program();
}
