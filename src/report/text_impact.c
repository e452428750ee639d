/* What each call path means for the run time: its own time and what imbalance in it costs, and its
 * times per location beside that on the critical path. */
#include <stdlib.h>

#include "base/utf8.h"
#include "report/path_impact.h"
#include "report/text_parts.h"

enum { MOST_ROWS = 12, FIGURES_WIDTH = 56, LEAST_NAME = 20, MOST_NAME = 44 };

struct table {
    const struct lc_path_impact *list;
    size_t n;
    char **where;
    int names; /* width of their column */
};

static int name_width(const struct lc_text *text) {
    size_t room = text->width > FIGURES_WIDTH ? text->width - FIGURES_WIDTH : 0;
    return room < LEAST_NAME ? LEAST_NAME : room > MOST_NAME ? MOST_NAME : (int)room;
}

/* At length names are whole. */
static int widest(const struct lc_text *text, char **where, size_t n) {
    int width = name_width(text);
    for (size_t i = 0; i < n; i++) {
        int own = (int)lc_utf8_count(where[i]);
        width = own > width ? own : width;
    }
    return width;
}

static void print_name(const struct lc_text *text, const struct table *table, size_t row) {
    const char *name = table->where[row];
    fprintf(text->out, "  %s%*s", name, table->names - (int)lc_utf8_count(name), "");
}

static void print_seconds(const struct lc_text *text, double seconds) {
    char buffer[32];
    fprintf(text->out, " %8s", lc_text_seconds(seconds, buffer));
}

static void print_costs(const struct lc_text *text, const struct table *table) {
    const struct lc_path_impact *list = table->list;
    lc_text_heading(
        text, "Performance impact",
        "own time of all ranks, and the waiting that imbalance of the code costs: among "
        "the ranks that run it, and others; ratio: of these costs in the impact");
    fprintf(text->out, "  %-*s %8s %7s %8s %8s %8s %7s\n", table->names, "", "IMPACT", "SHARE %",
            "OWN", "AMONG", "OTHERS", "RATIO %");
    for (size_t i = 0; i < table->n; i++) {
        print_name(text, table, i);
        print_seconds(text, list[i].impact_s);
        fprintf(text->out, " %7.1f", 100.0 * list[i].share);
        print_seconds(text, list[i].own_s);
        print_seconds(text, list[i].intra_s);
        print_seconds(text, list[i].inter_s);
        fprintf(text->out, " %7.1f\n", 100.0 * list[i].ratio);
    }
}

static void print_times(const struct lc_text *text, const struct table *table) {
    bool threads = text->view->model->n_locations > text->view->model->n_processes;
    lc_text_heading(text,
                    threads ? "Own time per rank and thread, and on the critical path"
                            : "Own time per rank, and on the critical path",
                    "max - mean: what a profile shows of imbalance; path - mean: what it costs");
    fprintf(text->out, "  %-*s %8s %8s %8s %8s %8s %8s\n", table->names, "", "MIN", "MEAN", "MAX",
            "MAX-MEAN", "ON PATH", "-MEAN");
    for (size_t i = 0; i < table->n; i++) {
        const struct lc_path_impact *one = &table->list[i];
        print_name(text, table, i);
        print_seconds(text, one->least_s);
        print_seconds(text, one->mean_s);
        print_seconds(text, one->most_s);
        print_seconds(text, lc_impact_difference(one->most_s, one->mean_s));
        print_seconds(text, one->path_s);
        print_seconds(text, lc_impact_difference(one->path_s, one->mean_s));
        fputc('\n', text->out);
    }
}

enum lc_err lc_text_impact(const struct lc_text *text) {
    struct lc_path_impact *list = NULL;
    size_t n = 0;
    char **where = NULL;
    uint32_t ids[MOST_ROWS];
    LC_TRY(lc_path_impacts(text->view, &list, &n));
    size_t shown = n < MOST_ROWS ? n : MOST_ROWS;
    for (size_t i = 0; i < shown; i++)
        ids[i] = list[i].path;
    enum lc_err err =
        n > 0 ? lc_text_paths(text, ids, shown, (size_t)name_width(text), &where) : LC_OK;
    if (err == LC_OK && n > 0) {
        const struct table table = {list, shown, where, widest(text, where, shown)};
        print_costs(text, &table);
        print_times(text, &table);
        if (n > shown)
            fprintf(text->out, "  (%zu more call paths: in show --json)\n", n - shown);
        lc_text_paths_free(where, shown);
    }
    free(list);
    return err;
}
