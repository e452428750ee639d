/* Sorting of large arrays by integer keys in linear time: radix sort of (key, index) pairs, digit
 * by digit from the least significant, skipping digits that all keys share. Stable, so that several
 * keys are sorted one after another, the least significant first. */
#ifndef LC_ANALYZE_RADIX_H
#define LC_ANALYZE_RADIX_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* Key `level` (0: the least significant) of record `index`. */
typedef uint64_t lc_key_fn(const void *records, uint32_t index, int level);

/* A key that sorts like the signed value. */
static inline uint64_t lc_key_signed(int64_t value) {
    return (uint64_t)value ^ (uint64_t)1 << 63;
}

/* *order (the caller frees it): indices of the records in ascending order; equal ones keep theirs.
 * Errors: LC_ERR_NOMEM, LC_ERR_RANGE. */
enum lc_err lc_order_by(uint32_t **order, const void *records, size_t n, lc_key_fn *key,
                        int n_levels);

/* Sorts the records themselves. On errors they lie as before: LC_ERR_NOMEM; LC_ERR_RANGE: more
 * than 32 bits number, or longer than 256 bytes each. */
enum lc_err lc_sort_by(void *records, size_t n, size_t record_bytes, lc_key_fn *key, int n_levels);

#endif
