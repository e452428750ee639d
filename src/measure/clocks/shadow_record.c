/* What a member of a collective operation tells the others. */
#include <stddef.h>
#include <string.h>

#include "measure/clocks/call_state.h"
#include "measure/clocks/clocks.h"
#include "measure/clocks/edges.h"
#include "measure/clocks/global_time.h"
#include "measure/clocks/origins.h"
#include "measure/clocks/shadow_record.h"
#include "measure/clocks/wait_states.h"
#include "piggyback/logical.h"
#include "piggyback/match_types.h"

_Static_assert(sizeof(struct lc_shadow_record) / sizeof(uint64_t) <= LC_STASH_ROOM,
               "a record of a collective is an entry that waits for its turn");

enum { HEAD = offsetof(struct lc_shadow_record, extra) / sizeof(uint64_t) };

void lc_shadow_empty(struct lc_shadow_record *r) {
    memset(r, 0, (HEAD + 2) * sizeof(uint64_t));
    r->past[0] = 0;
}

static void copy_past(const struct lc_shadow_record *from, struct lc_shadow_record *to) {
    to->past[0] = 0;
    memcpy(to->past, from->past, lc_clk_origins_words(from->past) * sizeof *to->past);
}

static void copy_extra(const struct lc_shadow_record *from, struct lc_shadow_record *to) {
    memcpy(to->extra, from->extra, lc_clk_extra_words(from->extra) * sizeof *to->extra);
}

void lc_shadow_copy(const struct lc_shadow_record *from, struct lc_shadow_record *to) {
    if (from->n == 0) {
        lc_shadow_empty(to);
        return;
    }
    memcpy(to, from, HEAD * sizeof(uint64_t));
    copy_extra(from, to);
    copy_past(from, to);
}

uint32_t lc_shadow_pack(const struct lc_shadow_record *r, uint64_t *words) {
    uint32_t n = HEAD;
    n += r->n > 0 ? lc_clk_extra_words(r->extra) : 0;
    memcpy(words, r, n * sizeof *words);
    uint32_t past = r->n > 0 ? lc_clk_origins_words(r->past) : 0;
    memcpy(words + n, r->past, past * sizeof *words);
    return n + past;
}

bool lc_shadow_unpack(const uint64_t *words, uint32_t n, struct lc_shadow_record *r) {
    uint32_t head = HEAD;
    lc_shadow_empty(r);
    if (n <= head) /* of no member */
        return true;
    if (words[head] > LC_RECORD_ITEMS)
        return false;
    head += lc_clk_extra_words(words + head);
    if (n < head || n - head > LC_PAST_WORDS)
        return false;
    memcpy(r, words, head * sizeof *words);
    memcpy(r->past, words + head, (n - head) * sizeof *words);
    if (lc_clk_origins_words(r->past) > n - head)
        r->past[0] = 0;
    return true;
}

void lc_shadow_merge(const struct lc_shadow_record *a, struct lc_shadow_record *b) {
    bool empty = b->n == 0;
    if (a->n > 0 && empty)
        lc_shadow_copy(a, b);
    if (a->n == 0 || empty)
        return;
    if (a->latest > b->latest || (a->latest == b->latest && a->latest_rank < b->latest_rank)) {
        b->latest = a->latest;
        b->latest_rank = a->latest_rank;
        b->latest_node = a->latest_node;
        copy_past(a, b);
    }
    if (a->earliest < b->earliest ||
        (a->earliest == b->earliest && a->earliest_rank < b->earliest_rank)) {
        b->earliest = a->earliest;
        b->earliest_rank = a->earliest_rank;
        b->earliest_node = a->earliest_node;
    }
    b->n += a->n;
    if (a->interval != b->interval && a->interval < b->interval)
        return;
    bool newer = a->interval > b->interval;
    if (newer || a->outside_omp > b->outside_omp)
        b->outside_omp = a->outside_omp;
    if (newer || a->phase > b->phase ||
        (a->phase == b->phase && a->phase_useful > b->phase_useful)) {
        b->phase = a->phase;
        b->phase_useful = a->phase_useful;
    }
    uint64_t whatif[LC_WHATIF_MAX];
    for (uint32_t s = 0; s < LC_WHATIF_MAX; s++)
        whatif[s] = newer || a->extra[2 + s] > b->extra[2 + s] ? a->extra[2 + s] : b->extra[2 + s];
    if (newer || a->useful > b->useful) {
        b->useful = a->useful;
        b->interval = a->interval;
        copy_extra(a, b);
    }
    memcpy(b->extra + 2, whatif, sizeof whatif);
}

void lc_shadow_fill(struct lc_clk_thread *k, const struct lc_stamp *stamp,
                    struct lc_shadow_record *r) {
    r->n = 1;
    r->useful = lc_clk_ns_from(stamp->useful);
    r->outside_omp = lc_clk_ns_from(stamp->outside_omp);
    r->phase_useful = lc_clk_ns_from(stamp->phase_useful);
    r->interval = stamp->interval;
    r->phase = stamp->phase;
    r->latest = r->earliest = lc_clk_to_global(stamp->enter);
    r->latest_rank = r->earliest_rank = lc_clk.rank;
    r->latest_node = r->earliest_node = stamp->node;
    lc_clk_extra(k, NULL, LC_RECORD_ITEMS, r->extra);
    lc_clk_origins_pack(-1, r->past);
}

static uint64_t ticks_of(double ns) {
    return (uint64_t)(int64_t)(ns / lc_clk.ns_per_tick);
}

static struct lc_stamp stamp_of(const struct lc_shadow_record *r) {
    return (struct lc_stamp){.enter = lc_clk_from_global(r->latest),
                             .useful = ticks_of(r->useful),
                             .outside_omp = ticks_of(r->outside_omp),
                             .phase_useful = ticks_of(r->phase_useful),
                             .interval = r->interval,
                             .phase = r->phase};
}

bool lc_shadow_edge_of(const struct lc_shadow_record *r, enum lc_coll_kind kind, uint64_t end,
                       struct lc_shadow_edge *e) {
    if (r->n == 0)
        return false;
    *e = (struct lc_shadow_edge){.stamp = stamp_of(r), .extra = r->extra};
    if (kind == LC_COLL_SYNC && e->stamp.enter > end) /* it ended before all had come */
        return false;
    bool first = kind == LC_COLL_N2ONE;
    e->release = first ? lc_clk_from_global(r->earliest) : e->stamp.enter;
    e->rank = first ? r->earliest_rank : r->latest_rank;
    e->node = first ? r->earliest_node : r->latest_node;
    lc_clk_origins_take(r->latest_rank, r->past, LC_PAST_WORDS);
    return true;
}

void lc_shadow_apply(struct lc_clk_thread *k, struct lc_call *call, const struct lc_clk_coll *x,
                     const struct lc_shadow_record *r) {
    struct lc_shadow_edge e;
    if (!lc_shadow_edge_of(r, x->kind, call->end, &e))
        return;
    lc_clk_edge(k, lc_clk.rank, &e.stamp, call->end, e.extra, LC_RECORD_EXTRA);
    if (e.rank != lc_clk.rank)
        lc_clk_coll_candidate(k, call, x, e.release, e.rank, e.node);
}
