#include "run/line_table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/stats.h"
#include "base/strbuf.h"
#include "base/table_text.h"

struct line {
    uint32_t cnode;
    const char *file; /* these live as long as the symbols */
    int64_t number;
    struct lc_inlined inlined;
    uint64_t samples;
    double seconds, variance;
};

struct lines {
    struct line *list;
    size_t n, capacity;
};

/* Of one line, and one nest of functions in it; by call path. */
static int compare_places(const void *a, const void *b) {
    const struct line *x = a, *y = b;
    if (x->cnode != y->cnode)
        return x->cnode < y->cnode ? -1 : 1;
    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    int order = strcmp(x->file, y->file);
    return order != 0 ? order : strcmp(x->inlined.names, y->inlined.names);
}

static int compare_seconds(const void *a, const void *b) {
    const struct line *x = a, *y = b;
    if (x->cnode != y->cnode)
        return x->cnode < y->cnode ? -1 : 1;
    if (x->seconds != y->seconds)
        return x->seconds < y->seconds ? 1 : -1;
    return compare_places(a, b);
}

static const struct lc_sample_part *
part_of(const struct lc_sampled *sampled, const struct lc_raw *defs, const struct lc_raw_row *row) {
    const struct lc_sample_split *split =
        lc_sampled_find(sampled, lc_sampled_exact(defs, row->node), row->location);
    for (size_t i = 0; split != NULL && split->source != NULL && i < split->n_parts; i++)
        if (sampled->parts[split->first + i].node == row->node)
            return &sampled->parts[split->first + i];
    return NULL;
}

/* The module that the addresses of a node are in; NULL: unknown. */
static const struct lc_raw_module *module_of(const struct lc_raw *defs, uint32_t node) {
    while (node != 0 && defs->nodes[node].kind == LC_RAW_REGION)
        node = defs->nodes[node].parent;
    const struct lc_raw_node *code = &defs->nodes[node];
    return lc_raw_is_code(code->kind) && code->ref != LC_NONE ? &defs->modules[code->ref] : NULL;
}

/* What is shown in place of a function with few samples has no lines of its own. */
static bool is_joined(const struct lc_model *model, uint32_t cnode) {
    return strcmp(model->regions[model->cnodes[cnode].region].name,
                  lc_raw_sampled_name(LC_RAW_UNRESOLVED)) == 0;
}

/* The part's time goes to its addresses in proportion to what their samples stand for. */
static enum lc_err add_row(struct lines *lines, const struct lc_raw_row *row,
                           const struct lc_sample_part *part, const struct lc_named_tree *tree,
                           const struct lc_blame_table *values) {
    const struct lc_raw_module *module = module_of(values->defs, row->node);
    struct line line = {.cnode = tree->cnode_of[row->node], .samples = row->count};
    if (module == NULL || part == NULL || part->weight_ns == 0 ||
        is_joined(values->model, line.cnode))
        return LC_OK;
    LC_TRY(lc_symbols_line(values->symbols, module->path, module->build_id, row->min_ns, &line.file,
                           &line.number));
    if (line.file[0] == '\0' || line.number <= 0)
        return LC_OK;
    LC_TRY(lc_symbols_inlined(values->symbols, module->path, module->build_id, row->min_ns,
                              &line.inlined));
    double share = fmin((double)row->sum_ns / (double)part->weight_ns, 1);
    double error = lc_stats_share_error((double)part->ns * 1e-9, share, (double)part->samples);
    line.seconds = (double)part->ns * 1e-9 * share;
    line.variance = error * error;
    LC_TRY(lc_grow(&lines->list, &lines->capacity, lines->n + 1, sizeof lines->list[0]));
    lines->list[lines->n++] = line;
    return LC_OK;
}

static enum lc_err read_rows(struct lines *lines, const struct lc_sampled *sampled,
                             const struct lc_named_tree *tree, const struct lc_raw_file *file,
                             const struct lc_blame_table *values) {
    for (size_t part = 0; part < lc_raw_file_parts(file); part++) {
        size_t n;
        const struct lc_raw_row *rows = lc_raw_file_rows(file, part, &n);
        for (size_t i = 0; i < n; i++)
            if (rows[i].size_class == LC_RAW_CLASS_ADDRESS)
                LC_TRY(add_row(lines, &rows[i], part_of(sampled, values->defs, &rows[i]), tree,
                               values));
    }
    return LC_OK;
}

static void join(struct lines *lines) {
    size_t kept = 0;
    qsort(lines->list, lines->n, sizeof lines->list[0], compare_places);
    for (size_t i = 0; i < lines->n; i++) {
        struct line *last = kept > 0 ? &lines->list[kept - 1] : NULL;
        if (last == NULL || compare_places(last, &lines->list[i]) != 0) {
            lines->list[kept++] = lines->list[i];
            continue;
        }
        last->samples += lines->list[i].samples;
        last->seconds += lines->list[i].seconds;
        last->variance += lines->list[i].variance;
    }
    lines->n = kept;
    qsort(lines->list, lines->n, sizeof lines->list[0], compare_seconds);
}

static void put_source(const char *file, int64_t number, struct lc_strbuf *text) {
    const char *slash = strrchr(file, '/');
    lc_strbuf_putc(text, '\t');
    if (*file == '\0' || number <= 0)
        return;
    lc_table_put(text, slash != NULL ? slash + 1 : file);
    lc_strbuf_printf(text, ":%lld", (long long)number);
}

/* "step/axpy": as call paths are written. */
static enum lc_err put_inlined(const char *names, struct lc_strbuf *text) {
    struct lc_strbuf path = {0};
    while (*names != '\0') {
        size_t length = strcspn(names, "\n");
        char *name = strndup(names, length);
        if (name == NULL)
            return lc_fail(LC_ERR_NOMEM, "memory: cannot make a call path");
        lc_callpath_add(&path, name);
        free(name);
        names += length;
        if (*names == '\n') {
            names++;
            lc_strbuf_putc(&path, '/');
        }
    }
    lc_strbuf_putc(text, '\t');
    lc_table_put(text, lc_strbuf_get(&path));
    bool whole = lc_strbuf_ok(&path);
    lc_strbuf_free(&path);
    return whole ? LC_OK : lc_fail(LC_ERR_NOMEM, "memory: cannot make a call path");
}

static enum lc_err print(const struct lines *lines, const struct lc_model *model,
                         struct lc_strbuf *text) {
    size_t of_path = 0;
    lc_strbuf_puts(text, "callpath\tline\tinlined\tcalled_at\tsamples\tseconds\terror\n");
    for (size_t i = 0; i < lines->n; i++) {
        const struct line *line = &lines->list[i];
        of_path = i > 0 && line[-1].cnode == line->cnode ? of_path + 1 : 0;
        if (of_path >= LC_LINES_OF_PATH)
            continue;
        char *path = lc_model_callpath(model, line->cnode);
        if (path == NULL)
            return lc_fail(LC_ERR_NOMEM, "memory: cannot make a call path");
        lc_table_put(text, path);
        free(path);
        put_source(line->file, line->number, text);
        LC_TRY(put_inlined(line->inlined.names, text));
        put_source(line->inlined.file, line->inlined.line, text);
        lc_strbuf_printf(text, "\t%llu\t%.9f\t%.9f\n", (unsigned long long)line->samples,
                         line->seconds, sqrt(line->variance));
    }
    return lc_strbuf_ok(text) ? LC_OK : lc_fail(LC_ERR_NOMEM, "memory: cannot hold lines.tsv");
}

enum lc_err lc_line_table_write(const struct lc_sampled *sampled, const struct lc_named_tree *tree,
                                const struct lc_raw_file *file, const struct lc_blame_table *values,
                                struct lc_cubex_writer *writer) {
    struct lines lines = {0};
    struct lc_strbuf text = {0};
    enum lc_err err = read_rows(&lines, sampled, tree, file, values);
    if (err == LC_OK && lines.n > 0) {
        join(&lines);
        err = print(&lines, values->model, &text);
        if (err == LC_OK)
            err = lc_cubex_writer_misc(writer, "lines.tsv", lc_strbuf_get(&text), text.length);
    }
    lc_strbuf_free(&text);
    free(lines.list);
    return err;
}
