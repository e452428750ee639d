/* How often a thread leaves the processor. The kernel stops and starts each of the thread's
 * performance events then, which costs more than the samples themselves where a program hands work
 * to and fro thousands of times a second. */
#ifndef LC_MEASURE_SAMPLES_SWITCH_RATE_H
#define LC_MEASURE_SAMPLES_SWITCH_RATE_H

#include <stdbool.h>
#include <stdint.h>

struct lc_switch_rate {
    uint64_t since_ns, switches; /* when the rate was last computed, and how many there were */
    uint32_t looks;
    bool high; /* above 1,000 per second when it was computed; until it falls below 500 */
};

/* Computes the calling thread's rate, at most every 64th time and every 0.1 s; of all other times
 * it costs an addition. Returns true if `high` has changed. errno stays as it is. */
bool lc_switch_rate_changed(struct lc_switch_rate *rate);

#endif
