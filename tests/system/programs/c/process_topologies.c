/* Process topologies: Cartesian and graph queries, shifts to MPI_PROC_NULL, sub-grids. */
#include "program.h"

int main(int argc, char **argv) {
    start_program(&argc, &argv);
    MPI_Comm cart, sub, graph;
    int dims[2] = {0, 0}, periods[2] = {1, 0}, coords[2], source, target, n, value, got = -1,
        status, where;
    OK(MPI_Dims_create(size, 2, dims));
    OK(MPI_Cart_map(MPI_COMM_WORLD, 2, dims, periods, &where));
    OK(MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 1, &cart));
    OK(MPI_Topo_test(cart, &status));
    OK(MPI_Cartdim_get(cart, &n));
    CHECK(status == MPI_CART && n == 2);
    OK(MPI_Cart_get(cart, 2, dims, periods, coords));
    OK(MPI_Cart_coords(cart, rank, 2, coords));
    OK(MPI_Cart_rank(cart, coords, &n));
    CHECK(n == rank);
    for (int dim = 0; dim < 2; dim++) {
        OK(MPI_Cart_shift(cart, dim, 1, &source, &target));
        value = rank * 10 + dim;
        got = -1;
        OK(MPI_Sendrecv(&value, 1, MPI_INT, target, dim, &got, 1, MPI_INT, source, dim, cart,
                        MPI_STATUS_IGNORE));
        say("shift %d got %d", dim, got);
    }
    OK(MPI_Cart_sub(cart, (int[]){1, 0}, &sub));
    OK(MPI_Allreduce(&rank, &value, 1, MPI_INT, MPI_SUM, sub));
    say("sub %d", value);
    OK(MPI_Comm_free(&sub));
    OK(MPI_Comm_free(&cart));

    int index[16], edges[32], n_edges, neighbours[2], nodes;
    for (int i = 0; i < size; i++) {
        index[i] = 2 * (i + 1);
        edges[2 * i] = (i + 1) % size;
        edges[2 * i + 1] = (i + size - 1) % size;
    }
    OK(MPI_Graph_map(MPI_COMM_WORLD, size, index, edges, &where));
    OK(MPI_Graph_create(MPI_COMM_WORLD, size, index, edges, 0, &graph));
    OK(MPI_Graphdims_get(graph, &nodes, &n_edges));
    OK(MPI_Graph_get(graph, nodes, n_edges, index, edges));
    OK(MPI_Graph_neighbors_count(graph, rank, &n));
    OK(MPI_Graph_neighbors(graph, rank, n, neighbours));
    say("graph %d %d: %d %d", nodes, n_edges, neighbours[0], neighbours[1]);
    OK(MPI_Comm_free(&graph));
    return end_program();
}
