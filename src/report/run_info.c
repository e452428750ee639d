#include "report/run_info.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "report/sums.h"

static enum lc_err load_attribute(const struct lc_view *view, const char *key, json_t **value) {
    const char *text = lc_model_attr(view->model, key);
    *value = NULL;
    if (text == NULL)
        return LC_OK;
    json_error_t error;
    *value = json_loads(text, 0, &error);
    if (!json_is_object(*value)) {
        json_decref(*value);
        *value = NULL;
        return lc_fail(LC_ERR_FORMAT, "%s: attribute %s is not a JSON object: %s", view->file, key,
                       error.text);
    }
    return LC_OK;
}

/* Sets a key unless the result says it itself. */
static void set_default(json_t *object, const char *key, json_t *value) {
    if (json_object_get(object, key) == NULL)
        json_object_set_new(object, key, value);
    else
        json_decref(value);
}

/* The longest life of a location: the time of its roots. */
static double longest_life(const struct lc_view *view) {
    uint32_t metric = lc_model_find_metric(view->model, "time");
    size_t n = view->model->n_locations;
    double *sums, longest = 0.0;
    if (metric == LC_NONE || lc_alloc(&sums, n, sizeof sums[0]) != LC_OK)
        return 0.0;
    for (uint32_t c = 0; c < view->model->n_cnodes; c++)
        if (view->model->cnodes[c].parent == LC_NONE &&
            lc_cubex_row(view->cube, metric, c, view->scratch) == LC_OK)
            for (size_t l = 0; l < n; l++)
                sums[l] += view->scratch[l];
    for (size_t l = 0; l < n; l++)
        longest = fmax(longest, sums[l]);
    free(sums);
    return longest;
}

enum lc_err lc_json_meta(const struct lc_view *view, json_t **meta) {
    const struct lc_model *model = view->model;
    LC_TRY(load_attribute(view, "latecomer.meta", meta));
    if (*meta == NULL)
        *meta = json_object();
    const char *root = model->n_cnodes > 0 ? model->regions[model->cnodes[0].region].name : "";
    set_default(*meta, "program", json_string(root));
    json_t *threads = json_array();
    int64_t ranks = 0;
    for (size_t l = 0; l < model->n_locations; l++) {
        if (l == 0 || model->locations[l].process != model->locations[l - 1].process) {
            json_array_append_new(threads, json_integer(0));
            ranks++;
        }
        json_t *last = json_array_get(threads, (size_t)ranks - 1);
        json_integer_set(last, json_integer_value(last) + 1);
    }
    set_default(*meta, "ranks", json_integer(ranks));
    set_default(*meta, "threads", threads);
    set_default(*meta, "wall_time_s", json_real(longest_life(view)));
    const char *creator = lc_model_attr(model, "Creator");
    if (creator != NULL)
        set_default(*meta, "creator", json_string(creator));
    if (lc_cubex_derived(view->cube) > 0)
        set_default(*meta, "derived_metrics_skipped",
                    json_integer((json_int_t)lc_cubex_derived(view->cube)));
    return LC_OK;
}

enum lc_err lc_json_pop(const struct lc_view *view, json_t **pop) {
    return load_attribute(view, "latecomer.pop", pop);
}

double lc_run_elapsed(const json_t *pop, const struct lc_view *view, const struct lc_sums *sums) {
    const json_t *stated = json_object_get(pop, "elapsed_s");
    double elapsed = 0.0;
    if (json_is_number(stated))
        return json_number_value(stated);
    for (size_t l = 0; l < view->model->n_locations; l++)
        elapsed = fmax(elapsed, sums->loc_time[l]);
    return elapsed;
}

double lc_run_idle_overhead(const json_t *overhead, const struct lc_sums *sums) {
    static const char *const others[] = {"rare_s", "sampling_s", "openmp_s"};
    double all_s = json_number_value(json_object_get(overhead, "total_s"));
    double call_s = 1e-9 * json_number_value(json_object_get(overhead, "call_ns"));
    double counted = json_number_value(json_object_get(overhead, "calls_counted_only"));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        all_s -= json_number_value(json_object_get(overhead, others[i]));
    counted = fmin(counted, sums->calls);
    double timed_s = (sums->calls - counted) * call_s;
    double each_s = counted > 0.0 ? fmax(all_s - timed_s, 0.0) / counted : 0.0;
    double polls = sums->waiting_polls, cheap = fmin(polls, counted);
    return fmax(fmin(cheap * each_s + (polls - cheap) * call_s, all_s), 0.0);
}

double lc_run_spawned(const json_t *meta) {
    const json_t *coverage = json_object_get(meta, "coverage");
    return json_number_value(json_object_get(coverage, "processes_spawned"));
}
