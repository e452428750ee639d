/* What the kernel takes of a thread for one sample, which no stamp of ours holds. */
#ifndef LC_MEASURE_SAMPLES_SAMPLE_COST_H
#define LC_MEASURE_SAMPLES_SAMPLE_COST_H

#include <stdint.h>

/* Ticks; 0: not known. stack_bytes: of the copies of the stack. Takes the caller up to a
 * millisecond. */
uint64_t lc_sample_cost_measure(uint32_t stack_bytes);

#endif
