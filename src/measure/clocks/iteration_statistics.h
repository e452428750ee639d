/* What is said of the iterations of a phase or loop: first, best, median, worst, drift, warm-up,
 * outliers; as members of a JSON object. Iterations are numbered from 1. */
#ifndef LC_MEASURE_CLOCKS_ITERATION_STATISTICS_H
#define LC_MEASURE_CLOCKS_ITERATION_STATISTICS_H

#include <stddef.h>
#include <stdint.h>

struct lc_strbuf;

/* `"name": {..}`; sorts v. `sign` 1: large is good; -1: small is good. `unit`: iterations that a
 * value is of. */
void lc_iterations_put(struct lc_strbuf *out, const char *name, double *v, size_t n, size_t unit,
                       int sign);

/* `"each": {..}, `: the values in their order, as means of blocks of so many that 256 are enough;
 * `unit` times as many where a value is already one of several iterations. An incomplete block at
 * the end is left out. */
void lc_iterations_put_each(struct lc_strbuf *out, const double *elapsed_s, size_t n, size_t unit);

enum { LC_ITERATION_OUTLIERS = 8 };

struct lc_iteration_run { /* of unusual values: [from, until) */
    uint64_t from, until;
    int64_t rank; /* that worked longest in most of them; -1: none */
};

struct lc_iteration_values { /* arrays of n */
    size_t n;
    uint64_t visits;         /* iterations that one value stands for */
    const double *elapsed_s; /* of the slowest rank */
    const double *threads;   /* that worked, of all ranks; their useful time: */
    const double *useful_s;  /* in all */
    const double *process_s; /* that of the thread with most of it times threads, over ranks */
    const double *most_s;
    const int32_t *who;    /* of the rank with most of it; NULL: not known */
    const double *chain_s; /* longest chain of it, over edges inside a process */
    /* of all iterations: time of the slowest rank; longest chain of all but the OpenMP runtime */
    double total_s, outside_omp_s;
};

/* `"factors": {..}, "mpi": {..}, "omp": {..}, "each": {..}, "iterations": {..}, "warm_up": n,
 * "outliers": [..]`; the outliers in their order into `runs`: how many. */
size_t lc_iterations_describe(const struct lc_iteration_values *values,
                              struct lc_iteration_run runs[LC_ITERATION_OUTLIERS],
                              struct lc_strbuf *out);

#endif
