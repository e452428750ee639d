/* libotf2 can crash on archives that were tampered with, or read on without an end. Both are told
 * as what they are: one line and exit code 1. (After a crash nothing can be trusted, so nothing is
 * saved.) Called by analyze_main.c; pipeline.c says when libotf2 is reading. */
#ifndef LC_ANALYZE_CRASH_H
#define LC_ANALYZE_CRASH_H

#include <stdbool.h>
#include <stdint.h>

/* From now on deadly signals are told; `archive` is named. status: file of the exit code, or NULL.
 * Does nothing in sanitizer builds, which have a report of their own. */
void lc_crash_guard(const char *archive, const char *status);

/* Whether libotf2 is reading: then it, and the archive, is what failed. */
void lc_crash_reading(bool reading);

/* From now on libotf2 is at work: if it computes for 30 s (LATECOMER_READER_PATIENCE) and *records
 * stays the same, it hangs. NULL: it has come back. Does nothing without lc_crash_guard. */
void lc_crash_watch(const uint64_t *records);

/* Leaves the exit code for `latecomer analyze`, where a launcher stands between, unless another
 * rank has done so; returns what this program has to end with. */
int lc_crash_tell(int code);

#endif
