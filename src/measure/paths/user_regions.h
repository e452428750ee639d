/* Regions of the program: latecomer.h, functions compiled with -finstrument-functions, and
 * switching measurement on and off. Names are interned; ids are dense. */
#ifndef LC_MEASURE_PATHS_USER_REGIONS_H
#define LC_MEASURE_PATHS_USER_REGIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <stddef.h>

#include "base/err.h"
#include "measure/core.h"

/* what the program sees of latecomer.h, and of -finstrument-functions */
void lc_control(bool on, void *frame, void *ra);
void lc_api_begin(const char *name);
void lc_api_end(const char *name);
void lc_api_start(void);
void lc_api_stop(void);
void lc_api_begin_fortran(const char *name, size_t length);
void lc_api_end_fortran(const char *name, size_t length);
void lc_api_function_enter(void *function, void *site);
void lc_api_function_exit(void *function, void *site);

/* Interned names of regions; ids are dense. Regions by address are functions compiled with
 * -finstrument-functions. */
struct lc_region_name {
    uint64_t address; /* 0: by name */
    uint32_t name;    /* index of the state's names */
    char *text;
};
struct lc_region_name lc_region_get(uint32_t id);

/* Codes in an entry's key besides enum lc_fn: two per region. */
static inline uint32_t lc_region_fn(uint32_t region, bool end) {
    return LC_FN_COUNT + 2 + region * 2 + (end ? 1 : 0);
}
enum { LC_FN_CONTROL = LC_FN_COUNT }; /* latecomer_start, latecomer_stop */

#endif
