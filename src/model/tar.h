/* The tar format of .cubex, as much as is needed: 512-byte ustar headers, octal numbers
 * (docs/definitions/cubex.md). Invariant of what we write: no member's size is a multiple of 512,
 * since CubeLib's reader misplaces the header after such a one. Used by cubex_read.c and
 * cubex_write.c only. */
#ifndef LC_MODEL_TAR_H
#define LC_MODEL_TAR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

enum { LC_TAR_BLOCK = 512, LC_TAR_NAME_MAX = 100 };

/* The largest member: eleven octal digits. */
#define LC_TAR_SIZE_MAX ((UINT64_C(1) << 33) - 1)

struct lc_tar_member {
    char name[LC_TAR_NAME_MAX + 156 + 2]; /* prefix, '/', name; a leading "./" is dropped */
    uint64_t offset;                      /* of the content in the file */
    uint64_t bytes;
};

/* Bytes from the begin of a member's content to the next header. */
static inline uint64_t lc_tar_padded(uint64_t bytes) {
    return (bytes + LC_TAR_BLOCK - 1) / LC_TAR_BLOCK * LC_TAR_BLOCK;
}

/* The block before a member of so many bytes. */
void lc_tar_header(unsigned char block[LC_TAR_BLOCK], const char *name, uint64_t bytes);

bool lc_tar_is_header(const unsigned char *block); /* magic and checksum are right */
bool lc_tar_is_file(const unsigned char *block);   /* type: an ordinary file */

/* Name and size of a header that lc_tar_is_header accepted; LC_ERR_FORMAT if the size is no number.
 */
enum lc_err lc_tar_parse(const unsigned char *block, struct lc_tar_member *member);

#endif
