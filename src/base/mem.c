#include "base/mem.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum lc_err lc_reserve(void *array, size_t *capacity, size_t need, size_t elem_bytes) {
    void *old;
    memcpy(&old, array, sizeof old);
    if (need <= *capacity || elem_bytes == 0)
        return LC_OK;
    size_t target = *capacity + *capacity / 2;
    if (target < need)
        target = need;
    if (target < 16)
        target = 16;
    if (target > SIZE_MAX / 2 / elem_bytes)
        return lc_fail(LC_ERR_NOMEM, "memory: %zu elements of %zu bytes are too many", target,
                       elem_bytes);
    void *grown = realloc(old, target * elem_bytes);
    if (grown == NULL)
        return lc_fail(LC_ERR_NOMEM, "memory: cannot allocate %zu bytes", target * elem_bytes);
    memcpy(array, &grown, sizeof grown);
    *capacity = target;
    /* cppcheck-suppress memleak ; *array has it */
    return LC_OK;
}

enum lc_err lc_grow(void *array, size_t *capacity, size_t need, size_t elem_bytes) {
    size_t before = *capacity;
    LC_TRY(lc_reserve(array, capacity, need, elem_bytes));
    if (*capacity != before) {
        char *memory;
        memcpy(&memory, array, sizeof memory);
        memset(memory + before * elem_bytes, 0, (*capacity - before) * elem_bytes);
    }
    return LC_OK;
}

void lc_shrink(void *array, size_t *capacity, size_t count, size_t elem_bytes) {
    void *old;
    memcpy(&old, array, sizeof old);
    if (old == NULL || *capacity == count)
        return;
    void *small = realloc(old, (count ? count : 1) * elem_bytes);
    if (small == NULL)
        return;
    memcpy(array, &small, sizeof small);
    *capacity = count;
    /* cppcheck-suppress memleak ; *array has it */
}

enum lc_err lc_alloc(void *out, size_t count, size_t elem_bytes) {
    void *memory = NULL;
    if (count != 0 && elem_bytes != 0) {
        memory = calloc(count, elem_bytes);
        if (memory == NULL)
            return lc_fail(LC_ERR_NOMEM, "memory: cannot allocate %zu elements of %zu bytes", count,
                           elem_bytes);
    }
    memcpy(out, &memory, sizeof memory);
    return LC_OK;
}

enum lc_err lc_strdup(char **out, const char *text) {
    *out = strdup(text);
    if (*out == NULL)
        return lc_fail(LC_ERR_NOMEM, "memory: cannot copy a string of %zu bytes", strlen(text));
    return LC_OK;
}
