#include "measure/clocks/what_if_factors.h"

#include <math.h>
#include <pthread.h>

#include "base/timer.h"
#include "measure/callpath/budget.h"
#include "measure/clocks/intervals.h"
#include "measure/clocks/call_state.h"
#include "measure/clocks/clocks.h"
#include "measure/clocks/backlog.h"
#include "measure/clocks/chosen_points.h"
#include "measure/clocks/collectives.h"
#include "measure/clocks/compared_work.h"
#include "measure/clocks/clock_messages.h"
#include "measure/clocks/edges.h"
#include "measure/clocks/records.h"
#include "measure/clocks/wait_states.h"
#include "measure/core/core.h"
#include "measure/core/state_write.h"
#include "piggyback/portions.h"

enum { MOST_PATHS = 6 }; /* four sums of each go to all ranks (merge_seen) */
/* What clocks take at most, of both MPIs, on cores near and far (docs/benchmarks.md#overhead): a
 * message, sender and receiver together, and each member of a collective. Most of it is the way
 * from core to core: a message of a rank to itself takes 73 ns. */
enum { EDGE_NS = 400, MEMBER_NS = 110 };
enum { UNSEEN, SEEN, FIRST_ERROR, N_SEEN = FIRST_ERROR + LC_SCENARIOS_CARRIED };

struct chosen { /* the same on all ranks */
    uint64_t key;
    uint32_t rank; /* that is late */
    bool on, chain;
    uint32_t slot;                      /* its clocks: 2 slot, and the one after it */
    double saved[LC_SCENARIOS_CARRIED]; /* ticks, of earlier times that it was on */
    struct lc_work all_seen, all_then;  /* of all ranks: critical path */
    /* of this rank: while it was on, and when that began */
    struct lc_work own_seen, own_then;
    /* nanoseconds that portions took above the means as they were known at the end, and work that
     * could not be compared, and so is the same in the scenario */
    double too_long_ns[LC_SCENARIOS_CARRIED];
    uint64_t unchanged_ns[LC_SCENARIOS_CARRIED];
};

static struct chosen paths[MOST_PATHS];
static uint32_t n_paths;
static uint32_t interval;  /* in which scenarios were chosen */
static uint64_t cost_then; /* when the clocks that are carried began */
static bool gave_up;       /* since then */

static _Atomic uint32_t why = LC_CHOSEN_FEW_POINTS; /* no clocks are carried */

void lc_clk_choose_init(bool apart) {
    bool able = !apart && lc_clk.size > 1 && lc_clk.n_whatif == 0;
    if (lc_clk_whatif_given() > 0)
        why = LC_CHOSEN_NAMED;
    else if (lc_clk.n_whatif > 0) /* a clock per task of OpenMP */
        why = LC_CHOSEN_THREADS;
    else if (apart)
        why = LC_CHOSEN_APART;
    if (able)
        lc_clk_compared_init();
    atomic_store_explicit(&lc_clk.choosing, able, memory_order_relaxed);
}

/* Its first clock, and its second one. */
static enum lc_scenario scenario_of(const struct chosen *path, uint32_t which) {
    return which == 1 ? LC_SCENARIO_EVEN : path->chain ? LC_SCENARIO_CHAIN : LC_SCENARIO_LATE;
}

bool lc_clk_has_chosen(void) {
    return n_paths > 0;
}

enum lc_chosen_clocks lc_clk_why_chosen(void) {
    return n_paths == 0 ? (enum lc_chosen_clocks)why
           : gave_up    ? LC_CHOSEN_COSTLY
                        : LC_CHOSEN_CARRIED;
}

void lc_chosen_why(const struct lc_portion_sums *sums) {
    why = sums->unable & LC_UNABLE_THREADS                      ? LC_CHOSEN_THREADS
          : sums->unable & LC_UNABLE_LOST                       ? LC_CHOSEN_LOST
          : sums->unable & LC_UNABLE_GAVE_UP                    ? LC_CHOSEN_COSTLY
          : sums->unable == 0 && sums->most_ppm > LC_CHOSEN_PPM ? LC_CHOSEN_COSTLY
          : sums->unable & LC_UNABLE_FIXED                      ? LC_CHOSEN_SWITCHED
          : sums->unable & LC_UNABLE                            ? LC_CHOSEN_NO_ROOM
                                                                : LC_CHOSEN_NONE_WANTED;
}

void lc_clk_portion(struct lc_clk_thread *k, const struct lc_portion_done *done) {
    if (lc_clk.rarer || k != lc_clk.threads || k->l.interval == 0 || lc_compared.n == 0 ||
        !atomic_load_explicit(&lc_clk.choosing, memory_order_relaxed))
        return;
    struct lc_portions *p = lc_portions_of(lc_compared.table, done->node, done->call);
    if (p == NULL)
        return;
    p->n += done->n;
    p->ticks += done->ticks;
    if (p->slots == 0)
        return;
    lc_clk_own_lock(k);
    for (uint32_t s = 0; p->slots >> s != 0 && s < k->l.vec.n_whatif; s++) {
        if (!(p->slots & 1u << s))
            continue;
        uint64_t instead = done->n * p->instead[s];
        uint64_t change = instead - done->ticks; /* the clocks have grown by the ticks */
        p->given[s] += instead;
        p->n_given[s] += done->n;
        LC_SHOW(k->l.vec.whatif[s], k->l.vec.whatif[s] + change);
        k->l.own_whatif[s] += change;
    }
    lc_clk_own_unlock(k);
}

uint64_t lc_clk_portion_seen(struct lc_clk_thread *k, uint32_t node, uint32_t call,
                             struct lc_portion_done *done) {
    uint64_t ticks = k->seen_cut;
    k->seen_cut = 0;
    *done = (struct lc_portion_done){.node = node, .call = call};
    if (ticks < lc_clk.past_ticks || k != lc_clk.threads ||
        !atomic_load_explicit(&lc_clk.choosing, memory_order_relaxed))
        return ticks;
    done->n = 1;
    done->ticks = ticks;
    lc_clk_composed_portion(done);
    lc_clk_turns_portion(done);
    return ticks;
}

void lc_clk_portion_changes(const struct lc_portion_done *done, uint64_t whatif[]) {
    const struct lc_portions *p = lc_portions_find(lc_compared.table, done->node, done->call);
    for (uint32_t s = 0; p != NULL && p->slots >> s != 0 && s < lc_clk.n_whatif; s++)
        if (p->slots & 1u << s)
            whatif[s] += done->n * p->instead[s] - done->ticks;
}

static uint64_t elapsed_ns(const struct lc_clk_thread *k) {
    return lc_clk_ns_of(k->l.last - k->l.begin);
}

/* What clocks cost, nanoseconds, if they are carried all the time. */
static uint64_t cost_ns(void) {
    return lc_clk.counts.messages * EDGE_NS + lc_clk.counts.collectives * lc_clk.size * MEMBER_NS;
}

/* In which time: where clocks lag, the program's. */
static uint64_t seen_ns(const struct lc_clk_thread *k) {
    uint64_t begin;
    lc_clk_interval_of(k, &begin);
    return lc_clk.backlog ? lc_clk_ns_of(lc_above(k->seen, begin)) : elapsed_ns(k);
}

static uint64_t ppm_of(uint64_t cost, uint64_t elapsed) {
    return elapsed > 0 ? (uint64_t)((double)cost * 1e6 / (double)elapsed) : 1000000;
}

uint64_t lc_chosen_ppm(const struct lc_clk_thread *k) {
    return ppm_of(cost_ns(), seen_ns(k));
}

static void carry_no_more(struct lc_clk_thread *k) {
    k->l.vec.n_whatif = 0;
    lc_clk_set_grain(k);
}

void lc_chosen_lock(struct lc_clk_thread *k) {
    lc_clk_lock();
    lc_clk_own_lock(k);
}

void lc_chosen_unlock(struct lc_clk_thread *k) {
    lc_clk_own_unlock(k);
    lc_clk_unlock();
}

/* What a thread works beside the first one is in no portion. */
uint32_t lc_chosen_threads(void) {
    return lc_clk.n_threads != 1 || lc_clk.task_chain != NULL ? LC_UNABLE_THREADS : 0;
}

void lc_clk_look_at_cost(struct lc_clk_thread *k) {
    lc_chosen_lock(k);
    if (lc_clk.n_whatif == 0) { /* another thread has seen that it is over */
        carry_no_more(k);
    } else if (n_paths > 0 && k == lc_clk.threads && lc_chosen_threads() == 0 &&
               (lc_clk.rarer ||
                ppm_of(lc_above(cost_ns(), cost_then), seen_ns(k)) > LC_CHOSEN_PPM)) {
        gave_up = true;
        carry_no_more(k);
    }
    lc_chosen_unlock(k);
}

/* room: for clocks is made. */
static uint32_t inability(struct lc_clk_thread *k, bool room) {
    struct lc_area *mine = lc_clk.mine.head != NULL ? &lc_clk.mine : NULL;
    uint32_t unable = n_paths > 0 && k->l.interval != interval ? LC_UNABLE_FIXED : 0;
    unable |= gave_up || lc_clk.rarer ? LC_UNABLE_GAVE_UP : 0;
    unable |= lc_chosen_lost ? LC_UNABLE_LOST : 0;
    if (lc_compared.n == 0 || k->l.interval == 0 ||
        (room && !lc_cpvec_whatif_room(&k->l.vec, mine)))
        unable |= LC_UNABLE;
    return unable;
}

/* ---- the choice */

static void carry(struct lc_clk_thread *k, uint32_t n) {
    if (lc_clk.backlog)
        lc_clk_back_flush(k);
    lc_clk.n_whatif = n;
    lc_cpvec_whatif_begin(&k->l.vec, n);
    lc_clk_set_grain(k);
    k->l.stale = true;
    gave_up = false;
}

static void start(struct lc_clk_thread *k, struct chosen *path, uint32_t slot,
                  const struct lc_portion_sums *sums) {
    path->on = true;
    path->slot = slot;
    path->own_then = lc_clk_work_of_rank(k, path->key);
    path->all_then = lc_clk_work_of_all(sums, path->key);
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
        for (uint32_t i = 0; i < lc_compared.n; i++) {
            struct lc_portions *p = &lc_compared.table->classes[i];
            if (p->node == 0 || lc_compared.keys[i].of != path->key)
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
    struct lc_work all = lc_clk_work_of_all(sums, path->key),
                   own = lc_clk_work_of_rank(k, path->key);
    lc_work_grow(&path->all_seen, lc_work_more(&all, &path->all_then));
    lc_work_grow(&path->own_seen, lc_work_more(&own, &path->own_then));
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
    for (uint32_t i = 0; i < lc_compared.n; i++) {
        struct lc_portions *p = &lc_compared.table->classes[i];
        uint64_t peers[LC_PORTION_SUMS];
        struct lc_portion_mean all = {0, 0}, own = {0, 0};
        if (p->node == 0 || lc_compared.keys[i].of != path->key)
            continue;
        uint32_t n_peers =
            lc_portion_peers(sums, lc_compared.keys[i].key, path->key, lc_clk.size, peers);
        for (uint32_t j = 0; j < n_peers; j++) {
            const struct lc_portion_sum *sum = lc_portion_sums_find(sums, peers[j]);
            uint64_t n;
            own.ns += lc_clk_own_sum(peers[j], &n);
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

void lc_chosen_decide(struct lc_clk_thread *k, const struct lc_portion_sums *sums) {
    bool lost = (sums->unable & LC_UNABLE_GAVE_UP) != 0;
    lc_chosen_why(sums);
    if (lc_clk.n_whatif > 0 &&
        (lost || (sums->most_ppm > LC_CHOSEN_PPM && !(sums->unable & LC_UNABLE_FIXED)))) {
        for (uint32_t i = 0; i < n_paths; i++)
            if (paths[i].on)
                stop(k, &paths[i], sums, lost);
        carry(k, 0);
    }
    if (!sums->unable && sums->most_ppm <= LC_CHOSEN_PPM)
        choose(k, sums);
    if (!(sums->unable & LC_UNABLE))
        renew_all(sums);
}

void lc_chosen_no_more(struct lc_clk_thread *k, const struct lc_portion_sums *sums) {
    lc_chosen_why(sums);
    atomic_store_explicit(&lc_clk.choosing, false, memory_order_relaxed);
    n_paths = 0;
    lc_chosen_lost = false;
    lc_clk.n_whatif = 0;
    carry_no_more(k);
    k->l.stale = true;
}

struct lc_portion_sums lc_chosen_head(struct lc_clk_thread *k, uint64_t ppm, bool room) {
    struct lc_portion_sums head = {.unable = lc_chosen_threads()};
    if (head.unable != 0)
        return head;
    return (struct lc_portion_sums){.unable = inability(k, room),
                                    .most_ppm = ppm,
                                    .least_ns = elapsed_ns(k) / 100,
                                    .clock_ns = lc_clk_ns_of(k->l.useful)};
}

static void compare_and_decide(struct lc_clk_thread *k) {
    lc_chosen_lock(k);
    struct lc_portion_sums sums = lc_chosen_head(k, lc_chosen_ppm(k), true);
    lc_chosen_unlock(k);
    bool all = lc_clk_compare_work(k, &sums);
    lc_chosen_lock(k);
    if (!all)
        sums.unable = LC_UNABLE_LOST;
    if (!(sums.unable & (LC_UNABLE_THREADS | LC_UNABLE_LOST)))
        lc_chosen_decide(k, &sums);
    else
        lc_chosen_no_more(k, &sums);
    lc_chosen_unlock(k);
}

void lc_clk_choose(struct lc_clk_thread *k, struct lc_call *call) {
    static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
    uint64_t cpu_ns = lc_thread_cpu_ns();
    k->choose_now = false;
    lc_clk_deferred(k); /* the clocks of all ranks are alike now */
    pthread_mutex_lock(&one_at_a_time);
    if (atomic_load_explicit(&lc_clk.choosing, memory_order_relaxed))
        compare_and_decide(k);
    pthread_mutex_unlock(&one_at_a_time);
    uint64_t now = lc_ticks(), own = now - call->end;
    lc_clk_own_lock(k);
    call->end = now;
    k->l.last = now + call->own;
    k->l.skipped += own;
    lc_clk_own_unlock(k);
    lc_budget_apart(call->thread, own, lc_thread_cpu_ns() - cpu_ns);
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
    *sums =
        (struct lc_portion_sums){.unable = (gave_up ? LC_UNABLE_GAVE_UP : 0) | lc_chosen_threads(),
                                 .late_ns = lc_clk_ns_of(late + lc_clk.counts.late_useful),
                                 .n_lost = k->l.vec.n_whatif_lost + lc_compared.table->n_lost};
    for (uint32_t i = 0; i < n_paths; i++) {
        struct chosen *path = &paths[i];
        struct lc_work own = lc_clk_work_of_rank(k, path->key);
        if (path->on) {
            lc_work_grow(&path->own_seen, lc_work_more(&own, &path->own_then));
            take_given(path, false);
        }
        struct lc_work rest = lc_work_more(&own, &path->own_seen);
        add_seen(sums, N_SEEN * i + UNSEEN, rest.ns, rest.n);
        add_seen(sums, N_SEEN * i + SEEN, path->own_seen.ns, path->own_seen.n);
        for (uint32_t s = 0; s < LC_SCENARIOS_CARRIED; s++)
            add_seen(sums, N_SEEN * i + FIRST_ERROR + s,
                     (uint64_t)fabs(path->too_long_ns[s]) + path->unchanged_ns[s], 0);
    }
    return lc_clk_share_sums(sums);
}

static uint32_t node_of(uint64_t key) {
    for (uint32_t i = 0; i < lc_compared.n; i++)
        if (lc_compared.table->classes[i].node != 0 && lc_compared.keys[i].of == key)
            return lc_compared.table->classes[i].node;
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
    struct lc_work all = lc_clk_work_of_all(work, key);
    uint64_t portions;
    double own = (double)lc_clk_own_sum(key, &portions), sum = (double)all.ns, n = lc_clk.size;
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
    struct lc_work all = lc_clk_work_of_all(work, path->key),
                   own = lc_clk_work_of_rank(k, path->key);
    struct lc_work own_rest = lc_work_more(&own, &path->own_seen);
    struct lc_work all_seen = path->all_seen;
    if (path->on)
        lc_work_grow(&all_seen, lc_work_more(&all, &path->all_then));
    struct lc_work all_rest = lc_work_more(&all, &all_seen);
    double critical = (double)all_rest.critical_ns, longest = (double)rest->longest_ns;
    /* of a rank's work in the whole run the part that its portions are of all portions */
    double part = all.n > 0 ? (double)rest->n / (double)all.n : 0, n = lc_clk.size;
    double instead = (double)rest->ns / n, instead_seen = seen->seen / n;
    double excess_seen = (double)all_seen.critical_ns;
    if (scenario != LC_SCENARIO_CHAIN) {
        double mean = scenario == LC_SCENARIO_LATE ? (double)lc_above(all.ns, own.ns) / (n - 1)
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
    if (its == NULL || rest == NULL || error == NULL ||
        (path->on && seen->unable & LC_UNABLE_GAVE_UP))
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

static void tell_nothing(uint32_t unable) {
    lc_chosen_why(&(struct lc_portion_sums){.unable = unable});
    n_paths = 0;
    lc_clk.n_whatif = 0;
}

/* Collective: at the end the chains of ranks may differ, as nobody waited for what they did last;
 * the critical path is the longest one. Where a rank is lost, nothing is known. */
static void take_longest_chain(struct lc_clk_thread *k) {
    struct {
        double chain_ns;
        int rank;
    } mine = {lc_clk_ns_from(k->l.useful), lc_core.rank}, longest;
    struct {
        struct lc_cp_item items[LC_CP_ITEMS]; /* ticks */
        uint64_t useful;
        double ns_per_tick;
        uint32_t n;
    } its = {.useful = k->l.useful, .ns_per_tick = lc_clk.ns_per_tick};
    if (n_paths == 0)
        mine.chain_ns = -1;
    if (lc_chosen_lost || lc_clk_point_is_under_way())
        mine.chain_ns = INFINITY;
    lc_real.Allreduce(&mine, &longest, 1, MPI_DOUBLE_INT, MPI_MAXLOC, lc_core.comm);
    if (isinf(longest.chain_ns)) /* a rank is lost */
        tell_nothing(LC_UNABLE_LOST);
    if (longest.chain_ns < 0 || isinf(longest.chain_ns)) /* no rank has chosen */
        return;
    if (longest.rank == lc_core.rank)
        its.n = lc_cpvec_pack(&k->l.vec, its.items, LC_CP_ITEMS);
    lc_real.Bcast(&its, (int)sizeof its, MPI_BYTE, longest.rank, lc_core.comm);
    double scale = its.ns_per_tick / lc_clk.ns_per_tick; /* 1 on one node */
    for (uint32_t i = 0; i < its.n; i++)
        its.items[i].ticks = (uint64_t)((double)its.items[i].ticks * scale + 0.5);
    lc_cpvec_adopt_items(&k->l.vec, its.items, its.n, (uint64_t)((double)its.useful * scale + 0.5));
}

void lc_clk_chosen_finish(double saved_s[]) {
    struct lc_clk_thread *k = lc_clk.threads;
    struct lc_portion_sums work = {.clock_ns = lc_clk_ns_of(k->l.useful)}, seen = {0};
    take_longest_chain(k);
    if (n_paths == 0)
        return;
    if (!lc_clk_tell_all(saved_s, LC_WHATIF_MAX * (int)sizeof *saved_s) ||
        !lc_clk_compare_work(k, &work))
        seen.unable = LC_UNABLE_LOST;
    else
        renew_all(&work);
    if (seen.unable == 0 && !merge_seen(k, &seen))
        seen.unable = LC_UNABLE_LOST;
    if (seen.unable & (LC_UNABLE_LOST | LC_UNABLE_THREADS)) {
        tell_nothing(seen.unable);
        return;
    }
    gave_up = (seen.unable & LC_UNABLE_GAVE_UP) != 0;
    for (uint32_t i = 0; i < n_paths; i++)
        for (uint32_t s = 0; paths[i].rank == lc_clk.rank && s < LC_SCENARIOS_CARRIED; s++)
            book_scenario(&paths[i], s, saved_s[2 * paths[i].slot + s], &work, &seen);
}
