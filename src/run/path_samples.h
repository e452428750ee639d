/* The critical path below exact nodes: what samples found of it, location by location. */
#ifndef LC_RUN_PATH_SAMPLES_H
#define LC_RUN_PATH_SAMPLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "run/sampled.h"

struct lc_path_piece { /* of the path, in a sampled node of one location */
    uint32_t exact, location, node;
    double seconds;
    bool off; /* time off the processor, which was measured */
};

/* All of them, by exact node, then location; the caller frees *pieces. LC_ERR_NOMEM. */
enum lc_err lc_path_pieces(const struct lc_raw *defs, const struct lc_raw_value *const *values,
                           size_t n_values, struct lc_path_piece **pieces, size_t *n);

/* How many from `pieces` on are of the same exact node and location; of these, less what is off:
 * the seconds to *on_s, and to *samples how many samples tell the shares in them. */
size_t lc_path_group(const struct lc_sampled *sampled, const struct lc_path_piece *pieces, size_t n,
                     double *on_s, double *samples);

#endif
