/* Lines of block-tridiagonal equations, as BT of the NAS parallel benchmarks solves in each
 * direction: SIZE x SIZE cells with two unknowns each on a grid of ranks. Along a line the rows are
 * eliminated forwards from rank to rank and solved backwards, some lines at a time: a pipeline that
 * fills and empties four times a step. The right-hand side belongs to a solution of which each
 * component is 1. */
#include <math.h>

#include "kernel.h"

enum { CHUNKS = 4 };

struct pair {
    double v[2];
};

struct block {
    double m[2][2];
};

/* Each row: below * x[i-1] + middle * x[i] + above * x[i+1] */
static const struct block below = {{{-1.0, 0.2}, {0.1, -1.0}}},
                          middle = {{{4.0, 0.5}, {-0.3, 4.0}}},
                          above = {{{-1.0, -0.1}, {0.2, -1.0}}};

struct mesh {
    int dims[2], at[2], n[2]; /* cells along each direction */
    MPI_Comm grid;
    struct block *above; /* of the eliminated rows, cell by cell */
    struct pair *rhs;
    double farthest;
};

static struct pair apply(struct block a, struct pair x) {
    return (struct pair){
        {a.m[0][0] * x.v[0] + a.m[0][1] * x.v[1], a.m[1][0] * x.v[0] + a.m[1][1] * x.v[1]}};
}

static struct block multiply(struct block a, struct block b) {
    struct block c;
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            c.m[i][j] = a.m[i][0] * b.m[0][j] + a.m[i][1] * b.m[1][j];
    return c;
}

static struct block inverse(struct block a) {
    double d = a.m[0][0] * a.m[1][1] - a.m[0][1] * a.m[1][0];
    return (struct block){{{a.m[1][1] / d, -a.m[0][1] / d}, {-a.m[1][0] / d, a.m[0][0] / d}}};
}

static void make(struct mesh *m, const struct kernel *k) {
    int periodic[2] = {0, 0};
    m->dims[0] = m->dims[1] = 0;
    MPI_Dims_create(k->ranks, 2, m->dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, m->dims, periodic, 0, &m->grid);
    MPI_Cart_coords(m->grid, k->rank, 2, m->at);
    for (int d = 0; d < 2; d++)
        m->n[d] = k->size / m->dims[d];
    m->farthest = 0.0;
    m->above = kernel_memory((size_t)m->n[0] * m->n[1], sizeof m->above[0]);
    m->rhs = kernel_memory((size_t)m->n[0] * m->n[1], sizeof m->rhs[0]);
}

/* A row after elimination: x[i] + above * x[i+1] = rhs; what the next rank has to know. */
struct row {
    struct block above;
    struct pair rhs;
};

static struct row eliminate(const struct row *last, bool first, bool end) {
    const struct pair ones = {{1.0, 1.0}};
    struct block diagonal = middle;
    struct pair rhs = apply(middle, ones);
    for (int i = 0; i < 2; i++) {
        rhs.v[i] += first ? 0.0 : apply(below, ones).v[i];
        rhs.v[i] += end ? 0.0 : apply(above, ones).v[i];
    }
    if (!first) {
        struct block taken = multiply(below, last->above);
        struct pair moved = apply(below, last->rhs);
        for (int i = 0; i < 2; i++) {
            rhs.v[i] -= moved.v[i];
            for (int j = 0; j < 2; j++)
                diagonal.m[i][j] -= taken.m[i][j];
        }
    }
    struct block by = inverse(diagonal);
    return (struct row){multiply(by, above), apply(by, rhs)};
}

static void forwards(struct kernel *k, struct mesh *m, int d, int chunk, int lines,
                     struct row *edge) {
    int n = m->n[d];
    latecomer_begin("eliminate");
    for (int line = chunk * lines; line < (chunk + 1) * lines; line++) {
        struct row *last = &edge[line - chunk * lines];
        for (int i = 0; i < n; i++) {
            *last =
                eliminate(last, m->at[d] == 0 && i == 0, m->at[d] == m->dims[d] - 1 && i == n - 1);
            m->above[line * n + i] = last->above;
            m->rhs[line * n + i] = last->rhs;
        }
    }
    kernel_worked(k, 2L * n * lines);
    latecomer_end("eliminate");
}

static void backwards(struct kernel *k, struct mesh *m, int d, int chunk, int lines,
                      struct pair *edge) {
    int n = m->n[d];
    latecomer_begin("substitute");
    for (int line = chunk * lines; line < (chunk + 1) * lines; line++) {
        struct pair *next = &edge[line - chunk * lines];
        for (int i = n - 1; i >= 0; i--) {
            struct pair moved = apply(m->above[line * n + i], *next);
            bool end = m->at[d] == m->dims[d] - 1 && i == n - 1;
            for (int c = 0; c < 2; c++) {
                next->v[c] = m->rhs[line * n + i].v[c] - (end ? 0.0 : moved.v[c]);
                m->farthest = fmax(m->farthest, fabs(next->v[c] - 1.0));
            }
        }
    }
    kernel_worked(k, (long)n * lines);
    latecomer_end("substitute");
}

/* All lines along direction d. */
static void solve(struct kernel *k, struct mesh *m, int d) {
    int lines = m->n[1 - d] / CHUNKS, before, behind;
    int rows = lines * (int)(sizeof(struct row) / sizeof(double)),
        pairs = lines * (int)(sizeof(struct pair) / sizeof(double));
    struct row *row = kernel_memory((size_t)lines, sizeof *row);
    struct pair *pair = kernel_memory((size_t)lines, sizeof *pair);
    latecomer_begin(d == 0 ? "x_solve" : "y_solve");
    MPI_Cart_shift(m->grid, d, 1, &before, &behind);
    for (int chunk = 0; chunk < CHUNKS; chunk++) {
        MPI_Recv(row, rows, MPI_DOUBLE, before, 0, m->grid, MPI_STATUS_IGNORE);
        forwards(k, m, d, chunk, lines, row);
        MPI_Send(row, rows, MPI_DOUBLE, behind, 0, m->grid);
    }
    for (int chunk = 0; chunk < CHUNKS; chunk++) {
        MPI_Recv(pair, pairs, MPI_DOUBLE, behind, 1, m->grid, MPI_STATUS_IGNORE);
        backwards(k, m, d, chunk, lines, pair);
        MPI_Send(pair, pairs, MPI_DOUBLE, before, 1, m->grid);
    }
    latecomer_end(d == 0 ? "x_solve" : "y_solve");
    free(row);
    free(pair);
}

int main(int argc, char **argv) {
    struct kernel k = kernel_begin(&argc, &argv, 20, 256);
    struct mesh m;
    make(&m, &k);
    for (int step = 0; step < k.steps; step++)
        for (int d = 0; d < 2; d++)
            solve(&k, &m, d);
    return kernel_end(&k, m.farthest < 1e-10);
}
