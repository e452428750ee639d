/* Call sites in the trace. */
#ifndef LC_MEASURE_TRACE_TRACE_SITES_H
#define LC_MEASURE_TRACE_TRACE_SITES_H

struct lc_entry;

/* of a call path that was not seen before */
void lc_trace_sites(const struct lc_entry *entry);

#endif
