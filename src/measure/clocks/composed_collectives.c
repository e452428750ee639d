/* Several collectives reduced in one. */
#include <math.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/timer.h"
#include "measure/clocks/backlog.h"
#include "measure/clocks/clocks.h"
#include "measure/clocks/collectives.h"
#include "measure/clocks/edges.h"
#include "measure/clocks/global_time.h"
#include "measure/clocks/records.h"
#include "measure/core/core.h"

struct lc_shadow_batch { /* also as words of a message */
    uint32_t n;          /* steps */
    uint16_t mixed;      /* members are in several intervals or phases */
    uint16_t lags;       /* the clocks of a member lag far behind the program */
    double outside_omp_end;
    struct lc_shadow_record first;
    struct lc_shadow_step steps[LC_STEPS];
};
_Static_assert(sizeof(struct lc_shadow_batch) / sizeof(uint64_t) + 2 <= LC_PART_WORDS,
               "a part of a packet");

enum {
    LC_HELD = 8,
    LC_EACH_TO_EACH = 8, /* members, at most */
    SAME_NS = 2          /* rounding of times */
};

/* ---- when there is something to do */

/* When batches that wait for more steps are to be looked at again: after so many ends of operations
 * (0: now; UINT32_MAX: none waits), or then (lc_patience_ticks). Changed with the lock, or by the
 * thread that composes; any thread looks. */
static _Atomic uint32_t ends_left = UINT32_MAX;
static _Atomic uint64_t look_at = UINT64_MAX;

static void look_now(void) {
    if (atomic_load_explicit(&ends_left, memory_order_relaxed) != UINT32_MAX)
        atomic_store_explicit(&ends_left, 0, memory_order_relaxed);
}

static void look_after(uint32_t ends, uint64_t at) {
    if (ends < atomic_load_explicit(&ends_left, memory_order_relaxed))
        atomic_store_explicit(&ends_left, ends, memory_order_relaxed);
    if (at < atomic_load_explicit(&look_at, memory_order_relaxed))
        atomic_store_explicit(&look_at, at, memory_order_relaxed);
}

/* ---- what the thread did since the last operation */

static struct {
    const struct lc_shadow *after; /* the last one; NULL: something else has happened since */
    struct lc_work_since work;
} since;

static bool one_thread(void) {
    return !lc_core.multiple && lc_clk.n_threads == 1;
}

void lc_clk_composed_break(void) {
    if (since.after == NULL)
        return;
    since.after = NULL;
    look_now();
}

void lc_clk_composed_worked(uint64_t ticks, uint32_t node, bool part) {
    if (since.after != NULL && !lc_work_add(&since.work, ticks, node, part))
        lc_clk_composed_break();
}

void lc_clk_composed_portion(const struct lc_portion_done *portion) {
    if (since.after != NULL && !lc_work_portion(&since.work, portion))
        lc_clk_composed_break();
}

/* Told when the clocks of the first operation are: scenarios are as they were chosen before it. */
static void take_step(const struct lc_work_since *did, struct lc_shadow_step *s) {
    uint64_t whatif[LC_WHATIF_MAX];
    lc_work_whatif(did, whatif);
    s->work = lc_clk_ns_from(did->ticks);
    s->n_items = lc_work_items(did, s->items);
    for (uint32_t i = 0; i < LC_WHATIF_MAX; i++)
        s->whatif[i] = lc_clk_ns_from(whatif[i]);
    s->latest_rank = lc_clk.rank;
    s->latest_node = did->node;
}

/* ---- batches */

static void clear(struct lc_shadow_batch *b) {
    memset(b, 0, sizeof *b);
    b->n = LC_STEPS;
    b->outside_omp_end = INFINITY;
    for (uint32_t i = 0; i < LC_STEPS; i++) {
        struct lc_shadow_step *s = &b->steps[i];
        s->work = -1;
        s->latest = s->outside_omp = -INFINITY;
        s->outside_omp_end = INFINITY;
    }
}

/* None is a NaN. */
static double larger(double a, double b) {
    return a > b ? a : b;
}

static double smaller(double a, double b) {
    return a < b ? a : b;
}

static void merge_step(const struct lc_shadow_step *a, struct lc_shadow_step *b) {
    if (a->work > b->work) {
        b->work = a->work;
        b->n_items = a->n_items;
        memcpy(b->items, a->items, sizeof b->items);
    }
    for (uint32_t i = 0; i < LC_WHATIF_MAX; i++)
        b->whatif[i] = larger(a->whatif[i], b->whatif[i]);
    if (a->latest > b->latest || (a->latest == b->latest && a->latest_rank < b->latest_rank)) {
        b->latest = a->latest;
        b->latest_rank = a->latest_rank;
        b->latest_node = a->latest_node;
    }
    b->outside_omp = larger(a->outside_omp, b->outside_omp);
    b->outside_omp_end = smaller(a->outside_omp_end, b->outside_omp_end);
}

static void merge(const struct lc_shadow_batch *a, struct lc_shadow_batch *b) {
    b->mixed |= a->mixed;
    b->lags |= a->lags;
    b->mixed |= b->first.n > 0 && a->first.n > 0 &&
                (a->first.interval != b->first.interval || a->first.phase != b->first.phase);
    lc_shadow_merge(&a->first, &b->first);
    b->outside_omp_end = smaller(a->outside_omp_end, b->outside_omp_end);
    b->n = a->n < b->n ? a->n : b->n;
    for (uint32_t i = 0; i < b->n; i++)
        merge_step(&a->steps[i], &b->steps[i]);
}

/* The first one's record goes last: only the words of it that are set are sent. */
static void send_record(const struct lc_shadow *m, int32_t rank, const struct lc_shadow_batch *b) {
    uint64_t part[2 + sizeof *b / sizeof(uint64_t)], *words = part + 2;
    uint32_t head = offsetof(struct lc_shadow_batch, first) / sizeof *words;
    uint32_t steps = b->n * (uint32_t)(sizeof b->steps[0] / sizeof *words);
    memcpy(words, b, head * sizeof *words);
    memcpy(words + head, b->steps, steps * sizeof *words);
    uint32_t first = lc_shadow_pack(&b->first, words + head + steps);
    part[0] = LC_COMPOSED_MARK;
    part[1] = (uint64_t)lc_shadow_context(m) << 32 | m->number;
    if (rank >= 0 &&
        !lc_clk_packet_add((uint32_t)rank, LC_PART_SHADOW, part, 2 + head + steps + first))
        lc_clk.counts.skipped++;
}

static bool unpack(const uint64_t *words, uint32_t n, struct lc_shadow_batch *b) {
    uint32_t head = offsetof(struct lc_shadow_batch, first) / sizeof *words;
    clear(b);
    if (n < head)
        return false;
    memcpy(b, words, head * sizeof *words);
    uint32_t steps = b->n * (uint32_t)(sizeof b->steps[0] / sizeof *words);
    if (b->n > LC_STEPS || n < head + steps)
        return false;
    memcpy(b->steps, words + head, steps * sizeof *words);
    return lc_shadow_unpack(words + head + steps, n - head - steps, &b->first);
}

/* Batches that came before the program was in the operation here, or not for this member's turn. */
static struct early {
    struct early *next;
    uint32_t source, context, number, n;
    uint64_t words[];
} * early_batches;

static bool receive_record(const struct lc_shadow *m, int32_t rank, struct lc_shadow_batch *b) {
    uint32_t context = lc_shadow_context(m);
    for (struct early **at = &early_batches, *e; (e = *at) != NULL; at = &e->next) {
        if (e->number != m->number || e->context != context || (int32_t)e->source != rank)
            continue;
        bool good = unpack(e->words, e->n, b);
        *at = e->next;
        free(e);
        return good;
    }
    return false;
}

static bool received_from_children(struct lc_shadow *m) {
    bool all = true;
    struct lc_shadow_batch b;
    for (int level = 0; level < LC_SHADOW_LEVELS && ((int32_t)1 << level) < m->n; level++) {
        int32_t c = lc_shadow_child(m, level);
        if (c < 0 || m->received_from >> level & 1)
            continue;
        if (receive_record(m, lc_shadow_rank_at(m, c), &b)) {
            merge(&b, m->batch);
            m->received_from |= 1ull << level;
        } else {
            all = false;
        }
    }
    return all;
}

/* Has the batch of that rank come? */
static bool has_come(const struct lc_shadow *m, int32_t rank) {
    uint32_t context = lc_shadow_context(m);
    const struct early *e = early_batches;
    while (e != NULL &&
           (e->number != m->number || e->context != context || (int32_t)e->source != rank))
        e = e->next;
    return e != NULL;
}

/* ---- how many steps there are to tell */

static struct lc_shadow *held[LC_HELD]; /* wait for more */
static uint32_t n_held;
static bool eager;

static void let_go(const struct lc_shadow *m) {
    for (uint32_t i = 0; i < n_held; i++)
        if (held[i] == m)
            held[i--] = held[--n_held];
}

/* It is to have so many steps. False: all are held that can be. */
static bool hold(struct lc_shadow *m, uint32_t most) {
    uint32_t i = 0;
    while (i < n_held && held[i] != m)
        i++;
    if (i == LC_HELD)
        return false;
    held[i] = m;
    n_held += i == n_held;
    look_after(most - m->n_steps, m->published + LC_STEPS_WAIT_US * lc_clk.slow_ticks + 1);
    return true;
}

static bool is_old(const struct lc_shadow *m) {
    return lc_patience_ticks() - m->published > LC_STEPS_WAIT_US * lc_clk.slow_ticks;
}

/* Steps of this member after m, at most `most`; *more: there may be others soon. */
static uint32_t steps_behind(struct lc_shadow *m, uint32_t most, bool *more) {
    const struct lc_shadow *s;
    if (m->last_step == NULL) {
        m->n_steps = 0;
        m->last_step = m;
    }
    while ((s = m->last_step->after) != NULL && m->n_steps < most && s->relative && s->ended) {
        m->last_step = m->last_step->after;
        m->n_steps++;
    }
    *more = m->n_steps < most &&
            (s == NULL ? since.after == m->last_step || !m->last_step->ended : s->relative);
    return m->n_steps < most ? m->n_steps : most;
}

static void fill_own(const struct lc_shadow *m, uint32_t n, struct lc_shadow_batch *b) {
    clear(b);
    b->n = n;
    b->lags = lc_clk_backlog_lags();
    lc_shadow_copy(&m->mine, &b->first);
    if (m->ended)
        b->outside_omp_end = lc_clk_ns_from(m->end - m->origin);
    const struct lc_shadow *s = m->after;
    for (uint32_t i = 0; i < n; i++, s = s->after) {
        struct lc_shadow_step *step = &b->steps[i];
        take_step(&s->did, step);
        step->latest = lc_clk_to_global(s->enter);
        step->outside_omp = lc_clk_ns_from(s->enter - m->origin);
        step->outside_omp_end = lc_clk_ns_from(s->end - m->origin);
    }
}

/* Adds what this member knows. False: it waits for more. */
static bool add_own(struct lc_shadow *m) {
    struct lc_shadow_batch own;
    bool more;
    uint32_t most = m->few ? 0 : m->batch->n, n = steps_behind(m, most, &more);
    if (more && m->soon && !eager && !is_old(m) && hold(m, most))
        return false;
    let_go(m);
    fill_own(m, n, &own);
    merge(&own, m->batch);
    return true;
}

/* ---- what comes of it */

static void apply(const struct lc_shadow_step *s, struct lc_shadow_record *r) {
    r->useful += s->work;
    r->phase_useful += s->work;
    r->outside_omp = s->outside_omp;
    r->latest = r->earliest = s->latest;
    r->past[0] = 0;
    r->latest_rank = r->earliest_rank = s->latest_rank;
    r->latest_node = r->earliest_node = s->latest_node;
    for (uint32_t i = 0; i < LC_WHATIF_MAX; i++)
        r->extra[2 + i] += (uint64_t)(s->whatif[i] + 0.5);
    lc_clk_extra_add(r->extra, s->items, (uint32_t)s->n_items);
}

static void unchain(struct lc_shadow *m) {
    struct lc_clk_comm *c = m->c;
    if (!m->chained)
        return;
    *(m->before != NULL ? &m->before->after : &c->first_composed) = m->after;
    *(m->after != NULL ? &m->after->before : &c->last_composed) = m->before;
    m->chained = false;
    if (c->first_composed != NULL)
        c->first_composed->last_step = NULL;
    if (since.after == m)
        since.after = NULL;
    let_go(m);
}

static void known(struct lc_shadow *m, const struct lc_shadow_record *r) {
    lc_shadow_copy(r, &m->received);
    m->come = m->over = true;
    unchain(m);
    lc_shadow_go(m);
}

/* Since the last operation that is known, clocks of two nodes can have got apart by so much. */
static double drift_ns(struct lc_clk_comm *c, const struct lc_shadow_record *at) {
    bool known = lc_clk.n_nodes > 1 && c->known_ns > 0 && at->latest > c->known_ns;
    return known ? LC_CLK_DRIFT * (at->latest - c->known_ns) : 0;
}

/* All that the batch says. Where clocks were not the same after an operation, by more than they can
 * drift, what comes next is told anew: else each operation would be, where the latency of a message
 * is shorter than what clocks of nodes get apart between two operations. */
static void spread(struct lc_shadow *m) {
    struct lc_shadow_batch *b = m->batch;
    struct lc_clk_comm *c = m->c;
    struct lc_shadow_record at = b->first;
    double end = b->outside_omp_end;
    bool mixed = b->mixed != 0;
    m->batch = NULL;
    c->uses++; /* the last one may go */
    known(m, &at);
    for (uint32_t i = 0; i < b->n; i++) {
        struct lc_shadow *s = c->first_composed;
        if (s == NULL || mixed || at.outside_omp + SAME_NS > end + drift_ns(c, &at))
            break;
        apply(&b->steps[i], &at);
        end = b->steps[i].outside_omp_end;
        known(s, &at);
    }
    c->known_ns = at.latest;
    c->lags = b->lags != 0;
    free(b);
    struct lc_shadow *next = c->first_composed;
    if (next != NULL)
        lc_clk_composed_advance(next);
    lc_clk_comm_unuse(c);
}

/* ---- ways to the maxima, which all members know at the end: each says whether it is there */

static bool along_tree(struct lc_shadow *m) {
    bool top = lc_shadow_place(m) == 0;
    if (!m->sent) {
        if (!received_from_children(m) || !m->own || !add_own(m))
            return false;
        m->sent = true;
        if (!top)
            send_record(m, lc_shadow_parent(m), m->batch);
    }
    if (!top && !receive_record(m, lc_shadow_parent(m), m->batch))
        return false;
    for (int level = 0; level < LC_SHADOW_LEVELS && ((int32_t)1 << level) < m->n; level++)
        if (lc_shadow_child(m, level) >= 0)
            send_record(m, lc_shadow_rank_at(m, lc_shadow_child(m, level)), m->batch);
    return true;
}

/* What member i knows, which has come. */
static void batch_of(const struct lc_shadow *m, int32_t i, struct lc_shadow_batch *b) {
    if (i == m->me)
        *b = *m->batch;
    else if (!receive_record(m, m->ranks[i], b))
        clear(b);
}

/* One message in sequence. Merged in the same order by all: of equal clocks the first one's call
 * paths. */
static bool each_to_each(struct lc_shadow *m) {
    if (!m->sent) {
        if (!m->own || !add_own(m))
            return false;
        m->sent = true;
        for (int32_t i = 0; i < m->n; i++)
            if (i != m->me)
                send_record(m, m->ranks[i], m->batch);
    }
    for (int32_t i = 0; i < m->n; i++)
        if (i != m->me && !has_come(m, m->ranks[i]))
            return false;
    struct lc_shadow_batch all, theirs;
    batch_of(m, 0, &all);
    for (int32_t i = 1; i < m->n; i++) {
        batch_of(m, i, &theirs);
        merge(&theirs, &all);
    }
    *m->batch = all;
    return true;
}

/* Each member sends what it knows to the one 1, 2, 4, .. places on: maxima may count twice. */
static bool by_doubling(struct lc_shadow *m) {
    struct lc_shadow_batch theirs;
    if (!m->sent) {
        if (!m->own || !add_own(m))
            return false;
        m->sent = true;
        send_record(m, m->ranks[(m->me + 1) % m->n], m->batch);
    }
    for (int step = 0; step < LC_SHADOW_LEVELS && ((int32_t)1 << step) < m->n; step++) {
        int32_t far = (int32_t)1 << step;
        if (m->received_from >> step & 1)
            continue;
        if (!receive_record(m, m->ranks[(m->me - far + m->n) % m->n], &theirs))
            return false;
        merge(&theirs, m->batch);
        m->received_from |= 1ull << step;
        if (far < m->n - far)
            send_record(m, m->ranks[(m->me + 2 * far) % m->n], m->batch);
    }
    return true;
}

/* The tree takes the fewest messages, but twice its height in sequence: where clocks lag far behind
 * the program, as the batch before told all members alike, more of them go, and fewer after each
 * other. Of two members as many go in any case. */
static bool reduce(struct lc_shadow *m) {
    if (m->n == 2 || (m->c->lags && m->n <= LC_EACH_TO_EACH))
        return each_to_each(m);
    return m->c->lags ? by_doubling(m) : along_tree(m);
}

void lc_clk_composed_advance(struct lc_shadow *m) {
    if (m->c->first_composed != m || m->over)
        return;
    if (m->batch == NULL) {
        m->batch = malloc(sizeof *m->batch);
        if (m->batch == NULL)
            return;
        clear(m->batch);
    }
    if (reduce(m))
        spread(m);
}

/* ---- life */

void lc_clk_composed_begin(struct lc_shadow *m, uint64_t enter) {
    struct lc_clk_comm *c = m->c;
    lc_clk_turns_close();
    m->composed = m->chained = true;
    m->enter = enter;
    m->soon =
        c->composed_end != 0 && enter - c->composed_end < LC_STEPS_SOON_US * lc_clk.slow_ticks;
    m->before = c->last_composed;
    *(m->before != NULL ? &m->before->after : &c->first_composed) = m;
    c->last_composed = m;
    m->relative = one_thread() && since.after != NULL && since.after == m->before;
    if (m->relative)
        m->did = since.work;
    else
        look_now();
}

void lc_clk_composed_end(struct lc_shadow *m, uint64_t end) {
    m->end = m->c->composed_end = end;
    m->ended = true;
    uint32_t left = atomic_load_explicit(&ends_left, memory_order_relaxed);
    if (left > 0 && left != UINT32_MAX)
        atomic_store_explicit(&ends_left, left - 1, memory_order_relaxed);
    if (!one_thread() || !m->chained)
        return;
    memset(&since, 0, sizeof since);
    since.after = m;
}

void lc_clk_composed_drop(struct lc_shadow *m) {
    unchain(m);
    free(m->batch);
    m->batch = NULL;
}

void lc_clk_composed_part(uint32_t source, const uint64_t *words, uint32_t n) {
    uint32_t context = (uint32_t)(words[1] >> 32), number = (uint32_t)words[1];
    words += 2;
    n -= 2;
    struct early *e = malloc(sizeof *e + n * sizeof *words);
    if (e == NULL) {
        lc_clk.counts.skipped++;
        return;
    }
    *e = (struct early){
        .next = early_batches, .source = source, .context = context, .number = number};
    e->n = n;
    memcpy(e->words, words, n * sizeof *words);
    early_batches = e;
    struct lc_shadow *m = lc_shadow_find(context, number);
    if (m != NULL)
        lc_clk_composed_advance(m);
}

void lc_clk_composed_progress(void) {
    atomic_store_explicit(&ends_left, UINT32_MAX, memory_order_relaxed);
    atomic_store_explicit(&look_at, UINT64_MAX, memory_order_relaxed);
    for (uint32_t i = n_held; i-- > 0;)
        if (i < n_held)
            lc_clk_composed_advance(held[i]);
}

bool lc_clk_composed_waits(uint64_t now) {
    return atomic_load_explicit(&ends_left, memory_order_relaxed) == 0 ||
           now >= atomic_load_explicit(&look_at, memory_order_relaxed);
}

void lc_clk_composed_eager(bool on) {
    eager = on;
}
