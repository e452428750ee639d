#include "model/cubex_read.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/lookup.h"
#include "base/mem.h"
#include "model/anchor.h"
#include "model/row_order.h"
#include "model/tar.h"

enum { DATA_MARKER = 10, INDEX_MARKER = 11, INDEX_HEADER = 18, SPARSE = 1, DENSE = 3 };

/* Rows are small, are asked for one by one, and lie beside each other: those of an inclusive metric
 * in as many places as the call tree is deep. A system call for each took half of the time of a
 * report with thousands of call paths. */
enum { BLOCK = 64 * 1024, N_BLOCKS = 64 };

struct block {
    unsigned char *data;
    size_t bytes;    /* 0: nothing has been read */
    uint64_t number; /* of the block in the file */
};

/* Where the rows of one metric are. Loaded with its first row. */
struct rows {
    bool known;              /* has been looked for */
    bool swapped;            /* written on a machine of the other byte order */
    uint64_t offset, n_rows; /* of the first row in the file; 0 rows: all values are zero */
    uint32_t *positions;     /* sparse: ascending positions; NULL: dense */
};

struct misc {
    char *data;
    size_t bytes;
};

struct lc_cubex {
    char *path;
    int fd;
    uint64_t file_bytes;
    struct lc_tar_member *members;
    struct misc *misc; /* per member, loaded on demand */
    size_t n_members, cap_members;
    struct lc_model *model;
    struct lc_anchor_ids ids;
    uint32_t *inclusive;           /* position of cnodes for INCLUSIVE metrics */
    struct rows *rows;             /* per metric */
    unsigned char *row;            /* one row as stored */
    struct block blocks[N_BLOCKS]; /* that of number n in the file is blocks[n % N_BLOCKS] */
    bool in_order;                 /* columns of rows are in the order of locations */
};

static enum lc_err read_at(const struct lc_cubex *cube, void *to, size_t bytes, uint64_t offset) {
    unsigned char *out = to;
    while (bytes > 0) {
        ssize_t got = pread(cube->fd, out, bytes, (off_t)offset);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return lc_fail_errno(LC_ERR_IO, "%s: cannot be read", cube->path);
        if (got == 0)
            return lc_fail(LC_ERR_FORMAT, "%s: ends early: copy or write it again", cube->path);
        out += got;
        offset += (uint64_t)got;
        bytes -= (size_t)got;
    }
    return LC_OK;
}

/* What has been read already is taken from there; wide rows are read where they are needed. */
static enum lc_err read_block(struct lc_cubex *cube, uint64_t number, const struct block **found) {
    struct block *block = &cube->blocks[number % N_BLOCKS];
    *found = block;
    if (block->bytes > 0 && block->number == number)
        return LC_OK;
    uint64_t at = number * BLOCK, left = cube->file_bytes - at;
    size_t bytes = left < BLOCK ? (size_t)left : BLOCK;
    block->bytes = 0;
    if (block->data == NULL)
        LC_TRY(lc_alloc(&block->data, BLOCK, 1));
    LC_TRY(read_at(cube, block->data, bytes, at));
    block->bytes = bytes;
    block->number = number;
    return LC_OK;
}

static enum lc_err read_row(struct lc_cubex *cube, void *to, size_t bytes, uint64_t offset) {
    unsigned char *out = to;
    if (bytes > BLOCK || offset + bytes > cube->file_bytes)
        return read_at(cube, to, bytes, offset);
    while (bytes > 0) {
        const struct block *block;
        LC_TRY(read_block(cube, offset / BLOCK, &block));
        size_t begin = offset % BLOCK,
               n = block->bytes - begin < bytes ? block->bytes - begin : bytes;
        memcpy(out, block->data + begin, n);
        out += n;
        offset += n;
        bytes -= n;
    }
    return LC_OK;
}

static size_t find_member(const struct lc_cubex *cube, const char *name) {
    for (size_t i = 0; i < cube->n_members; i++)
        if (strcmp(cube->members[i].name, name) == 0)
            return i;
    return cube->n_members;
}

/* After a member whose size is a multiple of 512, CubeLib's own writer may leave one block more
 * than tar asks for. */
static enum lc_err next_header(struct lc_cubex *cube, const struct lc_tar_member *member,
                               uint64_t *offset) {
    *offset = member->offset + lc_tar_padded(member->bytes);
    if (member->bytes == 0 || member->bytes % LC_TAR_BLOCK != 0 ||
        *offset + 2 * (uint64_t)LC_TAR_BLOCK > cube->file_bytes)
        return LC_OK;
    unsigned char blocks[2 * LC_TAR_BLOCK];
    LC_TRY(read_at(cube, blocks, sizeof blocks, *offset));
    if (!lc_tar_is_header(blocks) && lc_tar_is_header(blocks + LC_TAR_BLOCK))
        *offset += LC_TAR_BLOCK;
    return LC_OK;
}

static enum lc_err list_members(struct lc_cubex *cube) {
    uint64_t offset = 0;
    unsigned char block[LC_TAR_BLOCK];
    while (offset + LC_TAR_BLOCK <= cube->file_bytes) {
        LC_TRY(read_at(cube, block, sizeof block, offset));
        if (block[0] == '\0')
            return LC_OK; /* the end mark */
        struct lc_tar_member member = {0};
        if (!lc_tar_is_header(block))
            return lc_fail(LC_ERR_FORMAT,
                           offset == 0 ? "%s: is not a .cubex file: give a file of "
                                         "Latecomer, Score-P or Scalasca"
                                       : "%s: is damaged: copy or write it again",
                           cube->path);
        LC_TRY(lc_tar_parse(block, &member));
        member.offset = offset + LC_TAR_BLOCK;
        if (member.bytes > cube->file_bytes - member.offset)
            return lc_fail(LC_ERR_FORMAT, "%s: ends inside of member %.60s: copy or write it again",
                           cube->path, member.name);
        if (lc_tar_is_file(block)) {
            LC_TRY(lc_grow(&cube->members, &cube->cap_members, cube->n_members + 1,
                           sizeof cube->members[0]));
            cube->members[cube->n_members++] = member;
        }
        LC_TRY(next_header(cube, &member, &offset));
    }
    return lc_fail(LC_ERR_FORMAT, "%s: ends early: copy or write it again", cube->path);
}

static enum lc_err refuse_compressed(const struct lc_cubex *cube) {
    return lc_fail(LC_ERR_UNSUPPORTED,
                   "%s: is a compressed variant, whose writers lose data: write it uncompressed",
                   cube->path);
}

static enum lc_err read_anchor(struct lc_cubex *cube) {
    size_t anchor = find_member(cube, "anchor.xml");
    if (anchor == cube->n_members) {
        if (find_member(cube, "anchor.xml.gz") < cube->n_members)
            return refuse_compressed(cube);
        return lc_fail(LC_ERR_FORMAT,
                       "%s: has no anchor.xml: it is not a .cubex file, or incomplete", cube->path);
    }
    struct lc_tar_member member = cube->members[anchor];
    struct lc_anchor_parser *parser;
    LC_TRY(lc_anchor_parser_new(&parser, cube->model, &cube->ids));
    enum lc_err err = LC_OK;
    char piece[32 * 1024];
    for (uint64_t done = 0; err == LC_OK && done <= member.bytes;) {
        uint64_t left = member.bytes - done;
        size_t bytes = left < sizeof piece ? (size_t)left : sizeof piece;
        err = read_at(cube, piece, bytes, member.offset + done);
        if (err == LC_OK && done == 0 && bytes >= 2 && memcmp(piece, "\x1f\x8b", 2) == 0)
            err = refuse_compressed(cube);
        if (err == LC_OK) {
            err = lc_anchor_parse(parser, piece, bytes, bytes == left);
            if (err != LC_OK) { /* name the file, too */
                char why[512];
                snprintf(why, sizeof why, "%s", lc_err_text());
                lc_fail(err, "%s: %s", cube->path, why);
            }
        }
        done += bytes;
        if (bytes == left)
            break;
    }
    lc_anchor_parser_free(parser);
    return err;
}

static uint32_t get_u32(const unsigned char *at, bool swapped) {
    uint32_t value;
    memcpy(&value, at, sizeof value);
    return swapped ? __builtin_bswap32(value) : value;
}

static enum lc_err bad_rows(const struct lc_cubex *cube, uint32_t metric, const char *why) {
    return lc_fail(LC_ERR_FORMAT, "%s: data of metric %.60s: %s: copy or write it again",
                   cube->path, cube->model->metrics[metric].name, why);
}

/* Finds "<number>.data" and "<number>.index" and looks at both markers; `data` is n_members if
 * there are none. */
static enum lc_err find_rows(const struct lc_cubex *cube, uint32_t metric, size_t *data,
                             size_t *index, unsigned char header[INDEX_HEADER]) {
    char name[32];
    unsigned char marker[DATA_MARKER + 1];
    snprintf(name, sizeof name, "%u.data", cube->ids.metric[metric]);
    *data = find_member(cube, name);
    snprintf(name, sizeof name, "%u.index", cube->ids.metric[metric]);
    *index = find_member(cube, name);
    if (*data == cube->n_members && *index == cube->n_members)
        return LC_OK;
    if (*data == cube->n_members || *index == cube->n_members)
        return bad_rows(cube, metric, "data or index is missing");
    if (cube->members[*data].bytes < DATA_MARKER || cube->members[*index].bytes < INDEX_HEADER)
        return bad_rows(cube, metric, "too short");
    LC_TRY(read_at(cube, marker, sizeof marker - 1, cube->members[*data].offset));
    if (memcmp(marker, "ZCUBEX.DAT", DATA_MARKER) == 0)
        return refuse_compressed(cube);
    LC_TRY(read_at(cube, header, INDEX_HEADER, cube->members[*index].offset));
    if (memcmp(marker, "CUBEX.DATA", DATA_MARKER) != 0 ||
        memcmp(header, "CUBEX.INDEX", INDEX_MARKER) != 0)
        return bad_rows(cube, metric, "the marker at the beginning is wrong");
    return LC_OK;
}

static enum lc_err load_positions(const struct lc_cubex *cube, uint32_t metric,
                                  const struct lc_tar_member *index, struct rows *rows) {
    unsigned char raw[4] = {0};
    if (index->bytes < INDEX_HEADER + 4)
        return bad_rows(cube, metric, "the index is too short");
    LC_TRY(read_at(cube, raw, sizeof raw, index->offset + INDEX_HEADER));
    rows->n_rows = get_u32(raw, rows->swapped);
    if (rows->n_rows > (index->bytes - INDEX_HEADER - 4) / 4 ||
        rows->n_rows > cube->model->n_cnodes)
        return bad_rows(cube, metric, "the index names more rows than there are");
    LC_TRY(lc_alloc(&rows->positions, rows->n_rows, sizeof rows->positions[0]));
    LC_TRY(read_at(cube, rows->positions, rows->n_rows * 4, index->offset + INDEX_HEADER + 4));
    for (uint64_t i = 0; i < rows->n_rows; i++) {
        if (rows->swapped)
            rows->positions[i] = __builtin_bswap32(rows->positions[i]);
        if (rows->positions[i] >= cube->model->n_cnodes ||
            (i > 0 && rows->positions[i] <= rows->positions[i - 1]))
            return bad_rows(cube, metric, "the index is not ascending or names no call path");
    }
    return LC_OK;
}

static enum lc_err load_rows(struct lc_cubex *cube, uint32_t metric) {
    struct rows *rows = &cube->rows[metric];
    size_t data, index;
    unsigned char header[INDEX_HEADER] = {0};
    LC_TRY(find_rows(cube, metric, &data, &index, header));
    if (data == cube->n_members) {
        rows->known = true;
        return LC_OK;
    }
    if (get_u32(header + INDEX_MARKER, false) != 1) {
        rows->swapped = true;
        if (get_u32(header + INDEX_MARKER, true) != 1)
            return bad_rows(cube, metric, "unknown byte order");
    }
    uint64_t row_bytes = cube->model->n_locations * UINT64_C(8);
    uint64_t stored = (cube->members[data].bytes - DATA_MARKER) / row_bytes;
    unsigned kind = header[INDEX_HEADER - 1];
    if (kind == SPARSE) {
        LC_TRY(load_positions(cube, metric, &cube->members[index], rows));
        if (rows->n_rows > stored)
            return bad_rows(cube, metric, "fewer rows than the index names");
    } else if (kind == DENSE) {
        rows->n_rows = stored;
    } else {
        return bad_rows(cube, metric, "unknown kind of index");
    }
    rows->offset = cube->members[data].offset + DATA_MARKER;
    rows->known = true;
    return LC_OK;
}

/* Compressed and damaged members are found when the file is opened, not in the middle of a report.
 */
static enum lc_err check_rows(const struct lc_cubex *cube) {
    size_t data, index;
    unsigned char header[INDEX_HEADER] = {0};
    for (uint32_t m = 0; m < cube->model->n_metrics; m++)
        if (cube->model->metrics[m].kind != LC_METRIC_DERIVED)
            LC_TRY(find_rows(cube, m, &data, &index, header));
    return LC_OK;
}

static enum lc_err open_file(struct lc_cubex *cube) {
    struct stat status;
    cube->fd = open(cube->path, O_RDONLY | O_CLOEXEC);
    if (cube->fd < 0)
        return lc_fail_errno(errno == ENOENT ? LC_ERR_NOT_FOUND : LC_ERR_IO, "%s: cannot be opened",
                             cube->path);
    if (fstat(cube->fd, &status) != 0)
        return lc_fail_errno(LC_ERR_IO, "%s: cannot be examined", cube->path);
    if (!S_ISREG(status.st_mode))
        return lc_fail(LC_ERR_IO, "%s: is not a regular file: give a .cubex file", cube->path);
    cube->file_bytes = (uint64_t)status.st_size;
    return LC_OK;
}

static bool is_in_order(const uint32_t *column, size_t n) {
    for (size_t l = 0; l < n; l++)
        if (column[l] != l)
            return false;
    return true;
}

enum lc_err lc_cubex_open(struct lc_cubex **out, const char *path) {
    struct lc_cubex *cube;
    LC_TRY(lc_alloc(&cube, 1, sizeof *cube));
    cube->fd = -1;
    enum lc_err err = lc_strdup(&cube->path, path);
    if (err == LC_OK)
        err = open_file(cube);
    if (err == LC_OK)
        err = list_members(cube);
    if (err == LC_OK)
        err = lc_model_new(&cube->model);
    if (err == LC_OK)
        err = read_anchor(cube);
    if (err == LC_OK)
        err = lc_order_inclusive(cube->model, &cube->inclusive);
    if (err == LC_OK)
        err = lc_alloc(&cube->rows, cube->model->n_metrics, sizeof cube->rows[0]);
    if (err == LC_OK)
        err = lc_alloc(&cube->row, cube->model->n_locations, 8);
    if (err == LC_OK)
        err = lc_alloc(&cube->misc, cube->n_members, sizeof cube->misc[0]);
    if (err == LC_OK)
        err = check_rows(cube);
    if (err != LC_OK) {
        lc_cubex_close(cube);
        return err;
    }
    cube->in_order = is_in_order(cube->ids.column, cube->model->n_locations);
    *out = cube;
    return LC_OK;
}

void lc_cubex_close(struct lc_cubex *cube) {
    if (cube == NULL)
        return;
    if (cube->fd >= 0)
        close(cube->fd);
    for (size_t m = 0; cube->rows != NULL && m < cube->model->n_metrics; m++)
        free(cube->rows[m].positions);
    for (size_t i = 0; cube->misc != NULL && i < cube->n_members; i++)
        free(cube->misc[i].data);
    lc_model_free(cube->model);
    free(cube->ids.metric);
    free(cube->ids.column);
    free(cube->inclusive);
    free(cube->rows);
    free(cube->row);
    for (size_t i = 0; i < N_BLOCKS; i++)
        free(cube->blocks[i].data);
    free(cube->misc);
    free(cube->members);
    free(cube->path);
    free(cube);
}

const struct lc_model *lc_cubex_model(const struct lc_cubex *cube) {
    return cube->model;
}

size_t lc_cubex_derived(const struct lc_cubex *cube) {
    return cube->ids.n_derived;
}

static double decode(const unsigned char *at, enum lc_dtype dtype, bool swapped) {
    uint64_t bits;
    memcpy(&bits, at, sizeof bits);
    if (swapped)
        bits = __builtin_bswap64(bits);
    if (dtype == LC_DTYPE_UINT64)
        return (double)bits;
    if (dtype == LC_DTYPE_INT64)
        return (double)(int64_t)bits;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* The row that holds a position, n_rows if none does. */
static uint64_t find_row(const struct rows *rows, uint32_t position) {
    if (rows->positions == NULL)
        return position < rows->n_rows ? position : rows->n_rows;
    size_t row = LC_FIRST_WHERE(i, 0, rows->n_rows, rows->positions[i] >= position);
    return row < rows->n_rows && rows->positions[row] == position ? row : rows->n_rows;
}

enum lc_err lc_cubex_row(struct lc_cubex *cube, uint32_t metric, uint32_t cnode, double *values) {
    const struct lc_model *model = cube->model;
    if (metric >= model->n_metrics || cnode >= model->n_cnodes)
        return lc_fail(LC_ERR_RANGE, "%s: has no metric %u or call path %u", cube->path, metric,
                       cnode);
    const struct lc_metric *definition = &model->metrics[metric];
    const size_t bytes = model->n_locations * sizeof values[0];
    if (definition->kind == LC_METRIC_DERIVED) {
        memset(values, 0, bytes);
        return LC_OK;
    }
    struct rows *rows = &cube->rows[metric];
    if (!rows->known) {
        enum lc_err err = load_rows(cube, metric);
        if (err != LC_OK) { /* a later call fails in the same way */
            free(rows->positions);
            *rows = (struct rows){0};
            return err;
        }
    }
    uint32_t position = definition->kind == LC_METRIC_INCLUSIVE ? cube->inclusive[cnode] : cnode;
    uint64_t row = find_row(rows, position);
    if (row >= rows->n_rows) {
        memset(values, 0, bytes);
        return LC_OK;
    }
    bool as_stored = cube->in_order && !rows->swapped && definition->dtype != LC_DTYPE_UINT64 &&
                     definition->dtype != LC_DTYPE_INT64;
    if (as_stored)
        return read_row(cube, values, bytes, rows->offset + row * bytes);
    LC_TRY(read_row(cube, cube->row, bytes, rows->offset + row * bytes));
    for (size_t l = 0; l < model->n_locations; l++)
        values[l] =
            decode(cube->row + 8 * (size_t)cube->ids.column[l], definition->dtype, rows->swapped);
    return LC_OK;
}

enum lc_err lc_cubex_misc(struct lc_cubex *cube, const char *name, const char **data,
                          size_t *bytes) {
    size_t i = find_member(cube, name);
    if (i == cube->n_members)
        return lc_fail(LC_ERR_NOT_FOUND, "%s: has no member %s", cube->path, name);
    struct misc *misc = &cube->misc[i];
    if (misc->data == NULL) {
        char *copy; /* one more for the NUL that makes text of it */
        LC_TRY(lc_alloc(&copy, cube->members[i].bytes + 1, 1));
        enum lc_err err = read_at(cube, copy, cube->members[i].bytes, cube->members[i].offset);
        if (err != LC_OK) {
            free(copy);
            return err;
        }
        misc->data = copy;
        misc->bytes = cube->members[i].bytes;
    }
    *data = misc->data;
    *bytes = misc->bytes;
    return LC_OK;
}
