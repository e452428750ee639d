/* Which analysis rank owns which process. Processes that talk to each other mostly are neighbours
 * by rank, so blocks of neighbours save exchange between the analysis ranks; where blocks would
 * leave a rank with much more events than the others, processes are dealt out one by one. The
 * result of the analysis does not depend on it. Called by read.c. */
#ifndef LC_ANALYZE_DISTRIBUTE_H
#define LC_ANALYZE_DISTRIBUTE_H

#include "analyze/trace.h"

/* Events of each process -> owner[process] in 0..n_ranks-1. Errors: LC_ERR_NOMEM. */
enum lc_err lc_distribute(const uint64_t *events, size_t n_processes, uint32_t n_ranks,
                          uint32_t *owner);

/* Sets the owner of all processes of the trace. Errors: LC_ERR_NOMEM. */
enum lc_err lc_distribute_trace(struct lc_trace *trace);

#endif
