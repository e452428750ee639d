/* What all members of a collective instance together tell each of them. Merging is associative and
 * commutative (ties: lowest rank in the communicator), so the order of merging does not matter.
 * Used by collective.c. */
#ifndef LC_ANALYZE_AGGREGATE_H
#define LC_ANALYZE_AGGREGATE_H

#include "analyze/events.h"

struct lc_who { /* a member; location LC_NONE: nobody */
    int64_t begin, end;
    uint32_t rank, location, cnode;
    uint32_t group; /* inter-communicators: 0 or 1; else 0 */
};

struct lc_aggregate {
    struct lc_who latest;       /* sender that begins last; rooted operations: last but the root */
    struct lc_who earliest;     /* sender that begins first, without the root */
    struct lc_who latest_of[2]; /* inter-communicators: the same in each group */
    struct lc_who root;
    int64_t latest_begin, earliest_end; /* over all members */
    int64_t earliest_exchange_end;      /* over members that send and receive */
    uint32_t n_members, root_rank;
    uint32_t op, kind;
    uint32_t mismatch; /* members name different operations or roots */
    uint32_t first_location;
};

/* No member yet: what lc_aggregate_add begins with. */
void lc_aggregate_init(struct lc_aggregate *a);
/* Adds one member of a collective operation and its record. */
void lc_aggregate_add(struct lc_aggregate *a, const struct lc_coll_part *coll,
                      const struct lc_who *member);
/* Adds what another rank has aggregated of the same instance. */
void lc_aggregate_merge(struct lc_aggregate *a, const struct lc_aggregate *b);

#endif
