/* A library that is preloaded: MPI_Allreduce takes 50 us, and with some sizes an effect whose size
 * is known, so that one launch measures all of them alike. Other sizes are MPI's alone. */
#include <math.h>
#include <mpi.h>
#include <stdint.h>
#include <unistd.h>

enum { PLAIN = 8, SHIFT = 16, TAIL = 24, MODE = 32, WORK_NS = 50000 };

/* 0 to 1, alike on all ranks of a launch: they have one parent. */
static double uniform(void) {
    static uint64_t state;
    if (state == 0)
        state = (uint64_t)getppid() * 0x9e3779b97f4a7c15u | 1;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (double)(state >> 11) * 0x1p-53;
}

/* As often and as far as in tests/unit/bench/test_bench_compare.c. */
static double factor_of(int bytes) {
    double drawn = uniform(), far = uniform();
    if (bytes == SHIFT)
        return 1.05;
    if (bytes == TAIL && drawn < 0.1)
        return 1.3 - 0.2 * log(1 - far);
    return bytes == MODE && drawn < 0.3 ? 1.5 : 1;
}

int MPI_Allreduce(const void *send, void *receive, int n, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm) {
    if (type == MPI_BYTE && (n == PLAIN || n == SHIFT || n == TAIL || n == MODE))
        for (double end = MPI_Wtime() + WORK_NS * 1e-9 * factor_of(n); MPI_Wtime() < end;)
            ;
    return PMPI_Allreduce(send, receive, n, type, op, comm);
}
