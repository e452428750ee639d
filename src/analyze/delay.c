#include "analyze/delay.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/radix.h"
#include "analyze/spans.h"
#include "analyze/syncpoint.h"
#include "base/mem.h"

/* Intervals whose windows are asked for at once, and call paths that a window mostly has. */
enum { BATCH = 1 << 13, USUAL_ENTRIES = 8 };

struct window_query {
    uint32_t location, asker; /* rank */
    int64_t from, to;
    uint32_t index, reserved; /* in the batch of the asker */
};

struct window_entry {
    uint32_t index, cnode;
    int64_t ticks;
};

struct blame_reply {
    uint32_t location, index; /* of the state in its timeline */
    uint32_t interval, reserved;
    int64_t code, waits;
};

struct measuring {
    struct lc_delay *delay;
    struct lc_profile cause, waiting;
    int64_t cause_from, cause_release; /* window of `cause`, of location cause_location */
    uint32_t cause_location;
    /* per call path of the trace: index in the timeline of cause_location, LC_NONE: not there */
    uint32_t *local;
    struct exact_sums { /* per exact call path: with what samples found inside, of a window */
        int64_t cause, waiting;
        int64_t inside, passed; /* sum of the differences inside; of those that are booked */
    } * exact;
    struct blame_reply *replies;
    uint32_t *reply_dest;
    size_t n_replies;
    struct window_entry *entries; /* windows of other ranks' locations, ordered by index */
    size_t *first_entry;          /* per interval of the batch, BATCH + 1 */
    /* over blocks of the states of this rank (spans.h), n_blocks 0: no interval is long */
    size_t n_blocks;
    int64_t *ticks_before;       /* waiting before each block */
    double (*handed)[LC_MODELS]; /* per node: the largest rate that was handed to all below */
};

/* Order of the intervals: cause, release, T*, number of the state. */
static uint64_t interval_key(const void *intervals, uint32_t index, int level) {
    const struct lc_sync_interval *x = (const struct lc_sync_interval *)intervals + index;
    switch (level) {
    case 0:
        return x->state;
    case 1:
        return lc_key_signed(x->from);
    case 2:
        return lc_key_signed(x->release);
    default:
        return x->cause;
    }
}

/* Makes room for the one that only closes `excess`. */
static enum lc_err close_intervals(struct lc_delay *delay) {
    size_t n = delay->n_intervals;
    struct lc_sync_interval *all = realloc(delay->intervals, (n + 1) * sizeof *all);
    if (!all)
        return lc_fail(LC_ERR_NOMEM, "root causes: no memory for %zu wait states", n);
    all[n] = (struct lc_sync_interval){0};
    delay->intervals = all;
    return LC_OK;
}

/* Sends each wait state with a cause to the owner of the cause. */
static enum lc_err send_intervals(struct lc_delay *delay) {
    const struct lc_timelines *lines = delay->lines;
    struct lc_trace *trace = lines->trace;
    int64_t *starts = NULL;
    struct lc_sync_interval *mine = NULL;
    uint32_t *dest = NULL;
    size_t n = 0;
    enum lc_err err = lc_alloc(&starts, lines->n_states + 1, sizeof *starts);
    err = lc_transport_agree(trace->comm, err);
    if (err == LC_OK)
        err = lc_sync_starts(lines, starts);
    if (err == LC_OK)
        err = lc_alloc(&mine, lines->n_states + 1, sizeof *mine);
    if (err == LC_OK)
        err = lc_alloc(&dest, lines->n_states + 1, sizeof *dest);
    for (size_t i = 0; i < trace->n_locs && err == LC_OK; i++) {
        const struct lc_timeline *line = &lines->lines[i];
        for (uint32_t k = 0; k < line->n_states; k++) {
            const struct lc_state *s = &line->states[k];
            const struct lc_wait *w = &line->loc->waits[s->wait];
            if (w->cause == LC_NONE)
                continue;
            enum lc_cost_kind kind = lc_cost_kind_of(w->kind);
            dest[n] = lc_trace_owner(trace, w->cause);
            mine[n++] = (struct lc_sync_interval){.state = line->first_state + k,
                                                  .from = starts[s - lines->states],
                                                  .start = w->start,
                                                  .release = w->release,
                                                  .ticks = s->ticks,
                                                  .waiting = line->loc->id,
                                                  .cause = w->cause,
                                                  .cause_cnode = w->cause_cnode,
                                                  .kind = (uint8_t)kind,
                                                  .cut = (w->flags & LC_WAIT_CUT) != 0};
        }
    }
    free(starts);
    err = lc_transport_agree(trace->comm, err);
    if (err == LC_OK)
        err = lc_transport_exchange(trace->comm, mine, dest, n, sizeof *mine,
                                    (void **)&delay->intervals, &delay->n_intervals);
    free(mine);
    free(dest);
    if (err == LC_OK)
        err = close_intervals(delay);
    if (err == LC_OK)
        err = lc_sort_by(delay->intervals, delay->n_intervals, sizeof *delay->intervals,
                         interval_key, 4);
    return lc_transport_agree(trace->comm, err);
}

/* Without an excess (wrong clocks): the call that released. */
size_t lc_delay_n_blamed(const struct lc_sync_interval *interval) {
    return interval->code == 0 ? 1 : (size_t)(interval[1].excess - interval->excess);
}

double lc_delay_blamed(const struct lc_delay *delay, const struct lc_sync_interval *interval,
                       size_t i, double ticks, uint32_t *local) {
    if (interval->code == 0) {
        *local =
            lc_costs_local(lc_timeline_of(delay->lines, interval->cause), interval->cause_cnode);
        *local = *local == LC_NONE ? 0 : *local;
        return ticks;
    }
    *local = delay->excess_cnode[interval->excess + i];
    return ticks * (double)delay->excess_ticks[interval->excess + i] / (double)interval->code;
}

/* Books short-term costs on the code of the cause. */
static enum lc_err book(struct lc_delay *delay, const struct lc_sync_interval *interval,
                        enum lc_delay_model model, double ticks) {
    size_t loc = (size_t)(lc_timeline_of(delay->lines, interval->cause) - delay->lines->lines);
    for (size_t i = 0, n = lc_delay_n_blamed(interval); i < n; i++) {
        uint32_t local;
        double part = lc_delay_blamed(delay, interval, i, ticks, &local);
        LC_TRY(lc_costs_add(delay->costs, loc, LC_SHORT_TERM, model, interval->kind, local, part));
    }
    return LC_OK;
}

/* P(d, [T*, u)): the same for all who wait for one release since one instant; false: it was
 * known. */
static bool profile_cause(struct measuring *m, struct lc_timeline *line,
                          const struct lc_sync_interval *x) {
    if (m->cause_location == x->cause && m->cause_from == x->from && m->cause_release == x->release)
        return false;
    const struct lc_timeline *before = lc_timeline_of(m->delay->lines, m->cause_location);
    for (uint32_t i = 0; m->cause_location != x->cause && before != NULL && i < before->n_cnodes;
         i++)
        m->local[before->cnodes[i]] = LC_NONE;
    if (m->cause_location != x->cause)
        for (uint32_t i = 0; i < line->n_cnodes; i++)
            m->local[line->cnodes[i]] = i;
    lc_profile_clear(&m->cause);
    lc_profile_window(&m->cause, line, x->from, x->release, false);
    m->cause_location = x->cause;
    m->cause_from = x->from;
    m->cause_release = x->release;
    return true;
}

static enum lc_err add_excess(struct lc_delay *delay, uint32_t local, int64_t ticks) {
    LC_TRY(lc_reserve(&delay->excess_cnode, &delay->cap_excess, delay->n_excess + 1,
                      sizeof *delay->excess_cnode));
    LC_TRY(lc_reserve(&delay->excess_ticks, &delay->cap_excess_ticks, delay->n_excess + 1,
                      sizeof *delay->excess_ticks));
    delay->excess_cnode[delay->n_excess] = local;
    delay->excess_ticks[delay->n_excess++] = ticks;
    return LC_OK;
}

/* D[c] = max(P(d)[c] - P(r)[c], 0) */
static enum lc_err difference(struct measuring *m, struct lc_sync_interval *x) {
    for (uint32_t i = 0; i < m->cause.n_touched; i++) {
        uint32_t cnode = m->cause.touched[i];
        int64_t excess = m->cause.ticks[cnode] - m->waiting.ticks[cnode];
        if (excess <= 0)
            continue;
        LC_TRY(add_excess(m->delay, m->local[cnode], excess));
        x->code += excess;
    }
    return LC_OK;
}

/* What the waiting location did, and where: of the window of an interval. */
struct waiting_part {
    uint32_t cnode;
    int64_t ticks;
};

static struct waiting_part waiting_part(const struct measuring *m, size_t i, bool own,
                                        size_t first) {
    if (own)
        return (struct waiting_part){m->waiting.touched[i],
                                     m->waiting.ticks[m->waiting.touched[i]]};
    return (struct waiting_part){m->entries[first + i].cnode, m->entries[first + i].ticks};
}

/* The part of `cnode` in the excess of the exact call path around it. */
static enum lc_err add_part(struct measuring *m, struct exact_sums *sums, uint32_t cnode,
                            int64_t excess) {
    double whole = (double)(sums->cause - sums->waiting), inside = (double)sums->inside;
    if (sums->cause <= sums->waiting || excess == 0)
        return LC_OK;
    int64_t before = llround(whole * ((double)sums->passed / inside));
    sums->passed += excess;
    int64_t after = llround(whole * ((double)sums->passed / inside));
    return before != after ? add_excess(m->delay, m->local[cnode], after - before) : LC_OK;
}

/* Where samples have divided call paths, D is that of the exact ones, as it is without samples.
 * What is inside has parts of it by the differences there, of both signs: where one time between
 * two events has more samples by chance another one has fewer, so that in the sum over many
 * intervals what all locations do alike costs nothing (lc_costs_settle). */
static enum lc_err difference_inside(struct measuring *m, struct lc_sync_interval *x, bool own,
                                     size_t first, size_t n_waiting) {
    const struct lc_an_cnode *cnodes = m->delay->lines->trace->cnodes;
    enum lc_err err = LC_OK;
    for (uint32_t i = 0; i < m->cause.n_touched; i++) {
        uint32_t c = m->cause.touched[i];
        m->exact[cnodes[c].exact].cause += m->cause.ticks[c];
        m->exact[cnodes[c].exact].inside += m->cause.ticks[c];
    }
    for (size_t i = 0; i < n_waiting; i++) {
        struct waiting_part w = waiting_part(m, i, own, first);
        m->exact[cnodes[w.cnode].exact].waiting += w.ticks;
        if (m->local[w.cnode] != LC_NONE)
            m->exact[cnodes[w.cnode].exact].inside -= w.ticks;
    }
    for (uint32_t i = 0; i < m->cause.n_touched && err == LC_OK; i++) {
        uint32_t c = m->cause.touched[i];
        err = add_part(m, &m->exact[cnodes[c].exact], c, m->cause.ticks[c] - m->waiting.ticks[c]);
    }
    for (size_t i = 0; i < n_waiting && err == LC_OK; i++) {
        struct waiting_part w = waiting_part(m, i, own, first);
        if (m->local[w.cnode] != LC_NONE && !m->cause.is_touched[w.cnode])
            err = add_part(m, &m->exact[cnodes[w.cnode].exact], w.cnode, -w.ticks);
    }
    for (uint32_t i = 0; i < m->cause.n_touched; i++) {
        struct exact_sums *sums = &m->exact[cnodes[m->cause.touched[i]].exact];
        x->code += sums->cause > sums->waiting ? sums->cause - sums->waiting : 0;
        *sums = (struct exact_sums){0};
    }
    for (size_t i = 0; i < n_waiting; i++)
        m->exact[cnodes[waiting_part(m, i, own, first).cnode].exact] = (struct exact_sums){0};
    return err;
}

/* By how much the cause was late, once for all who waited: per exact call path. */
static enum lc_err note_excess(struct measuring *m, const struct lc_sync_interval *x) {
    const struct lc_trace *trace = m->delay->lines->trace;
    const struct lc_timeline *line = lc_timeline_of(m->delay->lines, x->cause);
    double **excess = &m->delay->costs->excess[line - m->delay->lines->lines];
    if (*excess == NULL)
        LC_TRY(lc_alloc(excess, trace->n_cnodes + 1, sizeof **excess));
    for (uint64_t e = x->excess; e < m->delay->n_excess; e++)
        (*excess)[trace->cnodes[line->cnodes[m->delay->excess_cnode[e]]].exact] +=
            (double)m->delay->excess_ticks[e];
    return LC_OK;
}

/* At the first long interval. */
static enum lc_err prepare_spans(struct measuring *m) {
    const struct lc_timelines *lines = m->delay->lines;
    m->n_blocks = lc_span_blocks(lines->n_states);
    LC_TRY(lc_alloc(&m->ticks_before, m->n_blocks + 1, sizeof *m->ticks_before));
    LC_TRY(lc_alloc(&m->handed, 2 * m->n_blocks, sizeof *m->handed));
    for (uint64_t i = 0; i < lines->n_states; i++)
        m->ticks_before[i / LC_SPAN_BLOCK + 1] += lines->states[i].ticks;
    for (size_t i = 0; i < m->n_blocks; i++)
        m->ticks_before[i + 1] += m->ticks_before[i];
    return LC_OK;
}

static int64_t waiting_within(const struct lc_delay *delay, const struct lc_sync_interval *x,
                              uint64_t first, uint64_t end) {
    int64_t ticks = 0;
    for (uint64_t i = first; i < end; i++)
        ticks += lc_state_overlap(&delay->lines->states[i], x->from, x->release);
    return ticks;
}

static void raise_handed(struct lc_delay *delay, const struct lc_sync_interval *x, int model,
                         double per_tick, uint64_t first, uint64_t end) {
    for (uint64_t i = first; i < end; i++) {
        double *handed = &delay->blame[i].handed[model];
        double share =
            per_tick * (double)lc_state_overlap(&delay->lines->states[i], x->from, x->release);
        if (share > *handed)
            *handed = share;
    }
}

/* W, and what the wait state hands to each wait of the cause out of its own waiting (propagating,
 * docs/definitions/wait-states.md#34-classification; one in MPI_Finalize makes nothing propagating:
 * the run ends there). */
static enum lc_err overlaps(struct measuring *m, struct lc_timeline *line,
                            struct lc_sync_interval *x) {
    struct lc_delay *delay = m->delay;
    uint32_t last;
    lc_states_within(line, x->from, x->release, &x->first_v, &last);
    x->n_v = last - x->first_v;
    uint64_t first = (uint64_t)(line->states - delay->lines->states) + x->first_v;
    uint64_t end = first + x->n_v;
    struct lc_block_span span = lc_span_inside(first, x->n_v);
    if (span.from < span.until && m->n_blocks == 0)
        LC_TRY(prepare_spans(m));
    x->waits =
        waiting_within(delay, x, first, span.from) + waiting_within(delay, x, span.until, end);
    if (span.from < span.until)
        x->waits += m->ticks_before[span.until / LC_SPAN_BLOCK] -
                    m->ticks_before[span.from / LC_SPAN_BLOCK];
    bool hands = x->waits > 0 && x->kind != LC_COST_FINALIZE;
    for (int model = 0; model < LC_MODELS && hands; model++) {
        double to_code, to_wait;
        lc_delay_shares(model, x->ticks, x->code, x->waits, &to_code, &to_wait);
        double per_tick = (double)x->ticks * to_wait / (double)x->waits;
        raise_handed(delay, x, model, per_tick, first, span.from);
        raise_handed(delay, x, model, per_tick, span.until, end);
        struct lc_span_walk walk = lc_span_begin(span, m->n_blocks);
        for (size_t node; (node = lc_span_next(&walk)) > 0;)
            if (per_tick > m->handed[node][model])
                m->handed[node][model] = per_tick;
    }
    return LC_OK;
}

/* What was handed to whole blocks goes to each of their states. */
static void apply_handed(const struct measuring *m) {
    const struct lc_timelines *lines = m->delay->lines;
    for (size_t node = 2; node < 2 * m->n_blocks; node++)
        for (int model = 0; model < LC_MODELS; model++)
            if (m->handed[node / 2][model] > m->handed[node][model])
                m->handed[node][model] = m->handed[node / 2][model];
    for (uint64_t i = 0; i < lines->n_states && m->n_blocks > 0; i++)
        for (int model = 0; model < LC_MODELS; model++) {
            double per_tick = m->handed[lc_span_leaf(i, m->n_blocks)][model];
            double share = per_tick * (double)lines->states[i].ticks;
            if (per_tick > 0 && share > m->delay->blame[i].handed[model])
                m->delay->blame[i].handed[model] = share;
        }
}

/* What is known of a state's interval, to the state. */
static void take_reply(struct lc_delay *delay, const struct blame_reply *reply) {
    const struct lc_timeline *line = lc_timeline_of(delay->lines, reply->location);
    const struct lc_state *state = &line->states[reply->index];
    struct lc_state_blame *blame = &delay->blame[state - delay->lines->states];
    blame->code = reply->code;
    blame->waits = reply->waits;
    blame->cause = line->loc->waits[state->wait].cause;
    blame->interval = reply->interval;
}

static enum lc_err measure(struct measuring *m, struct lc_sync_interval *x, size_t index) {
    struct lc_delay *delay = m->delay;
    struct lc_timeline *line = lc_timeline_of(delay->lines, x->cause);
    struct lc_timeline *own = lc_timeline_of(delay->lines, x->waiting);
    bool first_wait = profile_cause(m, line, x);
    if (own != NULL)
        lc_profile_window(&m->waiting, own, x->from, x->start, false);
    else
        for (size_t i = m->first_entry[index]; i < m->first_entry[index + 1]; i++)
            m->waiting.ticks[m->entries[i].cnode] = m->entries[i].ticks;
    size_t first = own != NULL ? 0 : m->first_entry[index];
    size_t n = own != NULL ? m->waiting.n_touched : m->first_entry[index + 1] - first;
    x->excess = delay->n_excess;
    x->code = 0;
    enum lc_err err =
        m->exact == NULL ? difference(m, x) : difference_inside(m, x, own != NULL, first, n);
    if (err == LC_OK && m->exact != NULL && first_wait)
        err = note_excess(m, x);
    if (own != NULL)
        lc_profile_clear(&m->waiting);
    else
        for (size_t i = m->first_entry[index]; i < m->first_entry[index + 1]; i++)
            m->waiting.ticks[m->entries[i].cnode] = 0;
    LC_TRY(err);
    x[1].excess = delay->n_excess;
    LC_TRY(overlaps(m, line, x));
    if (x->ticks > x->code + x->waits && !x->cut)
        delay->costs->n_short_of_blame++;
    for (int model = 0; model < LC_MODELS && x->kind < LC_COST_KINDS; model++) {
        double to_code, to_wait;
        lc_delay_shares(model, x->ticks, x->code, x->waits, &to_code, &to_wait);
        if (to_code > 0)
            LC_TRY(book(delay, x, model, (double)x->ticks * to_code));
    }
    struct blame_reply reply = {.location = x->waiting,
                                .index =
                                    (uint32_t)(x->state - delay->lines->first_state[x->waiting]),
                                .interval = (uint32_t)(x - delay->intervals),
                                .code = x->code,
                                .waits = x->waits};
    if (own != NULL) {
        take_reply(delay, &reply);
    } else {
        m->reply_dest[m->n_replies] = lc_trace_owner(delay->lines->trace, x->waiting);
        m->replies[m->n_replies++] = reply;
    }
    return LC_OK;
}

/* Profiles that other ranks asked for. */
static enum lc_err answer(struct measuring *m, const struct window_query *queries, size_t n_queries,
                          struct window_entry **entries, uint32_t **dest, size_t *n_entries) {
    size_t capacity = 0, cap_dest = 0;
    *n_entries = 0;
    LC_TRY(lc_reserve(entries, &capacity, USUAL_ENTRIES * n_queries + 1, sizeof **entries));
    LC_TRY(lc_reserve(dest, &cap_dest, USUAL_ENTRIES * n_queries + 1, sizeof **dest));
    for (size_t i = 0; i < n_queries; i++) {
        const struct window_query *q = &queries[i];
        lc_profile_window(&m->waiting, lc_timeline_of(m->delay->lines, q->location), q->from, q->to,
                          false);
        size_t need = *n_entries + m->waiting.n_touched;
        enum lc_err err = lc_reserve(entries, &capacity, need, sizeof **entries);
        if (err == LC_OK)
            err = lc_reserve(dest, &cap_dest, need, sizeof **dest);
        for (uint32_t k = 0; k < m->waiting.n_touched && err == LC_OK; k++) {
            uint32_t cnode = m->waiting.touched[k];
            (*dest)[*n_entries] = q->asker;
            (*entries)[(*n_entries)++] =
                (struct window_entry){q->index, cnode, m->waiting.ticks[cnode]};
        }
        lc_profile_clear(&m->waiting);
        LC_TRY(err);
    }
    return LC_OK;
}

/* Orders what arrived by interval of the batch (counting sort). */
static enum lc_err order_entries(struct measuring *m, const struct window_entry *arrived,
                                 size_t n) {
    LC_TRY(lc_alloc(&m->entries, n + 1, sizeof *m->entries));
    memset(m->first_entry, 0, (BATCH + 2) * sizeof *m->first_entry);
    for (size_t i = 0; i < n; i++)
        m->first_entry[arrived[i].index + 2]++;
    for (size_t i = 2; i < BATCH + 2; i++)
        m->first_entry[i] += m->first_entry[i - 1];
    for (size_t i = 0; i < n; i++)
        m->entries[m->first_entry[arrived[i].index + 1]++] = arrived[i];
    return LC_OK;
}

/* Asks for the windows of the waiting locations of other ranks, for the intervals [first, last). */
static enum lc_err fetch_windows(struct measuring *m, size_t first, size_t last) {
    const struct lc_delay *delay = m->delay;
    const struct lc_trace *trace = delay->lines->trace;
    struct window_query *queries = NULL, *asked = NULL;
    struct window_entry *entries = NULL, *arrived = NULL;
    uint32_t *dest = NULL, *entry_dest = NULL;
    size_t n = 0, n_asked = 0, n_entries = 0, n_arrived = 0;
    enum lc_err err = lc_alloc(&queries, last - first + 1, sizeof *queries);
    if (err == LC_OK)
        err = lc_alloc(&dest, last - first + 1, sizeof *dest);
    for (size_t i = first; i < last && err == LC_OK; i++) {
        const struct lc_sync_interval *x = &delay->intervals[i];
        uint32_t owner = lc_trace_owner(trace, x->waiting);
        if (owner == trace->comm->rank)
            continue;
        dest[n] = owner;
        queries[n++] = (struct window_query){x->waiting, trace->comm->rank,     x->from,
                                             x->start,   (uint32_t)(i - first), 0};
    }
    err = lc_transport_agree(trace->comm, err);
    if (err == LC_OK)
        err = lc_transport_exchange(trace->comm, queries, dest, n, sizeof *queries, (void **)&asked,
                                    &n_asked);
    if (err == LC_OK)
        err = answer(m, asked, n_asked, &entries, &entry_dest, &n_entries);
    err = lc_transport_agree(trace->comm, err);
    if (err == LC_OK)
        err = lc_transport_exchange(trace->comm, entries, entry_dest, n_entries, sizeof *entries,
                                    (void **)&arrived, &n_arrived);
    if (err == LC_OK)
        err = order_entries(m, arrived, n_arrived);
    free(queries);
    free(dest);
    free(asked);
    free(entries);
    free(entry_dest);
    free(arrived);
    return lc_transport_agree(trace->comm, err);
}

static enum lc_err send_replies(struct measuring *m) {
    struct lc_delay *delay = m->delay;
    const struct lc_trace *trace = delay->lines->trace;
    struct blame_reply *arrived = NULL;
    size_t n = 0;
    LC_TRY(lc_transport_exchange(trace->comm, m->replies, m->reply_dest, m->n_replies,
                                 sizeof *m->replies, (void **)&arrived, &n));
    for (size_t i = 0; i < n; i++)
        take_reply(delay, &arrived[i]);
    m->n_replies = 0;
    free(arrived);
    return LC_OK;
}

static enum lc_err measure_batch(struct measuring *m, size_t first, size_t last) {
    const struct lc_transport *comm = m->delay->lines->trace->comm;
    if (comm->size > 1)
        LC_TRY(fetch_windows(m, first, last));
    enum lc_err err = LC_OK;
    for (size_t i = first; i < last && err == LC_OK; i++)
        err = measure(m, &m->delay->intervals[i], i - first);
    free(m->entries);
    m->entries = NULL;
    err = lc_transport_agree(comm, err);
    if (err == LC_OK && comm->size > 1)
        err = lc_transport_agree(comm, send_replies(m));
    return err;
}

static enum lc_err measure_all(struct measuring *m) {
    const struct lc_delay *delay = m->delay;
    const struct lc_transport *comm = delay->lines->trace->comm;
    for (size_t first = 0;;) {
        size_t last = delay->n_intervals - first < BATCH ? delay->n_intervals : first + BATCH;
        int64_t left = (int64_t)(delay->n_intervals - first);
        lc_transport_allreduce_i64(comm, &left, 1, LC_OP_MAX);
        if (left == 0)
            break;
        LC_TRY(measure_batch(m, first, last));
        first = last;
    }
    apply_handed(m);
    return LC_OK;
}

static enum lc_err prepare(struct measuring *m) {
    size_t n_cnodes = m->delay->lines->trace->n_cnodes, n = m->delay->n_intervals;
    LC_TRY(lc_profile_new(&m->cause, n_cnodes));
    LC_TRY(lc_profile_new(&m->waiting, n_cnodes));
    LC_TRY(lc_alloc(&m->local, n_cnodes + 1, sizeof *m->local));
    memset(m->local, 0xff, (n_cnodes + 1) * sizeof *m->local); /* LC_NONE */
    if (m->delay->lines->trace->sampled)
        LC_TRY(lc_alloc(&m->exact, n_cnodes + 1, sizeof *m->exact));
    LC_TRY(lc_alloc(&m->replies, (n < BATCH ? n : BATCH) + 1, sizeof *m->replies));
    LC_TRY(lc_alloc(&m->reply_dest, (n < BATCH ? n : BATCH) + 1, sizeof *m->reply_dest));
    return lc_alloc(&m->first_entry, BATCH + 2, sizeof *m->first_entry);
}

enum lc_err lc_delay_run(struct lc_delay *delay, const struct lc_timelines *lines,
                         struct lc_costs *costs) {
    const struct lc_transport *comm = lines->trace->comm;
    *delay = (struct lc_delay){.lines = lines, .costs = costs};
    struct measuring m = {.delay = delay, .cause_location = LC_NONE};
    enum lc_err err = lc_transport_agree(
        comm, lc_alloc(&delay->blame, lines->n_states + 1, sizeof *delay->blame));
    for (uint64_t i = 0; i < lines->n_states && err == LC_OK; i++)
        delay->blame[i].cause = LC_NONE;
    if (err == LC_OK)
        err = send_intervals(delay);
    if (err == LC_OK)
        err = lc_transport_agree(comm, prepare(&m));
    if (err == LC_OK)
        err = measure_all(&m);
    lc_profile_free(&m.cause);
    lc_profile_free(&m.waiting);
    free(m.local);
    free(m.exact);
    free(m.replies);
    free(m.reply_dest);
    free(m.first_entry);
    free(m.ticks_before);
    free(m.handed);
    if (err != LC_OK)
        lc_delay_free(delay);
    return err;
}

void lc_delay_free_intervals(struct lc_delay *delay) {
    free(delay->intervals);
    free(delay->excess_cnode);
    free(delay->excess_ticks);
    delay->intervals = NULL;
    delay->excess_cnode = NULL;
    delay->excess_ticks = NULL;
    delay->n_intervals = delay->n_excess = delay->cap_excess = delay->cap_excess_ticks = 0;
}

enum lc_err lc_delay_keep_parts(const struct lc_delay *delay) {
    const struct lc_timelines *lines = delay->lines;
    for (size_t i = 0; i < lines->trace->n_locs; i++) {
        struct lc_loc *loc = &lines->trace->locs[i];
        const struct lc_timeline *line = &lines->lines[i];
        free(loc->parts);
        LC_TRY(lc_alloc(&loc->parts, loc->n_waits + 1, sizeof *loc->parts));
        for (uint32_t k = 0; k < line->n_states; k++) {
            const struct lc_state_blame *blame = &delay->blame[&line->states[k] - lines->states];
            loc->parts[line->states[k].wait] = (struct lc_wait_parts){blame->code, blame->waits};
        }
    }
    return LC_OK;
}

void lc_delay_free(struct lc_delay *delay) {
    lc_delay_free_intervals(delay);
    free(delay->blame);
    delay->blame = NULL;
}
