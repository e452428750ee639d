/* Which packages files are from: for advice where names come from. */
#ifndef LC_REPORT_PACKAGES_H
#define LC_REPORT_PACKAGES_H

#include <stddef.h>

#include "base/err.h"

enum { LC_PACKAGE_NAME = 128 };

/* Debian and its kin: for each file the package whose list in `lists` (/var/lib/dpkg/info) has it,
 * "" where no list has. A file below /usr may be listed without it, and the other way round; links
 * are followed. The lists are thousands, so all files are looked for in one walk through them.
 * LC_ERR_NOMEM. */
enum lc_err lc_packages_of(const char *lists, const char *const *files, size_t n,
                           char (*packages)[LC_PACKAGE_NAME]);

#endif
