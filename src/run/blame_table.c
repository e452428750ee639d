#include "run/blame_table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/stats.h"
#include "base/strbuf.h"
#include "base/table_text.h"
#include "run/sampled.h"

enum { MOST_ROWS = 65536 }; /* the library keeps far fewer: what is beyond is not from it */

/* Tables of rows: who waits for whom; what code costs others. */
enum table { BLAME, COSTS, N_TABLES };
static const char *const table_names[N_TABLES] = {"blame.", "cost."};

struct blame {
    uint32_t wait_cnode, late_cnode; /* LC_NONE: has not come */
    int32_t late_rank, late_thread;  /* -1: the rank as a whole */
    uint32_t late_node;
    double seconds;  /* COSTS: direct */
    double passed;   /* indirect */
    double more;     /* BLAME: at most, of rows that the bounded table had no place for */
    double spread;   /* root of the sum of the squares of its waits */
    double error;    /* standard error of the sum; 0: not found by samples */
    double sites[2]; /* addresses; 0: unknown */
};

enum part {
    PART_WAIT,
    PART_LATE,
    PART_FROM,
    PART_TO,
    PART_THREAD,
    PART_PASSED,
    PART_SPREAD,
    PART_MORE,
    N_PARTS
};

static bool is_wait_metric(const char *name) {
    for (size_t i = 0; i < LC_RAW_WAITS; i++)
        if (strcmp(name, lc_raw_measured[i]) == 0)
            return true;
    return false;
}

/* "blame.<k>.wait" and so on. */
static bool parse_name(const char *name, enum table of, size_t *k, enum part *part) {
    static const char *const ends[N_PARTS] = {".wait",   ".late",   ".from",   ".to",
                                              ".thread", ".passed", ".spread", ".more"};
    char *end;
    size_t length = strlen(table_names[of]);
    if (strncmp(name, table_names[of], length) != 0 || name[length] < '0' || name[length] > '9')
        return false;
    *k = strtoul(name + length, &end, 10);
    int i = 0;
    while (i < N_PARTS && strcmp(end, ends[i]) != 0)
        i++;
    *part = (enum part)i;
    return *k < MOST_ROWS && i < N_PARTS;
}

static void take(const struct lc_blame_table *table, enum table of, size_t i, enum part part,
                 struct blame *row) {
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
        row->seconds += of == COSTS ? value->value : 0.0;
        break;
    case PART_PASSED:
        row->passed = value->value;
        break;
    case PART_SPREAD:
        row->spread = value->value;
        break;
    case PART_MORE:
        row->more = value->value;
        break;
    case PART_THREAD:
        row->late_thread = table->defs->locations[value->location].thread;
        break;
    default:
        row->sites[part - PART_FROM] = value->value;
    }
}

static enum lc_err collect(const struct lc_blame_table *table, enum table of, struct blame **rows,
                           size_t *n_rows, double *all) {
    size_t capacity = 0;
    for (size_t i = 0; i < table->n_values; i++) {
        const struct lc_raw_value *value = table->values[i];
        const char *name = table->defs->names[value->metric];
        size_t k;
        enum part part;
        if (is_wait_metric(name))
            *all += value->value;
        if (!parse_name(name, of, &k, &part))
            continue;
        LC_TRY(lc_grow(rows, &capacity, k + 1, sizeof **rows));
        for (; *n_rows <= k; ++*n_rows)
            (*rows)[*n_rows] =
                (struct blame){.wait_cnode = LC_NONE, .late_cnode = LC_NONE, .late_thread = -1};
        take(table, of, i, part, &(*rows)[k]);
    }
    return LC_OK;
}

/* ---- costs in processes that run, or died: late code is named by its number there */

enum { MOST_WAITED = 1024 };

struct waited {
    int64_t rank;
    uint64_t number;
    double direct, passed;
    size_t value; /* index of one that says so */
};

static int compare_codes(const void *a, const void *b) {
    const struct waited *x = a, *y = b;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

static int compare_waited(const void *a, const void *b) {
    const struct waited *x = a, *y = b;
    double a_s = x->direct + x->passed, b_s = y->direct + y->passed;
    return (a_s < b_s) - (a_s > b_s);
}

/* "waited.<rank>.<number>.direct" */
static bool parse_waited(const char *name, double seconds, struct waited *code) {
    char *end;
    if (strncmp(name, "waited.", 7) != 0)
        return false;
    *code = (struct waited){.rank = strtol(name + 7, &end, 10)};
    code->number = *end == '.' ? strtoul(end + 1, &end, 10) : 0;
    bool direct = strcmp(end, ".direct") == 0;
    *(direct ? &code->direct : &code->passed) = seconds;
    return direct || strcmp(end, ".passed") == 0;
}

/* Those that are equal become one. */
static size_t join_codes(struct waited *list, size_t n) {
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        if (kept == 0 || compare_codes(&list[kept - 1], &list[i]) != 0) {
            list[kept++] = list[i];
            continue;
        }
        list[kept - 1].direct += list[i].direct;
        list[kept - 1].passed += list[i].passed;
    }
    return kept;
}

/* Code without a number: the program of who waited stands for it. */
static struct blame row_of(const struct lc_blame_table *table, const struct waited *code,
                           const struct waited *numbers, size_t n_numbers) {
    const struct waited *found =
        n_numbers > 0 ? bsearch(code, numbers, n_numbers, sizeof numbers[0], compare_codes) : NULL;
    size_t value = found != NULL ? found->value : code->value;
    return (struct blame){.wait_cnode = LC_NONE,
                          .late_cnode = table->cnodes[value],
                          .late_node = table->values[value]->node,
                          .late_rank = (int32_t)code->rank,
                          .late_thread = -1,
                          .seconds = code->direct,
                          .passed = code->passed};
}

static enum lc_err add_waited(const struct lc_blame_table *table, struct blame **rows,
                              size_t *n_rows) {
    struct waited *codes = NULL, *numbers = NULL;
    size_t n = 0, n_numbers = 0, capacity = 0;
    enum lc_err err = lc_alloc(&codes, table->n_values + 1, sizeof codes[0]);
    if (err == LC_OK)
        err = lc_alloc(&numbers, table->n_values + 1, sizeof numbers[0]);
    for (size_t i = 0; err == LC_OK && i < table->n_values; i++) {
        const struct lc_raw_value *value = table->values[i];
        const char *name = table->defs->names[value->metric];
        if (strcmp(name, LC_RAW_NODE_NUMBER) == 0)
            numbers[n_numbers++] =
                (struct waited){.rank = table->defs->locations[value->location].rank,
                                .number = value->value > 0 ? (uint64_t)value->value : 0,
                                .value = i};
        else if (parse_waited(name, value->value, &codes[n]))
            codes[n++].value = i;
    }
    if (err == LC_OK && n > 0) {
        qsort(numbers, n_numbers, sizeof numbers[0], compare_codes);
        qsort(codes, n, sizeof codes[0], compare_codes);
        n = join_codes(codes, n);
        qsort(codes, n, sizeof codes[0], compare_waited);
        n = n < MOST_WAITED ? n : MOST_WAITED;
        capacity = *n_rows;
        err = lc_grow(rows, &capacity, *n_rows + n, sizeof **rows);
    }
    for (size_t i = 0; err == LC_OK && i < n; i++)
        (*rows)[(*n_rows)++] = row_of(table, &codes[i], numbers, n_numbers);
    free(codes);
    free(numbers);
    return err;
}

static bool is_sampled_row(const struct lc_raw *defs, const struct blame *row) {
    return row->late_cnode != LC_NONE && row->spread > 0 && row->late_node < defs->n_nodes &&
           lc_raw_is_sampled(defs->nodes[row->late_node].kind);
}

/* Waits for the time of one exact node went to what samples found there: each row of it is a share
 * of them, and waits of very different lengths tell as much as fewer of equal ones. */
static void find_errors(const struct lc_raw *defs, enum table of, struct blame *rows, size_t n) {
    for (size_t i = 0; i < n; i++) {
        double all = 0, squares = 0;
        if (!is_sampled_row(defs, &rows[i]))
            continue;
        uint32_t exact = lc_sampled_exact(defs, rows[i].late_node);
        for (size_t k = 0; k < n; k++)
            if (is_sampled_row(defs, &rows[k]) && rows[k].late_rank == rows[i].late_rank &&
                lc_sampled_exact(defs, rows[k].late_node) == exact &&
                (of == COSTS || rows[k].wait_cnode == rows[i].wait_cnode)) {
                all += rows[k].seconds + rows[k].passed;
                squares += rows[k].spread * rows[k].spread;
            }
        double mine = rows[i].seconds + rows[i].passed;
        rows[i].error = lc_stats_share_error(all, all > 0 ? mine / all : 0, all * all / squares);
    }
}

/* A row as it is written. */
struct line {
    double seconds;
    int32_t late_rank;
    char *text;
};

/* Largest first. Rows of equal time have no order of their own: their number follows from when
 * threads of a rank saw their call paths first. */
static int compare_lines(const void *a, const void *b) {
    const struct line *x = a, *y = b;
    if (x->seconds != y->seconds)
        return x->seconds < y->seconds ? 1 : -1;
    if (x->late_rank != y->late_rank)
        return x->late_rank < y->late_rank ? -1 : 1;
    return strcmp(x->text, y->text);
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

static enum lc_err print_path(const struct lc_blame_table *table, uint32_t cnode,
                              struct lc_strbuf *text) {
    char *path = lc_model_callpath(table->model, cnode);
    if (path == NULL)
        return LC_ERR_NOMEM;
    lc_table_put(text, path);
    free(path);
    return LC_OK;
}

static enum lc_err print_row(const struct lc_blame_table *table, enum table of,
                             const struct blame *row, double all, struct lc_strbuf *text) {
    double seconds = row->seconds + row->passed;
    if (of == BLAME) {
        LC_TRY(print_path(table, row->wait_cnode, text));
        lc_strbuf_putc(text, '\t');
    }
    lc_strbuf_printf(text, "%d\t", row->late_rank);
    LC_TRY(print_path(table, row->late_cnode, text));
    for (int i = 0; i < 2; i++)
        LC_TRY(print_site(table, row->late_node, row->sites[i], text));
    lc_strbuf_printf(text, "\t%.9f\t%.9f\t", seconds, all > 0.0 ? seconds / all : 0.0);
    if (row->late_thread >= 0)
        lc_strbuf_printf(text, "%d", row->late_thread);
    if (of == COSTS)
        lc_strbuf_printf(text, "\t%.9f\t%.9f", row->seconds, row->passed);
    else
        lc_strbuf_printf(text, "\t%.9f", row->seconds + row->more);
    lc_strbuf_printf(text, "\t%.9f", row->error);
    lc_strbuf_putc(text, '\n');
    return LC_OK;
}

static bool is_complete(enum table of, const struct blame *row) {
    return (of == COSTS || row->wait_cnode != LC_NONE) && row->late_cnode != LC_NONE &&
           row->seconds + row->passed > 0.0;
}

/* The complete rows as text, in their order; `lines`: room for all of them. */
static enum lc_err print_rows(const struct lc_blame_table *table, enum table of,
                              const struct blame *rows, size_t n_rows, double all,
                              struct line *lines, size_t *n_lines) {
    struct lc_strbuf text = {0};
    enum lc_err err = LC_OK;
    for (size_t i = 0; err == LC_OK && i < n_rows; i++) {
        if (!is_complete(of, &rows[i]))
            continue;
        lc_strbuf_clear(&text);
        err = print_row(table, of, &rows[i], all, &text);
        char *copy = err == LC_OK && lc_strbuf_ok(&text) ? strdup(lc_strbuf_get(&text)) : NULL;
        if (copy == NULL)
            err = err != LC_OK ? err : LC_ERR_NOMEM;
        else
            lines[(*n_lines)++] =
                (struct line){rows[i].seconds + rows[i].passed, rows[i].late_rank, copy};
    }
    lc_strbuf_free(&text);
    if (*n_lines > 0)
        qsort(lines, *n_lines, sizeof *lines, compare_lines);
    return err;
}

static enum lc_err write_member(struct lc_cubex_writer *writer, const char *name,
                                const struct lc_strbuf *text) {
    if (!lc_strbuf_ok(text))
        return lc_fail(LC_ERR_NOMEM, "memory: cannot hold %s", name);
    return lc_cubex_writer_misc(writer, name, lc_strbuf_get(text), text->length);
}

static enum lc_err write_table(const struct lc_blame_table *table, enum table of,
                               const char *member, const char *head,
                               struct lc_cubex_writer *writer) {
    struct blame *rows = NULL;
    size_t n_rows = 0;
    double all = 0.0;
    struct lc_strbuf text = {0};
    struct line *lines = NULL;
    enum lc_err err = collect(table, of, &rows, &n_rows, &all);
    if (err == LC_OK && of == COSTS)
        err = add_waited(table, &rows, &n_rows);
    if (err == LC_OK)
        find_errors(table->defs, of, rows, n_rows);
    size_t n_lines = 0;
    if (err == LC_OK && n_rows > 0) {
        lines = calloc(n_rows, sizeof *lines);
        err = lines == NULL ? LC_ERR_NOMEM
                            : print_rows(table, of, rows, n_rows, all, lines, &n_lines);
    }
    lc_strbuf_puts(&text, head);
    for (size_t i = 0; i < n_lines; i++) {
        lc_strbuf_puts(&text, lines[i].text);
        free(lines[i].text);
    }
    if (err == LC_OK && n_lines > 0)
        err = write_member(writer, member, &text);
    lc_strbuf_free(&text);
    free(lines);
    free(rows);
    return err;
}

enum lc_err lc_blame_table_write(const struct lc_blame_table *table,
                                 struct lc_cubex_writer *writer) {
    LC_TRY(write_table(table, BLAME, "blame.tsv",
                       "waiting_callpath\tlate_rank\tlate_callpath\tlate_call_site_begin\t"
                       "late_call_site_end\tseconds\tshare\tlate_thread\tmost_seconds\terror\n",
                       writer));
    return write_table(table, COSTS, "costs.tsv",
                       "late_rank\tlate_callpath\tlate_call_site_begin\tlate_call_site_end\t"
                       "seconds\tshare\tlate_thread\tdirect_seconds\tindirect_seconds\terror\n",
                       writer);
}

/* ---- gains of the scenarios that were carried in the run */

enum { SAVED, LEAST, MOST, EXCESS, N_GAIN_PARTS };

struct gain {
    uint32_t cnode; /* LC_NONE: has not come */
    int32_t rank;
    double seconds[N_GAIN_PARTS];
};

static enum lc_err collect_gains(const struct lc_blame_table *table, struct gain **rows,
                                 size_t *n_rows) {
    static const char *const parts[N_GAIN_PARTS] = {".saved", ".least", ".most", ".excess"};
    size_t capacity = 0;
    for (size_t i = 0; i < table->n_values; i++) {
        const struct lc_raw_value *value = table->values[i];
        const char *name = table->defs->names[value->metric];
        char *end;
        if (strncmp(name, "gain.", 5) != 0 || name[5] < '0' || name[5] > '9')
            continue;
        size_t k = strtoul(name + 5, &end, 10);
        int part = 0;
        while (part < N_GAIN_PARTS && strcmp(end, parts[part]) != 0)
            part++;
        if (part == N_GAIN_PARTS || k >= MOST_ROWS)
            continue;
        LC_TRY(lc_grow(rows, &capacity, k + 1, sizeof **rows));
        for (; *n_rows <= k; ++*n_rows)
            (*rows)[*n_rows] = (struct gain){.cnode = LC_NONE};
        (*rows)[k].cnode = table->cnodes[i];
        (*rows)[k].rank = table->defs->locations[value->location].rank;
        (*rows)[k].seconds[part] = value->value;
    }
    return LC_OK;
}

enum lc_err lc_gain_table_write(const struct lc_blame_table *table,
                                struct lc_cubex_writer *writer) {
    /* in the order of enum lc_scenario (piggyback/portions.h) */
    enum { N_GAIN_KINDS = 3 };
    static const char *const kinds[N_GAIN_KINDS] = {"late_rank", "imbalance",
                                                    "serialisation_chain"};
    struct gain *rows = NULL;
    size_t n_rows = 0, n = 0;
    struct lc_strbuf text = {0};
    enum lc_err err = collect_gains(table, &rows, &n_rows);
    lc_strbuf_puts(&text, "without\tlate_rank\tcallpath\tseconds\tleast_seconds\tmost_seconds\t"
                          "excess_seconds\n");
    for (size_t i = 0; err == LC_OK && i < n_rows; i++) {
        if (rows[i].cnode == LC_NONE)
            continue;
        lc_strbuf_printf(&text, "%s\t%d\t", kinds[i % N_GAIN_KINDS], rows[i].rank);
        err = print_path(table, rows[i].cnode, &text);
        for (int part = 0; part < N_GAIN_PARTS; part++)
            lc_strbuf_printf(&text, "\t%.9f", rows[i].seconds[part]);
        lc_strbuf_putc(&text, '\n');
        n++;
    }
    if (err == LC_OK && n > 0)
        err = write_member(writer, "gains.tsv", &text);
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
