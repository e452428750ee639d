/* Changes of what the threads do per call (LC_MODE_*, core.h). */
#ifndef LC_MEASURE_CORE_MODE_H
#define LC_MEASURE_CORE_MODE_H

#include <stdint.h>

/* Clears, then sets bits of LC_MODE_* in all threads, and for new ones (not LC_MODE_FLUSH_*: they
 * have nothing to forget). A thread sees it at its next call. Takes lc_core.lock. */
void lc_mode_change(uint32_t clear, uint32_t set);

#endif
