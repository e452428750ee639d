/* The files that an archive keeps per location. Called by forecast.c, read.c. */
#ifndef LC_ANALYZE_ARCHIVE_FILE_H
#define LC_ANALYZE_ARCHIVE_FILE_H

#include <stdint.h>

/* Size of a location's file in bytes; -1: there is none (archives may keep several locations in one
 * file, under other names). archive: path of the anchor file (traces.otf2) or its stem; suffix:
 * "evt" or "def". */
int64_t lc_archive_file_bytes(const char *archive, uint64_t location, const char *suffix);

#endif
