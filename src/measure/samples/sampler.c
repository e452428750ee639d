#include "measure/samples/sampler_private.h"

#include "base/none.h"
#include "base/timer.h"
#include "measure/clocks/clocks_hooks.h"
#include "measure/core/core.h"
#include "measure/core/state_write.h"
#include "measure/callpath/entry.h"
#include "measure/samples/timer_ring.h"
#include "measure/trace/trace_area.h"

static struct lc_sample_place *place_of(struct lc_sampler *s, uint32_t node) {
    for (uint32_t i = 0; i < s->n_places; i++)
        if (s->places[i].node == node)
            return &s->places[i];
    if (s->n_places == LC_SAMPLE_PLACES)
        return &s->places[0]; /* the exact node itself */
    s->places[s->n_places] = (struct lc_sample_place){.node = node};
    return &s->places[s->n_places++];
}

static void no_places(struct lc_sampler *s, uint32_t at) {
    s->at = at;
    s->n_places = 0;
    place_of(s, at);
    s->self = lc_sample_special(at, LC_RAW_SELF);
}

/* Of the node that is looked at itself, but of no function: "(off CPU)", "(preempted)". */
static bool is_state_of(uint32_t node, uint32_t at) {
    const struct lc_state_node *nodes = lc_state_nodes();
    return nodes[node].parent == at && nodes[node].kind == LC_RAW_SAMPLED &&
           nodes[node].ref == LC_NONE;
}

static uint32_t state_at(uint32_t at, uint32_t state) {
    return lc_sample_special(at, lc_state_nodes()[state].offset);
}

/* Was nothing seen yet of the time but that the thread had no processor? */
static bool may_leave(const struct lc_sampler *s) {
    if (s->call == NULL || s->places[0].count != 0 ||
        (s->out_ns != 0 && !is_state_of(s->out_node, s->at)))
        return false;
    for (uint32_t i = 1; i < s->n_places; i++)
        if (!is_state_of(s->places[i].node, s->at))
            return false;
    return true;
}

/* The time is that of an outer function. */
static void leave(struct lc_sampler *s, uint32_t outer) {
    for (uint32_t i = 1; i < s->n_places; i++)
        s->places[i].node = state_at(outer, s->places[i].node);
    if (s->out_ns != 0)
        s->out_node = state_at(outer, s->out_node);
    s->places[0].node = s->at = outer;
    s->self = lc_sample_special(outer, LC_RAW_SELF);
    s->asleep_node = 0;
}

/* The first sample of the time may tell that the innermost functions of both calls around it had
 * returned in between: then it belongs to the code that called them. */
static uint32_t node_of(struct lc_thread *t, struct lc_sampler *s,
                        const struct lc_perf_record *record, uint64_t *address) {
    bool cut;
    uint32_t outer = LC_NONE;
    uint32_t node =
        lc_sample_node(t, s->at, record, &s->scratch, &cut, address, may_leave(s) ? &outer : NULL);
    if (outer != LC_NONE) {
        if (lc_gap_leave(s->call, outer))
            leave(s, outer);
        node = lc_sample_node(t, s->at, record, &s->scratch, &cut, address, NULL);
    }
    s->looked++;
    s->cut += cut;
    return node;
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
    s->ns_per_tick = lc_sampler_ns_per_tick();
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
    struct lc_state_row *row = lc_row_of(t, &s->addresses, LC_RAW_CLASS_ADDRESS, node, address);
    if (row == NULL)
        return;
    row->count++;
    row->sum += weight;
}

static void take_sample(struct lc_thread *t, struct lc_sampler *s, uint64_t weight,
                        uint32_t generator) {
    uint64_t address;
    uint32_t node = node_of(t, s, &s->record, &address);
    struct lc_sample_place *p = place_of(s, node);
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
    return left->stack_bytes == 0 || lc_perf_in_call(left->registers) ? LC_RAW_OFF_CPU
                                                                      : LC_RAW_PAGE_FAULT;
}

/* The last sample until then of those that are taken where the thread leaves the processor becomes
 * s->left; false: there is none. Later ones stay in the ring. */
static bool left_until(struct lc_sampler *s, uint64_t time_ns) {
    struct lc_perf_ring *ring = &s->leaving;
    if (ring->page == NULL)
        return false;
    uint64_t head = head_of(ring), at = ring->at, sample_at = at;
    bool found = false;
    while (lc_perf_ring_next(ring, head, &s->left) && s->left.time_ns <= time_ns) {
        if (s->left.kind == LC_PERF_SAMPLE) {
            sample_at = at;
            found = true;
        }
        at = ring->at;
    }
    ring->at = found ? sample_at : at; /* s->left may be a later one: read again */
    return found && lc_perf_ring_next(ring, head, &s->left);
}

/* Which function has left the processor, at that time: a sample was taken right before the
 * record of the switch was written. Where there are too many switches for that, it was the same as
 * the last time since the last event. */
static uint32_t where_off(struct lc_thread *t, struct lc_sampler *s, uint64_t time_ns, bool waits) {
    uint64_t address;
    if (left_until(s, time_ns)) {
        s->left.in_kernel = false;
        uint32_t node = lc_sample_special(node_of(t, s, &s->left, &address),
                                          waits ? waits_for(&s->left) : LC_RAW_PREEMPTED);
        if (!waits)
            return node;
        s->asleep_node = node;
    }
    if (!waits)
        return lc_sample_special(s->at, LC_RAW_PREEMPTED);
    return s->asleep_node != 0 ? s->asleep_node : lc_sample_special(s->at, LC_RAW_OFF_CPU);
}

/* What stands for other windows, too, is an estimate, as samples are. */
static void add_off(struct lc_sampler *s, uint32_t node, uint64_t ns) {
    struct lc_sample_place *p = place_of(s, node);
    p->count++;
    p->off_ns += ns;
    if (s->off_times > 1) {
        uint64_t weight = s->off_times * ns;
        p->squares_us2 += weight / 1000 * (weight / 1000);
        p->units += weight / LC_RAW_SAMPLE_UNIT_NS;
    }
}

static void take_switch(struct lc_thread *t, struct lc_sampler *s) {
    const struct lc_perf_record *r = &s->record;
    if (r->kind != LC_PERF_IN) {
        s->out_node = where_off(t, s, r->time_ns, r->kind == LC_PERF_OUT);
        s->out_ns = r->time_ns;
        record(s, s->out_node, r->time_ns, LC_REC_SCHEDULER);
        return;
    }
    uint64_t out_ns = s->out_ns > s->since_ns ? s->out_ns : s->since_ns;
    if (s->out_ns != 0 && r->time_ns > out_ns)
        add_off(s, s->out_node, r->time_ns - out_ns);
    if (s->out_ns != 0)
        record(s, s->at, r->time_ns, LC_REC_SCHEDULER);
    s->out_ns = 0;
}

/* Timers tell of time off the processor at their ticks, wherever it began; that since the last one
 * must be asked for. */
static void begin_of_look(struct lc_thread *t, struct lc_sampler *s) {
    if (!lc_sampling.by_timer)
        return;
    uint64_t now = lc_monotonic_raw_ns(), ticks = lc_ticks();
    ticks -= t->last_ticks < ticks ? t->last_ticks : ticks;
    s->since_ns = now - (uint64_t)((double)ticks * lc_timer.ns_per_tick);
    if (s->since_ns < s->seen_ns)
        s->since_ns = s->seen_ns;
    s->seen_ns = now;
}

/* By counters of the kernel, of the time since they were looked at last. */
static void add_off_by_counters(struct lc_sampler *s, uint32_t at, uint64_t off_ns) {
    struct lc_off_cpu_parts parts;
    lc_off_cpu_look(&s->off, off_ns, &parts);
    if (parts.core_ns > 0)
        add_off(s, lc_sample_special(at, LC_RAW_PREEMPTED), parts.core_ns);
    if (off_ns > parts.core_ns)
        add_off(s, lc_sample_special(at, parts.rest), off_ns - parts.core_ns);
}

/* Timers do not tell what it was for. */
static void divide_off(struct lc_sampler *s, uint32_t at) {
    struct lc_sample_place *off = place_of(s, lc_sample_special(at, LC_RAW_OFF_CPU));
    uint64_t off_ns = off->off_ns;
    off->count = 0;
    off->off_ns = 0;
    add_off_by_counters(s, at, off_ns);
}

static void end_of_look(struct lc_sampler *s, uint32_t at) {
    uint64_t away = lc_timer_ring_away_ns(&s->fast);
    if (away > 0)
        add_off(s, lc_sample_special(at, LC_RAW_OFF_CPU), away);
    if (lc_sampling.by_timer)
        divide_off(s, at);
}

static void done(struct lc_perf_ring *ring) {
    if (ring->page != NULL)
        lc_perf_ring_done(ring, head_of(ring));
}

/* The fast ring as far as it reaches, then the slow one. */
static void collect(struct lc_thread *t, struct lc_sampler *s, uint32_t at) {
    uint64_t head = __atomic_load_n(*t->sample_head, __ATOMIC_ACQUIRE), last_ns = 0;
    uint32_t n_before = s->n_samples;
    s->full = lc_perf_ring_full(&s->fast, head);
    s->asleep_node = 0;
    s->off_times = s->times > 1 && lc_ticks() - t->last_ticks > s->long_gap ? 1 : s->times;
    no_places(s, at);
    begin_of_look(t, s);
    while (lc_perf_ring_next(&s->fast, head, &s->record)) {
        if (s->record.kind == LC_PERF_SAMPLE) {
            take_sample(t, s, s->times * s->fast.period_ns, clock_of(s->times * s->period_ns));
            last_ns = s->record.time_ns;
        } else if (s->record.kind < LC_PERF_LOST) {
            take_switch(t, s);
        }
    }
    lc_perf_ring_done(&s->fast, head);
    t->sample_seen = lc_samples_seen(t, head);
    if (s->slow.page != NULL && s->full) {
        head = head_of(&s->slow);
        while (lc_perf_ring_next(&s->slow, head, &s->record))
            if (s->record.kind == LC_PERF_SAMPLE && s->record.time_ns > last_ns)
                take_sample(t, s, s->slow.period_ns, LC_REC_CLOCK_LAST);
    }
    uint64_t kernel = (s->n_samples - n_before) *
                      atomic_load_explicit(&lc_sampling.kernel_ticks, memory_order_relaxed);
    t->counts.own_ticks += kernel;
    t->counts.sampling_ticks += kernel;
    end_of_look(s, s->at);
    done(&s->slow);
    done(&s->leaving);
}

static void book(struct lc_thread *t, struct lc_sampler *s) {
    uint64_t units = 0;
    for (uint32_t i = 0; i < s->n_places; i++)
        units += s->places[i].units;
    for (uint32_t i = 0; i < s->n_places; i++) {
        const struct lc_sample_place *p = &s->places[i];
        struct lc_state_row *row =
            p->count != 0 ? lc_row_of(t, &s->rows, LC_RAW_CLASS_SAMPLES, p->node, 0) : NULL;
        if (row == NULL)
            continue;
        row->count += p->count;
        row->sum += p->weight_ns + s->off_times * p->off_ns;
        row->max += p->squares_us2;
        row->min += p->units * p->units;
        row->bytes_sent += p->units * units;
    }
}

double lc_sampler_draw(struct lc_sampler *s) {
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
    uint64_t at = since < call->begin ? since : call->begin, gap = call->begin - at;
    double ns_per_tick = lc_sampler_ns_per_tick();
    double left = lc_sampler_draw(s) * (double)gap * ns_per_tick;
    uint32_t drawn = s->self, largest = 0;
    share_out(s, (double)gap * ns_per_tick);
    for (uint32_t i = s->n_places; i-- > 0;) { /* [0] is the exact node itself */
        const struct lc_sample_place *p = &s->places[i];
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
    lc_sampler_forked(t);
    return true;
}

/* Are there samples, beside counters? */
static bool has_new(const struct lc_thread *t) {
    const uint64_t *head = *t->sample_head;
    return t->sampler != NULL && t->sampler->times != 0 &&
           lc_samples_seen(t, __atomic_load_n(head, __ATOMIC_ACQUIRE)) != t->sample_seen;
}

static void drop(struct lc_thread *t);

/* Is it in a window without events? */
static bool is_resting(const struct lc_thread *t) {
    return t->sampler != NULL && t->sampler->times == 0;
}

static void count(struct lc_thread *t, uint32_t node, bool clocks) {
    uint64_t counts[LC_COUNTERS];
    lc_counting_book(t, node, 0, counts);
    if (clocks)
        lc_clocks_counted(t, counts);
}

/* Long time in a window without events. Where the thread slept in it is known, at least, by its
 * time on the processor since the window's begin, or since the last such time: all of that may have
 * been in this one. */
static void look_at_long_gap(struct lc_call *call, uint32_t at) {
    struct lc_thread *t = call->thread;
    struct lc_sampler *s = t->sampler;
    if (call->begin <= t->last_ticks || call->begin - t->last_ticks < s->long_gap)
        return;
    double gap_ns = (double)(call->begin - t->last_ticks) * lc_sampler_ns_per_tick();
    uint64_t cpu_ns = lc_thread_cpu_ns(), on_ns = cpu_ns - s->cpu_ns;
    s->cpu_ns = cpu_ns;
    s->off_times = 1;
    no_places(s, at);
    add_off_by_counters(s, at, (uint64_t)gap_ns > on_ns ? (uint64_t)gap_ns - on_ns : 0);
    book(t, s);
    if (call->mode & LC_MODE_CLOCKS)
        tell_clocks(s, call, t->last_ticks);
}

/* The call takes longer than others since samples were read at it. */
static void slows(const struct lc_call *call) {
    struct lc_thread *t = call->thread;
    t->samples_ticks = call->begin;
    t->counts.own_ticks += t->slowed_ticks;
    t->counts.sampling_ticks += t->slowed_ticks;
}

LC_COLD void lc_samples_gap(struct lc_call *call) {
    struct lc_thread *t = call->thread;
    if (has_no_ring(t))
        return;
    uint32_t at = call->entry->gap_node[0];
    bool off = at == LC_NONE || call->entry == t->off_entry || t->last == t->off_entry ||
               (call->mode & LC_MODE_ON) == 0;
    if (t->counting != NULL)
        count(t, off ? 0 : at, !off && (call->mode & LC_MODE_CLOCKS) != 0);
    if (off || at == 0 || !has_new(t)) {
        bool resting = is_resting(t);
        uint64_t begin = call->begin;
        if (resting && !off && at != 0)
            look_at_long_gap(call, at);
        if (resting)
            lc_sampler_fit_switches(t, t->sampler);
        else
            drop(t);
        if (t->counting != NULL || resting)
            lc_skip_own_work(call);
        t->counts.sampling_ticks += resting ? call->begin - begin : 0;
        return;
    }
    begin_recording(t, t->sampler, call->mode, call->begin);
    t->sampler->call = call;
    collect(t, t->sampler, at);
    t->sampler->call = NULL;
    book(t, t->sampler);
    if (call->mode & LC_MODE_CLOCKS)
        tell_clocks(t->sampler, call, t->last_ticks);
    lc_sampler_adapt(t, t->sampler);
    uint64_t begin = call->begin;
    lc_skip_own_work(call);
    t->counts.sampling_ticks += call->begin - begin;
    slows(call);
    if (t->counting != NULL)
        lc_counting_skip(t);
}

/* false: nothing was found. */
static bool look_at(struct lc_thread *t, uint32_t node) {
    if (has_no_ring(t))
        return false;
    if (t->counting != NULL)
        count(t, node, true);
    if (node == 0 || node == LC_NONE || !has_new(t)) {
        drop(t);
        return false;
    }
    uint64_t begin = lc_ticks();
    begin_recording(t, t->sampler, atomic_load_explicit(&t->mode, memory_order_relaxed), begin);
    collect(t, t->sampler, node);
    book(t, t->sampler);
    lc_sampler_adapt(t, t->sampler);
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
    double ns_per_tick = lc_sampler_ns_per_tick();
    share_out(s, (double)(until - since) * ns_per_tick);
    for (uint32_t i = s->n_places; i-- > 0;) { /* [0] is the node itself */
        uint64_t ticks = (uint64_t)(s->places[i].share_ns / ns_per_tick);
        at = ticks < until - at ? at + ticks : until;
        split(context, at, i == 0 ? node : s->places[i].node);
    }
}

static void drop(struct lc_thread *t) {
    if (has_no_ring(t))
        return;
    struct lc_sampler *s = t->sampler;
    if (is_resting(t))
        return;
    uint64_t head = __atomic_load_n(*t->sample_head, __ATOMIC_ACQUIRE);
    t->sample_seen = lc_samples_seen(t, head);
    if (s == NULL || head == s->fast.at)
        return;
    lc_perf_ring_done(&s->fast, head);
    done(&s->slow);
    done(&s->leaving);
    if (lc_sampling.by_timer)
        lc_off_cpu_look(&s->off, 0, NULL);
    s->out_ns = 0;
    lc_sampler_fit_switches(t, s);
}

LC_COLD void lc_samples_left(const struct lc_call *call) {
    struct lc_thread *t = call->thread;
    if (t->counting == NULL && is_resting(t))
        return;
    if (t->counting != NULL)
        lc_counting_book(t, (call->mode & LC_MODE_ON) != 0 ? call->entry->path->node : 0,
                         call->bytes_sent, NULL);
    else
        slows(call);
    drop(t);
}

LC_COLD void lc_samples_drop(struct lc_thread *t) {
    if (t->counting != NULL)
        lc_counting_skip(t);
    drop(t);
}
