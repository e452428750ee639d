/* Functions without MPI calls whose time is known to the nanosecond, for samples in virtual time.
 * Each is one call of sim_work, so a sample in it has sim_work's caller as its innermost function.
 *
 *   sim-kernels late ROUNDS        rank 1 straggles for 20 ms where the others do nothing
 *   sim-kernels mixed ROUNDS       the same after 5 ms of assembling and 5 ms of preconditioning by
 *                                  all ranks, between the same two calls
 *   sim-kernels asleep ROUNDS      rank 1 sleeps for 20 ms in a function of its own
 *   sim-kernels beside ROUNDS      the same, beside the only function that makes a call
 *   sim-kernels fault ROUNDS       the same, for pages instead
 *   sim-kernels pages ROUNDS       rank 1 straggles having used 100 pages, the others use 300;
 *                                  then it sends 1,000 bytes to rank 0, rank 2 before it 500
 *   sim-kernels preempted ROUNDS   all ranks compute for 10 ms, rank 1 loses the processor for
 *                                  20 ms meanwhile
 *   sim-kernels reply ROUNDS       rank 0 waits for two messages: rank 2 sends one after 10 ms,
 *                                  rank 1 posts the receive of the other one after 30 ms
 *   sim-kernels receiver ROUNDS    the same without the message of rank 2, in MPI_Send
 *   sim-kernels step ROUNDS NS     all ranks run a loop of NS a round: 30 % assembling, 70 %
 *                                  preconditioning; a barrier every 10 rounds
 */
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

void sim_work(uint64_t ns);
void sim_preempted(uint64_t ns);
void sim_page_fault(uint64_t ns);

enum { MS = 1000000 };

static inline __attribute__((always_inline)) void burn(uint64_t ns) {
    sim_work(ns); /* samples fall on this line */
}

#define KERNEL(name)                                                                               \
    __attribute__((noinline, noclone)) static void name(uint64_t ns) {                             \
        burn(ns);                                                                                  \
        __asm__ volatile("");                                                                      \
    }
KERNEL(assemble)
KERNEL(precondition)
KERNEL(straggle)

__attribute__((noinline, noclone)) static void doze(uint64_t ns) {
    struct timespec t = {.tv_nsec = (long)ns};
    nanosleep(&t, NULL);
    __asm__ volatile("");
}

__attribute__((noinline, noclone)) static void interrupted(uint64_t ns, uint64_t lost_ns) {
    sim_work(ns / 2);
    sim_preempted(lost_ns);
    sim_work(ns / 2);
    __asm__ volatile("");
}

__attribute__((noinline, noclone)) static void touch(uint64_t ns) {
    sim_page_fault(ns);
    __asm__ volatile("");
}

enum { PAGE = 4096, SPARE_PAGES = 16384 };
static char spare[(size_t)SPARE_PAGES * PAGE] __attribute__((aligned(PAGE)));

/* Pages that were not used before: as many faults. */
__attribute__((noinline, noclone)) static void use_pages(int n) {
    static int used;
    for (int end = used + n; used < end && used < SPARE_PAGES; used++)
        ((volatile char *)spare)[(size_t)used * PAGE] = 1;
}

static int rank;

/* When rank 1 has posted its receive, rank 0 is told by the next message only. */
__attribute__((noinline, noclone)) static void exchange(bool both) {
    static char large[100000];
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    int n = sizeof large;
    if (rank > 0) {
        assemble(5 * MS);
        precondition(5 * MS);
    }
    if (rank == 1) {
        straggle(20 * MS);
        MPI_Recv(large, n, MPI_CHAR, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(&n, 1, MPI_INT, 0, 3, MPI_COMM_WORLD);
    } else if (rank == 2 && both) {
        MPI_Send(&n, 1, MPI_INT, 0, 2, MPI_COMM_WORLD);
    } else if (rank == 0) {
        if (both) {
            MPI_Irecv(&n, 1, MPI_INT, 2, 2, MPI_COMM_WORLD, &requests[0]);
            MPI_Isend(large, sizeof large, MPI_CHAR, 1, 1, MPI_COMM_WORLD, &requests[1]);
            MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        } else {
            MPI_Send(large, sizeof large, MPI_CHAR, 1, 1, MPI_COMM_WORLD);
        }
        MPI_Recv(&n, 1, MPI_INT, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void send_bytes(void) {
    static const int bytes[] = {0, 1000, 500};
    char data[1000] = "";
    if (rank > 0)
        MPI_Send(data, bytes[rank], MPI_CHAR, 0, 0, MPI_COMM_WORLD);
    for (int from = 1; rank == 0 && from <= 2; from++)
        MPI_Recv(data, bytes[from], MPI_CHAR, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

__attribute__((noinline, noclone)) static void meet(void) {
    MPI_Barrier(MPI_COMM_WORLD);
    __asm__ volatile("");
}

__attribute__((noinline, noclone)) static void iterate(const char *what, int round, uint64_t ns) {
    if (strcmp(what, "step") == 0) {
        assemble(ns * 3 / 10);
        precondition(ns - ns * 3 / 10);
        if (round % 10 == 9)
            MPI_Barrier(MPI_COMM_WORLD);
        return;
    }
    if (strcmp(what, "reply") == 0 || strcmp(what, "receiver") == 0) {
        exchange(strcmp(what, "reply") == 0);
        return;
    }
    if (strcmp(what, "beside") == 0) {
        assemble(10 * MS);
        if (rank == 1)
            doze(20 * MS);
        meet();
        return;
    }
    if (strcmp(what, "mixed") == 0) {
        assemble(5 * MS);
        precondition(5 * MS);
    } else {
        assemble(10 * MS);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (strcmp(what, "pages") == 0)
        use_pages(rank == 1 ? 100 : 300);
    if (rank == 1 && strcmp(what, "asleep") == 0)
        doze(20 * MS);
    else if (rank == 1 && strcmp(what, "fault") == 0)
        touch(20 * MS);
    else if (strcmp(what, "preempted") == 0)
        interrupted(10 * MS, rank == 1 ? 20 * MS : 0);
    else if (rank == 1)
        straggle(20 * MS);
    if (strcmp(what, "pages") == 0)
        send_bytes();
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
    if (argc < 3)
        return 2;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    madvise(spare, sizeof spare, MADV_NOHUGEPAGE);
    int rounds = atoi(argv[2]);
    uint64_t ns = argc > 3 ? strtoull(argv[3], NULL, 10) : 0;
    for (int i = 0; i < rounds; i++)
        iterate(argv[1], i, ns);
    MPI_Finalize();
    return 0;
}
