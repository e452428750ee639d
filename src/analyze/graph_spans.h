/* Costs on their way to long runs of wait states, one sweep over the graph of waits: a wait state
 * whose cause waited thousands of times hands over to all of these at once. Each node of the tree
 * over their blocks (spans.h) has the costs per tick of waiting below it, and who still has to hand
 * over. Used by long_term.c. */
#ifndef LC_ANALYZE_GRAPH_SPANS_H
#define LC_ANALYZE_GRAPH_SPANS_H

#include "analyze/spans.h"
#include "analyze/wait_graph.h"

struct lc_graph_arrival {
    double rates[LC_COST_KINDS]; /* costs per tick */
    double most;                 /* the largest rate of one wait state, all kinds together */
    uint32_t by;                 /* the first that had it */
};

struct lc_graph_spans {
    size_t n_blocks; /* 0: no run is long */
    struct lc_graph_span {
        uint32_t open;    /* later wait states that have not handed over yet */
        uint32_t arrived; /* its arrival + 1, 0 if nothing arrived */
        uint32_t waiting; /* first wait state + 1 that waits for open to be 0 */
        int64_t closed;   /* waiting below it that was processed before all had handed over */
    } * nodes;
    bool *covered;  /* per node: something is handed over to it or to one above it */
    uint32_t *next; /* per wait state: the next that waits for the same, + 1 */
    struct lc_graph_arrival *arrivals;
    size_t n_arrivals, cap_arrivals;
};

/* spans: zeroed. Errors: LC_ERR_NOMEM. */
enum lc_err lc_graph_spans_new(struct lc_graph_spans *spans, const struct lc_wait_graph *graph);
/* Frees what it holds, not the struct. */
void lc_graph_spans_free(struct lc_graph_spans *spans);

/* Whether the wait state lies in a long run. */
static inline bool lc_graph_spans_cover(const struct lc_graph_spans *spans, uint32_t state) {
    return spans->n_blocks > 0 && spans->covered[lc_span_leaf(state, spans->n_blocks)];
}

/* The first node above the wait state to which not all have handed over yet; 0 if there is none. */
static inline size_t lc_graph_spans_open(const struct lc_graph_spans *spans, uint32_t state) {
    if (!lc_graph_spans_cover(spans, state))
        return 0;
    size_t node = lc_span_leaf(state, spans->n_blocks);
    while (node > 0 && spans->nodes[node].open == 0)
        node /= 2;
    return node;
}

/* The wait state waits until all have handed over to the node. */
void lc_graph_spans_wait(struct lc_graph_spans *spans, size_t node, uint32_t state);

/* Wait state `by` hands over to the node. *ready: the first + 1 of those that waited for it and
 * need not any more, others by `next`; 0 if there is none. Errors: LC_ERR_NOMEM. */
enum lc_err lc_graph_spans_add(struct lc_graph_spans *spans, size_t node, uint32_t by,
                               const double rates[LC_COST_KINDS], double all, uint32_t *ready);

/* The wait state is processed although not all have handed over. */
void lc_graph_spans_close(struct lc_graph_spans *spans, uint32_t state, int64_t ticks);

/* Adds what arrived for the wait state to `costs`. *most, *by: raised to
 * the largest that one wait state handed over. */
void lc_graph_spans_collect(const struct lc_graph_spans *spans, uint32_t state, int64_t ticks,
                            double costs[LC_COST_KINDS], double *most, uint32_t *by);

#endif
