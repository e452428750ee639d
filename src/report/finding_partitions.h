/* Partitions of a run: groups of ranks that work in different code (MPMD, master and workers).
 *
 * A rank works in a call path p if its own time there is 5 % or more of that in all code. Ranks
 * that run the same program (meta), or work in the same call path, are in one partition. A rank
 * whose work is below 1 % of the run time is without work: in none. docs/definitions/findings.md,
 * "Partitions". */
#ifndef LC_REPORT_FINDING_PARTITIONS_H
#define LC_REPORT_FINDING_PARTITIONS_H

#include "report/finding_search.h"

struct lc_partition {
    const char *name; /* of its program, else of the call path in which it works most */
    uint32_t path;    /* in which it works most */
    size_t n_ranks;
    double in_path_s;  /* of work_s in `path`; all of it where the name is that of a program */
    double work_s;     /* of all its ranks */
    double longest_s;  /* of the rank that works longest */
    double critical_s; /* of the critical path, on its ranks in the call paths in which they work */
};

struct lc_partitions {
    struct lc_partition *list;
    size_t n;          /* below 2: the run has none */
    uint32_t *of;      /* per process: which one; LC_NONE: without work, or unknown */
    uint32_t *of_path; /* per path: that of the ranks that work in it; LC_NONE: nobody does */
    double *work_s;    /* per process: own time in all code */
};

/* Finds the partitions of search->view; freed with lc_partitions_free. Errors: LC_ERR_NOMEM, those
 * of lc_view_row. */
enum lc_err lc_partitions_of(struct lc_search *search, struct lc_partitions *partitions);
/* Frees what it holds, not the struct. */
void lc_partitions_free(struct lc_partitions *partitions);

/* The run time of the code, at least, in seconds, if partition i had sizes[i] ranks, n of them: no
 * rank works longer than it, and the critical path stays a chain. Work divides as evenly as now. */
double lc_partitions_time(const struct lc_partition *list, size_t n, const size_t *sizes);

/* From these sizes to the best ones with as many ranks: one rank after the other moves to where it
 * gains most. `sizes` become these, `time` what they take, seconds. Errors: LC_ERR_NOMEM. */
enum lc_err lc_partitions_best(const struct lc_partition *list, size_t n, size_t *sizes,
                               double *time);

/* Adds partitions that limit the run (partition_limits, master_limits) and ranks without work
 * (no_work). Errors: those of lc_partitions_of. */
enum lc_err lc_find_partitions(struct lc_search *search);

#endif
