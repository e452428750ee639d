/* The call tree behind columns of numbers, which so stand where they are found however long the
 * names are; small subtrees are folded into one line. */
#include <libsmartcols.h>
#include <stdlib.h>
#include <string.h>
#include <string.h>

#include "base/mem.h"
#include "report/frames.h"
#include "report/text_parts.h"

enum { MOST_LINES = 36, NUMBERS_WIDTH = 34, WIDEST = 65536 };
enum { NAME = 4 }; /* the column of names, after those of numbers */

struct tree {
    const struct lc_text *text;
    struct libscols_table *table;
    double least_time, least_waiting; /* paths below both are folded */
};

static bool is_small(const struct tree *tree, uint32_t path) {
    const struct lc_sums *sums = tree->text->sums;
    return sums->time[path] < tree->least_time && sums->waiting[path] <= tree->least_waiting;
}

static size_t count_lines(const struct tree *tree) {
    size_t n = 0;
    for (uint32_t p = 0; p < tree->text->view->n_paths; p++)
        n += !is_small(tree, p);
    return n;
}

/* error: the standard error of the time where samples have divided it; 0: it was measured. */
static void fill_line(const struct tree *tree, struct libscols_line *line, const char *name,
                      double time, double error, double mpi, double waiting) {
    char cell[80], seconds[32], deviation[32];
    const struct lc_sums *sums = tree->text->sums;
    scols_line_set_data(line, NAME, name);
    lc_text_seconds(time, seconds);
    if (error > 0.0 && tree->text->full)
        snprintf(cell, sizeof cell, "~%s %s %s", seconds, tree->text->utf8 ? "±" : "+-",
                 lc_text_seconds(error, deviation));
    else
        snprintf(cell, sizeof cell, "%s%s", error > 0.0 ? "~" : "", seconds);
    scols_line_set_data(line, 0, cell);
    snprintf(cell, sizeof cell, "%.1f", lc_text_share(time, sums->total_time));
    scols_line_set_data(line, 1, cell);
    snprintf(cell, sizeof cell, "%.1f", lc_text_share(mpi, sums->total_time));
    scols_line_set_data(line, 2, mpi > 0.0 ? cell : "");
    snprintf(cell, sizeof cell, "%.1f", lc_text_share(waiting, sums->total_time));
    scols_line_set_data(line, 3, waiting > 0.0 ? cell : "");
}

/* Children in the order of their weight (a stable insertion into a short list). */
static size_t sort_children(const struct tree *tree, uint32_t first, uint32_t *list) {
    const struct lc_merged_path *paths = tree->text->view->paths;
    const double *weight = tree->text->sums->time;
    size_t n = 0;
    for (uint32_t child = first; child != LC_NONE; child = paths[child].next_sibling) {
        if (is_small(tree, child))
            continue;
        size_t at = n++;
        for (; at > 0 && weight[list[at - 1]] < weight[child]; at--)
            list[at] = list[at - 1];
        list[at] = child;
    }
    return n;
}

static enum lc_err add_path(const struct tree *tree, uint32_t path, struct libscols_line *parent,
                            size_t depth);

/* What is not shown below a line, in one line; nothing if that is nothing worth a line. */
static void add_folded(const struct tree *tree, uint32_t first, struct libscols_line *parent) {
    const struct lc_sums *sums = tree->text->sums;
    double time = 0.0, mpi = 0.0, waiting = 0.0;
    size_t n = 0;
    for (uint32_t p = first; p != LC_NONE; p = tree->text->view->paths[p].next_sibling)
        if (is_small(tree, p)) {
            n++;
            time += sums->time[p];
            mpi += sums->mpi[p];
            waiting += sums->waiting[p];
        }
    if (n == 0 || time < 0.5 * tree->least_time)
        return;
    char name[48];
    struct libscols_line *line = scols_table_new_line(tree->table, parent);
    snprintf(name, sizeof name, "(%zu more)", n);
    if (line != NULL)
        fill_line(tree, line, name, time, 0.0, mpi, waiting);
}

static enum lc_err add_children(const struct tree *tree, uint32_t first,
                                struct libscols_line *parent, size_t depth) {
    uint32_t *list;
    size_t count = 0;
    for (uint32_t p = first; p != LC_NONE; p = tree->text->view->paths[p].next_sibling)
        count++;
    LC_TRY(lc_alloc(&list, count, sizeof list[0]));
    size_t n = sort_children(tree, first, list);
    enum lc_err err = LC_OK;
    for (size_t i = 0; err == LC_OK && i < n; i++)
        err = add_path(tree, list[i], parent, depth);
    free(list);
    if (err == LC_OK && count > 0)
        add_folded(tree, first, parent);
    return err;
}

/* The one child worth a line of a frame that says little, if it is of the same kind: the lines of
 * both would say the same. */
static uint32_t only_child(const struct tree *tree, uint32_t path) {
    const struct lc_merged_path *paths = tree->text->view->paths;
    const struct lc_sums *sums = tree->text->sums;
    uint32_t only = LC_NONE;
    const char *kind = tree->text->full ? NULL : lc_frame_kind(paths[path].name), *other;
    if (kind == NULL)
        return LC_NONE;
    for (uint32_t child = paths[path].first_child; child != LC_NONE;
         child = paths[child].next_sibling) {
        if (is_small(tree, child))
            continue;
        if (only != LC_NONE)
            return LC_NONE;
        only = child;
    }
    if (only == LC_NONE || sums->time[path] - sums->time[only] >= tree->least_time)
        return LC_NONE;
    other = lc_frame_kind(paths[only].name);
    return other != NULL && strcmp(other, kind) == 0 ? only : LC_NONE;
}

/* A function's name, cut so that the numbers have room. */
static void put_name(const struct tree *tree, uint32_t path, size_t depth, size_t folded,
                     struct lc_strbuf *out) {
    const struct lc_text *text = tree->text;
    size_t used = NUMBERS_WIDTH + 2 * depth;
    size_t width = text->width > used + 24 ? text->width - used : 24;
    if (folded > 0) {
        const char *kind = lc_frame_kind(text->view->paths[path].name);
        bool last = lc_frames_fold(kind, 1); /* unnamed: the innermost one says where it is */
        lc_put_frames(out, kind, last ? folded : folded + 1);
        if (!last)
            return;
        lc_strbuf_putc(out, '/');
    }
    lc_text_put_name(text, path, width - out->length, out);
}

/* Recursion is bounded by the depth of the call tree, which the reader bounds. */
static enum lc_err add_path(const struct tree *tree, uint32_t path, struct libscols_line *parent,
                            size_t depth) {
    size_t folded = 0;
    for (uint32_t below; (below = only_child(tree, path)) != LC_NONE; path = below)
        folded++;
    const struct lc_merged_path *own = &tree->text->view->paths[path];
    const struct lc_sums *sums = tree->text->sums;
    struct libscols_line *line = scols_table_new_line(tree->table, parent);
    if (line == NULL)
        return lc_fail(LC_ERR_NOMEM, "memory: cannot build a table");
    struct lc_strbuf name = {0};
    put_name(tree, path, depth, folded, &name);
    fill_line(tree, line, lc_strbuf_get(&name), sums->time[path], tree->text->error_s[path],
              sums->mpi[path], sums->waiting[path]);
    lc_strbuf_free(&name);
    /* A leaf that carries a tenth of all waiting catches the eye. */
    if (own->first_child == LC_NONE && sums->waiting[path] > 0.1 * sums->total_waiting)
        scols_line_set_color(line, "red");
    return add_children(tree, own->first_child, line, depth + 1);
}

/* Start and end of MPI: in no other line, and no part of what the shares refer to. */
static void add_end(const struct tree *tree, const char *name, double time) {
    char cell[32];
    if (time < tree->least_time)
        return;
    struct libscols_line *line = scols_table_new_line(tree->table, NULL);
    if (line == NULL)
        return;
    scols_line_set_data(line, NAME, name);
    scols_line_set_data(line, 0, lc_text_seconds(time, cell));
}

static enum lc_err print_tree(struct tree *tree) {
    uint32_t first = LC_NONE;
    const struct lc_view *view = tree->text->view;
    char *printed = NULL;
    /* Roots are siblings without a parent: chain them for the walk. */
    for (uint32_t p = (uint32_t)view->n_paths; p-- > 0;)
        if (view->paths[p].parent == LC_NONE) {
            view->paths[p].next_sibling = first;
            first = p;
        }
    LC_TRY(add_children(tree, first, NULL, 0));
    add_end(tree, "MPI_Init (apart)", tree->text->sums->start_time);
    add_end(tree, "MPI_Finalize (apart)", tree->text->sums->end_time);
    scols_table_set_termforce(tree->table, SCOLS_TERMFORCE_ALWAYS);
    scols_table_set_termwidth(tree->table, tree->text->full ? WIDEST : tree->text->width);
    scols_table_enable_colors(tree->table, tree->text->colour);
    if (scols_print_table_to_string(tree->table, &printed) != 0)
        return lc_fail(LC_ERR_NOMEM, "memory: cannot print a table");
    fputs(printed, tree->text->out);
    fputc('\n', tree->text->out);
    if (strchr(printed, '~') != NULL && !tree->text->full)
        fputs("  ~ divided by samples; with standard errors: show --full\n", tree->text->out);
    free(printed);
    return LC_OK;
}

static struct libscols_table *new_table(const struct lc_text *text) {
    static const char *const titles[NAME] = {"TIME", "TIME %", "MPI %", "WAIT %"};
    bool full = text->full;
    struct libscols_table *table = scols_new_table();
    if (table == NULL)
        return NULL;
    for (size_t i = 0; i < NAME; i++) {
        bool hidden = strcmp(titles[i], "MPI %") == 0 && lc_text_without_mpi(text);
        scols_table_new_column(table, titles[i], 0,
                               hidden ? SCOLS_FL_RIGHT | SCOLS_FL_HIDDEN : SCOLS_FL_RIGHT);
    }
    scols_table_new_column(table, "CALL TREE", full ? 1 : 0.5,
                           full ? SCOLS_FL_TREE : SCOLS_FL_TREE | SCOLS_FL_TRUNC);
    return table;
}

enum lc_err lc_text_tree(const struct lc_text *text) {
    struct tree tree = {.text = text, .table = new_table(text)};
    if (text->sums->total_time <= 0.0) {
        scols_unref_table(tree.table);
        return LC_OK;
    }
    if (tree.table == NULL)
        return lc_fail(LC_ERR_NOMEM, "memory: cannot build a table");
    tree.least_time = 0.01 * text->sums->total_time;
    tree.least_waiting = 0.05 * text->sums->total_waiting;
    while (count_lines(&tree) > MOST_LINES) {
        tree.least_time *= 1.5;
        tree.least_waiting *= 1.5;
    }
    lc_text_heading(text, "Call tree",
                    lc_text_without_mpi(text)
                        ? "children included, all threads; small subtrees are folded"
                        : "children included, all ranks; small subtrees are folded");
    enum lc_err err = print_tree(&tree);
    scols_unref_table(tree.table);
    return err;
}
