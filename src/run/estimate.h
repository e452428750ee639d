/* Wait states estimated from minima (docs/definitions/estimates.md). For call path c ending in MPI
 * function f, process p, size class s, with count n and sum of durations d:
 *
 *   late sender, late receiver:  sum over s of [ d - n * M_p(f,s) ]
 *   collectives:                 sum over s of [ d - n * M(f,s) ]
 *
 *   M_p(f,s)  smallest duration of f in class s on process p
 *   M(f,s)    the smallest on all processes, on communicators of the same size
 *
 * Calls on communicators of one member wait for nobody. Where calls may complete several requests
 * (MPI_Waitall, Waitany, Waitsome) the method is wrong: what it says of them is a metric of its
 * own, and in no sum.
 *
 * Only calls to which the wait state applies enter minimum and sum: receiving and sending MPI_Wait*
 * apart, root and other calls apart. */
#ifndef LC_RUN_ESTIMATE_H
#define LC_RUN_ESTIMATE_H

#include "base/strbuf.h"
#include "format/raw.h"

struct lc_minima;

/* Which metric a row feeds: index into lc_estimate_metrics, or -1. */
int lc_estimate_of(const struct lc_minima *minima, uint32_t mpi_name, const struct lc_raw_row *row);
extern const char *const lc_estimate_metrics[]; /* metric names, NULL at the end */

/* For the names of a profile, which must outlive them; lc_minima_free frees them. LC_ERR_NOMEM.
 * */
enum lc_err lc_minima_new(struct lc_minima **minima, const struct lc_raw *defs);
/* NULL is allowed. */
void lc_minima_free(struct lc_minima *minima);
/* First pass: every row of an MPI function once. Errors: LC_ERR_NOMEM. */
enum lc_err lc_minima_see(struct lc_minima *minima, uint32_t mpi_name,
                          const struct lc_raw_row *row);
/* Second pass: what the row contributes, in seconds; 0 if nothing applies. */
double lc_minima_wait(const struct lc_minima *minima, uint32_t mpi_name,
                      const struct lc_raw_row *row);

/* JSON object: per function with a local minimum, how far that lies above the smallest minimum of
 * any process: a wait that is in every call of a process hides there. {"MPI_Recv":
 * {"hidden_at_most_s": .., "rank": .., "above_s": ..}} */
void lc_minima_describe(const struct lc_minima *minima, struct lc_strbuf *json);

#endif
