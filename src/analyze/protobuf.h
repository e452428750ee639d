/* Fields of protocol buffers (https://protobuf.dev/programming-guides/encoding), appended to a
 * buffer; without memory the buffer is marked as failed, as its other appends do. */
#ifndef LC_ANALYZE_PROTOBUF_H
#define LC_ANALYZE_PROTOBUF_H

#include <stdint.h>
#include <string.h>

#include "base/strbuf.h"

enum { LC_PB_VARINT = 0, LC_PB_FIXED64 = 1, LC_PB_BYTES = 2 };

static inline void lc_pb_varint(struct lc_strbuf *out, uint64_t value) {
    for (; value >= 0x80; value >>= 7)
        lc_strbuf_putc(out, (char)(value | 0x80));
    lc_strbuf_putc(out, (char)value);
}

static inline void lc_pb_key(struct lc_strbuf *out, uint32_t field, uint32_t type) {
    lc_pb_varint(out, (uint64_t)field << 3 | type);
}

/* A field of type uint32, uint64, enum or bool. */
static inline void lc_pb_uint(struct lc_strbuf *out, uint32_t field, uint64_t value) {
    lc_pb_key(out, field, LC_PB_VARINT);
    lc_pb_varint(out, value);
}

/* A field of type fixed64; double: its bits. */
static inline void lc_pb_fixed64(struct lc_strbuf *out, uint32_t field, uint64_t value) {
    lc_pb_key(out, field, LC_PB_FIXED64);
    for (int i = 0; i < 8; i++)
        lc_strbuf_putc(out, (char)(value >> 8 * i));
}

static inline void lc_pb_double(struct lc_strbuf *out, uint32_t field, double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    lc_pb_fixed64(out, field, bits);
}

static inline void lc_pb_text(struct lc_strbuf *out, uint32_t field, const char *text) {
    size_t length = strlen(text);
    lc_pb_key(out, field, LC_PB_BYTES);
    lc_pb_varint(out, length);
    lc_strbuf_add(out, text, length);
}

/* A message that was built in a buffer of its own. */
static inline void lc_pb_message(struct lc_strbuf *out, uint32_t field,
                                 const struct lc_strbuf *inner) {
    lc_pb_key(out, field, LC_PB_BYTES);
    lc_pb_varint(out, inner->length);
    lc_strbuf_add(out, lc_strbuf_get(inner), inner->length);
    out->failed |= inner->failed;
}

#endif
