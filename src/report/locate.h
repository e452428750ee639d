/* Which file a command means by FILE, DIR or nothing. */
#ifndef LC_REPORT_LOCATE_H
#define LC_REPORT_LOCATE_H

#include <stdbool.h>

#include "base/err.h"

/* FILE: itself. DIR: its profile.cubex, or with `analysis` its analysis.cubex (where one is
 * missing: the other). NULL: the experiment directory here whose result is newest. The caller frees
 * *file. LC_ERR_NOT_FOUND if there is none. */
enum lc_err lc_locate(const char *operand, bool analysis, char **file);

#endif
