/* The most expensive root causes: which code of which location cost most waiting, and for its most
 * expensive single wait state the chain of victims: the waiting location, then the location that
 * waited most because of that waiting, and so on. */
#ifndef LC_ANALYZE_CHAINS_H
#define LC_ANALYZE_CHAINS_H

#include "analyze/long_term.h"
#include "base/strbuf.h"

/* JSON text on rank 0, of both models. Collective. Errors: LC_ERR_NOMEM. */
enum lc_err lc_chains_run(struct lc_strbuf *json, const struct lc_delay *delay,
                          const struct lc_long_term *long_term);

#endif
