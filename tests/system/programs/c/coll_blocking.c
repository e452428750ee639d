/* All blocking collectives, with MPI_IN_PLACE, zero sizes, v and w forms, user-defined operations.
 */
#include "program.h"

enum { MAX = 16 };

static void sum_mod(void *in, void *inout, int *n, MPI_Datatype *type) {
    (void)type;
    for (int i = 0; i < *n; i++)
        ((int *)inout)[i] = (((int *)in)[i] + ((int *)inout)[i]) % 9973;
}

static long mix(long sum, const int *v, int n) {
    for (int i = 0; i < n; i++)
        sum = (sum * 31 + v[i] + 7) % 1000003;
    return sum;
}

static long rooted(MPI_Comm comm, int root) {
    int a[MAX] = {0}, b[MAX * MAX] = {0}, counts[MAX], displs[MAX], total = 0;
    long sum = 0;
    for (int i = 0; i < size; i++) {
        counts[i] = i;
        displs[i] = total;
        total += i;
    }
    for (int i = 0; i < MAX; i++)
        a[i] = rank == root ? 3 * i : -1;
    OK(MPI_Bcast(a, MAX, MPI_INT, root, comm));
    OK(MPI_Bcast(a, 0, MPI_INT, root, comm));
    sum = mix(sum, a, MAX);
    a[0] = rank * 7;
    OK(MPI_Gather(a, 2, MPI_INT, b, 2, MPI_INT, root, comm));
    sum = mix(sum, b, 2 * size);
    b[2 * root] = a[0];
    b[2 * root + 1] = a[1];
    OK(MPI_Gather(rank == root ? MPI_IN_PLACE : a, 2, MPI_INT, b, 2, MPI_INT, root, comm));
    OK(MPI_Gatherv(a, rank, MPI_INT, b, counts, displs, MPI_INT, root, comm));
    sum = mix(sum, b, total);
    for (int i = 0; i < MAX * MAX; i++)
        b[i] = i * (root + 1);
    OK(MPI_Scatter(b, 2, MPI_INT, a, 2, MPI_INT, root, comm));
    OK(MPI_Scatter(b, 2, MPI_INT, rank == root ? MPI_IN_PLACE : a, 2, MPI_INT, root, comm));
    sum = mix(sum, a, 2);
    OK(MPI_Scatterv(b, counts, displs, MPI_INT, a, rank, MPI_INT, root, comm));
    sum = mix(sum, a, rank);
    for (int i = 0; i < MAX; i++)
        a[i] = rank + i;
    OK(MPI_Reduce(a, b, MAX, MPI_INT, MPI_SUM, root, comm));
    sum = mix(sum, b, MAX);
    OK(MPI_Reduce(rank == root ? MPI_IN_PLACE : a, rank == root ? a : NULL, MAX, MPI_INT, MPI_MAX,
                  root, comm));
    return mix(sum, a, MAX);
}

static long all_to_all(MPI_Comm comm) {
    int a[MAX * MAX], b[MAX * MAX] = {0}, counts[MAX], displs[MAX], recvd[MAX];
    MPI_Datatype types[MAX];
    long sum = 0;
    for (int i = 0; i < MAX * MAX; i++)
        a[i] = rank * 100 + i;
    OK(MPI_Allgather(a, 3, MPI_INT, b, 3, MPI_INT, comm));
    OK(MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, b, 3, MPI_INT, comm));
    sum = mix(sum, b, 3 * size);
    for (int i = 0; i < size; i++) {
        counts[i] = i;
        displs[i] = i * MAX;
        types[i] = MPI_INT;
    }
    OK(MPI_Allgatherv(a, rank, MPI_INT, b, counts, displs, MPI_INT, comm));
    sum = mix(sum, b, MAX * size);
    OK(MPI_Alltoall(a, 2, MPI_INT, b, 2, MPI_INT, comm));
    OK(MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, b, 2, MPI_INT, comm));
    sum = mix(sum, b, 2 * size);
    for (int i = 0; i < size; i++) { /* to rank i: i elements; from each: rank elements */
        counts[i] = i;
        recvd[i] = rank;
        displs[i] = i * MAX;
    }
    OK(MPI_Alltoallv(a, counts, displs, MPI_INT, b, recvd, displs, MPI_INT, comm));
    sum = mix(sum, b, MAX);
    for (int i = 0; i < size; i++)
        displs[i] *= (int)sizeof(int);
    OK(MPI_Alltoallw(a, counts, displs, types, b, recvd, displs, types, comm));
    sum = mix(sum, b, MAX);
    memset(counts, 0, sizeof counts);
    memset(recvd, 0, sizeof recvd);
    OK(MPI_Alltoallv(a, counts, displs, MPI_INT, b, recvd, displs, MPI_INT,
                     comm)); /* nothing at all */
    return sum;
}

static long reductions(MPI_Comm comm) {
    int a[MAX], b[MAX] = {0}, counts[MAX];
    long sum = 0;
    MPI_Op op;
    int commutes = -1;
    OK(MPI_Op_create(sum_mod, 1, &op));
    OK(MPI_Op_commutative(op, &commutes));
    for (int i = 0; i < MAX; i++)
        a[i] = rank * 10 + i;
    OK(MPI_Allreduce(a, b, MAX, MPI_INT, op, comm));
    sum = mix(sum, b, MAX);
    OK(MPI_Allreduce(MPI_IN_PLACE, b, MAX, MPI_INT, MPI_MIN, comm));
    OK(MPI_Allreduce(a, b, 0, MPI_INT, MPI_SUM, comm));
    for (int i = 0; i < size; i++)
        counts[i] = i;
    int big[MAX * MAX] = {0};
    for (int i = 0; i < MAX * MAX; i++)
        big[i] = rank + i;
    OK(MPI_Reduce_scatter(big, b, counts, MPI_INT, MPI_SUM, comm));
    sum = mix(sum, b, rank);
    OK(MPI_Reduce_scatter_block(big, b, 2, MPI_INT, op, comm));
    sum = mix(sum, b, 2);
    OK(MPI_Scan(a, b, MAX, MPI_INT, MPI_SUM, comm));
    sum = mix(sum, b, MAX);
    OK(MPI_Scan(MPI_IN_PLACE, b, MAX, MPI_INT, MPI_MAX, comm));
    OK(MPI_Exscan(a, b, MAX, MPI_INT, MPI_SUM, comm));
    if (rank > 0)
        sum = mix(sum, b, MAX);
    OK(MPI_Reduce_local(a, b, MAX, MPI_INT, MPI_MAX));
    OK(MPI_Op_free(&op));
    return sum + commutes;
}

int main(int argc, char **argv) {
    start_program(&argc, &argv);
    for (int root = 0; root < size; root++)
        say("rooted %ld", rooted(MPI_COMM_WORLD, root));
    say("all %ld", all_to_all(MPI_COMM_WORLD));
    say("reductions %ld", reductions(MPI_COMM_WORLD));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Barrier(MPI_COMM_SELF));
    int one = 1, all = 0;
    OK(MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF));
    say("self %d", all);
    return end_program();
}
