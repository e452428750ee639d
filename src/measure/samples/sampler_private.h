/* What sampler.c, which reads samples, and sampler_rings.c, which opens rings and fits them, share:
 * what is known of a thread that is sampled. */
#ifndef LC_MEASURE_SAMPLES_SAMPLER_PRIVATE_H
#define LC_MEASURE_SAMPLES_SAMPLER_PRIVATE_H

#include "base/timer.h"
#include "measure/samples/counting.h"
#include "measure/samples/off_cpu.h"
#include "measure/samples/perf_ring.h"
#include "measure/samples/sample_nodes.h"
#include "measure/samples/sampler.h"

struct lc_trace_stream;

enum { LC_SAMPLE_PLACES = 64 }; /* nodes in the time between two events; more are joined */

struct lc_sample_place {
    uint32_t node;
    uint32_t count;
    uint64_t weight_ns, squares_us2;
    uint64_t units; /* the weight in LC_RAW_SAMPLE_UNIT_NS, rounded for each sample alike */
    uint64_t off_ns;
    double share_ns;
};

/* Of a thread, until some time: what the kernel took at its switches is in its account. */
struct lc_switches_booked {
    uint64_t switches, ticks, outside_ticks; /* the last: as in struct lc_thread */
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
    struct lc_switches_booked booked;
    /* Where it always leaves the processor (lc_switches_window): */
    uint32_t times;            /* what is seen now stands for as many windows; 0: nothing is */
    uint32_t off_times;        /* the same of time off the processor; 1 where it is long */
    uint64_t group, window_ns; /* the thread's cost_groups, and when, at the window's begin */
    uint64_t long_gap;         /* ticks: as long_gap of the thread in each window without events */
    uint64_t cpu_ns;           /* the thread's time on a processor when `off` was looked at there */
    struct lc_off_cpu off;     /* where a timer samples, or in windows without events */
    struct lc_row_table rows, addresses;
    uint64_t out_ns;   /* off the processor since; 0: it is on it */
    uint32_t out_node; /* where */
    uint64_t since_ns; /* begin of the time that is looked at, where a timer tells of it */
    uint64_t seen_ns;  /* and when such a look was last taken */
    struct lc_perf_record record, left;
    uint32_t at;          /* the exact node of the time that is looked at */
    struct lc_call *call; /* whose begin ends that time; NULL: something else does */
    uint32_t asleep_node; /* of the last `left` that waited for something */
    struct lc_sample_place places[LC_SAMPLE_PLACES];
    uint32_t n_places;
    struct lc_sample_scratch scratch;
    struct lc_trace_stream *trace;   /* of the time that is looked at; NULL: it is not recorded */
    uint64_t begin_ticks, end_ticks; /* of that time, where it is */
    uint64_t now_ticks, now_ns;      /* the same instant on both clocks */
    double ns_per_tick;
    uint32_t self;   /* node for the samples of the exact node itself */
    uint64_t random; /* xorshift */
};

struct lc_sampling {
    /* --sample was given, or a scenario names functions. Else all further threads of a process with
     * OpenMP share one rate: however many there are, the process is interrupted as often, and as
     * often one of a team is late at a barrier because a sample was read. */
    bool asked;
    bool by_timer;
    _Atomic uint64_t kernel_ticks;     /* that the kernel takes for a sample; 0: not known */
    struct lc_switch_cost switch_cost; /* of an event; set before the first ring is opened */
};
extern struct lc_sampling lc_sampling;

/* As lc_samples_new compares it: where counters are read there is always something new. */
static inline uint64_t lc_samples_seen(const struct lc_thread *t, uint64_t head) {
    return t->counting != NULL ? ~head : head;
}

/* From all of the time since the start: true before the rate of the ticks is known. */
static inline double lc_sampler_ns_per_tick(void) {
    uint64_t ticks = lc_ticks(), ns = lc_monotonic_raw_ns();
    return ticks > lc_timer.base_ticks && ns > lc_timer.base_ns
               ? (double)(ns - lc_timer.base_ns) / (double)(ticks - lc_timer.base_ticks)
               : 1.0;
}

/* Opens another ring where that of the thread is too small, too seldom full, or in step with the
 * program; or none any more. */
void lc_sampler_adapt(struct lc_thread *t, struct lc_sampler *s);
/* Opens other rings where the thread has begun to leave the processor too often for all of them, or
 * does so no more; where it always does, closes and opens them for windows of time. */
void lc_sampler_fit_switches(struct lc_thread *t, struct lc_sampler *s);
/* In [0, 1). */
double lc_sampler_draw(struct lc_sampler *s);
/* In a child: no memory of the ring is there any more. */
void lc_sampler_forked(struct lc_thread *t);

#endif
