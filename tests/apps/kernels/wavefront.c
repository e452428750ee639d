/* A wavefront like Sweep3D: particles cross a box of SIZE x SIZE columns of SIZE cells from each of
 * its eight corners; a cell needs the flux of those before it in all three directions. Ranks are a
 * grid over the columns, which are passed in blocks of cells: MPI_Recv from behind in both
 * directions, work, MPI_Send onwards. All ranks have the same work; what enters from outside and
 * the source are such that the flux is 1 everywhere. */
#include <math.h>

#include "kernel.h"

enum { BLOCKS = 8 };

struct box {
    int dims[2], at[2], nx, ny, nz; /* nz: of a block */
    MPI_Comm grid;
    double *x_face, *y_face, *z_face; /* the flux that enters the block */
    double farthest;                  /* from 1 */
};

static void make(struct box *b, const struct kernel *k) {
    int periodic[2] = {0, 0};
    b->dims[0] = b->dims[1] = 0;
    MPI_Dims_create(k->ranks, 2, b->dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, b->dims, periodic, 0, &b->grid);
    MPI_Cart_coords(b->grid, k->rank, 2, b->at);
    b->nx = k->size / b->dims[0];
    b->ny = k->size / b->dims[1];
    b->nz = k->size / BLOCKS;
    b->farthest = 0.0;
    b->x_face = kernel_memory((size_t)b->ny * b->nz, sizeof(double));
    b->y_face = kernel_memory((size_t)b->nx * b->nz, sizeof(double));
    b->z_face = kernel_memory((size_t)b->nx * b->ny, sizeof(double));
}

static void fill(double *values, size_t n) {
    for (size_t i = 0; i < n; i++)
        values[i] = 1.0;
}

/* One block; the faces then hold what leaves it. */
static void sweep(struct kernel *k, struct box *b, const int up[3]) {
    static const double mu = 0.35, eta = 0.5, xi = 0.8, sigma = 1.2;
    latecomer_begin("sweep");
    for (int i = 0; i < b->nz; i++)
        for (int j = 0; j < b->ny; j++)
            for (int l = 0; l < b->nx; l++) {
                int z = up[2] ? i : b->nz - 1 - i, y = up[1] ? j : b->ny - 1 - j,
                    x = up[0] ? l : b->nx - 1 - l;
                double *from_x = &b->x_face[z * b->ny + y], *from_y = &b->y_face[z * b->nx + x],
                       *from_z = &b->z_face[y * b->nx + x];
                double flux =
                    (sigma + mu * *from_x + eta * *from_y + xi * *from_z) / (sigma + mu + eta + xi);
                *from_x = *from_y = *from_z = flux;
                b->farthest = fmax(b->farthest, fabs(flux - 1.0));
            }
    kernel_worked(k, (long)b->nx * b->ny * b->nz);
    latecomer_end("sweep");
}

static void pass(struct kernel *k, struct box *b, const int up[3]) {
    int before[2], behind[2];
    int n[2] = {b->ny * b->nz, b->nx * b->nz};
    double *faces[2] = {b->x_face, b->y_face};
    for (int d = 0; d < 2; d++)
        MPI_Cart_shift(b->grid, d, up[d] ? 1 : -1, &before[d], &behind[d]);
    fill(b->z_face, (size_t)b->nx * b->ny);
    for (int block = 0; block < BLOCKS; block++) {
        for (int d = 0; d < 2; d++) {
            if (before[d] == MPI_PROC_NULL)
                fill(faces[d], (size_t)n[d]);
            else
                MPI_Recv(faces[d], n[d], MPI_DOUBLE, before[d], d, b->grid, MPI_STATUS_IGNORE);
        }
        sweep(k, b, up);
        for (int d = 0; d < 2; d++)
            if (behind[d] != MPI_PROC_NULL)
                MPI_Send(faces[d], n[d], MPI_DOUBLE, behind[d], d, b->grid);
    }
}

int main(int argc, char **argv) {
    struct kernel k = kernel_begin(&argc, &argv, 2, 64);
    struct box b;
    make(&b, &k);
    for (int step = 0; step < k.steps; step++)
        for (int octant = 0; octant < 8; octant++)
            pass(&k, &b, (int[]){(octant >> 2) & 1, (octant >> 1) & 1, octant & 1});
    return kernel_end(&k, b.farthest < 1e-12);
}
