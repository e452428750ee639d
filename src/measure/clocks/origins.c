#include "measure/clocks/origins.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "base/hash.h"
#include "base/hot_data.h"
#include "measure/clocks/intervals.h"
#include "measure/clocks/call_state.h"
#include "measure/clocks/clocks.h"
#include "measure/clocks/contexts.h"
#include "measure/clocks/global_time.h"
#include "measure/clocks/records.h"
#include "measure/core/core.h"
#include "measure/core/state_write.h"
#include "measure/callpath/entry.h"
#include "piggyback/area.h"
#include "piggyback/blame.h"

/* Looking costs about 40 ns an entry of another core's memory: not more than a tenth of what was
 * waited. */
enum { PAST_US = 2, LOOKS = 256, LEAST_LOOKS = 8, NS_PER_LOOK = 400 };
enum { HASHES = 65536, DEEPEST = 1000 };

static _Atomic uint64_t *hashes; /* by node; 0: not known yet */

static struct lc_state_costs *shown; /* in the state; NULL: no room */

/* By rank of another node: what was sent until when; when it waited for this process last. */
static uint64_t *sent_until, *met_far;

/* What the first thread worked, for its loops: a stretch as in lc_past_work, in a place of its
 * number. */
struct work {
    _Atomic uint64_t begin;
    _Atomic uint32_t node, ticks; /* ticks: bits of a float */
};
static struct work works[LC_LOOP_WORK];
static LC_HOT_DATA _Atomic uint64_t n_works;

static uint32_t float_bits(double value) {
    float number = (float)value;
    uint32_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits;
}

static double float_of(uint64_t bits) {
    uint32_t low = (uint32_t)bits;
    float number;
    memcpy(&number, &low, sizeof number);
    return (double)number;
}

static void add_work(uint64_t begin, uint64_t ticks, uint32_t node) {
    uint64_t n = atomic_load_explicit(&n_works, memory_order_relaxed);
    struct work *w = &works[n % LC_LOOP_WORK];
    atomic_store_explicit(&w->begin, begin, memory_order_relaxed);
    atomic_store_explicit(&w->node, node, memory_order_relaxed);
    atomic_store_explicit(&w->ticks, float_bits((double)ticks), memory_order_relaxed);
    /* release: who sees the number sees the stretch (longest) */
    atomic_store_explicit(&n_works, n + 1, memory_order_release);
}

/* Among the codes that took most, largest first. */
static void take_most(struct lc_loop_code code, struct lc_loop_code codes[LC_LOOP_CODES]) {
    for (uint32_t k = 0; k < LC_LOOP_CODES; k++)
        if (code.ticks > codes[k].ticks) {
            struct lc_loop_code smaller = codes[k];
            codes[k] = code;
            code = smaller;
        }
}

/* The place of a node among the codes of an iteration: its own, or a free one; PLACES: there is
 * none, the iteration has many. Node 0 has none. */
enum { PLACES = 128, STEPS = 16 };
static uint32_t place_of(const struct lc_loop_code *all, uint32_t node) {
    uint32_t i = lc_hash_key32(node) >> 25;
    for (uint32_t step = 0; step < STEPS; step++, i = (i + 1) % PLACES)
        if (all[i].node == node || all[i].node == 0)
            return i;
    return PLACES;
}

/* See lc_loops_worked. What is written over meanwhile, in backlog by another thread, begins too
 * late. */
static void longest(uint64_t first, uint64_t since, uint64_t until,
                    struct lc_loop_code codes[LC_LOOP_CODES]) {
    struct lc_loop_code all[PLACES] = {{0, 0}};
    uint8_t used[PLACES];
    uint32_t n = 0;
    uint64_t end = atomic_load_explicit(&n_works, memory_order_acquire);
    if (end - first > LC_LOOP_WORK)
        first = end - LC_LOOP_WORK;
    for (; first < end; first++) {
        const struct work *w = &works[first % LC_LOOP_WORK];
        uint64_t begin = atomic_load_explicit(&w->begin, memory_order_relaxed);
        uint32_t node = atomic_load_explicit(&w->node, memory_order_relaxed);
        if (begin >= until)
            break;
        uint64_t ticks = (uint64_t)float_of(atomic_load_explicit(&w->ticks, memory_order_relaxed));
        uint64_t over = lc_min(begin + ticks, until), from = lc_larger(begin, since);
        uint32_t i = place_of(all, node);
        if (node == 0 || from >= over || i == PLACES)
            continue;
        if (all[i].node == 0)
            used[n++] = (uint8_t)i;
        all[i].node = node;
        all[i].ticks += (float)(over - from);
    }
    while (n > 0)
        take_most(all[used[--n]], codes);
}

void lc_clk_origins_init(void) {
    lc_clk.past_ticks = lc_clk.trace_ticks = PAST_US * lc_clk.slow_ticks;
    hashes = calloc(HASHES, sizeof *hashes);
    lc_clk.pasts = calloc(lc_clk.size, sizeof(struct lc_past *));
    sent_until = calloc(lc_clk.size, sizeof *sent_until);
    met_far = calloc(lc_clk.size, sizeof *met_far);
    if (hashes == NULL || !lc_clk_pasts_init())
        return;
    uint64_t costs = 0;
    shown = lc_state_take(sizeof *shown, &costs);
    atomic_store_explicit(&lc_core.state->costs, shown != NULL ? costs : 0, memory_order_release);
    lc_loops_worked = longest;
    lc_loops_works = &n_works;
}

/* A node in the path whose hash so far this is. */
static uint64_t hash_of(uint64_t outer, uint32_t at) {
    const struct lc_state_node *node = &lc_state_nodes()[at];
    uint64_t hash = lc_hash_word(outer, node->kind ^ node->offset << 3);
    if (lc_raw_is_code(node->kind) && node->ref != LC_NONE)
        hash = lc_hash_text(hash, lc_state_path_of(node->ref));
    else if (lc_raw_is_named(node->kind))
        hash = lc_hash_text(hash, lc_state_name_of(node->ref));
    return hash != 0 ? hash : 1;
}

/* 0: not known yet. */
static uint64_t known_hash(uint32_t node) {
    return hashes != NULL && node < HASHES
               ? atomic_load_explicit(&hashes[node], memory_order_relaxed)
               : 0;
}

uint64_t lc_clk_path_hash(uint32_t node) {
    const struct lc_state_node *nodes = lc_state_nodes();
    uint32_t chain[DEEPEST], n = 0;
    uint64_t hash = 0;
    for (; node != LC_NONE && n < DEEPEST && (hash = known_hash(node)) == 0;
         node = nodes[node].parent)
        chain[n++] = node;
    for (hash = hash != 0 ? hash : LC_HASH_BEGIN; n > 0; n--) {
        hash = hash_of(hash, chain[n - 1]);
        if (hashes != NULL && chain[n - 1] < HASHES)
            atomic_store_explicit(&hashes[chain[n - 1]], hash, memory_order_relaxed);
    }
    return hash;
}

/* What finds no row is not shown while the process runs. */
static void show_cost(uint64_t key, uint64_t direct, uint64_t indirect) {
    enum { TRIES = 16 };
    if (shown == NULL)
        return;
    uint64_t at = lc_hash_key(key) >> 32;
    for (uint32_t i = 0; i < TRIES; i++) {
        struct lc_state_cost *row = &shown->rows[(at + i) % LC_STATE_COSTS];
        uint64_t code = atomic_load_explicit(&row->code, memory_order_relaxed);
        if (code != 0 && code != key + 1)
            continue;
        direct += atomic_load_explicit(&row->direct, memory_order_relaxed);
        indirect += atomic_load_explicit(&row->indirect, memory_order_relaxed);
        atomic_store_explicit(&row->direct, direct, memory_order_relaxed);
        atomic_store_explicit(&row->indirect, indirect, memory_order_relaxed);
        atomic_store_explicit(&row->code, key + 1, memory_order_relaxed);
        return;
    }
}

static void add_cost(uint64_t key, uint32_t late_thread, uint64_t direct, uint64_t indirect,
                     double squares) {
    uint16_t *hash;
    uint32_t rank = (uint32_t)(key >> 32), node = (uint32_t)key;
    struct lc_blame_row *row = lc_blame_at(&lc_clk.costs, 0, rank, node, late_thread, &hash);
    if (lc_likely(row != NULL)) {
        row->ticks += direct + indirect;
        row->indirect += indirect;
        row->squares += squares;
        return;
    }
    lc_blame_add(&lc_clk.costs, &(struct lc_blame_row){.late_rank = rank,
                                                       .late_node = node,
                                                       .late_thread = late_thread,
                                                       .ticks = direct + indirect,
                                                       .indirect = indirect,
                                                       .squares = squares});
}

/* left: by the rank that waited, 0: not known. */
static void meet(struct lc_waited *w, uint64_t release, uint64_t left, bool late_waited) {
    if (release <= w->since || release > w->begin)
        return;
    w->since = release;
    w->left = left;
    w->late_waited = late_waited;
}

/* Of one that is writing it just now the times of a meeting need not belong together: the earlier
 * release counts, which is before it left. */
static void meet_each(struct lc_waited *w, const struct lc_met *met, bool late_waited) {
    uint32_t other = late_waited ? w->thread : w->late_thread;
    if (lc_past_same(atomic_load_explicit(&met->thread, memory_order_relaxed), other))
        meet(w, atomic_load_explicit(&met->release, memory_order_relaxed),
             atomic_load_explicit(&met->left, memory_order_relaxed), late_waited);
    if (lc_past_same(atomic_load_explicit(&met->thread_before, memory_order_relaxed), other))
        meet(w, atomic_load_explicit(&met->release_before, memory_order_relaxed),
             atomic_load_explicit(&met->left_before, memory_order_relaxed), late_waited);
}

/* When the late thread waited for this one. */
static void meet_waiting(struct lc_waited *w) {
    const struct lc_met *met = lc_clk_past_met(w->late_rank, w->late_thread);
    if (lc_clk.areas[w->late_rank].head == NULL)
        meet(w, met_far != NULL ? met_far[w->late_rank] : 0, 0, true);
    else if (met != NULL)
        meet_each(w, met + lc_clk.rank, true);
}

void lc_clk_origins_note(struct lc_clk_thread *k, const struct lc_candidate *c) {
    uint64_t key = (uint64_t)c->late_rank << 32 | c->late_node;
    lc_past_add_wait(k->past, &(struct lc_past_wait){.begin = c->begin,
                                                     .end = c->begin + c->ticks,
                                                     .ticks = c->ticks,
                                                     .late_rank = c->late_rank,
                                                     .late_thread = LC_PAST_ANY,
                                                     .n = 1,
                                                     .causes = {{key, c->ticks}}});
}

/* `ticks` in proportion to all that the late rank did in the gap that ended too late; returns in
 * how many parts. */
static uint32_t divide(const struct lc_clk_thread *k, const struct lc_waited *w, uint64_t ticks,
                       struct lc_past_part parts[LC_PAST_PARTS]) {
    struct lc_waited whole = *w;
    whole.since = k->l.begin;
    uint32_t n = lc_core.sample_period_ns != 0 ? lc_past_gap(&whole, parts) : 0, most = 0;
    uint64_t all = 0, left = ticks;
    if (n == 0)
        parts[n++] = (struct lc_past_part){w->late_node, 1};
    for (uint32_t i = 0; i < n; i++) {
        all += parts[i].ticks;
        most = parts[i].ticks > parts[most].ticks ? i : most;
    }
    for (uint32_t i = 0; i < n; i++) {
        parts[i].ticks = (uint64_t)((double)ticks * (double)parts[i].ticks / (double)all);
        left -= parts[i].ticks < left ? parts[i].ticks : left;
    }
    parts[most].ticks += left;
    return n;
}

/* Blame of a wait in `node` for these parts; traced: so much of it is in costs. */
static void add_blame(uint32_t node, uint32_t late_rank, const struct lc_past_part *parts,
                      uint32_t n, uint64_t traced) {
    uint64_t all = 0;
    for (uint32_t i = 0; i < n; i++)
        all += parts[i].ticks;
    for (uint32_t i = 0; i < n; i++) {
        double ticks = (double)parts[i].ticks;
        uint64_t its =
            traced == all ? parts[i].ticks : (uint64_t)(ticks * (double)traced / (double)all);
        lc_blame_add(&lc_clk.blame,
                     &(struct lc_blame_row){.wait_key = node,
                                            .late_rank = late_rank,
                                            .late_node = parts[i].node,
                                            .rank = lc_clk.rank,
                                            .node = node,
                                            .ticks = parts[i].ticks,
                                            .traced = its,
                                            .squares = ticks * ticks,
                                            .traced_squares = (double)its * (double)its});
    }
}

static bool is_pairwise(uint32_t kind) {
    return kind == LC_MEASURED_LATESENDER || kind == LC_MEASURED_LATERECEIVER ||
           kind == LC_MEASURED_PROBE || kind == LC_MEASURED_POLL || kind == LC_MEASURED_NEIGHBOR ||
           kind == LC_MEASURED_WIN_EARLY || kind == LC_MEASURED_WIN_POST ||
           kind == LC_MEASURED_WIN_LOCK;
}

static void waited_for(const struct lc_clk_thread *k, const struct lc_candidate *c,
                       struct lc_waited *w) {
    uint64_t looks = (uint64_t)((double)c->ticks * lc_clk.ns_per_tick) / NS_PER_LOOK;
    const uint32_t most = (uint32_t)lc_min(looks + LEAST_LOOKS, LOOKS);
    const uint32_t late = lc_clk_past_late(k, c->late_rank, c->begin + c->ticks, most);
    *w = (struct lc_waited){.late = lc_clk_past_of(c->late_rank, late),
                            .own = k->past,
                            .me = lc_clk.rank,
                            .late_rank = c->late_rank,
                            .late_node = c->late_node,
                            .thread = k->past_number,
                            .late_thread = (uint8_t)late,
                            .since = k->l.begin,
                            .begin = c->begin,
                            .release = c->begin + c->ticks,
                            .pairwise = is_pairwise(c->kind),
                            .looks = most,
                            .same = lc_clk.backlog ? lc_clk.slow_ticks : 0};
    meet_each(w, &k->met[c->late_rank], false);
    meet_waiting(w);
    meet(w, k->met_before, 0, false);
    meet(w, k->met_all, 0, false);
}

/* Costs of `ticks` of the wait. */
static void add_costs(struct lc_clk_thread *k, const struct lc_waited *w, uint64_t ticks) {
    struct lc_origins origins;
    struct lc_past_wait entry;
    lc_past_origins(w, &origins);
    lc_past_entry(w, &origins, &entry);
    lc_past_add_wait(k->past, &entry);
    double share = (double)ticks / (double)(w->release - w->begin);
    uint64_t passed = (uint64_t)((double)origins.rest_indirect * share), booked = passed;
    for (uint32_t i = 0; i < origins.n; i++) {
        const struct lc_origin *o = &origins.list[i];
        uint64_t direct = (uint64_t)((double)o->direct * share);
        uint64_t indirect = (uint64_t)((double)o->indirect * share);
        double cost = (double)(direct + indirect);
        add_cost(o->key, 0, direct, indirect, cost * cost);
        show_cost(o->key, direct, indirect);
        booked += direct + indirect;
    }
    lc_clk.cost_rest_indirect += passed;
    lc_clk.cost_rest += ticks > booked ? ticks - booked : 0;
}

LC_COLD uint32_t lc_clk_origins_trace(struct lc_clk_thread *k, uint32_t node,
                                      const struct lc_candidate *c) {
    struct lc_past_part parts[LC_PAST_PARTS];
    struct lc_waited w;
    waited_for(k, c, &w);
    add_costs(k, &w, c->ticks);
    uint32_t n = divide(k, &w, c->ticks, parts);
    add_blame(node, c->late_rank, parts, n, c->ticks);
    return w.late_thread;
}

LC_COLD uint32_t lc_clk_origins_book_parts(const struct lc_clk_booking *b,
                                           const struct lc_candidate *c,
                                           struct lc_past_part parts[LC_PAST_PARTS]) {
    bool known = b->k != NULL && b->k->past != NULL && c->late_rank < lc_clk.size;
    bool traced = known && c->ticks >= lc_clk.trace_ticks;
    uint32_t n = 1;
    uint32_t late = LC_PAST_ANY;
    parts[0] = (struct lc_past_part){c->late_node, b->ticks + b->moved};
    if (traced) {
        struct lc_waited w;
        waited_for(b->k, c, &w);
        add_costs(b->k, &w, b->ticks);
        n = divide(b->k, &w, b->ticks + b->moved, parts);
        late = w.late_thread;
    }
    add_blame(b->node, c->late_rank, parts, n, b->traced + (traced ? b->ticks : 0));
    if (!known)
        return n;
    if (!traced && lc_clk_origins_may_meet(b->k, c))
        lc_clk_origins_note(b->k, c);
    const uint64_t release = c->begin + c->ticks;
    if (!traced)
        late = lc_clk_past_late(b->k, c->late_rank, release, 0);
    lc_clk_origins_put_met(b->k, c->late_rank, late, release, b->left);
    return n;
}

void lc_clk_origins_finish(void) {
    atomic_store_explicit(&lc_core.state->costs, 0, memory_order_relaxed);
    for (uint32_t i = 0; i < lc_clk.blame.n; i++) {
        const struct lc_blame_row *row = &lc_clk.blame.rows[i];
        uint64_t left = row->ticks - row->traced, sure = row->ticks - row->error;
        uint64_t its = left < sure ? left : sure;
        add_cost((uint64_t)row->late_rank << 32 | row->late_node, row->late_thread, its, 0,
                 fmax(row->squares - row->traced_squares, 0));
        lc_clk.cost_rest += left - its;
    }
}

void lc_clk_origins_met(struct lc_clk_thread *k) {
    const struct lc_clk_comm *c = k->met_comm;
    k->met_comm = NULL;
    if (k->past == NULL || c->local != NULL)
        return;
    if (c->ranks != NULL)
        for (uint32_t i = 0; i < c->log.n; i++)
            if (c->ranks[i] >= 0)
                lc_clk_origins_put_met(k, (uint32_t)c->ranks[i], LC_PAST_ANY, k->met_at, 0);
}

static LC_COLD void log_work(struct lc_clk_thread *k, uint64_t from, uint64_t until, uint32_t node,
                             uint32_t gap) {
    if (node == LC_NONE) /* of a call without a path: nobody's */
        node = 0;
    uint64_t path = known_hash(node);
    if (path == 0)
        path = node < HASHES ? lc_clk_path_hash(node) : node;
    if (k == lc_clk.threads)
        add_work(from, until - from, node);
    lc_past_add_work(k->past, &(struct lc_past_work){.begin = from,
                                                     .end = until,
                                                     .ticks = until - from,
                                                     .path = path,
                                                     .node = node,
                                                     .same_gap = gap != 0 && gap == k->last_gap});
    k->last_gap = gap;
}

void lc_clk_origins_worked(struct lc_clk_thread *k, uint64_t from, uint64_t until, uint32_t node,
                           uint32_t gap) {
    if (until < from + lc_clk.trace_ticks || k->past == NULL || !k->l.interval)
        return;
    lc_clk_lock();
    log_work(k, from, until, node, gap);
    lc_clk_unlock();
}

void lc_clk_origins_called(struct lc_clk_thread *k) {
    uint64_t waited = k->any_candidate ? k->worst.ticks : 0, began = k->began;
    k->began = UINT64_MAX; /* only once: regions and samples cut the time after it */
    if (k->waited != NULL && began != UINT64_MAX && began >= k->l.begin &&
        k->l.last > began + waited)
        lc_clk_origins_worked(k, began + waited, k->l.last, k->waited->node, 0);
}

/* ---- between nodes: times in nanoseconds of the global clock */

/* Older ones that have no place of their own: one wait. */
static void join(struct lc_past_wait *into, const struct lc_past_wait *older) {
    into->begin = older->begin;
    into->ticks += older->ticks;
    for (uint32_t i = 0; i < older->n; i++) {
        uint32_t at = 0;
        while (at < into->n && into->causes[at].key != older->causes[i].key)
            at++;
        if (at == into->n && into->n < LC_PAST_CAUSES)
            into->causes[into->n++] = (struct lc_past_cause){older->causes[i].key, 0};
        if (at < into->n)
            into->causes[at].ticks += older->causes[i].ticks;
    }
    for (uint32_t i = 1; i < into->n; i++) /* largest first */
        for (uint32_t k = i; k > 0 && into->causes[k].ticks > into->causes[k - 1].ticks; k--) {
            struct lc_past_cause cause = into->causes[k];
            into->causes[k] = into->causes[k - 1];
            into->causes[k - 1] = cause;
        }
}

static uint32_t newest_waits(uint64_t after, struct lc_past_wait *list) {
    const struct lc_past *past = lc_clk.threads->past;
    struct lc_past_wait wait;
    uint64_t at = atomic_load_explicit(&past->n_waits, memory_order_relaxed);
    uint32_t n = 0;
    for (uint32_t look = 0; look < LOOKS / 4 && at > 0 && lc_past_wait_get(past, --at, &wait);
         look++) {
        if (wait.end <= after)
            break;
        if (n < LC_PAST_SENT_WAITS)
            list[n++] = wait;
        else
            join(&list[n - 1], &wait);
    }
    return n;
}

/* Stretches of a call path in a gap that follow each other are one; where room is short, all of a
 * gap, and those of older gaps with each other. What is left of the newest gap are its parts. */
static uint32_t newest_work(uint64_t after, struct lc_past_work *list) {
    const struct lc_past *past = lc_clk.threads->past;
    struct lc_past_work work;
    uint64_t at = atomic_load_explicit(&past->n_work, memory_order_relaxed);
    uint32_t n = 0, gap = 0, gaps[LC_PAST_SENT_WORK];
    for (uint32_t look = 0; look < LOOKS / 4 && at > 0 && lc_past_work_get(past, --at, &work);
         look++) {
        if (work.end <= after)
            break;
        uint32_t i = n;
        if (n > 0 && gaps[n - 1] == gap && list[n - 1].path == work.path)
            i = n - 1;
        else if (n >= LC_PAST_SENT_WORK / 2)
            for (i = 0; i < n && (list[i].path != work.path || (gaps[i] == 0 && gap > 0));)
                i++;
        if (i < n) {
            list[i].ticks += work.ticks;
        } else if (n < LC_PAST_SENT_WORK) {
            gaps[n] = gap;
            list[n++] = work;
        }
        gap += !work.same_gap;
    }
    for (uint32_t i = 0; i < n; i++)
        list[i].same_gap = (i + 1 < n ? gaps[i + 1] : gap) == gaps[i];
    return n;
}

enum { PAIRWISE = 1 << 16 }; /* beside the number of causes */

/* A wait takes LC_PAST_WAIT_HEAD words, then the key of each cause, then two shares a word. */
static uint32_t words_of_causes(uint32_t n) {
    return n + (n + 1) / 2;
}

static uint32_t causes_of(const uint64_t *wait) {
    return (uint16_t)wait[2] % (LC_PAST_SENT_CAUSES + 1);
}

static uint32_t pack_wait(const struct lc_past_wait *wait, uint64_t *words) {
    uint32_t n = wait->n < LC_PAST_SENT_CAUSES ? wait->n : LC_PAST_SENT_CAUSES;
    uint64_t *keys = words + LC_PAST_WAIT_HEAD, *shares = keys + n;
    memset(keys, 0, words_of_causes(n) * sizeof *keys);
    words[0] = lc_bits_of(lc_clk_to_global(wait->end));
    words[1] = lc_bits_of(lc_clk_to_global(wait->begin));
    words[2] = (uint64_t)wait->late_rank << 32 | (wait->pairwise ? PAIRWISE : 0) | n;
    words[3] = lc_clk_ns_of(wait->ticks);
    for (uint32_t i = 0; i < n; i++) {
        double share = (double)wait->causes[i].ticks / (double)wait->ticks;
        keys[i] = wait->causes[i].key;
        shares[i / 2] |= (uint64_t)float_bits(share) << 32 * (i % 2);
    }
    return LC_PAST_WAIT_HEAD + words_of_causes(n);
}

/* Returns how many words it took. */
static uint32_t unpack_wait(const uint64_t *words, struct lc_past_wait *wait) {
    uint32_t n = causes_of(words);
    const uint64_t *keys = words + LC_PAST_WAIT_HEAD, *shares = keys + n;
    *wait = (struct lc_past_wait){.end = lc_clk_from_global(lc_double_of(words[0])),
                                  .begin = lc_clk_from_global(lc_double_of(words[1])),
                                  .ticks = lc_clk_ticks_of(words[3]),
                                  .late_rank = (uint32_t)(words[2] >> 32),
                                  .late_thread = LC_PAST_ANY,
                                  .pairwise = (words[2] & PAIRWISE) != 0,
                                  .n = (uint16_t)n};
    for (uint32_t i = 0; i < n; i++) {
        double share = float_of(shares[i / 2] >> 32 * (i % 2));
        wait->causes[i].key = keys[i];
        wait->causes[i].ticks =
            share > 0 && share <= 1 ? (uint64_t)(share * (double)wait->ticks) : 0;
    }
    return LC_PAST_WAIT_HEAD + words_of_causes(n);
}

uint32_t lc_clk_origins_pack(int32_t to, uint64_t *words) {
    struct lc_past_wait waits[LC_PAST_SENT_WAITS];
    struct lc_past_work work[LC_PAST_SENT_WORK];
    const struct lc_clk_thread *first = lc_clk.threads;
    uint64_t after = first->met_all, met = 0;
    words[0] = 0;
    if (first->past == NULL || sent_until == NULL)
        return 0;
    if (to >= 0) {
        after = sent_until[to] > after ? sent_until[to] : after;
        met = atomic_load_explicit(&first->met[to].release, memory_order_relaxed);
        sent_until[to] = first->l.last;
    }
    uint32_t n_waits = newest_waits(after, waits), n_work = newest_work(after, work);
    if (n_waits + n_work == 0)
        return 0;
    uint32_t n = LC_PAST_HEAD;
    for (uint32_t i = n_waits; i-- > 0;)
        n += pack_wait(&waits[i], words + n);
    for (uint32_t i = n_work; i-- > 0; n += LC_PAST_WORK_WORDS) {
        words[n] = lc_bits_of(lc_clk_to_global(work[i].end));
        words[n + 1] = work[i].path;
        uint32_t ns = float_bits((double)work[i].ticks * lc_clk.ns_per_tick);
        words[n + 2] = (uint64_t)work[i].node << 32 | (ns & ~1u) | work[i].same_gap;
    }
    words[0] = n_waits | n_work << 8;
    words[1] = met != 0 ? lc_bits_of(lc_clk_to_global(met)) : 0;
    return n;
}

uint32_t lc_clk_origins_words(const uint64_t *words, uint32_t room) {
    if (room < LC_PAST_HEAD)
        return 0;
    uint32_t waits = words[0] & 0xff, work = words[0] >> 8 & 0xff, n = LC_PAST_HEAD;
    if (waits + work == 0 || waits > LC_PAST_SENT_WAITS || work > LC_PAST_SENT_WORK)
        return 0;
    for (uint32_t i = 0; i < waits; i++) {
        if (n + LC_PAST_WAIT_HEAD > room)
            return 0;
        n += LC_PAST_WAIT_HEAD + words_of_causes(causes_of(words + n));
    }
    n += work * LC_PAST_WORK_WORDS;
    return n <= room ? n : 0;
}

static struct lc_past *remote_past(uint32_t rank) {
    if (lc_clk.pasts == NULL)
        return NULL;
    if (lc_clk.pasts[rank] == NULL) {
        struct lc_past *past = calloc(1, lc_past_size(LC_REMOTE_WAITS, LC_REMOTE_WORK));
        if (past != NULL)
            lc_past_init(past, LC_REMOTE_WAITS, LC_REMOTE_WORK);
        lc_clk.pasts[rank] = past;
    }
    return lc_clk.pasts[rank];
}

/* What is newer than what is there: the same may come on several ways. */
static void add_newer(struct lc_past *past, const struct lc_past_wait *wait) {
    struct lc_past_wait last;
    uint64_t n = atomic_load_explicit(&past->n_waits, memory_order_relaxed);
    if (n == 0 || !lc_past_wait_get(past, n - 1, &last) || wait->end > last.end + lc_clk.slow_ticks)
        lc_past_add_wait(past, wait);
}

static void add_newer_work(struct lc_past *past, const struct lc_past_work *work) {
    struct lc_past_work last;
    uint64_t n = atomic_load_explicit(&past->n_work, memory_order_relaxed);
    if (n == 0 || !lc_past_work_get(past, n - 1, &last) || work->end > last.end + lc_clk.slow_ticks)
        lc_past_add_work(past, work);
}

void lc_clk_origins_take(uint32_t rank, const uint64_t *words, uint32_t n) {
    if (rank >= lc_clk.size || lc_clk.areas[rank].head != NULL ||
        lc_clk_origins_words(words, n) == 0)
        return;
    struct lc_past *past = remote_past(rank);
    if (past == NULL)
        return;
    uint32_t waits = words[0] & 0xff, work = words[0] >> 8 & 0xff, at = LC_PAST_HEAD;
    if (words[1] != 0 && met_far != NULL)
        met_far[rank] = lc_clk_from_global(lc_double_of(words[1]));
    for (uint32_t i = 0; i < waits; i++) {
        struct lc_past_wait wait;
        at += unpack_wait(words + at, &wait);
        if (wait.begin < wait.end)
            add_newer(past, &wait);
    }
    for (uint32_t i = 0; i < work; i++, at += LC_PAST_WORK_WORDS) {
        struct lc_past_work x = {.end = lc_clk_from_global(lc_double_of(words[at])),
                                 .path = words[at + 1],
                                 .node = (uint32_t)(words[at + 2] >> 32),
                                 .same_gap = words[at + 2] & 1};
        x.ticks = (uint64_t)(float_of(words[at + 2] & ~1ull) / lc_clk.ns_per_tick);
        x.begin = x.end - (x.ticks < x.end ? x.ticks : x.end);
        if (x.begin < x.end)
            add_newer_work(past, &x);
    }
}
