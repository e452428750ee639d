/* What the files that find things share: the result that is searched, and what was found. */
#ifndef LC_REPORT_FINDING_SEARCH_H
#define LC_REPORT_FINDING_SEARCH_H

#include <jansson.h>
#include <string.h>

#include "report/finding.h"
#include "report/sums.h"

struct lc_partitions; /* finding_partitions.h */

struct lc_search {
    struct lc_findings *found;
    struct lc_view *view, *analysis;
    const struct lc_sums *sums;
    const json_t *meta, *pop, *gains; /* gains: of the analysis (exact_gain.h); NULL: none */
    double elapsed_s;                 /* T */
    double all_s;                     /* time of all locations */
    double least_s;                   /* less than this the measurement cannot tell */
    size_t n_ranks;                   /* processes of which something is known */
    bool lacks_cores; /* what MPI itself takes cannot be told from waiting for a core */
    double spawned;   /* nor from waiting for these processes, which are not in this result */
    bool is_analysis; /* the view is one */
    /* a process has threads that no OpenMP runtime started: who waits for their end, as in
     * pthread_join, is in no trace, nor on a critical path */
    bool threads_apart;
    double *row;       /* of the view, one per location */
    double *waiting_s; /* per process */
    double *mpi_s;     /* the same, all time in MPI */
    struct lc_partitions *partitions;
    double preempted_cost_s; /* that others wait for ranks without a processor */
};

/* Time of a path in which another thread had the processor: neither work nor an imbalance of it. */
static inline bool lc_is_preempted(const struct lc_view *view, uint32_t path) {
    return strcmp(view->paths[path].name, "(preempted)") == 0;
}

/* Adds ranks that are late: late_rank, imbalance, serialisation_chain, late_receiver. Errors:
 * LC_ERR_NOMEM, those of lc_view_row, and of lc_late_read. What was found before stays. */
enum lc_err lc_find_causes(struct lc_search *search);
/* Adds threads that are late, or not used: thread_imbalance, serial_part, limited_parallelism.
 * Errors: those of lc_find_causes. */
enum lc_err lc_find_threads(struct lc_search *search);
/* As search->threads_apart. Errors: those of lc_view_row. */
enum lc_err lc_has_threads_apart(struct lc_search *search, bool *has);
/* The thread of a process that spent nearly all of the process' own time in this code; -1: none
 * did, or the process has only one. Errors: those of lc_view_row. */
enum lc_err lc_find_thread_in(struct lc_search *search, uint32_t path, uint32_t process,
                              int32_t *thread);
/* Adds what MPI, locks and tasks cost, and what is to be said of the run as a whole. Errors:
 * those of lc_find_causes. */
enum lc_err lc_find_costs(struct lc_search *search);

#endif
