/* Cartesian grids, graphs, and neighbours on them. */
#include "sim_mpi.h"

#include <stdlib.h>
#include <string.h>

static int *ints_copy(const int *from, int n) {
    int *copy = sim_new((size_t)(n > 0 ? n : 1) * sizeof *copy);
    if (n > 0 && from != NULL)
        memcpy(copy, from, (size_t)n * sizeof *copy);
    return copy;
}

void sim_topology_free(struct sim_topology *t) {
    if (t == NULL)
        return;
    int *all[] = {t->dims, t->periods, t->coords,     t->index,      t->edges,
                  t->in,   t->out,     t->in_weights, t->out_weights};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
    free(t);
}

struct sim_topology *sim_topology_copy(const struct sim_topology *t) {
    if (t == NULL)
        return NULL;
    struct sim_topology *copy = sim_new(sizeof *copy);
    *copy = *t;
    copy->dims = ints_copy(t->dims, t->n_dims);
    copy->periods = ints_copy(t->periods, t->n_dims);
    copy->coords = ints_copy(t->coords, t->n_dims);
    copy->index = ints_copy(t->index, t->n_nodes);
    copy->edges = ints_copy(t->edges, t->n_nodes > 0 ? t->index[t->n_nodes - 1] : 0);
    copy->in = ints_copy(t->in, t->n_in);
    copy->out = ints_copy(t->out, t->n_out);
    copy->in_weights = ints_copy(t->in_weights, t->n_in);
    copy->out_weights = ints_copy(t->out_weights, t->n_out);
    return copy;
}

static struct sim_topology *cartesian(int n, const int *dims, const int *periods, int rank) {
    struct sim_topology *t = sim_new(sizeof *t);
    t->kind = MPI_CART;
    t->n_dims = n;
    t->dims = ints_copy(dims, n);
    t->periods = ints_copy(periods, n);
    t->coords = ints_copy(NULL, n);
    for (int d = n - 1; d >= 0; rank /= dims[d], d--)
        t->coords[d] = rank % dims[d];
    return t;
}

/* The first n members in a communicator of their own; NULL handle for the others. */
static int first_members(const char *what, struct sim_comm *c, int n, struct sim_comm **made) {
    struct sim_meeting *m = sim_all_meet(c, what, NULL, 0, NULL);
    *made = NULL;
    if (c->group->rank < n) {
        struct sim_group *g = sim_group_new(n);
        memcpy(g->world, c->group->world, (size_t)n * sizeof *g->world);
        *made = sim_comm_new(m->fresh, g, NULL);
    }
    sim_comm_leave(c, m);
    return MPI_SUCCESS;
}

BOTH(MPI_Cart_create)
(MPI_Comm comm, int n, const int *dims, const int *periods, int reorder, MPI_Comm *new) {
    struct sim_comm *c, *made;
    int total = 1;
    (void)reorder;
    ENTER("MPI_Cart_create");
    TRY(sim_check_comm(comm, &c));
    for (int d = 0; d < n; d++) {
        if (dims[d] <= 0)
            return sim_error(c, MPI_ERR_DIMS);
        total *= dims[d];
    }
    if (total > c->group->size)
        return sim_error(c, MPI_ERR_TOPOLOGY);
    TRY(first_members("MPI_Cart_create", c, total, &made));
    *new = MPI_COMM_NULL;
    if (made != NULL) {
        made->topology = cartesian(n, dims, periods, made->group->rank);
        *new = sim_comm_handle(made, c);
    }
    return MPI_SUCCESS;
}

BOTH(MPI_Graph_create)
(MPI_Comm comm, int n, const int *index, const int *edges, int reorder, MPI_Comm *new) {
    struct sim_comm *c, *made;
    (void)reorder;
    ENTER("MPI_Graph_create");
    TRY(sim_check_comm(comm, &c));
    if (n < 0 || n > c->group->size)
        return sim_error(c, MPI_ERR_ARG);
    TRY(first_members("MPI_Graph_create", c, n, &made));
    *new = MPI_COMM_NULL;
    if (made != NULL) {
        struct sim_topology *t = made->topology = sim_new(sizeof *t);
        t->kind = MPI_GRAPH;
        t->n_nodes = n;
        t->index = ints_copy(index, n);
        t->edges = ints_copy(edges, index[n - 1]);
        *new = sim_comm_handle(made, c);
    }
    return MPI_SUCCESS;
}

/* One edge of a distributed graph. */
struct edge {
    int from, to, weight;
};

static int graph_from_edges(const char *what, struct sim_comm *c, const struct edge *mine, int n,
                            bool weighted, MPI_Comm *new) {
    struct sim_meeting *m = sim_all_meet(c, what, mine, (size_t)n * sizeof *mine, NULL);
    struct sim_comm *made = sim_comm_twin(c, m->fresh);
    struct sim_topology *t = made->topology = sim_new(sizeof *t);
    int total = 0;
    for (int i = 0; i < m->n; i++)
        total += (int)(m->parts[i].bytes / sizeof *mine);
    t->kind = MPI_DIST_GRAPH;
    t->weighted = weighted;
    t->in = ints_copy(NULL, total);
    t->out = ints_copy(NULL, total);
    t->in_weights = ints_copy(NULL, total);
    t->out_weights = ints_copy(NULL, total);
    for (int i = 0; i < m->n; i++) {
        const struct edge *e = (const struct edge *)(const void *)m->parts[i].data;
        for (size_t j = 0; j < m->parts[i].bytes / sizeof *e; j++) {
            if (e[j].to == c->group->rank) {
                t->in[t->n_in] = e[j].from;
                t->in_weights[t->n_in++] = e[j].weight;
            }
            if (e[j].from == c->group->rank) {
                t->out[t->n_out] = e[j].to;
                t->out_weights[t->n_out++] = e[j].weight;
            }
        }
    }
    sim_comm_leave(c, m);
    *new = sim_comm_handle(made, c);
    return MPI_SUCCESS;
}

static bool has_weights(const int *weights) {
    return weights != MPI_UNWEIGHTED;
}

BOTH(MPI_Dist_graph_create)
(MPI_Comm comm, int n, const int *sources, const int *degrees, const int *to, const int *weights,
 MPI_Info info, int reorder, MPI_Comm *new) {
    struct sim_comm *c;
    int total = 0, k = 0;
    (void)info;
    (void)reorder;
    ENTER("MPI_Dist_graph_create");
    TRY(sim_check_comm(comm, &c));
    for (int i = 0; i < n; i++)
        total += degrees[i];
    struct edge *edges = sim_new((size_t)total * sizeof *edges + 1);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < degrees[i]; j++, k++)
            edges[k] = (struct edge){sources[i], to[k], has_weights(weights) ? weights[k] : 1};
    int result =
        graph_from_edges("MPI_Dist_graph_create", c, edges, total, has_weights(weights), new);
    free(edges);
    return result;
}

BOTH(MPI_Dist_graph_create_adjacent)
(MPI_Comm comm, int n_in, const int *in, const int *in_weights, int n_out, const int *out,
 const int *out_weights, MPI_Info info, int reorder, MPI_Comm *new) {
    struct sim_comm *c;
    (void)info;
    (void)reorder;
    ENTER("MPI_Dist_graph_create_adjacent");
    TRY(sim_check_comm(comm, &c));
    struct sim_meeting *m = sim_all_meet(c, "MPI_Dist_graph_create_adjacent", NULL, 0, NULL);
    struct sim_comm *made = sim_comm_twin(c, m->fresh);
    struct sim_topology *t = made->topology = sim_new(sizeof *t);
    sim_comm_leave(c, m);
    t->kind = MPI_DIST_GRAPH;
    t->weighted = has_weights(in_weights);
    t->n_in = n_in;
    t->n_out = n_out;
    t->in = ints_copy(in, n_in);
    t->out = ints_copy(out, n_out);
    bool weights = t->weighted && in_weights != MPI_WEIGHTS_EMPTY;
    t->in_weights = ints_copy(weights ? in_weights : NULL, n_in);
    weights = has_weights(out_weights) && out_weights != MPI_WEIGHTS_EMPTY;
    t->out_weights = ints_copy(weights ? out_weights : NULL, n_out);
    *new = sim_comm_handle(made, c);
    return MPI_SUCCESS;
}

static int cart_rank(const struct sim_topology *t, const int *coords) {
    int rank = 0;
    for (int d = 0; d < t->n_dims; d++) {
        int at = coords[d];
        if (t->periods[d])
            at = (at % t->dims[d] + t->dims[d]) % t->dims[d];
        else if (at < 0 || at >= t->dims[d])
            return MPI_PROC_NULL;
        rank = rank * t->dims[d] + at;
    }
    return rank;
}

static int shifted(const struct sim_topology *t, int dim, int by) {
    int *coords = ints_copy(t->coords, t->n_dims);
    coords[dim] += by;
    int rank = cart_rank(t, coords);
    free(coords);
    return rank;
}

int sim_neighbours(const struct sim_comm *c, bool out, int **ranks) {
    const struct sim_topology *t = c->topology;
    int n = 0, first = 0, me = c->group->rank;
    *ranks = NULL;
    if (t == NULL)
        return -1;
    if (t->kind == MPI_DIST_GRAPH) {
        n = out ? t->n_out : t->n_in;
        *ranks = ints_copy(out ? t->out : t->in, n);
        return n;
    }
    if (t->kind == MPI_GRAPH) {
        first = me > 0 ? t->index[me - 1] : 0;
        n = t->index[me] - first;
        *ranks = ints_copy(t->edges + first, n);
        return n;
    }
    *ranks = ints_copy(NULL, 2 * t->n_dims);
    for (int d = 0; d < t->n_dims; d++) {
        (*ranks)[n++] = shifted(t, d, -1);
        (*ranks)[n++] = shifted(t, d, 1);
    }
    return n;
}

/* Of a kind, or the class of the error. */
static int topology_of(MPI_Comm comm, int kind, struct sim_comm **c) {
    TRY(sim_check_comm(comm, c));
    return (*c)->topology != NULL && (*c)->topology->kind == kind ? MPI_SUCCESS
                                                                  : sim_error(*c, MPI_ERR_TOPOLOGY);
}

BOTH(MPI_Topo_test)(MPI_Comm comm, int *kind) {
    struct sim_comm *c;
    TRY(sim_check_comm(comm, &c));
    *kind = c->topology != NULL ? c->topology->kind : MPI_UNDEFINED;
    return MPI_SUCCESS;
}

BOTH(MPI_Cartdim_get)(MPI_Comm comm, int *n) {
    struct sim_comm *c;
    TRY(topology_of(comm, MPI_CART, &c));
    *n = c->topology->n_dims;
    return MPI_SUCCESS;
}

BOTH(MPI_Cart_get)(MPI_Comm comm, int most, int *dims, int *periods, int *coords) {
    struct sim_comm *c;
    TRY(topology_of(comm, MPI_CART, &c));
    for (int d = 0; d < c->topology->n_dims && d < most; d++) {
        dims[d] = c->topology->dims[d];
        periods[d] = c->topology->periods[d];
        coords[d] = c->topology->coords[d];
    }
    return MPI_SUCCESS;
}

BOTH(MPI_Cart_rank)(MPI_Comm comm, const int *coords, int *rank) {
    struct sim_comm *c;
    TRY(topology_of(comm, MPI_CART, &c));
    *rank = cart_rank(c->topology, coords);
    return *rank == MPI_PROC_NULL ? sim_error(c, MPI_ERR_ARG) : MPI_SUCCESS;
}

BOTH(MPI_Cart_coords)(MPI_Comm comm, int rank, int most, int *coords) {
    struct sim_comm *c;
    TRY(topology_of(comm, MPI_CART, &c));
    if (rank < 0 || rank >= c->group->size)
        return sim_error(c, MPI_ERR_RANK);
    for (int d = c->topology->n_dims - 1; d >= 0; rank /= c->topology->dims[d], d--)
        if (d < most)
            coords[d] = rank % c->topology->dims[d];
    return MPI_SUCCESS;
}

BOTH(MPI_Cart_shift)(MPI_Comm comm, int dim, int by, int *from, int *to) {
    struct sim_comm *c;
    TRY(topology_of(comm, MPI_CART, &c));
    if (dim < 0 || dim >= c->topology->n_dims)
        return sim_error(c, MPI_ERR_ARG);
    *from = shifted(c->topology, dim, -by);
    *to = shifted(c->topology, dim, by);
    return MPI_SUCCESS;
}

BOTH(MPI_Cart_map)
(MPI_Comm comm, int n, const int *dims, const int *periods, int *rank) {
    struct sim_comm *c;
    int total = 1;
    (void)periods;
    TRY(sim_check_comm(comm, &c));
    for (int d = 0; d < n; d++)
        total *= dims[d];
    *rank = c->group->rank < total ? c->group->rank : MPI_UNDEFINED;
    return MPI_SUCCESS;
}

BOTH(MPI_Graph_map)(MPI_Comm comm, int n, const int *index, const int *edges, int *rank) {
    struct sim_comm *c;
    (void)index;
    (void)edges;
    TRY(sim_check_comm(comm, &c));
    *rank = c->group->rank < n ? c->group->rank : MPI_UNDEFINED;
    return MPI_SUCCESS;
}

BOTH(MPI_Cart_sub)(MPI_Comm comm, const int *remain, MPI_Comm *new) {
    struct sim_comm *c;
    int colour = 0, key = 0, n = 0, dims[32], periods[32];
    TRY(topology_of(comm, MPI_CART, &c));
    const struct sim_topology *t = c->topology;
    for (int d = 0; d < t->n_dims; d++)
        if (remain[d]) {
            dims[n] = t->dims[d];
            periods[n++] = t->periods[d];
            key = key * t->dims[d] + t->coords[d];
        } else {
            colour = colour * t->dims[d] + t->coords[d];
        }
    TRY(sim_comm_split("MPI_Cart_sub", comm, colour, key, new));
    struct sim_comm *made = sim_comm(*new);
    made->topology = cartesian(n, dims, periods, made->group->rank);
    return MPI_SUCCESS;
}

BOTH(MPI_Graphdims_get)(MPI_Comm comm, int *n_nodes, int *n_edges) {
    struct sim_comm *c;
    TRY(topology_of(comm, MPI_GRAPH, &c));
    *n_nodes = c->topology->n_nodes;
    *n_edges = c->topology->index[*n_nodes - 1];
    return MPI_SUCCESS;
}

BOTH(MPI_Graph_get)(MPI_Comm comm, int most_nodes, int most_edges, int *index, int *edges) {
    struct sim_comm *c;
    TRY(topology_of(comm, MPI_GRAPH, &c));
    const struct sim_topology *t = c->topology;
    for (int i = 0; i < t->n_nodes && i < most_nodes; i++)
        index[i] = t->index[i];
    for (int i = 0; i < t->index[t->n_nodes - 1] && i < most_edges; i++)
        edges[i] = t->edges[i];
    return MPI_SUCCESS;
}

BOTH(MPI_Graph_neighbors_count)(MPI_Comm comm, int rank, int *n) {
    struct sim_comm *c;
    TRY(topology_of(comm, MPI_GRAPH, &c));
    if (rank < 0 || rank >= c->group->size)
        return sim_error(c, MPI_ERR_RANK);
    *n = c->topology->index[rank] - (rank > 0 ? c->topology->index[rank - 1] : 0);
    return MPI_SUCCESS;
}

BOTH(MPI_Graph_neighbors)(MPI_Comm comm, int rank, int most, int *neighbours) {
    struct sim_comm *c;
    TRY(topology_of(comm, MPI_GRAPH, &c));
    if (rank < 0 || rank >= c->group->size)
        return sim_error(c, MPI_ERR_RANK);
    int first = rank > 0 ? c->topology->index[rank - 1] : 0;
    for (int i = first; i < c->topology->index[rank] && i - first < most; i++)
        neighbours[i - first] = c->topology->edges[i];
    return MPI_SUCCESS;
}

BOTH(MPI_Dist_graph_neighbors_count)(MPI_Comm comm, int *n_in, int *n_out, int *weighted) {
    struct sim_comm *c;
    TRY(topology_of(comm, MPI_DIST_GRAPH, &c));
    *n_in = c->topology->n_in;
    *n_out = c->topology->n_out;
    *weighted = c->topology->weighted;
    return MPI_SUCCESS;
}

BOTH(MPI_Dist_graph_neighbors)
(MPI_Comm comm, int most_in, int *in, int *in_weights, int most_out, int *out, int *out_weights) {
    struct sim_comm *c;
    TRY(topology_of(comm, MPI_DIST_GRAPH, &c));
    const struct sim_topology *t = c->topology;
    for (int i = 0; i < t->n_in && i < most_in; i++) {
        in[i] = t->in[i];
        if (t->weighted && has_weights(in_weights))
            in_weights[i] = t->in_weights[i];
    }
    for (int i = 0; i < t->n_out && i < most_out; i++) {
        out[i] = t->out[i];
        if (t->weighted && has_weights(out_weights))
            out_weights[i] = t->out_weights[i];
    }
    return MPI_SUCCESS;
}

/* As even as may be: the largest prime factor goes to the smallest dimension. */
BOTH(MPI_Dims_create)(int n_nodes, int n, int *dims) {
    int rest = n_nodes;
    for (int d = 0; d < n; d++) {
        if (dims[d] < 0 || (dims[d] > 0 && rest % dims[d] != 0))
            return sim_error(NULL, MPI_ERR_DIMS);
        rest /= dims[d] > 0 ? dims[d] : 1;
    }
    int *sizes = ints_copy(NULL, n), free_dims = 0;
    for (int d = 0; d < n; d++)
        if (dims[d] == 0)
            sizes[free_dims++] = 1;
    while (rest > 1 && free_dims > 0) {
        int largest = 1, left = rest;
        for (int p = 2; left > 1; p++)
            for (; left % p == 0; left /= p)
                largest = p;
        int smallest = 0;
        for (int i = 1; i < free_dims; i++)
            smallest = sizes[i] < sizes[smallest] ? i : smallest;
        sizes[smallest] *= largest;
        rest /= largest;
    }
    for (int i = 1; i < free_dims; i++) /* not increasing */
        for (int j = i; j > 0 && sizes[j] > sizes[j - 1]; j--) {
            int swap = sizes[j];
            sizes[j] = sizes[j - 1];
            sizes[j - 1] = swap;
        }
    for (int d = 0, i = 0; d < n; d++)
        if (dims[d] == 0)
            dims[d] = sizes[i++];
    free(sizes);
    return MPI_SUCCESS;
}
