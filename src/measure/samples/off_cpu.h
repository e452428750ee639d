/* What a thread's time off the processor was for, from counters of the kernel: the time that it
 * waited for a core (schedstat), pages that had to be fetched, data that came from files or devices
 * (rusage). For where the kernel does not note each time that the thread leaves the processor. */
#ifndef LC_MEASURE_SAMPLES_OFF_CPU_H
#define LC_MEASURE_SAMPLES_OFF_CPU_H

#include <stdbool.h>
#include <stdint.h>

struct lc_off_cpu { /* as the kernel counted when they were looked at last */
    bool known;
    uint64_t core_ns; /* 0: the kernel does not say */
    uint64_t pages, blocks, sleeps;
};

struct lc_off_cpu_parts {
    uint64_t core_ns; /* waited for a core */
    uint64_t rest;    /* what the rest was for: enum lc_raw_sampled */
};

/* Divides `off_ns`, off the processor since the last look of the calling thread; the first look
 * only begins. parts NULL: of no interest. errno stays as it is. */
void lc_off_cpu_look(struct lc_off_cpu *last, uint64_t off_ns, struct lc_off_cpu_parts *parts);

/* Divides `off_ns`, off the processor between two looks, by the counters of both. */
void lc_off_cpu_divide(const struct lc_off_cpu *before, const struct lc_off_cpu *now,
                       uint64_t off_ns, struct lc_off_cpu_parts *parts);

/* How often a thread leaves the processor. The kernel stops and starts each of the thread's
 * performance events then, which costs more than the samples themselves where a program hands work
 * to and fro thousands of times a second. */

enum lc_switches { LC_SWITCHES_SELDOM, LC_SWITCHES_OFTEN, LC_SWITCHES_ALWAYS };

struct lc_switch_rate {
    uint64_t since_ns, switches; /* when the rate was last computed, and how many there were */
    uint32_t looks;
    enum lc_switches how_often; /* OFTEN above often_per_s, ALWAYS above 1,000 per second, when it
                                   was computed; until it falls below half of that */
    double often_per_s;         /* 0: never OFTEN */
};

/* Computes the calling thread's rate, at most every 64th time and every 0.1 s; of all other times
 * it costs an addition. Returns true if `how_often` has changed. errno stays as it is. */
bool lc_switch_rate_changed(struct lc_switch_rate *rate);

/* Where it always does, its events are there in one of so many windows of time only, which are
 * drawn by lot; what is seen in such a one stands for as many. */
enum { LC_SWITCHES_WINDOWS = 8 };

/* In them, and in those that are not seen, time off the processor stands for itself where the time
 * between two events is longer than that. */
enum { LC_LONG_GAP_NS = 10000000 };

/* How many windows the next one stands for: 1: it is long, as the last one was; those are seen
 * each; 0: nothing is looked at. random: in [0, 1). */
uint32_t lc_switches_window(uint64_t last_ns, double random);

/* How often the calling thread has left the processor until now. errno stays as it is. */
uint64_t lc_switches_now(void);

#endif
