#include "measure/samples/sampler_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include "base/hash.h"
#include "base/hot_data.h"
#include "base/timer.h"
#include "base/what_if_spec.h"
#include "format/omp_construct.h"
#include "measure/core/core.h"
#include "measure/callpath/budget.h"
#include "measure/callpath/python_stack.h"
#include "measure/samples/timer_ring.h"

enum {
    SLOWER = 64,          /* the second ring: that many fewer samples */
    RING_LEAST = 1 << 16, /* what the kernel grants is limited, per user */
    RING_FIRST = 1 << 18, /* some 100 samples with the smallest copy of the stack */
    RING_MOST = 1 << 20,  /* where the time between two events needs it */
    SLOW_BYTES = 1 << 15,
    LEAVING_BYTES = 1 << 15,
    STACK_FIRST = 1 << 11, /* of the stack, in each sample; at most LC_PERF_STACK */
    PERIODS_MOST = 32,     /* the rate may fall to this part of what was asked for */
    PERIODS_COSTLY = 16,   /* where each takes long */
    PERIODS_SWITCHING = 8, /* and does to this one where the thread leaves the processor often, so
                              that the sample's timer is seldom the next one */
    ENOUGH = 8,            /* samples before the copy is made larger */
    SAME_PERIOD = 64,      /* samples with one period, then it is another one */
    OFTEN = 16,            /* the ring was full, and seldom */
    SELDOM = -64,
    THREADS = 256, /* most that are sampled at once */
    /* To start and to end takes 50 to 250 us of a thread, and some programs make their threads anew
     * for each region: so many may start, and another one whenever so much time is over. */
    STARTS = THREADS,
    START_EVERY_MS = 16
};

/* of the time, for switches: above it the thread leaves the processor often */
static const double SWITCHING_SHARE = 0.004;

/* what threads without samples look at */
static LC_HOT_DATA uint64_t zero;
static LC_HOT_DATA const uint64_t *nothing = &zero;
/* The heads of rings, [THREADS]: a child of fork finds NULL, as the kernel gives it no ring. NULL:
 * there is no such memory, nothing is sampled. */
static const uint64_t **heads;
static _Atomic bool taken[THREADS]; /* which of them belong to a thread */
static _Atomic uint32_t n_taken;
static _Atomic uint32_t n_starts;
static uint64_t begin_ns; /* of the run */
struct lc_sampling lc_sampling;

static bool scenarios_name_functions(void) {
    const char *at = lc_option("LATECOMER_WHAT_IF");
    struct lc_what_if_term term;
    unsigned scenario = 0;
    bool found = true;
    while (at != NULL && lc_what_if_next(&at, &scenario, &term, &found) == LC_OK && found)
        if (term.part == LC_WHAT_IF_CODE && !lc_omp_is_construct(term.name))
            return true;
    return false;
}

static void start(struct lc_stub *stub) {
    (void)stub;
    const char *text = lc_option("LATECOMER_SAMPLE");
    lc_counting_init();
    lc_sampling.asked = (text != NULL && *text != '\0') || scenarios_name_functions();
    struct lc_sample_choice choice;
    if (!lc_sample_choose(text, &choice) || choice.rate <= 0 ||
        lc_core.callpath == LC_CALLPATH_NONE)
        return;
    size_t bytes = THREADS * sizeof *heads;
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED || madvise(memory, bytes, MADV_WIPEONFORK) != 0)
        return;
    if (choice.timer && !lc_timer_ring_init(lc_python_note))
        return;
    heads = memory;
    lc_sampling.by_timer = choice.timer;
    begin_ns = lc_monotonic_raw_ns();
    lc_core.sample_period_ns = lc_perf_period_ns(choice.rate);
    atomic_store_explicit(&lc_core.samples_rarer, 1, memory_order_relaxed);
}

/* A filter of the program's own may kill it for a system call that it does not expect. */
static bool filters_calls(void) {
    enum { FILTER = 2 };
    return prctl(PR_GET_SECCOMP) == FILTER && lc_option("LATECOMER_SAMPLE_FILTERED") == NULL;
}

static void none(struct lc_thread *t) {
    t->sample_head = &nothing;
    t->sample_seen = lc_samples_seen(t, 0);
    t->long_gap = UINT64_MAX;
}

/* As large as the kernel grants: what the processes of a user may have is limited. */
static bool open_fast(struct lc_sampler *s, uint64_t period, uint32_t stack_bytes, uint64_t bytes) {
    const struct lc_perf_wanted wanted = {.period_ns = lc_perf_jittered(period, s->n_opened++),
                                          .stack_bytes = stack_bytes,
                                          .switches = true,
                                          .timer = lc_sampling.by_timer};
    int error = EPERM;
    s->period_ns = period;
    s->n_samples = 0;
    for (; error == EPERM && bytes >= RING_LEAST; bytes /= 2)
        error = lc_perf_ring_open(&s->fast, &wanted, bytes);
    if (error != 0)
        return false;
    heads[s->number] = lc_perf_ring_head(&s->fast);
    return true;
}

/* Without the slow ring long times lose their end, without that of leaving time off the processor
 * has no function: where the thread leaves the processor often, what the kernel takes for them then
 * is too much. */
static void open_others(struct lc_sampler *s, uint32_t stack_bytes) {
    const struct lc_perf_wanted slow = {.period_ns = lc_core.sample_period_ns * SLOWER,
                                        .stack_bytes = stack_bytes,
                                        .timer = lc_sampling.by_timer};
    const struct lc_perf_wanted leaving = {.stack_bytes = stack_bytes};
    if (s->switches.how_often == LC_SWITCHES_SELDOM)
        lc_perf_ring_open(&s->slow, &slow, SLOW_BYTES);
    if (s->switches.how_often < LC_SWITCHES_ALWAYS && !lc_sampling.by_timer)
        lc_perf_ring_open(&s->leaving, &leaving, LEAVING_BYTES);
}

static void close_all(struct lc_sampler *s) {
    lc_perf_ring_close(&s->fast);
    lc_perf_ring_close(&s->slow);
    lc_perf_ring_close(&s->leaving);
}

static enum lc_err make(struct lc_thread *t) {
    none(t);
    return LC_OK;
}

/* Is it one of those that share a rate? */
static bool shares_rate(const struct lc_sampler *s) {
    return lc_core.openmp && !lc_sampling.asked && s->number > 0;
}

static uint64_t first_bytes(const struct lc_sampler *s) {
    return shares_rate(s) ? RING_LEAST : RING_FIRST;
}

/* Are its events there in some windows of time only? Not where a rate was asked for; and a timer
 * takes nothing when its thread leaves the processor. */
static bool rests(const struct lc_sampler *s) {
    return s->switches.how_often == LC_SWITCHES_ALWAYS && !lc_sampling.asked &&
           !lc_sampling.by_timer;
}

static uint64_t least_period(const struct lc_thread *t, const struct lc_sampler *s) {
    uint64_t periods = t->samples_rarer > 1 ? t->samples_rarer : 1;
    uint32_t n = atomic_load_explicit(&n_taken, memory_order_relaxed);
    while (shares_rate(s) && periods + 1 < n && periods < PERIODS_MOST)
        periods *= 2;
    periods *= atomic_load_explicit(&lc_core.samples_rarer, memory_order_relaxed);
    if (s->switches.how_often > LC_SWITCHES_SELDOM && !rests(s) && periods < PERIODS_SWITCHING)
        periods = PERIODS_SWITCHING;
    return lc_core.sample_period_ns * (periods < PERIODS_MOST ? periods : PERIODS_MOST);
}

/* By the first thread, before its first ring is opened. */
static void fit_cost(void) {
    static atomic_flag begun = ATOMIC_FLAG_INIT;
    if (lc_sampling.by_timer || atomic_flag_test_and_set_explicit(&begun, memory_order_relaxed))
        return;
    uint64_t ticks = lc_sample_cost_measure(lc_perf_copies_stack() ? STACK_FIRST : 0);
    lc_sampling.switch_cost = lc_switch_cost_measure();
    atomic_store_explicit(&lc_sampling.kernel_ticks, ticks, memory_order_relaxed);
    if (!lc_sampling.asked)
        atomic_store_explicit(&lc_core.samples_rarer,
                              lc_sample_periods((double)ticks * lc_sampler_ns_per_tick(),
                                                lc_core.sample_period_ns, PERIODS_COSTLY),
                              memory_order_relaxed);
}

/* Ticks that the kernel takes whenever the thread leaves the processor and comes back. */
static double cost_of_switch(const struct lc_sampler *s) {
    const struct lc_switch_cost *cost = &lc_sampling.switch_cost;
    if (s->fast.page == NULL)
        return 0;
    int others = (s->slow.page != NULL) + (s->leaving.page != NULL);
    return lc_switch_cost_of(cost, s->period_ns) + others * cost->later;
}

/* What the kernel took since then is the tool's, but no reason for fewer samples. Who waits in MPI
 * and gives its core to others in between loses nothing by it: switches count by the share of time
 * outside of calls. */
static void book_switches(struct lc_thread *t, struct lc_sampler *s) {
    if (lc_sampling.by_timer)
        return;
    struct lc_switches_booked now = {lc_switches_now(), lc_ticks(), t->outside_ticks};
    double outside = (double)(now.outside_ticks - s->booked.outside_ticks);
    double share =
        now.ticks > s->booked.ticks ? outside / (double)(now.ticks - s->booked.ticks) : 0;
    uint64_t n = now.switches > s->booked.switches ? now.switches - s->booked.switches : 0;
    uint64_t ticks = (uint64_t)((double)n * (share < 1 ? share : 1) * cost_of_switch(s));
    s->booked = now;
    t->counts.own_ticks += ticks;
    t->counts.sampling_ticks += ticks;
    t->sampling_before += ticks;
}

/* Such a rate that the kernel takes SWITCHING_SHARE for all rings. */
static double often_per_s(const struct lc_sampler *s) {
    double ns = cost_of_switch(s) * lc_sampler_ns_per_tick();
    return ns > 0 && !lc_sampling.by_timer && !lc_sampling.asked ? SWITCHING_SHARE * 1e9 / ns : 0;
}

/* One that no thread has: its number; THREADS: there is none. */
static uint32_t take_head(void) {
    uint32_t i = 0;
    while (i < THREADS && atomic_exchange_explicit(&taken[i], true, memory_order_acquire))
        i++;
    if (i < THREADS)
        atomic_fetch_add_explicit(&n_taken, 1, memory_order_relaxed);
    return i;
}

static void give_head_back(uint32_t number) {
    atomic_fetch_sub_explicit(&n_taken, 1, memory_order_relaxed);
    atomic_store_explicit(&taken[number], false, memory_order_release); /* partner: take_head */
}

/* Has sampling been started often enough for now? */
static bool starts_too_often(void) {
    uint64_t since_ms = (lc_monotonic_raw_ns() - begin_ns) / 1000000;
    return atomic_load_explicit(&n_starts, memory_order_relaxed) >=
           STARTS + since_ms / START_EVERY_MS;
}

/* NULL: there is no room for another thread. */
static struct lc_sampler *sampler_new(struct lc_thread *t) {
    uint32_t stack_bytes = lc_perf_copies_stack() ? STACK_FIRST : 0, number = take_head();
    if (number == THREADS)
        return NULL;
    struct lc_sampler *s = calloc(1, sizeof *s);
    if (s != NULL) {
        s->times = 1;
        s->number = number;
        s->asked_bytes = first_bytes(s);
        s->random = lc_hash_key(lc_ticks()) | 1;
    }
    if (s == NULL || !open_fast(s, least_period(t, s), stack_bytes, s->asked_bytes)) {
        free(s);
        give_head_back(number);
        return NULL;
    }
    open_others(s, stack_bytes);
    s->switches.often_per_s = often_per_s(s);
    s->booked = (struct lc_switches_booked){lc_switches_now(), lc_ticks(), t->outside_ticks};
    return s;
}

static void sampler_free(struct lc_sampler *s) {
    close_all(s);
    give_head_back(s->number);
    free(s->rows.rows);
    free(s->addresses.rows);
    free(s);
}

static void begin(struct lc_thread *t) {
    lc_counting_begin(t);
    none(t);
    if (lc_core.sample_period_ns == 0 || filters_calls())
        return;
    if (!lc_sampling.asked && starts_too_often()) {
        t->counts.short_threads++;
        return;
    }
    fit_cost();
    struct lc_sampler *s = sampler_new(t);
    if (s == NULL) {
        t->counts.refused_threads++;
        return;
    }
    atomic_fetch_add_explicit(&n_starts, 1, memory_order_relaxed);
    t->sampler = s;
    t->sample_head = &heads[s->number];
}

static void fit_budget(struct lc_thread *t) {
    uint32_t was = t->samples_rarer == 0 ? 1 : t->samples_rarer;
    uint32_t rarer = lc_budget_samples_rarer(t, was, lc_sampling.asked);
    if (rarer == was || rarer > PERIODS_MOST)
        return;
    t->samples_rarer = rarer;
    if (rarer > t->samples_rarest)
        t->samples_rarest = rarer;
}

/* Where the time between two events is so long that its samples have no room, the ring grows; then
 * there are enough with fewer. */
static bool fit_ring(struct lc_sampler *s, uint64_t least, uint64_t *period, uint64_t *bytes) {
    if (*period < least) {
        *period = least;
        return true;
    }
    s->how_often += s->full ? 4 : -1;
    if (s->full && *bytes < RING_MOST && s->fast.bytes == s->asked_bytes) {
        *bytes *= 2;
        return true;
    }
    if (s->how_often < OFTEN && s->how_often > SELDOM)
        return false;
    uint64_t other = s->how_often > 0 ? *period * 2 : *period / 2;
    s->how_often = 0;
    if (other < least || other > lc_core.sample_period_ns * PERIODS_MOST)
        return false;
    *period = other;
    return true;
}

/* Where functions have large frames, the copies of the stack must be larger. */
static bool fit_stack(struct lc_sampler *s, uint32_t *stack_bytes) {
    if (s->looked < ENOUGH)
        return false;
    bool larger = s->cut * 16 > s->looked && *stack_bytes < LC_PERF_STACK;
    s->looked = s->cut = 0;
    if (larger)
        *stack_bytes *= 2;
    return larger;
}

static void give_up(struct lc_thread *t, struct lc_sampler *s) {
    none(t);
    t->sampler = NULL;
    sampler_free(s);
}

static void reopen(struct lc_thread *t, struct lc_sampler *s, uint64_t period, uint32_t stack_bytes,
                   uint64_t bytes) {
    s->asked_bytes = bytes;
    if (!open_fast(s, period, stack_bytes, bytes)) {
        give_up(t, s);
        t->counts.refused_threads++;
        return;
    }
    s->out_ns = 0;
    t->sample_seen = lc_samples_seen(t, 0);
}

/* A window is from one time that calls were measured to the next. */
static void next_window(struct lc_thread *t, struct lc_sampler *s) {
    uint64_t now = lc_monotonic_raw_ns();
    book_switches(t, s);
    s->times = lc_switches_window(now - s->window_ns, lc_sampler_draw(s));
    s->window_ns = now;
    s->group = t->cost_groups;
    s->long_gap = (uint64_t)(LC_LONG_GAP_NS / lc_sampler_ns_per_tick());
    t->long_gap = s->times == 0 ? s->long_gap : UINT64_MAX;
    if (s->times == 0) {
        close_all(s);
        heads[s->number] = &t->cost_groups;
        t->sample_seen = lc_samples_seen(t, t->cost_groups);
        s->cpu_ns = lc_thread_cpu_ns();
        lc_off_cpu_look(&s->off, 0, NULL);
    } else if (s->fast.page == NULL) {
        reopen(t, s, least_period(t, s), s->fast.stack_bytes, RING_LEAST);
    }
}

/* The kernel stops and starts each event when the thread leaves the processor and comes back: where
 * it does that often, fewer events must do, and a timer that is seldom the next one; where it
 * always does, one now and then. */
void lc_sampler_fit_switches(struct lc_thread *t, struct lc_sampler *s) {
    uint32_t stack_bytes = s->fast.stack_bytes;
    uint64_t since_ns = s->switches.since_ns;
    bool changed = lc_switch_rate_changed(&s->switches);
    if (s->switches.since_ns != since_ns)
        book_switches(t, s);
    if (!changed) {
        if (rests(s) && s->group != t->cost_groups)
            next_window(t, s);
        return;
    }
    s->times = 1;
    t->long_gap = UINT64_MAX;
    close_all(s);
    open_others(s, stack_bytes);
    reopen(t, s, least_period(t, s), stack_bytes, first_bytes(s));
}

void lc_sampler_adapt(struct lc_thread *t, struct lc_sampler *s) {
    if (lc_sampling.by_timer &&
        !lc_timer_ring_ours()) { /* the program wants the signal for itself */
        give_up(t, s);
        return;
    }
    fit_budget(t);
    uint64_t period = s->period_ns, bytes = s->fast.bytes, least = least_period(t, s);
    uint32_t stack_bytes = s->fast.stack_bytes;
    bool other_ring = fit_ring(s, least, &period, &bytes), other_stack = fit_stack(s, &stack_bytes);
    if (!other_ring && !other_stack && s->n_samples < SAME_PERIOD) {
        lc_sampler_fit_switches(t, s);
        return;
    }
    lc_perf_ring_close(&s->fast);
    if (other_stack) {
        close_all(s);
        open_others(s, stack_bytes);
    }
    reopen(t, s, period, stack_bytes, bytes);
}

static void end(struct lc_thread *t) {
    struct lc_sampler *s = t->sampler;
    bool forked = *t->sample_head == NULL;
    lc_counting_end(t);
    none(t);
    t->sampler = NULL;
    if (s != NULL && !forked) {
        book_switches(t, s);
        sampler_free(s);
    }
}

void lc_sampler_forked(struct lc_thread *t) {
    t->counting = NULL;
    none(t);
    t->sampler = NULL;
}

static void thread_new(struct lc_call *call) {
    begin(call->thread);
}

static void thread_end(struct lc_call *call) {
    end(call->thread);
}

const struct lc_part lc_samples_part = {.start = start,
                                        .thread_make = make,
                                        .thread_new = thread_new,
                                        .thread_end = thread_end,
                                        .thread_leaves = end,
                                        .thread_takes_over = begin,
                                        .fork = lc_sampler_forked};
