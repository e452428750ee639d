/* libotf2 can crash on archives that were tampered with, or read on without an end. Both are told
 * as what they are: one line and exit code 1. (After a crash nothing can be trusted, so nothing is
 * saved; a process that has to stay only agrees with the others on that.) Called by
 * analyze_main.c; pipeline.c says when libotf2 is reading. */
#ifndef LC_ANALYZE_CRASH_H
#define LC_ANALYZE_CRASH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

/* From now on fatal signals are reported, with the name `archive`. status: file of the exit code,
 * or NULL. stay: a process that ended would take its whole job with it, so one in which libotf2
 * fails goes on, as lc_crash_read says. Does nothing in sanitizer builds, which have a report of
 * their own. */
void lc_crash_guard(const char *archive, const char *status, bool stay);

/* Calls read(user), which uses libotf2. *err is what it returns; false: libotf2 has failed in it:
 * *err is LC_ERR_FORMAT, its text says how, and what read() used may neither be used nor freed.
 * Does not return where libotf2 failed and the process need not stay, or cannot. */
bool lc_crash_read(enum lc_err (*read)(void *user), void *user, enum lc_err *err);

/* Whether libotf2 is reading: then it, and the archive, is what failed. */
void lc_crash_reading(bool reading);

/* From now on libotf2 is at work: if it computes for 30 s (LATECOMER_READER_PATIENCE) and *records
 * stays the same, it hangs. NULL: it has come back. Does nothing without lc_crash_guard. */
void lc_crash_watch(const uint64_t *records);

/* Leaves the exit code for `latecomer analyze`, where a launcher stands between, unless another
 * rank has done so; returns what this program has to end with. */
int lc_crash_tell(int code);

#endif
