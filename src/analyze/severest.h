/* Where waiting is severest: for wait states of one kind at one call path their sum, and the
 * longest of them, with whom it waited for. What the page and timelines show in full. */
#ifndef LC_ANALYZE_SEVEREST_H
#define LC_ANALYZE_SEVEREST_H

#include "analyze/trace.h"

enum { LC_SEVEREST = 16 };

struct lc_severest { /* wait states of one kind at one call path */
    int64_t sum;
    uint32_t cnode, kind;
    uint32_t location, cause, cause_cnode; /* of the severest; the cause may be LC_NONE */
    int64_t begin, end;
};

/* Those with the largest sums, largest first; *n of them. Collective; errors are the same on all
 * ranks: LC_ERR_NOMEM. */
enum lc_err lc_severest_find(const struct lc_trace *trace, struct lc_severest list[LC_SEVEREST],
                             size_t *n);

#endif
