/* What the kernel takes of a thread for one sample, which no stamp of ours holds. */
#ifndef LC_MEASURE_SAMPLES_SAMPLE_COST_H
#define LC_MEASURE_SAMPLES_SAMPLE_COST_H

#include <stdint.h>

/* Ticks; 0: not known. stack_bytes: of the copies of the stack. Takes the caller up to a
 * millisecond. */
uint64_t lc_sample_cost_measure(uint32_t stack_bytes);

/* A power of two, at most `most`: every so many periods a sample, so that samples take no more than
 * 0.8 % of the time, where the kernel takes kernel_ns for each (0: not known, taken to be much). A
 * sample counts twice: the thread is late, and so is one that waits for it, which is late itself at
 * another time. */
uint32_t lc_sample_periods(double kernel_ns, uint64_t period_ns, uint32_t most);

#endif
