/* Which package a file is from: for advice where names come from. */
#ifndef LC_REPORT_PACKAGES_H
#define LC_REPORT_PACKAGES_H

#include <stdbool.h>
#include <stddef.h>

/* Debian and its kin: the package whose list in `lists` (/var/lib/dpkg/info) has the file. A file
 * below /usr may be listed without it, and the other way round; links are followed. False: no list
 * has it. */
bool lc_package_of(const char *lists, const char *file, char *package, size_t room);

#endif
