/* Frames that say little about the program: functions without a name, and those of interpreters and
 * of libraries that only hand on a call. Reports fold a run of one kind into "(25 frames of
 * Python)". */
#ifndef LC_REPORT_FRAMES_H
#define LC_REPORT_FRAMES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/strbuf.h"

/* What a frame belongs to, static text; NULL: it is worth a line of its own. */
const char *lc_frame_kind(const char *name);

/* A function without a name that would say something if it had one. */
bool lc_frame_needs_name(const char *name);

/* Appends "(3 unnamed)" or "(25 frames of Python)". */
void lc_put_frames(struct lc_strbuf *out, const char *kind, size_t n);

/* Do so many frames of this kind say less than one name? A single named frame is shown. */
bool lc_frames_fold(const char *kind, size_t n);

#endif
