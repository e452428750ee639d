#include "report/run_indicators.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "report/delay_costs.h"
#include "report/locate.h"
#include "report/run_info.h"

static bool is_analysis(const struct lc_view *view) {
    return lc_model_find_metric(view->model, "critical_path") != LC_NONE;
}

static enum lc_err total(struct lc_view *view, const char *name, double *value) {
    uint32_t metric = lc_model_find_metric(view->model, name);
    if (metric == LC_NONE)
        return LC_OK;
    return lc_view_total(view, metric, value);
}

static enum lc_err read_totals(struct lc_run_indicators *out, struct lc_view *view) {
    const struct lc_model *model = view->model;
    LC_TRY(total(view, "critical_path", &out->path_s));
    LC_TRY(total(view, "critical_path_imbalance", &out->imbalance_s));
    LC_TRY(total(view, "intra_partition_imbalance", &out->intra_s));
    LC_TRY(total(view, "inter_partition_imbalance", &out->inter_s));
    out->allocation_s = out->path_s * (double)model->n_locations;
    return LC_OK;
}

/* Of the model that the view takes. */
static enum lc_err read_costs(struct lc_view *view, double *short_s, double *long_s) {
    for (uint32_t m = 0; m < view->model->n_metrics; m++) {
        bool longterm;
        double value = 0.0;
        if (!lc_is_delay_cost(view, m, &longterm))
            continue;
        LC_TRY(lc_view_total(view, m, &value));
        double *sum = longterm ? long_s : short_s;
        *sum = isnan(*sum) ? value : *sum + value;
    }
    return LC_OK;
}

static enum lc_err read_both_costs(struct lc_run_indicators *out, struct lc_view *view) {
    const bool chosen = view->wait_first;
    enum lc_err err = LC_OK;
    for (int m = 0; err == LC_OK && m < LC_N_COST_MODELS; m++) {
        view->wait_first = m > 0;
        err = read_costs(view, &out->short_s[m], &out->long_s[m]);
    }
    view->wait_first = chosen;
    return err;
}

/* Costs of one metric on the ranks of each partition. */
static enum lc_err add_costs(struct lc_run_indicators *out, struct lc_view *view,
                             const struct lc_partitions *partitions, const char *name, bool inter) {
    uint32_t metric = lc_model_find_metric(view->model, name);
    double *row;
    if (metric == LC_NONE)
        return LC_OK;
    LC_TRY(lc_alloc(&row, view->model->n_locations, sizeof row[0]));
    for (size_t i = 0; i < out->n; i++)
        *(inter ? &out->list[i].inter_s : &out->list[i].intra_s) = 0.0;
    enum lc_err err = LC_OK;
    for (uint32_t path = 0; err == LC_OK && path < view->n_paths; path++) {
        err = lc_view_exclusive_row(view, metric, path, row);
        for (size_t l = 0; err == LC_OK && l < view->model->n_locations; l++) {
            uint32_t of = partitions->of[view->model->locations[l].process];
            if (of == LC_NONE)
                continue;
            *(inter ? &out->list[of].inter_s : &out->list[of].intra_s) += row[l];
        }
    }
    free(row);
    return err;
}

static enum lc_err keep(struct lc_run_indicators *out, struct lc_view *view,
                        const struct lc_partitions *partitions) {
    if (partitions->n < 2)
        return LC_OK;
    LC_TRY(lc_alloc(&out->list, partitions->n, sizeof out->list[0]));
    for (size_t i = 0; i < partitions->n; i++) {
        char *name;
        LC_TRY(lc_strdup(&name, partitions->list[i].name));
        out->list[i] = (struct lc_run_partition){partitions->list[i], NAN, NAN};
        out->list[i].own.name = name;
        out->n++;
    }
    LC_TRY(add_costs(out, view, partitions, "intra_partition_imbalance", false));
    return add_costs(out, view, partitions, "inter_partition_imbalance", true);
}

static enum lc_err read_partitions(struct lc_run_indicators *out, struct lc_view *view) {
    struct lc_search search = {.view = view, .is_analysis = is_analysis(view)};
    struct lc_partitions partitions = {0};
    struct lc_sums *sums = NULL;
    json_t *meta = NULL, *pop = NULL;
    enum lc_err err = lc_sums_new(&sums, view);
    if (err == LC_OK)
        err = lc_json_meta(view, &meta);
    if (err == LC_OK)
        err = lc_json_pop(view, &pop);
    if (err == LC_OK)
        err = lc_alloc(&search.row, view->model->n_locations, sizeof search.row[0]);
    if (err == LC_OK) {
        search.sums = sums;
        search.meta = meta;
        search.pop = pop;
        search.elapsed_s = out->elapsed_s = lc_run_elapsed(pop, view, sums);
        err = lc_partitions_of(&search, &partitions);
    }
    if (err == LC_OK)
        err = keep(out, view, &partitions);
    lc_partitions_free(&partitions);
    free(search.row);
    json_decref(meta);
    json_decref(pop);
    lc_sums_free(sums);
    return err;
}

/* The analysis of the same run; NULL: there is none that can be read. */
static struct lc_view *open_beside(const struct lc_view *view) {
    struct lc_view *analysis = NULL;
    char *file = lc_locate_beside(view->file);
    if (file == NULL || lc_view_open(&analysis, file) != LC_OK)
        analysis = NULL;
    free(file);
    if (analysis != NULL &&
        (analysis->model->n_locations != view->model->n_locations || !is_analysis(analysis))) {
        lc_view_close(analysis);
        return NULL;
    }
    return analysis;
}

enum lc_err lc_run_indicators_read(struct lc_run_indicators *indicators, struct lc_view *view) {
    struct lc_view *beside = is_analysis(view) ? NULL : open_beside(view);
    struct lc_view *from = beside != NULL ? beside : view;
    *indicators = (struct lc_run_indicators){.path_s = NAN,
                                             .imbalance_s = NAN,
                                             .allocation_s = NAN,
                                             .intra_s = NAN,
                                             .inter_s = NAN,
                                             .short_s = {NAN, NAN},
                                             .long_s = {NAN, NAN}};
    enum lc_err err = is_analysis(from) ? read_totals(indicators, from) : LC_OK;
    if (err == LC_OK && is_analysis(from))
        err = read_both_costs(indicators, from);
    if (err == LC_OK)
        err = read_partitions(indicators, from);
    lc_view_close(beside);
    if (err != LC_OK)
        lc_run_indicators_free(indicators);
    return err;
}

void lc_run_indicators_free(struct lc_run_indicators *indicators) {
    for (size_t i = 0; i < indicators->n; i++)
        free((char *)indicators->list[i].own.name);
    free(indicators->list);
    indicators->list = NULL;
    indicators->n = 0;
}

const struct lc_run_partition *lc_run_indicators_find(const struct lc_run_indicators *indicators,
                                                      const char *name) {
    for (size_t i = 0; i < indicators->n; i++)
        if (strcmp(indicators->list[i].own.name, name) == 0)
            return &indicators->list[i];
    return NULL;
}

/* Adds a part of a run's values. */
static void add_run(struct lc_run_indicators *mean, const struct lc_run_indicators *run,
                    double part) {
    mean->elapsed_s += part * run->elapsed_s;
    mean->path_s += part * run->path_s;
    mean->imbalance_s += part * run->imbalance_s;
    mean->allocation_s += part * run->allocation_s;
    mean->intra_s += part * run->intra_s;
    mean->inter_s += part * run->inter_s;
    for (int m = 0; m < LC_N_COST_MODELS; m++) {
        mean->short_s[m] += part * run->short_s[m];
        mean->long_s[m] += part * run->long_s[m];
    }
    for (size_t i = 0; i < mean->n; i++) {
        struct lc_run_partition *to = &mean->list[i];
        const struct lc_run_partition *from = lc_run_indicators_find(run, to->own.name);
        to->own.work_s += from != NULL ? part * from->own.work_s : NAN;
        to->own.longest_s += from != NULL ? part * from->own.longest_s : NAN;
        to->own.critical_s += from != NULL ? part * from->own.critical_s : NAN;
        to->intra_s += from != NULL ? part * from->intra_s : NAN;
        to->inter_s += from != NULL ? part * from->inter_s : NAN;
    }
}

enum lc_err lc_run_indicators_mean(struct lc_run_indicators *mean,
                                   const struct lc_run_indicators *runs, size_t n) {
    enum lc_err err = LC_OK;
    *mean = (struct lc_run_indicators){0};
    if (runs[0].n > 0)
        LC_TRY(lc_alloc(&mean->list, runs[0].n, sizeof mean->list[0]));
    for (size_t i = 0; err == LC_OK && i < runs[0].n; i++) {
        char *name = NULL;
        err = lc_strdup(&name, runs[0].list[i].own.name);
        mean->list[i] = (struct lc_run_partition){
            .own = {.name = name, .n_ranks = runs[0].list[i].own.n_ranks}};
        mean->n += err == LC_OK;
    }
    for (size_t r = 0; err == LC_OK && r < n; r++)
        add_run(mean, &runs[r], 1.0 / (double)n);
    if (err != LC_OK)
        lc_run_indicators_free(mean);
    return err;
}

bool lc_run_indicators_analysed(const struct lc_run_indicators *indicators) {
    return !isnan(indicators->path_s);
}

static void set(json_t *object, const char *key, double value) {
    json_object_set_new(object, key, isfinite(value) ? json_real(value) : json_null());
}

json_t *lc_run_indicators_json(const struct lc_run_indicators *in) {
    json_t *object = json_object(), *list = json_array();
    set(object, "critical_path_s", in->path_s);
    set(object, "critical_path_imbalance_s", in->imbalance_s);
    set(object, "allocation_s", in->allocation_s);
    set(object, "intra_partition_s", in->intra_s);
    set(object, "inter_partition_s", in->inter_s);
    set(object, "delay_costs_s", in->short_s[0]);
    set(object, "delay_costs_longterm_s", in->long_s[0]);
    set(object, "delay_costs_waitfirst_s", in->short_s[1]);
    set(object, "delay_costs_longterm_waitfirst_s", in->long_s[1]);
    for (size_t i = 0; i < in->n; i++) {
        const struct lc_run_partition *one = &in->list[i];
        json_t *row = json_object();
        json_object_set_new(row, "name", json_string(one->own.name));
        json_object_set_new(row, "ranks", json_integer((json_int_t)one->own.n_ranks));
        set(row, "work_s", one->own.work_s);
        set(row, "longest_s", one->own.longest_s);
        set(row, "critical_path_s", one->own.critical_s);
        set(row, "intra_partition_s", one->intra_s);
        set(row, "inter_partition_s", one->inter_s);
        json_array_append_new(list, row);
    }
    json_object_set_new(object, "partitions", list);
    return object;
}
