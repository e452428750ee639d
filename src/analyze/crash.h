/* libotf2 can crash on archives that were tampered with. A crash of this program is told as what
 * it is: one line and exit code 1. (After a crash nothing can be trusted, so nothing is saved.)
 * Called by main.c; pipeline.c says when libotf2 is reading. */
#ifndef LC_ANALYZE_CRASH_H
#define LC_ANALYZE_CRASH_H

#include <stdbool.h>

/* From now on deadly signals are told; `archive` is named. status: file of the exit code, or NULL.
 * Does nothing in sanitizer builds, which have a report of their own. */
void lc_crash_guard(const char *archive, const char *status);

/* Whether libotf2 is reading: then it, and the archive, is what failed. */
void lc_crash_reading(bool reading);

/* Leaves the exit code for `latecomer analyze`, where a launcher stands between, unless another
 * rank has done so; returns what this program has to end with. */
int lc_crash_tell(int code);

#endif
