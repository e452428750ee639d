/* The graph along which costs are handed over: nodes are the wait states of the whole trace, a link
 * leads from a wait state to the waits of its cause inside its interval. Gathered as a whole on the
 * ranks that sweep over it. Used by long_term.c. */
#ifndef LC_ANALYZE_WAIT_GRAPH_H
#define LC_ANALYZE_WAIT_GRAPH_H

#include "analyze/delay.h"

struct lc_graph_node { /* a wait state */
    int64_t end, ticks;
};

struct lc_graph_link {            /* its interval */
    uint32_t state, first_v, n_v; /* numbers in the trace */
    uint32_t kind;
    int64_t first_overlap, last_overlap; /* the others lie inside as a whole */
    int64_t code, waits;
};

struct lc_wait_graph {
    struct lc_graph_node *nodes;
    uint32_t n_nodes;
    struct lc_graph_link *links; /* rank by rank */
    size_t n_links;
    uint64_t *first_link; /* per rank */
    uint32_t n_ranks;
    uint32_t *link_of; /* per node, LC_NONE without cause */
    uint32_t *n_later; /* per node: wait states that hand over to it alone */
    uint32_t *order;   /* nodes by end, latest first */
    bool has_spans; /* some links lead to so many that they hand over to whole blocks (spans.h) */
};

/* Collective: the graph as graphs[r] of rank r, for each r below n_graphs; the others stay empty.
 * graphs: zeroed. Errors: LC_ERR_NOMEM. */
enum lc_err lc_wait_graphs_gather(struct lc_wait_graph *graphs, uint32_t n_graphs,
                                  const struct lc_delay *delay);
/* Frees what it holds; zero afterwards. */
void lc_wait_graph_free(struct lc_wait_graph *graph);

/* The rank that a link came from. */
uint32_t lc_wait_graph_rank_of(const struct lc_wait_graph *graph, uint64_t link);

#endif
