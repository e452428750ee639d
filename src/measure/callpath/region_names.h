/* Names of the program's regions, interned: ids are dense. Regions by address are functions
 * compiled with -finstrument-functions. */
#ifndef LC_MEASURE_CALLPATH_REGION_NAMES_H
#define LC_MEASURE_CALLPATH_REGION_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "measure/core/core.h"

struct lc_region_name {
    uint64_t address; /* 0: by name */
    uint32_t name;    /* index of the state's names */
    char *text;
};
/* The id of a region, new if it is seen for the first time. LC_NONE: no memory, or too many. */
uint32_t lc_region_by_name(const char *name);
/* The same of a function of the program. */
uint32_t lc_region_by_address(uint64_t address);

/* of an id that was given out */
struct lc_region_name lc_region_get(uint32_t id);

/* Codes in an entry's key besides enum lc_fn: two per region. */
static inline uint32_t lc_region_fn(uint32_t region, bool end) {
    return LC_FN_COUNT + 2 + region * 2 + (end ? 1 : 0);
}
enum { LC_FN_CONTROL = LC_FN_COUNT }; /* latecomer_start, latecomer_stop */

#endif
