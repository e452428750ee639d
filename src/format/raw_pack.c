/* Raw profiles as bytes. A block: header, nodes, locations, rows, values (as in memory, native byte
 * order: blocks never leave the kind of machine that wrote them), facts, then all strings, each
 * ended by a NUL; padded to 8 bytes, so that blocks of a mapped file are aligned. Every count is
 * checked against the length of the block before anything is allocated. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "format/raw_pack.h"

static const char MAGIC[8] = "LCRAW02\n";

struct header {
    char magic[8];
    uint32_t byte_order; /* 0x01020304 */
    uint32_t has_texts;  /* bit 0: meta, bit 1: pop */
    uint64_t n_bytes;    /* of the whole block, padding included */
    uint64_t n_modules, n_names, n_nodes, n_locations, n_rows, n_values;
    uint64_t n_text_bytes, n_fact_bytes;
};

static size_t text_bytes(const char *text) {
    return strlen(text) + 1;
}

static size_t total_text_bytes(const struct lc_raw *raw, int all) {
    size_t sum = 0;
    for (size_t i = 0; i < raw->n_modules; i++)
        sum += text_bytes(raw->modules[i].path) + text_bytes(raw->modules[i].build_id);
    for (size_t i = 0; i < raw->n_names; i++)
        sum += text_bytes(raw->names[i]);
    if (all && raw->meta != NULL)
        sum += text_bytes(raw->meta);
    if (all && raw->pop != NULL)
        sum += text_bytes(raw->pop);
    return sum;
}

static unsigned char *put(unsigned char *at, const void *data, size_t n_bytes) {
    if (n_bytes != 0)
        memcpy(at, data, n_bytes);
    return at + n_bytes;
}

static unsigned char *put_text(unsigned char *at, const char *text) {
    return put(at, text, text_bytes(text));
}

enum lc_err lc_raw_pack(const struct lc_raw *raw, int all, void **bytes, size_t *n_bytes) {
    struct header header = {
        .byte_order = 0x01020304,
        .n_modules = raw->n_modules,
        .n_names = raw->n_names,
        .n_nodes = raw->n_nodes,
        .n_text_bytes = total_text_bytes(raw, all),
    };
    memcpy(header.magic, MAGIC, sizeof header.magic);
    if (all) {
        header.n_locations = raw->n_locations;
        header.n_rows = raw->n_rows;
        header.n_values = raw->n_values;
        header.has_texts = (raw->meta != NULL ? 1u : 0u) | (raw->pop != NULL ? 2u : 0u);
        header.n_fact_bytes = raw->n_facts;
    }
    size_t size = sizeof header + header.n_nodes * sizeof raw->nodes[0] +
                  header.n_locations * sizeof raw->locations[0] +
                  header.n_rows * sizeof raw->rows[0] + header.n_values * sizeof raw->values[0] +
                  header.n_fact_bytes + header.n_text_bytes;
    size = (size + 7) & ~(size_t)7;
    header.n_bytes = size;
    unsigned char *block;
    LC_TRY(lc_alloc(&block, size, 1));
    unsigned char *at = put(block, &header, sizeof header);
    at = put(at, raw->nodes, header.n_nodes * sizeof raw->nodes[0]);
    at = put(at, raw->locations, header.n_locations * sizeof raw->locations[0]);
    at = put(at, raw->rows, header.n_rows * sizeof raw->rows[0]);
    at = put(at, raw->values, header.n_values * sizeof raw->values[0]);
    at = put(at, raw->facts, header.n_fact_bytes);
    for (size_t i = 0; i < raw->n_modules; i++) {
        at = put_text(at, raw->modules[i].path);
        at = put_text(at, raw->modules[i].build_id);
    }
    for (size_t i = 0; i < raw->n_names; i++)
        at = put_text(at, raw->names[i]);
    if (header.has_texts & 1)
        at = put_text(at, raw->meta);
    if (header.has_texts & 2)
        put_text(at, raw->pop);
    *bytes = block;
    *n_bytes = size;
    return LC_OK;
}

static enum lc_err damaged(const char *why) {
    lc_fail(LC_ERR_FORMAT, "raw profile: %s: it is damaged or of another version of latecomer",
            why);
    return LC_ERR_FORMAT; /* said here, so that checkers see that it is a failure */
}

/* Where the arrays of a checked block lie. */
struct view {
    const struct header *header;
    const struct lc_raw_node *nodes;
    const struct lc_raw_location *locations;
    const struct lc_raw_row *rows;
    const struct lc_raw_value *values;
    const char *facts, *texts;
};

/* Takes `count` elements off the front of what is left; NULL if there are not as many. */
static const void *take(const unsigned char **at, size_t *left, uint64_t count, size_t elem_bytes) {
    const unsigned char *begin = *at;
    if (count > *left / elem_bytes)
        return NULL;
    *at += count * elem_bytes;
    *left -= count * elem_bytes;
    return begin;
}

/* Checks one block at the begin of `bytes` (aligned to 8) and finds its arrays. */
static enum lc_err view_block(struct view *view, const void *bytes, size_t n_bytes) {
    const unsigned char *at = bytes;
    size_t left;
    if (n_bytes < sizeof(struct header))
        return damaged("it ends too early");
    const struct header *header = bytes;
    *view = (struct view){.header = header};
    if (memcmp(header->magic, MAGIC, sizeof header->magic) != 0 || header->byte_order != 0x01020304)
        return damaged("no raw profile");
    if (header->n_bytes > n_bytes || header->n_bytes < sizeof *header || header->n_bytes % 8 != 0)
        return damaged("it ends too early");
    left = (size_t)header->n_bytes - sizeof *header;
    at += sizeof *header;
    view->nodes = take(&at, &left, header->n_nodes, sizeof view->nodes[0]);
    if (view->nodes != NULL)
        view->locations = take(&at, &left, header->n_locations, sizeof view->locations[0]);
    if (view->locations != NULL)
        view->rows = take(&at, &left, header->n_rows, sizeof view->rows[0]);
    if (view->rows != NULL)
        view->values = take(&at, &left, header->n_values, sizeof view->values[0]);
    if (view->values != NULL)
        view->facts = take(&at, &left, header->n_fact_bytes, 1);
    if (view->facts != NULL)
        view->texts = take(&at, &left, header->n_text_bytes, 1);
    if (view->texts == NULL)
        return damaged("its counts exceed its length");
    /* Each string takes a byte at least. */
    if (header->n_modules > header->n_text_bytes / 2 || header->n_names > header->n_text_bytes)
        return damaged("its counts exceed its length");
    return LC_OK;
}

/* The next string, or NULL if the texts end before it does. */
static const char *next_text(const char **at, size_t *left) {
    const char *text = *at;
    const char *end = *left == 0 || text == NULL ? NULL : memchr(text, '\0', *left);
    if (end == NULL)
        return NULL;
    *left -= (size_t)(end + 1 - text);
    *at = end + 1;
    return text;
}

static enum lc_err read_texts(struct lc_raw *raw, const struct view *view) {
    const struct header *header = view->header;
    const char *at = view->texts;
    size_t left = (size_t)header->n_text_bytes;
    uint32_t id;
    for (uint64_t i = 0; i < header->n_modules; i++) {
        const char *path = next_text(&at, &left);
        const char *build_id = path == NULL ? NULL : next_text(&at, &left);
        if (build_id == NULL)
            return damaged("a name is cut off");
        LC_TRY(lc_raw_add_module(raw, path, build_id, &id));
        if (id != i)
            return damaged("a module is there twice");
    }
    for (uint64_t i = 0; i < header->n_names; i++) {
        const char *name = next_text(&at, &left);
        if (name == NULL)
            return damaged("a name is cut off");
        LC_TRY(lc_raw_add_name(raw, name, &id));
        if (id != i)
            return damaged("a name is there twice");
    }
    for (unsigned bit = 0; bit < 2; bit++) {
        if ((header->has_texts >> bit & 1) == 0)
            continue;
        const char *text = next_text(&at, &left);
        if (text == NULL)
            return damaged("a text is cut off");
        char **target = bit == 0 ? &raw->meta : &raw->pop;
        free(*target); /* a later block may bring the final one */
        LC_TRY(lc_strdup(target, text));
    }
    return LC_OK;
}

static enum lc_err read_facts(struct lc_raw *raw, const struct view *view) {
    size_t n = (size_t)view->header->n_fact_bytes;
    if (n == 0)
        return LC_OK;
    free(raw->facts); /* a later block may bring the final ones */
    raw->facts = NULL;
    raw->n_facts = 0;
    LC_TRY(lc_alloc(&raw->facts, n, 1));
    memcpy(raw->facts, view->facts, n);
    raw->n_facts = n;
    return LC_OK;
}

static enum lc_err read_definitions(struct lc_raw *raw, const struct view *view) {
    uint32_t id;
    LC_TRY(read_texts(raw, view));
    LC_TRY(read_facts(raw, view));
    for (uint64_t i = 0; i < view->header->n_nodes; i++) {
        LC_TRY(lc_raw_add_node(raw, &view->nodes[i], &id));
        if (id != i)
            return damaged("a call-tree node is there twice");
    }
    for (uint64_t i = 0; i < view->header->n_locations; i++)
        LC_TRY(lc_raw_add_location(raw, &view->locations[i], &id));
    return LC_OK;
}

static enum lc_err add_contents(struct lc_raw *raw, const struct lc_raw_row *rows, size_t n_rows,
                                const struct lc_raw_value *values, size_t n_values) {
    LC_TRY(lc_grow(&raw->rows, &raw->cap_rows, raw->n_rows + n_rows, sizeof raw->rows[0]));
    LC_TRY(
        lc_grow(&raw->values, &raw->cap_values, raw->n_values + n_values, sizeof raw->values[0]));
    if (n_rows != 0)
        memcpy(raw->rows + raw->n_rows, rows, n_rows * sizeof rows[0]);
    if (n_values != 0)
        memcpy(raw->values + raw->n_values, values, n_values * sizeof values[0]);
    raw->n_rows += n_rows;
    raw->n_values += n_values;
    return LC_OK;
}

enum lc_err lc_raw_unpack(struct lc_raw **raw, const void *bytes, size_t n_bytes) {
    struct view view = {0};
    void *copy = NULL;
    *raw = NULL;
    if ((uintptr_t)bytes % 8 != 0) { /* messages may come at any address */
        LC_TRY(lc_alloc(&copy, n_bytes + 1, 1));
        memcpy(copy, bytes, n_bytes);
        bytes = copy;
    }
    enum lc_err err = view_block(&view, bytes, n_bytes);
    if (err == LC_OK)
        err = lc_raw_new(raw);
    if (err == LC_OK)
        err = read_definitions(*raw, &view);
    if (err == LC_OK)
        err = add_contents(*raw, view.rows, (size_t)view.header->n_rows, view.values,
                           (size_t)view.header->n_values);
    if (err == LC_OK && (*raw)->n_nodes != 0)
        err = lc_raw_check(*raw);
    free(copy);
    if (err != LC_OK) {
        lc_raw_free(*raw);
        *raw = NULL;
    }
    return err;
}

struct part {
    const struct lc_raw_row *rows;
    const struct lc_raw_value *values;
    size_t n_rows, n_values;
};

struct lc_raw_file {
    void *map;
    size_t n_bytes;
    struct lc_raw *defs;
    struct part *parts;
    size_t n_parts, cap_parts;
};

static enum lc_err map_file(struct lc_raw_file *file, const char *path) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return lc_fail_errno(LC_ERR_IO, "%s: cannot open the raw profile", path);
    struct stat status;
    enum lc_err err = LC_OK;
    if (fstat(fd, &status) != 0)
        err = lc_fail_errno(LC_ERR_IO, "%s: cannot read the raw profile", path);
    else if (!S_ISREG(status.st_mode) || status.st_size < (off_t)sizeof(struct header))
        err = lc_fail(LC_ERR_FORMAT, "%s: no raw profile: it is empty or cut off", path);
    if (err == LC_OK) {
        file->n_bytes = (size_t)status.st_size;
        file->map = mmap(NULL, file->n_bytes, PROT_READ, MAP_PRIVATE, fd, 0);
        if (file->map == MAP_FAILED) {
            file->map = NULL;
            err = lc_fail_errno(LC_ERR_IO, "%s: cannot map the raw profile", path);
        }
    }
    close(fd);
    return err;
}

/* References of a slice against the definitions of the file. */
static enum lc_err check_part(const struct lc_raw *defs, const struct part *part) {
    for (size_t i = 0; part->rows != NULL && i < part->n_rows; i++)
        if (part->rows[i].node >= defs->n_nodes || part->rows[i].location >= defs->n_locations ||
            part->rows[i].size_class > LC_RAW_CLASS_TIME)
            return damaged("a row is out of range");
    for (size_t i = 0; part->values != NULL && i < part->n_values; i++)
        if (part->values[i].node >= defs->n_nodes || part->values[i].metric >= defs->n_names ||
            part->values[i].location >= defs->n_locations)
            return damaged("a value is out of range");
    return LC_OK;
}

static enum lc_err read_parts(struct lc_raw_file *file) {
    size_t at = 0;
    while (at < file->n_bytes) {
        struct view view = {0};
        LC_TRY(view_block(&view, (const unsigned char *)file->map + at, file->n_bytes - at));
        if (file->n_parts == 0) {
            LC_TRY(read_definitions(file->defs, &view));
            LC_TRY(lc_raw_check(file->defs));
        } else if (view.header->n_nodes != 0 || view.header->n_locations != 0 ||
                   view.header->n_modules != 0 || view.header->n_names != 0) {
            return damaged("a second set of definitions");
        } else {
            LC_TRY(read_texts(file->defs, &view));
        }
        LC_TRY(lc_grow(&file->parts, &file->cap_parts, file->n_parts + 1, sizeof file->parts[0]));
        struct part *part = &file->parts[file->n_parts++];
        *part = (struct part){view.rows, view.values, (size_t)view.header->n_rows,
                              (size_t)view.header->n_values};
        LC_TRY(check_part(file->defs, part));
        at += (size_t)view.header->n_bytes;
    }
    return LC_OK;
}

enum lc_err lc_raw_file_open(struct lc_raw_file **file, const char *path) {
    struct lc_raw_file *made;
    *file = NULL;
    LC_TRY(lc_alloc(&made, 1, sizeof *made));
    enum lc_err err = map_file(made, path);
    if (err == LC_OK)
        err = lc_raw_new(&made->defs);
    if (err == LC_OK)
        err = read_parts(made);
    if (err != LC_OK)
        lc_raw_file_close(made);
    else
        *file = made;
    return err;
}

void lc_raw_file_close(struct lc_raw_file *file) {
    if (file == NULL)
        return;
    if (file->map != NULL)
        munmap(file->map, file->n_bytes);
    lc_raw_free(file->defs);
    free(file->parts);
    free(file);
}

struct lc_raw *lc_raw_file_defs(const struct lc_raw_file *file) {
    return file->defs;
}

size_t lc_raw_file_parts(const struct lc_raw_file *file) {
    return file->n_parts;
}

const struct lc_raw_row *lc_raw_file_rows(const struct lc_raw_file *file, size_t part,
                                          size_t *n_rows) {
    *n_rows = file->parts[part].n_rows;
    return file->parts[part].rows;
}

const struct lc_raw_value *lc_raw_file_values(const struct lc_raw_file *file, size_t part,
                                              size_t *n_values) {
    *n_values = file->parts[part].n_values;
    return file->parts[part].values;
}

enum lc_err lc_raw_read_file(struct lc_raw **raw, const char *path) {
    struct lc_raw_file *file;
    *raw = NULL;
    LC_TRY(lc_raw_file_open(&file, path));
    enum lc_err err = LC_OK;
    for (size_t i = 0; err == LC_OK && i < file->n_parts; i++)
        err = add_contents(file->defs, file->parts[i].rows, file->parts[i].n_rows,
                           file->parts[i].values, file->parts[i].n_values);
    if (err == LC_OK) {
        *raw = file->defs;
        file->defs = NULL;
    }
    lc_raw_file_close(file);
    return err;
}
