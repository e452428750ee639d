/* Reading packed bytes: never beyond the end; a failure is remembered, so that one check at the end
 * is enough. */
#ifndef LC_FORMAT_BYTES_H
#define LC_FORMAT_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Keys, payloads and definitions are written with lc_strbuf and read with this. */
struct lc_byte_reader {
    const unsigned char *at;
    size_t left;
    bool bad;
};

static inline const void *lc_take(struct lc_byte_reader *r, size_t bytes) {
    if (bytes > r->left) {
        r->bad = true;
        return NULL;
    }
    const void *p = r->at;
    r->at += bytes;
    r->left -= bytes;
    return p;
}

/* False, and nothing copied: there are not as many. */
static inline bool lc_take_copy(struct lc_byte_reader *r, void *into, size_t bytes) {
    const void *p = lc_take(r, bytes);
    if (p)
        memcpy(into, p, bytes);
    return p != NULL;
}

static inline uint32_t lc_take_u32(struct lc_byte_reader *r) {
    uint32_t value = 0;
    lc_take_copy(r, &value, sizeof value);
    return value;
}

static inline uint64_t lc_take_u64(struct lc_byte_reader *r) {
    uint64_t value = 0;
    lc_take_copy(r, &value, sizeof value);
    return value;
}

static inline const char *lc_take_text(struct lc_byte_reader *r) {
    size_t length = 0;
    while (length < r->left && r->at[length] != 0)
        length++;
    const char *text = length < r->left ? lc_take(r, length + 1) : NULL;
    r->bad |= !text;
    return text ? text : "";
}

#endif
