/* Which times of a result are estimates: those that samples have divided (member samples.tsv). */
#ifndef LC_REPORT_SAMPLE_ERRORS_H
#define LC_REPORT_SAMPLE_ERRORS_H

#include "report/view.h"

/* Per path of the view the standard error of its time, in seconds, children included; 0: it was
 * measured. The caller frees it. Errors: LC_ERR_NOMEM; LC_ERR_FORMAT: the member is damaged. */
enum lc_err lc_sample_errors(const struct lc_view *view, double **errors);

#endif
