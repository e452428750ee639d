/* What samples have divided: per call path that they found its time, what of it is on the critical
 * path, and what it costs others, with the standard errors of these
 * (docs/definitions/estimates.md); the member samples.tsv of the result.
 *
 * A value of an exact call path on one location is cut into those of the functions inside, and the
 * samples in its time say how certain the parts are. Sums do not depend on the number of ranks. */
#ifndef LC_ANALYZE_SAMPLE_SUMS_H
#define LC_ANALYZE_SAMPLE_SUMS_H

#include "analyze/costs.h"
#include "analyze/critical_path.h"

enum lc_sample_sum { LC_SUM_TIME, LC_SUM_PATH, LC_SUM_COST, LC_SAMPLE_SUMS };

struct lc_sample_sums {
    const struct lc_timelines *lines;
    /* per call path of the trace, [LC_SAMPLE_SUMS][2]: seconds, and variance in ms^2 */
    struct lc_exact (*of)[LC_SAMPLE_SUMS][2];
    int64_t *samples; /* the same */
    /* of one location, per exact call path: what is divided, what samples stand for, and the sum
     * of the squares of that; per sampled one: what is inside; per call path of the timeline:
     * values */
    double *whole, *ns, *squares, *inside, *values;
};

/* With the times of this rank's locations; NULL arrays where samples have divided nothing.
 * lc_sample_sums_free frees them. LC_ERR_NOMEM. */
enum lc_err lc_sample_sums_new(struct lc_sample_sums *sums, const struct lc_timelines *lines);
/* Adds the costs of all kinds in the proportional model. */
void lc_sample_sums_costs(struct lc_sample_sums *sums, const struct lc_costs *costs);
/* Adds the critical path. */
void lc_sample_sums_path(struct lc_sample_sums *sums, const struct lc_critical_path *path);
/* Collective. The table, on rank 0; nothing where samples have divided nothing. LC_ERR_NOMEM. */
enum lc_err lc_sample_sums_write(const struct lc_sample_sums *sums, struct lc_strbuf *text);
/* Frees what it holds, not the struct. */
void lc_sample_sums_free(struct lc_sample_sums *sums);

#endif
