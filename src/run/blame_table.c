#include "run/blame_table.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "base/table_text.h"

enum { MOST_ROWS = 65536 }; /* the library keeps far fewer: what is beyond is not from it */

struct blame {
    uint32_t wait_cnode, late_cnode; /* LC_NONE: has not come */
    int32_t late_rank, late_thread;  /* -1: the rank as a whole */
    uint32_t late_node;
    double seconds;
    double sites[2]; /* addresses; 0: unknown */
};

enum part { PART_WAIT, PART_LATE, PART_FROM, PART_TO, PART_THREAD, N_PARTS };

static bool is_wait_metric(const char *name) {
    for (size_t i = 0; i < LC_RAW_WAITS; i++)
        if (strcmp(name, lc_raw_measured[i]) == 0)
            return true;
    return false;
}

/* "blame.<k>.wait" and so on. */
static bool parse_name(const char *name, size_t *k, enum part *part) {
    static const char *const ends[N_PARTS] = {".wait", ".late", ".from", ".to", ".thread"};
    char *end;
    if (strncmp(name, "blame.", 6) != 0 || name[6] < '0' || name[6] > '9')
        return false;
    *k = strtoul(name + 6, &end, 10);
    int i = 0;
    while (i < N_PARTS && strcmp(end, ends[i]) != 0)
        i++;
    *part = (enum part)i;
    return *k < MOST_ROWS && i < N_PARTS;
}

static void take(const struct lc_blame_table *table, size_t i, enum part part, struct blame *row) {
    const struct lc_raw_value *value = table->values[i];
    switch (part) {
    case PART_WAIT:
        row->wait_cnode = table->cnodes[i];
        row->seconds += value->value;
        break;
    case PART_LATE:
        row->late_cnode = table->cnodes[i];
        row->late_node = value->node;
        row->late_rank = table->defs->locations[value->location].rank;
        break;
    case PART_THREAD:
        row->late_thread = table->defs->locations[value->location].thread;
        break;
    default:
        row->sites[part - PART_FROM] = value->value;
    }
}

static enum lc_err collect(const struct lc_blame_table *table, struct blame **rows, size_t *n_rows,
                           double *all) {
    size_t capacity = 0;
    for (size_t i = 0; i < table->n_values; i++) {
        const struct lc_raw_value *value = table->values[i];
        const char *name = table->defs->names[value->metric];
        size_t k;
        enum part part;
        if (is_wait_metric(name))
            *all += value->value;
        if (!parse_name(name, &k, &part))
            continue;
        LC_TRY(lc_grow(rows, &capacity, k + 1, sizeof **rows));
        for (; *n_rows <= k; ++*n_rows)
            (*rows)[*n_rows] =
                (struct blame){.wait_cnode = LC_NONE, .late_cnode = LC_NONE, .late_thread = -1};
        take(table, i, part, &(*rows)[k]);
    }
    return LC_OK;
}

static int compare_rows(const void *a, const void *b) {
    const struct blame *x = a, *y = b;
    if (x->seconds != y->seconds)
        return x->seconds < y->seconds ? 1 : -1;
    return (x->late_rank > y->late_rank) - (x->late_rank < y->late_rank);
}

/* "solver.py:42" of a function of a script, "solver.py:Solver.step:41". */
static enum lc_err print_line(const char *function, double line, struct lc_strbuf *text) {
    char *file = strdup(function);
    if (file == NULL)
        return LC_ERR_NOMEM;
    file[strcspn(file, ":")] = '\0';
    lc_strbuf_putc(text, '\t');
    lc_table_put(text, file);
    lc_strbuf_printf(text, ":%.0f", line);
    free(file);
    return LC_OK;
}

/* "solve.c:42", "" if unknown; the code is in the module of the innermost function of `node`; of
 * scripts the line itself is known. */
static enum lc_err print_site(const struct lc_blame_table *table, uint32_t node, double address,
                              struct lc_strbuf *text) {
    const struct lc_raw *defs = table->defs;
    const char *file = "";
    int64_t line = -1;
    bool known = address >= 1 && address < 0x1p53 && node < defs->n_nodes;
    while (known && node != LC_NONE && defs->nodes[node].kind != LC_RAW_FRAME &&
           defs->nodes[node].kind != LC_RAW_SCRIPT)
        node = defs->nodes[node].parent;
    if (known && node != LC_NONE && defs->nodes[node].kind == LC_RAW_SCRIPT)
        return print_line(defs->names[defs->nodes[node].ref], address, text);
    if (known && node != LC_NONE && defs->nodes[node].ref != LC_NONE) {
        const struct lc_raw_module *module = &defs->modules[defs->nodes[node].ref];
        LC_TRY(lc_symbols_line(table->symbols, module->path, module->build_id, (uint64_t)address,
                               &file, &line));
    }
    const char *slash = strrchr(file, '/');
    lc_strbuf_putc(text, '\t');
    if (*file != '\0' && line > 0) {
        lc_table_put(text, slash != NULL ? slash + 1 : file);
        lc_strbuf_printf(text, ":%lld", (long long)line);
    }
    return LC_OK;
}

static enum lc_err print_row(const struct lc_blame_table *table, const struct blame *row,
                             double all, struct lc_strbuf *text) {
    char *wait = lc_model_callpath(table->model, row->wait_cnode);
    char *late = lc_model_callpath(table->model, row->late_cnode);
    enum lc_err err = wait != NULL && late != NULL ? LC_OK : LC_ERR_NOMEM;
    if (err == LC_OK) {
        lc_table_put(text, wait);
        lc_strbuf_printf(text, "\t%d\t", row->late_rank);
        lc_table_put(text, late);
    }
    for (int i = 0; err == LC_OK && i < 2; i++)
        err = print_site(table, row->late_node, row->sites[i], text);
    if (err == LC_OK)
        lc_strbuf_printf(text, "\t%.9f\t%.9f\t", row->seconds,
                         all > 0.0 ? row->seconds / all : 0.0);
    if (err == LC_OK && row->late_thread >= 0)
        lc_strbuf_printf(text, "%d", row->late_thread);
    lc_strbuf_putc(text, '\n');
    free(wait);
    free(late);
    return err;
}

static enum lc_err write_member(struct lc_cubex_writer *writer, const char *name,
                                const struct lc_strbuf *text) {
    if (!lc_strbuf_ok(text))
        return lc_fail(LC_ERR_NOMEM, "memory: cannot hold %s", name);
    return lc_cubex_writer_misc(writer, name, lc_strbuf_get(text), text->length);
}

enum lc_err lc_blame_table_write(const struct lc_blame_table *table,
                                 struct lc_cubex_writer *writer) {
    struct blame *rows = NULL;
    size_t n_rows = 0;
    double all = 0.0;
    struct lc_strbuf text = {0};
    enum lc_err err = collect(table, &rows, &n_rows, &all);
    if (n_rows > 0)
        qsort(rows, n_rows, sizeof rows[0], compare_rows);
    lc_strbuf_puts(&text, "waiting_callpath\tlate_rank\tlate_callpath\tlate_call_site_begin\t"
                          "late_call_site_end\tseconds\tshare\tlate_thread\n");
    size_t n_complete = 0;
    for (size_t i = 0; err == LC_OK && i < n_rows; i++)
        if (rows[i].wait_cnode != LC_NONE && rows[i].late_cnode != LC_NONE &&
            rows[i].seconds > 0.0) {
            n_complete++;
            err = print_row(table, &rows[i], all, &text);
        }
    if (err == LC_OK && n_complete > 0)
        err = write_member(writer, "blame.tsv", &text);
    lc_strbuf_free(&text);
    free(rows);
    return err;
}

/* ---- critical path: call sites per call path, those of the rank with most of it */

struct segment {
    uint32_t location, node;
    double seconds, sites[2];
};

static void take_segment(const struct lc_blame_table *table, size_t i, bool lengths,
                         struct segment *segments) {
    const struct lc_raw_value *value = table->values[i];
    const char *name = table->defs->names[value->metric];
    struct segment *s = &segments[table->cnodes[i]];
    if (lengths && strcmp(name, "critical_path_useful") == 0 && value->value > s->seconds) {
        s->seconds = value->value;
        s->location = value->location;
        s->node = value->node;
    } else if (!lengths && s->seconds > 0 && s->location == value->location &&
               s->node == value->node) {
        if (strcmp(name, "critical_path.from") == 0)
            s->sites[0] = value->value;
        else if (strcmp(name, "critical_path.to") == 0)
            s->sites[1] = value->value;
    }
}

enum lc_err lc_path_table_write(const struct lc_blame_table *table,
                                struct lc_cubex_writer *writer) {
    struct segment *segments;
    struct lc_strbuf text = {0};
    size_t n = 0;
    LC_TRY(lc_alloc(&segments, table->model->n_cnodes, sizeof segments[0]));
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < table->n_values; i++)
            if (table->cnodes[i] < table->model->n_cnodes)
                take_segment(table, i, pass == 0, segments);
    lc_strbuf_puts(&text, "callpath\tcall_site_begin\tcall_site_end\n");
    enum lc_err err = LC_OK;
    for (uint32_t c = 0; err == LC_OK && c < table->model->n_cnodes; c++) {
        if (segments[c].sites[1] <= 0)
            continue;
        char *path = lc_model_callpath(table->model, c);
        if (path == NULL)
            err = LC_ERR_NOMEM;
        lc_table_put(&text, path != NULL ? path : "");
        for (int i = 0; err == LC_OK && i < 2; i++)
            err = print_site(table, segments[c].node, segments[c].sites[i], &text);
        lc_strbuf_putc(&text, '\n');
        free(path);
        n++;
    }
    if (err == LC_OK && n > 0)
        err = write_member(writer, "critical_path.tsv", &text);
    lc_strbuf_free(&text);
    free(segments);
    return err;
}
