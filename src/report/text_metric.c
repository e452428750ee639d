/* `show --metric`: where one metric has its values, and who carries them. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "report/text_parts.h"

/* Per path the sum over locations: as stored (time with children, all others without). */
static enum lc_err sum_column(struct lc_view *view, uint32_t metric, double *column, double *row) {
    for (uint32_t p = 0; p < view->n_paths; p++) {
        LC_TRY(lc_view_row(view, metric, p, row));
        column[p] =
            lc_view_join_all(&view->model->metrics[metric], 0.0, row, view->model->n_locations);
    }
    return LC_OK;
}

/* A path without values of its own stays if something below it has some. */
static void keep_ancestors(const struct lc_view *view, const double *column, bool *kept) {
    for (uint32_t p = 0; p < view->n_paths; p++)
        for (uint32_t up = p; column[p] != 0.0 && up != LC_NONE && !kept[up];
             up = view->paths[up].parent)
            kept[up] = true;
}

static void format_value(const struct lc_metric *metric, double value, char buffer[32]) {
    if (strcmp(metric->unit, "sec") == 0)
        lc_text_seconds(value, buffer);
    else
        snprintf(buffer, 32, "%.10g", value);
}

static void print_metric_line(const struct lc_text *text, uint32_t metric) {
    double total = 0.0;
    char value[32];
    const struct lc_metric *definition = &text->view->model->metrics[metric];
    if (lc_view_total(text->view, metric, &total) != LC_OK)
        return;
    format_value(definition, total, value);
    struct lc_strbuf line = {0}; /* of any tool */
    lc_put_printable(&line, strcmp(definition->unit, "sec") == 0 ? "" : definition->unit);
    lc_strbuf_puts(&line, "  ");
    lc_put_printable(&line, definition->descr);
    char *name = lc_text_outside(definition->name, 200);
    fprintf(text->out, "%s%s%s  %s %s\n", lc_text_bold(text), name != NULL ? name : "?",
            lc_text_plain(text), value, lc_strbuf_get(&line));
    free(name);
    lc_strbuf_free(&line);
}

static int depth_of(const struct lc_view *view, uint32_t path) {
    int depth = 0;
    for (uint32_t up = view->paths[path].parent; up != LC_NONE; up = view->paths[up].parent)
        depth++;
    return depth;
}

static enum lc_err print_path(const struct lc_text *text, uint32_t metric, uint32_t path,
                              double sum, double *row) {
    char value[32] = "", who[256] = "";
    if (sum != 0.0) {
        format_value(&text->view->model->metrics[metric], sum, value);
        LC_TRY(lc_view_row(text->view, metric, path, row));
        lc_text_carriers(text, row, who, sizeof who);
    }
    struct lc_strbuf name = {0};
    lc_text_put_name(text, path, text->width, &name);
    fprintf(text->out, "  %10s  %*s%-*s  %s\n", value, 2 * depth_of(text->view, path), "",
            sum != 0.0 ? 30 : 0, lc_strbuf_get(&name), who);
    lc_strbuf_free(&name);
    return LC_OK;
}

static enum lc_err print_metric(const struct lc_text *text, uint32_t metric, double *row) {
    struct lc_view *view = text->view;
    double *column = NULL;
    bool *kept = NULL;
    enum lc_err err = lc_alloc(&column, view->n_paths, sizeof column[0]);
    if (err == LC_OK)
        err = lc_alloc(&kept, view->n_paths, sizeof kept[0]);
    if (err == LC_OK)
        err = sum_column(view, metric, column, row);
    if (err == LC_OK)
        keep_ancestors(view, column, kept);
    for (uint32_t p = 0; err == LC_OK && p < view->n_paths; p++)
        if (kept[p])
            err = print_path(text, metric, p, column[p], row);
    free(column);
    free(kept);
    return err;
}

enum lc_err lc_text_metric_tree(const struct lc_text *text, const bool *metrics) {
    double *row;
    LC_TRY(lc_alloc(&row, text->view->model->n_locations, sizeof row[0]));
    enum lc_err err = LC_OK;
    for (uint32_t m = 0; err == LC_OK && m < text->view->model->n_metrics; m++)
        if (metrics[m]) {
            print_metric_line(text, m);
            err = print_metric(text, m, row);
        }
    free(row);
    return err;
}
