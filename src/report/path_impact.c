#include "report/path_impact.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"

enum { ON_PATH, ACTIVITIES, OTHERS, INTRA, INTER, N_METRICS };
static const char *const names[N_METRICS] = {
    "critical_path", "critical_path_activities", "non_critical_path_activities",
    "intra_partition_imbalance", "inter_partition_imbalance"};

static int compare(const void *a, const void *b) {
    const struct lc_path_impact *x = a, *y = b;
    if (x->impact_s != y->impact_s)
        return x->impact_s < y->impact_s ? 1 : -1;
    return (x->path > y->path) - (x->path < y->path);
}

static double sum(const double *row, size_t n) {
    double all = 0.0;
    for (size_t l = 0; l < n; l++)
        all += row[l];
    return all;
}

/* One call path; rows: one per metric, n values each. */
static struct lc_path_impact impact_of(uint32_t path, double *const rows[N_METRICS], size_t n) {
    struct lc_path_impact one = {.path = path, .least_s = INFINITY};
    for (size_t l = 0; l < n; l++) {
        double own = rows[ACTIVITIES][l] + rows[OTHERS][l];
        one.own_s += own;
        one.least_s = fmin(one.least_s, own);
        one.most_s = fmax(one.most_s, own);
    }
    one.mean_s = one.own_s / (double)n;
    one.path_s = sum(rows[ON_PATH], n);
    one.intra_s = sum(rows[INTRA], n);
    one.inter_s = sum(rows[INTER], n);
    one.impact_s = one.own_s + one.intra_s + one.inter_s;
    one.ratio = one.impact_s > 0.0 ? (one.intra_s + one.inter_s) / one.impact_s : 0.0;
    return one;
}

static enum lc_err collect(struct lc_view *view, const uint32_t metrics[N_METRICS],
                           double *const rows[N_METRICS], struct lc_path_impact **list, size_t *n) {
    size_t capacity = 0;
    double all = 0.0;
    for (uint32_t path = 0; path < view->n_paths; path++) {
        for (int m = 0; m < N_METRICS; m++)
            LC_TRY(lc_view_exclusive_row(view, metrics[m], path, rows[m]));
        struct lc_path_impact one = impact_of(path, rows, view->model->n_locations);
        if (!(one.impact_s > 0.0) && !(one.path_s > 0.0))
            continue;
        LC_TRY(lc_grow(list, &capacity, *n + 1, sizeof(*list)[0]));
        (*list)[(*n)++] = one;
        all += one.impact_s;
    }
    for (size_t i = 0; i < *n; i++)
        (*list)[i].share = all > 0.0 ? (*list)[i].impact_s / all : 0.0;
    return LC_OK;
}

enum lc_err lc_path_impacts(struct lc_view *view, struct lc_path_impact **list, size_t *n) {
    uint32_t metrics[N_METRICS];
    double *rows[N_METRICS] = {NULL};
    enum lc_err err = LC_OK;
    *list = NULL;
    *n = 0;
    for (int m = 0; m < N_METRICS; m++) {
        metrics[m] = lc_model_find_metric(view->model, names[m]);
        if (metrics[m] == LC_NONE || view->model->n_locations == 0)
            return LC_OK;
    }
    for (int m = 0; m < N_METRICS && err == LC_OK; m++)
        err = lc_alloc(&rows[m], view->model->n_locations, sizeof rows[m][0]);
    if (err == LC_OK)
        err = collect(view, metrics, rows, list, n);
    for (int m = 0; m < N_METRICS; m++)
        free(rows[m]);
    if (err != LC_OK) {
        free(*list);
        *list = NULL;
        *n = 0;
    }
    if (*n > 0)
        qsort(*list, *n, sizeof(*list)[0], compare);
    return err;
}
