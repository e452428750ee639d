#include "measure/callpath/budget.h"

#include "base/c_numbers.h"
#include "base/choose.h"
#include "base/hash.h"
#include "base/idmap.h"
#include "base/none.h"
#include "base/timer.h"
#include "measure/core/core.h"
#include "measure/callpath/entry.h"
#include "measure/core/state_write.h"
#include "measure/core/thread.h"

#include <stdlib.h>
#include <string.h>

enum { WINDOW_MS = 10, WINDOWS_OF_SAMPLES = 5, WINDOWS_OF_LITTLE = 50, RARE_MOST_MS = 1 };
/* What takes more than so many times the usual was interrupted, as it seems: of calls and events */
enum { COST_TIMES = 16 };
enum { COST_STAMPS = 100 }; /* less is no interruption, however little the usual event takes */
enum { OWN_TIMES = 4 };     /* the same of a call's own work after its end, which differs less */
enum { NEW_PATHS = 3 };     /* of a site that may have more of them */
static const double RESERVE =
    0.5; /* of the first second's budget: for what comes before it helps */
static const double BACK_PART = 0.4;      /* of the budget: below it paths are unwound again */
static const double SAMPLING_PART = 0.25; /* of the budget: above it samples become rarer */
static const double APART_MOST = 0.5;     /* of the first second's budget */

static struct {
    double share;                     /* 0: off */
    uint64_t start_cpu_ns;            /* of the start, as far as it counts */
    uint64_t window_ticks, run_ticks; /* 0: not known yet */
    uint64_t apart_ticks;             /* that start and end take, as far as they count */
    uint64_t rare_most_ticks;         /* of rare work at one call; more is an interruption */
    uint64_t sample_ticks;            /* what taking the two stamps of a sample adds to it */
    uint64_t stamp_ticks;             /* what a stamp takes */
    uint64_t outside_ticks;           /* of a wrapper before its first stamp and after its last */
    double counted_ticks;             /* of a call that is counted only */
    struct lc_budget_step steps[LC_BUDGET_STEPS];
    uint32_t n_steps;
} budget;

struct lc_budget_watch lc_budget_watch;

static __attribute__((noinline)) uint64_t stamp(void) {
    return lc_ticks();
}

/* Two stamps that a function takes, without what stamps in the wrapper itself would take; notes
 * what one of these takes. */
static uint64_t cost_of_sample(void) {
    uint64_t called = UINT64_MAX, direct = UINT64_MAX;
    for (int i = 0; i < 64; i++) {
        uint64_t begin = lc_ticks(), ticks = stamp() - begin;
        called = ticks < called ? ticks : called;
        begin = lc_ticks();
        ticks = lc_ticks() - begin;
        direct = ticks < direct ? ticks : direct;
    }
    budget.stamp_ticks = direct;
    return called > direct ? 2 * (called - direct) : 0;
}

static __attribute__((noinline)) void mpi_call(void) {
    __asm__ volatile("");
}
static void (*volatile to_mpi)(void) = mpi_call;

/* What every wrapper does beside its stamps and what lies between them: one call more, registers
 * saved, a struct lc_call filled in. */
static __attribute__((noinline)) void wrapper(uint64_t value) {
    struct lc_call call = {.fn = (uint32_t)value};
    __asm__ volatile("" ::"r"(&call) : "memory");
#if defined(__x86_64__)
    __asm__ volatile("" ::: "rbx", "r12", "r13", "r14", "r15");
#endif
    to_mpi();
    __asm__ volatile("" ::"r"(&call) : "memory");
}

static uint64_t cost_outside(void) {
    enum { CALLS = 32 };
    uint64_t wrapped = UINT64_MAX, direct = UINT64_MAX;
    for (int i = 0; i < 64; i++) {
        uint64_t begin = lc_ticks(), ticks;
        for (uint64_t k = 0; k < CALLS; k++)
            wrapper(k);
        ticks = lc_ticks() - begin;
        wrapped = ticks < wrapped ? ticks : wrapped;
        begin = lc_ticks();
        for (uint64_t k = 0; k < CALLS; k++)
            to_mpi();
        ticks = lc_ticks() - begin;
        direct = ticks < direct ? ticks : direct;
    }
    return wrapped > direct ? (wrapped - direct) / CALLS : 0;
}

/* Of a call that is counted only: the wrapper, and finding its site. */
static double cost_counted(void) {
    enum { CALLS = 256 };
    static struct lc_budget_sites none;
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < 16; i++) {
        uint64_t begin = lc_ticks(), ticks;
        for (volatile int k = 0; k < CALLS; k++)
            if (lc_budget_find_site(&none, LC_FN_COUNT, (uint64_t)k + 1) != NULL)
                break;
        ticks = lc_ticks() - begin;
        least = ticks < least ? ticks : least;
    }
    least -= least > budget.stamp_ticks ? budget.stamp_ticks : least;
    return (double)budget.outside_ticks + (double)least / CALLS;
}

void lc_budget_init(bool wanted) {
    const char *text = lc_option("LATECOMER_MAX_OVERHEAD");
    budget.share = 0.05;
    if (text != NULL && text[0] != '\0')
        budget.share = lc_strtod(text, NULL) / 100; /* off: 0 */
    if (!wanted)
        budget.share = 0;
    budget.sample_ticks = cost_of_sample();
    budget.outside_ticks = cost_outside();
    budget.counted_ticks = cost_counted();
}

void lc_budget_started(uint64_t cpu_ns) {
    budget.start_cpu_ns = cpu_ns;
}

/* The end is taken to cost twice as much as the start did, up to a bound. That is processor time: a
 * rank that shares its core waits for it, too, which says nothing of what the tool does. */
static uint64_t start_and_end(double per_second, uint64_t run_ticks) {
    double ticks = (1 + 2) * (double)budget.start_cpu_ns * 1e-9 * per_second;
    double most = APART_MOST * budget.share * (double)run_ticks;
    return (uint64_t)(ticks < most ? ticks : most);
}

/* The rate of the ticks is known some time after the start only. */
static void measure_ticks(void) {
    pthread_mutex_lock(&lc_core.lock);
    if (budget.run_ticks == 0) {
        lc_timer_calibrate();
        double per_second = 1e9 / lc_timer.ns_per_tick;
        budget.window_ticks = (uint64_t)(per_second * WINDOW_MS * 1e-3);
        budget.rare_most_ticks = (uint64_t)(per_second * RARE_MOST_MS * 1e-3);
        uint64_t run_ticks = (uint64_t)(per_second * LC_BUDGET_RUN_S);
        budget.apart_ticks = start_and_end(per_second, run_ticks);
        /* release: who sees it sees the others (know_ticks) */
        __atomic_store_n(&budget.run_ticks, run_ticks, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&lc_core.lock);
}

static void know_ticks(void) {
    if (__atomic_load_n(&budget.run_ticks, __ATOMIC_ACQUIRE) == 0)
        measure_ticks();
}

double lc_budget_counted_ticks(void) {
    return budget.counted_ticks;
}

uint64_t lc_budget_stamp_ticks(void) {
    return budget.stamp_ticks;
}

double lc_budget_share(void) {
    return budget.share;
}

const struct lc_budget_step *lc_budget_steps(uint32_t *n) {
    *n = budget.n_steps;
    return budget.steps;
}

/* One line per call site. */
static void note_step(const struct lc_budget_site *site) {
    pthread_mutex_lock(&lc_core.lock);
    struct lc_budget_step *step = NULL;
    for (uint32_t i = 0; i < budget.n_steps && step == NULL; i++)
        if (budget.steps[i].ra == site->ra && budget.steps[i].fn == site->fn)
            step = &budget.steps[i];
    if (step == NULL && budget.n_steps < LC_BUDGET_STEPS) {
        step = &budget.steps[budget.n_steps++];
        *step = (struct lc_budget_step){.ra = site->ra, .fn = site->fn};
    }
    if (step != NULL && step->detail < site->detail)
        step->detail = site->detail;
    pthread_mutex_unlock(&lc_core.lock);
}

/* --- call sites */

/* NULL: there is no room for more. */
static struct lc_budget_site *note_site(struct lc_budget_sites *all, uint32_t fn, uint64_t ra) {
    struct lc_budget_site *known = lc_budget_find_site(all, fn, ra);
    if (known != NULL || all->n_sites >= LC_BUDGET_SITES * 3 / 4)
        return known;
    uint32_t i = (uint32_t)(lc_hash_key(ra) >> 56) % LC_BUDGET_SITES;
    while (all->sites[i].ra != 0)
        i = (i + 1) % LC_BUDGET_SITES;
    all->sites[i] = (struct lc_budget_site){.ra = ra, .fn = fn};
    all->n_sites++;
    return &all->sites[i];
}

bool lc_budget_caller_only(struct lc_thread *t, uint32_t fn, uint64_t ra) {
    const struct lc_budget_site *site =
        t->budget_sites != NULL ? lc_budget_find_site(t->budget_sites, fn, ra) : NULL;
    return site != NULL && site->detail == LC_DETAIL_CALLER;
}

uint64_t lc_budget_counted(const struct lc_thread *t) {
    uint64_t n = 0;
    for (uint32_t i = 0; t->budget_sites != NULL && i < LC_BUDGET_SITES; i++)
        n += t->budget_sites->sites[i].n_counted;
    return n;
}

void lc_budget_forget(struct lc_thread *t) {
    t->counts.counted += lc_budget_counted(t);
    if (t->budget_sites != NULL)
        memset(t->budget_sites, 0, sizeof *t->budget_sites);
    t->counted_sites = NULL;
    t->skipped_polls = t->timed_poll = NULL;
}

void lc_budget_free(struct lc_thread *t) {
    lc_budget_forget(t);
    free(t->budget_sites);
    t->budget_sites = NULL;
    lc_idmap_free(&t->site_paths);
}

/* --- what it costs */

static void add_cost(struct lc_thread *t, uint64_t ra, uint32_t fn, uint64_t ticks, bool rare) {
    if (budget.share == 0 || ra == 0 || (fn >= LC_FN_COUNT && fn != LC_FN_TEAM))
        return;
    if (t->budget_sites == NULL)
        t->budget_sites = calloc(1, sizeof *t->budget_sites);
    if (t->budget_sites == NULL)
        return;
    struct lc_budget_site *site = note_site(t->budget_sites, fn, ra);
    if (site != NULL)
        site->cost_ticks += ticks;
    if (site != NULL && rare) {
        site->rare_ticks += ticks;
        site->n_rare++;
    }
}

LC_COLD void lc_sample_begin_cold(struct lc_call *call) {
    call->thread->sample_ticks = lc_ticks();
}

/* --- the budget */

static bool above(double share, uint64_t cost, uint64_t elapsed) {
    return (double)cost > share * ((double)elapsed - (double)cost);
}

/* With the calls since the last group of samples, and those that are counted only. */
static uint64_t cost_of(const struct lc_thread *t) {
    uint64_t calls = (uint64_t)((int64_t)t->sample_calls - t->until_sample);
    uint64_t counted = t->counts.counted + lc_budget_counted(t);
    return (uint64_t)((double)counted * budget.counted_ticks) + t->counts.call_ticks +
           calls * t->usual_ticks + t->counts.own_ticks + t->counts.openmp_ticks -
           t->counts.interrupted_ticks;
}

static uint64_t elapsed_of(const struct lc_thread *t, uint64_t now) {
    uint64_t elapsed = now - t->state->begin_ticks - t->state->idle_ticks;
    return elapsed > budget.run_ticks ? elapsed : budget.run_ticks;
}

/* Since the thread's begin, all of the budget but the reserve is used up. */
static bool is_used_up(const struct lc_thread *t, uint64_t now) {
    uint64_t reserve = (uint64_t)(RESERVE * budget.share * (double)budget.run_ticks);
    return above(budget.share, cost_of(t) + reserve + budget.apart_ticks, elapsed_of(t, now));
}

/* What start and end leave of the budget for all between. */
static double share_left(const struct lc_thread *t, uint64_t now) {
    return budget.share - (double)budget.apart_ticks / (double)elapsed_of(t, now);
}

static bool is_local(const struct lc_budget_site *s) {
    return s->fn < LC_FN_COUNT && (lc_fn_facts[s->fn].flags & LC_MPI_LOCAL) != 0;
}

static bool is_poll(const struct lc_budget_site *s) {
    enum { POLL = LC_MPI_ONLY_ASKS | LC_MPI_TRIED_FIRST };
    return s->fn < LC_FN_COUNT && (lc_fn_facts[s->fn].flags & POLL) != 0;
}

static bool can_step(const struct lc_budget_site *s) {
    if (s->failed)
        return false;
    if (is_poll(s))
        return s->every < LC_POLL_EVERY_MOST;
    if (s->fn == LC_FN_TEAM)
        return s->detail != LC_DETAIL_UNTIMED;
    if (is_local(s) && s->cost_ticks == s->rare_ticks && s->n_rare < NEW_PATHS)
        return false; /* it was called once, as it seems */
    return s->detail == LC_DETAIL_FULL &&
           (is_local(s) || (s->n_rare >= NEW_PATHS && s->rare_ticks * 2 > s->cost_ticks));
}

enum { FN_SHIFT = 52 }; /* above all return addresses */
static const uint32_t SEVERAL = LC_NONE - 1;

static uint64_t site_key(uint32_t fn, uint64_t ra) {
    return ra ^ (uint64_t)(fn < LC_FN_COUNT ? fn : LC_FN_COUNT) << FN_SHIFT;
}
_Static_assert(LC_FN_COUNT < 1 << (64 - FN_SHIFT), "keys of sites differ");

LC_COLD void lc_budget_path_made(struct lc_thread *t, const struct lc_entry *e) {
    if (budget.share == 0 || e->pass)
        return;
    uint64_t key = site_key((uint32_t)e->fn_ctx, e->ra);
    uint32_t only = lc_idmap_get(&t->site_paths, key), node = e->path->node;
    if (only == node || only == SEVERAL)
        return;
    /* a site that is not there counts as one with several */
    lc_idmap_put(&t->site_paths, key, only == LC_NONE && node != LC_NONE ? node : SEVERAL);
}

/* Has the thread seen no other call path of the site than this one? */
static bool is_only_path(const struct lc_thread *t, const struct lc_budget_site *site,
                         const struct lc_path *path) {
    uint32_t only = lc_idmap_get(&t->site_paths, site_key(site->fn, site->ra));
    return only != LC_NONE && only == path->node;
}

/* From now on calls are counted: those of several call paths together, at their caller. */
static bool count_only(struct lc_thread *t, struct lc_budget_site *site, const struct lc_entry *e) {
    bool team = site->fn == LC_FN_TEAM;
    struct lc_path *path = is_only_path(t, site, e->path) ? e->path : lc_path_of_caller(t, e);
    struct lc_state_row *row = lc_row(t, path, team ? LC_RAW_CLASS_TIME : 0);
    if (row == t->void_row || row == t->spill_row)
        return false;
    site->row = row;
    site->detail = team ? LC_DETAIL_UNTIMED : LC_DETAIL_COUNTED;
    if (!team)
        t->counted_sites = t->budget_sites;
    return true;
}

/* From now on fewer of the polls are timed. */
static void time_some(struct lc_thread *t, struct lc_budget_site *site) {
    site->detail = LC_DETAIL_SOME;
    site->tried = (lc_fn_facts[site->fn].flags & LC_MPI_TRIED_FIRST) != 0;
    site->every = site->every == 0 ? LC_POLL_EVERY : LC_POLL_EVERY * site->every;
    t->counted_sites = t->budget_sites;
}

/* e: of the call, or of the end of the region */
static void next_step(struct lc_thread *t, struct lc_budget_site *site, const struct lc_entry *e) {
    if (site->fn == LC_FN_TEAM && site->detail == LC_DETAIL_FULL)
        site->detail = LC_DETAIL_PLAIN;
    else if (site->fn == LC_FN_TEAM)
        site->failed = (uint32_t)e->fn_ctx < LC_FN_COUNT + 2 || !count_only(t, site, e);
    else if (is_poll(site))
        time_some(t, site);
    else if (is_local(site))
        site->failed = !count_only(t, site, e);
    else if (t->callpath == LC_CALLPATH_UNWIND) {
        site->detail = LC_DETAIL_CALLER;
        t->paths_left_out = true;
    } else
        site->failed = true;
    if (!site->failed)
        note_step(site);
}

/* The sites that cost most, so many that what they cost is what is too much: each takes its step at
 * the next of its calls that is looked at, where its entry is at hand. False: there is none. */
static bool choose_sites(struct lc_thread *t, double too_much) {
    struct lc_budget_sites *all = t->budget_sites;
    double sum = 0, chosen = 0;
    for (uint32_t i = 0; i < LC_BUDGET_SITES; i++)
        sum += (double)all->sites[i].cost_ticks;
    while (chosen < sum * too_much) {
        struct lc_budget_site *most = NULL;
        for (uint32_t i = 0; i < LC_BUDGET_SITES; i++) {
            struct lc_budget_site *s = &all->sites[i];
            if (!s->due && can_step(s) && s->cost_ticks > 0 &&
                (most == NULL || s->cost_ticks > most->cost_ticks))
                most = s;
        }
        if (most == NULL)
            break;
        most->due = true;
        t->steps_due = true;
        chosen += (double)most->cost_ticks / 2; /* more is saved where calls are counted only */
    }
    return chosen > 0;
}

/* What calls cost of late but for rare work; of each window before only half as much is left. */
static uint64_t cost_of_calls(const struct lc_budget_sites *all) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < LC_BUDGET_SITES; i++)
        sum += all->sites[i].cost_ticks - all->sites[i].rare_ticks;
    return sum / 2;
}

/* No call site can be made cheaper; or clocks may carry all again. */
static void tell_clocks(struct lc_thread *t, bool dear) {
    static const struct lc_budget_site all = {.fn = LC_FN_COUNT, .detail = LC_DETAIL_RARER};
    if (lc_budget_watch.calls != NULL && lc_budget_watch.calls(t, dear))
        note_step(&all);
}

/* Paths that were left out but for the caller are unwound when they come again. */
static void unwind_again(struct lc_thread *t) {
    struct lc_budget_sites *all = t->budget_sites;
    t->paths_left_out = false;
    for (uint32_t i = 0; i < LC_BUDGET_SITES; i++)
        if (all->sites[i].detail == LC_DETAIL_CALLER) {
            all->sites[i].detail = LC_DETAIL_FULL;
            all->sites[i].n_rare = 0;
        }
    for (int i = 0; i < LC_BUCKETS; i++)
        for (struct lc_entry *e = t->buckets[i]; e != NULL; e = e->next)
            if (e->cut)
                e->ra = 0; /* it is found no more */
}

/* A window is over. */
static void end_window(struct lc_thread *t, uint64_t now) {
    struct lc_budget_sites *all = t->budget_sites;
    uint64_t since = now - t->window_ticks, late = cost_of(t) - t->window_cost;
    uint64_t sampling = t->counts.sampling_ticks - t->window_sampling;
    double share = share_left(t, now);
    bool first = t->window_ticks == 0;
    for (uint32_t i = 0; i < LC_BUDGET_SITES; i++)
        all->sites[i].due = false;
    t->steps_due = false;
    /* what samples cost is no call site's: they become rarer (lc_budget_samples_rarer) */
    if (!first && late > sampling && above(share, late, since) && is_used_up(t, now))
        if (!choose_sites(t, 1 - share * (double)(since - late) / (double)late) &&
            above(share, cost_of_calls(all), since))
            tell_clocks(t, true);
    if (!above(BACK_PART * budget.share, cost_of(t) + budget.apart_ticks, elapsed_of(t, now))) {
        if (t->paths_left_out)
            unwind_again(t);
        tell_clocks(t, false);
    }
    t->window_ticks = now;
    t->window_cost = cost_of(t);
    t->window_sampling = t->counts.sampling_ticks;
    for (uint32_t i = 0; i < LC_BUDGET_SITES; i++) {
        all->sites[i].cost_ticks /= 2;
        all->sites[i].rare_ticks /= 2;
    }
}

static bool is_controlled(const struct lc_call *call) {
    return budget.share > 0 && call->thread->budget_sites != NULL && call->fn < LC_FN_COUNT &&
           call->entry->ra != 0;
}

static void control(struct lc_thread *t, uint64_t now) {
    know_ticks();
    if (now - t->window_ticks >= budget.window_ticks)
        end_window(t, now);
}

static void step_if_due(struct lc_thread *t, uint32_t fn, uint64_t ra, const struct lc_entry *e) {
    struct lc_budget_site *site = lc_budget_find_site(t->budget_sites, fn, ra);
    if (site == NULL || !site->due)
        return;
    site->due = false;
    if (!can_step(site))
        return;
    uint64_t begin = lc_ticks();
    next_step(t, site, e);
    t->counts.own_ticks += lc_ticks() - begin;
}

/* What of this is more than `most`, or than rare work takes: the thread had no processor. */
static uint64_t without_interruption(struct lc_thread *t, uint64_t ticks, uint64_t most) {
    know_ticks();
    most = lc_larger(most, budget.rare_most_ticks);
    if (ticks <= most)
        return ticks;
    t->counts.interrupted_ticks += ticks - most;
    return most;
}

LC_COLD void lc_budget_apart(struct lc_thread *t, uint64_t ticks, uint64_t cpu_ns) {
    t->counts.own_ticks += ticks;
    without_interruption(t, ticks, (uint64_t)((double)cpu_ns / lc_timer.ns_per_tick));
}

LC_COLD uint64_t lc_budget_event_begins(struct lc_thread *t) {
    t->counts.openmp_ticks += budget.stamp_ticks;
    return lc_ticks() + budget.stamp_ticks;
}

LC_COLD void lc_budget_events(struct lc_thread *t, uint64_t ticks, uint32_t n) {
    uint64_t usual = t->event_ticks;
    uint64_t most = lc_larger(COST_TIMES * usual, COST_STAMPS * budget.stamp_ticks);
    if (usual != 0 && ticks > most) /* the thread was interrupted */
        ticks = most;
    t->event_ticks = usual == 0 ? ticks : (usual * 15 + ticks) / 16 + 1;
    t->counts.openmp_ticks += n * ticks + budget.stamp_ticks;
}

uint64_t lc_budget_without_stamps(uint64_t ticks, uint32_t parts) {
    uint64_t stamps = parts * budget.stamp_ticks;
    return (ticks > stamps ? ticks - stamps : 0) + budget.outside_ticks;
}

LC_COLD void lc_budget_parts(struct lc_thread *t, uint64_t ticks, uint32_t parts, uint32_t n) {
    lc_budget_events(t, lc_budget_without_stamps(ticks, parts), n);
    t->counts.openmp_ticks += (2 * parts - 1) * budget.stamp_ticks;
}

LC_COLD void lc_budget_rare(struct lc_call *call, uint64_t ticks) {
    struct lc_thread *t = call->thread;
    ticks = without_interruption(t, ticks, 0);
    add_cost(t, call->entry->ra, call->fn, ticks, true);
    if (is_controlled(call)) {
        control(t, call->begin);
        step_if_due(t, call->fn, call->entry->ra, call->entry);
    }
}

void lc_budget_team(struct lc_thread *t, const void *code, uint64_t ticks) {
    if (budget.share == 0)
        return;
    add_cost(t, (uint64_t)(uintptr_t)code, LC_FN_TEAM, ticks, false);
    if (t->budget_sites == NULL)
        return;
    control(t, t->last_ticks);
    step_if_due(t, LC_FN_TEAM, (uint64_t)(uintptr_t)code, t->last);
}

bool lc_budget_is_plain(struct lc_thread *t, const void *code, struct lc_state_row **row) {
    const struct lc_budget_site *site =
        t->budget_sites != NULL
            ? lc_budget_find_site(t->budget_sites, LC_FN_TEAM, (uint64_t)(uintptr_t)code)
            : NULL;
    if (site == NULL || site->detail == LC_DETAIL_FULL)
        return false;
    *row = site->row;
    return true;
}

LC_COLD uint32_t lc_budget_samples_rarer(struct lc_thread *t, uint32_t now_times, bool asked) {
    uint64_t now = lc_ticks(), since = now - t->sampling_since;
    if (budget.share == 0)
        return now_times;
    know_ticks();
    if (since < WINDOWS_OF_SAMPLES * budget.window_ticks)
        return now_times;
    uint64_t late = t->counts.sampling_ticks - t->sampling_before;
    bool first = t->sampling_since == 0;
    double most = SAMPLING_PART * share_left(t, now);
    bool much = above(most, late, since), little = !above(most / 4, late, since);
    if (!first && little && now_times > 1 && since < WINDOWS_OF_LITTLE * budget.window_ticks)
        return now_times; /* a longer time decides */
    t->sampling_since = now;
    t->sampling_before = t->counts.sampling_ticks;
    if (first)
        return now_times;
    if (much && (!asked || is_used_up(t, now)))
        return now_times * 2;
    return little && now_times > 1 && !is_used_up(t, now) ? now_times / 2 : now_times;
}

/* The samples of a group are complete: they stand for all calls since the last one. */
static void end_group(struct lc_thread *t) {
    uint64_t n = t->sample_calls + LC_SAMPLE_GROUP;
    t->counts.sampled_calls += n;
    t->counts.call_ticks += t->group_ticks * n / (LC_SAMPLE_GROUP - 1);
    t->group_ticks = 0;
    t->cost_groups++;
}

static void next_group(struct lc_thread *t, uint64_t now) {
    /* at first often, so that short runs have samples */
    uint32_t every = t->sample_calls < LC_SAMPLE_EVERY / 2 ? t->sample_calls * 2 : LC_SAMPLE_EVERY;
    if (t->steps_due) /* sites that are to be measured with less detail are looked for */
        every = 4 * LC_SAMPLE_GROUP;
    every = every * 3 / 4 + (uint32_t)(lc_hash_key(now) >> 40) % (every / 2);
    t->until_sample = (int32_t)every;
    t->sample_calls = every;
}

/* A call at which samples were read takes longer than others, as what it needs has left the caches:
 * that is theirs, and is booked wherever they are read. */
static uint64_t without_samples(struct lc_thread *t, uint64_t cost) {
    uint64_t usual = t->usual_ticks;
    if (usual == 0 || cost <= usual)
        return cost;
    t->slowed_ticks = (t->slowed_ticks * 7 + (cost - usual)) / 8;
    return usual;
}

/* Of a call that is measured: its own work after its end takes so long as a rule. */
static void note_end(struct lc_thread *t, uint64_t ticks) {
    uint64_t usual = t->own_ticks;
    if (t->counts.sampled_calls == 0) { /* the first group: its least */
        t->own_ticks = (uint32_t)(usual == 0 || ticks < usual ? ticks : usual);
        return;
    }
    if (usual != 0 && ticks > OWN_TIMES * usual) /* the thread was interrupted */
        ticks = OWN_TIMES * usual;
    t->own_ticks = (uint32_t)(usual == 0 ? ticks : (usual * 15 + ticks) / 16);
}

LC_COLD void lc_sample_end_cold(struct lc_call *call) {
    struct lc_thread *t = call->thread;
    uint64_t now = lc_ticks();
    if (t->sample_ticks < call->begin || t->sample_ticks > call->end)
        return; /* of a call that has no sample */
    uint64_t cost = t->sample_ticks - call->begin + (now - call->end);
    cost -= cost > budget.sample_ticks ? budget.sample_ticks : 0;
    cost += budget.outside_ticks;
    if (t->until_sample == 0) { /* the first one of a group is slowed down by code that is rare */
        t->group_ticks = 0;
        return;
    }
    /* Much more than usual: the thread was interrupted. */
    if (t->usual_ticks != 0 && cost > COST_TIMES * t->usual_ticks)
        cost = COST_TIMES * t->usual_ticks;
    uint64_t after = now - call->end, stamps = budget.sample_ticks / 2;
    note_end(t, after > stamps ? after - stamps : 0);
    if (t->samples_ticks == call->begin)
        cost = without_samples(t, cost);
    t->usual_ticks = t->usual_ticks == 0 ? cost : (t->usual_ticks * 15 + cost) / 16 + 1;
    t->group_ticks += cost;
    add_cost(t, call->entry->ra, call->fn, cost * t->sample_calls / (LC_SAMPLE_GROUP - 1), false);
    bool controlled = is_controlled(call);
    if (controlled)
        step_if_due(t, call->fn, call->entry->ra, call->entry);
    if (t->until_sample > 1 - LC_SAMPLE_GROUP)
        return;
    end_group(t);
    t->until_sample = (int32_t)t->sample_calls;
    if (controlled)
        control(t, now);
    next_group(t, now);
}
