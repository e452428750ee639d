#include "analyze/graph_spans.h"

#include <stdlib.h>

#include "base/mem.h"

enum lc_err lc_graph_spans_new(struct lc_graph_spans *spans, const struct lc_wait_graph *graph) {
    if (!graph->has_spans)
        return LC_OK;
    size_t n_blocks = lc_span_blocks(graph->n_nodes);
    LC_TRY(lc_alloc(&spans->nodes, 2 * n_blocks, sizeof *spans->nodes));
    LC_TRY(lc_alloc(&spans->covered, 2 * n_blocks, sizeof *spans->covered));
    LC_TRY(lc_alloc(&spans->next, graph->n_nodes, sizeof *spans->next));
    spans->n_blocks = n_blocks;
    for (size_t i = 0; i < graph->n_links; i++) {
        const struct lc_graph_link *link = &graph->links[i];
        struct lc_block_span span = lc_span_inside(link->first_v, link->n_v);
        if (span.from == span.until)
            continue;
        struct lc_span_walk walk = lc_span_begin(span, n_blocks);
        for (size_t node; (node = lc_span_next(&walk)) > 0;)
            spans->nodes[node].open++;
    }
    for (size_t node = 1; node < 2 * n_blocks; node++)
        spans->covered[node] = spans->nodes[node].open > 0 || spans->covered[node / 2];
    return LC_OK;
}

void lc_graph_spans_free(struct lc_graph_spans *spans) {
    free(spans->nodes);
    free(spans->covered);
    free(spans->next);
    free(spans->arrivals);
}

void lc_graph_spans_wait(struct lc_graph_spans *spans, size_t node, uint32_t state) {
    spans->next[state] = spans->nodes[node].waiting;
    spans->nodes[node].waiting = state + 1;
}

enum lc_err lc_graph_spans_add(struct lc_graph_spans *spans, size_t node, uint32_t by,
                               const double rates[LC_COST_KINDS], double all, uint32_t *ready) {
    struct lc_graph_span *span = &spans->nodes[node];
    if (span->arrived == 0) {
        LC_TRY(lc_grow(&spans->arrivals, &spans->cap_arrivals, spans->n_arrivals + 1,
                       sizeof *spans->arrivals));
        spans->arrivals[spans->n_arrivals].by = LC_NONE;
        span->arrived = (uint32_t)++spans->n_arrivals;
    }
    struct lc_graph_arrival *arrival = &spans->arrivals[span->arrived - 1];
    for (int k = 0; k < LC_COST_KINDS; k++)
        arrival->rates[k] += rates[k];
    if (all > arrival->most) {
        arrival->most = all;
        arrival->by = by;
    }
    *ready = 0;
    if (--span->open == 0) {
        *ready = span->waiting;
        span->waiting = 0;
    }
    return LC_OK;
}

void lc_graph_spans_close(struct lc_graph_spans *spans, uint32_t state, int64_t ticks) {
    if (!lc_graph_spans_cover(spans, state))
        return;
    for (size_t node = lc_span_leaf(state, spans->n_blocks); node > 0; node /= 2)
        spans->nodes[node].closed += ticks;
}

void lc_graph_spans_collect(const struct lc_graph_spans *spans, uint32_t state, int64_t ticks,
                            double costs[LC_COST_KINDS], double *most, uint32_t *by) {
    for (size_t node = lc_span_leaf(state, spans->n_blocks); node > 0; node /= 2) {
        if (spans->nodes[node].arrived == 0)
            continue;
        const struct lc_graph_arrival *arrival = &spans->arrivals[spans->nodes[node].arrived - 1];
        for (int k = 0; k < LC_COST_KINDS; k++)
            costs[k] += arrival->rates[k] * (double)ticks;
        if (arrival->most * (double)ticks > *most) {
            *most = arrival->most * (double)ticks;
            *by = arrival->by;
        }
    }
}
