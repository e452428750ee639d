/* The kinds of findings: what each says, and from when on it is worth saying. */
#ifndef LC_REPORT_FINDING_KINDS_H
#define LC_REPORT_FINDING_KINDS_H

#include "report/finding_search.h"

enum lc_finding_id {
    LC_LATE_RANK,
    LC_IMBALANCE,
    LC_SERIALISATION_CHAIN,
    LC_PIPELINE,
    LC_PARTITION_LIMITS,
    LC_MASTER_LIMITS,
    LC_NO_WORK,
    LC_LATE_RECEIVER,
    LC_PREEMPTED,
    LC_MPI_COST,
    LC_MANY_SMALL_MESSAGES,
    LC_UNFINISHED_CALL,
    LC_THREAD_IMBALANCE,
    LC_SERIAL_PART,
    LC_LIMITED_PARALLELISM,
    LC_LOCK_CONTENTION,
    LC_TASK_SCHEDULING,
    LC_VARIABILITY,
    LC_BOUND_NARROWLY,
    LC_OVERSUBSCRIBED,
    LC_UNMEASURED_PROCESSES,
    LC_CLOCK_VIOLATIONS,
    LC_INCOMPLETE,
};

/* An empty finding of this kind: severity and gains NAN, no path, no ranks. */
struct lc_finding lc_finding_begin(enum lc_finding_id id);

/* Adds it to search->found, with its share and its sentence, unless it is below the threshold of
 * its kind, or below what the measurement can tell. LC_ERR_NOMEM. */
enum lc_err lc_finding_add(struct lc_search *search, struct lc_finding *finding);

/* How sure a finding is, as it stands in JSON; static text. */
const char *lc_certainty_name(enum lc_certainty certainty);

/* Values of a row summed (or, of times of which threads share a span, the largest) per process. */
void lc_per_process(const struct lc_view *view, const double *row, bool largest, double *sums);

#endif
