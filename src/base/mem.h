/* Growable arrays and checked allocation. An array is pointer + length + capacity in the owner's
 * struct; lc_grow makes room. Sizes from files are checked against the file's length before they
 * come here. */
#ifndef LC_BASE_MEM_H
#define LC_BASE_MEM_H

#include <stddef.h>

#include "base/err.h"

/* Makes *array (elements of elem_bytes) hold at least `need` elements; grows by half, new room is
 * zeroed. On failure (LC_ERR_NOMEM) the array is as before. Freed with free(). */
enum lc_err lc_grow(void *array, size_t *capacity, size_t need, size_t elem_bytes);

/* Makes *array hold at least `need` elements, as lc_grow does; new room is left as it is: for large
 * arrays of which each element is written as a whole. Errors: LC_ERR_NOMEM. */
enum lc_err lc_reserve(void *array, size_t *capacity, size_t need, size_t elem_bytes);

/* Gives back what is not needed: the capacity becomes `count`, where the memory can be had. */
void lc_shrink(void *array, size_t *capacity, size_t count, size_t elem_bytes);

/* *out: count elements of zeros, which the caller frees; NULL for count 0. Errors: LC_ERR_NOMEM. */
enum lc_err lc_alloc(void *out, size_t count, size_t elem_bytes);

/* Copies a text into *out, which the caller frees. Errors: LC_ERR_NOMEM. */
enum lc_err lc_strdup(char **out, const char *text);

#endif
