#include "report/page_pack.h"

#include <stdlib.h>
#include <stdbool.h>
#include <stdint.h>
#include <zlib.h>

#include "base/mem.h"

enum { ROOM = 3 << 14 }; /* a multiple of 3: base64 without padding inside a block */

struct lc_page_block {
    FILE *out;
    z_stream z;
    unsigned char packed[ROOM];
    char text[ROOM / 3 * 4];
    bool failed;
};

static void put_base64(struct lc_page_block *block, size_t bytes) {
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char *at = block->text;
    for (size_t i = 0; i < bytes; i += 3) {
        const unsigned char *p = &block->packed[i];
        unsigned word = (unsigned)p[0] << 16 | (i + 1 < bytes ? (unsigned)p[1] << 8 : 0) |
                        (i + 2 < bytes ? p[2] : 0);
        *at++ = letters[word >> 18];
        *at++ = letters[word >> 12 & 63];
        *at++ = i + 1 < bytes ? letters[word >> 6 & 63] : '=';
        *at++ = i + 2 < bytes ? letters[word & 63] : '=';
    }
    size_t length = (size_t)(at - block->text);
    if (fwrite(block->text, 1, length, block->out) != length)
        block->failed = true;
}

enum lc_err lc_page_block_begin(struct lc_page_block **block, const char *name, FILE *out) {
    LC_TRY(lc_alloc(block, 1, sizeof **block));
    (*block)->out = out;
    /* Fast: rows of numbers, most of a large page, hardly shrink with more effort. */
    if (deflateInit2(&(*block)->z, Z_BEST_SPEED, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY) !=
        Z_OK) {
        free(*block);
        *block = NULL;
        return lc_fail(LC_ERR_NOMEM, "memory: cannot compress the page");
    }
    (*block)->z.next_out = (*block)->packed;
    (*block)->z.avail_out = ROOM;
    fprintf(out, "<script type=\"application/octet-stream\" data-block=\"%s\">", name);
    return LC_OK;
}

static void run(struct lc_page_block *block, int flush) {
    int code;
    do {
        code = deflate(&block->z, flush);
        if (block->z.avail_out == 0) {
            put_base64(block, ROOM);
            block->z.next_out = block->packed;
            block->z.avail_out = ROOM;
        }
    } while (flush == Z_FINISH ? code == Z_OK || code == Z_BUF_ERROR : block->z.avail_in > 0);
}

void lc_page_block_put(struct lc_page_block *block, const void *data, size_t bytes) {
    const unsigned char *at = data;
    while (bytes > 0) {
        size_t piece = bytes < 1u << 30 ? bytes : 1u << 30;
        block->z.next_in = (unsigned char *)(uintptr_t)at;
        block->z.avail_in = (unsigned)piece;
        run(block, Z_NO_FLUSH);
        at += piece;
        bytes -= piece;
    }
}

static ssize_t write_cookie(void *cookie, const char *text, size_t bytes) {
    lc_page_block_put(cookie, text, bytes);
    return (ssize_t)bytes;
}

FILE *lc_page_block_stream(struct lc_page_block *block) {
    return fopencookie(block, "w", (cookie_io_functions_t){.write = write_cookie});
}

enum lc_err lc_page_block_end(struct lc_page_block *block) {
    if (block == NULL)
        return LC_OK;
    run(block, Z_FINISH);
    put_base64(block, ROOM - block->z.avail_out);
    fputs("</script>\n", block->out);
    bool failed = block->failed || ferror(block->out);
    deflateEnd(&block->z);
    free(block);
    return failed ? lc_fail_errno(LC_ERR_IO, "the page: cannot be written") : LC_OK;
}
