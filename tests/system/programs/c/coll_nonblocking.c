/* All nonblocking collectives, several outstanding on one communicator, completed in any order
 * together with messages. */
#include "program.h"

enum { MAX = 16 };

static long mix(long sum, const int *v, int n) {
    for (int i = 0; i < n; i++)
        sum = (sum * 31 + v[i] + 7) % 1000003;
    return sum;
}

static long one_of_each(MPI_Comm comm) {
    int a[MAX * MAX], b[17][MAX * MAX], counts[MAX], displs[MAX], from_each[MAX], bytes[MAX],
        flag = 0, n = 0;
    MPI_Datatype types[MAX];
    MPI_Request r[17];
    long sum = 0;
    memset(b, 0, sizeof b);
    for (int i = 0; i < MAX * MAX; i++)
        a[i] = rank * 50 + i;
    for (int i = 0; i < size; i++) {
        counts[i] = i;
        displs[i] = i * MAX;
        bytes[i] = displs[i] * (int)sizeof(int);
        from_each[i] = rank;
        types[i] = MPI_INT;
    }
    b[1][0] = rank == 1 ? 55 : 0;
    OK(MPI_Ibarrier(comm, &r[n++]));
    OK(MPI_Ibcast(b[1], 5, MPI_INT, 1, comm, &r[n++]));
    OK(MPI_Igather(a, 2, MPI_INT, b[2], 2, MPI_INT, 0, comm, &r[n++]));
    OK(MPI_Igatherv(a, rank, MPI_INT, b[3], counts, displs, MPI_INT, 0, comm, &r[n++]));
    OK(MPI_Iscatter(a, 2, MPI_INT, b[4], 2, MPI_INT, 1, comm, &r[n++]));
    OK(MPI_Iscatterv(a, counts, displs, MPI_INT, b[5], rank, MPI_INT, 1, comm, &r[n++]));
    OK(MPI_Iallgather(a, 2, MPI_INT, b[6], 2, MPI_INT, comm, &r[n++]));
    OK(MPI_Iallgatherv(a, rank, MPI_INT, b[7], counts, displs, MPI_INT, comm, &r[n++]));
    OK(MPI_Ialltoall(a, 2, MPI_INT, b[8], 2, MPI_INT, comm, &r[n++]));
    OK(MPI_Ialltoallv(a, counts, displs, MPI_INT, b[9], from_each, displs, MPI_INT, comm, &r[n++]));
    OK(MPI_Ialltoallw(a, counts, bytes, types, b[10], from_each, bytes, types, comm, &r[n++]));
    OK(MPI_Ireduce(a, b[11], MAX, MPI_INT, MPI_SUM, 0, comm, &r[n++]));
    OK(MPI_Iallreduce(a, b[12], MAX, MPI_INT, MPI_MAX, comm, &r[n++]));
    OK(MPI_Ireduce_scatter(a, b[13], counts, MPI_INT, MPI_SUM, comm, &r[n++]));
    OK(MPI_Ireduce_scatter_block(a, b[14], 2, MPI_INT, MPI_SUM, comm, &r[n++]));
    OK(MPI_Iscan(a, b[15], MAX, MPI_INT, MPI_SUM, comm, &r[n++]));
    OK(MPI_Iexscan(a, b[16], MAX, MPI_INT, MPI_SUM, comm, &r[n++]));
    OK(MPI_Wait(&r[12], MPI_STATUS_IGNORE)); /* not the first started */
    for (; !flag; nap_ms(flag ? 0 : 1))
        OK(MPI_Test(&r[3], &flag, MPI_STATUS_IGNORE));
    OK(MPI_Waitall(n, r, MPI_STATUSES_IGNORE));
    for (int i = 1; i < 16; i++)
        sum = mix(sum, b[i], MAX * MAX);
    return rank ? mix(sum, b[16], MAX) : sum;
}

static long mixed_with_messages(MPI_Comm comm) {
    int to = (rank + 1) % size, from = (rank + size - 1) % size, in = -1, value = 0, index;
    long sum = 0;
    MPI_Request r[4];
    for (int i = 0; i < 20; i++) {
        OK(MPI_Irecv(&in, 1, MPI_INT, from, 3, comm, &r[0]));
        OK(MPI_Iallreduce(&i, &value, 1, MPI_INT, MPI_SUM, comm, &r[1]));
        OK(MPI_Ibarrier(comm, &r[2]));
        OK(MPI_Isend(&i, 1, MPI_INT, to, 3, comm, &r[3]));
        for (int k = 0; k < 4; k++) {
            OK(MPI_Waitany(4, r, &index, MPI_STATUS_IGNORE));
            CHECK(index >= 0 && index < 4);
        }
        sum += in + value;
    }
    return sum;
}

int main(int argc, char **argv) {
    start_program(&argc, &argv);
    say("each %ld", one_of_each(MPI_COMM_WORLD));
    say("mixed %ld", mixed_with_messages(MPI_COMM_WORLD));
    return end_program();
}
