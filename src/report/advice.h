/* What to do about a finding: by the evidence that there is at its call path, else by its kind. */
#ifndef LC_REPORT_ADVICE_H
#define LC_REPORT_ADVICE_H

#include <stdbool.h>

#include "report/finding.h"
#include "report/view.h"

/* One sentence, or two. Never NULL. */
const char *lc_advice_for(const struct lc_view *view, const struct lc_finding *finding);

/* The name of an ordered part of a loop of OpenMP. */
bool lc_is_ordered(const char *name);

/* Did samples find the code off the processor while it waited for other threads of its process? */
bool lc_waits_for_thread(const struct lc_view *view, uint32_t path);

#endif
