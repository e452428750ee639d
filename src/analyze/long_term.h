/* Long-term costs (docs/definitions/wait-states.md#33-delay-costs): wait states pass their costs on
 * to the earlier waiting of their cause, backwards in time.
 *
 * The graph of wait states is small against the trace (64 bytes per wait state, no profiles): it is
 * gathered on one analysis rank per model, which walks through it in one fixed order: that makes
 * the sums the same for any number of ranks, and needs no message per step of a chain. Vectors of
 * costs (one value per kind) exist only for wait states that have received something and are not
 * yet processed. A wait state with a long run of waits in its interval (two locations that never
 * synchronise) hands over to blocks of them (graph_spans.h), so that n wait states cost O(n log n).
 * What arrives at a wait state goes back to the owner of its interval, which books it on the code
 * of the cause. */
#ifndef LC_ANALYZE_LONG_TERM_H
#define LC_ANALYZE_LONG_TERM_H

#include "analyze/delay.h"

struct lc_handed { /* of one delay-cost model */
    /* per interval of this rank: its waiting and all that was passed on to it */
    double *carried;
    /* On the rank that swept the model, by number of the wait state: the later one that handed over
     * most, LC_NONE if none did. NULL on others. */
    uint32_t *handed_by;
    double *handed_most; /* how much that was */
    double *costs; /* per wait state: its waiting and all that was passed on to it, in ticks; 0
                      where its cause is unknown */
};

struct lc_long_term {
    struct lc_handed of[LC_MODELS];
    uint64_t n_states;
};

/* The rank that sweeps a model. */
static inline uint32_t lc_long_term_rank(const struct lc_transport *comm,
                                         enum lc_delay_model model) {
    return (uint32_t)model % comm->size;
}

/* Hands costs on and books what arrives. Collective; errors are the same on all ranks:
 * LC_ERR_NOMEM; LC_ERR_RANGE: more wait states than 32 bits number. */
enum lc_err lc_long_term_run(struct lc_long_term *result, struct lc_delay *delay);
/* Frees what it holds, not the struct. */
void lc_long_term_free(struct lc_long_term *result);

#endif
