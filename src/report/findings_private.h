/* What the files that find things share. */
#ifndef LC_REPORT_FINDINGS_PRIVATE_H
#define LC_REPORT_FINDINGS_PRIVATE_H

#include <jansson.h>

#include "report/findings.h"

enum lc_finding_id {
    LC_LATE_RANK,
    LC_IMBALANCE,
    LC_SERIALISATION_CHAIN,
    LC_LATE_RECEIVER,
    LC_MPI_COST,
    LC_MANY_SMALL_MESSAGES,
    LC_THREAD_IMBALANCE,
    LC_SERIAL_PART,
    LC_LIMITED_PARALLELISM,
    LC_LOCK_CONTENTION,
    LC_TASK_SCHEDULING,
    LC_VARIABILITY,
    LC_BOUND_NARROWLY,
    LC_OVERSUBSCRIBED,
    LC_CLOCK_VIOLATIONS,
    LC_INCOMPLETE,
};

struct lc_search {
    struct lc_findings *found;
    struct lc_view *view, *analysis;
    const struct lc_sums *sums;
    const json_t *meta, *pop, *gains; /* gains: of the analysis (exact_gain.h); NULL: none */
    double elapsed_s;                 /* T */
    double all_s;                     /* time of all locations */
    double least_s;                   /* less than this the measurement cannot tell */
    size_t n_ranks;                   /* processes of which something is known */
    bool lacks_cores;  /* what MPI itself takes cannot be told from waiting for a core */
    bool is_analysis;  /* the view is one */
    double *row;       /* of the view, one per location */
    double *waiting_s; /* per process */
    double *mpi_s;     /* the same, all time in MPI */
};

/* An empty finding of this kind. */
struct lc_finding lc_finding_begin(enum lc_finding_id id);

/* Adds it, with its sentence, unless it is below a threshold. */
enum lc_err lc_finding_add(struct lc_search *search, struct lc_finding *finding);

/* Ranks that are late: late_rank, imbalance, serialisation_chain, late_receiver. */
enum lc_err lc_find_causes(struct lc_search *search);
/* Threads that are late, or not used: thread_imbalance, serial_part, limited_parallelism. */
enum lc_err lc_find_threads(struct lc_search *search);
/* MPI, locks, tasks, the run as a whole. */
enum lc_err lc_find_costs(struct lc_search *search);

/* Values of a row summed (or, of times of which threads share a span, the largest) per process. */
void lc_per_process(const struct lc_view *view, const double *row, bool largest, double *sums);

#endif
