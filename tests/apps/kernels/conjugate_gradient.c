/* Conjugate gradients as CG of the NAS parallel benchmarks communicates: the vector is collected,
 * and sums are formed, by exchanges with the ranks whose number differs in one bit, each MPI_Irecv,
 * MPI_Send and MPI_Wait (so the number of ranks is a power of two). SIZE equations; the first
 * eighth of them has many more coefficients, so that the ranks that hold it are late at every
 * product. The solution is known. */
#include <math.h>

#include "kernel.h"

enum { BAND = 48 };
static const int offsets[] = {1, 7, 61, 389};

struct system {
    int n, own, first,
        dense;             /* rows in all, of this rank, its first one; those of the dense part */
    double *x, *r, *p, *q; /* own rows; p: all */
};

/* Sum of the coefficients besides the diagonal times v; *entries: how many. */
static double row(const struct system *s, int i, const double *v, long *entries) {
    double sum = 0.0;
    for (size_t o = 0; o < sizeof offsets / sizeof offsets[0]; o++)
        sum -= v[(i + offsets[o]) % s->n] + v[(i + s->n - offsets[o]) % s->n];
    *entries += 9;
    for (int j = i - BAND; i < s->dense && j <= i + BAND; j++)
        if (j >= 0 && j < s->dense && j != i) {
            sum -= 0.05 * v[j];
            ++*entries;
        }
    return sum;
}

static double diagonal(const struct system *s, int i, const double *ones) {
    long entries = 0;
    return 1.0 - row(s, i, ones, &entries); /* exceeds the rest of its row by 1 */
}

static void exchange(int partner, const double *out, double *in, int n) {
    MPI_Request request;
    MPI_Irecv(in, n, MPI_DOUBLE, partner, 0, MPI_COMM_WORLD, &request);
    MPI_Send(out, n, MPI_DOUBLE, partner, 0, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void collect(const struct kernel *k, const struct system *s) {
    latecomer_begin("collect");
    for (int bit = 1; bit < k->ranks; bit *= 2) {
        int partner = k->rank ^ bit, mine = k->rank & ~(bit - 1), other = partner & ~(bit - 1);
        exchange(partner, &s->p[mine * s->own], &s->p[other * s->own], bit * s->own);
    }
    latecomer_end("collect");
}

static double sum(const struct kernel *k, double own) {
    latecomer_begin("sum");
    for (int bit = 1; bit < k->ranks; bit *= 2) {
        double other;
        exchange(k->rank ^ bit, &own, &other, 1);
        own += other;
    }
    latecomer_end("sum");
    return own;
}

static void multiply(struct kernel *k, const struct system *s, const double *diagonals) {
    long entries = 0;
    latecomer_begin("multiply");
    for (int i = 0; i < s->own; i++)
        s->q[i] = diagonals[i] * s->p[s->first + i] + row(s, s->first + i, s->p, &entries);
    kernel_worked(k, entries);
    latecomer_end("multiply");
}

static double product(const struct system *s, const double *a, const double *b) {
    double all = 0.0;
    for (int i = 0; i < s->own; i++)
        all += a[i] * b[i];
    return all;
}

static void step(struct kernel *k, const struct system *s, const double *diagonals, double *rho) {
    double *p = s->p + s->first;
    collect(k, s);
    multiply(k, s, diagonals);
    double alpha = *rho / sum(k, product(s, p, s->q));
    for (int i = 0; i < s->own; i++) {
        s->x[i] += alpha * p[i];
        s->r[i] -= alpha * s->q[i];
    }
    double next = sum(k, product(s, s->r, s->r)), beta = next / *rho;
    for (int i = 0; i < s->own; i++)
        p[i] = s->r[i] + beta * p[i];
    *rho = next;
}

static double wanted(int i) {
    return 1.0 + 0.25 * (i * 5 % 7);
}

int main(int argc, char **argv) {
    struct kernel k = kernel_begin(&argc, &argv, 40, 16384);
    struct system s = {.n = k.size, .own = k.size / k.ranks, .dense = k.size / 8};
    s.first = k.rank * s.own;
    size_t own = (size_t)s.own, all = (size_t)s.n;
    double *ones = kernel_memory(all, sizeof *ones), *diagonals = kernel_memory(own, sizeof *ones),
           *solution = kernel_memory(all, sizeof *ones);
    long entries = 0;
    s.x = kernel_memory(own, sizeof *s.x);
    s.r = kernel_memory(own, sizeof *s.r);
    s.q = kernel_memory(own, sizeof *s.q);
    s.p = kernel_memory(all, sizeof *s.p);
    for (int i = 0; i < s.n; i++) {
        ones[i] = 1.0;
        solution[i] = wanted(i);
    }
    for (int i = 0; i < s.own; i++) {
        diagonals[i] = diagonal(&s, s.first + i, ones);
        s.r[i] = s.p[s.first + i] =
            diagonals[i] * solution[s.first + i] + row(&s, s.first + i, solution, &entries);
    }
    double rho = sum(&k, product(&s, s.r, s.r)), farthest = 0.0;
    for (int i = 0; i < k.steps && rho > 0.0; i++)
        step(&k, &s, diagonals, &rho);
    for (int i = 0; i < s.own; i++)
        farthest = fmax(farthest, fabs(s.x[i] - wanted(s.first + i)));
    return kernel_end(&k, farthest < 1e-4);
}
