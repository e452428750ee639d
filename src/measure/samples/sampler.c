#include "measure/samples/sampler.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include "base/hash.h"
#include "base/none.h"
#include "base/timer.h"
#include "base/what_if_spec.h"
#include "format/omp_construct.h"
#include "measure/clocks/clocks_hooks.h"
#include "measure/core/core.h"
#include "measure/clocks/own_work.h"
#include "measure/callpath/budget.h"
#include "measure/core/core_parts.h"
#include "measure/callpath/entry.h"
#include "measure/samples/off_cpu.h"
#include "measure/samples/perf_ring.h"
#include "measure/samples/sample_nodes.h"
#include "measure/samples/sample_rows.h"
#include "measure/samples/switch_rate.h"
#include "measure/samples/timer_ring.h"
#include "measure/core/state_write.h"
#include "measure/trace/trace_area.h"

enum {
    SLOWER = 64,          /* the second ring: that many fewer samples */
    RING_LEAST = 1 << 16, /* what the kernel grants is limited, per user */
    RING_FIRST = 1 << 18, /* some 100 samples with the smallest copy of the stack */
    RING_MOST = 1 << 20,  /* where the time between two events needs it */
    SLOW_BYTES = 1 << 15,
    LEAVING_BYTES = 1 << 15,
    STACK_FIRST = 1 << 11, /* of the stack, in each sample; at most LC_PERF_STACK */
    PERIODS_MOST = 32,     /* the rate may fall to this part of what was asked for */
    PERIODS_SWITCHING = 8, /* and does to this one where the thread leaves the processor often */
    ENOUGH = 8,            /* samples before the copy is made larger */
    SAME_PERIOD = 24,      /* samples with one period, then it is another one */
    OFTEN = 16,            /* the ring was full, and seldom */
    SELDOM = -64,
    THREADS = 256, /* most that are sampled at all: starting it takes some 50 us each */
    PLACES = 64    /* different nodes in the time between two events; more are joined */
};

struct place {
    uint32_t node;
    uint32_t count;
    uint64_t weight_ns, squares_us2;
    uint64_t units; /* the weight in LC_RAW_SAMPLE_UNIT_NS, rounded for each sample alike */
    uint64_t off_ns;
    double share_ns;
};

struct lc_sampler {
    struct lc_perf_ring fast, slow, leaving;
    uint32_t number;      /* of its head */
    uint64_t asked_bytes; /* of the fast ring */
    uint64_t period_ns;   /* of the fast ring, on average */
    uint32_t n_opened;    /* how often it was */
    uint32_t n_samples;   /* in it since */
    uint32_t looked, cut; /* samples since the copy had its size; those that it was too small for */
    bool full;            /* the time between two events has filled the fast ring */
    int32_t how_often;    /* falls where it has not */
    struct lc_switch_rate switches;
    struct lc_off_cpu off; /* where a timer samples */
    struct lc_sample_rows rows, addresses;
    uint64_t out_ns;   /* off the processor since; 0: it is on it */
    uint32_t out_node; /* where */
    uint64_t since_ns; /* begin of the time that is looked at, where a timer tells of it */
    uint64_t seen_ns;  /* and when such a look was last taken */
    struct lc_perf_record record, left;
    bool left_waits;      /* `left` is of a time that has not come */
    uint32_t asleep_node; /* of the last one whose time has */
    struct place places[PLACES];
    uint32_t n_places;
    struct lc_sample_scratch scratch;
    struct lc_trace_stream *trace;   /* of the time that is looked at; NULL: it is not recorded */
    uint64_t begin_ticks, end_ticks; /* of that time, where it is */
    uint64_t now_ticks, now_ns;      /* the same instant on both clocks */
    double ns_per_tick;
    uint32_t self;   /* node for the samples of the exact node itself */
    uint64_t random; /* xorshift */
};

static const uint64_t zero; /* what threads without samples look at */
static const uint64_t *const nothing = &zero;
/* The heads of rings, [THREADS]: a child of fork finds NULL, as the kernel gives it no ring. NULL:
 * there is no such memory, nothing is sampled. */
static const uint64_t **heads;
static _Atomic uint32_t n_started;
/* --sample was given, or a scenario names functions. Else nothing is sampled in teams of OpenMP:
 * their waiting is made of differences of a few microseconds, which reading samples would blur. */
static bool asked;
static bool by_timer;

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
    asked = (text != NULL && *text != '\0') || scenarios_name_functions();
    struct lc_sample_choice choice;
    if (!lc_sample_choose(text, &choice) || choice.rate <= 0 ||
        lc_core.callpath == LC_CALLPATH_NONE)
        return;
    size_t bytes = THREADS * sizeof *heads;
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED || madvise(memory, bytes, MADV_WIPEONFORK) != 0)
        return;
    if (choice.timer && !lc_timer_ring_init())
        return;
    heads = memory;
    by_timer = choice.timer;
    lc_core.sample_period_ns = lc_perf_period_ns(choice.rate);
}

/* A filter of the program's own may kill it for a system call that it does not expect. */
static bool filters_calls(void) {
    enum { FILTER = 2 };
    return prctl(PR_GET_SECCOMP) == FILTER && lc_option("LATECOMER_SAMPLE_FILTERED") == NULL;
}

static void none(struct lc_thread *t) {
    t->sample_head = &nothing;
    t->sample_seen = 0;
}

/* As large as the kernel grants: what the processes of a user may have is limited. */
static bool open_fast(struct lc_sampler *s, uint64_t period, uint32_t stack_bytes, uint64_t bytes) {
    const struct lc_perf_wanted wanted = {.period_ns = lc_perf_jittered(period, s->n_opened++),
                                          .stack_bytes = stack_bytes,
                                          .switches = true,
                                          .timer = by_timer};
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

/* Without them long times lose their end, and time off the processor its function. */
static void open_others(struct lc_sampler *s, uint32_t stack_bytes) {
    const struct lc_perf_wanted slow = {.period_ns = lc_core.sample_period_ns * SLOWER,
                                        .stack_bytes = stack_bytes,
                                        .timer = by_timer};
    const struct lc_perf_wanted leaving = {.stack_bytes = stack_bytes};
    lc_perf_ring_open(&s->slow, &slow, SLOW_BYTES);
    if (!by_timer)
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

static void begin(struct lc_thread *t) {
    none(t);
    if (lc_core.sample_period_ns == 0 || filters_calls())
        return;
    uint32_t number = atomic_fetch_add_explicit(&n_started, 1, memory_order_relaxed);
    uint32_t stack_bytes = lc_perf_copies_stack() ? STACK_FIRST : 0;
    if (number >= THREADS || (number > 0 && !asked && lc_core.openmp))
        return;
    struct lc_sampler *s = calloc(1, sizeof *s);
    if (s != NULL)
        s->number = number;
    if (s == NULL || !open_fast(s, lc_core.sample_period_ns, stack_bytes, RING_FIRST)) {
        free(s);
        return;
    }
    open_others(s, stack_bytes);
    s->asked_bytes = RING_FIRST;
    s->random = lc_hash_key(lc_ticks()) | 1;
    t->sampler = s;
    t->sample_head = &heads[number];
}

static uint64_t least_period(const struct lc_thread *t, const struct lc_sampler *s) {
    uint64_t periods = s->switches.high ? PERIODS_SWITCHING : 1;
    return lc_core.sample_period_ns * (periods > t->samples_rarer ? periods : t->samples_rarer);
}

static void fit_budget(struct lc_thread *t) {
    uint32_t rarer = t->samples_rarer == 0 ? 1 : t->samples_rarer;
    if (rarer < PERIODS_MOST && lc_budget_samples_rarer(t))
        t->samples_rarer = rarer * 2;
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
    close_all(s);
    none(t);
    t->sampler = NULL;
    free(s->rows.rows);
    free(s->addresses.rows);
    free(s);
}

static void reopen(struct lc_thread *t, struct lc_sampler *s, uint64_t period, uint32_t stack_bytes,
                   uint64_t bytes) {
    s->asked_bytes = bytes;
    if (!open_fast(s, period, stack_bytes, bytes)) {
        give_up(t, s);
        return;
    }
    s->out_ns = 0;
    t->sample_seen = 0;
}

/* The kernel stops and starts each event when the thread leaves the processor and comes back: where
 * it does that often, one event must do, without the function that each time off it began in. */
static void fit_switches(struct lc_thread *t, struct lc_sampler *s) {
    uint32_t stack_bytes = s->fast.stack_bytes;
    uint64_t bytes = s->fast.bytes;
    if (!lc_switch_rate_changed(&s->switches))
        return;
    close_all(s);
    if (!s->switches.high)
        open_others(s, stack_bytes);
    reopen(t, s, least_period(t, s), stack_bytes, bytes);
}

static void adapt(struct lc_thread *t, struct lc_sampler *s) {
    if (by_timer && !lc_timer_ring_ours()) { /* the program wants the signal for itself */
        give_up(t, s);
        return;
    }
    fit_budget(t);
    uint64_t period = s->period_ns, bytes = s->fast.bytes, least = least_period(t, s);
    uint32_t stack_bytes = s->fast.stack_bytes;
    bool other_ring = fit_ring(s, least, &period, &bytes), other_stack = fit_stack(s, &stack_bytes);
    if (!other_ring && !other_stack && s->n_samples < SAME_PERIOD) {
        fit_switches(t, s);
        return;
    }
    lc_perf_ring_close(&s->fast);
    if (other_stack && !s->switches.high) {
        close_all(s);
        open_others(s, stack_bytes);
    }
    reopen(t, s, period, stack_bytes, bytes);
}

static void end(struct lc_thread *t) {
    struct lc_sampler *s = t->sampler;
    bool forked = *t->sample_head == NULL;
    none(t);
    t->sampler = NULL;
    if (s == NULL || forked)
        return;
    close_all(s);
    free(s->rows.rows);
    free(s->addresses.rows);
    free(s);
}

/* No memory of the ring is there any more. */
static void forked_child(struct lc_thread *t) {
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
                                        .fork = forked_child};

/* ---- what fell into the time since the last event */

static struct place *place_of(struct lc_sampler *s, uint32_t node) {
    for (uint32_t i = 0; i < s->n_places; i++)
        if (s->places[i].node == node)
            return &s->places[i];
    if (s->n_places == PLACES)
        return &s->places[0]; /* the exact node itself */
    s->places[s->n_places] = (struct place){.node = node};
    return &s->places[s->n_places++];
}

static uint32_t node_of(struct lc_thread *t, struct lc_sampler *s, uint32_t at,
                        const struct lc_perf_record *record, uint64_t *address) {
    bool cut;
    uint32_t node = lc_sample_node(t, at, record, &s->scratch, &cut, address);
    s->looked++;
    s->cut += cut;
    return node;
}

static double measured_ns_per_tick(void) {
    uint64_t ticks = lc_ticks(), ns = lc_monotonic_raw_ns();
    return ticks > lc_timer.base_ticks && ns > lc_timer.base_ns
               ? (double)(ns - lc_timer.base_ns) / (double)(ticks - lc_timer.base_ticks)
               : 1.0;
}

/* Samples in [t->last_ticks, end_ticks) are to be recorded, where events are. */
static void begin_recording(const struct lc_thread *t, struct lc_sampler *s, uint32_t mode,
                            uint64_t end_ticks) {
    bool wanted = (mode & LC_TRACE_RECORDING) == LC_TRACE_RECORDING && lc_tracing.samples;
    s->trace = wanted ? t->trace : NULL;
    if (s->trace == NULL)
        return;
    s->begin_ticks = t->last_ticks;
    s->end_ticks = end_ticks;
    s->now_ticks = lc_ticks();
    s->now_ns = lc_monotonic_raw_ns();
    s->ns_per_tick = measured_ns_per_tick();
}

/* What the ring tells of a time before now, to the trace. */
static void record(const struct lc_sampler *s, uint32_t node, uint64_t time_ns,
                   uint32_t generator) {
    if (s->trace == NULL)
        return;
    double ago = s->now_ns > time_ns ? (double)(s->now_ns - time_ns) / s->ns_per_tick : 0;
    uint64_t ticks = s->now_ticks - (uint64_t)ago;
    ticks = ticks > s->begin_ticks ? ticks : s->begin_ticks;
    ticks = ticks < s->end_ticks ? ticks : s->end_ticks;
    lc_trace_put2(s->trace, lc_rec_word(LC_REC_SAMPLE, ticks - s->trace->base_ticks),
                  node | (uint64_t)generator << 32);
    lc_trace_renew_if_full(s->trace); /* the next call needs its room */
}

/* Which clock: the thread's period is that of the run times a power of two. */
static uint32_t clock_of(uint64_t period_ns) {
    uint32_t generator = LC_REC_CLOCK;
    for (uint64_t ns = lc_core.sample_period_ns;
         ns * 2 <= period_ns && generator < LC_REC_CLOCK_LAST; ns *= 2)
        generator++;
    return generator;
}

static void add_address(struct lc_thread *t, struct lc_sampler *s, uint32_t node, uint64_t address,
                        uint64_t weight) {
    struct lc_state_row *row = lc_sample_row(t, &s->addresses, LC_RAW_CLASS_ADDRESS, node, address);
    if (row == NULL)
        return;
    row->count++;
    row->sum += weight;
}

static void take_sample(struct lc_thread *t, struct lc_sampler *s, uint32_t at, uint64_t weight,
                        uint32_t generator) {
    uint64_t address;
    uint32_t node = node_of(t, s, at, &s->record, &address);
    struct place *p = place_of(s, node);
    if (p->node == node && address != 0)
        add_address(t, s, node, address, weight);
    record(s, p->node, s->record.time_ns, generator);
    s->n_samples++;
    p->count++;
    p->weight_ns += weight;
    p->squares_us2 += weight / 1000 * (weight / 1000);
    p->units += weight / LC_RAW_SAMPLE_UNIT_NS;
}

static uint64_t head_of(const struct lc_perf_ring *ring) {
    return __atomic_load_n(lc_perf_ring_head(ring), __ATOMIC_ACQUIRE);
}

/* A thread that waits outside of a system call waits for a page. */
static uint64_t waits_for(const struct lc_perf_record *left) {
    bool in_call = (int64_t)left->registers[LC_PERF_AX] == LC_PERF_AX_IN_CALL;
    return left->stack_bytes == 0 || in_call ? LC_RAW_OFF_CPU : LC_RAW_PAGE_FAULT;
}

/* Which function has left the processor, at that time: a sample was taken right before the
 * record of the switch was written. Where there are too many switches for that, it was the same as
 * the last time since the last event. */
static uint32_t where_off(struct lc_thread *t, struct lc_sampler *s, uint32_t at, uint64_t time_ns,
                          bool waits) {
    uint64_t head = s->leaving.page != NULL ? head_of(&s->leaving) : 0;
    bool found = false;
    uint64_t address;
    while (s->leaving.page != NULL &&
           (s->left_waits || lc_perf_ring_next(&s->leaving, head, &s->left))) {
        s->left_waits = s->left.time_ns > time_ns;
        if (s->left_waits)
            break;
        found = s->left.kind == LC_PERF_SAMPLE;
    }
    if (found) {
        s->left.in_kernel = false;
        uint32_t node = lc_sample_special(node_of(t, s, at, &s->left, &address),
                                          waits ? waits_for(&s->left) : LC_RAW_PREEMPTED);
        if (!waits)
            return node;
        s->asleep_node = node;
    }
    if (!waits)
        return lc_sample_special(at, LC_RAW_PREEMPTED);
    return s->asleep_node != 0 ? s->asleep_node : lc_sample_special(at, LC_RAW_OFF_CPU);
}

static void add_off(struct lc_sampler *s, uint32_t node, uint64_t ns) {
    struct place *p = place_of(s, node);
    p->count++;
    p->off_ns += ns;
}

static void take_switch(struct lc_thread *t, struct lc_sampler *s, uint32_t at) {
    const struct lc_perf_record *r = &s->record;
    if (r->kind != LC_PERF_IN) {
        s->out_ns = r->time_ns;
        s->out_node = where_off(t, s, at, r->time_ns, r->kind == LC_PERF_OUT);
        record(s, s->out_node, r->time_ns, LC_REC_SCHEDULER);
        return;
    }
    uint64_t out_ns = s->out_ns > s->since_ns ? s->out_ns : s->since_ns;
    if (s->out_ns != 0 && r->time_ns > out_ns)
        add_off(s, s->out_node, r->time_ns - out_ns);
    if (s->out_ns != 0)
        record(s, at, r->time_ns, LC_REC_SCHEDULER);
    s->out_ns = 0;
}

/* Timers tell of time off the processor at their ticks, wherever it began; that since the last one
 * must be asked for. */
static void begin_of_look(struct lc_thread *t, struct lc_sampler *s) {
    if (!by_timer)
        return;
    uint64_t now = lc_monotonic_raw_ns();
    s->since_ns = now - (uint64_t)((double)(lc_ticks() - t->last_ticks) * lc_timer.ns_per_tick);
    if (s->since_ns < s->seen_ns)
        s->since_ns = s->seen_ns;
    s->seen_ns = now;
}

/* Timers do not tell what it was for: counters of the kernel do, of the time since they were looked
 * at last. */
static void divide_off(struct lc_sampler *s, uint32_t at) {
    struct place *off = place_of(s, lc_sample_special(at, LC_RAW_OFF_CPU));
    struct lc_off_cpu_parts parts;
    lc_off_cpu_look(&s->off, off->off_ns, &parts);
    uint64_t core_ns = parts.core_ns, rest_ns = off->off_ns - core_ns;
    if (core_ns + rest_ns == 0)
        return;
    off->count = 0;
    off->off_ns = 0;
    if (core_ns > 0)
        add_off(s, lc_sample_special(at, LC_RAW_PREEMPTED), core_ns);
    if (rest_ns > 0)
        add_off(s, lc_sample_special(at, parts.rest), rest_ns);
}

static void end_of_look(struct lc_sampler *s, uint32_t at) {
    uint64_t away = lc_timer_ring_away_ns(&s->fast);
    if (away > 0)
        add_off(s, lc_sample_special(at, LC_RAW_OFF_CPU), away);
    if (by_timer)
        divide_off(s, at);
}

static void done(struct lc_perf_ring *ring) {
    if (ring->page != NULL)
        lc_perf_ring_done(ring, head_of(ring));
}

/* The fast ring as far as it reaches, then the slow one. */
static void collect(struct lc_thread *t, struct lc_sampler *s, uint32_t at) {
    uint64_t head = __atomic_load_n(*t->sample_head, __ATOMIC_ACQUIRE), last_ns = 0;
    s->full = lc_perf_ring_full(&s->fast, head);
    s->n_places = 0;
    s->asleep_node = 0;
    place_of(s, at);
    begin_of_look(t, s);
    s->self = lc_sample_special(at, LC_RAW_SELF);
    while (lc_perf_ring_next(&s->fast, head, &s->record)) {
        if (s->record.kind == LC_PERF_SAMPLE) {
            take_sample(t, s, at, s->fast.period_ns, clock_of(s->period_ns));
            last_ns = s->record.time_ns;
        } else if (s->record.kind < LC_PERF_LOST) {
            take_switch(t, s, at);
        }
    }
    lc_perf_ring_done(&s->fast, head);
    t->sample_seen = head;
    if (s->slow.page != NULL && s->full) {
        head = head_of(&s->slow);
        while (lc_perf_ring_next(&s->slow, head, &s->record))
            if (s->record.kind == LC_PERF_SAMPLE && s->record.time_ns > last_ns)
                take_sample(t, s, at, s->slow.period_ns, LC_REC_CLOCK_LAST);
    }
    end_of_look(s, at);
    done(&s->slow);
    done(&s->leaving);
    s->left_waits = false;
}

static void book(struct lc_thread *t, struct lc_sampler *s) {
    uint64_t units = 0;
    for (uint32_t i = 0; i < s->n_places; i++)
        units += s->places[i].units;
    for (uint32_t i = 0; i < s->n_places; i++) {
        const struct place *p = &s->places[i];
        struct lc_state_row *row =
            p->count != 0 ? lc_sample_row(t, &s->rows, LC_RAW_CLASS_SAMPLES, p->node, 0) : NULL;
        if (row == NULL)
            continue;
        row->count += p->count;
        row->sum += p->weight_ns + p->off_ns;
        row->max += p->squares_us2;
        row->min += p->units * p->units;
        row->bytes_sent += p->units * units;
    }
}

static double draw(struct lc_sampler *s) {
    s->random ^= s->random << 13;
    s->random ^= s->random >> 7;
    s->random ^= s->random << 17;
    return (double)(s->random >> 11) * 0x1p-53;
}

/* Share of each place in `gap_ns`: time off the processor was measured, samples divide the rest. */
static void share_out(struct lc_sampler *s, double gap_ns) {
    double off = 0, weight = 0;
    for (uint32_t i = 0; i < s->n_places; i++) {
        off += (double)s->places[i].off_ns;
        weight += (double)s->places[i].weight_ns;
    }
    double shrink = off > gap_ns ? gap_ns / off : 1, on = off < gap_ns ? gap_ns - off : 0;
    for (uint32_t i = 0; i < s->n_places; i++)
        s->places[i].share_ns = (double)s->places[i].off_ns * shrink +
                                (weight > 0 ? (double)s->places[i].weight_ns * (on / weight) : 0);
}

/* Regions cut the time between two calls for the clocks; so do the functions that were sampled in
 * it, in proportion. */
static void tell_clocks(struct lc_sampler *s, const struct lc_call *call, uint64_t since) {
    uint64_t gap = call->begin - since, at = since;
    double ns_per_tick = measured_ns_per_tick();
    double left = draw(s) * (double)gap * ns_per_tick;
    uint32_t drawn = s->self, largest = 0;
    share_out(s, (double)gap * ns_per_tick);
    for (uint32_t i = s->n_places; i-- > 0;) { /* [0] is the exact node itself */
        const struct place *p = &s->places[i];
        uint32_t node = i == 0 ? s->self : p->node;
        uint64_t ticks = (uint64_t)(p->share_ns / ns_per_tick);
        if (left >= 0 && left < p->share_ns)
            drawn = node;
        left -= p->share_ns;
        if (p->share_ns > s->places[largest].share_ns)
            largest = i;
        at = ticks < call->begin - at ? at + ticks : call->begin;
        lc_clocks_split(call, at, node);
    }
    lc_clocks_dominant(call, gap, largest == 0 ? s->self : s->places[largest].node, drawn);
}

/* This process is a child that the C library does not know of. */
static bool has_no_ring(struct lc_thread *t) {
    if (lc_likely(*t->sample_head != NULL))
        return false;
    forked_child(t);
    return true;
}

LC_COLD void lc_samples_gap(struct lc_call *call) {
    struct lc_thread *t = call->thread;
    if (has_no_ring(t))
        return;
    uint32_t at = call->entry->gap_node[0];
    if (at == 0 || at == LC_NONE || call->entry == t->off_entry || t->last == t->off_entry ||
        (call->mode & LC_MODE_ON) == 0) {
        lc_samples_drop(t);
        return;
    }
    begin_recording(t, t->sampler, call->mode, call->begin);
    collect(t, t->sampler, at);
    book(t, t->sampler);
    if (call->mode & LC_MODE_CLOCKS)
        tell_clocks(t->sampler, call, t->last_ticks);
    adapt(t, t->sampler);
    uint64_t begin = call->begin;
    lc_skip_own_work(call);
    t->counts.sampling_ticks += call->begin - begin;
}

/* false: nothing was found. */
static bool look_at(struct lc_thread *t, uint32_t node) {
    if (has_no_ring(t))
        return false;
    if (node == 0 || node == LC_NONE || !asked) {
        lc_samples_drop(t);
        return false;
    }
    uint64_t begin = lc_ticks();
    begin_recording(t, t->sampler, atomic_load_explicit(&t->mode, memory_order_relaxed), begin);
    collect(t, t->sampler, node);
    book(t, t->sampler);
    adapt(t, t->sampler);
    uint64_t ticks = lc_ticks() - begin;
    t->counts.own_ticks += ticks;
    t->counts.sampling_ticks += ticks;
    return true;
}

LC_COLD void lc_samples_at(struct lc_thread *t, uint32_t node) {
    look_at(t, node);
}

LC_COLD void lc_samples_split_at(struct lc_thread *t, uint32_t node, uint64_t since, uint64_t until,
                                 void (*split)(void *context, uint64_t end, uint32_t node),
                                 void *context) {
    struct lc_sampler *s = t->sampler;
    uint64_t at = since;
    if (!look_at(t, node) || until <= since)
        return;
    double ns_per_tick = measured_ns_per_tick();
    share_out(s, (double)(until - since) * ns_per_tick);
    for (uint32_t i = s->n_places; i-- > 0;) { /* [0] is the node itself */
        uint64_t ticks = (uint64_t)(s->places[i].share_ns / ns_per_tick);
        at = ticks < until - at ? at + ticks : until;
        split(context, at, i == 0 ? node : s->places[i].node);
    }
}

LC_COLD void lc_samples_drop(struct lc_thread *t) {
    if (has_no_ring(t))
        return;
    struct lc_sampler *s = t->sampler;
    uint64_t head = __atomic_load_n(*t->sample_head, __ATOMIC_ACQUIRE);
    t->sample_seen = head;
    if (s == NULL)
        return;
    lc_perf_ring_done(&s->fast, head);
    done(&s->slow);
    done(&s->leaving);
    if (by_timer)
        lc_off_cpu_look(&s->off, 0, NULL);
    s->out_ns = 0;
    fit_switches(t, s);
}
