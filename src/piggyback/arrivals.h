/* An entry that was read, from a ring or from a message: it goes to the first pending place of its
 * stream, else to the stash. */
#ifndef LC_PIGGYBACK_ARRIVALS_H
#define LC_PIGGYBACK_ARRIVALS_H

#include "piggyback/match_types.h"

/* origin: its place in the ring; NULL: it came as message, with n_extra words. Without memory it is
 * counted as absent. */
void lc_stash_add(struct lc_matcher *match, struct lc_source *s, struct lc_ring_entry *origin,
                  const struct lc_ring_entry *entry, const uint64_t *extra, uint32_t n_extra);

#endif
