/* Entries that may arrive after their messages (match_types.h, "pending"). */
#ifndef LC_PIGGYBACK_PENDING_ENTRIES_H
#define LC_PIGGYBACK_PENDING_ENTRIES_H

#include "piggyback/match_types.h"

/* As lc_match_take, where entries may come after their messages: the place is taken now, the entry
 * is there when `pending` is false. To be given to lc_match_release; NULL: no memory. */
struct lc_stashed *lc_match_claim(struct lc_matcher *match, uint32_t source, uint32_t context,
                                  int32_t tag, uint64_t order, uint32_t bytes);

/* Releases an item of lc_match_claim; one that is still pending is given up. NULL: nothing. */
void lc_match_release(struct lc_matcher *match, struct lc_stashed *item);

#endif
