#include "measure/clocks/what_if_factors.h"

#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/binomial.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/timer.h"
#include "measure/callpath/budget.h"
#include "measure/clocks/intervals.h"
#include "measure/clocks/call_state.h"
#include "measure/clocks/clocks.h"
#include "measure/clocks/clock_messages.h"
#include "measure/clocks/wait_states.h"
#include "measure/core/core.h"
#include "measure/core/state_write.h"
#include "piggyback/portions.h"

enum { TAG = 0x4c34, MOST_PATHS = 6 };       /* four sums of each go to all ranks (merge_seen) */
enum { UNABLE = 1, FIXED = 2, GAVE_UP = 4 }; /* bits of lc_portion_sums.unable */
enum { EDGE_NS = 100, MEMBER_NS = 15 };
#define PATIENCE_NS UINT64_C(2000000000) /* for a rank that has just been at the same point */
enum { UNSEEN, SEEN, FIRST_ERROR, N_SEEN = FIRST_ERROR + LC_SCENARIOS_CARRIED };

struct amounts { /* of work in a call path: nanoseconds, portions, and what is critical */
    uint64_t ns, n, critical_ns;
};

struct chosen { /* the same on all ranks */
    uint64_t key;
    uint32_t rank; /* that is late */
    bool on, chain;
    uint32_t slot;                      /* its clocks: 2 slot, and the one after it */
    double saved[LC_SCENARIOS_CARRIED]; /* ticks, of earlier times that it was on */
    struct amounts all_seen, all_then;  /* of all ranks: critical path */
    /* of this rank: while it was on, and when that began */
    struct amounts own_seen, own_then;
    /* nanoseconds that portions took above the means as they were known at the end, and work that
     * could not be compared, and so is the same in the scenario */
    double too_long_ns[LC_SCENARIOS_CARRIED];
    uint64_t unchanged_ns[LC_SCENARIOS_CARRIED];
};

static struct lc_portion_table *table;
static struct class_keys {
    uint64_t key, of, call; /* of table->classes; 0: not known yet */
} * keys;
static uint32_t n_classes; /* places of both; 0: no memory */
static uint64_t *calls;    /* by node of an MPI function: hash of its path */
static size_t n_calls, cap_calls;
static struct chosen paths[MOST_PATHS];
static uint32_t n_paths;
static uint32_t interval;  /* in which scenarios were chosen */
static uint64_t cost_then; /* when the clocks that are carried began */
static bool gave_up;       /* since then */

void lc_clk_choose_init(bool away) {
    bool able = !away && !lc_core.multiple && lc_clk.size > 1 && lc_clk.n_whatif == 0;
    lc_clk.choose_at = able ? LC_CHOSEN_FIRST : 0;
    if (!able || n_classes > 0)
        return;
    table = calloc(1, sizeof *table);
    keys = calloc(LC_PORTION_CLASSES, sizeof *keys);
    n_classes = table != NULL && keys != NULL ? LC_PORTION_CLASSES : 0;
}

/* Its first clock, and its second one. */
static enum lc_scenario scenario_of(const struct chosen *path, uint32_t which) {
    return which == 1 ? LC_SCENARIO_EVEN : path->chain ? LC_SCENARIO_CHAIN : LC_SCENARIO_LATE;
}

bool lc_clk_has_chosen(void) {
    return n_paths > 0;
}

void lc_clk_portion(struct lc_clk_thread *k, uint32_t node, uint32_t call, uint64_t ticks) {
    if (lc_clk.choose_at == 0 || k->l.interval == 0 || k != lc_clk.threads || n_classes == 0)
        return;
    struct lc_portions *p = lc_portions_of(table, node, call);
    if (p == NULL)
        return;
    p->n++;
    p->ticks += ticks;
    for (uint32_t s = 0; p->slots >> s != 0 && s < k->l.vec.n_whatif; s++) {
        if (!(p->slots & 1u << s))
            continue;
        uint64_t change = p->instead[s] - ticks; /* the clocks have grown by the ticks */
        p->given[s] += p->instead[s];
        p->n_given[s]++;
        LC_SHOW(k->l.vec.whatif[s], k->l.vec.whatif[s] + change);
        k->l.own_whatif[s] += change;
    }
}

/* ---- what the ranks compare */

/* Functions found by samples belong to the call path that is exact. */
static uint32_t exact_node(uint32_t node) {
    const struct lc_state_node *nodes = lc_state_nodes();
    while (node != LC_NONE && lc_raw_is_sampled(nodes[node].kind))
        node = nodes[node].parent;
    return node;
}

static void know_keys(void) {
    for (uint32_t i = 0; i < n_classes; i++) {
        const struct lc_portions *p = &table->classes[i];
        if (p->node == 0 || keys[i].of != 0)
            continue;
        keys[i].of = lc_clk_path_hash(p->node);
        keys[i].call = p->call != 0 ? lc_clk_path_hash(p->call) : 0;
        keys[i].key = lc_hash_word(keys[i].of, keys[i].call);
    }
    const struct lc_state_node *nodes = lc_state_nodes();
    uint32_t n = atomic_load_explicit(&lc_core.state->nodes.count, memory_order_acquire);
    if (lc_grow(&calls, &cap_calls, n, sizeof *calls) != LC_OK)
        return;
    for (; n_calls < n; n_calls++)
        calls[n_calls] =
            nodes[n_calls].kind == LC_RAW_MPI ? lc_clk_path_hash((uint32_t)n_calls) : 0;
}

/* Has this rank been there, if only for portions that are too short to be counted? */
static bool has_called(uint64_t call) {
    for (size_t i = 0; i < n_calls; i++)
        if (calls[i] == call)
            return true;
    return false;
}

static bool has_key(uint32_t i, uint64_t key) {
    return table->classes[i].node != 0 && (keys[i].of == key || keys[i].key == key);
}

/* Time of the portions of this rank with this key, of a class or a call path, and their number: of
 * a call path without those of classes that make little of it, which are many before its first
 * iteration, say. */
static uint64_t own_sum(uint64_t key, uint64_t *n) {
    uint64_t ticks = 0;
    *n = 0;
    for (uint32_t i = 0; i < n_classes; i++)
        ticks += has_key(i, key) ? table->classes[i].ticks : 0;
    for (uint32_t i = 0; i < n_classes; i++)
        if (has_key(i, key) && lc_portions_matter(table->classes[i].ticks, ticks))
            *n += table->classes[i].n;
    return lc_clk_ns_of(ticks);
}

static uint64_t own_ns(uint64_t key) {
    uint64_t n;
    return own_sum(key, &n);
}

/* Of this rank's work, what is on the critical path in this call path. */
static uint64_t critical_ns(struct lc_clk_thread *k, uint64_t of) {
    uint64_t ticks = 0;
    for (uint32_t i = 0; i < k->l.vec.n; i++) {
        const struct lc_cp_item *item = &k->l.vec.items[i];
        if (item->key >> 32 == lc_clk.rank &&
            lc_clk_path_hash(exact_node((uint32_t)item->key)) == of)
            ticks += item->ticks;
    }
    return lc_clk_ns_of(ticks);
}

/* ids: key, of, call */
static void add_own(struct lc_portion_sums *sums, const struct lc_portion_sum *ids,
                    uint64_t critical) {
    struct lc_portion_sum sum = {
        .key = ids->key, .of = ids->of, .call = ids->call, .critical_ns = critical};
    sum.ns = sum.longest_ns = own_sum(ids->key, &sum.n);
    sum.longest_rank = lc_clk.rank;
    sum.n_ranks = sum.n > 0 || (ids->call != 0 && has_called(ids->call));
    lc_portion_sums_add(sums, &sum);
}

/* Has an instant passed? Lets others run now and then. */
static bool is_over(uint64_t until_ns, uint32_t *looks) {
    if (++*looks % 64 == 0)
        sched_yield();
    return lc_patience_ns() > until_ns;
}

/* False: nothing came in time. */
static bool receive(void *data, int bytes, int from) {
    uint64_t until_ns = lc_patience_ns() + PATIENCE_NS;
    uint32_t looks = 0;
    int there = 0;
    while (!there)
        if (lc_real.Iprobe(from, TAG, lc_core.comm, &there, MPI_STATUS_IGNORE) != MPI_SUCCESS ||
            (!there && is_over(until_ns, &looks)))
            return false;
    return lc_real.Recv(data, bytes, MPI_BYTE, from, TAG, lc_core.comm, MPI_STATUS_IGNORE) ==
           MPI_SUCCESS;
}

/* False: it is not sent yet, and this is the last time that a rank sends. */
static bool send(const void *data, int bytes, int to) {
    static struct lc_portion_sums kept;
    uint64_t until_ns = lc_patience_ns() + PATIENCE_NS;
    uint32_t looks = 0;
    MPI_Request request;
    int done = 0;
    memcpy(&kept, data, (size_t)bytes);
    if (lc_real.Isend(&kept, bytes, MPI_BYTE, to, TAG, lc_core.comm, &request) != MPI_SUCCESS)
        return false;
    while (!done)
        if (lc_real.Test(&request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS ||
            (!done && is_over(until_ns, &looks)))
            return false;
    return true;
}

/* What rank 0 has, to all ranks. */
static bool tell(void *data, int bytes) {
    struct lc_binomial tree = lc_binomial_of(lc_core.rank, lc_core.size);
    int peer;
    bool whole = lc_core.rank == 0 || receive(data, bytes, lc_binomial_parent(lc_core.rank));
    while (whole && lc_binomial_next(&tree, &peer) == LC_BINOMIAL_CHILD)
        whole = send(data, bytes, peer);
    return whole;
}

/* Adds up those of all ranks, for all of them. False: a rank did not take part. */
static bool share(struct lc_portion_sums *sums) {
    struct lc_portion_sums other;
    struct lc_binomial tree = lc_binomial_of(lc_core.rank, lc_core.size);
    enum lc_binomial_step step;
    int peer;
    while ((step = lc_binomial_next(&tree, &peer)) == LC_BINOMIAL_CHILD) {
        if (!receive(&other, (int)sizeof other, peer))
            return false;
        lc_portion_sums_merge(sums, &other);
    }
    return (step != LC_BINOMIAL_PARENT || send(sums, (int)sizeof *sums, peer)) &&
           tell(sums, (int)sizeof *sums);
}

/* First the longest of each rank, then what all ranks worked in these. */
static bool compare(struct lc_clk_thread *k, struct lc_portion_sums *head) {
    struct lc_portion_sums longest = {.least_ns = head->least_ns}, all = *head;
    know_keys();
    for (uint32_t i = 0; i < n_classes; i++) {
        if (keys[i].of == 0 || own_ns(keys[i].of) * 2 < head->least_ns)
            continue;
        struct lc_portion_sum ids = {.key = keys[i].of, .of = keys[i].of};
        if (lc_portion_sums_find(&longest, ids.key) == NULL)
            add_own(&longest, &ids, 0);
        ids.key = keys[i].key;
        ids.call = keys[i].call;
        add_own(&longest, &ids, 0);
    }
    if (!share(&longest))
        return false;
    lc_cpvec_fold(&k->l.vec);
    for (uint32_t i = 0; i < longest.n; i++) {
        const struct lc_portion_sum *ids = &longest.list[i];
        add_own(&all, ids, ids->key == ids->of ? critical_ns(k, ids->of) : 0);
    }
    *head = all;
    return share(head);
}

static uint64_t elapsed_ns(const struct lc_clk_thread *k) {
    return lc_clk_ns_of(k->l.last - k->l.begin);
}

/* What clocks cost, nanoseconds, if they are carried all the time. */
static uint64_t cost_ns(void) {
    return (lc_clk.counts.messages + lc_clk.counts.collectives) * EDGE_NS +
           lc_clk.counts.collectives * lc_clk.size * MEMBER_NS;
}

static uint64_t ppm_of(uint64_t cost, uint64_t elapsed) {
    return elapsed > 0 ? (uint64_t)((double)cost * 1e6 / (double)elapsed) : 1000000;
}

void lc_clk_look_at_cost(struct lc_clk_thread *k) {
    if (n_paths == 0 || ppm_of(cost_ns() - cost_then, elapsed_ns(k)) <= LC_CHOSEN_PPM)
        return;
    gave_up = true;
    k->l.vec.n_whatif = 0;
    k->l.grain = 2 * lc_clk.slow_ticks;
}

static uint32_t inability(struct lc_clk_thread *k) {
    uint32_t unable = n_paths > 0 && k->l.interval != interval ? FIXED : 0;
    unable |= gave_up ? GAVE_UP : 0;
    if (n_classes == 0 || lc_clk.n_threads != 1 || k != lc_clk.threads || k->l.interval == 0 ||
        lc_clk.task_chain != NULL || !lc_cpvec_whatif_room(&k->l.vec, &lc_clk.mine))
        unable |= UNABLE;
    return unable;
}

/* ---- the choice */

static void carry(struct lc_clk_thread *k, uint32_t n) {
    lc_clk.n_whatif = n;
    lc_cpvec_whatif_begin(&k->l.vec, n);
    k->l.grain = n > 0 ? 0 : 2 * lc_clk.slow_ticks;
    k->l.stale = true;
    gave_up = false;
}

/* Chains that are alike count once: what is critical of all ranks is no more than their clock. */
static struct amounts all_of(const struct lc_portion_sums *sums, uint64_t key) {
    const struct lc_portion_sum *sum = lc_portion_sums_find(sums, key);
    struct amounts all = {0};
    if (sum != NULL) {
        all.ns = sum->ns;
        all.n = sum->n;
        all.critical_ns = sum->critical_ns < sums->clock_ns ? sum->critical_ns : sums->clock_ns;
    }
    return all;
}

static struct amounts own_of(struct lc_clk_thread *k, uint64_t key) {
    struct amounts own = {.critical_ns = critical_ns(k, key)};
    own.ns = own_sum(key, &own.n);
    return own;
}

static uint64_t above(uint64_t value, uint64_t other) {
    return value > other ? value - other : 0;
}

static struct amounts more(const struct amounts *now, const struct amounts *then) {
    return (struct amounts){above(now->ns, then->ns), above(now->n, then->n),
                            above(now->critical_ns, then->critical_ns)};
}

static void add(struct amounts *to, struct amounts what) {
    to->ns += what.ns;
    to->n += what.n;
    to->critical_ns += what.critical_ns;
}

static void start(struct lc_clk_thread *k, struct chosen *path, uint32_t slot,
                  const struct lc_portion_sums *sums) {
    path->on = true;
    path->slot = slot;
    path->own_then = own_of(k, path->key);
    path->all_then = all_of(sums, path->key);
    for (uint32_t s = 0; s < LC_SCENARIOS_CARRIED; s++) {
        k->l.vec.whatif[2 * slot + s] = k->l.useful;
        k->l.own_whatif[2 * slot + s] = k->l.own;
    }
}

/* Does this rank take another time in the scenario? */
static bool is_changed(const struct chosen *path, enum lc_scenario scenario) {
    return scenario != LC_SCENARIO_LATE || path->rank == lc_clk.rank;
}

/* What portions took above the means as they are known now; lost: it does not matter. */
static void take_given(struct chosen *path, bool lost) {
    for (uint32_t s = 0; s < LC_SCENARIOS_CARRIED; s++) {
        uint32_t slot = 2 * path->slot + s;
        uint64_t unchanged = 0;
        for (uint32_t i = 0; i < n_classes; i++) {
            struct lc_portions *p = &table->classes[i];
            if (p->node == 0 || keys[i].of != path->key)
                continue;
            if (!(p->slots & 1u << slot)) {
                unchanged += is_changed(path, scenario_of(path, s)) ? p->ticks : 0;
                continue;
            }
            double mean = (double)p->n_given[slot] * (double)p->instead[slot];
            if (!lost)
                path->too_long_ns[s] += ((double)p->given[slot] - mean) * lc_clk.ns_per_tick;
            p->given[slot] = p->n_given[slot] = 0;
            p->slots &= ~(1u << slot);
        }
        path->unchanged_ns[s] = lc_clk_ns_of(unchanged);
    }
}

/* lost: the clocks are not complete, what they say does not count. */
static void stop(struct lc_clk_thread *k, struct chosen *path, const struct lc_portion_sums *sums,
                 bool lost) {
    path->on = false;
    take_given(path, lost);
    if (lost)
        return;
    struct amounts all = all_of(sums, path->key), own = own_of(k, path->key);
    add(&path->all_seen, more(&all, &path->all_then));
    add(&path->own_seen, more(&own, &path->own_then));
    for (uint32_t s = 0; s < LC_SCENARIOS_CARRIED; s++)
        path->saved[s] += (double)k->l.useful - (double)k->l.vec.whatif[2 * path->slot + s];
}

/* The one that is known already; another rank is late only if it works clearly longer. NULL: none,
 * and no room. */
static struct chosen *path_of(const struct lc_scenario_path *want,
                              const struct lc_portion_sums *sums) {
    const struct lc_portion_sum *sum = lc_portion_sums_find(sums, want->key);
    for (uint32_t i = 0; i < n_paths; i++)
        if (paths[i].key == want->key &&
            (paths[i].rank == want->rank ||
             (sum->longest_ns - sum->ns / lc_clk.size) * 10 < sum->longest_ns))
            return &paths[i];
    if (n_paths == MOST_PATHS)
        return NULL;
    paths[n_paths] = (struct chosen){.key = want->key,
                                     .rank = want->rank,
                                     .chain = lc_scenario_is_chain(sums, sum, lc_clk.size)};
    return &paths[n_paths++];
}

static uint64_t gain_of(const struct lc_scenario_path *wanted, uint32_t n, uint64_t key) {
    for (uint32_t i = 0; i < n; i++)
        if (wanted[i].key == key)
            return wanted[i].gain_ns;
    return 0;
}

/* A free slot, or that of a path that would gain much less; LC_SCENARIO_PATHS: none. */
static uint32_t make_room(struct lc_clk_thread *k, const struct lc_portion_sums *sums,
                          const struct lc_scenario_path *wanted, uint32_t n, uint64_t gain) {
    struct chosen *least = NULL;
    uint32_t used = 0, slot = 0;
    for (uint32_t i = 0; i < n_paths; i++) {
        if (!paths[i].on)
            continue;
        used |= 1u << paths[i].slot;
        if (least == NULL || gain_of(wanted, n, paths[i].key) < gain_of(wanted, n, least->key))
            least = &paths[i];
    }
    while (slot < LC_SCENARIO_PATHS && used & 1u << slot)
        slot++;
    if (slot < LC_SCENARIO_PATHS || gain < gain_of(wanted, n, least->key) * 3 / 2)
        return slot;
    stop(k, least, sums, false);
    return least->slot;
}

static bool is_carried(uint64_t key) {
    for (uint32_t i = 0; i < n_paths; i++)
        if (paths[i].on && paths[i].key == key)
            return true;
    return false;
}

static void choose_path(struct lc_clk_thread *k, const struct lc_portion_sums *sums,
                        const struct lc_scenario_path *wanted, uint32_t n, uint32_t i) {
    /* of a call path that has clocks already, for another late rank: only where there is room */
    uint64_t gain = is_carried(wanted[i].key) ? 0 : wanted[i].gain_ns;
    struct chosen *path = path_of(&wanted[i], sums);
    if (path == NULL || path->on)
        return;
    uint32_t slot = make_room(k, sums, wanted, n, gain);
    if (slot == LC_SCENARIO_PATHS)
        return;
    if (lc_clk.n_whatif == 0) {
        cost_then = cost_ns();
        for (uint32_t s = 0; s < LC_WHATIF_MAX; s++) {
            LC_SHOW(k->l.vec.whatif[s], k->l.useful);
            k->l.own_whatif[s] = k->l.own;
        }
    }
    carry(k, LC_WHATIF_MAX);
    interval = k->l.interval;
    start(k, path, slot, sums);
}

static void choose(struct lc_clk_thread *k, const struct lc_portion_sums *sums) {
    struct lc_scenario_path wanted[LC_PORTION_SUMS];
    uint32_t n = lc_scenario_paths(sums, lc_clk.size, wanted);
    for (int again = 0; again < 2; again++)
        for (uint32_t i = 0; i < n && i < LC_SCENARIO_PATHS; i++)
            if (again || !is_carried(wanted[i].key))
                choose_path(k, sums, wanted, n, i);
}

/* ---- what portions take in the scenarios */

/* Means as they are now. */
static void renew(struct chosen *path, const struct lc_portion_sums *sums) {
    for (uint32_t i = 0; i < n_classes; i++) {
        struct lc_portions *p = &table->classes[i];
        uint64_t peers[LC_PORTION_SUMS];
        struct lc_portion_mean all = {0, 0}, own = {0, 0};
        if (p->node == 0 || keys[i].of != path->key)
            continue;
        uint32_t n_peers = lc_portion_peers(sums, keys[i].key, path->key, lc_clk.size, peers);
        for (uint32_t j = 0; j < n_peers; j++) {
            const struct lc_portion_sum *sum = lc_portion_sums_find(sums, peers[j]);
            uint64_t n;
            own.ns += own_sum(peers[j], &n);
            own.n += n;
            all.ns += sum->ns;
            all.n += sum->n;
        }
        for (uint32_t s = 0; s < LC_SCENARIOS_CARRIED; s++) {
            enum lc_scenario scenario = scenario_of(path, s);
            if (!is_changed(path, scenario) || (n_peers == 0 && scenario != LC_SCENARIO_CHAIN))
                continue;
            p->slots |= 1u << (2 * path->slot + s);
            p->instead[2 * path->slot + s] =
                lc_clk_ticks_of(lc_portion_instead(all, own, scenario));
        }
    }
}

static void renew_all(const struct lc_portion_sums *sums) {
    for (uint32_t i = 0; i < n_paths; i++)
        if (paths[i].on)
            renew(&paths[i], sums);
}

static void decide(struct lc_clk_thread *k, const struct lc_portion_sums *sums) {
    bool lost = (sums->unable & GAVE_UP) != 0;
    if (lc_clk.n_whatif > 0 &&
        (lost || (sums->most_ppm > LC_CHOSEN_PPM && !(sums->unable & FIXED)))) {
        for (uint32_t i = 0; i < n_paths; i++)
            if (paths[i].on)
                stop(k, &paths[i], sums, lost);
        carry(k, 0);
    }
    if (!sums->unable && sums->most_ppm <= LC_CHOSEN_PPM)
        choose(k, sums);
    if (!(sums->unable & UNABLE))
        renew_all(sums);
}

/* A rank did not come to the point: it was refused memory, say, or is gone. The others give up when
 * they hear nothing of this one. */
static void choose_no_more(struct lc_clk_thread *k) {
    lc_clk.choose_at = 0;
    n_paths = 0;
    carry(k, 0);
}

void lc_clk_choose(struct lc_clk_thread *k, struct lc_call *call) {
    lc_clk.choose_now = false;
    lc_clk.choose_at *= 2;
    lc_clk_deferred(k); /* the clocks of all ranks are alike now */
    uint64_t elapsed = elapsed_ns(k);
    struct lc_portion_sums sums = {.unable = inability(k),
                                   .most_ppm = ppm_of(cost_ns(), elapsed),
                                   .least_ns = elapsed / 100,
                                   .clock_ns = lc_clk_ns_of(k->l.useful)};
    if (compare(k, &sums))
        decide(k, &sums);
    else
        choose_no_more(k);
    uint64_t now = lc_ticks(), own = now - call->end;
    k->l.last = call->end = now;
    k->l.skipped += own;
    lc_budget_apart(call->thread, own);
    LC_CLK_LOG("D %llu\n", (unsigned long long)own);
}

/* ---- the end */

static void add_seen(struct lc_portion_sums *sums, uint64_t key, uint64_t ns, uint64_t n) {
    lc_portion_sums_add(sums, &(struct lc_portion_sum){.key = key,
                                                       .of = key,
                                                       .ns = ns,
                                                       .n = n,
                                                       .longest_ns = ns,
                                                       .longest_rank = lc_clk.rank});
}

/* What was seen, of all ranks: keys N_SEEN i + what. */
static bool merge_seen(struct lc_clk_thread *k, struct lc_portion_sums *sums) {
    uint64_t late = 0;
    for (uint32_t s = 0; s < LC_WHATIF_MAX; s++)
        late = lc_clk.counts.late_whatif[s] > late ? lc_clk.counts.late_whatif[s] : late;
    *sums = (struct lc_portion_sums){.unable = gave_up ? GAVE_UP : 0,
                                     .late_ns = lc_clk_ns_of(late + lc_clk.counts.late_useful),
                                     .n_lost = k->l.vec.n_whatif_lost + table->n_lost};
    for (uint32_t i = 0; i < n_paths; i++) {
        struct chosen *path = &paths[i];
        struct amounts own = own_of(k, path->key);
        if (path->on) {
            add(&path->own_seen, more(&own, &path->own_then));
            take_given(path, false);
        }
        struct amounts rest = more(&own, &path->own_seen);
        add_seen(sums, N_SEEN * i + UNSEEN, rest.ns, rest.n);
        add_seen(sums, N_SEEN * i + SEEN, path->own_seen.ns, path->own_seen.n);
        for (uint32_t s = 0; s < LC_SCENARIOS_CARRIED; s++)
            add_seen(sums, N_SEEN * i + FIRST_ERROR + s,
                     (uint64_t)fabs(path->too_long_ns[s]) + path->unchanged_ns[s], 0);
    }
    return share(sums);
}

static uint32_t node_of(uint64_t key) {
    for (uint32_t i = 0; i < n_classes; i++)
        if (table->classes[i].node != 0 && keys[i].of == key)
            return table->classes[i].node;
    return 0;
}

static void book(const struct chosen *path, uint32_t index, const struct lc_scenario_gain *gain,
                 double excess) {
    const double ns[] = {gain->gain, gain->low, gain->high, excess};
    uint32_t node = node_of(path->key);
    struct lc_state_wait *w = node != 0 ? lc_clk_waits_new(0, node) : NULL;
    if (w == NULL)
        return;
    w->index = index;
    for (size_t i = 0; i < sizeof ns / sizeof *ns; i++)
        w->ticks[i] = lc_clk_ticks_of((uint64_t)ns[i]);
    w->what = LC_STATE_WAIT_GAIN;
}

/* What the scenario takes away in the whole run: of the late rank, or of the critical path. */
static double excess_ns(const struct lc_portion_sums *work, uint64_t key,
                        enum lc_scenario scenario) {
    struct amounts all = all_of(work, key);
    double own = (double)own_ns(key), sum = (double)all.ns, n = lc_clk.size;
    double excess = scenario == LC_SCENARIO_LATE ? own - (sum - own) / (n - 1)
                                                 : (double)all.critical_ns - sum / n;
    return excess > 0 ? excess : 0;
}

/* The part of the run in which no clock was carried for it: what the scenario takes away there
 * gains as much of itself as it did while one was, or, where that is not known, what the rules for
 * runs without clocks say; what a rank takes instead may be more there. */
static void estimate_rest(const struct chosen *path, enum lc_scenario scenario,
                          const struct lc_portion_sum *rest, const struct lc_portion_sums *work,
                          struct lc_scenario_seen *seen) {
    struct lc_clk_thread *k = lc_clk.threads; /* of the late rank */
    struct amounts all = all_of(work, path->key), own = own_of(k, path->key);
    struct amounts own_rest = more(&own, &path->own_seen);
    struct amounts all_seen = path->all_seen;
    if (path->on)
        add(&all_seen, more(&all, &path->all_then));
    struct amounts all_rest = more(&all, &all_seen);
    double critical = (double)all_rest.critical_ns, longest = (double)rest->longest_ns;
    /* of a rank's work in the whole run the part that its portions are of all portions */
    double part = all.n > 0 ? (double)rest->n / (double)all.n : 0, n = lc_clk.size;
    double instead = (double)rest->ns / n, instead_seen = seen->seen / n;
    double excess_seen = (double)all_seen.critical_ns;
    if (scenario != LC_SCENARIO_CHAIN) {
        double mean = scenario == LC_SCENARIO_LATE ? (double)above(all.ns, own.ns) / (n - 1)
                                                   : (double)all.ns / n;
        instead = mean * part;
        instead_seen = mean - instead;
    }
    double excess = critical - instead;
    seen->rest = excess;
    if (scenario == LC_SCENARIO_LATE) {
        longest = (double)own_rest.ns;
        excess = longest - instead;
        excess_seen = (double)path->own_seen.ns;
        seen->rest = longest > 0 ? excess * fmin((double)own_rest.critical_ns / longest, 1) : 0;
    }
    excess_seen -= instead_seen;
    if (excess_seen > 0) {
        double gained = fmax(seen->gain - seen->even, 0) + seen->too_long;
        seen->rest = excess * fmin(fmax(gained / excess_seen, 0), 1);
    }
    seen->rest_least = scenario == LC_SCENARIO_CHAIN ? 0 : fmin(longest - instead, 0);
    seen->rest_most = scenario == LC_SCENARIO_LATE ? longest : fmax(longest, critical);
}

static void book_scenario(const struct chosen *path, uint32_t which, double saved_s,
                          const struct lc_portion_sums *work, const struct lc_portion_sums *seen) {
    const enum lc_scenario scenario = scenario_of(path, which);
    uint32_t i = (uint32_t)(path - paths), at = N_SEEN * i;
    const struct lc_portion_sum *its = lc_portion_sums_find(seen, at + SEEN);
    const struct lc_portion_sum *rest = lc_portion_sums_find(seen, at + UNSEEN);
    const struct lc_portion_sum *error = lc_portion_sums_find(seen, at + FIRST_ERROR + which);
    struct lc_scenario_gain gain;
    if (its == NULL || rest == NULL || error == NULL || (path->on && seen->unable & GAVE_UP))
        return;
    const double even = scenario == LC_SCENARIO_CHAIN ? (double)its->ns / lc_clk.size : 0;
    struct lc_scenario_seen all = {
        .gain = path->saved[which] * lc_clk.ns_per_tick + (path->on ? saved_s * 1e9 : 0),
        .seen = (double)its->ns,
        .unseen = (double)rest->ns,
        .error = (double)error->longest_ns + (double)seen->late_ns,
        /* where the late rank took too little, the others were on the longest chain */
        .too_long = scenario == LC_SCENARIO_LATE ? fmax(path->too_long_ns[which], 0)
                                                 : path->too_long_ns[which],
        .even = even,
        .uneven = scenario == LC_SCENARIO_CHAIN ? (double)its->longest_ns - even : 0,
        .lost = seen->n_lost > 0};
    estimate_rest(path, scenario, rest, work, &all);
    if (lc_scenario_predict(&all, &gain))
        book(path, LC_SCENARIOS * i + scenario, &gain, excess_ns(work, path->key, scenario));
}

/* Collective: at the end the chains of ranks may differ, as nobody waited for what they did last;
 * the critical path is the longest one. */
static void take_longest_chain(struct lc_clk_thread *k) {
    struct {
        double chain;
        int rank;
    } mine = {n_paths > 0 ? (double)k->l.useful : -1, lc_core.rank}, longest;
    struct lc_cp_item items[LC_CP_ITEMS] = {{0, 0}};
    int n = 0;
    lc_real.Allreduce(&mine, &longest, 1, MPI_DOUBLE_INT, MPI_MAXLOC, lc_core.comm);
    if (longest.chain < 0) /* no rank has chosen */
        return;
    if (longest.rank == lc_core.rank)
        n = (int)lc_cpvec_pack(&k->l.vec, items, LC_CP_ITEMS);
    lc_real.Bcast(&n, 1, MPI_INT, longest.rank, lc_core.comm);
    lc_real.Bcast(items, n * (int)sizeof *items, MPI_BYTE, longest.rank, lc_core.comm);
    lc_cpvec_adopt_items(&k->l.vec, items, (uint32_t)n, (uint64_t)longest.chain);
}

void lc_clk_chosen_finish(double saved_s[]) {
    struct lc_clk_thread *k = lc_clk.threads;
    struct lc_portion_sums work = {.clock_ns = lc_clk_ns_of(k->l.useful)}, seen;
    take_longest_chain(k);
    if (n_paths == 0)
        return;
    if (!tell(saved_s, LC_WHATIF_MAX * (int)sizeof *saved_s) || !compare(k, &work))
        return;
    renew_all(&work);
    if (!merge_seen(k, &seen))
        return;
    for (uint32_t i = 0; i < n_paths; i++)
        for (uint32_t s = 0; paths[i].rank == lc_clk.rank && s < LC_SCENARIOS_CARRIED; s++)
            book_scenario(&paths[i], s, saved_s[2 * paths[i].slot + s], &work, &seen);
}
