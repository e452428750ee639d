#include "report/view.h"

#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/hash.h"
#include "base/lookup.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "report/short_name.h"
#include "report/view_fold.h"

static const char *name_of(const struct lc_view *view, uint32_t cnode) {
    if (view->fold_names != NULL && view->fold_names[cnode] != NULL)
        return view->fold_names[cnode];
    return view->model->regions[view->model->cnodes[cnode].region].name;
}

static bool is_folded(const struct lc_view *view, uint32_t cnode) {
    return view->fold_names != NULL && view->fold_names[cnode] != NULL;
}

/* The path of that name under a parent (in `lookup`, in which there is room). */
static uint32_t find_or_add(struct lc_view *view, struct lc_lookup *lookup, uint32_t parent,
                            uint32_t cnode) {
    const char *name = name_of(view, cnode);
    uint64_t hash = lc_hash_text(LC_HASH_BEGIN ^ parent, name);
    uint32_t id = LC_LOOKUP(
        lookup, hash, i, view->paths[i].parent == parent && strcmp(view->paths[i].name, name) == 0);
    if (id != LC_NONE)
        return id;
    id = (uint32_t)view->n_paths++;
    lc_lookup_add(lookup, hash, id);
    view->paths[id] = (struct lc_merged_path){.parent = parent,
                                              .first_child = LC_NONE,
                                              .next_sibling = LC_NONE,
                                              .first_cnode = LC_NONE,
                                              .name = name,
                                              .mpi = strncmp(name, "MPI_", 4) == 0,
                                              .folded = is_folded(view, cnode)};
    return id;
}

static enum lc_err merge_paths(struct lc_view *view) {
    size_t n = view->model->n_cnodes;
    struct lc_lookup lookup = {0};
    LC_TRY(lc_alloc(&view->paths, n, sizeof view->paths[0]));
    LC_TRY(lc_alloc(&view->path_of, n, sizeof view->path_of[0]));
    LC_TRY(lc_alloc(&view->same_path, n, sizeof view->same_path[0]));
    LC_TRY(lc_lookup_reserve(&lookup, n));
    for (uint32_t c = 0; c < n; c++) {
        uint32_t parent = view->model->cnodes[c].parent;
        while (parent != LC_NONE && is_folded(view, c) && is_folded(view, parent))
            parent = view->model->cnodes[parent].parent;
        view->path_of[c] =
            find_or_add(view, &lookup, parent == LC_NONE ? LC_NONE : view->path_of[parent], c);
    }
    lc_lookup_free(&lookup);
    for (uint32_t c = (uint32_t)n; c-- > 0;) { /* from the end, so that lists ascend */
        struct lc_merged_path *path = &view->paths[view->path_of[c]];
        view->same_path[c] = path->first_cnode;
        path->first_cnode = c;
    }
    for (uint32_t p = (uint32_t)view->n_paths; p-- > 0;) {
        uint32_t parent = view->paths[p].parent;
        if (parent != LC_NONE) {
            view->paths[p].next_sibling = view->paths[parent].first_child;
            view->paths[parent].first_child = p;
        }
    }
    return LC_OK;
}

static void free_paths(struct lc_view *view) {
    free(view->paths);
    free(view->path_of);
    free(view->same_path);
    free(view->fold_names);
    free(view->fold_texts);
    free(view->first_child);
    free(view->next_child);
    view->paths = NULL;
    view->path_of = view->same_path = view->first_child = view->next_child = NULL;
    view->fold_names = NULL;
    view->fold_texts = NULL;
    view->n_paths = 0;
}

/* Lists of children per cnode, for values of nested frames that are one path. */
static enum lc_err link_children(struct lc_view *view) {
    size_t n = view->model->n_cnodes;
    LC_TRY(lc_alloc(&view->first_child, n, sizeof view->first_child[0]));
    LC_TRY(lc_alloc(&view->next_child, n, sizeof view->next_child[0]));
    for (size_t c = 0; c < n; c++)
        view->first_child[c] = view->next_child[c] = LC_NONE;
    for (uint32_t c = (uint32_t)n; c-- > 0;) {
        uint32_t parent = view->model->cnodes[c].parent;
        if (parent == LC_NONE)
            continue;
        view->next_child[c] = view->first_child[parent];
        view->first_child[parent] = c;
    }
    return LC_OK;
}

enum lc_err lc_view_fold(struct lc_view *view, bool fold) {
    free_paths(view);
    if (fold) {
        LC_TRY(lc_fold_names(view->model, &view->fold_names, &view->fold_texts));
        LC_TRY(link_children(view));
    }
    return merge_paths(view);
}

static enum lc_err mark_unknown(struct lc_view *view) {
    const char *text = lc_model_attr(view->model, "latecomer.meta");
    LC_TRY(lc_alloc(&view->unknown, view->model->n_locations, sizeof view->unknown[0]));
    json_t *meta = text == NULL ? NULL : json_loads(text, 0, NULL);
    const json_t *ranks = json_object_get(meta, "unknown_ranks");
    size_t at = 0, n = json_array_size(ranks);
    /* Both are in ascending order. */
    for (uint32_t l = 0; l < view->model->n_locations && at < n; l++) {
        json_int_t rank = lc_view_rank(view, l);
        while (at < n && json_integer_value(json_array_get(ranks, at)) < rank)
            at++;
        view->unknown[l] = at < n && json_integer_value(json_array_get(ranks, at)) == rank;
        view->n_unknown += view->unknown[l];
    }
    json_decref(meta);
    return LC_OK;
}

enum lc_err lc_view_open(struct lc_view **out, const char *file) {
    struct lc_view *view;
    LC_TRY(lc_alloc(&view, 1, sizeof *view));
    enum lc_err err = lc_strdup(&view->file, file);
    if (err == LC_OK)
        err = lc_cubex_open(&view->cube, file);
    if (err == LC_OK) {
        view->model = lc_cubex_model(view->cube);
        err = merge_paths(view);
    }
    if (err == LC_OK)
        err = lc_alloc(&view->scratch, view->model->n_locations, sizeof view->scratch[0]);
    if (err == LC_OK)
        err = lc_alloc(&view->child, view->model->n_locations, sizeof view->child[0]);
    if (err == LC_OK)
        err = mark_unknown(view);
    if (err != LC_OK) {
        lc_view_close(view);
        return err;
    }
    *out = view;
    return LC_OK;
}

void lc_view_close(struct lc_view *view) {
    if (view == NULL)
        return;
    free(view->file);
    free_paths(view);
    for (size_t m = 0; view->location_sums != NULL && m < view->model->n_metrics; m++)
        free(view->location_sums[m]);
    free(view->location_sums);
    free(view->scratch);
    free(view->child);
    free(view->unknown);
    lc_cubex_close(view->cube);
    free(view);
}

double lc_view_join(const struct lc_metric *metric, double a, double b) {
    if (metric->dtype == LC_DTYPE_MIN_DOUBLE)
        return a == 0.0 || (b != 0.0 && b < a) ? b : a; /* 0: was never called */
    if (metric->dtype == LC_DTYPE_MAX_DOUBLE)
        return a > b ? a : b;
    return a + b;
}

void lc_view_join_rows(const struct lc_metric *metric, double *into, const double *row, size_t n) {
    if (metric->dtype == LC_DTYPE_MIN_DOUBLE || metric->dtype == LC_DTYPE_MAX_DOUBLE)
        for (size_t l = 0; l < n; l++)
            into[l] = lc_view_join(metric, into[l], row[l]);
    else
        for (size_t l = 0; l < n; l++)
            into[l] += row[l];
}

double lc_view_join_all(const struct lc_metric *metric, double sum, const double *row, size_t n) {
    double sums[4] = {0}; /* side by side: an addition need not wait for the one before */
    size_t l = 0;
    if (metric->dtype != LC_DTYPE_MIN_DOUBLE && metric->dtype != LC_DTYPE_MAX_DOUBLE)
        for (; l + 4 <= n; l += 4)
            for (size_t k = 0; k < 4; k++)
                sums[k] += row[l + k];
    sum += sums[0] + sums[1] + (sums[2] + sums[3]);
    for (; l < n; l++)
        sum = lc_view_join(metric, sum, row[l]);
    return sum;
}

/* Frames of a folded path lie in each other: what each has without its children counts. */
static enum lc_err folded_row(struct lc_view *view, uint32_t metric, uint32_t path,
                              double *values) {
    const size_t n = view->model->n_locations;
    memset(values, 0, n * sizeof values[0]);
    for (uint32_t c = view->paths[path].first_cnode; c != LC_NONE; c = view->same_path[c]) {
        LC_TRY(lc_cubex_row(view->cube, metric, c, view->scratch));
        for (size_t l = 0; l < n; l++)
            values[l] += view->scratch[l];
        for (uint32_t d = view->first_child[c]; d != LC_NONE; d = view->next_child[d]) {
            LC_TRY(lc_cubex_row(view->cube, metric, d, view->scratch));
            for (size_t l = 0; l < n; l++)
                values[l] -= view->scratch[l];
        }
    }
    return LC_OK;
}

enum lc_err lc_view_row(struct lc_view *view, uint32_t metric, uint32_t path, double *values) {
    uint32_t cnode = view->paths[path].first_cnode;
    const struct lc_metric *definition = &view->model->metrics[metric];
    if (view->paths[path].folded && definition->kind == LC_METRIC_INCLUSIVE)
        return folded_row(view, metric, path, values);
    LC_TRY(lc_cubex_row(view->cube, metric, cnode, values));
    while ((cnode = view->same_path[cnode]) != LC_NONE) {
        LC_TRY(lc_cubex_row(view->cube, metric, cnode, view->scratch));
        lc_view_join_rows(definition, values, view->scratch, view->model->n_locations);
    }
    return LC_OK;
}

enum lc_err lc_view_exclusive_row(struct lc_view *view, uint32_t metric, uint32_t path,
                                  double *values) {
    LC_TRY(lc_view_row(view, metric, path, values));
    if (view->model->metrics[metric].kind != LC_METRIC_INCLUSIVE)
        return LC_OK;
    for (uint32_t child = view->paths[path].first_child; child != LC_NONE;
         child = view->paths[child].next_sibling) {
        LC_TRY(lc_view_row(view, metric, child, view->child));
        for (size_t l = 0; l < view->model->n_locations; l++)
            values[l] -= view->child[l];
    }
    return LC_OK;
}

enum lc_err lc_view_total(struct lc_view *view, uint32_t metric, double *total) {
    const struct lc_metric *definition = &view->model->metrics[metric];
    bool roots_only = definition->kind == LC_METRIC_INCLUSIVE;
    *total = 0.0;
    for (uint32_t c = 0; c < view->model->n_cnodes; c++) {
        if (roots_only && view->model->cnodes[c].parent != LC_NONE)
            continue;
        LC_TRY(lc_cubex_row(view->cube, metric, c, view->scratch));
        *total = lc_view_join_all(definition, *total, view->scratch, view->model->n_locations);
    }
    return LC_OK;
}

char *lc_view_path(const struct lc_view *view, uint32_t path) {
    const struct lc_merged_path *own = &view->paths[path];
    if (!own->folded)
        return lc_model_callpath(view->model, own->first_cnode);
    struct lc_strbuf out = {0};
    char *parent = lc_model_callpath(view->model, view->paths[own->parent].first_cnode);
    if (parent != NULL)
        lc_strbuf_printf(&out, "%s/%s", parent, own->name);
    free(parent);
    return lc_strbuf_take(&out);
}

enum lc_err lc_view_keep_location_sums(struct lc_view *view, uint32_t metric, double **sums) {
    if (view->location_sums == NULL)
        LC_TRY(
            lc_alloc(&view->location_sums, view->model->n_metrics, sizeof view->location_sums[0]));
    free(view->location_sums[metric]);
    view->location_sums[metric] = NULL;
    LC_TRY(lc_alloc(&view->location_sums[metric], view->model->n_locations, sizeof **sums));
    *sums = view->location_sums[metric];
    return LC_OK;
}

enum lc_err lc_view_location_sums(struct lc_view *view, uint32_t metric, double *sums) {
    const struct lc_metric *definition = &view->model->metrics[metric];
    const size_t n = view->model->n_locations;
    if (view->location_sums != NULL && view->location_sums[metric] != NULL) {
        memcpy(sums, view->location_sums[metric], n * sizeof *sums);
        return LC_OK;
    }
    memset(sums, 0, n * sizeof *sums);
    for (uint32_t c = 0; c < view->model->n_cnodes; c++) {
        if (definition->kind == LC_METRIC_INCLUSIVE && view->model->cnodes[c].parent != LC_NONE)
            continue;
        LC_TRY(lc_cubex_row(view->cube, metric, c, view->scratch));
        lc_view_join_rows(definition, sums, view->scratch, n);
    }
    return LC_OK;
}

/* The name of a path is the next component of `at`, in which '/' is %2F: its length there, 0 if it
 * is not. */
static size_t match_component(const char *at, const char *name) {
    size_t length = 0;
    for (; *name != '\0'; name++) {
        bool slash = *name == '/';
        if (slash ? strncmp(at + length, "%2F", 3) != 0 : at[length] != *name)
            return 0;
        length += slash ? 3 : 1;
    }
    return at[length] == '/' || at[length] == '\0' ? length : 0;
}

/* The same of names that stand in the file, where paths are folded. */
static uint32_t find_cnode(const struct lc_view *view, const char *name) {
    const struct lc_model *model = view->model;
    size_t n = model->n_cnodes, *end; /* per cnode: where its path ends in `name`; 0: it does not */
    uint32_t found = LC_NONE;
    if (lc_alloc(&end, n, sizeof end[0]) != LC_OK)
        return LC_NONE;
    for (uint32_t c = 0; c < n && found == LC_NONE; c++) {
        uint32_t parent = model->cnodes[c].parent;
        size_t begin = parent == LC_NONE ? 0 : end[parent];
        if (parent != LC_NONE && (begin == 0 || name[begin] != '/'))
            continue;
        begin += parent != LC_NONE;
        size_t length = match_component(name + begin, model->regions[model->cnodes[c].region].name);
        end[c] = length > 0 ? begin + length : 0;
        if (length > 0 && name[end[c]] == '\0')
            found = c;
    }
    free(end);
    return found != LC_NONE ? view->path_of[found] : LC_NONE;
}

uint32_t lc_view_find(const struct lc_view *view, const char *name) {
    uint32_t parent = LC_NONE;
    const char *at = name;
    for (uint32_t p = 0; p < view->n_paths; p++) { /* children come after their parent */
        size_t length =
            view->paths[p].parent == parent ? match_component(at, view->paths[p].name) : 0;
        if (length == 0)
            continue;
        if (at[length] == '\0')
            return p;
        parent = p;
        at += length + 1;
    }
    return view->fold_names != NULL ? find_cnode(view, name) : LC_NONE;
}

int32_t lc_view_rank(const struct lc_view *view, uint32_t location) {
    return view->model->processes[view->model->locations[location].process].rank;
}

const char *lc_view_node(const struct lc_view *view, uint32_t location) {
    const struct lc_model *model = view->model;
    uint32_t own = model->processes[model->locations[location].process].system_node;
    for (uint32_t node = own; node != LC_NONE; node = model->system_nodes[node].parent)
        if (strcmp(model->system_nodes[node].class_name, "node") == 0)
            return model->system_nodes[node].name;
    return model->system_nodes[own].name;
}

char *lc_view_short_path(const struct lc_view *view, uint32_t path) {
    struct lc_strbuf out = {0}, name = {0};
    uint32_t list[512];
    size_t n = 0;
    for (uint32_t up = path; up != LC_NONE && n < 512; up = view->paths[up].parent)
        list[n++] = up;
    while (n-- > 0) {
        lc_strbuf_clear(&name);
        lc_put_short_name(&name, view->paths[list[n]].name);
        lc_put_printable(&out, lc_strbuf_get(&name));
        if (n > 0)
            lc_strbuf_putc(&out, view->paths[list[n - 1]].folded ? ' ' : '/');
    }
    lc_strbuf_free(&name);
    return lc_strbuf_take(&out);
}

bool lc_view_is_analysis(const struct lc_view *view) {
    return lc_model_find_metric(view->model, "critical_path") != LC_NONE ||
           lc_model_find_metric(view->model, "delay_latesender") != LC_NONE;
}
