/* Findings: what is wrong, where, and what would be gained. Computed once from a result (a profile,
 * an analysis, or a profile sharpened by the analysis of the same run); `show`, JSON and every
 * other output render this list.
 *
 * Invariants: sorted by gain, findings whose gain is not known after those with one, by severity,
 * unless lc_finding.order_s says where they stand; waits that a finding causes are its evidence and
 * no findings of their own; nothing is listed that is below the threshold of its kind or below what
 * the measurement can tell.
 * docs/definitions/findings.md has the formulas. */
#ifndef LC_REPORT_FINDINGS_H
#define LC_REPORT_FINDINGS_H

#include "report/finding.h"
#include "report/sums.h"

struct json_t;

/* Of a result that is shown; opens the analysis that lies beside a profile. Freed with
 * lc_findings_free. Errors: LC_ERR_NOMEM, those of lc_view_open (of the analysis), lc_view_row,
 * lc_late_read. */
enum lc_err lc_findings_of(struct lc_findings **findings, struct lc_view *view,
                           const struct lc_sums *sums);
/* Frees them; NULL is allowed. */
void lc_findings_free(struct lc_findings *findings);

/* An array of objects as docs/result-format.md describes them; the caller gives it back. NULL
 * without memory. */
struct json_t *lc_findings_json(const struct lc_findings *findings, const struct lc_view *view);

#endif
