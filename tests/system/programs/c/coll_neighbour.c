/* Neighbourhood collectives on Cartesian, graph and distributed graph topologies, blocking and
 * nonblocking. */
#include "program.h"

enum { MAX = 8 };

static long mix(long sum, const int *v, int n) {
    for (int i = 0; i < n; i++)
        sum = (sum * 31 + v[i] + 7) % 1000003;
    return sum;
}

static long exchange(MPI_Comm comm, int n_in, int n_out) {
    int a[MAX * MAX], b[10][MAX * MAX], out_counts[MAX], in_counts[MAX], displs[MAX], n = 0;
    MPI_Aint bytes[MAX];
    MPI_Datatype types[MAX];
    MPI_Request r[5];
    long sum = 0;
    memset(b, 0, sizeof b);
    for (int i = 0; i < MAX * MAX; i++)
        a[i] = rank * 100 + i;
    for (int i = 0; i < MAX; i++) {
        out_counts[i] = in_counts[i] = 2;
        displs[i] = 2 * i;
        bytes[i] = displs[i] * (MPI_Aint)sizeof(int);
        types[i] = MPI_INT;
    }
    OK(MPI_Neighbor_allgather(a, 2, MPI_INT, b[0], 2, MPI_INT, comm));
    OK(MPI_Neighbor_allgatherv(a, 2, MPI_INT, b[1], in_counts, displs, MPI_INT, comm));
    OK(MPI_Neighbor_alltoall(a, 2, MPI_INT, b[2], 2, MPI_INT, comm));
    OK(MPI_Neighbor_alltoallv(a, out_counts, displs, MPI_INT, b[3], in_counts, displs, MPI_INT,
                              comm));
    OK(MPI_Neighbor_alltoallw(a, out_counts, bytes, types, b[4], in_counts, bytes, types, comm));
    OK(MPI_Ineighbor_allgather(a, 2, MPI_INT, b[5], 2, MPI_INT, comm, &r[n++]));
    OK(MPI_Ineighbor_allgatherv(a, 2, MPI_INT, b[6], in_counts, displs, MPI_INT, comm, &r[n++]));
    OK(MPI_Ineighbor_alltoall(a, 2, MPI_INT, b[7], 2, MPI_INT, comm, &r[n++]));
    OK(MPI_Ineighbor_alltoallv(a, out_counts, displs, MPI_INT, b[8], in_counts, displs, MPI_INT,
                               comm, &r[n++]));
    OK(MPI_Ineighbor_alltoallw(a, out_counts, bytes, types, b[9], in_counts, bytes, types, comm,
                               &r[n++]));
    OK(MPI_Waitall(n, r, MPI_STATUSES_IGNORE));
    for (int i = 0; i < 5; i++)
        CHECK(memcmp(b[i], b[i + 5], sizeof b[i]) == 0);
    for (int i = 0; i < 10; i++)
        sum = mix(sum, b[i], 2 * n_in);
    return sum + n_out;
}

int main(int argc, char **argv) {
    start_program(&argc, &argv);
    MPI_Comm comm;
    int dims[2] = {0, 1}, periods[2] = {1, 0};
    OK(MPI_Dims_create(size, 2, dims));
    OK(MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0,
                       &comm)); /* second dimension: MPI_PROC_NULL neighbours */
    say("cart %ld", exchange(comm, 4, 4));
    OK(MPI_Comm_free(&comm));

    int index[MAX], edges[2 * MAX];
    for (int i = 0; i < size; i++) {
        index[i] = 2 * (i + 1);
        edges[2 * i] = (i + 1) % size;
        edges[2 * i + 1] = (i + size - 1) % size;
    }
    OK(MPI_Graph_create(MPI_COMM_WORLD, size, index, edges, 0, &comm));
    say("graph %ld", exchange(comm, 2, 2));
    OK(MPI_Comm_free(&comm));

    int in[1] = {(rank + size - 1) % size}, out[1] = {(rank + 1) % size}, weight[1] = {rank}, n_in,
        n_out, weighted;
    OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, in, MPI_UNWEIGHTED, 1, out, MPI_UNWEIGHTED,
                                      MPI_INFO_NULL, 0, &comm));
    OK(MPI_Dist_graph_neighbors_count(comm, &n_in, &n_out, &weighted));
    CHECK(n_in == 1 && n_out == 1 && !weighted);
    say("ring %ld", exchange(comm, 1, 1));
    OK(MPI_Comm_free(&comm));

    /* A graph in which rank 0 has no edges going in and the last none going out. */
    int source[1] = {rank}, degree[1] = {rank + 1 < size}, target[1] = {rank + 1};
    OK(MPI_Dist_graph_create(MPI_COMM_WORLD, 1, source, degree, target, weight, MPI_INFO_NULL, 0,
                             &comm));
    OK(MPI_Dist_graph_neighbors_count(comm, &n_in, &n_out, &weighted));
    CHECK(n_in == (rank > 0) && n_out == (rank + 1 < size));
    int w_in[2], w_out[2];
    OK(MPI_Dist_graph_neighbors(comm, n_in, in, w_in, n_out, out, w_out));
    say("line %ld %d", exchange(comm, n_in, n_out), n_in ? in[0] : -1);
    OK(MPI_Comm_free(&comm));
    OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, NULL, MPI_WEIGHTS_EMPTY, 0, NULL,
                                      MPI_WEIGHTS_EMPTY, MPI_INFO_NULL, 0, &comm));
    say("no edges %ld", exchange(comm, 0, 0));
    OK(MPI_Comm_free(&comm));
    return end_program();
}
