/* What to do about a finding: by the evidence that there is at its call path, else by its kind. */
#ifndef LC_REPORT_ADVICE_H
#define LC_REPORT_ADVICE_H

#include "report/finding.h"
#include "report/view.h"

/* One sentence, or two. Never NULL. */
const char *lc_advice_for(const struct lc_view *view, const struct lc_finding *finding);

#endif
