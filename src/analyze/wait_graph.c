#include "analyze/wait_graph.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/radix.h"
#include "analyze/spans.h"
#include "base/lookup.h"
#include "base/mem.h"

/* Gathers `records` of all ranks on rank `root`; first[] (size entries, may be NULL) where those of
 * each rank begin. */
static enum lc_err gather_on(const struct lc_transport *comm, uint32_t root, const void *records,
                             size_t n, size_t bytes, void **all, size_t *n_all, uint64_t *first) {
    uint64_t *counts = NULL;
    enum lc_err err = lc_transport_agree(comm, lc_alloc(&counts, comm->size, sizeof *counts));
    if (err != LC_OK) {
        free(counts);
        return err;
    }
    counts[root] = n;
    err = lc_transport_exchange_grouped(comm, records, counts, bytes, all, n_all, first);
    uint64_t sum = 0;
    for (uint32_t i = 0; i < comm->size && first != NULL; i++) {
        uint64_t count = first[i];
        first[i] = sum;
        sum += count;
    }
    free(counts);
    return err;
}

static enum lc_err make_nodes(const struct lc_timelines *lines, struct lc_graph_node **nodes) {
    LC_TRY(lc_alloc(nodes, lines->n_states + 1, sizeof **nodes));
    for (uint64_t i = 0; i < lines->n_states; i++)
        (*nodes)[i] = (struct lc_graph_node){lines->states[i].end, lines->states[i].ticks};
    return LC_OK;
}

static enum lc_err make_links(const struct lc_delay *delay, struct lc_graph_link **links) {
    LC_TRY(lc_alloc(links, delay->n_intervals + 1, sizeof **links));
    for (size_t i = 0; i < delay->n_intervals; i++) {
        const struct lc_sync_interval *x = &delay->intervals[i];
        const struct lc_timeline *line = lc_timeline_of(delay->lines, x->cause);
        struct lc_graph_link *link = &(*links)[i];
        *link = (struct lc_graph_link){.state = (uint32_t)x->state,
                                       .first_v = (uint32_t)(line->first_state + x->first_v),
                                       .n_v = x->n_v,
                                       .kind = x->kind,
                                       .code = x->code,
                                       .waits = x->waits};
        if (x->n_v > 0) {
            link->first_overlap = lc_state_overlap(&line->states[x->first_v], x->from, x->release);
            link->last_overlap =
                lc_state_overlap(&line->states[x->first_v + x->n_v - 1], x->from, x->release);
        }
    }
    return LC_OK;
}

/* Nodes arrive rank by rank; ranks may own any locations: puts them in order of their numbers. */
static enum lc_err order_nodes(struct lc_wait_graph *graph, const struct lc_timelines *lines,
                               const struct lc_graph_node *arrived) {
    const struct lc_trace *trace = lines->trace;
    LC_TRY(lc_alloc(&graph->nodes, (size_t)graph->n_nodes + 1, sizeof *graph->nodes));
    size_t at = 0;
    for (uint32_t rank = 0; rank < trace->comm->size; rank++)
        for (uint32_t l = 0; l < trace->n_locations; l++) {
            size_t n = (size_t)(lines->first_state[l + 1] - lines->first_state[l]);
            if (n == 0 || lc_trace_owner(trace, l) != rank)
                continue;
            memcpy(graph->nodes + lines->first_state[l], arrived + at, n * sizeof *arrived);
            at += n;
        }
    return LC_OK;
}

static uint64_t end_key(const void *nodes, uint32_t index, int level) {
    (void)level;
    return ~lc_key_signed(((const struct lc_graph_node *)nodes)[index].end);
}

static enum lc_err index_links(struct lc_wait_graph *graph) {
    size_t n = (size_t)graph->n_nodes + 1;
    LC_TRY(lc_alloc(&graph->link_of, n, sizeof *graph->link_of));
    LC_TRY(lc_alloc(&graph->n_later, n, sizeof *graph->n_later));
    memset(graph->link_of, 0xff, n * sizeof *graph->link_of);
    for (size_t i = 0; i < graph->n_links; i++) {
        const struct lc_graph_link *link = &graph->links[i];
        graph->link_of[link->state] = (uint32_t)i;
        struct lc_block_span span = lc_span_inside(link->first_v, link->n_v);
        for (uint64_t v = link->first_v; v < span.from; v++)
            graph->n_later[v]++;
        for (uint64_t v = span.until; v < (uint64_t)link->first_v + link->n_v; v++)
            graph->n_later[v]++;
        graph->has_spans |= span.from < span.until;
    }
    return lc_order_by(&graph->order, graph->nodes, graph->n_nodes, end_key, 1);
}

static enum lc_err finish(struct lc_wait_graph *graph, const struct lc_timelines *lines,
                          const struct lc_graph_node *arrived) {
    LC_TRY(order_nodes(graph, lines, arrived));
    return index_links(graph);
}

enum lc_err lc_wait_graphs_gather(struct lc_wait_graph *graphs, uint32_t n_graphs,
                                  const struct lc_delay *delay) {
    const struct lc_timelines *lines = delay->lines;
    const struct lc_transport *comm = lines->trace->comm;
    struct lc_graph_node *nodes = NULL, *arrived = NULL;
    struct lc_graph_link *links = NULL;
    enum lc_err err = make_nodes(lines, &nodes);
    if (err == LC_OK)
        err = make_links(delay, &links);
    err = lc_transport_agree(comm, err);
    for (uint32_t root = 0; root < n_graphs && err == LC_OK; root++) {
        struct lc_wait_graph *graph = &graphs[root];
        struct lc_graph_node *in = NULL;
        size_t n_in = 0;
        graph->n_ranks = comm->size;
        err = lc_transport_agree(
            comm, lc_alloc(&graph->first_link, comm->size, sizeof *graph->first_link));
        if (err == LC_OK)
            err = gather_on(comm, root, nodes, lines->n_states, sizeof *nodes, (void **)&in, &n_in,
                            NULL);
        if (err == LC_OK)
            err = gather_on(comm, root, links, delay->n_intervals, sizeof *links,
                            (void **)&graph->links, &graph->n_links, graph->first_link);
        graph->n_nodes = (uint32_t)n_in;
        if (comm->rank == root)
            arrived = in;
        else
            free(in);
    }
    free(nodes);
    free(links);
    /* Side by side, once everybody has everything. */
    if (err == LC_OK && comm->rank < n_graphs)
        err = finish(&graphs[comm->rank], lines, arrived);
    free(arrived);
    return lc_transport_agree(comm, err);
}

void lc_wait_graph_free(struct lc_wait_graph *graph) {
    free(graph->nodes);
    free(graph->links);
    free(graph->first_link);
    free(graph->link_of);
    free(graph->n_later);
    free(graph->order);
}

uint32_t lc_wait_graph_rank_of(const struct lc_wait_graph *graph, uint64_t link) {
    return (uint32_t)LC_FIRST_WHERE(i, 1, graph->n_ranks, graph->first_link[i] > link) - 1;
}
