/* The memory into which the kernel writes the samples of one thread, and its records one by one.
 *
 * The thread that is sampled reads it itself: a sample is written before the thread goes on, so
 * what is new since the thread's last event fell between the two. The descriptor is closed as soon
 * as the memory is mapped, which keeps the event alive; a forked process does not inherit it.
 *
 * Invariant: nothing beyond the mapping is read whatever it holds; each record moves the reader
 * on. */
#ifndef LC_MEASURE_SAMPLES_PERF_RING_H
#define LC_MEASURE_SAMPLES_PERF_RING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/perf_sampler.h"

struct lc_ring_timer;
struct lc_walk;

struct lc_perf_ring {
    void *page;                  /* the kernel's control page; NULL: not there */
    const char *data;            /* after it */
    uint64_t bytes;              /* of data, a power of two */
    uint64_t at;                 /* read up to here */
    uint64_t period_ns;          /* what a sample stands for; 0: as in struct lc_perf_wanted */
    uint32_t stack_bytes;        /* copied into each, at most LC_PERF_STACK */
    struct lc_ring_timer *timer; /* what writes to it (timer_ring.h); NULL: the kernel */
};

enum {
    LC_PERF_STACK = 1 << 13,
    LC_PERF_PYTHON = 32, /* frames of Python at most */
    /* Type of a record before that of a sample: what lc_python_note (callpath/python_stack.h) gave.
     * The kernel's types are small. */
    LC_PERF_PYTHON_TYPE = 1 << 16
};

enum lc_perf_kind {
    LC_PERF_SAMPLE,
    LC_PERF_OUT,       /* off the processor, to wait */
    LC_PERF_PREEMPTED, /* ... because another thread got it */
    LC_PERF_IN,        /* back */
    LC_PERF_LOST,      /* `n` records found no room */
    LC_PERF_OTHER
};

struct lc_perf_record {
    enum lc_perf_kind kind;
    uint64_t time_ns; /* CLOCK_MONOTONIC_RAW */
    bool in_kernel;   /* a sample inside of a system call */
    uint64_t n;       /* addresses, or records lost */
    /* innermost first: where it was, then return addresses */
    uint64_t addresses[LC_PERF_CALLERS];
    uint64_t registers[LC_PERF_REGISTERS]; /* enum lc_perf_register, where there is a copy */
    uint32_t stack_bytes;                  /* copied, from the stack pointer outwards; 0: none */
    uint64_t stack[LC_PERF_STACK / sizeof(uint64_t)];
    uint32_t n_python, n_noted; /* frames of a sample, and of the one that comes */
    uint64_t python[2 * LC_PERF_PYTHON];
};

/* The calling thread is sampled from now on, by the kernel or, where that is wanted, by a timer
 * (timer_ring.h); 0, or an errno. */
int lc_perf_ring_open(struct lc_perf_ring *ring, const struct lc_perf_wanted *wanted,
                      uint64_t bytes);
/* Ends the sampling; what was not read is lost. */
void lc_perf_ring_close(struct lc_perf_ring *ring);

/* How far the kernel has written; a word that only grows. */
const uint64_t *lc_perf_ring_head(const struct lc_perf_ring *ring);

/* The next record before `head`; false: there is none, or what is there is no record. */
bool lc_perf_ring_next(struct lc_perf_ring *ring, uint64_t head, struct lc_perf_record *record);

/* All before `head` may be overwritten. */
void lc_perf_ring_done(struct lc_perf_ring *ring, uint64_t head);

/* There was no room for another sample: those after the last one before `head` are missing. */
bool lc_perf_ring_full(const struct lc_perf_ring *ring, uint64_t head);

/* The call chain of a sample from the copy of the stack that came with it, by remembered rules
 * (unwind/walk.h): also where functions keep no frame pointer. Nothing outside of the copy is read,
 * and each step moves outwards, so it ends whatever the copy holds. Innermost first: where the
 * sample was, then return addresses; at most `max`. How many of them are certain; 0: there is no
 * copy. *cut: the copy was too small for the next one. */
uint32_t lc_stack_copy_walk(struct lc_walk *w, const struct lc_perf_record *sample,
                            uint64_t *addresses, uint32_t max, bool *cut);

/* What the kernel takes of a thread for one sample, which no stamp of ours holds. */

/* Ticks; 0: not known. stack_bytes: of the copies of the stack. Takes the caller up to a
 * millisecond. */
uint64_t lc_sample_cost_measure(uint32_t stack_bytes);
/* Ticks that the kernel takes to stop an event and to start it again, as it does whenever the
 * thread leaves the processor and comes back. Where the event's timer is the next one to expire,
 * the hardware's is set anew, which a virtual machine leaves the processor for. */
struct lc_switch_cost {
    double next, later; /* its timer is the next one, or is not; 0: could not be measured */
};
/* Takes the caller some 0.1 ms. */
struct lc_switch_cost lc_switch_cost_measure(void);
/* Of an event of that period, on average over where it stands in its period and in that of the
 * kernel's clock tick, 4 ms. */
double lc_switch_cost_of(const struct lc_switch_cost *cost, uint64_t period_ns);

/* A power of two, at most `most`: every so many periods a sample, so that samples take no more than
 * 0.8 % of the time, where the kernel takes kernel_ns for each (0: not known, taken to be much). A
 * sample counts twice: the thread is late, and so is one that waits for it, which is late itself at
 * another time. */
uint32_t lc_sample_periods(double kernel_ns, uint64_t period_ns, uint32_t most);

#endif
