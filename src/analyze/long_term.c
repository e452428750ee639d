#include "analyze/long_term.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/graph_spans.h"
#include "analyze/radix.h"
#include "base/mem.h"

enum {
    MOST_ROWS = LC_MODELS * LC_COST_KINDS,
    AT_ONCE = 1 << 12,  /* wait states between two rounds */
    MOST_LIVE = 1 << 16 /* vectors that may wait before earlier wait states are looked at */
};

/* What reaches an interval, one record per row of its vector that is not 0, at least one. */
struct handed_record {
    uint32_t interval; /* index at its owner */
    uint16_t row;      /* NO_ROW: nothing was passed on */
    uint16_t more;     /* records that follow for the same interval */
    double value;
};

enum { NO_ROW = UINT16_MAX };

/* What the ranks tell each other in each round. */
enum { FIELD_ACTIVE, FIELD_LEFT, FIELD_NOT_PASSED, FIELD_FAILED, FIELD_HORIZON, N_FIELDS };

/* Costs on their way: vectors of the wait states that were reached and not yet processed. */
struct vectors {
    struct lc_exact *values; /* n_rows each */
    size_t n, capacity;
    uint32_t *unused; /* stack */
    size_t n_unused, cap_unused;
};

/* Wait states by their index among those of this rank; their number in the trace is another. */
struct sweep {
    struct lc_delay *delay;
    const struct lc_timelines *lines;
    struct lc_long_term *result;
    struct lc_rounds *rounds;
    uint32_t n_states, n_rows;
    struct row { /* of a vector: one for each model and kind of waiting that occurs */
        enum lc_delay_model model;
        enum lc_cost_kind kind;
    } rows[MOST_ROWS];
    uint32_t *order;      /* by end, latest first */
    uint32_t *open;       /* later wait states that have not handed over to it alone yet */
    uint32_t *slot;       /* its vector + 1, 0 if nothing arrived */
    uint8_t *state_of;    /* enum node_state */
    uint32_t next;        /* into the order */
    uint32_t next_forced; /* the same, for circles */
    uint32_t n_done;
    uint32_t *stack;
    size_t n_stack, cap_stack;
    struct vectors vectors;
    struct lc_graph_spans spans;
    struct lc_exact **booked;   /* per location of this rank: per call path n_rows; NULL: nothing */
    double arriving[MOST_ROWS]; /* of the interval whose records are read */
    int64_t n_active;           /* things done since the last round */
    bool full;                  /* there may be no room for another wait state's records */
};

enum node_state { NODE_NEW, NODE_DEFERRED, NODE_DONE };

static enum lc_err vector_of(struct sweep *s, uint32_t node, struct lc_exact **vector) {
    struct vectors *v = &s->vectors;
    if (s->slot[node] == 0) {
        uint32_t slot;
        if (v->n_unused > 0) {
            slot = v->unused[--v->n_unused];
        } else {
            LC_TRY(lc_grow(&v->values, &v->capacity, (v->n + 1) * s->n_rows, sizeof *v->values));
            slot = (uint32_t)v->n++;
        }
        memset(&v->values[slot * (size_t)s->n_rows], 0, s->n_rows * sizeof *v->values);
        s->slot[node] = slot + 1;
    }
    *vector = &v->values[(s->slot[node] - 1) * (size_t)s->n_rows];
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

/* Whether all have handed over to v; otherwise it is deferred until they have. */
static bool is_ready(struct sweep *s, uint32_t v) {
    size_t span =
        s->open[v] > 0 ? 0 : lc_graph_spans_open(&s->spans, lc_graph_spans_leaf(&s->spans, v));
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

static void end_without_cause(struct sweep *s, const double *costs, double share) {
    for (uint32_t row = 0; row < s->n_rows; row++)
        if (costs[row] != 0)
            lc_exact_add(&s->delay->costs->uncaused[s->rows[row].model][s->rows[row].kind],
                         costs[row] * share);
}

struct load { /* what an interval hands over */
    const struct lc_sync_interval *interval;
    uint32_t first;           /* index of the first wait state of the cause's location */
    double rates[MOST_ROWS];  /* of all that it carries, per tick of waiting of the cause */
    double totals[LC_MODELS]; /* their sums; both 0: only the turn to be handed over to */
};

static enum lc_err hand_over_to(struct sweep *s, uint32_t v, const struct load *load,
                                double overlap) {
    struct lc_exact *vector;
    LC_TRY(vector_of(s, v, &vector));
    for (uint32_t row = 0; row < s->n_rows; row++)
        if (load->rates[row] != 0)
            lc_exact_add(&vector[row], load->rates[row] * overlap);
    for (int model = 0; model < LC_MODELS; model++) {
        struct lc_handed *handed = &s->result->of[model];
        struct lc_most_handed most = {handed->handed_most[v], handed->handed_by[v]};
        lc_most_raise(&most, load->totals[model] * overlap, load->interval->state);
        handed->handed_most[v] = most.most;
        handed->handed_by[v] = most.by;
    }
    return LC_OK;
}

/* from, until: in the timeline of the cause. */
static enum lc_err hand_over_alone(struct sweep *s, const struct load *load, uint32_t from,
                                   uint32_t until) {
    const struct lc_sync_interval *x = load->interval;
    for (uint32_t k = from; k < until; k++) {
        uint32_t v = load->first + k;
        const struct lc_state *state = &s->lines->states[v];
        bool is_inside = k != x->first_v && k + 1 != x->first_v + x->n_v;
        int64_t overlap = is_inside ? state->ticks : lc_state_overlap(state, x->from, x->release);
        if (s->state_of[v] == NODE_DONE)
            end_without_cause(s, load->rates, (double)overlap); /* a circle */
        else if (overlap > 0 && load->totals[LC_PROPORTIONAL] + load->totals[LC_WAIT_FIRST] > 0)
            LC_TRY(hand_over_to(s, v, load, (double)overlap));
        if (--s->open[v] == 0)
            LC_TRY(resume(s, v));
    }
    return LC_OK;
}

static enum lc_err hand_over_to_span(struct sweep *s, const struct load *load,
                                     struct lc_block_span span) {
    struct lc_span_walk walk = lc_span_begin(span, s->spans.n_blocks);
    int64_t closed = 0;
    for (size_t node; (node = lc_span_next(&walk)) > 0;) {
        uint32_t ready;
        closed += s->spans.nodes[node].closed;
        LC_TRY(lc_graph_spans_add(&s->spans, node, load->interval->state, load->rates, load->totals,
                                  &ready));
        while (ready > 0) {
            uint32_t v = ready - 1;
            ready = s->spans.next[v];
            LC_TRY(resume(s, v));
        }
    }
    if (closed > 0)
        end_without_cause(s, load->rates, (double)closed); /* circles */
    return LC_OK;
}

/* Hands what the interval carries over to the waits of its cause. */
static enum lc_err hand_over(struct sweep *s, size_t loc, const struct load *load) {
    const struct lc_sync_interval *x = load->interval;
    struct lc_block_span span = lc_graph_span_of(&s->spans, loc, x);
    uint64_t first = s->spans.first_place[loc];
    if (span.from == span.until)
        return hand_over_alone(s, load, x->first_v, x->first_v + x->n_v);
    LC_TRY(hand_over_alone(s, load, x->first_v, (uint32_t)(span.from - first)));
    LC_TRY(hand_over_to_span(s, load, span));
    return hand_over_alone(s, load, (uint32_t)(span.until - first), x->first_v + x->n_v);
}

/* Books what was passed on to the interval on the code of its cause. */
static enum lc_err book(struct sweep *s, size_t loc, const struct lc_sync_interval *x,
                        const double *costs, const double to_code[LC_MODELS]) {
    bool any = false;
    for (uint32_t row = 0; row < s->n_rows; row++)
        any |= costs[row] * to_code[s->rows[row].model] != 0;
    if (!any)
        return LC_OK;
    if (s->booked[loc] == NULL)
        LC_TRY(lc_alloc(&s->booked[loc], s->lines->lines[loc].n_cnodes * (size_t)s->n_rows,
                        sizeof **s->booked));
    for (size_t i = 0, n = lc_delay_n_blamed(x); i < n; i++)
        for (uint32_t row = 0; row < s->n_rows; row++) {
            double ticks = costs[row] * to_code[s->rows[row].model];
            uint32_t local;
            if (ticks == 0)
                continue;
            ticks = lc_delay_blamed(s->delay, x, i, ticks, &local);
            lc_exact_add(&s->booked[loc][local * (size_t)s->n_rows + row], ticks);
        }
    return LC_OK;
}

/* `costs` were passed on to the wait state of the interval, which is this rank's. */
static enum lc_err reach(struct sweep *s, uint32_t interval, const double *costs) {
    const struct lc_sync_interval *x = &s->delay->intervals[interval];
    const struct lc_timeline *line = lc_timeline_of(s->lines, x->cause);
    size_t loc = (size_t)(line - s->lines->lines);
    struct load load = {.interval = x, .first = (uint32_t)(line->states - s->lines->states)};
    double to_code[LC_MODELS], to_wait[LC_MODELS];
    s->n_active++;
    for (int model = 0; model < LC_MODELS; model++) {
        lc_delay_shares((enum lc_delay_model)model, x->ticks, x->code, x->waits, &to_code[model],
                        &to_wait[model]);
    }
    for (uint32_t row = 0; row < s->n_rows; row++)
        s->result->of[s->rows[row].model].carried[interval] += costs[row];
    LC_TRY(book(s, loc, x, costs, to_code));
    if (x->n_v == 0)
        return LC_OK;
    for (uint32_t row = 0; row < s->n_rows && x->waits > 0; row++) {
        enum lc_delay_model model = s->rows[row].model;
        double all = costs[row] + (s->rows[row].kind == x->kind ? (double)x->ticks : 0);
        load.rates[row] = all * to_wait[model] / (double)x->waits;
        load.totals[model] += load.rates[row];
    }
    return hand_over(s, loc, &load);
}

/* To the owner of the interval of x. */
static void send(struct sweep *s, uint32_t rank, uint32_t interval, const double *costs) {
    uint16_t n = 0;
    for (uint32_t row = 0; row < s->n_rows; row++)
        n = (uint16_t)(n + (costs[row] != 0));
    if (n == 0)
        *(struct handed_record *)lc_rounds_put(s->rounds, rank) =
            (struct handed_record){interval, NO_ROW, 0, 0};
    for (uint32_t row = 0; row < s->n_rows; row++)
        if (costs[row] != 0)
            *(struct handed_record *)lc_rounds_put(s->rounds, rank) =
                (struct handed_record){interval, (uint16_t)row, --n, costs[row]};
    s->full |= lc_rounds_room(s->rounds, rank) < s->n_rows;
}

static enum lc_err receive(struct sweep *s) {
    for (uint32_t rank = 0; rank < s->lines->trace->comm->size; rank++) {
        size_t n;
        const struct handed_record *records = lc_rounds_from(s->rounds, rank, &n);
        for (size_t i = 0; i < n; i++) {
            if (records[i].row != NO_ROW)
                s->arriving[records[i].row] = records[i].value;
            if (records[i].more > 0)
                continue;
            LC_TRY(reach(s, records[i].interval, s->arriving));
            memset(s->arriving, 0, sizeof s->arriving);
        }
    }
    return LC_OK;
}

/* All that arrived at x; it receives nothing more. */
static enum lc_err collect(struct sweep *s, uint32_t x, double *costs) {
    struct lc_most_handed most[LC_MODELS];
    for (uint32_t row = 0; s->slot[x] != 0 && row < s->n_rows; row++)
        costs[row] = lc_exact_get(&s->vectors.values[(s->slot[x] - 1) * (size_t)s->n_rows + row]);
    LC_TRY(release_vector(s, x));
    s->state_of[x] = NODE_DONE;
    s->n_done++;
    size_t leaf = lc_graph_spans_leaf(&s->spans, x);
    if (leaf == 0)
        return LC_OK;
    for (int model = 0; model < LC_MODELS; model++)
        most[model] = (struct lc_most_handed){s->result->of[model].handed_most[x],
                                              s->result->of[model].handed_by[x]};
    lc_graph_spans_collect(&s->spans, leaf, s->lines->states[x].ticks, costs, most);
    for (int model = 0; model < LC_MODELS; model++) {
        s->result->of[model].handed_most[x] = most[model].most;
        s->result->of[model].handed_by[x] = most[model].by;
    }
    return LC_OK;
}

static enum lc_err process(struct sweep *s, uint32_t x) {
    const struct lc_state_blame *blame = &s->delay->blame[x];
    const struct lc_trace *trace = s->lines->trace;
    double costs[MOST_ROWS] = {0};
    s->n_active++;
    LC_TRY(collect(s, x, costs));
    if (blame->cause == LC_NONE) {
        end_without_cause(s, costs, 1);
        return LC_OK;
    }
    for (int model = 0; model < LC_MODELS; model++)
        s->result->of[model].costs[x] = (double)s->lines->states[x].ticks;
    for (uint32_t row = 0; row < s->n_rows; row++)
        s->result->of[s->rows[row].model].costs[x] += costs[row];
    uint32_t owner = lc_trace_owner(trace, blame->cause);
    if (owner == trace->comm->rank)
        return reach(s, blame->interval, costs);
    send(s, owner, blame->interval, costs);
    return LC_OK;
}

/* The end of the wait state `ahead` places further on, INT64_MIN if there are not so many. */
static int64_t end_of_next(const struct sweep *s, uint32_t ahead) {
    uint64_t at = (uint64_t)s->next + ahead;
    return at < s->n_states ? s->lines->states[s->order[at]].end : INT64_MIN;
}

/* Goes on until a round is due. Normally each wait state lies before all that hand over to it;
 * equal ends and wrong clocks make exceptions, which wait for those. No rank goes further back than
 * `horizon`; nor as long as many costs are on their way, unless nothing else can be done. */
static enum lc_err advance(struct sweep *s, int64_t horizon, bool stuck) {
    for (uint32_t i = 0; i < AT_ONCE && !s->full; i++) {
        uint32_t x;
        if (s->n_stack > 0) {
            x = s->stack[--s->n_stack];
        } else if (s->next < s->n_states && end_of_next(s, 0) >= horizon &&
                   (stuck || s->vectors.n - s->vectors.n_unused < MOST_LIVE)) {
            x = s->order[s->next++];
            s->n_active++;
            if (!is_ready(s, x))
                continue;
        } else {
            return LC_OK;
        }
        LC_TRY(process(s, x));
    }
    return LC_OK;
}

/* Everybody waits for somebody: what is left hands over in a circle (wrong clocks). The latest of
 * them, of equals the one with the lowest number, is processed as it is. */
static enum lc_err break_circle(struct sweep *s) {
    const struct lc_trace *trace = s->lines->trace;
    while (s->next_forced < s->n_states && s->state_of[s->order[s->next_forced]] == NODE_DONE)
        s->next_forced++;
    bool has = s->next_forced < s->n_states;
    uint32_t x = has ? s->order[s->next_forced] : 0;
    int64_t own = has ? s->lines->states[x].end : INT64_MIN, end = own, number = INT64_MAX, first;
    lc_transport_allreduce_i64(trace->comm, &end, 1, LC_OP_MAX);
    if (has && own == end)
        number = (int64_t)lc_state_number(s->lines, x);
    first = number;
    lc_transport_allreduce_i64(trace->comm, &first, 1, LC_OP_MIN);
    if (!has || first != number)
        return LC_OK;
    s->delay->costs->n_circles++;
    lc_graph_spans_close(&s->spans, lc_graph_spans_leaf(&s->spans, x), s->lines->states[x].ticks);
    return process(s, x);
}

/* Hands over what has gathered. all[]: sums over all ranks, of horizons the latest. */
static void take_turn(struct sweep *s, enum lc_err err, int64_t all[N_FIELDS]) {
    const int64_t fields[N_FIELDS] = {[FIELD_ACTIVE] = s->n_active,
                                      [FIELD_LEFT] = s->n_states - s->n_done,
                                      [FIELD_NOT_PASSED] = s->n_states - s->next,
                                      [FIELD_FAILED] = err != LC_OK,
                                      [FIELD_HORIZON] = end_of_next(s, AT_ONCE)};
    lc_rounds_turn(s->rounds, fields);
    s->full = false;
    s->n_active = 0;
    for (int i = 0; i < N_FIELDS; i++)
        all[i] = i == FIELD_HORIZON ? INT64_MIN : 0;
    for (uint32_t rank = 0; rank < s->lines->trace->comm->size; rank++) {
        const int64_t *of = lc_rounds_values(s->rounds, rank);
        for (int i = 0; i < FIELD_HORIZON; i++)
            all[i] += of[i];
        if (of[FIELD_HORIZON] > all[FIELD_HORIZON])
            all[FIELD_HORIZON] = of[FIELD_HORIZON];
    }
}

static enum lc_err run(struct sweep *s) {
    enum lc_err err = LC_OK;
    s->n_active = 1;
    for (;;) {
        int64_t all[N_FIELDS];
        take_turn(s, err, all);
        if (all[FIELD_FAILED] > 0)
            return err;
        err = receive(s);
        if (all[FIELD_LEFT] == 0)
            return err;
        if (all[FIELD_ACTIVE] == 0 && all[FIELD_NOT_PASSED] == 0)
            err = break_circle(s);
        else if (err == LC_OK)
            err = advance(s, all[FIELD_HORIZON], all[FIELD_ACTIVE] == 0);
    }
}

/* Long-term costs, to the others. */
static enum lc_err deliver(const struct sweep *s) {
    for (size_t l = 0; l < s->lines->trace->n_locs; l++)
        for (uint32_t k = 0; s->booked[l] != NULL && k < s->lines->lines[l].n_cnodes; k++)
            for (uint32_t row = 0; row < s->n_rows; row++) {
                double ticks = lc_exact_get(&s->booked[l][k * (size_t)s->n_rows + row]);
                if (ticks != 0)
                    LC_TRY(lc_costs_add(s->delay->costs, l, LC_LONG_TERM, s->rows[row].model,
                                        s->rows[row].kind, k, ticks));
            }
    return LC_OK;
}

/* Which kinds of waiting occur, on any rank. */
static void make_rows(struct sweep *s) {
    int64_t present[LC_COST_KINDS] = {0};
    for (size_t i = 0; i < s->delay->n_intervals; i++)
        present[s->delay->intervals[i].kind] = 1;
    lc_transport_allreduce_i64(s->lines->trace->comm, present, LC_COST_KINDS, LC_OP_MAX);
    for (int model = 0; model < LC_MODELS; model++)
        for (int kind = 0; kind < LC_COST_KINDS; kind++)
            if (present[kind])
                s->rows[s->n_rows++] =
                    (struct row){(enum lc_delay_model)model, (enum lc_cost_kind)kind};
}

static uint64_t end_key(const void *states, uint32_t index, int level) {
    (void)level;
    return ~lc_key_signed(((const struct lc_state *)states)[index].end);
}

/* Who hands over to whom alone. */
static void count_open(struct sweep *s) {
    for (size_t i = 0; i < s->delay->n_intervals; i++) {
        const struct lc_sync_interval *x = &s->delay->intervals[i];
        const struct lc_timeline *line = lc_timeline_of(s->lines, x->cause);
        size_t loc = (size_t)(line - s->lines->lines);
        struct lc_block_span span = lc_graph_span_of(&s->spans, loc, x);
        uint32_t *open = &s->open[line->states - s->lines->states];
        uint64_t first = s->spans.first_place[loc];
        for (uint64_t k = x->first_v; first + k < span.from; k++)
            open[k]++;
        for (uint64_t k = span.until - first; k < (uint64_t)x->first_v + x->n_v; k++)
            open[k]++;
    }
}

static enum lc_err prepare(struct sweep *s) {
    const struct lc_timelines *lines = s->lines;
    if (lines->n_states >= LC_NONE)
        return lc_fail(LC_ERR_RANGE,
                       "root causes: more than 4294967294 wait states on one rank: use more ranks");
    size_t n = (size_t)lines->n_states + 1;
    s->n_states = (uint32_t)lines->n_states;
    for (int model = 0; model < LC_MODELS; model++) {
        struct lc_handed *handed = &s->result->of[model];
        LC_TRY(lc_alloc(&handed->carried, s->delay->n_intervals + 1, sizeof *handed->carried));
        LC_TRY(lc_alloc(&handed->handed_by, n, sizeof *handed->handed_by));
        LC_TRY(lc_alloc(&handed->handed_most, n, sizeof *handed->handed_most));
        LC_TRY(lc_alloc(&handed->costs, n, sizeof *handed->costs));
        memset(handed->handed_by, 0xff, n * sizeof *handed->handed_by); /* LC_NO_STATE */
        for (size_t i = 0; i < s->delay->n_intervals; i++)
            handed->carried[i] = (double)s->delay->intervals[i].ticks;
    }
    LC_TRY(lc_alloc(&s->open, n, sizeof *s->open));
    LC_TRY(lc_alloc(&s->slot, n, sizeof *s->slot));
    LC_TRY(lc_alloc(&s->state_of, n, sizeof *s->state_of));
    LC_TRY(lc_alloc(&s->booked, lines->trace->n_locs + 1, sizeof *s->booked));
    LC_TRY(lc_order_by(&s->order, lines->states, s->n_states, end_key, 1));
    LC_TRY(lc_graph_spans_new(&s->spans, s->delay, s->n_rows));
    count_open(s);
    return LC_OK;
}

static void free_sweep(struct sweep *s) {
    lc_rounds_free(s->rounds);
    free(s->order);
    free(s->open);
    free(s->slot);
    free(s->state_of);
    free(s->stack);
    free(s->vectors.values);
    free(s->vectors.unused);
    lc_graph_spans_free(&s->spans);
    for (size_t l = 0; s->booked != NULL && l < s->lines->trace->n_locs; l++)
        free(s->booked[l]);
    free(s->booked);
}

enum lc_err lc_long_term_run(struct lc_long_term *result, struct lc_delay *delay) {
    const struct lc_transport *comm = delay->lines->trace->comm;
    struct sweep sweep = {.delay = delay, .lines = delay->lines, .result = result};
    *result = (struct lc_long_term){0};
    make_rows(&sweep);
    enum lc_err err = lc_transport_agree(comm, prepare(&sweep));
    if (err == LC_OK)
        err = lc_rounds_new(&sweep.rounds, comm, sizeof(struct handed_record), sweep.n_rows + 1,
                            N_FIELDS);
    if (err == LC_OK)
        err = lc_transport_agree(comm, run(&sweep));
    if (err == LC_OK)
        err = lc_transport_agree(comm, deliver(&sweep));
    free_sweep(&sweep);
    if (err != LC_OK)
        lc_long_term_free(result);
    return err;
}

void lc_long_term_free(struct lc_long_term *result) {
    for (int model = 0; model < LC_MODELS; model++) {
        free(result->of[model].carried);
        free(result->of[model].handed_by);
        free(result->of[model].handed_most);
        free(result->of[model].costs);
    }
    *result = (struct lc_long_term){0};
}
