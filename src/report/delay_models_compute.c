#include "report/delay_models_compute.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "report/delay_costs.h"

const char *const lc_cost_model_names[LC_N_COST_MODELS] = {"proportional", "wait-first"};
static const char suffix[] = "_waitfirst";

static int compare_items(const void *a, const void *b) {
    const struct lc_cost_item *p = a, *q = b;
    double x = lc_cost_of(p, 0), y = lc_cost_of(q, 0);
    if (x != y)
        return x < y ? 1 : -1;
    if (p->id != q->id)
        return p->id < q->id ? -1 : 1;
    return p->path != NULL && q->path != NULL ? strcmp(p->path, q->path) : 0;
}

/* Whether the metric is one of the model proportional, and not a sum of others. */
static bool class_of(const struct lc_view *view, uint32_t metric, enum lc_cost_class *class) {
    static const char *const prefixes[LC_N_CLASSES] = {[LC_CLASS_DIRECT] = "_wait_direct_",
                                                       [LC_CLASS_INDIRECT] = "_wait_indirect_",
                                                       [LC_CLASS_PROPAGATING] =
                                                           "_wait_propagating_",
                                                       [LC_CLASS_TERMINAL] = "_wait_terminal_"};
    bool longterm;
    if (lc_is_delay_cost(view, metric, &longterm)) {
        *class = longterm ? LC_CLASS_LONG_TERM : LC_CLASS_SHORT_TERM;
        return true;
    }
    const char *name = view->model->metrics[metric].name, *end = strstr(name, suffix);
    bool waits = strncmp(name, "mpi_", 4) == 0 || strncmp(name, "omp_", 4) == 0;
    for (int c = LC_CLASS_DIRECT; waits && c < LC_N_CLASSES; c++)
        if (strncmp(name + 3, prefixes[c], strlen(prefixes[c])) == 0 && end == NULL) {
            *class = (enum lc_cost_class)c;
            return true;
        }
    return false;
}

static uint32_t twin_of(const struct lc_view *view, const char *name) {
    char other[128];
    snprintf(other, sizeof other, "%s%s", name, suffix);
    return lc_model_find_metric(view->model, other);
}

static enum lc_err find_pairs(struct lc_delay_models *models) {
    const struct lc_view *view = models->views[0];
    const struct lc_model *model = view->model;
    LC_TRY(lc_alloc(&models->pairs, model->n_metrics + 1, sizeof models->pairs[0]));
    for (uint32_t m = 0; m < model->n_metrics; m++) {
        struct lc_cost_metric_pair pair = {.name = model->metrics[m].name};
        if (class_of(view, m, &pair.class) && twin_of(view, pair.name) != LC_NONE)
            models->pairs[models->n_pairs++] = pair;
    }
    return LC_OK;
}

static bool is_above(const struct lc_model *model, uint32_t metric, uint32_t below) {
    while (below != LC_NONE && below != metric)
        below = model->metrics[below].parent;
    return below == metric;
}

/* The metrics of the pairs and all that these are parts of. */
static enum lc_err make_tree(struct lc_delay_models *models) {
    const struct lc_model *model = models->views[0]->model;
    LC_TRY(lc_alloc(&models->tree, model->n_metrics + 1, sizeof models->tree[0]));
    for (uint32_t m = 0; m < model->n_metrics; m++) {
        struct lc_cost_node node = {.display = model->metrics[m].display, .metric = m};
        bool wanted = false;
        for (size_t i = 0; i < models->n_pairs; i++) {
            const struct lc_cost_metric_pair *pair = &models->pairs[i];
            if (!is_above(model, m, lc_model_find_metric(model, pair->name)))
                continue;
            wanted = true;
            for (int k = 0; k < LC_N_COST_MODELS; k++)
                node.total[k] += pair->total[k];
        }
        for (uint32_t up = model->metrics[m].parent; up != LC_NONE; up = model->metrics[up].parent)
            node.depth++;
        if (wanted)
            models->tree[models->n_nodes++] = node;
    }
    return LC_OK;
}

static enum lc_err check_view(const struct lc_delay_models *models, const struct lc_view *view) {
    const struct lc_model *model = view->model, *first = models->views[0]->model;
    bool same = model->n_locations == first->n_locations;
    if (lc_model_find_metric(model, "delay_latesender") == LC_NONE ||
        twin_of(view, "delay_latesender") == LC_NONE)
        return lc_fail(LC_ERR_NOT_FOUND,
                       "%s: has no delay costs in both models: give an analysis.cubex of "
                       "`latecomer analyze`",
                       view->file);
    for (uint32_t l = 0; same && l < model->n_locations; l++)
        same = lc_view_rank(view, l) == lc_view_rank(models->views[0], l) &&
               model->locations[l].thread == first->locations[l].thread;
    if (!same)
        return lc_fail(LC_ERR_UNSUPPORTED,
                       "%s: has other ranks or threads than %s: give analyses of runs of one size",
                       view->file, models->views[0]->file);
    return LC_OK;
}

/* The item of a call path, which takes the string. */
static enum lc_err find_path(struct lc_delay_models *models, char *path, uint32_t id,
                             size_t *index) {
    struct lc_cost_items *paths = &models->paths;
    uint64_t hash = lc_hash_text(LC_HASH_BEGIN, path);
    uint32_t at = LC_LOOKUP(&models->path_lookup, hash, i, strcmp(paths->list[i].path, path) == 0);
    if (at != LC_NONE) {
        free(path);
        *index = at;
        return LC_OK;
    }
    enum lc_err err = lc_grow(&paths->list, &paths->capacity, paths->n + 1, sizeof paths->list[0]);
    if (err == LC_OK)
        err = lc_lookup_add(&models->path_lookup, hash, (uint32_t)paths->n);
    if (err != LC_OK) {
        free(path);
        return err;
    }
    *index = paths->n;
    paths->list[paths->n++] = (struct lc_cost_item){.id = id, .path = path};
    return LC_OK;
}

static enum lc_err list_locations(struct lc_delay_models *models) {
    const struct lc_view *view = models->views[0];
    size_t n = view->model->n_locations;
    LC_TRY(lc_alloc(&models->locations.list, n + 1, sizeof models->locations.list[0]));
    LC_TRY(lc_alloc(&models->ranks.list, n + 1, sizeof models->ranks.list[0]));
    models->locations.n = n;
    for (uint32_t l = 0; l < n; l++) {
        int32_t rank = lc_view_rank(view, l);
        models->locations.list[l] = (struct lc_cost_item){.id = l, .rank = rank};
        if (l == 0 || rank != lc_view_rank(view, l - 1))
            models->ranks.list[models->ranks.n++] = (struct lc_cost_item){.id = l, .rank = rank};
    }
    return LC_OK;
}

/* Call paths of a view as items: index[path]. */
static enum lc_err list_paths(struct lc_delay_models *models, struct lc_view *view, size_t *index) {
    for (uint32_t p = 0; p < view->n_paths; p++) {
        char *path = lc_view_path(view, p);
        if (path == NULL)
            return lc_fail(LC_ERR_NOMEM, "memory: cannot compare delay-cost models");
        LC_TRY(find_path(models, path, view == models->views[0] ? p : LC_NONE, &index[p]));
    }
    return LC_OK;
}

/* Adds the values of one metric of a run, each as its part of the mean. */
static enum lc_err add_metric(struct lc_delay_models *models, size_t run, uint32_t metric,
                              int model, struct lc_cost_metric_pair *pair, const size_t *index,
                              double *row) {
    struct lc_view *view = models->views[run];
    double total = 0.0, n = (double)models->n_views;
    for (uint32_t p = 0; metric != LC_NONE && p < view->n_paths; p++) {
        LC_TRY(lc_view_exclusive_row(view, metric, p, row));
        for (size_t l = 0; l < models->locations.n; l++) {
            models->locations.list[l].of[model][pair->class] += row[l] / n;
            models->paths.list[index[p]].of[model][pair->class] += row[l] / n;
            total += row[l];
        }
    }
    pair->total[model] += total / n;
    pair->least[model] = view == models->views[0] ? total : fmin(pair->least[model], total);
    pair->most[model] = fmax(pair->most[model], total);
    if (pair->class <= LC_CLASS_LONG_TERM)
        models->runs[run].costs[model] += total;
    return LC_OK;
}

static enum lc_err add_view(struct lc_delay_models *models, size_t run) {
    struct lc_view *view = models->views[run];
    uint32_t time = lc_model_find_metric(view->model, "time");
    size_t *index = NULL;
    double *row = NULL;
    LC_TRY(check_view(models, view));
    if (time != LC_NONE)
        LC_TRY(lc_view_total(view, time, &models->runs[run].time_s));
    enum lc_err err = lc_alloc(&index, view->n_paths + 1, sizeof index[0]);
    if (err == LC_OK)
        err = lc_alloc(&row, models->locations.n + 1, sizeof row[0]);
    if (err == LC_OK)
        err = list_paths(models, view, index);
    for (size_t i = 0; err == LC_OK && i < models->n_pairs; i++) {
        struct lc_cost_metric_pair *pair = &models->pairs[i];
        err = add_metric(models, run, lc_model_find_metric(view->model, pair->name), 0, pair, index,
                         row);
        if (err == LC_OK)
            err = add_metric(models, run, twin_of(view, pair->name), 1, pair, index, row);
    }
    free(index);
    free(row);
    return err;
}

static void sum_up(struct lc_delay_models *models) {
    for (size_t l = 0, r = 0; l < models->locations.n; l++) {
        const struct lc_cost_item *location = &models->locations.list[l];
        r += models->ranks.list[r].rank != location->rank;
        for (int m = 0; m < LC_N_COST_MODELS; m++)
            for (int c = 0; c < LC_N_CLASSES; c++)
                models->ranks.list[r].of[m][c] += location->of[m][c];
    }
    for (size_t i = 0; i < models->n_pairs; i++)
        for (int m = 0; m < LC_N_COST_MODELS; m++)
            models->sums[m][models->pairs[i].class] += models->pairs[i].total[m];
    for (int m = 0; m < LC_N_COST_MODELS; m++)
        models->all[m] = models->sums[m][LC_CLASS_SHORT_TERM] + models->sums[m][LC_CLASS_LONG_TERM];
}

static void sort(struct lc_cost_items *items) {
    if (items->n > 1)
        qsort(items->list, items->n, sizeof items->list[0], compare_items);
}

enum lc_err lc_delay_models_compute(struct lc_delay_models *models) {
    LC_TRY(check_view(models, models->views[0]));
    LC_TRY(find_pairs(models));
    LC_TRY(list_locations(models));
    LC_TRY(lc_alloc(&models->runs, models->n_views, sizeof models->runs[0]));
    for (size_t v = 0; v < models->n_views; v++)
        LC_TRY(add_view(models, v));
    sum_up(models);
    LC_TRY(make_tree(models));
    sort(&models->locations);
    sort(&models->ranks);
    sort(&models->paths);
    for (struct lc_cost_items *p = &models->paths;
         p->n > 0 && lc_cost_of(&p->list[p->n - 1], 0) == 0.0 &&
         lc_cost_of(&p->list[p->n - 1], 1) == 0.0;
         p->n--)
        free(p->list[p->n - 1].path);
    return LC_OK;
}

void lc_delay_models_free(struct lc_delay_models *models) {
    for (size_t i = 0; i < models->paths.n; i++)
        free(models->paths.list[i].path);
    free(models->paths.list);
    free(models->locations.list);
    free(models->ranks.list);
    free(models->pairs);
    free(models->tree);
    free(models->runs);
    lc_lookup_free(&models->path_lookup);
}

static int compare_descending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

enum lc_err lc_cost_pareto(const struct lc_delay_models *models, const struct lc_cost_items *items,
                           int model, double **shares) {
    LC_TRY(lc_alloc(shares, items->n + 1, sizeof **shares));
    for (size_t i = 0; i < items->n; i++)
        (*shares)[i] = lc_cost_of(&items->list[i], model);
    if (items->n > 1)
        qsort(*shares, items->n, sizeof **shares, compare_descending);
    double sum = 0.0;
    for (size_t i = 0; i < items->n; i++) {
        sum += (*shares)[i];
        (*shares)[i] = models->all[model] > 0.0 ? sum / models->all[model] : 0.0;
    }
    return LC_OK;
}
