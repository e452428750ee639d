/* Events of the Linux kernel that note where a thread is, at a constant rate of its time on the
 * processor (perf_event_open, software clock: no counter of the processor, no signal). */
#ifndef LC_BASE_PERF_SAMPLER_H
#define LC_BASE_PERF_SAMPLER_H

#include <stdbool.h>
#include <stdint.h>

enum {
    LC_PERF_CALLERS = 32, /* most frames of a sample */
    LC_PERF_RATE = 500,   /* samples per second at most where none is asked for */
    LC_PERF_MOST = 10000
};

struct lc_perf_wanted {
    /* of time on the processor between two samples; 0: one whenever the thread leaves the
     * processor, without a call chain (where threads yield all the time, that is the larger part of
     * what it costs) */
    uint64_t period_ns;
    uint32_t stack_bytes; /* of the stack, from its pointer outwards, copied into each sample */
    bool switches;        /* note also when the thread leaves the processor and comes back */
    bool timer;           /* not by the kernel's events (measure/samples/timer_ring.h) */
};

/* What --sample asks for: RATE, timer, timer:RATE, or off. */
struct lc_sample_choice {
    double rate; /* per second; 0: off */
    bool timer;  /* by timers and signals */
};
/* NULL or "": the default. false: it is none of these. */
bool lc_sample_choose(const char *text, struct lc_sample_choice *choice);

/* For the calling thread, running at once; the descriptor is closed on exec. Where the kernel
 * allows it, samples are taken inside of system calls, too; without that there are none of a thread
 * that leaves the processor. A negative errno: not possible. */
int lc_perf_sampler_open(const struct lc_perf_wanted *wanted);

/* Can samples hold a copy of the stack? Then they also hold its registers, in the order of enum
 * lc_perf_register. */
bool lc_perf_copies_stack(void);
enum lc_perf_register {
#if defined(__aarch64__)
    LC_PERF_FP,
    LC_PERF_LR,
#else
    LC_PERF_AX,
    LC_PERF_FP,
#endif
    LC_PERF_SP,
    LC_PERF_IP,
    LC_PERF_REGISTERS
};
/* Was the thread in a system call, by its registers? Of x86 Linux writes -ENOSYS to rax when one
 * begins; of other processors they do not say: true. */
static inline bool lc_perf_in_call(const uint64_t registers[LC_PERF_REGISTERS]) {
#if defined(__x86_64__)
    return (int64_t)registers[LC_PERF_AX] == -38;
#else
    (void)registers;
    return true;
#endif
}

/* Period of a rate per second, such that it keeps no step with programs that do something a round
 * number of times per second. */
uint64_t lc_perf_period_ns(double per_second);

/* 80 to 120 % of `period`, by multiples of the golden ratio, which fill that range evenly: a loop
 * of the program that is in step with one of these is not with the next. */
uint64_t lc_perf_jittered(uint64_t period, uint32_t number);

/* Can samples also be taken where this process leaves the processor? */
bool lc_perf_sees_switches(void);

/* What an errno of these says, and what to do about it. */
const char *lc_perf_why(int error);

/* Whether this process could sample itself now; 0, or an errno. */
int lc_perf_sampler_try(void);

#endif
