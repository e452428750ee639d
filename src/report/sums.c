#include "report/sums.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "format/mpi_function.h"

bool lc_completes_several(const struct lc_view *view, uint32_t path) {
    return lc_mpi_find(view->paths[path].name)->wait == LC_MPI_WAIT_COMPLETIONS;
}

static enum lc_err add_time(struct lc_sums *sums, struct lc_view *view, double *row) {
    uint32_t metric = lc_model_find_metric(view->model, "time");
    if (metric == LC_NONE)
        return LC_OK;
    for (uint32_t p = 0; p < view->n_paths; p++) {
        const struct lc_merged_path *path = &view->paths[p];
        LC_TRY(lc_view_row(view, metric, p, row));
        bool root = path->parent == LC_NONE;
        bool outermost_mpi = path->mpi && (root || !view->paths[path->parent].mpi);
        for (size_t l = 0; l < view->model->n_locations; l++) {
            sums->time[p] += row[l];
            if (root)
                sums->loc_time[l] += row[l];
            if (outermost_mpi)
                sums->loc_mpi[l] += row[l];
        }
        if (root)
            sums->total_time += sums->time[p];
        if (lc_completes_several(view, p))
            sums->several_time += sums->time[p];
        if (outermost_mpi) {
            sums->total_mpi += sums->time[p];
            for (uint32_t up = p; up != LC_NONE; up = view->paths[up].parent)
                sums->mpi[up] += sums->time[p];
        }
    }
    return LC_OK;
}

static enum lc_err add_wait(struct lc_sums *sums, struct lc_view *view, uint32_t wait,
                            double *row) {
    uint32_t metric = sums->waits[wait].metric;
    for (uint32_t p = 0; p < view->n_paths; p++) {
        double sum = 0.0;
        LC_TRY(lc_view_exclusive_row(view, metric, p, row));
        for (size_t l = 0; l < view->model->n_locations; l++) {
            sum += row[l];
            sums->loc_waiting[l] += row[l];
        }
        if (sum <= 0.0)
            continue;
        sums->waits[wait].total += sum;
        LC_TRY(
            lc_grow(&sums->places, &sums->cap_places, sums->n_places + 1, sizeof sums->places[0]));
        sums->places[sums->n_places++] =
            (struct lc_wait_place){.wait = wait, .path = p, .seconds = sum};
        for (uint32_t up = p; up != LC_NONE; up = view->paths[up].parent)
            sums->waiting[up] += sum;
    }
    sums->total_waiting += sums->waits[wait].total;
    return LC_OK;
}

static uint32_t find_estimated(const struct lc_view *view, const char *name) {
    char estimated[96];
    snprintf(estimated, sizeof estimated, "%s_estimated", name);
    return lc_model_find_metric(view->model, estimated);
}

/* Measured waits where the run measured them (then there are POP factors, too, or some wait is not
 * zero); else estimates. */
static enum lc_err choose_waits(struct lc_sums *sums, struct lc_view *view) {
    bool measured = lc_model_attr(view->model, "latecomer.pop") != NULL, have_estimates = false;
    size_t n = 0;
    for (const struct lc_waiting_metric *kind = lc_waiting_metrics; kind->name != NULL;
         kind++, n++) {
        uint32_t metric = lc_model_find_metric(view->model, kind->name);
        double total = 0.0;
        if (metric != LC_NONE && !measured)
            LC_TRY(lc_view_total(view, metric, &total));
        measured = measured || total > 0.0;
        have_estimates = have_estimates || find_estimated(view, kind->name) != LC_NONE;
    }
    sums->estimated = !measured && have_estimates;
    LC_TRY(lc_alloc(&sums->waits, n, sizeof sums->waits[0]));
    for (const struct lc_waiting_metric *kind = lc_waiting_metrics; kind->name != NULL; kind++) {
        uint32_t metric = sums->estimated ? find_estimated(view, kind->name)
                                          : lc_model_find_metric(view->model, kind->name);
        if (metric != LC_NONE)
            sums->waits[sums->n_waits++] =
                (struct lc_wait_sum){.kind = kind, .metric = metric, .estimated = sums->estimated};
    }
    return LC_OK;
}

enum lc_err lc_sums_waiting(struct lc_view *view, bool *waiting) {
    struct lc_sums sums = {0};
    enum lc_err err = choose_waits(&sums, view);
    for (size_t w = 0; w < sums.n_waits && err == LC_OK; w++)
        waiting[sums.waits[w].metric] = true;
    free(sums.waits);
    return err;
}

enum lc_err lc_sums_estimates(struct lc_view *view, double *waiting, bool *any) {
    double *row;
    LC_TRY(lc_alloc(&row, view->model->n_locations, sizeof row[0]));
    enum lc_err err = LC_OK;
    *any = false;
    for (const struct lc_waiting_metric *kind = lc_waiting_metrics;
         kind->name != NULL && err == LC_OK; kind++) {
        uint32_t metric = find_estimated(view, kind->name);
        if (metric == LC_NONE)
            continue;
        *any = true;
        for (uint32_t p = 0; p < view->n_paths && err == LC_OK; p++) {
            double sum = 0.0;
            err = lc_view_exclusive_row(view, metric, p, row);
            for (size_t l = 0; err == LC_OK && l < view->model->n_locations; l++)
                sum += row[l];
            for (uint32_t up = p; err == LC_OK && up != LC_NONE; up = view->paths[up].parent)
                waiting[up] += sum;
        }
    }
    free(row);
    return err;
}

static double *end_of(struct lc_sums *sums, const char *name) {
    switch (lc_mpi_find(name)->kind) {
    case LC_MPI_KIND_INIT:
    case LC_MPI_KIND_SESSION_INIT:
        return &sums->start_time;
    case LC_MPI_KIND_FINALIZE:
    case LC_MPI_KIND_SESSION_FINALIZE:
        return &sums->end_time;
    default:
        return NULL;
    }
}

static enum lc_err subtract_row(struct lc_view *view, uint32_t metric, uint32_t path, double *all,
                                double *row) {
    if (metric == LC_NONE)
        return LC_OK;
    LC_TRY(lc_view_exclusive_row(view, metric, path, row));
    for (size_t l = 0; l < view->model->n_locations; l++)
        all[l] -= row[l];
    return LC_OK;
}

/* Takes one start or end out of all sums: its time per location but for the waiting there, and for
 * a call that had not returned: that is what the run came to, and no cost of starting or ending. */
static enum lc_err take_apart(struct lc_sums *sums, struct lc_view *view, uint32_t path,
                              double *all, double *row) {
    size_t n = view->model->n_locations;
    double whole = 0.0;
    LC_TRY(lc_view_row(view, lc_model_find_metric(view->model, "time"), path, all));
    for (uint32_t w = 0; w < sums->n_waits; w++)
        LC_TRY(subtract_row(view, sums->waits[w].metric, path, all, row));
    LC_TRY(subtract_row(view, lc_model_find_metric(view->model, "mpi_unfinished"), path, all, row));
    for (size_t l = 0; l < n; l++) {
        all[l] = all[l] > 0.0 ? all[l] : 0.0;
        sums->loc_time[l] -= all[l];
        sums->loc_mpi[l] -= all[l];
        whole += all[l];
    }
    sums->total_time -= whole;
    sums->total_mpi -= whole;
    *end_of(sums, view->paths[path].name) += whole;
    for (uint32_t up = path; up != LC_NONE; up = view->paths[up].parent) {
        sums->time[up] -= whole;
        sums->mpi[up] -= whole;
    }
    return LC_OK;
}

static enum lc_err take_ends_apart(struct lc_sums *sums, struct lc_view *view, double *row) {
    double *all;
    LC_TRY(lc_alloc(&sums->apart, view->n_paths, sizeof sums->apart[0]));
    if (lc_model_find_metric(view->model, "time") == LC_NONE)
        return LC_OK;
    LC_TRY(lc_alloc(&all, view->model->n_locations, sizeof all[0]));
    enum lc_err err = LC_OK;
    for (uint32_t p = 0; err == LC_OK && p < view->n_paths; p++) {
        uint32_t parent = view->paths[p].parent;
        bool inside = parent != LC_NONE && sums->apart[parent];
        bool one = !inside && view->paths[p].mpi && end_of(sums, view->paths[p].name) != NULL;
        sums->apart[p] = inside || one;
        if (one)
            err = take_apart(sums, view, p, all, row);
    }
    free(all);
    return err;
}

/* Calls of MPI; those that only ask are made again and again until what they ask for is there. */
static enum lc_err count_calls(struct lc_sums *sums, struct lc_view *view, double *row) {
    uint32_t visits = lc_model_find_metric(view->model, "visits");
    for (uint32_t p = 0; visits != LC_NONE && p < view->n_paths; p++) {
        double calls = 0.0;
        if (!view->paths[p].mpi)
            continue;
        LC_TRY(lc_view_exclusive_row(view, visits, p, row));
        for (size_t l = 0; l < view->model->n_locations; l++)
            calls += row[l];
        sums->calls += calls;
        if (lc_mpi_find(view->paths[p].name)->kind == LC_MPI_KIND_TEST && sums->time[p] > 0.0)
            sums->waiting_polls += calls * fmin(sums->waiting[p] / sums->time[p], 1.0);
    }
    return LC_OK;
}

static int compare_places(const void *a, const void *b) {
    double x = ((const struct lc_wait_place *)a)->seconds;
    double y = ((const struct lc_wait_place *)b)->seconds;
    return (x < y) - (x > y);
}

static enum lc_err fill(struct lc_sums *sums, struct lc_view *view) {
    size_t n = view->n_paths, m = view->model->n_locations;
    double **per_path[] = {&sums->time, &sums->mpi, &sums->waiting};
    double **per_location[] = {&sums->loc_time, &sums->loc_mpi, &sums->loc_waiting};
    for (int i = 0; i < 3; i++) {
        LC_TRY(lc_alloc(per_path[i], n, sizeof(double)));
        LC_TRY(lc_alloc(per_location[i], m, sizeof(double)));
    }
    double *row;
    LC_TRY(lc_alloc(&row, m, sizeof row[0]));
    enum lc_err err = add_time(sums, view, row);
    if (err == LC_OK)
        err = choose_waits(sums, view);
    for (uint32_t w = 0; err == LC_OK && w < sums->n_waits; w++)
        err = add_wait(sums, view, w, row);
    if (err == LC_OK)
        err = count_calls(sums, view, row);
    if (err == LC_OK)
        err = take_ends_apart(sums, view, row);
    uint32_t unfinished = lc_model_find_metric(view->model, "mpi_unfinished");
    if (err == LC_OK && unfinished != LC_NONE)
        err = lc_view_total(view, unfinished, &sums->total_unfinished);
    free(row);
    if (sums->n_places > 0)
        qsort(sums->places, sums->n_places, sizeof sums->places[0], compare_places);
    return err;
}

enum lc_err lc_sums_new(struct lc_sums **out, struct lc_view *view) {
    struct lc_sums *sums;
    LC_TRY(lc_alloc(&sums, 1, sizeof *sums));
    enum lc_err err = fill(sums, view);
    if (err != LC_OK) {
        lc_sums_free(sums);
        return err;
    }
    *out = sums;
    return LC_OK;
}

void lc_sums_free(struct lc_sums *sums) {
    if (sums == NULL)
        return;
    free(sums->time);
    free(sums->mpi);
    free(sums->waiting);
    free(sums->loc_time);
    free(sums->loc_mpi);
    free(sums->loc_waiting);
    free(sums->waits);
    free(sums->places);
    free(sums->apart);
    free(sums);
}
