/* Collective operations in which the one waited for depends on the rank: scans (the last sender of
 * lower rank) and neighbourhood operations (the last sending neighbour). Their members travel one
 * by one to the home of the instance. Used by collective.c. */
#ifndef LC_ANALYZE_RANKED_H
#define LC_ANALYZE_RANKED_H

#include "analyze/aggregate.h"
#include "analyze/trace.h"

struct lc_ranked { /* a member */
    uint64_t instance;
    struct lc_who who;
    uint32_t coll;
    uint32_t comm;
    uint8_t kind, flags; /* LC_KIND_*, LC_COLL_* */
};

struct lc_ranked_cause { /* who ends the waiting of a member of this rank */
    uint64_t instance;
    struct lc_who by;
    uint32_t location, coll;
    bool other; /* one more neighbour that it has to wait for, if he is not there */
};

/* Collective. *causes (the caller frees it) holds those of the members of this rank, of each the
 * one waited for before the others. Errors are the same on all ranks: LC_ERR_NOMEM. */
enum lc_err lc_ranked_causes(const struct lc_trace *trace, const struct lc_ranked *members,
                             size_t n_members, struct lc_ranked_cause **causes, size_t *n_causes);

#endif
