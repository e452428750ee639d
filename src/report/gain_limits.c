#include "report/gain_limits.h"

#include <math.h>

#include "report/advice.h"

void lc_gain_limit(struct lc_finding *finding) {
    if (isnan(finding->gain_s))
        return;
    finding->gain_s = fmin(finding->gain_s, finding->severity_s);
    finding->gain_low_s = fmin(finding->gain_low_s, finding->severity_s);
}

bool lc_gain_is_hidden(const struct lc_search *search, const struct lc_finding *finding) {
    const double least_gain = 0.005 * search->elapsed_s; /* as of findings that are listed */
    return search->threads_apart &&
           (!(finding->gain_s >= least_gain) || lc_waits_for_thread(search->view, finding->path));
}

void lc_gain_hide(const struct lc_search *search, struct lc_finding *finding) {
    if (search->n_ranks > 1 && !lc_waits_for_thread(search->view, finding->path))
        finding->order_s = finding->severity_s / (double)(search->n_ranks - 1);
    finding->gain_s = finding->gain_low_s = finding->gain_high_s = NAN;
    finding->gain_by = NULL;
    finding->gain_estimated = "who waits for the end of a thread that is not OpenMP's is not seen";
}
