#include "analyze/long_term.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/radix.h"
#include "base/mem.h"

enum { BLOCK = 1 << 15 }; /* bookings that travel at once */

struct node { /* a wait state */
    int64_t end, ticks;
};

struct link {                     /* its interval */
    uint32_t state, first_v, n_v; /* numbers in the trace */
    uint32_t kind;
    int64_t first_overlap, last_overlap; /* the others lie inside as a whole */
    int64_t code, waits;
};

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
    struct node *nodes;
    uint32_t n_nodes;
    struct node *arrived; /* the same rank by rank, until they are in order */
    struct link *links;
    size_t n_links;
    uint64_t *first_link; /* per rank, of the gathered links */
    uint32_t n_ranks;
    uint32_t *link_of; /* per node, LC_NONE without cause */
    uint32_t *open;    /* per node: later wait states that have not handed over yet */
    uint32_t *slot;    /* per node: its vector + 1, 0 if nothing arrived */
    uint8_t *state_of; /* enum node_state */
    uint32_t *order;   /* nodes by end, latest first */
    uint64_t next;     /* into `order`; from n_nodes on for a second time, for circles */
    uint32_t *stack;
    size_t n_stack, cap_stack;
    struct vectors vectors;
    uint32_t *handed_by; /* or NULL */
    double *handed_most;
    struct booking *out;
    uint32_t *out_rank;
    size_t n_out, cap_out, cap_rank;
    double uncaused;
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

/* The rank that a gathered link came from. */
static uint32_t rank_of_link(const struct sweep *s, uint64_t link) {
    uint32_t low = 0, high = s->n_ranks;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (s->first_link[middle] <= link)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static enum lc_err emit(struct sweep *s, uint32_t link, const double *costs) {
    uint32_t rank = rank_of_link(s, link);
    for (uint32_t k = 0; k < LC_COST_KINDS; k++) {
        if (costs[k] == 0)
            continue;
        LC_TRY(lc_reserve(&s->out, &s->cap_out, s->n_out + 1, sizeof *s->out));
        LC_TRY(lc_reserve(&s->out_rank, &s->cap_rank, s->n_out + 1, sizeof *s->out_rank));
        s->out_rank[s->n_out] = rank;
        s->out[s->n_out++] = (struct booking){(uint32_t)(link - s->first_link[rank]), k, costs[k]};
    }
    return LC_OK;
}

/* Hands `costs` (all that x carries, own waiting included) over to the waits of its cause; those
 * that wait for nobody else any more and were passed already go on the stack. */
static enum lc_err hand_over(struct sweep *s, uint32_t x, const struct link *link,
                             const double *costs, double to_wait) {
    double total = 0;
    for (int k = 0; k < LC_COST_KINDS; k++)
        total += costs[k];
    for (uint32_t i = 0; i < link->n_v; i++) {
        uint32_t v = link->first_v + i;
        int64_t overlap = i == 0               ? link->first_overlap
                          : i + 1 == link->n_v ? link->last_overlap
                                               : s->nodes[v].ticks;
        double share = to_wait * (double)overlap / (double)link->waits;
        if (share > 0 && s->state_of[v] == NODE_DONE) {
            s->uncaused += total * share; /* a circle */
        } else if (share > 0) {
            double *vector;
            LC_TRY(vector_of(s, v, &vector));
            for (int k = 0; k < LC_COST_KINDS; k++)
                vector[k] += costs[k] * share;
            if (s->handed_by != NULL && total * share > s->handed_most[v]) {
                s->handed_most[v] = total * share;
                s->handed_by[v] = x;
            }
        }
        if (--s->open[v] == 0 && s->state_of[v] == NODE_DEFERRED) {
            LC_TRY(lc_grow(&s->stack, &s->cap_stack, s->n_stack + 1, sizeof *s->stack));
            s->stack[s->n_stack++] = v;
        }
    }
    return LC_OK;
}

static enum lc_err process(struct sweep *s, uint32_t x) {
    double costs[LC_COST_KINDS] = {0};
    if (s->slot[x] != 0)
        memcpy(costs, s->vectors.values[s->slot[x] - 1], sizeof costs);
    LC_TRY(release_vector(s, x));
    s->state_of[x] = NODE_DONE;
    if (s->link_of[x] == LC_NONE) {
        for (int k = 0; k < LC_COST_KINDS; k++)
            s->uncaused += costs[k];
        return LC_OK;
    }
    const struct link *link = &s->links[s->link_of[x]];
    LC_TRY(emit(s, s->link_of[x], costs));
    if (link->n_v == 0)
        return LC_OK;
    double to_code, to_wait;
    lc_delay_shares(s->model, s->nodes[x].ticks, link->code, link->waits, &to_code, &to_wait);
    if (link->kind < LC_COST_KINDS)
        costs[link->kind] += (double)s->nodes[x].ticks;
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
        } else if (s->next < s->n_nodes) {
            x = s->order[s->next++];
            if (s->open[x] > 0) {
                s->state_of[x] = NODE_DEFERRED;
                continue;
            }
        } else if (s->next < 2 * (uint64_t)s->n_nodes) {
            x = s->order[s->next++ - s->n_nodes];
            if (s->state_of[x] == NODE_DONE)
                continue;
            s->n_circles++;
        } else {
            return LC_OK;
        }
        if (s->state_of[x] != NODE_DONE)
            LC_TRY(process(s, x));
    }
    return LC_OK;
}

static bool is_finished(const struct sweep *s) {
    return s->n_stack == 0 && s->next >= 2 * (uint64_t)s->n_nodes && s->n_out == 0;
}

static uint64_t end_key(const void *nodes, uint32_t index, int level) {
    (void)level;
    return ~lc_key_signed(((const struct node *)nodes)[index].end);
}

static enum lc_err prepare_sweep(struct sweep *s) {
    size_t n = (size_t)s->n_nodes + 1;
    LC_TRY(lc_alloc(&s->link_of, n, sizeof *s->link_of));
    LC_TRY(lc_alloc(&s->open, n, sizeof *s->open));
    LC_TRY(lc_alloc(&s->slot, n, sizeof *s->slot));
    LC_TRY(lc_alloc(&s->state_of, n, sizeof *s->state_of));
    if (s->model == LC_PROPORTIONAL) {
        LC_TRY(lc_alloc(&s->handed_by, n, sizeof *s->handed_by));
        LC_TRY(lc_alloc(&s->handed_most, n, sizeof *s->handed_most));
        memset(s->handed_by, 0xff, n * sizeof *s->handed_by);
    }
    memset(s->link_of, 0xff, n * sizeof *s->link_of);
    for (size_t i = 0; i < s->n_links; i++) {
        const struct link *link = &s->links[i];
        s->link_of[link->state] = (uint32_t)i;
        for (uint32_t k = 0; k < link->n_v; k++)
            s->open[link->first_v + k]++;
    }
    return lc_order_by(&s->order, s->nodes, s->n_nodes, end_key, 1);
}

static void free_sweep(struct sweep *s) {
    free(s->nodes);
    free(s->arrived);
    free(s->links);
    free(s->first_link);
    free(s->link_of);
    free(s->open);
    free(s->slot);
    free(s->state_of);
    free(s->order);
    free(s->stack);
    free(s->vectors.values);
    free(s->vectors.unused);
    free(s->handed_by);
    free(s->handed_most);
    free(s->out);
    free(s->out_rank);
}

/* Gathers `records` of all ranks on rank `root`; first[] (size entries, may be NULL) where those of
 * each rank begin. */
static enum lc_err gather_on(const struct lc_comm *comm, uint32_t root, const void *records,
                             size_t n, size_t bytes, void **all, size_t *n_all, uint64_t *first) {
    uint64_t *counts = NULL;
    enum lc_err err = lc_comm_agree(comm, lc_alloc(&counts, comm->size, sizeof *counts));
    if (err != LC_OK) {
        free(counts);
        return err;
    }
    counts[root] = n;
    err = lc_comm_exchange_grouped(comm, records, counts, bytes, all, n_all, first);
    uint64_t sum = 0;
    for (uint32_t i = 0; i < comm->size && first != NULL; i++) {
        uint64_t count = first[i];
        first[i] = sum;
        sum += count;
    }
    free(counts);
    return err;
}

static enum lc_err make_nodes(const struct lc_timelines *lines, struct node **nodes) {
    LC_TRY(lc_alloc(nodes, lines->n_states + 1, sizeof **nodes));
    for (uint64_t i = 0; i < lines->n_states; i++)
        (*nodes)[i] = (struct node){lines->states[i].end, lines->states[i].ticks};
    return LC_OK;
}

static enum lc_err make_links(const struct lc_delay *delay, struct link **links) {
    LC_TRY(lc_alloc(links, delay->n_intervals + 1, sizeof **links));
    for (size_t i = 0; i < delay->n_intervals; i++) {
        const struct lc_interval *x = &delay->intervals[i];
        const struct lc_timeline *line = lc_timeline_of(delay->lines, x->cause);
        struct link *link = &(*links)[i];
        *link = (struct link){.state = (uint32_t)x->state,
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
static enum lc_err order_nodes(struct sweep *s, const struct lc_timelines *lines) {
    const struct lc_trace *trace = lines->trace;
    LC_TRY(lc_alloc(&s->nodes, (size_t)s->n_nodes + 1, sizeof *s->nodes));
    size_t at = 0;
    for (uint32_t rank = 0; rank < trace->comm->size; rank++)
        for (uint32_t l = 0; l < trace->n_locations; l++) {
            size_t n = (size_t)(lines->first_state[l + 1] - lines->first_state[l]);
            if (n == 0 || lc_trace_owner(trace, l) != rank)
                continue;
            memcpy(s->nodes + lines->first_state[l], s->arrived + at, n * sizeof *s->arrived);
            at += n;
        }
    free(s->arrived);
    s->arrived = NULL;
    return LC_OK;
}

/* Collective: nodes and links of all ranks on the rank that sweeps for this model. */
static enum lc_err gather_model(struct sweep *s, const struct lc_timelines *lines,
                                const struct node *nodes, const struct link *links,
                                size_t n_links) {
    const struct lc_comm *comm = lines->trace->comm;
    uint32_t root = s->model % comm->size;
    struct node *arrived = NULL;
    size_t n_arrived = 0;
    s->n_ranks = comm->size;
    enum lc_err err =
        lc_comm_agree(comm, lc_alloc(&s->first_link, comm->size, sizeof *s->first_link));
    if (err == LC_OK)
        err = gather_on(comm, root, nodes, lines->n_states, sizeof *nodes, (void **)&arrived,
                        &n_arrived, NULL);
    if (err == LC_OK)
        err = gather_on(comm, root, links, n_links, sizeof *links, (void **)&s->links, &s->n_links,
                        s->first_link);
    s->n_nodes = (uint32_t)n_arrived;
    s->arrived = arrived;
    return err;
}

static enum lc_err gather_graph(struct sweep *sweeps, const struct lc_delay *delay) {
    const struct lc_timelines *lines = delay->lines;
    const struct lc_comm *comm = lines->trace->comm;
    struct node *nodes = NULL;
    struct link *links = NULL;
    enum lc_err err = make_nodes(lines, &nodes);
    if (err == LC_OK)
        err = make_links(delay, &links);
    err = lc_comm_agree(comm, err);
    for (uint32_t model = 0; model < LC_MODELS && err == LC_OK; model++) {
        sweeps[model].model = model;
        err = gather_model(&sweeps[model], lines, nodes, links, delay->n_intervals);
    }
    free(nodes);
    free(links);
    /* Side by side, once everybody has everything. */
    for (uint32_t model = 0; model < LC_MODELS && err == LC_OK; model++) {
        if (model % comm->size != comm->rank)
            continue;
        err = order_nodes(&sweeps[model], lines);
        if (err == LC_OK)
            err = prepare_sweep(&sweeps[model]);
    }
    return lc_comm_agree(comm, err);
}

static enum lc_err book(struct lc_long_term *result, struct lc_delay *delay,
                        const struct booking *arrived, size_t n, enum lc_delay_model model) {
    for (size_t i = 0; i < n; i++) {
        const struct lc_interval *x = &delay->intervals[arrived[i].interval];
        double to_code, to_wait;
        lc_delay_shares(model, x->ticks, x->code, x->waits, &to_code, &to_wait);
        if (to_code > 0)
            LC_TRY(lc_delay_book(delay, x, LC_LONG_TERM, model, arrived[i].kind,
                                 arrived[i].value * to_code));
        if (model == LC_PROPORTIONAL)
            result->carried[arrived[i].interval] += arrived[i].value;
    }
    return LC_OK;
}

/* All models side by side: each sweep on its rank, bookings to the owners of the intervals, block
 * by block. */
static enum lc_err run_sweeps(struct lc_long_term *result, struct lc_delay *delay,
                              struct sweep *sweeps) {
    const struct lc_comm *comm = delay->lines->trace->comm;
    for (;;) {
        int64_t left = 0;
        enum lc_err err = LC_OK;
        for (uint32_t model = 0; model < LC_MODELS; model++)
            if (model % comm->size == comm->rank && err == LC_OK)
                err = advance(&sweeps[model]);
        LC_TRY(lc_comm_agree(comm, err));
        for (uint32_t model = 0; model < LC_MODELS; model++) {
            struct sweep *s = &sweeps[model];
            struct booking *arrived = NULL;
            size_t n = 0;
            LC_TRY(lc_comm_exchange(comm, s->out, s->out_rank, s->n_out, sizeof *s->out,
                                    (void **)&arrived, &n));
            s->n_out = 0;
            err = book(result, delay, arrived, n, model);
            free(arrived);
            LC_TRY(lc_comm_agree(comm, err));
            left += model % comm->size == comm->rank && !is_finished(s);
        }
        lc_comm_allreduce_i64(comm, &left, 1, LC_OP_SUM);
        if (left == 0)
            return LC_OK;
    }
}

enum lc_err lc_long_term_run(struct lc_long_term *result, struct lc_delay *delay) {
    const struct lc_timelines *lines = delay->lines;
    const struct lc_comm *comm = lines->trace->comm;
    struct sweep sweeps[LC_MODELS] = {0};
    memset(result, 0, sizeof *result);
    result->n_states = lines->first_state[lines->trace->n_locations];
    if (result->n_states >= LC_NONE)
        return lc_fail(LC_ERR_RANGE,
                       "root causes: more than 4294967294 wait states: analyse a part of the run");
    enum lc_err err = lc_comm_agree(
        comm, lc_alloc(&result->carried, delay->n_intervals + 1, sizeof *result->carried));
    for (size_t i = 0; i < delay->n_intervals && err == LC_OK; i++)
        result->carried[i] =
            delay->intervals[i].kind < LC_COST_KINDS ? (double)delay->intervals[i].ticks : 0;
    if (err == LC_OK)
        err = gather_graph(sweeps, delay);
    if (err == LC_OK)
        err = run_sweeps(result, delay, sweeps);
    for (int model = 0; model < LC_MODELS; model++) {
        delay->costs->uncaused[model] = sweeps[model].uncaused;
        delay->costs->n_circles += sweeps[model].n_circles;
    }
    result->handed_by = sweeps[LC_PROPORTIONAL].handed_by;
    sweeps[LC_PROPORTIONAL].handed_by = NULL;
    for (int model = 0; model < LC_MODELS; model++)
        free_sweep(&sweeps[model]);
    if (err != LC_OK)
        lc_long_term_free(result);
    return err;
}

void lc_long_term_free(struct lc_long_term *result) {
    free(result->carried);
    free(result->handed_by);
    result->carried = NULL;
    result->handed_by = NULL;
}
