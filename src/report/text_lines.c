/* Source lines that samples fell on, of the call paths with most time in them. Inlined functions
 * are marked: they stand in no call tree. */
#include <stdlib.h>

#include "base/mem.h"
#include "report/text_parts.h"
#include "report/tsv.h"

enum { MOST_PATHS = 8, MOST_LINES = 6, BAR = 16 };

struct columns {
    int path, line, inlined, called_at, samples, seconds, error;
};

struct group { /* the rows of a call path */
    uint32_t path;
    size_t first, n;
    double seconds;
};

static struct columns columns_of(const struct lc_tsv *tsv) {
    return (struct columns){.path = lc_tsv_column(tsv, "callpath"),
                            .line = lc_tsv_column(tsv, "line"),
                            .inlined = lc_tsv_column(tsv, "inlined"),
                            .called_at = lc_tsv_column(tsv, "called_at"),
                            .samples = lc_tsv_column(tsv, "samples"),
                            .seconds = lc_tsv_column(tsv, "seconds"),
                            .error = lc_tsv_column(tsv, "error")};
}

/* Rows of a call path follow each other. */
static size_t find_groups(const struct lc_text *text, const struct lc_tsv *tsv,
                          const struct columns *at, struct group *groups) {
    size_t n = 0;
    for (size_t r = 0; r < tsv->n_rows; r++) {
        uint32_t path = lc_view_find(text->view, lc_tsv_cell(tsv, r, at->path));
        if (path == LC_NONE)
            continue;
        if (n == 0 || groups[n - 1].path != path || groups[n - 1].first + groups[n - 1].n != r)
            groups[n++] = (struct group){.path = path, .first = r};
        groups[n - 1].n++;
        groups[n - 1].seconds += lc_tsv_number(tsv, r, at->seconds);
    }
    return n;
}

static int compare(const void *a, const void *b) {
    const struct group *x = a, *y = b;
    if (x->seconds != y->seconds)
        return x->seconds < y->seconds ? 1 : -1;
    return (x->first > y->first) - (x->first < y->first);
}

static void print_line(const struct lc_text *text, const struct lc_tsv *tsv,
                       const struct columns *at, size_t r, double all) {
    char time[32], error[32];
    struct lc_strbuf bar = {0};
    double seconds = lc_tsv_number(tsv, r, at->seconds);
    const double parts[3] = {all > 0 ? seconds / all : 0, 0, 0};
    const char *inlined = lc_tsv_cell(tsv, r, at->inlined);
    const char *called_at = lc_tsv_cell(tsv, r, at->called_at);
    lc_text_put_bar(text, parts, BAR, &bar);
    char *line = lc_text_outside(lc_tsv_cell(tsv, r, at->line), text->width / 3);
    fprintf(text->out, "    ~%8s  error %-8s %s  %s", lc_text_seconds(seconds, time),
            lc_text_seconds(lc_tsv_number(tsv, r, at->error), error), lc_strbuf_get(&bar),
            line != NULL ? line : "");
    if (inlined[0] != '\0') {
        char *names = lc_text_outside(inlined, text->full ? SIZE_MAX : text->width / 3);
        char *where = lc_text_outside(called_at, text->width / 3);
        fprintf(text->out, "  inlined: %s%s%s", names != NULL ? names : "",
                called_at[0] != '\0' ? ", called at " : "", where != NULL ? where : "");
        free(names);
        free(where);
    }
    putc('\n', text->out);
    free(line);
    lc_strbuf_free(&bar);
}

static enum lc_err print(const struct lc_text *text, const struct lc_tsv *tsv) {
    const struct columns at = columns_of(tsv);
    struct group *groups = NULL;
    char **names = NULL;
    uint32_t paths[MOST_PATHS];
    LC_TRY(lc_alloc(&groups, tsv->n_rows + 1, sizeof groups[0]));
    size_t n = find_groups(text, tsv, &at, groups), shown = n < MOST_PATHS ? n : MOST_PATHS;
    qsort(groups, n, sizeof groups[0], compare);
    for (size_t i = 0; i < shown; i++)
        paths[i] = groups[i].path;
    enum lc_err err =
        shown > 0 ? lc_text_paths(text, paths, shown, text->width - 14, &names) : LC_OK;
    if (err == LC_OK && shown > 0) {
        lc_text_heading(text, "Source lines",
                        "that samples fell on, with the time that is theirs of the code's own");
        for (size_t i = 0; i < shown; i++) {
            char time[32];
            fprintf(text->out, "  ~%8s  %s\n", lc_text_seconds(groups[i].seconds, time), names[i]);
            for (size_t r = 0; r < groups[i].n && r < MOST_LINES; r++)
                print_line(text, tsv, &at, groups[i].first + r, groups[i].seconds);
            if (groups[i].n > MOST_LINES)
                fprintf(text->out, "      (%zu more lines: in show --json)\n",
                        groups[i].n - MOST_LINES);
        }
        if (n > shown)
            fprintf(text->out, "  (%zu more call paths: in show --json)\n", n - shown);
        lc_text_paths_free(names, shown);
    }
    free(groups);
    return err;
}

enum lc_err lc_text_lines(const struct lc_text *text) {
    const char *data;
    size_t bytes;
    struct lc_tsv tsv;
    if (lc_cubex_misc(text->view->cube, "lines.tsv", &data, &bytes) != LC_OK)
        return LC_OK;
    LC_TRY(lc_tsv_parse(&tsv, data, bytes));
    enum lc_err err = print(text, &tsv);
    lc_tsv_free(&tsv);
    return err;
}
