/* What libotf2 alone needs for reading: the yardstick of bench_rootcause. */
#ifndef LC_PLAIN_READ_H
#define LC_PLAIN_READ_H

#include <stdint.h>

/* Reads the locations `rank`, `rank` + `size`, .. of the archive, in the order of the definitions,
 * with callbacks for all records of make_trace that only count. The number of events, 0 on failure.
 */
uint64_t plain_read(const char *archive, uint32_t rank, uint32_t size);

#endif
