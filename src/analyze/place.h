/* Places of a trace as text and JSON: call paths, locations, times. Used for the miscellaneous
 * members of the result. */
#ifndef LC_ANALYZE_PLACE_H
#define LC_ANALYZE_PLACE_H

#include <jansson.h>

#include "analyze/trace.h"
#include "base/strbuf.h"

/* "main/f/MPI_Recv", a '/' in a name as %2F. */
void lc_place_callpath(struct lc_strbuf *text, const struct lc_trace *trace, uint32_t cnode);

/* Adds "rank", "thread" and (unless LC_NONE) "callpath" to an object. */
void lc_place_set(json_t *object, const struct lc_trace *trace, uint32_t location, uint32_t cnode);

/* Ticks as seconds, a new reference; NULL: no memory. */
json_t *lc_place_seconds(const struct lc_trace *trace, double ticks);
/* A time of the trace as seconds since its first event; a new reference. */
json_t *lc_place_time(const struct lc_trace *trace, int64_t time);

/* Moves the text of a JSON value to `out`; takes the reference. Errors: LC_ERR_NOMEM. */
enum lc_err lc_place_dump(struct lc_strbuf *out, json_t *value);

#endif
