#include "report/delay_costs.h"

#include <stdio.h>
#include <string.h>

#include "model/metrics.h"

static const char longterm_suffix[] = "_longterm", waitfirst_suffix[] = "_waitfirst";

/* Length of the name without the suffix, 0 if it does not end in it. */
static size_t without(const char *name, size_t length, const char *suffix) {
    size_t tail = strlen(suffix);
    return length > tail && strncmp(name + length - tail, suffix, tail) == 0 ? length - tail : 0;
}

bool lc_is_delay_cost(const struct lc_view *view, uint32_t metric, bool *longterm) {
    const struct lc_metric *m = &view->model->metrics[metric];
    size_t length = strlen(m->name), base = without(m->name, length, waitfirst_suffix);
    *longterm = false;
    if (m->kind == LC_METRIC_DERIVED || strncmp(m->name, "delay_", 6) != 0 ||
        (base > 0) != view->wait_first)
        return false;
    length = base > 0 ? base : length;
    *longterm = without(m->name, length, longterm_suffix) > 0;
    return !lc_metrics_is_sum(m->name);
}

uint32_t lc_metric_of_model(const struct lc_view *view, const char *name) {
    char full[128];
    snprintf(full, sizeof full, "%s%s", name, view->wait_first ? waitfirst_suffix : "");
    uint32_t metric = lc_model_find_metric(view->model, full);
    return metric != LC_NONE && view->model->metrics[metric].kind != LC_METRIC_DERIVED ? metric
                                                                                       : LC_NONE;
}

const char *lc_delay_model_name(const struct lc_view *view) {
    return view->wait_first ? "wait-first" : "proportional";
}

enum lc_err lc_check_delay_model(const struct lc_view *view) {
    if (!view->wait_first || lc_model_find_metric(view->model, "delay_latesender") == LC_NONE ||
        lc_metric_of_model(view, "delay_latesender") != LC_NONE)
        return LC_OK;
    return lc_fail(LC_ERR_NOT_FOUND,
                   "%s: has no delay costs of the model wait-first: analyse the trace with "
                   "`latecomer analyze`",
                   view->file);
}
