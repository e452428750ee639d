#include "analyze/long_term.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/graph_spans.h"
#include "analyze/wait_graph.h"
#include "base/mem.h"

enum { BLOCK = 1 << 15 }; /* bookings that travel at once */

struct booking {
    uint32_t interval; /* index at its owner */
    uint32_t kind;
    double value;
};

/* Costs on their way: vectors of the wait states that were reached and not yet processed. */
struct vectors {
    double (*values)[LC_COST_KINDS];
    size_t n, capacity;
    uint32_t *unused; /* stack */
    size_t n_unused, cap_unused;
};

struct sweep {
    enum lc_delay_model model;
    const struct lc_wait_graph *graph;
    uint32_t *open;    /* per node: later wait states that have not handed over to it alone yet */
    uint32_t *slot;    /* per node: its vector + 1, 0 if nothing arrived */
    uint8_t *state_of; /* enum node_state */
    uint64_t next; /* into the order of the nodes; from n_nodes on for a second time, for circles */
    uint32_t *stack;
    size_t n_stack, cap_stack;
    struct vectors vectors;
    struct lc_graph_spans spans;
    struct lc_handed handed; /* what its wait states carry and hand over; `carried` is not here */
    struct booking *out;
    uint32_t *out_rank;
    size_t n_out, cap_out, cap_rank;
    double uncaused[LC_COST_KINDS];
    int64_t n_circles;
};

enum node_state { NODE_NEW, NODE_DEFERRED, NODE_DONE };

static enum lc_err vector_of(struct sweep *s, uint32_t node, double **vector) {
    struct vectors *v = &s->vectors;
    if (s->slot[node] == 0) {
        uint32_t slot;
        if (v->n_unused > 0) {
            slot = v->unused[--v->n_unused];
        } else {
            LC_TRY(lc_grow(&v->values, &v->capacity, v->n + 1, sizeof *v->values));
            slot = (uint32_t)v->n++;
        }
        memset(v->values[slot], 0, sizeof v->values[slot]);
        s->slot[node] = slot + 1;
    }
    *vector = v->values[s->slot[node] - 1];
    return LC_OK;
}

static enum lc_err release_vector(struct sweep *s, uint32_t node) {
    struct vectors *v = &s->vectors;
    if (s->slot[node] == 0)
        return LC_OK;
    LC_TRY(lc_grow(&v->unused, &v->cap_unused, v->n_unused + 1, sizeof *v->unused));
    v->unused[v->n_unused++] = s->slot[node] - 1;
    s->slot[node] = 0;
    return LC_OK;
}

static enum lc_err emit(struct sweep *s, uint32_t link, const double *costs) {
    uint32_t rank = lc_wait_graph_rank_of(s->graph, link);
    for (uint32_t k = 0; k < LC_COST_KINDS; k++) {
        if (costs[k] == 0)
            continue;
        LC_TRY(lc_reserve(&s->out, &s->cap_out, s->n_out + 1, sizeof *s->out));
        LC_TRY(lc_reserve(&s->out_rank, &s->cap_rank, s->n_out + 1, sizeof *s->out_rank));
        s->out_rank[s->n_out] = rank;
        s->out[s->n_out++] =
            (struct booking){(uint32_t)(link - s->graph->first_link[rank]), k, costs[k]};
    }
    return LC_OK;
}

/* Whether all have handed over to v; otherwise it is deferred until they have. */
static bool is_ready(struct sweep *s, uint32_t v) {
    size_t span = s->open[v] > 0 ? 0 : lc_graph_spans_open(&s->spans, v);
    if (s->open[v] == 0 && span == 0)
        return true;
    s->state_of[v] = NODE_DEFERRED;
    if (span > 0)
        lc_graph_spans_wait(&s->spans, span, v);
    return false;
}

/* Nobody that v was known to wait for is left: it goes on the stack if it was passed already and
 * waits for nobody else. */
static enum lc_err resume(struct sweep *s, uint32_t v) {
    if (s->state_of[v] != NODE_DEFERRED || !is_ready(s, v))
        return LC_OK;
    LC_TRY(lc_grow(&s->stack, &s->cap_stack, s->n_stack + 1, sizeof *s->stack));
    s->stack[s->n_stack++] = v;
    return LC_OK;
}

struct load {              /* what a wait state hands over */
    const double *costs;   /* all that it carries, own waiting included */
    double total, to_wait; /* their sum; the part of them that goes to the waits of its cause */
};

static enum lc_err hand_over_alone(struct sweep *s, uint32_t x, const struct lc_graph_link *link,
                                   const struct load *load, uint64_t from, uint64_t until) {
    const double *costs = load->costs, total = load->total;
    for (uint32_t v = (uint32_t)from; v < until; v++) {
        int64_t overlap = v == link->first_v                   ? link->first_overlap
                          : v + 1 == link->first_v + link->n_v ? link->last_overlap
                                                               : s->graph->nodes[v].ticks;
        double share = load->to_wait * (double)overlap / (double)link->waits;
        if (share > 0 && s->state_of[v] == NODE_DONE) {
            for (int k = 0; k < LC_COST_KINDS; k++)
                s->uncaused[k] += costs[k] * share; /* a circle */
        } else if (share > 0) {
            double *vector;
            LC_TRY(vector_of(s, v, &vector));
            for (int k = 0; k < LC_COST_KINDS; k++)
                vector[k] += costs[k] * share;
            if (total * share > s->handed.handed_most[v]) {
                s->handed.handed_most[v] = total * share;
                s->handed.handed_by[v] = x;
            }
        }
        if (--s->open[v] == 0)
            LC_TRY(resume(s, v));
    }
    return LC_OK;
}

static enum lc_err hand_over_to_span(struct sweep *s, uint32_t x, const struct lc_graph_link *link,
                                     const struct load *load, struct lc_block_span span) {
    double rates[LC_COST_KINDS], rate = load->to_wait > 0 ? load->to_wait / (double)link->waits : 0;
    struct lc_span_walk walk = lc_span_begin(span, s->spans.n_blocks);
    for (int k = 0; k < LC_COST_KINDS; k++)
        rates[k] = load->costs[k] * rate;
    for (size_t node; (node = lc_span_next(&walk)) > 0;) {
        uint32_t ready;
        for (int k = 0; k < LC_COST_KINDS; k++)
            s->uncaused[k] += rates[k] * (double)s->spans.nodes[node].closed; /* circles */
        LC_TRY(lc_graph_spans_add(&s->spans, node, x, rates, load->total * rate, &ready));
        while (ready > 0) {
            uint32_t v = ready - 1;
            ready = s->spans.next[v];
            LC_TRY(resume(s, v));
        }
    }
    return LC_OK;
}

/* Hands `costs` over to the waits of the cause of x. */
static enum lc_err hand_over(struct sweep *s, uint32_t x, const struct lc_graph_link *link,
                             const double *costs, double to_wait) {
    struct lc_block_span span = lc_span_inside(link->first_v, link->n_v);
    struct load load = {costs, 0, to_wait};
    for (int k = 0; k < LC_COST_KINDS; k++)
        load.total += costs[k];
    LC_TRY(hand_over_alone(s, x, link, &load, link->first_v, span.from));
    if (span.from == span.until)
        return LC_OK;
    LC_TRY(hand_over_to_span(s, x, link, &load, span));
    return hand_over_alone(s, x, link, &load, span.until, (uint64_t)link->first_v + link->n_v);
}

/* All that arrived at x; it receives nothing more. */
static enum lc_err collect(struct sweep *s, uint32_t x, double *costs) {
    if (s->slot[x] != 0)
        memcpy(costs, s->vectors.values[s->slot[x] - 1], LC_COST_KINDS * sizeof *costs);
    LC_TRY(release_vector(s, x));
    s->state_of[x] = NODE_DONE;
    if (!lc_graph_spans_cover(&s->spans, x))
        return LC_OK;
    double most = s->handed.handed_most[x];
    uint32_t by = LC_NONE;
    lc_graph_spans_collect(&s->spans, x, s->graph->nodes[x].ticks, costs, &most, &by);
    if (by != LC_NONE) {
        s->handed.handed_by[x] = by;
        s->handed.handed_most[x] = most;
    }
    return LC_OK;
}

static enum lc_err process(struct sweep *s, uint32_t x) {
    double costs[LC_COST_KINDS] = {0};
    LC_TRY(collect(s, x, costs));
    if (s->graph->link_of[x] == LC_NONE) {
        for (int k = 0; k < LC_COST_KINDS; k++)
            s->uncaused[k] += costs[k];
        return LC_OK;
    }
    const struct lc_graph_link *link = &s->graph->links[s->graph->link_of[x]];
    LC_TRY(emit(s, s->graph->link_of[x], costs));
    s->handed.costs[x] = (double)s->graph->nodes[x].ticks;
    for (int k = 0; k < LC_COST_KINDS; k++)
        s->handed.costs[x] += costs[k];
    if (link->n_v == 0)
        return LC_OK;
    double to_code, to_wait;
    lc_delay_shares(s->model, s->graph->nodes[x].ticks, link->code, link->waits, &to_code,
                    &to_wait);
    costs[link->kind] += (double)s->graph->nodes[x].ticks;
    return hand_over(s, x, link, costs, to_wait);
}

/* Goes on until the output is full or everything is done. Normally each wait state lies before all
 * that hand over to it; equal ends and wrong clocks make exceptions, which wait for those. What
 * still waits in the end is in a circle: it is processed as it is. */
static enum lc_err advance(struct sweep *s) {
    while (s->n_out < BLOCK) {
        uint32_t x;
        if (s->n_stack > 0) {
            x = s->stack[--s->n_stack];
        } else if (s->next < s->graph->n_nodes) {
            x = s->graph->order[s->next++];
            if (!is_ready(s, x))
                continue;
        } else if (s->next < 2 * (uint64_t)s->graph->n_nodes) {
            x = s->graph->order[s->next++ - s->graph->n_nodes];
            if (s->state_of[x] == NODE_DONE)
                continue;
            s->n_circles++;
            lc_graph_spans_close(&s->spans, x, s->graph->nodes[x].ticks);
        } else {
            return LC_OK;
        }
        if (s->state_of[x] != NODE_DONE)
            LC_TRY(process(s, x));
    }
    return LC_OK;
}

static bool is_finished(const struct sweep *s) {
    return s->n_stack == 0 && s->next >= 2 * (uint64_t)s->graph->n_nodes && s->n_out == 0;
}

static enum lc_err prepare_sweep(struct sweep *s, const struct lc_wait_graph *graph) {
    size_t n = (size_t)graph->n_nodes + 1;
    s->graph = graph;
    LC_TRY(lc_alloc(&s->open, n, sizeof *s->open));
    LC_TRY(lc_alloc(&s->slot, n, sizeof *s->slot));
    LC_TRY(lc_alloc(&s->state_of, n, sizeof *s->state_of));
    LC_TRY(lc_alloc(&s->handed.handed_by, n, sizeof *s->handed.handed_by));
    LC_TRY(lc_alloc(&s->handed.handed_most, n, sizeof *s->handed.handed_most));
    LC_TRY(lc_alloc(&s->handed.costs, n, sizeof *s->handed.costs));
    memset(s->handed.handed_by, 0xff, n * sizeof *s->handed.handed_by);
    memcpy(s->open, graph->n_later, n * sizeof *s->open);
    return lc_graph_spans_new(&s->spans, graph);
}

static void free_handed(struct lc_handed *handed) {
    free(handed->carried);
    free(handed->handed_by);
    free(handed->handed_most);
    free(handed->costs);
    *handed = (struct lc_handed){0};
}

static void free_sweep(struct sweep *s) {
    free(s->open);
    free(s->slot);
    free(s->state_of);
    free(s->stack);
    free(s->vectors.values);
    free(s->vectors.unused);
    lc_graph_spans_free(&s->spans);
    free_handed(&s->handed);
    free(s->out);
    free(s->out_rank);
}

static enum lc_err book(struct lc_long_term *result, struct lc_delay *delay,
                        const struct booking *arrived, size_t n, enum lc_delay_model model) {
    for (size_t i = 0; i < n; i++) {
        const struct lc_sync_interval *x = &delay->intervals[arrived[i].interval];
        double to_code, to_wait;
        lc_delay_shares(model, x->ticks, x->code, x->waits, &to_code, &to_wait);
        if (to_code > 0)
            LC_TRY(lc_delay_book(delay, x, LC_LONG_TERM, model, arrived[i].kind,
                                 arrived[i].value * to_code));
        result->of[model].carried[arrived[i].interval] += arrived[i].value;
    }
    return LC_OK;
}

/* All models side by side: each sweep on its rank, bookings to the owners of the intervals, block
 * by block. */
static enum lc_err run_sweeps(struct lc_long_term *result, struct lc_delay *delay,
                              struct sweep *sweeps) {
    const struct lc_transport *comm = delay->lines->trace->comm;
    for (;;) {
        int64_t left = 0;
        enum lc_err err = LC_OK;
        for (uint32_t model = 0; model < LC_MODELS; model++)
            if (lc_long_term_rank(comm, model) == comm->rank && err == LC_OK)
                err = advance(&sweeps[model]);
        LC_TRY(lc_transport_agree(comm, err));
        for (uint32_t model = 0; model < LC_MODELS; model++) {
            struct sweep *s = &sweeps[model];
            struct booking *arrived = NULL;
            size_t n = 0;
            LC_TRY(lc_transport_exchange(comm, s->out, s->out_rank, s->n_out, sizeof *s->out,
                                         (void **)&arrived, &n));
            s->n_out = 0;
            err = book(result, delay, arrived, n, model);
            free(arrived);
            LC_TRY(lc_transport_agree(comm, err));
            left += lc_long_term_rank(comm, model) == comm->rank && !is_finished(s);
        }
        lc_transport_allreduce_i64(comm, &left, 1, LC_OP_SUM);
        if (left == 0)
            return LC_OK;
    }
}

static enum lc_err begin_carried(struct lc_long_term *result, const struct lc_delay *delay) {
    for (int model = 0; model < LC_MODELS; model++) {
        double **carried = &result->of[model].carried;
        LC_TRY(lc_alloc(carried, delay->n_intervals + 1, sizeof **carried));
        for (size_t i = 0; i < delay->n_intervals; i++)
            (*carried)[i] = (double)delay->intervals[i].ticks;
    }
    return LC_OK;
}

enum lc_err lc_long_term_run(struct lc_long_term *result, struct lc_delay *delay) {
    const struct lc_timelines *lines = delay->lines;
    const struct lc_transport *comm = lines->trace->comm;
    struct sweep sweeps[LC_MODELS] = {0};
    struct lc_wait_graph graphs[LC_MODELS] = {0}; /* rank r has graphs[r] */
    uint32_t n_graphs = comm->size < LC_MODELS ? comm->size : LC_MODELS;
    memset(result, 0, sizeof *result);
    result->n_states = lines->first_state[lines->trace->n_locations];
    if (result->n_states >= LC_NONE)
        return lc_fail(LC_ERR_RANGE,
                       "root causes: more than 4294967294 wait states: analyse a part of the run");
    enum lc_err err = lc_transport_agree(comm, begin_carried(result, delay));
    if (err == LC_OK)
        err = lc_wait_graphs_gather(graphs, n_graphs, delay);
    for (uint32_t model = 0; model < LC_MODELS && err == LC_OK; model++) {
        sweeps[model].model = model;
        if (lc_long_term_rank(comm, model) == comm->rank)
            err = prepare_sweep(&sweeps[model], &graphs[comm->rank]);
    }
    err = lc_transport_agree(comm, err);
    if (err == LC_OK)
        err = run_sweeps(result, delay, sweeps);
    for (int model = 0; model < LC_MODELS; model++) {
        memcpy(delay->costs->uncaused[model], sweeps[model].uncaused,
               sizeof sweeps[model].uncaused);
        delay->costs->n_circles += sweeps[model].n_circles;
    }
    for (int model = 0; model < LC_MODELS; model++) {
        sweeps[model].handed.carried = result->of[model].carried;
        result->of[model] = sweeps[model].handed;
        sweeps[model].handed = (struct lc_handed){0};
    }
    for (int model = 0; model < LC_MODELS; model++)
        free_sweep(&sweeps[model]);
    for (uint32_t i = 0; i < n_graphs; i++)
        lc_wait_graph_free(&graphs[i]);
    if (err != LC_OK)
        lc_long_term_free(result);
    return err;
}

void lc_long_term_free(struct lc_long_term *result) {
    for (int model = 0; model < LC_MODELS; model++)
        free_handed(&result->of[model]);
    *result = (struct lc_long_term){0};
}
