#include "report/delay_models.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "report/delay_costs.h"
#include "report/text_parts.h"

enum { PROPORTIONAL, WAIT_FIRST, N_MODELS, MOST_LINES = 15 };
static const char *const model_names[N_MODELS] = {"proportional", "wait-first"};
static const char suffix[] = "_waitfirst";

struct metric_pair { /* one metric in both models */
    uint32_t id[N_MODELS];
    bool long_term;
    double total[N_MODELS];
};

struct item { /* a location or a path */
    uint32_t id;
    double short_term[N_MODELS], long_term[N_MODELS];
};

struct comparison {
    struct lc_view *view;
    struct metric_pair *pairs;
    size_t n_pairs;
    struct item *locations, *paths; /* sorted by the first model, largest first */
    size_t n_locations, n_paths;    /* n_paths: those with costs */
    double all[N_MODELS];
};

static double cost(const struct item *item, int model) {
    return item->short_term[model] + item->long_term[model];
}

static int compare_items(const void *a, const void *b) {
    const struct item *p = a, *q = b;
    double x = cost(p, PROPORTIONAL), y = cost(q, PROPORTIONAL);
    if (x != y)
        return x < y ? 1 : -1;
    return (p->id > q->id) - (p->id < q->id);
}

static enum lc_err find_pairs(struct comparison *comparison) {
    const struct lc_model *model = comparison->view->model;
    LC_TRY(lc_alloc(&comparison->pairs, model->n_metrics, sizeof comparison->pairs[0]));
    for (uint32_t m = 0; m < model->n_metrics; m++) {
        char other[128];
        const char *name = model->metrics[m].name;
        bool long_term;
        if (!lc_is_delay_cost(comparison->view, m, &long_term))
            continue;
        snprintf(other, sizeof other, "%s%s", name, suffix);
        uint32_t twin = lc_model_find_metric(model, other);
        if (twin != LC_NONE)
            comparison->pairs[comparison->n_pairs++] =
                (struct metric_pair){.id = {m, twin}, .long_term = long_term};
    }
    if (comparison->n_pairs == 0)
        return lc_fail(LC_ERR_NOT_FOUND,
                       "%s: has no delay costs in both models: give an analysis.cubex of "
                       "`latecomer analyze`",
                       comparison->view->file);
    return LC_OK;
}

static void add(struct item *item, int model, bool long_term, double value) {
    *(long_term ? &item->long_term[model] : &item->short_term[model]) += value;
}

static enum lc_err add_pair(struct comparison *comparison, struct metric_pair *pair, double *row) {
    for (int model = 0; model < N_MODELS; model++)
        for (uint32_t p = 0; p < comparison->view->n_paths; p++) {
            LC_TRY(lc_view_exclusive_row(comparison->view, pair->id[model], p, row));
            for (uint32_t l = 0; l < comparison->n_locations; l++) {
                add(&comparison->locations[l], model, pair->long_term, row[l]);
                add(&comparison->paths[p], model, pair->long_term, row[l]);
                pair->total[model] += row[l];
            }
        }
    for (int model = 0; model < N_MODELS; model++)
        comparison->all[model] += pair->total[model];
    return LC_OK;
}

static enum lc_err compute(struct comparison *comparison) {
    struct lc_view *view = comparison->view;
    double *row;
    comparison->n_locations = view->model->n_locations;
    comparison->n_paths = view->n_paths;
    LC_TRY(find_pairs(comparison));
    LC_TRY(lc_alloc(&comparison->locations, comparison->n_locations, sizeof(struct item)));
    LC_TRY(lc_alloc(&comparison->paths, comparison->n_paths, sizeof(struct item)));
    for (uint32_t i = 0; i < comparison->n_locations; i++)
        comparison->locations[i].id = i;
    for (uint32_t i = 0; i < comparison->n_paths; i++)
        comparison->paths[i].id = i;
    LC_TRY(lc_alloc(&row, comparison->n_locations, sizeof row[0]));
    enum lc_err err = LC_OK;
    for (size_t i = 0; err == LC_OK && i < comparison->n_pairs; i++)
        err = add_pair(comparison, &comparison->pairs[i], row);
    free(row);
    qsort(comparison->locations, comparison->n_locations, sizeof(struct item), compare_items);
    if (comparison->n_paths > 0)
        qsort(comparison->paths, comparison->n_paths, sizeof(struct item), compare_items);
    while (comparison->n_paths > 0 &&
           cost(&comparison->paths[comparison->n_paths - 1], PROPORTIONAL) == 0.0 &&
           cost(&comparison->paths[comparison->n_paths - 1], WAIT_FIRST) == 0.0)
        comparison->n_paths--;
    return err;
}

static int compare_descending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

/* shares[k]: what the k + 1 most expensive items (in the order of this model) hold of all costs. */
static enum lc_err pareto(const struct comparison *comparison, const struct item *items, size_t n,
                          int model, double **shares) {
    LC_TRY(lc_alloc(shares, n, sizeof **shares));
    for (size_t i = 0; i < n; i++)
        (*shares)[i] = cost(&items[i], model);
    if (n > 0)
        qsort(*shares, n, sizeof **shares, compare_descending);
    double sum = 0.0;
    for (size_t i = 0; i < n; i++) {
        sum += (*shares)[i];
        (*shares)[i] = comparison->all[model] > 0.0 ? sum / comparison->all[model] : 0.0;
    }
    return LC_OK;
}

static json_t *costs_json(const struct item *item, int model) {
    return json_pack("{s:f, s:f}", "short_term", item->short_term[model], "long_term",
                     item->long_term[model]);
}

static json_t *totals_json(const struct comparison *comparison) {
    json_t *metrics = json_object();
    for (size_t i = 0; i < comparison->n_pairs; i++) {
        const struct metric_pair *pair = &comparison->pairs[i];
        json_object_set_new(metrics, comparison->view->model->metrics[pair->id[0]].name,
                            json_pack("{s:s, s:f, s:f}", "unit", "sec", "proportional",
                                      pair->total[PROPORTIONAL], "waitfirst",
                                      pair->total[WAIT_FIRST]));
    }
    return metrics;
}

static json_t *items_json(const struct comparison *comparison, const struct item *items, size_t n,
                          bool paths) {
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++) {
        json_t *entry = json_pack("{s:o, s:o}", "proportional", costs_json(&items[i], PROPORTIONAL),
                                  "waitfirst", costs_json(&items[i], WAIT_FIRST));
        if (paths) {
            char *path = lc_view_path(comparison->view, items[i].id);
            json_object_set_new(entry, "callpath", json_string(path != NULL ? path : ""));
            free(path);
        } else {
            json_object_set_new(entry, "rank",
                                json_integer(lc_view_rank(comparison->view, items[i].id)));
            json_object_set_new(
                entry, "thread",
                json_integer(comparison->view->model->locations[items[i].id].thread));
        }
        json_array_append_new(list, entry);
    }
    return list;
}

static enum lc_err pareto_json(const struct comparison *comparison, const struct item *items,
                               size_t n, json_t **object) {
    static const char *const keys[N_MODELS] = {"proportional", "waitfirst"};
    *object = json_object();
    for (int model = 0; model < N_MODELS; model++) {
        double *shares;
        json_t *curve = json_array();
        json_object_set_new(*object, keys[model], curve);
        LC_TRY(pareto(comparison, items, n, model, &shares));
        for (size_t i = 0; i < n; i++)
            json_array_append_new(curve, json_real(shares[i]));
        free(shares);
    }
    return LC_OK;
}

/* Sum of short-term costs: what a model does not book there, it books as long-term costs. */
static double short_term(const struct comparison *comparison, int model) {
    double sum = 0.0;
    for (size_t i = 0; i < comparison->n_pairs; i++)
        if (!comparison->pairs[i].long_term)
            sum += comparison->pairs[i].total[model];
    return sum;
}

static enum lc_err write_json(const struct comparison *comparison, FILE *out) {
    json_t *ranks = NULL, *paths = NULL;
    enum lc_err err =
        pareto_json(comparison, comparison->locations, comparison->n_locations, &ranks);
    if (err == LC_OK)
        err = pareto_json(comparison, comparison->paths, comparison->n_paths, &paths);
    if (err != LC_OK) {
        json_decref(ranks);
        json_decref(paths);
        return err;
    }
    double first = short_term(comparison, PROPORTIONAL), other = short_term(comparison, WAIT_FIRST);
    json_t *all =
        json_pack("{s:s, s:i, s:[s, s], s:o, s:o, s:o, s:{s:o, s:o}, s:{s:f, s:f, s:f}}", "format",
                  "latecomer-delay-models", "version", 1, "models", model_names[0], model_names[1],
                  "metrics", totals_json(comparison), "locations",
                  items_json(comparison, comparison->locations, comparison->n_locations, false),
                  "callpaths", items_json(comparison, comparison->paths, comparison->n_paths, true),
                  "pareto", "locations", ranks, "callpaths", paths, "short_term", "proportional",
                  first, "waitfirst", other, "shifted_to_long_term", first - other);
    if (all == NULL)
        return lc_fail(LC_ERR_NOMEM, "memory: cannot build the JSON of the comparison");
    json_dumpf(all, out, JSON_REAL_PRECISION(17) | JSON_INDENT(1));
    fputc('\n', out);
    json_decref(all);
    return LC_OK;
}

/* One unit for a whole table, so that its figures can be compared at a glance. */
struct unit {
    const char *name;
    double per_second;
};

static struct unit unit_for(double largest_s) {
    return largest_s >= 1.0    ? (struct unit){"s", 1.0}
           : largest_s >= 1e-3 ? (struct unit){"ms", 1e3}
                               : (struct unit){"us", 1e6};
}

static void print_totals(const struct lc_text *text, const struct comparison *comparison) {
    double largest = 0.0;
    for (size_t i = 0; i < comparison->n_pairs; i++)
        for (int model = 0; model < N_MODELS; model++)
            largest = fmax(largest, comparison->pairs[i].total[model]);
    const struct unit unit = unit_for(largest);
    char note[64];
    snprintf(note, sizeof note, "%s of waiting booked as delay costs", unit.name);
    lc_text_heading(text, "Totals per metric", note);
    fprintf(text->out, "  %-32s %14s %14s %14s\n", "", model_names[0], model_names[1],
            "difference");
    for (size_t i = 0; i < comparison->n_pairs; i++) {
        const struct metric_pair *pair = &comparison->pairs[i];
        if (pair->total[0] == 0.0 && pair->total[1] == 0.0)
            continue;
        fprintf(text->out, "  %-32s %14.3f %14.3f %+14.3f\n",
                text->view->model->metrics[pair->id[0]].name, pair->total[0] * unit.per_second,
                pair->total[1] * unit.per_second,
                (pair->total[1] - pair->total[0]) * unit.per_second);
    }
    double first = short_term(comparison, PROPORTIONAL), other = short_term(comparison, WAIT_FIRST);
    char moved[32];
    fprintf(text->out,
            "  wait-first moves %s (%.1f %% of the short-term costs) to long-term costs\n",
            lc_text_seconds(first - other, moved), lc_text_share(first - other, first));
}

static enum lc_err print_items(const struct lc_text *text, const struct comparison *comparison,
                               const struct item *items, size_t n, bool paths) {
    double sum[N_MODELS] = {0}, largest = 0.0;
    for (size_t i = 0; i < n; i++)
        for (int model = 0; model < N_MODELS; model++)
            largest = fmax(largest, fmax(items[i].short_term[model], items[i].long_term[model]));
    const struct unit unit = unit_for(largest);
    char note[96];
    snprintf(note, sizeof note,
             "%s, short + long term, and cumulated share; ordered by the first model", unit.name);
    lc_text_heading(text, paths ? "Costs per call path" : "Costs per rank", note);
    fprintf(text->out, "  %29s  %29s\n", model_names[0], model_names[1]);
    uint32_t ids[MOST_LINES];
    char **printed = NULL;
    for (size_t i = 0; i < n && i < MOST_LINES; i++)
        ids[i] = items[i].id;
    if (paths)
        LC_TRY(lc_text_paths(text, ids, n < MOST_LINES ? n : MOST_LINES,
                             text->width > 100 ? text->width - 66 : 40, &printed));
    for (size_t i = 0; i < n && i < MOST_LINES; i++) {
        char where[64];
        for (int model = 0; model < N_MODELS; model++) {
            sum[model] += cost(&items[i], model);
            fprintf(text->out, "  %9.3f + %9.3f %5.1f %%",
                    items[i].short_term[model] * unit.per_second,
                    items[i].long_term[model] * unit.per_second,
                    lc_text_share(sum[model], comparison->all[model]));
        }
        if (paths) {
            fprintf(text->out, "  %s\n", printed[i]);
        } else {
            lc_text_location(text, items[i].id, where, sizeof where);
            fprintf(text->out, "  %s\n", where);
        }
    }
    lc_text_paths_free(printed, n < MOST_LINES ? n : MOST_LINES);
    if (n > MOST_LINES)
        fprintf(text->out, "  (%zu more)\n", n - MOST_LINES);
    return LC_OK;
}

/* How many items hold half, 80, 90 and 99 % of all costs in each model. */
static enum lc_err print_pareto(const struct lc_text *text, const struct comparison *comparison,
                                const struct item *items, size_t n, const char *what) {
    static const double levels[] = {0.5, 0.8, 0.9, 0.99};
    fprintf(text->out, "  %-12s", what);
    for (int model = 0; model < N_MODELS; model++) {
        double *shares;
        LC_TRY(pareto(comparison, items, n, model, &shares));
        fprintf(text->out, "  %s:", model_names[model]);
        for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++) {
            size_t k = 0;
            while (k < n && shares[k] < levels[i] - 1e-12)
                k++;
            fprintf(text->out, " %zu", comparison->all[model] > 0.0 && k < n ? k + 1 : 0);
        }
        free(shares);
    }
    fprintf(text->out, "  of %zu\n", n);
    return LC_OK;
}

static enum lc_err write_text(const struct comparison *comparison, FILE *out) {
    const struct lc_text text = {.out = out, .view = comparison->view, .width = 100};
    fprintf(out, "%s: delay costs in two models\n", comparison->view->file);
    print_totals(&text, comparison);
    LC_TRY(print_items(&text, comparison, comparison->locations, comparison->n_locations, false));
    LC_TRY(print_items(&text, comparison, comparison->paths, comparison->n_paths, true));
    lc_text_heading(&text, "Concentration",
                    "how many of the most expensive account for 50, 80, 90, 99 % of all costs");
    LC_TRY(
        print_pareto(&text, comparison, comparison->locations, comparison->n_locations, "ranks"));
    return print_pareto(&text, comparison, comparison->paths, comparison->n_paths, "call paths");
}

enum lc_err lc_delay_models_write(struct lc_view *view, bool json, FILE *out) {
    struct comparison comparison = {.view = view};
    enum lc_err err = compute(&comparison);
    if (err == LC_OK)
        err = json ? write_json(&comparison, out) : write_text(&comparison, out);
    free(comparison.pairs);
    free(comparison.locations);
    free(comparison.paths);
    return err;
}
