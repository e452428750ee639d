/* The time of exact nodes of the call tree, split by the samples that fell into it.
 *
 * Nouns
 *   split   one row of time (an exact node, a location) and the samples in it
 *   part    what one sampled node gets of it, in ns
 *
 * Time off the processor was measured and is taken off first; where it was seen in some windows of
 * time only, it is an estimate as samples are (LC_RAW_CLASS_SAMPLES). The rest goes to the sampled
 * nodes, and to what the exact node did itself, in proportion to what their samples stand for.
 * Invariant: the parts and what is left of the row add up to what the row was, to the nanosecond
 * (largest remainder). */
#ifndef LC_RUN_SAMPLED_H
#define LC_RUN_SAMPLED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "format/raw_pack.h"

struct lc_sample_part {
    uint32_t node; /* raw node; the exact node itself: what is left to it */
    uint64_t samples;
    uint64_t weight_ns; /* what they stand for */
    uint64_t ns;        /* of the time */
    double own2, cross; /* sums of u u and u v (LC_RAW_CLASS_SAMPLES) */
    bool measured;      /* time off the processor, all of it seen */
};

struct lc_sample_split {
    uint32_t node, location;         /* of the row */
    size_t first, n_parts;           /* in `parts` */
    const struct lc_raw_row *source; /* the row; NULL: it has not come */
    struct lc_raw_row row;           /* what is left of it to the exact node */
    uint64_t total_ns;               /* the row as it was measured */
    uint64_t on_ns;                  /* without time off the processor */
    double effective;                /* samples of equal weight that would tell as much */
    double all2;                     /* sum of v v */
};

struct lc_sampled {
    struct lc_sample_split *splits; /* by node, then location */
    size_t n_splits;
    struct lc_sample_part *parts;
    size_t n_parts, cap_parts;
    struct lc_raw_row *rows; /* of the parts, for the sampled nodes */
    size_t n_rows;
    uint64_t *samples; /* per raw node: in the function itself; what is to be shown at all */
    uint64_t n_samples;
};

/* Reads the rows LC_RAW_CLASS_SAMPLES of the file and splits its rows of time. exact[i] false: the
 * time of raw node i is not split. lc_sampled_free frees what it holds. LC_ERR_NOMEM. */
enum lc_err lc_sampled_read(struct lc_sampled *sampled, const struct lc_raw_file *file,
                            const bool *exact);
/* Frees what it holds, not the struct. */
void lc_sampled_free(struct lc_sampled *sampled);

/* The split of a row of time; NULL: it is not split. */
struct lc_sample_split *lc_sampled_find(const struct lc_sampled *sampled, uint32_t node,
                                        uint32_t location);

/* The exact node that a raw node belongs to: itself, or the first one outwards that is not
 * sampled. */
uint32_t lc_sampled_exact(const struct lc_raw *defs, uint32_t node);

/* Time off the processor. */
bool lc_sampled_is_off(const struct lc_raw_node *node);

/* Parts of `total` in proportion to weights, by largest remainder: they add up to it. All weights
 * 0: nothing is given, false. */
bool lc_sampled_divide(uint64_t total, const double *weights, size_t n, uint64_t *parts);

/* Standard error of a part of `whole` from how much it differs between the times between two
 * events, where samples at equal distances differ less than draws: units of the part and of all,
 * sums of u u, u v and v v (LC_RAW_CLASS_SAMPLES), and the units of one sample. Too few of these
 * times to tell: `whole`. */
double lc_sampled_gap_error(double whole, double part, double all, const double sums[3],
                            double one);

#endif
