/* Where the code of a source line is, in the file of a program with debug information. */
#ifndef LC_SYMBOLS_LINES_H
#define LC_SYMBOLS_LINES_H

#include <stdint.h>

/* Calls `see` for each range [begin, end) of addresses (of the ELF file) that belongs to this line
 * of a file of this name, without directories. None where there is no debug information in
 * `program`, a path. */
void lc_lines_each(const char *program, const char *file, int line,
                   void (*see)(void *context, uint64_t begin, uint64_t end), void *context);

#endif
