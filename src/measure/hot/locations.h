/* Threads become locations with their first event. */
#ifndef LC_MEASURE_HOT_LOCATIONS_H
#define LC_MEASURE_HOT_LOCATIONS_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "measure/core/core.h"

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

/* Regions of the program: latecomer.h, functions compiled with -finstrument-functions, and
 * switching measurement on and off. */

/* what the program sees of latecomer.h, and of -finstrument-functions */
void lc_control(bool on, void *frame, void *ra);
/* Measurement went on then, the last time (ticks): who has LC_MODE_RESUMED books nothing before. */
extern _Atomic uint64_t lc_resumed_ticks;
/* latecomer_region_begin of latecomer.h; the name is copied. */
void lc_api_begin(const char *name);
/* latecomer_region_end of latecomer.h: the innermost open region of that name. */
void lc_api_end(const char *name);
/* latecomer_start of latecomer.h. */
void lc_api_start(void);
/* latecomer_stop of latecomer.h. */
void lc_api_stop(void);
/* latecomer_region_begin of Fortran: a name of `length` bytes, without a terminating 0. */
void lc_api_begin_fortran(const char *name, size_t length);
/* latecomer_region_end of Fortran; the name as in lc_api_begin_fortran. */
void lc_api_end_fortran(const char *name, size_t length);
/* __cyg_profile_func_enter: code compiled with -finstrument-functions enters a function. */
void lc_api_function_enter(void *function, void *site);
/* __cyg_profile_func_exit: the function is left. */
void lc_api_function_exit(void *function, void *site);

/* A region that the tool itself finds (OpenMP's parallel): begun and ended by the function with
 * this frame, which returns to ra. The node of the call tree; 0: not measured, and not to be
 * ended. */
uint32_t lc_region_enter(uint32_t region, void *frame, void *ra);
/* lc_region_enter of one that began so many ticks ago, not before the thread's last event: the time
 * since is the region's, and its begin is the last event then. 0 also where measurement went on
 * meanwhile. Not for traces. */
uint32_t lc_region_enter_late(uint32_t region, void *frame, void *ra, uint64_t ago);
/* Ends it, now (ticks); the same frame and ra. */
void lc_region_leave(uint32_t region, void *frame, void *ra, uint64_t now);

#endif
