/* Which file a command means by FILE, DIR or nothing. */
#ifndef LC_REPORT_LOCATE_H
#define LC_REPORT_LOCATE_H

#include <stdbool.h>

#include "report/view.h"

/* FILE: itself. DIR: its profile.cubex, or with `analysis` its analysis.cubex (where one is
 * missing: the other). NULL: the experiment directory here whose result is newest. The caller frees
 * *file. LC_ERR_NOT_FOUND if there is none. */
enum lc_err lc_locate(const char *operand, bool analysis, char **file);

/* Opens the file that lc_locate finds; lc_view_close closes it. *view is NULL after a failure.
 * Errors: those of lc_locate and lc_view_open. */
enum lc_err lc_locate_view(const char *operand, bool analysis, struct lc_view **view);

/* "DIR/analysis.cubex" of "DIR/profile.cubex" if it is there, else NULL; the caller frees it. */
char *lc_locate_beside(const char *profile);

/* Does the directory hold what ranks recorded for a trace (DIR/traces/r0.t0.raw and the like) and
 * nobody made an archive of? */
bool lc_locate_unfinished_trace(const char *directory);

#endif
