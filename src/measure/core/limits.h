/* What the program's resource limits (ulimit) leave for the library. The program needs what there
 * is: where a limit is set, the library takes a small part of what is left or does without. */
#ifndef LC_MEASURE_CORE_LIMITS_H
#define LC_MEASURE_CORE_LIMITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* May a file have so many bytes? Beyond the limit, growing it would raise SIGXFSZ. */
bool lc_limits_file(uint64_t bytes);

/* Bytes of address space that are left; UINT64_MAX: no limit. */
uint64_t lc_limits_room(void);

/* Is this mapping at most 1/64 of the address space that is left? */
bool lc_limits_memory(size_t bytes);

/* Appends all of it; false: errno says why. Within the limit of file size: writing beyond it would
 * end the program by SIGXFSZ. */
bool lc_write_all(int fd, const void *bytes, size_t n_bytes);

#endif
