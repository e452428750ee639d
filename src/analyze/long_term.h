/* Long-term costs (docs/definitions/wait-states.md#33-delay-costs): wait states pass their costs on
 * to the earlier waiting of their cause, backwards in time.
 *
 * The graph of wait states stays where it is: a wait state at the owner of its location, its
 * interval, which leads to the earlier waits of its cause, at the owner of the cause. Each rank
 * goes through its wait states, the latest first; once all later ones have handed over to one, what
 * it carries goes to its interval, as a message where that is another rank's. The messages travel
 * in rounds (lc_rounds); ranks go back in time together, so that few costs are on their way at
 * once. All sums are exact (exact.h), so that neither the order of the messages nor the number of
 * ranks changes a bit.
 *
 * Vectors of costs (a sum per model and kind of waiting that occurs) exist only for wait states
 * that have received something and are not yet processed. A wait state with a long run of waits in
 * its interval (two locations that never synchronise) hands over to blocks of them (graph_spans.h),
 * so that n wait states cost O(n log n). What arrives at an interval is booked on the code of the
 * cause. */
#ifndef LC_ANALYZE_LONG_TERM_H
#define LC_ANALYZE_LONG_TERM_H

#include "analyze/delay.h"

#define LC_NO_STATE UINT64_MAX

struct lc_handed { /* of one delay-cost model */
    /* per interval of this rank: its waiting and all that was passed on to it */
    double *carried;
    /* Per wait state of this rank: the number of the later one that handed over most (of equals the
     * lowest), LC_NO_STATE if none did. */
    uint64_t *handed_by;
    double *handed_most; /* how much that was */
    double *costs; /* per wait state: its waiting and all that was passed on to it, in ticks; 0
                      where its cause is unknown */
};

struct lc_long_term {
    struct lc_handed of[LC_MODELS];
};

/* Hands costs on and books what arrives. Collective; errors are the same on all ranks:
 * LC_ERR_NOMEM; LC_ERR_RANGE: more wait states on one rank than 32 bits number. */
enum lc_err lc_long_term_run(struct lc_long_term *result, struct lc_delay *delay);
/* Frees what it holds, not the struct. */
void lc_long_term_free(struct lc_long_term *result);

#endif
