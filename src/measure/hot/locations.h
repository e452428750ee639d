/* Threads become locations with their first event. */
#ifndef LC_MEASURE_HOT_LOCATIONS_H
#define LC_MEASURE_HOT_LOCATIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct lc_thread;

/* Once, before the first event. LC_ERR_SYSTEM: no thread-specific data is left. */
enum lc_err lc_threads_init(void);
/* The calling thread, made known with its first event; NULL: it is not measured. */
struct lc_thread *lc_thread_here(void);

/* The calling thread, not known yet, goes on as one that has ended and was kept
 * (lc_parts_keep). false: there is none. */
bool lc_thread_take_over(void);

/* Calls of threads that could not be measured, booked nowhere; with lc_core.lock held. */
uint64_t lc_threads_lost(void);

/* Calls that the program makes inside its callbacks. */

struct lc_thread;

#endif
