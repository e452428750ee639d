#include "analyze/chains.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/place.h"
#include "base/bits.h"
#include "base/lookup.h"
#include "base/mem.h"

enum { N_CAUSES = 50, CHAIN_LENGTH = 32 };

/* What the owner of a wait state tells of it; the first ones are its details. */
enum {
    FIELD_CNODE,
    FIELD_START,
    FIELD_TICKS,
    FIELD_KIND,
    N_DETAILS,
    FIELD_NEXT = N_DETAILS,
    FIELD_PART,
    FIELD_SHARE,
    N_FIELDS
};

struct cause {
    uint32_t location, cnode, local;
    uint32_t n_waits; /* wait states that its code is to blame for */
    double short_term, long_term;
    double largest; /* costs by the wait state below */
    uint64_t state;
    int64_t from, until; /* its interval */
};

struct victims {     /* of the chain of each cause, [N_CAUSES][CHAIN_LENGTH] */
    int64_t *states; /* -1 after the last */
    double *shares;
    int64_t *details; /* N_DETAILS for each */
};

static int compare_causes(const void *a, const void *b) {
    const struct cause *x = a, *y = b;
    double cost_x = x->short_term + x->long_term, cost_y = y->short_term + y->long_term;
    if (cost_x != cost_y)
        return cost_x > cost_y ? -1 : 1;
    if (x->location != y->location)
        return x->location < y->location ? -1 : 1;
    return (x->cnode > y->cnode) - (x->cnode < y->cnode);
}

static double cost_at(const struct lc_costs *costs, size_t loc, enum lc_cost_metric metric,
                      enum lc_delay_model model, uint32_t local) {
    double sum = 0;
    for (int kind = 0; kind < LC_COST_KINDS; kind++) {
        const double *row = costs->rows[loc][lc_cost_row(metric, model, (enum lc_cost_kind)kind)];
        sum += row != NULL ? row[local] : 0;
    }
    return sum;
}

/* The most expensive ones of this rank, in causes[0 .. n). */
static enum lc_err find_causes(const struct lc_delay *delay, enum lc_delay_model model,
                               struct cause **causes, size_t *n) {
    const struct lc_timelines *lines = delay->lines;
    size_t capacity = 0;
    *n = 0;
    for (size_t l = 0; l < lines->trace->n_locs; l++)
        for (uint32_t k = 0; k < lines->lines[l].n_cnodes; k++) {
            struct cause cause = {.location = lines->lines[l].loc->id,
                                  .cnode = lines->lines[l].cnodes[k],
                                  .local = k};
            cause.short_term = cost_at(delay->costs, l, LC_SHORT_TERM, model, k);
            cause.long_term = cost_at(delay->costs, l, LC_LONG_TERM, model, k);
            if (cause.short_term + cause.long_term <= 0)
                continue;
            LC_TRY(lc_grow(causes, &capacity, *n + 1, sizeof **causes));
            (*causes)[(*n)++] = cause;
        }
    if (*n > 1)
        qsort(*causes, *n, sizeof **causes, compare_causes);
    *n = *n < N_CAUSES ? *n : N_CAUSES;
    return LC_OK;
}

/* What the wait state of an interval cost because of the code of its cause; of[]: per call path of
 * the location, index + 1 of the cause, 0: none. */
static void blame_interval(const struct lc_delay *delay, const struct lc_handed *handed,
                           enum lc_delay_model model, size_t interval, const uint32_t *of,
                           struct cause *causes) {
    const struct lc_sync_interval *x = &delay->intervals[interval];
    double to_code, to_wait;
    lc_delay_shares(model, x->ticks, x->code, x->waits, &to_code, &to_wait);
    if (to_code <= 0)
        return;
    for (uint64_t e = x->excess; e < x[1].excess; e++) {
        if (of[delay->excess_cnode[e]] == 0 || delay->excess_ticks[e] <= 0)
            continue;
        struct cause *cause = &causes[of[delay->excess_cnode[e]] - 1];
        double cost =
            handed->carried[interval] * to_code * (double)delay->excess_ticks[e] / (double)x->code;
        cause->n_waits++;
        if (cost > cause->largest) {
            cause->largest = cost;
            cause->state = x->state;
            cause->from = x->from;
            cause->until = x->release;
        }
    }
}

/* First interval of a location: they are ordered by cause. */
static size_t first_interval(const struct lc_delay *delay, uint32_t location) {
    return LC_FIRST_WHERE(i, 0, delay->n_intervals, delay->intervals[i].cause >= location);
}

/* Which single wait state cost most because of each cause: the intervals of a location are looked
 * at once for all causes that it has. */
static enum lc_err find_largest(const struct lc_delay *delay, const struct lc_handed *handed,
                                enum lc_delay_model model, struct cause *causes, size_t n) {
    uint32_t *of = NULL;
    LC_TRY(lc_alloc(&of, delay->lines->trace->n_cnodes + 1, sizeof *of));
    for (size_t i = 0; i < n; i++) {
        uint32_t location = causes[i].location;
        bool done = false;
        for (size_t k = 0; k < i && !done; k++)
            done = causes[k].location == location;
        if (done)
            continue;
        for (size_t k = i; k < n; k++)
            if (causes[k].location == location)
                of[causes[k].local] = (uint32_t)k + 1;
        for (size_t x = first_interval(delay, location);
             x < delay->n_intervals && delay->intervals[x].cause == location; x++)
            blame_interval(delay, handed, model, x, of, causes);
        for (size_t k = i; k < n; k++)
            if (causes[k].location == location)
                of[causes[k].local] = 0;
    }
    free(of);
    return LC_OK;
}

static uint32_t location_of(const struct lc_timelines *lines, int64_t state) {
    size_t after =
        LC_FIRST_WHERE(i, 1, lines->trace->n_locations, lines->first_state[i] > (uint64_t)state);
    while (lines->first_state[after] <= (uint64_t)state)
        after++;
    return (uint32_t)after - 1;
}

/* Where the chain of a cause has come to. */
struct head {
    int64_t state; /* -1: it has ended */
    double part;   /* how much of what the state carries is due to the cause */
};

/* The owner of the head tells its share and details, and which head is the next. */
static void tell_victim(const struct lc_timelines *lines, const struct lc_handed *handed,
                        const struct head *head, int64_t fields[N_FIELDS]) {
    const struct lc_timeline *line = lc_timeline_of(lines, location_of(lines, head->state));
    if (line == NULL)
        return;
    const struct lc_state *s = &line->states[(uint64_t)head->state - line->first_state];
    size_t own = (size_t)(s - lines->states);
    double share = handed->costs[own] > 0 ? head->part / handed->costs[own] : 0;
    fields[FIELD_NEXT] =
        handed->handed_by[own] == LC_NO_STATE ? -1 : (int64_t)handed->handed_by[own];
    fields[FIELD_PART] = (int64_t)lc_bits_of(share * handed->handed_most[own]);
    fields[FIELD_SHARE] = (int64_t)lc_bits_of(share);
    fields[FIELD_CNODE] = s->cnode;
    fields[FIELD_START] = s->start;
    fields[FIELD_TICKS] = s->ticks;
    fields[FIELD_KIND] = lc_cost_kind_of(line->loc->waits[s->wait].kind);
}

/* States of the chain of each cause, first victim first, all chains at a time from rank to rank.
 * shares[]: how much of the waiting of each is due to the cause. What a wait state carries is its
 * own waiting and what was handed to it; the cause has the share largest / carried of the first
 * one, and that of each further one as much smaller as the part of its costs that it handed on. So
 * the parts of a chain add up to at most `largest`; the rest are wait states beside the chain. */
static void find_victims(const struct lc_timelines *lines, const struct lc_handed *handed,
                         const struct cause *causes, size_t n, struct victims *victims) {
    struct head heads[N_CAUSES];
    for (size_t i = 0; i < n; i++)
        heads[i] =
            (struct head){causes[i].largest > 0 ? (int64_t)causes[i].state : -1, causes[i].largest};
    for (size_t k = 0; k < CHAIN_LENGTH; k++) {
        int64_t fields[N_CAUSES][N_FIELDS] = {{0}};
        bool any = false;
        for (size_t i = 0; i < n; i++)
            if (heads[i].state >= 0) {
                any = true;
                tell_victim(lines, handed, &heads[i], fields[i]);
            }
        if (!any)
            return;
        lc_transport_allreduce_i64(lines->trace->comm, fields[0], n * N_FIELDS, LC_OP_SUM);
        for (size_t i = 0; i < n; i++) {
            if (heads[i].state < 0)
                continue;
            victims->states[i * CHAIN_LENGTH + k] = heads[i].state;
            victims->shares[i * CHAIN_LENGTH + k] = lc_double_of((uint64_t)fields[i][FIELD_SHARE]);
            memcpy(&victims->details[(i * CHAIN_LENGTH + k) * N_DETAILS], fields[i],
                   N_DETAILS * sizeof *victims->details);
            heads[i] =
                (struct head){fields[i][FIELD_NEXT], lc_double_of((uint64_t)fields[i][FIELD_PART])};
        }
    }
}

static json_t *chain_json(const struct lc_timelines *lines, const int64_t *states,
                          const double *shares, const int64_t *details) {
    const struct lc_trace *trace = lines->trace;
    json_t *chain = json_array();
    for (size_t k = 0; k < CHAIN_LENGTH && states[k] >= 0; k++) {
        const int64_t *d = &details[k * N_DETAILS];
        json_t *victim = json_object();
        lc_place_set(victim, trace, location_of(lines, states[k]), (uint32_t)d[FIELD_CNODE]);
        json_object_set_new(victim, "start_s", lc_place_time(trace, d[FIELD_START]));
        json_object_set_new(victim, "waiting_s", lc_place_seconds(trace, (double)d[FIELD_TICKS]));
        json_object_set_new(victim, "cost_s",
                            lc_place_seconds(trace, (double)d[FIELD_TICKS] * shares[k]));
        json_object_set_new(victim, "kind",
                            json_string(lc_cost_kind_name((enum lc_cost_kind)d[FIELD_KIND])));
        json_array_append_new(chain, victim);
    }
    return chain;
}

static json_t *causes_json(const struct lc_timelines *lines, const struct cause *causes, size_t n,
                           const struct victims *victims) {
    const struct lc_trace *trace = lines->trace;
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++) {
        json_t *cause = json_object();
        lc_place_set(cause, trace, causes[i].location, causes[i].cnode);
        json_object_set_new(cause, "cost_s",
                            lc_place_seconds(trace, causes[i].short_term + causes[i].long_term));
        json_object_set_new(cause, "short_term_s", lc_place_seconds(trace, causes[i].short_term));
        json_object_set_new(cause, "long_term_s", lc_place_seconds(trace, causes[i].long_term));
        json_object_set_new(cause, "wait_states", json_integer(causes[i].n_waits));
        json_object_set_new(cause, "from_s", lc_place_time(trace, causes[i].from));
        json_object_set_new(cause, "to_s", lc_place_time(trace, causes[i].until));
        json_object_set_new(cause, "chain_cost_s", lc_place_seconds(trace, causes[i].largest));
        json_object_set_new(cause, "chain",
                            chain_json(lines, &victims->states[i * CHAIN_LENGTH],
                                       &victims->shares[i * CHAIN_LENGTH],
                                       &victims->details[i * CHAIN_LENGTH * N_DETAILS]));
        json_array_append_new(list, cause);
    }
    return list;
}

/* All ranks get the most expensive causes of all of them. */
static enum lc_err join_causes(const struct lc_transport *comm, struct cause **causes, size_t *n) {
    struct cause *all = NULL;
    size_t bytes = 0;
    LC_TRY(lc_transport_gather(comm, *causes, *n * sizeof **causes, (void **)&all, &bytes, NULL));
    free(*causes);
    *causes = all;
    int64_t most = 0;
    if (comm->rank == 0) {
        *n = bytes / sizeof *all;
        if (*n > 1)
            qsort(all, *n, sizeof *all, compare_causes);
        most = (int64_t)(*n < N_CAUSES ? *n : N_CAUSES);
    }
    lc_transport_bcast(comm, &most, sizeof most, 0);
    *n = (size_t)most;
    enum lc_err err = LC_OK;
    if (comm->rank != 0) {
        free(all);
        *causes = NULL;
        err = lc_alloc(causes, *n + 1, sizeof **causes);
    }
    LC_TRY(lc_transport_agree(comm, err));
    lc_transport_bcast(comm, *causes, *n * sizeof **causes, 0);
    return LC_OK;
}

static enum lc_err victims_new(struct victims *victims) {
    LC_TRY(lc_alloc(&victims->states, N_CAUSES * CHAIN_LENGTH, sizeof *victims->states));
    LC_TRY(lc_alloc(&victims->shares, N_CAUSES * CHAIN_LENGTH, sizeof *victims->shares));
    LC_TRY(lc_alloc(&victims->details, (size_t)N_CAUSES * CHAIN_LENGTH * N_DETAILS,
                    sizeof *victims->details));
    memset(victims->states, 0xff, N_CAUSES * CHAIN_LENGTH * sizeof *victims->states);
    return LC_OK;
}

static void victims_free(struct victims *victims) {
    free(victims->states);
    free(victims->shares);
    free(victims->details);
}

/* On rank 0 the list of causes of a model. */
static enum lc_err find_chains(const struct lc_delay *delay, const struct lc_long_term *long_term,
                               enum lc_delay_model model, json_t **list) {
    const struct lc_timelines *lines = delay->lines;
    const struct lc_transport *comm = lines->trace->comm;
    const struct lc_handed *handed = &long_term->of[model];
    struct cause *causes = NULL;
    struct victims victims = {0};
    size_t n = 0;
    enum lc_err err = find_causes(delay, model, &causes, &n);
    if (err == LC_OK)
        err = find_largest(delay, handed, model, causes, n);
    err = lc_transport_agree(comm, err);
    if (err == LC_OK)
        err = join_causes(comm, &causes, &n);
    if (err == LC_OK)
        err = lc_transport_agree(comm, victims_new(&victims));
    if (err == LC_OK) {
        find_victims(lines, handed, causes, n, &victims);
        if (comm->rank == 0)
            *list = causes_json(lines, causes, n, &victims);
    }
    free(causes);
    victims_free(&victims);
    return err;
}

enum lc_err lc_chains_run(struct lc_strbuf *json, const struct lc_delay *delay,
                          const struct lc_long_term *long_term) {
    static const char *const members[LC_MODELS] = {"root_causes", "root_causes_waitfirst"};
    const struct lc_transport *comm = delay->lines->trace->comm;
    json_t *root = json_object();
    json_object_set_new(root, "model", json_string("proportional"));
    enum lc_err err = LC_OK;
    for (int model = 0; model < LC_MODELS && err == LC_OK; model++) {
        json_t *list = NULL;
        err = find_chains(delay, long_term, (enum lc_delay_model)model, &list);
        json_object_set_new(root, members[model], list);
    }
    if (err == LC_OK && comm->rank == 0)
        err = lc_place_dump(json, root);
    else
        json_decref(root);
    return lc_transport_agree(comm, err);
}
