/* Entries that may arrive after their messages (match_types.h, "pending"). */
#ifndef LC_PIGGYBACK_PENDING_ENTRIES_H
#define LC_PIGGYBACK_PENDING_ENTRIES_H

#include "piggyback/match_types.h"

/* As lc_match_take, where entries may come after their messages: the place is taken now, the entry
 * is there when `pending` is false. To be given to lc_match_release; NULL: no memory. */
struct lc_stashed *lc_match_claim(struct lc_matcher *match, uint32_t source, uint32_t context,
                                  int32_t tag, uint64_t order, uint32_t bytes);

/* Tells of the entry that a receive posted now would get, now or when it arrives: *glance stays
 * until then, or until lc_match_look_away. False: it is not certain which one that is, no memory,
 * or somebody else looks at it. */
bool lc_match_glance(struct lc_matcher *match, uint32_t source, uint32_t context, int32_t tag,
                     struct lc_glance *glance);
/* Tells of the entry of an item of lc_match_claim, now or when it arrives, as lc_match_glance does.
 * False: somebody else looks at it. */
bool lc_match_glance_at(struct lc_stashed *item, struct lc_glance *glance);
/* *glance is no longer wanted. */
void lc_match_look_away(struct lc_glance *glance);

/* Releases an item of lc_match_claim; one that is still pending is given up. NULL: nothing. */
void lc_match_release(struct lc_matcher *match, struct lc_stashed *item);

#endif
