/* Regions of the program: latecomer.h, functions compiled with -finstrument-functions, and
 * switching measurement on and off. */
#ifndef LC_MEASURE_HOT_USER_REGIONS_H
#define LC_MEASURE_HOT_USER_REGIONS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stddef.h>

#include "base/err.h"
#include "measure/core/core.h"

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
/* Ends it; the same frame and ra. */
void lc_region_leave(uint32_t region, void *frame, void *ra);

#endif
