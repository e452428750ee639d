/* A raw profile becomes profile.cubex: names, metrics, estimates. Rows are read from the mapped
 * file as often as there are metrics; memory does not grow with their number beyond eight bytes
 * each. */
#ifndef LC_RUN_PROFILE_CONVERT_H
#define LC_RUN_PROFILE_CONVERT_H

#include <jansson.h>

#include "format/raw_pack.h"
#include "run/system.h"

struct lc_conversion {
    const struct lc_raw_file *raw;
    const char *path;           /* of the .cubex */
    int32_t ranks;              /* of the run: ranks that left nothing get an empty location */
    struct lc_rank_hosts hosts; /* of those */
    json_t *meta; /* becomes the attribute latecomer.meta; gains what the conversion finds out */
    uint64_t begin_ns; /* CLOCK_MONOTONIC_RAW; since then the run waits for its result; 0: nobody */
};

/* A raw profile becomes profile.cubex. LC_ERR_IO, LC_ERR_NOT_FOUND, LC_ERR_NOMEM. */
enum lc_err lc_convert_profile(const struct lc_conversion *conversion);

#endif
