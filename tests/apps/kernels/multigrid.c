/* Multigrid: V-cycles for Poisson's equation on SIZE x SIZE cells, whose rows are shared by the
 * ranks. Each level has a quarter of the cells of the one above; what is left when a rank has two
 * rows goes to rank 0, which solves it alone while all others wait for MPI_Scatter. Halos by
 * MPI_Sendrecv. Each cycle makes the residual smaller. */
#include <math.h>

#include "kernel.h"

enum { MOST_LEVELS = 12, SMOOTH = 2, ALONE = 60 };

struct level {
    int n, rows; /* rows: of this rank */
    double *u, *f, *r;
};

static const double correction =
    0.6; /* corrections that are constant in four cells are too large */

#define AT(l, values, x, y) ((values)[((y) + 1) * ((l)->n + 2) + (x) + 1])

static int make(struct level *levels, const struct kernel *k) {
    int depth = 0;
    for (int n = k->size; depth < MOST_LEVELS; n /= 2, depth++) {
        struct level *l = &levels[depth];
        *l = (struct level){.n = n, .rows = n / k->ranks};
        size_t cells = (size_t)(n + 2) * (size_t)(l->rows + 2);
        l->u = kernel_memory(cells, sizeof(double));
        l->f = kernel_memory(cells, sizeof(double));
        l->r = kernel_memory(cells, sizeof(double));
        if (l->rows <= 2 || l->rows % 2 != 0)
            break;
    }
    return depth;
}

static void halo(const struct kernel *k, const struct level *l, double *values) {
    int above = k->rank > 0 ? k->rank - 1 : MPI_PROC_NULL,
        under = k->rank + 1 < k->ranks ? k->rank + 1 : MPI_PROC_NULL;
    MPI_Sendrecv(&AT(l, values, 0, 0), l->n, MPI_DOUBLE, above, 0, &AT(l, values, 0, l->rows), l->n,
                 MPI_DOUBLE, under, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(&AT(l, values, 0, l->rows - 1), l->n, MPI_DOUBLE, under, 1, &AT(l, values, 0, -1),
                 l->n, MPI_DOUBLE, above, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* r = f - A u, with A u = 4 u - its four neighbours. */
static void residual(struct kernel *k, struct level *l) {
    halo(k, l, l->u);
    latecomer_begin("residual");
    for (int y = 0; y < l->rows; y++)
        for (int x = 0; x < l->n; x++)
            AT(l, l->r, x, y) = AT(l, l->f, x, y) - 4.0 * AT(l, l->u, x, y) +
                                AT(l, l->u, x - 1, y) + AT(l, l->u, x + 1, y) +
                                AT(l, l->u, x, y - 1) + AT(l, l->u, x, y + 1);
    kernel_worked(k, (long)l->rows * l->n);
    latecomer_end("residual");
}

static void smooth(struct kernel *k, struct level *l) {
    for (int i = 0; i < SMOOTH; i++) {
        residual(k, l);
        for (int y = 0; y < l->rows; y++)
            for (int x = 0; x < l->n; x++)
                AT(l, l->u, x, y) += 0.2 * AT(l, l->r, x, y);
    }
}

/* The coarsest level, by successive overrelaxation on rank 0. */
static void solve_alone(struct kernel *k, const struct level *l) {
    int n = l->n, width = n + 2, all = k->ranks * l->rows;
    double *f = NULL, *u = NULL;
    double *own = kernel_memory((size_t)l->rows * (size_t)n, sizeof(double));
    if (k->rank == 0) {
        f = kernel_memory((size_t)n * (size_t)all, sizeof(double));
        u = kernel_memory((size_t)width * (size_t)(all + 2), sizeof(double));
    }
    for (int y = 0; y < l->rows; y++)
        for (int x = 0; x < n; x++)
            own[y * n + x] = AT(l, l->f, x, y);
    MPI_Gather(own, l->rows * n, MPI_DOUBLE, f, l->rows * n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    if (k->rank == 0) {
        latecomer_begin("solve_alone");
        for (int i = 0; i < ALONE; i++)
            for (int y = 1; y <= all; y++)
                for (int x = 1; x <= n; x++) {
                    double *c = &u[y * width + x];
                    *c += 1.5 *
                          (0.25 * (f[(y - 1) * n + x - 1] + c[-1] + c[1] + c[-width] + c[width]) -
                           *c);
                }
        for (int y = 0; y < all; y++)
            for (int x = 0; x < n; x++)
                f[y * n + x] = u[(y + 1) * width + x + 1];
        kernel_worked(k, (long)ALONE * n * all);
        latecomer_end("solve_alone");
    }
    MPI_Scatter(f, l->rows * n, MPI_DOUBLE, own, l->rows * n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (int y = 0; y < l->rows; y++)
        for (int x = 0; x < n; x++)
            AT(l, l->u, x, y) = own[y * n + x];
    free(own);
    free(f);
    free(u);
}

static void cycle(struct kernel *k, struct level *levels, int depth) {
    struct level *l = levels, *coarse = levels + 1;
    if (depth == 0) {
        solve_alone(k, l);
        return;
    }
    smooth(k, l);
    residual(k, l);
    for (int y = 0; y < coarse->rows; y++)
        for (int x = 0; x < coarse->n; x++) {
            AT(coarse, coarse->f, x, y) =
                AT(l, l->r, 2 * x, 2 * y) + AT(l, l->r, 2 * x + 1, 2 * y) +
                AT(l, l->r, 2 * x, 2 * y + 1) + AT(l, l->r, 2 * x + 1, 2 * y + 1);
            AT(coarse, coarse->u, x, y) = 0.0;
        }
    cycle(k, coarse, depth - 1);
    for (int y = 0; y < l->rows; y++)
        for (int x = 0; x < l->n; x++)
            AT(l, l->u, x, y) += correction * AT(coarse, coarse->u, x / 2, y / 2);
    smooth(k, l);
}

static double norm(struct kernel *k, struct level *l) {
    double own = 0.0, all;
    residual(k, l);
    for (int y = 0; y < l->rows; y++)
        for (int x = 0; x < l->n; x++)
            own += AT(l, l->r, x, y) * AT(l, l->r, x, y);
    MPI_Allreduce(&own, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return sqrt(all);
}

int main(int argc, char **argv) {
    struct kernel k = kernel_begin(&argc, &argv, 10, 512);
    struct level levels[MOST_LEVELS + 1];
    int depth = make(levels, &k);
    for (int y = 0; y < levels->rows; y++)
        for (int x = 0; x < levels->n; x++)
            AT(levels, levels->f, x, y) = (x + 3 * (k.rank * levels->rows + y)) % 17 - 8.0;
    double last = norm(&k, levels);
    bool right = true;
    for (int step = 0; step < k.steps; step++) {
        cycle(&k, levels, depth);
        double now = norm(&k, levels);
        right = right && now < 0.8 * last;
        last = now;
    }
    return kernel_end(&k, right);
}
