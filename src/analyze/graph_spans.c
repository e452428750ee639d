#include "analyze/graph_spans.h"

#include <stdlib.h>

#include "base/mem.h"

static size_t loc_of(const struct lc_delay *delay, const struct lc_sync_interval *interval) {
    return (size_t)(lc_timeline_of(delay->lines, interval->cause) - delay->lines->lines);
}

/* Where the places of each location begin. Returns where they end. */
static uint64_t number_places(struct lc_graph_spans *spans) {
    uint64_t next = 0;
    for (size_t l = 0; l < spans->lines->trace->n_locs; l++) {
        spans->first_place[l] = next;
        next += lc_span_blocks(spans->lines->lines[l].n_states) * LC_SPAN_BLOCK;
    }
    return next;
}

static enum lc_err make_tree(struct lc_graph_spans *spans, const struct lc_delay *delay,
                             uint64_t n_places) {
    size_t n_blocks = lc_span_blocks(n_places);
    LC_TRY(lc_alloc(&spans->nodes, 2 * n_blocks, sizeof *spans->nodes));
    LC_TRY(lc_alloc(&spans->covered, 2 * n_blocks, sizeof *spans->covered));
    LC_TRY(lc_alloc(&spans->next, (size_t)spans->lines->n_states, sizeof *spans->next));
    spans->n_blocks = n_blocks;
    for (size_t i = 0; i < delay->n_intervals; i++) {
        const struct lc_sync_interval *x = &delay->intervals[i];
        struct lc_block_span span = lc_graph_span_of(spans, loc_of(delay, x), x);
        struct lc_span_walk walk = lc_span_begin(span, n_blocks);
        for (size_t node; span.from < span.until && (node = lc_span_next(&walk)) > 0;)
            spans->nodes[node].open++;
    }
    for (size_t node = 1; node < 2 * n_blocks; node++)
        spans->covered[node] = spans->nodes[node].open > 0 || spans->covered[node / 2];
    return LC_OK;
}

enum lc_err lc_graph_spans_new(struct lc_graph_spans *spans, const struct lc_delay *delay,
                               uint32_t n_rows) {
    bool any = false;
    spans->lines = delay->lines;
    spans->n_rows = n_rows;
    LC_TRY(
        lc_alloc(&spans->first_place, delay->lines->trace->n_locs + 1, sizeof *spans->first_place));
    uint64_t n_places = number_places(spans);
    for (size_t i = 0; i < delay->n_intervals && !any; i++) {
        const struct lc_sync_interval *x = &delay->intervals[i];
        struct lc_block_span span = lc_graph_span_of(spans, loc_of(delay, x), x);
        any = span.from < span.until;
    }
    return any ? make_tree(spans, delay, n_places) : LC_OK;
}

void lc_graph_spans_free(struct lc_graph_spans *spans) {
    free(spans->first_place);
    free(spans->nodes);
    free(spans->covered);
    free(spans->next);
    free(spans->arrivals);
    free(spans->rates);
}

size_t lc_graph_spans_leaf(const struct lc_graph_spans *spans, uint32_t state) {
    const struct lc_timelines *lines = spans->lines;
    if (spans->n_blocks == 0)
        return 0;
    size_t loc = lc_line_of_state(lines, state);
    uint64_t first = (uint64_t)(lines->lines[loc].states - lines->states);
    size_t leaf = lc_span_leaf(spans->first_place[loc] + (state - first), spans->n_blocks);
    return spans->covered[leaf] ? leaf : 0;
}

void lc_graph_spans_wait(struct lc_graph_spans *spans, size_t node, uint32_t state) {
    spans->next[state] = spans->nodes[node].waiting;
    spans->nodes[node].waiting = state + 1;
}

static enum lc_err add_arrival(struct lc_graph_spans *spans, struct lc_graph_span *span) {
    size_t need = spans->n_arrivals + 1;
    LC_TRY(lc_grow(&spans->arrivals, &spans->cap_arrivals, need, sizeof *spans->arrivals));
    LC_TRY(lc_grow(&spans->rates, &spans->cap_rates, need * spans->n_rows, sizeof *spans->rates));
    for (int model = 0; model < LC_MODELS; model++)
        spans->arrivals[spans->n_arrivals].most[model].by = UINT64_MAX;
    span->arrived = (uint32_t)++spans->n_arrivals;
    return LC_OK;
}

enum lc_err lc_graph_spans_add(struct lc_graph_spans *spans, size_t node, uint64_t by,
                               const double *rates, const double all[LC_MODELS], uint32_t *ready) {
    struct lc_graph_span *span = &spans->nodes[node];
    if (span->arrived == 0)
        LC_TRY(add_arrival(spans, span));
    struct lc_exact *sums = &spans->rates[(span->arrived - 1) * (size_t)spans->n_rows];
    for (uint32_t row = 0; row < spans->n_rows; row++)
        if (rates[row] != 0)
            lc_exact_add(&sums[row], rates[row] * LC_RATE_SCALE);
    for (int model = 0; model < LC_MODELS; model++)
        lc_most_raise(&spans->arrivals[span->arrived - 1].most[model], all[model], by);
    *ready = 0;
    if (--span->open == 0) {
        *ready = span->waiting;
        span->waiting = 0;
    }
    return LC_OK;
}

void lc_graph_spans_close(struct lc_graph_spans *spans, size_t leaf, int64_t ticks) {
    for (size_t node = leaf; node > 0; node /= 2)
        spans->nodes[node].closed += ticks;
}

/* How the tree lies over the blocks depends on the number of ranks: so its nodes are put together
 * exactly before anything is rounded. */
void lc_graph_spans_collect(const struct lc_graph_spans *spans, size_t leaf, int64_t ticks,
                            double *costs, struct lc_most_handed most[LC_MODELS]) {
    struct lc_exact sums[LC_MODELS * LC_COST_KINDS] = {{0}};
    struct lc_most_handed rates[LC_MODELS];
    for (int model = 0; model < LC_MODELS; model++)
        rates[model] = (struct lc_most_handed){0, UINT64_MAX};
    for (size_t node = leaf; node > 0; node /= 2) {
        if (spans->nodes[node].arrived == 0)
            continue;
        size_t arrival = spans->nodes[node].arrived - 1;
        for (uint32_t row = 0; row < spans->n_rows; row++)
            sums[row].parts += spans->rates[arrival * spans->n_rows + row].parts;
        for (int model = 0; model < LC_MODELS; model++)
            lc_most_raise(&rates[model], spans->arrivals[arrival].most[model].most,
                          spans->arrivals[arrival].most[model].by);
    }
    for (uint32_t row = 0; row < spans->n_rows; row++)
        costs[row] += lc_exact_get(&sums[row]) / LC_RATE_SCALE * (double)ticks;
    for (int model = 0; model < LC_MODELS; model++)
        lc_most_raise(&most[model], rates[model].most * (double)ticks, rates[model].by);
}
