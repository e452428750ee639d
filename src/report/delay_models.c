#include "report/delay_models.h"

#include <jansson.h>
#include <stdlib.h>

#include "report/delay_models_compute.h"

static const char *const keys[LC_N_COST_MODELS] = {"proportional", "waitfirst"};
static const char *const class_keys[LC_N_CLASSES] = {"short_term", "long_term",   "direct",
                                                     "indirect",   "propagating", "terminal"};

/* The first classes of an item, in both models. */
static json_t *classes_json(const struct lc_cost_item *item, int n_classes) {
    json_t *object = json_object();
    for (int m = 0; m < LC_N_COST_MODELS; m++) {
        json_t *costs = json_object();
        for (int c = 0; c < n_classes; c++)
            json_object_set_new(costs, class_keys[c], json_real(item->of[m][c]));
        json_object_set_new(object, keys[m], costs);
    }
    return object;
}

static json_t *pair_json(const double of[LC_N_COST_MODELS]) {
    return json_pack("{s:f, s:f}", keys[0], of[0], keys[1], of[1]);
}

/* Delay costs, or classifications. */
static json_t *totals_json(const struct lc_delay_models *models, bool costs) {
    json_t *metrics = json_object();
    for (size_t i = 0; i < models->n_pairs; i++) {
        const struct lc_cost_metric_pair *pair = &models->pairs[i];
        if ((pair->class <= LC_CLASS_LONG_TERM) != costs)
            continue;
        json_t *entry = pair_json(pair->total);
        json_object_set_new(entry, "unit", json_string("sec"));
        if (models->n_views > 1) {
            json_object_set_new(entry, "least", pair_json(pair->least));
            json_object_set_new(entry, "most", pair_json(pair->most));
        }
        json_object_set_new(metrics, pair->name, entry);
    }
    return metrics;
}

static json_t *tree_json(const struct lc_delay_models *models) {
    json_t *list = json_array();
    for (size_t i = 0; i < models->n_nodes; i++) {
        const struct lc_cost_node *node = &models->tree[i];
        json_t *entry = pair_json(node->total);
        json_object_set_new(entry, "metric",
                            json_string(models->views[0]->model->metrics[node->metric].name));
        json_object_set_new(entry, "display", json_string(node->display));
        json_object_set_new(entry, "depth", json_integer((json_int_t)node->depth));
        json_array_append_new(list, entry);
    }
    return list;
}

static json_t *runs_json(const struct lc_delay_models *models) {
    json_t *list = json_array();
    for (size_t v = 0; v < models->n_views; v++) {
        json_t *run = json_object();
        json_object_set_new(run, "file", json_string(models->views[v]->file));
        json_object_set_new(run, "time_s", json_real(models->runs[v].time_s));
        json_object_set_new(run, "delay_costs_s", pair_json(models->runs[v].costs));
        json_array_append_new(list, run);
    }
    return list;
}

static json_t *sums_json(const struct lc_delay_models *models) {
    json_t *sums = json_object();
    for (int c = 0; c < LC_N_CLASSES; c++) {
        const double of[LC_N_COST_MODELS] = {models->sums[0][c], models->sums[1][c]};
        json_object_set_new(sums, class_keys[c], pair_json(of));
    }
    return sums;
}

static json_t *items_json(const struct lc_delay_models *models, const struct lc_cost_items *items) {
    json_t *list = json_array();
    for (size_t i = 0; i < items->n; i++) {
        const struct lc_cost_item *item = &items->list[i];
        json_t *entry =
            classes_json(item, items == &models->ranks ? LC_N_CLASSES : LC_CLASS_LONG_TERM + 1);
        if (item->path != NULL)
            json_object_set_new(entry, "callpath", json_string(item->path));
        else
            json_object_set_new(entry, "rank", json_integer(item->rank));
        if (items == &models->locations)
            json_object_set_new(entry, "thread",
                                json_integer(models->views[0]->model->locations[item->id].thread));
        json_array_append_new(list, entry);
    }
    return list;
}

static enum lc_err pareto_json(const struct lc_delay_models *models,
                               const struct lc_cost_items *items, json_t *curves,
                               const char *name) {
    json_t *object = json_object();
    json_object_set_new(curves, name, object);
    for (int model = 0; model < LC_N_COST_MODELS; model++) {
        double *shares;
        json_t *curve = json_array();
        json_object_set_new(object, keys[model], curve);
        LC_TRY(lc_cost_pareto(models, items, model, &shares));
        for (size_t i = 0; i < items->n; i++)
            json_array_append_new(curve, json_real(shares[i]));
        free(shares);
    }
    return LC_OK;
}

static enum lc_err write_json(const struct lc_delay_models *models, FILE *out) {
    json_t *curves = json_object();
    enum lc_err err = pareto_json(models, &models->locations, curves, "locations");
    if (err == LC_OK)
        err = pareto_json(models, &models->ranks, curves, "ranks");
    if (err == LC_OK)
        err = pareto_json(models, &models->paths, curves, "callpaths");
    if (err != LC_OK) {
        json_decref(curves);
        return err;
    }
    double first = models->sums[0][LC_CLASS_SHORT_TERM],
           other = models->sums[1][LC_CLASS_SHORT_TERM];
    json_t *all = json_pack(
        "{s:s, s:i, s:[s, s], s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:{s:f, s:f, s:f}}",
        "format", "latecomer-delay-models", "version", 1, "models", lc_cost_model_names[0],
        lc_cost_model_names[1], "analyses", (json_int_t)models->n_views, "runs", runs_json(models),
        "tree", tree_json(models), "metrics", totals_json(models, true), "classification",
        totals_json(models, false), "sums", sums_json(models), "locations",
        items_json(models, &models->locations), "ranks", items_json(models, &models->ranks),
        "callpaths", items_json(models, &models->paths), "pareto", curves, "short_term",
        "proportional", first, "waitfirst", other, "shifted_to_long_term", first - other);
    if (all == NULL)
        return lc_fail(LC_ERR_NOMEM, "memory: cannot build the JSON of the comparison");
    json_dumpf(all, out, JSON_REAL_PRECISION(17) | JSON_INDENT(1));
    fputc('\n', out);
    json_decref(all);
    return LC_OK;
}

enum lc_err lc_delay_models_write(struct lc_view *const *views, size_t n, bool json, FILE *out) {
    struct lc_delay_models models = {.views = views, .n_views = n};
    enum lc_err err = lc_delay_models_compute(&models);
    if (err == LC_OK)
        err = json ? write_json(&models, out) : lc_delay_models_text(&models, out);
    lc_delay_models_free(&models);
    return err;
}
