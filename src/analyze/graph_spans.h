/* Costs on their way to long runs of wait states, one sweep over the waits of this rank: a wait
 * state whose cause waited thousands of times hands over to all of these at once. Each node of the
 * tree over their blocks (spans.h) has the costs per tick of waiting below it, and who still has to
 * hand over.
 *
 * Here a wait state has two numbers: its index among those of this rank, and its place. The places
 * of each location begin with a block, so that the blocks are the same however locations are
 * distributed. Used by long_term.c. */
#ifndef LC_ANALYZE_GRAPH_SPANS_H
#define LC_ANALYZE_GRAPH_SPANS_H

#include "analyze/delay.h"
#include "analyze/spans.h"

struct lc_most_handed { /* the largest that one wait state handed over, or its rate */
    double most;
    uint64_t by; /* the number of that wait state; of equals the lowest */
};

struct lc_graph_spans {
    const struct lc_timelines *lines;
    uint64_t *first_place; /* per location of this rank */
    uint32_t n_rows;       /* of costs */
    size_t n_blocks;       /* 0: no run is long */
    struct lc_graph_span {
        uint32_t open;    /* later wait states that have not handed over yet */
        uint32_t arrived; /* its arrival + 1, 0 if nothing arrived */
        uint32_t waiting; /* first wait state + 1 that waits for open to be 0 */
        int64_t closed;   /* waiting below it that was processed before all had handed over */
    } * nodes;
    bool *covered;  /* per node: something is handed over to it or to one above it */
    uint32_t *next; /* per wait state: the next that waits for the same, + 1 */
    struct lc_graph_arrival {
        struct lc_most_handed most[LC_MODELS]; /* rates, all kinds together */
    } * arrivals;
    struct lc_exact *rates; /* n_rows per arrival: costs per tick, times LC_RATE_SCALE */
    size_t n_arrivals, cap_arrivals, cap_rates;
};

/* Costs per tick are small numbers that are multiplied by long times. */
#define LC_RATE_SCALE 0x1p16

/* Raises the largest. */
static inline void lc_most_raise(struct lc_most_handed *most, double handed, uint64_t by) {
    if (handed > most->most || (handed == most->most && handed > 0 && by < most->by))
        *most = (struct lc_most_handed){handed, by};
}

/* spans: zeroed. Errors: LC_ERR_NOMEM. */
enum lc_err lc_graph_spans_new(struct lc_graph_spans *spans, const struct lc_delay *delay,
                               uint32_t n_rows);
/* Frees what it holds, not the struct. */
void lc_graph_spans_free(struct lc_graph_spans *spans);

/* The whole blocks of waits, as places, to which an interval hands over at once; empty and at the
 * end of its waits where there are none. */
static inline struct lc_block_span lc_graph_span_of(const struct lc_graph_spans *spans, size_t loc,
                                                    const struct lc_sync_interval *interval) {
    return lc_span_inside(spans->first_place[loc] + interval->first_v, interval->n_v);
}

/* The leaf of a wait state that lies in a long run, else 0. */
size_t lc_graph_spans_leaf(const struct lc_graph_spans *spans, uint32_t state);

/* The first node above the leaf to which not all have handed over yet; 0 if there is none. */
static inline size_t lc_graph_spans_open(const struct lc_graph_spans *spans, size_t leaf) {
    while (leaf > 0 && spans->nodes[leaf].open == 0)
        leaf /= 2;
    return leaf;
}

/* The wait state waits until all have handed over to the node. */
void lc_graph_spans_wait(struct lc_graph_spans *spans, size_t node, uint32_t state);

/* Wait state number `by` hands over to the node. *ready: the first + 1 of those that waited for it
 * and need not any more, others by `next`; 0 if there is none. Errors: LC_ERR_NOMEM. */
enum lc_err lc_graph_spans_add(struct lc_graph_spans *spans, size_t node, uint64_t by,
                               const double *rates, const double all[LC_MODELS], uint32_t *ready);

/* A wait state below the leaf is processed although not all have handed over. */
void lc_graph_spans_close(struct lc_graph_spans *spans, size_t leaf, int64_t ticks);

/* Adds what arrived for a wait state below the leaf to `costs`, and raises most[]. */
void lc_graph_spans_collect(const struct lc_graph_spans *spans, size_t leaf, int64_t ticks,
                            double *costs, struct lc_most_handed most[LC_MODELS]);

#endif
