/* The processor's counter of time. */
#ifndef LC_BASE_COUNTER_H
#define LC_BASE_COUNTER_H

#include <stdint.h>

/* x86: the time-stamp counter. Arm: the virtual count of the generic timer, which by the
 * architecture ticks at one rate, in all states and on all cores alike. */
#if defined(__x86_64__)
#define LC_COUNTER_NAME "tsc"
static inline uint64_t lc_counter_ticks(void) {
    return __builtin_ia32_rdtsc();
}
#elif defined(__aarch64__)
#define LC_COUNTER_NAME "cntvct"
static inline uint64_t lc_counter_ticks(void) {
    uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
}
#else
#define LC_COUNTER_NAME "none"
static inline uint64_t lc_counter_ticks(void) {
    return 0;
}
#endif

#endif
