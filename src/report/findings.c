#include "report/delay_costs.h"
#include "report/findings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "report/advice.h"
#include "report/cores.h"
#include "report/exact_gain.h"
#include "report/finding_kinds.h"
#include "report/finding_partitions.h"
#include "report/finding_search.h"
#include "report/locate.h"
#include "report/run_info.h"

/* Unknown gains last, unless it is said where they stand. */
static double order_of(const struct lc_finding *finding) {
    return !isnan(finding->gain_s)    ? finding->gain_s
           : !isnan(finding->order_s) ? finding->order_s
                                      : -1.0;
}

/* Causes before costs where both are worth the same. */
static int compare(const void *a, const void *b) {
    const struct lc_finding *p = a, *q = b;
    double x = order_of(p), y = order_of(q);
    if (x == y) {
        x = isnan(p->severity_s) ? -1.0 : p->severity_s;
        y = isnan(q->severity_s) ? -1.0 : q->severity_s;
    }
    if (x != y)
        return x < y ? 1 : -1;
    return (p->kind > q->kind) - (p->kind < q->kind);
}

/* What the tool itself took and somebody lost, and the errors of the clocks over all operations. */
static double least_severity(const struct lc_search *search) {
    const json_t *piggyback = json_object_get(search->meta, "piggyback");
    const json_t *overhead = json_object_get(search->meta, "overhead");
    double own = json_number_value(json_object_get(overhead, "total_s")) -
                 lc_run_idle_overhead(overhead, search->sums);
    double operations = json_number_value(json_object_get(search->meta, "messages_total")) +
                        json_number_value(json_object_get(piggyback, "collectives"));
    return own + operations * json_number_value(json_object_get(search->meta, "clock_error_s"));
}

static enum lc_err prepare(struct lc_search *search) {
    const struct lc_view *view = search->view;
    double cores;
    search->is_analysis = lc_view_is_analysis(view);
    search->all_s = search->sums->total_time;
    search->least_s = least_severity(search);
    search->lacks_cores = lc_cores_oversubscribed(view, search->meta, &cores) ||
                          lc_cores_narrow(search->meta, &cores) != LC_NONE;
    search->spawned = lc_run_spawned(search->meta);
    for (size_t p = 0; p < view->model->n_processes; p++)
        for (size_t l = 0; l < view->model->n_locations; l++)
            if (view->model->locations[l].process == p) {
                search->n_ranks += !view->unknown[l];
                break;
            }
    search->elapsed_s = lc_run_elapsed(search->pop, view, search->sums);
    search->found->elapsed_s = search->elapsed_s;
    search->found->from_trace = search->is_analysis || search->analysis != NULL;
    LC_TRY(lc_alloc(&search->row, view->model->n_locations, sizeof(double)));
    LC_TRY(lc_alloc(&search->waiting_s, view->model->n_processes, sizeof(double)));
    LC_TRY(lc_alloc(&search->mpi_s, view->model->n_processes, sizeof(double)));
    lc_per_process(view, search->sums->loc_waiting, false, search->waiting_s);
    lc_per_process(view, search->sums->loc_mpi, false, search->mpi_s);
    return LC_OK;
}

/* `analysis`: of the same run, or NULL; where `view` is an analysis itself, NULL. */
static enum lc_err findings_new(struct lc_findings **out, struct lc_view *view,
                                const struct lc_sums *sums, struct lc_view *analysis) {
    struct lc_search search = {.view = view, .sums = sums, .analysis = analysis};
    json_t *meta = NULL, *pop = NULL, *gains = NULL;
    LC_TRY(lc_alloc(&search.found, 1, sizeof *search.found));
    enum lc_err err = lc_json_meta(view, &meta);
    if (err == LC_OK)
        err = lc_json_pop(view, &pop);
    search.meta = meta;
    search.pop = pop;
    if (err == LC_OK)
        err = prepare(&search);
    if (err == LC_OK)
        err = lc_has_threads_apart(&search, &search.threads_apart);
    if (err == LC_OK && (search.is_analysis || analysis != NULL))
        search.gains = gains = lc_exact_gains_read(search.is_analysis ? view : analysis);
    struct lc_partitions partitions = {0};
    search.partitions = &partitions;
    if (err == LC_OK && search.all_s > 0.0)
        err = lc_partitions_of(&search, &partitions);
    if (err == LC_OK && search.all_s > 0.0)
        err = lc_find_causes(&search);
    if (err == LC_OK && search.all_s > 0.0)
        err = lc_find_partitions(&search);
    if (err == LC_OK && search.all_s > 0.0)
        err = lc_find_threads(&search);
    if (err == LC_OK && search.all_s > 0.0)
        err = lc_find_costs(&search);
    json_decref(meta);
    json_decref(pop);
    json_decref(gains);
    lc_partitions_free(&partitions);
    free(search.row);
    free(search.waiting_s);
    free(search.mpi_s);
    if (err != LC_OK) {
        lc_findings_free(search.found);
        return err;
    }
    if (search.found->n > 0)
        qsort(search.found->list, search.found->n, sizeof search.found->list[0], compare);
    *out = search.found;
    return LC_OK;
}

/* An analysis that cannot be read, or is of another run, sharpens nothing. */
enum lc_err lc_findings_of(struct lc_findings **findings, struct lc_view *view,
                           const struct lc_sums *sums) {
    struct lc_view *analysis = NULL;
    char *file = lc_locate_beside(view->file);
    if (file != NULL && lc_view_open(&analysis, file) != LC_OK)
        analysis = NULL;
    if (analysis != NULL && (analysis->model->n_processes != view->model->n_processes ||
                             !lc_view_is_analysis(analysis))) {
        lc_view_close(analysis);
        analysis = NULL;
    }
    enum lc_err err = LC_OK;
    if (analysis != NULL) {
        analysis->wait_first = view->wait_first;
        err = lc_check_delay_model(analysis);
        if (err == LC_OK && view->fold_names != NULL) /* paths are found by their names */
            err = lc_view_fold(analysis, true);
    }
    if (err == LC_OK)
        err = findings_new(findings, view, sums, analysis);
    lc_view_close(analysis);
    free(file);
    return err;
}

void lc_findings_free(struct lc_findings *findings) {
    if (findings == NULL)
        return;
    for (size_t i = 0; i < findings->n; i++)
        free(findings->list[i].text);
    free(findings->list);
    free(findings);
}

static json_t *number_or_null(double value) {
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *path_or_null(const struct lc_view *view, uint32_t path) {
    char *name = path != LC_NONE ? lc_view_path(view, path) : NULL;
    json_t *text = name != NULL ? json_string(name) : json_null();
    free(name);
    return text;
}

static json_t *ranks_of(const struct lc_finding *finding) {
    json_t *ranks = json_array();
    for (size_t i = 0; i < finding->n_ranks && i < LC_FINDING_RANKS; i++)
        json_array_append_new(ranks, json_integer(finding->ranks[i]));
    return ranks;
}

static json_t *finding_json(const struct lc_finding *finding, const struct lc_view *view) {
    json_t *object = json_object(), *because = NULL, *evidence = NULL;
    json_object_set_new(object, "kind", json_string(finding->kind->id));
    json_object_set_new(object, "severity_s", number_or_null(finding->severity_s));
    if (!isnan(finding->severity_low_s)) {
        json_object_set_new(object, "severity_low_s", json_real(finding->severity_low_s));
        json_object_set_new(object, "severity_high_s", json_real(finding->severity_high_s));
    }
    if (!isnan(finding->indirect_s))
        json_object_set_new(object, "indirect_s", number_or_null(finding->indirect_s));
    if (!isnan(finding->named_s))
        json_object_set_new(object, "rank_s", json_real(finding->named_s));
    json_object_set_new(object, "share", number_or_null(finding->share));
    json_object_set_new(object, "certainty", json_string(lc_certainty_name(finding->certainty)));
    json_object_set_new(object, "callpath", path_or_null(view, finding->path));
    json_object_set_new(object, "ranks", ranks_of(finding));
    json_object_set_new(object, "n_ranks", json_integer((json_int_t)finding->n_ranks));
    if (finding->thread >= 0)
        json_object_set_new(object, "thread", json_integer(finding->thread));
    if (finding->from[0] != '\0' || finding->to[0] != '\0')
        json_object_set_new(object, "between", json_pack("[ss]", finding->from, finding->to));
    if (finding->because_path != LC_NONE) {
        because = json_object();
        json_object_set_new(because, "callpath", path_or_null(view, finding->because_path));
    }
    json_object_set_new(object, "because", because != NULL ? because : json_null());
    json_object_set_new(object, "gain_s", number_or_null(finding->gain_s));
    json_object_set_new(object, "gain_low_s", number_or_null(finding->gain_low_s));
    json_object_set_new(object, "gain_high_s", number_or_null(finding->gain_high_s));
    if (finding->gain_by != NULL)
        json_object_set_new(object, "gain_by", json_string(finding->gain_by));
    if (finding->gain_estimated != NULL)
        json_object_set_new(object, "gain_estimated", json_string(finding->gain_estimated));
    if (finding->metric != NULL && finding->evidence_path != LC_NONE) {
        evidence = json_object();
        json_object_set_new(evidence, "metric", json_string(finding->metric));
        json_object_set_new(evidence, "callpath", path_or_null(view, finding->evidence_path));
    }
    json_object_set_new(object, "evidence", evidence != NULL ? evidence : json_null());
    json_object_set_new(object, "text", json_string(finding->text));
    json_object_set_new(object, "advice", json_string(lc_advice_for(view, finding)));
    return object;
}

json_t *lc_findings_json(const struct lc_findings *findings, const struct lc_view *view) {
    json_t *list = json_array();
    for (size_t i = 0; i < findings->n; i++)
        json_array_append_new(list, finding_json(&findings->list[i], view));
    return list;
}
