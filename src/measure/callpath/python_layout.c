#include "measure/callpath/python_layout.h"

#include <stdio.h>
#include <string.h>

enum { TEXT_LENGTH = 16, TEXT_STATE = 32, BYTES_LENGTH = 16, BYTES_BEGIN = 32, UNIT = 2 };

static uint64_t word_at(uint64_t address) {
    uint64_t word;
    memcpy(&word, (const void *)(uintptr_t)address, sizeof word);
    return word;
}

static uint32_t half_at(uint64_t address) {
    uint32_t half;
    memcpy(&half, (const void *)(uintptr_t)address, sizeof half);
    return half;
}

/* --- versions */

static const struct lc_python_layout python_3_11 = {
    .thread_frames = 56,
    .holder_frame = 8,
    .previous = 48,
    .code = 32,
    .instruction = 56,
    .flag = 68,
    .flag_is_entry = true,
    .file = 112,
    .name = 128,
    .line_table = 136,
    .first_line = 72,
    .instructions = 184,
    .ascii = 48,
    .wide = 72,
};
static const struct lc_python_layout python_3_12 = {
    .thread_frames = 56,
    .holder_frame = 0,
    .previous = 8,
    .code = 0,
    .instruction = 56,
    .flag = 70,
    .file = 112,
    .name = 128,
    .line_table = 136,
    .first_line = 68,
    .instructions = 192,
    .ascii = 40,
    .wide = 56,
};

/* The words of _Py_DebugOffsets, 3.13. */
enum {
    WORD_VERSION = 1,
    WORD_FREE_THREADED = 2,
    WORD_THREAD_FRAME = 23,
    WORD_PREVIOUS = 29,
    WORD_CODE = 30,
    WORD_INSTRUCTION = 31,
    WORD_OWNER = 33,
    WORD_FILE = 35,
    WORD_NAME = 37,
    WORD_LINE_TABLE = 38,
    WORD_FIRST_LINE = 39,
    WORD_INSTRUCTIONS = 43,
    WORD_TEXT_STATE = 68,
    WORD_TEXT_LENGTH = 69,
    WORD_ASCII_BYTES = 70
};

static bool layout_3_13(const void *published, struct lc_python_layout *layout) {
    uint64_t w[WORD_ASCII_BYTES + 1];
    if (published == NULL || memcmp(published, "xdebugpy", 8) != 0)
        return false;
    memcpy(w, published, sizeof w);
    if (w[WORD_VERSION] >> 16 != 0x030d || w[WORD_FREE_THREADED] != 0 ||
        w[WORD_TEXT_STATE] != TEXT_STATE || w[WORD_TEXT_LENGTH] != TEXT_LENGTH)
        return false;
    *layout = (struct lc_python_layout){
        .thread_frames = (uint16_t)w[WORD_THREAD_FRAME],
        .direct = true,
        .previous = (uint16_t)w[WORD_PREVIOUS],
        .code = (uint16_t)w[WORD_CODE],
        .instruction = (uint16_t)w[WORD_INSTRUCTION],
        .flag = (uint16_t)w[WORD_OWNER],
        .file = (uint16_t)w[WORD_FILE],
        .name = (uint16_t)w[WORD_NAME],
        .line_table = (uint16_t)w[WORD_LINE_TABLE],
        .first_line = (uint16_t)w[WORD_FIRST_LINE],
        .instructions = (uint16_t)w[WORD_INSTRUCTIONS],
        .ascii = (uint16_t)w[WORD_ASCII_BYTES],
        .wide = (uint16_t)(w[WORD_ASCII_BYTES] + 16),
    };
    return true;
}

bool lc_python_layout_of(const char *version, size_t code_bytes, const void *published,
                         struct lc_python_layout *layout) {
    unsigned minor = 0;
    if (sscanf(version, "3.%u.", &minor) != 1)
        return false;
    if (minor == 13)
        return layout_3_13(published, layout);
    if (minor != 11 && minor != 12)
        return false;
    *layout = minor == 11 ? python_3_11 : python_3_12;
    return code_bytes == layout->instructions;
}

uint64_t lc_python_innermost(const struct lc_python_layout *l, const void *thread_state) {
    uint64_t frames = word_at((uint64_t)(uintptr_t)thread_state + l->thread_frames);
    return l->direct || frames == 0 ? frames : word_at(frames + l->holder_frame);
}

/* --- texts */

static size_t put_utf8(char *out, uint32_t c) {
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    size_t n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (size_t i = n; i-- > 1; c >>= 6)
        out[i] = (char)(0x80 | (c & 0x3f));
    out[0] = (char)((n == 2 ? 0xc0 : n == 3 ? 0xe0 : 0xf0) | c);
    return n;
}

static uint32_t character(uint64_t begin, unsigned bytes, uint64_t i) {
    uint32_t c = 0;
    memcpy(&c, (const void *)(uintptr_t)(begin + i * bytes), bytes); /* little-endian */
    return c;
}

/* As UTF-8, its last characters if it is too long. */
static void copy_text(const struct lc_python_layout *l, uint64_t text, char *out, size_t size) {
    *out = '\0';
    if (text == 0)
        return;
    uint64_t length = word_at(text + TEXT_LENGTH);
    uint32_t state = half_at(text + TEXT_STATE);
    unsigned bytes = state >> 2 & 7; /* of a character: 1, 2 or 4 */
    bool compact = state >> 5 & 1, ascii = state >> 6 & 1;
    if (!compact || (bytes != 1 && bytes != 2 && bytes != 4))
        return;
    uint64_t begin = text + (ascii ? l->ascii : l->wide), most = (size - 1) / (ascii ? 1 : 4);
    for (uint64_t i = length > most ? length - most : 0; i < length; i++)
        out += put_utf8(out, character(begin, bytes, i));
    *out = '\0';
}

/* The last part of a path, two of them where one says nothing: "pkg.__init__.py" (a slash would
 * look like another function of the call path). */
static const char *last_parts(char *path) {
    char *base = strrchr(path, '/');
    if (base == NULL)
        return path;
    if (strncmp(base + 1, "__", 2) != 0 || base == path)
        return base + 1;
    *base = '.';
    char *directory = strrchr(path, '/');
    return directory != NULL ? directory + 1 : path;
}

bool lc_python_name(const struct lc_python_layout *l, uint64_t code, char *name, size_t size) {
    char file[256], function[256];
    copy_text(l, word_at(code + l->file), file, sizeof file);
    copy_text(l, word_at(code + l->name), function, sizeof function);
    if (strncmp(file, "<frozen importlib", 17) == 0)
        return false;
    if (strcmp(function, "<module>") == 0)
        snprintf(name, size, "%s:%s", last_parts(file), function);
    else
        snprintf(name, size, "%s:%s:%u", last_parts(file), function, half_at(code + l->first_line));
    return true;
}

/* --- lines (CPython's table of locations) */

/* Six bits a byte, low ones first, bit 6: more follows. */
static const uint8_t *take_number(const uint8_t *at, const uint8_t *end, uint32_t *number) {
    *number = 0;
    for (unsigned shift = 0; at < end && shift < 30; shift += 6) {
        *number |= (uint32_t)(*at & 63) << shift;
        if ((*at++ & 64) == 0)
            break;
    }
    return at;
}

uint32_t lc_python_line(const struct lc_python_layout *l, uint64_t code, uint64_t instruction) {
    uint64_t table = word_at(code + l->line_table), begin = code + l->instructions;
    if (table == 0 || instruction < begin)
        return 0;
    uint64_t wanted = (instruction - begin) / UNIT, unit = 0;
    const uint8_t *at = (const uint8_t *)(uintptr_t)(table + BYTES_BEGIN);
    const uint8_t *end = at + word_at(table + BYTES_LENGTH);
    int64_t line = half_at(code + l->first_line);
    while (at < end) {
        unsigned kind = *at >> 3 & 15;
        uint32_t units = (*at++ & 7) + 1u, delta = 0;
        if (kind == 13 || kind == 14) { /* a signed difference first */
            at = take_number(at, end, &delta);
            line += delta & 1 ? -(int64_t)(delta >> 1) : (int64_t)(delta >> 1);
        } else if (kind >= 10 && kind <= 12) {
            line += kind - 10;
        }
        while (at < end && *at < 128) /* columns; an entry begins with bit 7 set */
            at++;
        if (wanted < unit + units)
            return kind == 15 || line < 0 ? 0 : (uint32_t)line;
        unit += units;
    }
    return 0;
}
