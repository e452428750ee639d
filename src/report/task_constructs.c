#include "report/task_constructs.h"

#include <stdlib.h>

#include "base/mem.h"

static const char *const metrics[LC_TASK_FIGURES] = {
    [LC_TASK_WORK] = "omp_task_work",      [LC_TASK_SPAN] = "omp_task_span",
    [LC_TASK_READY] = "omp_task_wait",     [LC_TASK_CREATED] = "omp_tasks_created",
    [LC_TASK_STOLEN] = "omp_tasks_stolen", [LC_TASK_AT_ONCE] = "omp_tasks_at_once",
};

static int by_work(const void *a, const void *b) {
    const struct lc_task_construct *x = a, *y = b;
    double p = x->figures[LC_TASK_WORK], q = y->figures[LC_TASK_WORK];
    return p != q ? (p < q) - (p > q) : (x->path > y->path) - (x->path < y->path);
}

static enum lc_err read_one(struct lc_view *view, uint32_t path, double *row,
                            struct lc_task_construct *construct) {
    *construct = (struct lc_task_construct){.path = path};
    for (size_t f = 0; f < LC_TASK_FIGURES; f++) {
        uint32_t metric = lc_model_find_metric(view->model, metrics[f]);
        if (metric == LC_NONE)
            continue;
        LC_TRY(lc_view_exclusive_row(view, metric, path, row));
        for (size_t l = 0; l < view->model->n_locations; l++)
            construct->figures[f] += row[l];
    }
    return LC_OK;
}

enum lc_err lc_task_constructs(struct lc_view *view, struct lc_task_construct **list, size_t *n) {
    double *row = NULL;
    *n = 0;
    *list = NULL;
    if (lc_model_find_metric(view->model, metrics[LC_TASK_WORK]) == LC_NONE)
        return LC_OK;
    LC_TRY(lc_alloc(&row, view->model->n_locations + 1, sizeof *row));
    enum lc_err err = lc_alloc(list, view->n_paths + 1, sizeof **list);
    for (uint32_t path = 0; path < view->n_paths && err == LC_OK; path++) {
        err = read_one(view, path, row, &(*list)[*n]);
        *n += (*list)[*n].figures[LC_TASK_CREATED] > 0;
    }
    free(row);
    if (err != LC_OK) {
        free(*list);
        *list = NULL;
        *n = 0;
        return err;
    }
    qsort(*list, *n, sizeof **list, by_work);
    return LC_OK;
}

double lc_task_parallelism(const struct lc_task_construct *construct) {
    double span = construct->figures[LC_TASK_SPAN];
    return span > 0 ? construct->figures[LC_TASK_WORK] / span : 0;
}
