/* POP efficiency factors from the sums of a measured interval, in three dialects.
 *
 * Nouns (definitions: docs/definitions/efficiency-factors.md)
 *   useful   time of a thread outside MPI and outside the OpenMP runtime; U per thread, m_p its
 *            maximum in process p
 *   CP       the longest chain of useful work over all happens-before edges; CP_p over the edges
 *            inside process p
 *   X        the longest chain outside the OpenMP runtime (MPI included)
 *   T        latest end - earliest begin of the interval over all processes
 *
 * Invariant: max U <= max CP_p <= CP <= X <= T up to timer resolution, so every factor lies in
 * (0, 1]. */
#ifndef LC_FORMAT_POP_H
#define LC_FORMAT_POP_H

#include <stdbool.h>

#include "base/strbuf.h"

/* Everything in seconds. */
struct lc_pop_sums {
    double n_threads;  /* N */
    double useful_sum; /* sum of U over all threads */
    /* the same on its own: spans of threads less their time in calls; 0: not known. A check */
    double outside_mpi_sum;
    double alive_sum;       /* spans of the threads in the interval: N * T if all live through it */
    double useful_max;      /* max U */
    double process_max_sum; /* sum over processes of n_p * m_p */
    double process_chain_max;  /* max CP_p */
    double critical_path;      /* CP */
    double outside_omp_max;    /* X */
    double elapsed;            /* T */
    double task_critical_path; /* TaCP; equal to CP where there are no tasks */
    double mpi_min;            /* min over processes of M_p, the time in MPI */
    double mpi_node_min;       /* min over nodes of the mean M_p of the node */
    double mpi_mean;           /* mean M_p */
    bool threads;              /* some process has several threads; else all OpenMP factors are 1 */
    bool tasks;                /* one process, and it ran explicit tasks */
};

struct lc_pop_factors {
    double parallel_efficiency, load_balance, communication_efficiency;
    double serialisation_efficiency, transfer_efficiency;
};

struct lc_pop_talp {
    double parallel_efficiency, load_balance_in, load_balance_out, communication_efficiency;
};

struct lc_pop {
    struct lc_pop_factors all, mpi, omp; /* dialect clocks: multiplicative */
    struct lc_pop_factors additive;
    struct lc_pop_talp talp;
    double critical_path_s, task_critical_path_s;
    double task_work_s; /* of all threads, where tasks could be spread over more; else 0 */
    /* largest relative deviation of the identities; avg U / T is computed on its own */
    double identity_error;
};

/* False (and factors of 1) if the sums hold no time or no thread. */
bool lc_pop_compute(const struct lc_pop_sums *sums, struct lc_pop *pop);

/* The members of the JSON object "pop" without the braces, 17 significant digits, so that more
 * members can follow. */
void lc_pop_json(const struct lc_pop *pop, struct lc_strbuf *out);

/* On 1, 2, 4, .. threads. */
enum { LC_POP_CURVE = 11 };

/* How long this takes at least on so many threads, added to that of others, which come before or
 * after it: the longest chain of tasks, or all work divided by the threads. Without tasks: as long
 * as it takes. */
void lc_pop_curve_add(const struct lc_pop *pop, double at_least_s[LC_POP_CURVE]);
/* `, "task_work_s": work, "task_curve": [..]`. */
void lc_pop_curve_json(double work_s, const double at_least_s[LC_POP_CURVE], struct lc_strbuf *out);

/* `"name": {factors}` of one dialect `clocks` set. */
void lc_pop_factors_json(const char *name, const struct lc_pop_factors *factors,
                         struct lc_strbuf *out);

#endif
