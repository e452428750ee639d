/* What the text report needs more than once: time, time in MPI and waiting, per path with its
 * children and per location; the wait states and where they are largest. Computed in one walk over
 * the rows. */
#ifndef LC_REPORT_SUMS_H
#define LC_REPORT_SUMS_H

#include "model/metrics.h"
#include "report/view.h"

struct lc_wait_sum {
    const struct lc_waiting_metric *kind;
    uint32_t metric;
    bool estimated;
    double total;
};

struct lc_wait_place { /* one wait metric at one path */
    uint32_t wait;     /* index into waits */
    uint32_t path;
    double seconds;
};

/* Start and end of MPI (MPI_Init, MPI_Finalize without its waiting, both without calls that had not
 * returned) would hide what happens between them in short runs: they are apart, in none of the
 * other sums. */
struct lc_sums {
    double start_time, end_time;              /* all locations */
    bool *apart;                              /* per path: in MPI_Init, MPI_Finalize or below */
    double *time, *mpi, *waiting;             /* per path, children included, all locations */
    double *loc_time, *loc_mpi, *loc_waiting; /* per location */
    double total_time, total_mpi, total_waiting;
    double total_unfinished; /* of total_mpi, in calls that had not returned */
    double several_time; /* in MPI_Waitall, Waitany, Waitsome: no estimate tells their waiting */
    struct lc_wait_sum *waits; /* all kinds the result has, in a fixed order */
    size_t n_waits;
    struct lc_wait_place *places; /* those above zero, largest first */
    size_t n_places, cap_places;
    bool estimated; /* waiting is estimated from minima */
    /* calls of MPI; of them those that only ask, as far as their time was waiting */
    double calls, waiting_polls;
};

/* Sums over the locations of a view, which must outlive them; lc_sums_free frees them.
 * Errors: those of reading rows, LC_ERR_NOMEM. */
enum lc_err lc_sums_new(struct lc_sums **sums, struct lc_view *view);
/* waiting[metric]: is this one of the metrics whose sum is the waiting of a location? n_metrics
 * of the view's model, zeroed. Errors: those of reading rows, LC_ERR_NOMEM. */
enum lc_err lc_sums_waiting(struct lc_view *view, bool *waiting);
/* Waiting as estimated from minima, per path (n_paths, zeroed), children included, all locations;
 * *any: the result has such estimates. Errors: those of reading rows, LC_ERR_NOMEM. */
enum lc_err lc_sums_estimates(struct lc_view *view, double *waiting, bool *any);
/* The call of this path completes several requests: MPI_Waitall, Waitany, Waitsome. */
bool lc_completes_several(const struct lc_view *view, uint32_t path);
/* NULL is allowed. */
void lc_sums_free(struct lc_sums *sums);

#endif
