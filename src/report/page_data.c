#include "report/page_data.h"

#include <jansson.h>

#include "base/json_text.h"
#include "base/mem.h"
#include "report/cores.h"
#include "report/delay_costs.h"
#include "report/findings.h"
#include "report/json.h"
#include "report/run_info.h"
#include "report/text_parts.h"

static const char *kind_of(const struct lc_metric *metric) {
    if (metric->dtype == LC_DTYPE_MIN_DOUBLE)
        return "minimum";
    if (metric->dtype == LC_DTYPE_MAX_DOUBLE)
        return "maximum";
    return metric->kind == LC_METRIC_INCLUSIVE ? "inclusive"
           : metric->kind == LC_METRIC_DERIVED ? "derived"
                                               : "exclusive";
}

static enum lc_err put_metrics(struct lc_view *view, FILE *out) {
    const struct lc_model *model = view->model;
    bool *waiting;
    LC_TRY(lc_alloc(&waiting, model->n_metrics, sizeof waiting[0]));
    enum lc_err err = lc_sums_waiting(view, waiting);
    fputs(",\n\"metrics\": [", out);
    for (size_t m = 0; m < model->n_metrics; m++) {
        const struct lc_metric *metric = &model->metrics[m];
        fprintf(out, "%s\n{\"parent\": %ld, \"kind\": \"%s\", \"name\": ", m > 0 ? "," : "",
                metric->parent != LC_NONE ? (long)metric->parent : -1L, kind_of(metric));
        lc_json_write_string(out, metric->name);
        fputs(", \"display\": ", out);
        lc_json_write_string(out, metric->display);
        fputs(", \"unit\": ", out);
        lc_json_write_string(out, metric->unit);
        fputs(", \"descr\": ", out);
        lc_json_write_string(out, metric->descr);
        fputs(waiting[m] ? ", \"waiting\": true}" : "}", out);
    }
    fputs("\n]", out);
    free(waiting);
    return err;
}

/* [parent, name, MPI, source file or library, line] */
static void put_paths(const struct lc_view *view, FILE *out) {
    fputs(",\n\"paths\": [", out);
    for (size_t p = 0; p < view->n_paths; p++) {
        const struct lc_merged_path *path = &view->paths[p];
        const struct lc_region *region =
            &view->model->regions[view->model->cnodes[path->first_cnode].region];
        fprintf(out, "%s\n[%ld,", p > 0 ? "," : "",
                path->parent != LC_NONE ? (long)path->parent : -1L);
        lc_json_write_string(out, path->name);
        fprintf(out, ",%d,", path->mpi);
        lc_json_write_string(out, region->module);
        fprintf(out, ",%lld]", (long long)region->begin_line);
    }
    fputs("\n]", out);
}

static void put_factor(void *context, const struct lc_text_factor *factor) {
    FILE *out = context;
    fprintf(out, "\n{\"depth\": %d, \"key\": ", factor->depth);
    lc_json_write_string(out, factor->key);
    fputs(", \"name\": ", out);
    lc_json_write_string(out, factor->name);
    fputs(", \"formula\": ", out);
    lc_json_write_string(out, factor->formula);
    fputs(", \"advice\": ", out);
    lc_json_write_string(out, factor->advice);
    fputs("},", out);
}

static enum lc_err findings_waitfirst(struct lc_view *view, const struct lc_sums *sums,
                                      struct lc_findings **findings) {
    LC_TRY(lc_check_delay_model(view));
    return lc_findings_of(findings, view, sums);
}

/* Findings by the second model too, where an analysis has both. */
static enum lc_err put_findings_waitfirst(struct lc_view *view, FILE *out) {
    struct lc_sums *sums;
    struct lc_findings *findings = NULL;
    LC_TRY(lc_sums_new(&sums, view));
    view->wait_first = true;
    enum lc_err err = findings_waitfirst(view, sums, &findings);
    view->wait_first = false;
    if (err == LC_OK && findings->from_trace) {
        json_t *list = lc_findings_json(findings, view);
        fputs(",\n\"findings_waitfirst\": ", out);
        json_dumpf(list, out, JSON_REAL_PRECISION(17));
        json_decref(list);
    }
    lc_findings_free(findings);
    lc_sums_free(sums);
    return err == LC_ERR_NOT_FOUND ? LC_OK : err;
}

/* Where more threads compute than there are cores, though not more of those that are measured. */
static enum lc_err put_crowd(struct lc_view *view, FILE *out) {
    json_t *meta = NULL;
    double threads, cores;
    LC_TRY(lc_json_meta(view, &meta));
    if (lc_cores_crowded(view, meta, &threads, &cores))
        fprintf(out, ",\n\"crowded\": {\"threads\": %.0f, \"cores\": %.0f}", threads, cores);
    json_decref(meta);
    return LC_OK;
}

/* Where it is not so that most threads lived through the interval. */
static enum lc_err put_factors_note(struct lc_view *view, FILE *out) {
    json_t *pop = NULL;
    struct lc_strbuf note = {0};
    LC_TRY(lc_json_pop(view, &pop));
    if (lc_text_come_and_go(pop, &note)) {
        fputs(",\n\"factors_note\": ", out);
        lc_json_write_string(out, lc_strbuf_get(&note));
    }
    json_decref(pop);
    enum lc_err err = lc_strbuf_ok(&note) ? LC_OK : LC_ERR_NOMEM;
    lc_strbuf_free(&note);
    return err;
}

enum lc_err lc_page_data(struct lc_view *view, FILE *out) {
    const struct lc_json_options options = {.by = LC_JSON_BY_LOCATION};
    fputs("{\"file\": ", out);
    lc_json_write_string(out, view->file);
    fputs(",\n\"result\": ", out);
    LC_TRY(lc_json_write(view, &options, out));
    LC_TRY(put_findings_waitfirst(view, out));
    LC_TRY(put_metrics(view, out));
    put_paths(view, out);
    fputs(",\n\"factors\": [", out);
    lc_text_each_factor(put_factor, out);
    fputs("null]", out);
    enum lc_err err = put_factors_note(view, out);
    if (err == LC_OK)
        err = put_crowd(view, out);
    fputs("}\n", out);
    return err;
}
