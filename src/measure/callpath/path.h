/* The parts of the call-path code: unwind.c (the stack as frames), modules.c (addresses to
 * modules), draft.c (frames to items and nodes), path.c (entries), call_sites.c (between which
 * calls time was spent). */
#ifndef LC_MEASURE_CALLPATH_PATH_H
#define LC_MEASURE_CALLPATH_PATH_H

struct lc_call;

void lc_entry_made(struct lc_call *call); /* after a look-up that was a miss */

#endif
