/* Files of an archive: each is written under a temporary name and moved when it is whole. Ranks
 * write theirs independently: OTF2's event files hold nothing of the archive that they belong to,
 * so that each process opens an archive of its own, in a directory of its own. */
#ifndef LC_TRACE_OTF2_ARCHIVE_H
#define LC_TRACE_OTF2_ARCHIVE_H

#include <otf2/otf2.h>
#include <stdbool.h>

#include "base/err.h"

/* Opens an archive under a temporary directory DIR/traces/tmp-<name>; lc_trace_archive_close moves
 * what was written to its place. */
struct lc_trace_archive {
    OTF2_Archive *otf2;
    char *temporary; /* directory */
    char *dir;
};
/* Errors: LC_ERR_IO, LC_ERR_NOMEM; nothing to close then. */
enum lc_err lc_trace_archive_open(struct lc_trace_archive *a, const char *dir, const char *name);
/* Moves it to its place, also the anchor file if wanted. LC_ERR_IO; freed in any case. */
enum lc_err lc_trace_archive_close(struct lc_trace_archive *a, bool anchor);
/* Closes and removes what was written; nothing if it is closed already. */
void lc_trace_archive_drop(struct lc_trace_archive *a);

#endif
