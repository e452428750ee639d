/* Where the synchronisation interval of a wait state begins
 * (docs/definitions/wait-states.md#31-synchronisation-points and
 * docs/definitions/wait-states.md#32-the-synchronisation-interval): T* = the latest synchronisation
 * point of the waiting location r and the cause d at or before the start of the wait, at least the
 * origin.
 *
 * Points of two locations alone (messages, windows, neighbours) are kept per pair; those of
 * collectives and teams are in the list of each member (lc_loc.syncs), so that the latest common
 * one is found by walking both lists backwards. Used by delay.c. */
#ifndef LC_ANALYZE_SYNCPOINT_H
#define LC_ANALYZE_SYNCPOINT_H

#include "analyze/profile.h"

/* Fills starts[i] = T* for each state of this rank (in the order of lines->states; INT64_MIN for
 * states without cause). Collective. Errors: LC_ERR_NOMEM, LC_ERR_RANGE. */
enum lc_err lc_sync_starts(const struct lc_timelines *lines, int64_t *starts);

#endif
