#include "model/cubex_write.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/outfile.h"
#include "model/anchor.h"
#include "model/row_order.h"
#include "model/tar.h"

enum { DATA_MARKER = 10, INDEX_HEADER = 18, SPARSE = 1, DENSE = 3, MAX_TREE_DEPTH = 64 };

/* Beyond it rows are so wide, or so many, that each is written to its place. */
static const uint64_t MOST_WHOLE = UINT64_C(8) << 20;

struct lc_cubex_writer {
    const struct lc_model *defs;
    struct lc_outfile file;
    uint64_t end;           /* of what has been finished; the current member's header is here */
    uint32_t metric;        /* current one, LC_NONE between metrics */
    uint32_t next_cnode;    /* the smallest cnode whose row may come */
    uint64_t n_rows;        /* written of the current metric */
    unsigned char *written; /* bit per metric */
    unsigned char *present; /* bit per cnode: has a row in the current metric (4 bytes a row would
                               grow with the rows) */
    uint32_t *inclusive;    /* positions for INCLUSIVE metrics, made when first needed */
    unsigned char *row;
    unsigned char *whole; /* all rows of the current metric, where they come in another order than
                             they are stored in, and are MOST_WHOLE at most; else NULL */
    /* What is to be written there, and has not been: what follows each other leaves together. A
     * system call for each row took most of the time of a result with thousands of call paths. */
    unsigned char held[65536];
    size_t n_held;
    uint64_t held_at;
};

static enum lc_err write_now(struct lc_cubex_writer *writer, const void *from, size_t bytes,
                             uint64_t offset) {
    const unsigned char *in = from;
    while (bytes > 0) {
        ssize_t put = pwrite(writer->file.fd, in, bytes, (off_t)offset);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return lc_fail_errno(LC_ERR_IO, "%s: cannot be written", writer->file.path);
        in += put;
        offset += (uint64_t)put;
        bytes -= (size_t)put;
    }
    return LC_OK;
}

static enum lc_err write_held(struct lc_cubex_writer *writer) {
    size_t bytes = writer->n_held;
    writer->n_held = 0;
    return write_now(writer, writer->held, bytes, writer->held_at);
}

static enum lc_err write_at(struct lc_cubex_writer *writer, const void *from, size_t bytes,
                            uint64_t offset) {
    if (offset >= writer->held_at && offset + bytes <= writer->held_at + writer->n_held) {
        memcpy(writer->held + (offset - writer->held_at), from, bytes);
        return LC_OK;
    }
    if (writer->n_held > 0 && (offset != writer->held_at + writer->n_held ||
                               bytes > sizeof writer->held - writer->n_held))
        LC_TRY(write_held(writer));
    if (bytes > sizeof writer->held)
        return write_now(writer, from, bytes, offset);
    if (bytes == 0)
        return LC_OK;
    if (writer->n_held == 0)
        writer->held_at = offset;
    memcpy(writer->held + writer->n_held, from, bytes);
    writer->n_held += bytes;
    return LC_OK;
}

/* Zeros, which a header or nothing replaces: what comes after them follows what was before. */
static enum lc_err write_zeros(struct lc_cubex_writer *writer, uint64_t bytes, uint64_t offset) {
    static const unsigned char zeros[LC_TAR_BLOCK];
    return write_at(writer, zeros, (size_t)bytes, offset);
}

/* Leaves room for the header, which needs the size of what comes. */
static enum lc_err begin_member(struct lc_cubex_writer *writer) {
    return write_zeros(writer, LC_TAR_BLOCK, writer->end);
}

/* Puts the header before content that is already there, and moves on. */
static enum lc_err end_member(struct lc_cubex_writer *writer, const char *name, uint64_t bytes) {
    unsigned char block[LC_TAR_BLOCK];
    if (bytes > LC_TAR_SIZE_MAX)
        return lc_fail(
            LC_ERR_RANGE,
            "%s: member %s would have more than 8 GiB: measure fewer call paths or ranks",
            writer->file.path, name);
    uint64_t padding = lc_tar_padded(bytes) - bytes;
    LC_TRY(write_zeros(writer, padding, writer->end + LC_TAR_BLOCK + bytes));
    lc_tar_header(block, name, bytes);
    LC_TRY(write_at(writer, block, sizeof block, writer->end));
    writer->end += LC_TAR_BLOCK + lc_tar_padded(bytes);
    return LC_OK;
}

static uint64_t content(const struct lc_cubex_writer *writer) {
    return writer->end + LC_TAR_BLOCK;
}

static enum lc_err check_definitions(const struct lc_model *defs) {
    LC_TRY(lc_order_check(defs));
    for (size_t l = 1; l < defs->n_locations; l++)
        if (defs->locations[l].process < defs->locations[l - 1].process)
            return lc_fail(LC_ERR_RANGE, "locations: not ordered by process");
    for (size_t m = 0; m < defs->n_metrics; m++) {
        int depth = 0;
        for (uint32_t up = (uint32_t)m; up != LC_NONE; up = defs->metrics[up].parent)
            depth++;
        if (depth > MAX_TREE_DEPTH || defs->metrics[m].kind == LC_METRIC_DERIVED)
            return lc_fail(LC_ERR_RANGE, "metric %s: derived or nested too deeply",
                           defs->metrics[m].name);
    }
    for (size_t n = 0; n < defs->n_system_nodes; n++) {
        int depth = 0;
        for (uint32_t up = (uint32_t)n; up != LC_NONE; up = defs->system_nodes[up].parent)
            if (++depth > MAX_TREE_DEPTH)
                return lc_fail(LC_ERR_RANGE, "system tree: nested too deeply");
    }
    return LC_OK;
}

static void free_writer(struct lc_cubex_writer *writer) {
    free(writer->written);
    free(writer->present);
    free(writer->inclusive);
    free(writer->row);
    free(writer->whole);
    free(writer);
}

enum lc_err lc_cubex_writer_open(struct lc_cubex_writer **out, const char *path,
                                 const struct lc_model *defs) {
    struct lc_cubex_writer *writer;
    LC_TRY(check_definitions(defs));
    LC_TRY(lc_alloc(&writer, 1, sizeof *writer));
    writer->defs = defs;
    writer->metric = LC_NONE;
    enum lc_err err = lc_alloc(&writer->written, defs->n_metrics / 8 + 1, 1);
    if (err == LC_OK)
        err = lc_alloc(&writer->present, defs->n_cnodes / 8 + 1, 1);
    if (err == LC_OK)
        err = lc_alloc(&writer->row, defs->n_locations, 8);
    if (err == LC_OK)
        err = lc_outfile_open(&writer->file, path);
    if (err != LC_OK) {
        free_writer(writer);
        return err;
    }
    *out = writer;
    return LC_OK;
}

/* Sparse index: 11 bytes marker, u32 1, u16 0, u8 kind, then u32 n and n positions; the positions
 * leave in pieces. */
static enum lc_err write_index(struct lc_cubex_writer *writer, int kind, uint64_t *bytes) {
    unsigned char piece[4096] = "CUBEX.INDEX";
    const uint32_t one = 1, n_rows = (uint32_t)writer->n_rows;
    memcpy(piece + 11, &one, 4);
    piece[INDEX_HEADER - 1] = (unsigned char)kind;
    size_t used = INDEX_HEADER;
    uint64_t at = content(writer);
    LC_TRY(begin_member(writer));
    if (kind == SPARSE) {
        memcpy(piece + used, &n_rows, 4);
        used += 4;
        for (uint32_t c = 0; c < writer->defs->n_cnodes; c++) {
            if (!(writer->present[c / 8] >> (c % 8) & 1))
                continue;
            if (used + 4 > sizeof piece) {
                LC_TRY(write_at(writer, piece, used, at));
                at += used;
                used = 0;
            }
            memcpy(piece + used, &c, 4);
            used += 4;
        }
    }
    LC_TRY(write_at(writer, piece, used, at));
    *bytes = at + used - content(writer);
    return LC_OK;
}

/* Before the first row of the current metric. */
static enum lc_err begin_metric(struct lc_cubex_writer *writer) {
    const struct lc_model *defs = writer->defs;
    uint64_t row_bytes = UINT64_C(8) * defs->n_locations;
    if (defs->metrics[writer->metric].kind == LC_METRIC_INCLUSIVE &&
        defs->n_cnodes <= MOST_WHOLE / row_bytes)
        LC_TRY(lc_alloc(&writer->whole, defs->n_cnodes, row_bytes));
    LC_TRY(begin_member(writer));
    return write_at(writer, "CUBEX.DATA", DATA_MARKER, content(writer));
}

static enum lc_err write_whole(struct lc_cubex_writer *writer, uint64_t bytes) {
    enum lc_err err = writer->whole == NULL
                          ? LC_OK
                          : write_at(writer, writer->whole, bytes, content(writer) + DATA_MARKER);
    free(writer->whole);
    writer->whole = NULL;
    return err;
}

/* Ends the data of the current metric, if any, and writes its index. A metric without rows has
 * neither: all zero. */
static enum lc_err end_metric(struct lc_cubex_writer *writer) {
    if (writer->metric == LC_NONE)
        return LC_OK;
    uint32_t metric = writer->metric;
    writer->metric = LC_NONE;
    if (writer->n_rows == 0)
        return LC_OK;
    const struct lc_model *defs = writer->defs;
    bool dense = defs->metrics[metric].kind == LC_METRIC_INCLUSIVE;
    uint64_t rows = dense ? defs->n_cnodes : writer->n_rows;
    char name[32];
    LC_TRY(write_whole(writer, rows * 8 * defs->n_locations));
    snprintf(name, sizeof name, "%u.data", metric);
    LC_TRY(end_member(writer, name, DATA_MARKER + rows * 8 * defs->n_locations));
    uint64_t bytes;
    LC_TRY(write_index(writer, dense ? DENSE : SPARSE, &bytes));
    snprintf(name, sizeof name, "%u.index", metric);
    return end_member(writer, name, bytes);
}

enum lc_err lc_cubex_writer_metric(struct lc_cubex_writer *writer, uint32_t metric) {
    LC_TRY(end_metric(writer));
    if (metric >= writer->defs->n_metrics || writer->written[metric / 8] >> (metric % 8) & 1)
        return lc_fail(LC_ERR_RANGE, "%s: metric %u is unknown or has its data already",
                       writer->file.path, metric);
    if (writer->defs->metrics[metric].kind == LC_METRIC_INCLUSIVE && writer->inclusive == NULL)
        LC_TRY(lc_order_inclusive(writer->defs, &writer->inclusive));
    writer->written[metric / 8] |= (unsigned char)(1u << (metric % 8));
    memset(writer->present, 0, writer->defs->n_cnodes / 8 + 1);
    writer->metric = metric;
    writer->next_cnode = 0;
    writer->n_rows = 0;
    return LC_OK;
}

static void encode(unsigned char *at, enum lc_dtype dtype, double value) {
    if (dtype == LC_DTYPE_UINT64) {
        uint64_t count = value > 0 ? (uint64_t)(value + 0.5) : 0;
        memcpy(at, &count, sizeof count);
    } else if (dtype == LC_DTYPE_INT64) {
        int64_t count = (int64_t)(value + (value < 0 ? -0.5 : 0.5));
        memcpy(at, &count, sizeof count);
    } else {
        memcpy(at, &value, sizeof value);
    }
}

enum lc_err lc_cubex_writer_row(struct lc_cubex_writer *writer, uint32_t cnode,
                                const double *values) {
    const struct lc_model *defs = writer->defs;
    if (writer->metric == LC_NONE || cnode < writer->next_cnode || cnode >= defs->n_cnodes)
        return lc_fail(LC_ERR_RANGE, "%s: a row of call path %u is out of order", writer->file.path,
                       cnode);
    writer->next_cnode = cnode + 1;
    bool zero = true;
    for (size_t l = 0; zero && l < defs->n_locations; l++)
        zero = values[l] == 0.0;
    if (zero)
        return LC_OK;
    const struct lc_metric *metric = &defs->metrics[writer->metric];
    for (size_t l = 0; l < defs->n_locations; l++)
        encode(writer->row + 8 * l, metric->dtype, values[l]);
    /* EXCLUSIVE: rows follow each other. INCLUSIVE: each has its place, the file has holes of zeros
     * where there is none. */
    uint64_t row = metric->kind == LC_METRIC_INCLUSIVE ? writer->inclusive[cnode] : writer->n_rows;
    size_t bytes = 8 * defs->n_locations;
    if (writer->n_rows == 0)
        LC_TRY(begin_metric(writer));
    if (writer->whole != NULL)
        memcpy(writer->whole + row * bytes, writer->row, bytes);
    else
        LC_TRY(write_at(writer, writer->row, bytes, content(writer) + DATA_MARKER + row * bytes));
    writer->present[cnode / 8] |= (unsigned char)(1u << (cnode % 8));
    writer->n_rows++;
    return LC_OK;
}

/* Content at once; one byte more where the size would be a multiple of 512 (see tar.h). */
static enum lc_err write_member(struct lc_cubex_writer *writer, const char *name, const void *data,
                                size_t bytes, char padding) {
    LC_TRY(end_metric(writer));
    uint64_t size = bytes;
    LC_TRY(begin_member(writer));
    LC_TRY(write_at(writer, data, bytes, content(writer)));
    if (bytes > 0 && bytes % LC_TAR_BLOCK == 0) {
        LC_TRY(write_at(writer, &padding, 1, content(writer) + bytes));
        size++;
    }
    return end_member(writer, name, size);
}

enum lc_err lc_cubex_writer_misc(struct lc_cubex_writer *writer, const char *name, const void *data,
                                 size_t bytes) {
    const char *text = data;
    if (name[0] == '\0' || strlen(name) >= LC_TAR_NAME_MAX)
        return lc_fail(LC_ERR_RANGE, "%s: member name \"%.40s\" is empty or too long",
                       writer->file.path, name);
    /* A table may end without a newline; one more would be an empty row. */
    if (bytes > 0 && bytes % LC_TAR_BLOCK == 0 && text[bytes - 1] == '\n')
        bytes--;
    return write_member(writer, name, data, bytes, '\n');
}

static enum lc_err finish(struct lc_cubex_writer *writer) {
    struct lc_strbuf xml = {0};
    lc_anchor_write(&xml, writer->defs);
    enum lc_err err;
    if (lc_strbuf_ok(&xml))
        err = write_member(writer, "anchor.xml", lc_strbuf_get(&xml), xml.length, '\n');
    else
        err = lc_fail(LC_ERR_NOMEM, "memory: cannot build anchor.xml");
    lc_strbuf_free(&xml);
    if (err != LC_OK)
        return err;
    LC_TRY(write_held(writer));
    /* Two blocks of zeros end the file; before them, the padding of the last member. */
    if (ftruncate(writer->file.fd, (off_t)(writer->end + 2 * (uint64_t)LC_TAR_BLOCK)) != 0)
        return lc_fail_errno(LC_ERR_IO, "%s: cannot be written", writer->file.path);
    return LC_OK;
}

enum lc_err lc_cubex_writer_close(struct lc_cubex_writer *writer) {
    enum lc_err err = finish(writer);
    if (err == LC_OK)
        err = lc_outfile_commit(&writer->file);
    else
        lc_outfile_abandon(&writer->file);
    free_writer(writer);
    return err;
}

void lc_cubex_writer_abort(struct lc_cubex_writer *writer) {
    if (writer == NULL)
        return;
    lc_outfile_abandon(&writer->file);
    free_writer(writer);
}
