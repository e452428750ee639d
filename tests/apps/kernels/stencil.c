/* A stencil with imbalance: two substances diffuse on a torus of SIZE x SIZE cells (Jacobi, five
 * points), and in one sixteenth of it, the corner of rank 0, they react, which takes much longer.
 * Halos by MPI_Isend and MPI_Irecv, MPI_Waitall; a sum over all every fifth step, which must not
 * change. */
#include <math.h>

#include "kernel.h"

enum { SPECIES = 2, REACTION = 10, EVERY = 5 };

struct field {
    int nx, ny, dims[2], at[2]; /* cells without the halo */
    MPI_Comm grid;
    MPI_Datatype column;
    double *now[SPECIES], *next[SPECIES];
};

#define CELL(f, values, x, y) ((values)[((y) + 1) * ((f)->nx + 2) + (x) + 1])

static void make(struct field *f, const struct kernel *k) {
    int periodic[2] = {1, 1};
    f->dims[0] = f->dims[1] = 0;
    MPI_Dims_create(k->ranks, 2, f->dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, f->dims, periodic, 0, &f->grid);
    MPI_Cart_coords(f->grid, k->rank, 2, f->at);
    f->ny = k->size / f->dims[0];
    f->nx = k->size / f->dims[1];
    MPI_Type_vector(f->ny, 1, f->nx + 2, MPI_DOUBLE, &f->column);
    MPI_Type_commit(&f->column);
    for (int s = 0; s < SPECIES; s++) {
        f->now[s] = kernel_memory((size_t)(f->nx + 2) * (f->ny + 2), sizeof(double));
        f->next[s] = kernel_memory((size_t)(f->nx + 2) * (f->ny + 2), sizeof(double));
        for (int y = 0; y < f->ny; y++)
            for (int x = 0; x < f->nx; x++)
                CELL(f, f->now[s], x, y) = s == 0 ? 1.0 + 0.5 * ((x + y) % 2) : 0.1;
    }
}

static void exchange(const struct field *f) {
    MPI_Request requests[8 * SPECIES];
    MPI_Status statuses[8 * SPECIES];
    int n = 0;
    latecomer_begin("exchange");
    for (int s = 0; s < SPECIES; s++)
        for (int direction = 0; direction < 2; direction++) {
            MPI_Datatype type = direction == 0 ? MPI_DOUBLE : f->column;
            int many = direction == 0 ? f->nx : 1, back, on;
            double *v = f->now[s];
            double *first = &CELL(f, v, 0, 0),
                   *before = direction == 0 ? &CELL(f, v, 0, -1) : &CELL(f, v, -1, 0);
            double *last = direction == 0 ? &CELL(f, v, 0, f->ny - 1) : &CELL(f, v, f->nx - 1, 0);
            double *behind = direction == 0 ? &CELL(f, v, 0, f->ny) : &CELL(f, v, f->nx, 0);
            MPI_Cart_shift(f->grid, direction, 1, &back, &on);
            MPI_Irecv(before, many, type, back, 2 * s, f->grid, &requests[n++]);
            MPI_Irecv(behind, many, type, on, 2 * s + 1, f->grid, &requests[n++]);
            MPI_Isend(last, many, type, on, 2 * s, f->grid, &requests[n++]);
            MPI_Isend(first, many, type, back, 2 * s + 1, f->grid, &requests[n++]);
        }
    MPI_Waitall(n, requests, statuses);
    latecomer_end("exchange");
}

static void diffuse(struct kernel *k, struct field *f) {
    latecomer_begin("diffuse");
    for (int s = 0; s < SPECIES; s++) {
        double *a = f->now[s], *b = f->next[s];
        for (int y = 0; y < f->ny; y++)
            for (int x = 0; x < f->nx; x++)
                CELL(f, b, x, y) =
                    0.6 * CELL(f, a, x, y) + 0.1 * (CELL(f, a, x - 1, y) + CELL(f, a, x + 1, y) +
                                                    CELL(f, a, x, y - 1) + CELL(f, a, x, y + 1));
        f->now[s] = b;
        f->next[s] = a;
    }
    kernel_worked(k, (long)f->nx * f->ny);
    latecomer_end("diffuse");
}

/* Where the first quarter of both axes is. */
static void react(struct kernel *k, struct field *f) {
    long cells = 0;
    latecomer_begin("react");
    for (int y = 0; y < f->ny; y++)
        for (int x = 0; x < f->nx; x++) {
            if (4 * (f->at[0] * f->ny + y) >= k->size || 4 * (f->at[1] * f->nx + x) >= k->size)
                continue;
            double *a = &CELL(f, f->now[0], x, y), *b = &CELL(f, f->now[1], x, y);
            for (int i = 0; i < REACTION; i++) {
                double moved = 0.001 * *a * exp(-*b);
                *a -= moved;
                *b += moved;
            }
            cells++;
        }
    kernel_worked(k, 2 * cells);
    latecomer_end("react");
}

static double total(const struct field *f) {
    double own = 0.0, all;
    for (int s = 0; s < SPECIES; s++)
        for (int y = 0; y < f->ny; y++)
            for (int x = 0; x < f->nx; x++)
                own += CELL(f, f->now[s], x, y);
    MPI_Allreduce(&own, &all, 1, MPI_DOUBLE, MPI_SUM, f->grid);
    return all;
}

int main(int argc, char **argv) {
    struct kernel k = kernel_begin(&argc, &argv, 100, 256);
    struct field f;
    make(&f, &k);
    double before = total(&f);
    bool right = true;
    for (int step = 1; step <= k.steps; step++) {
        exchange(&f);
        diffuse(&k, &f);
        react(&k, &f);
        if (step % EVERY == 0)
            right = right && fabs(total(&f) / before - 1.0) < 1e-9;
    }
    return kernel_end(&k, right);
}
