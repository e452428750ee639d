/* Raw records of one thread -> OTF2 events. Called by write_events.c, once per location.
 *
 * Nouns
 *   stack    the regions that are open, callers included: a frame that ended is left at the end of
 *            the previous MPI call, a frame that begins is entered at the begin of the next one
 *
 * Invariant: Enter and Leave are balanced and times ascend, whatever the records say; a stream that
 * was cut off is closed at its last time. */
#ifndef LC_TRACE_TRACE_CONVERT_H
#define LC_TRACE_TRACE_CONVERT_H

#include "trace/conversion.h"

/* All records of a location become events. LC_ERR_IO, LC_ERR_NOMEM; damage is
 * counted. */
enum lc_err lc_convert_run(struct lc_convert *c);

#endif
