#include "report/path_scopes.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct search {
    struct lc_view *view;
    uint32_t time, omp; /* metrics; LC_NONE: there is none */
    double *row, *in_runtime;
};

static const char *text_of(const json_t *path, const char *key) {
    const char *text = json_string_value(json_object_get(path, key));
    return text != NULL ? text : "";
}

/* The location belongs to what the path is of. */
static bool is_of(const struct search *s, const json_t *path, uint32_t location) {
    const json_t *thread = json_object_get(path, "thread");
    bool whole = !json_is_integer(thread) || (strcmp(text_of(path, "scope"), "process") == 0 &&
                                              strcmp(text_of(path, "counts"), "useful") == 0);
    return lc_view_rank(s->view, location) == json_integer_value(json_object_get(path, "rank")) &&
           (whole || s->view->model->locations[location].thread == json_integer_value(thread));
}

/* What the call path p has, on the locations of the path, of the time that counts. */
static enum lc_err counted(struct search *s, const json_t *path, uint32_t p, double *seconds) {
    const char *counts = text_of(path, "counts");
    bool in_omp = strcmp(counts, "outside MPI") == 0,
         in_mpi = strcmp(counts, "outside OpenMP") == 0;
    *seconds = 0;
    if (s->view->paths[p].mpi && !in_mpi)
        return LC_OK;
    LC_TRY(lc_view_exclusive_row(s->view, s->time, p, s->row));
    memset(s->in_runtime, 0, s->view->model->n_locations * sizeof *s->in_runtime);
    if (s->omp != LC_NONE && !in_omp)
        LC_TRY(lc_view_exclusive_row(s->view, s->omp, p, s->in_runtime));
    for (uint32_t l = 0; l < s->view->model->n_locations; l++)
        if (is_of(s, path, l))
            *seconds += s->row[l] - s->in_runtime[l];
    return LC_OK;
}

static enum lc_err name_one(struct search *s, json_t *path) {
    uint32_t chain = lc_model_find_metric(s->view->model, "critical_path_useful"), best = LC_NONE;
    bool known = strcmp(text_of(path, "scope"), "global") == 0 &&
                 strcmp(text_of(path, "counts"), "useful") == 0 && chain != LC_NONE;
    double most = 0;
    for (uint32_t p = 0; p < s->view->n_paths; p++) {
        double seconds = 0;
        if (known) {
            LC_TRY(lc_view_exclusive_row(s->view, chain, p, s->row));
            for (uint32_t l = 0; l < s->view->model->n_locations; l++)
                seconds += s->row[l];
        } else {
            LC_TRY(counted(s, path, p, &seconds));
        }
        if (seconds > most) {
            most = seconds;
            best = p;
        }
    }
    char *name = best != LC_NONE ? lc_view_path(s->view, best) : NULL;
    json_object_set_new(path, "callpath", name != NULL ? json_string(name) : json_null());
    free(name);
    return LC_OK;
}

enum lc_err lc_path_scopes_name(struct lc_view *view, json_t *pop) {
    struct search s = {.view = view,
                       .time = lc_model_find_metric(view->model, "time"),
                       .omp = lc_model_find_metric(view->model, "omp_time")};
    json_t *all = json_object_get(pop, "paths"), *path;
    size_t i, n = view->model->n_locations;
    if (json_array_size(all) == 0 || s.time == LC_NONE)
        return LC_OK;
    enum lc_err err = lc_alloc(&s.row, n, sizeof *s.row);
    if (err == LC_OK)
        err = lc_alloc(&s.in_runtime, n, sizeof *s.in_runtime);
    json_array_foreach(all, i, path) {
        if (err == LC_OK && json_is_object(path))
            err = name_one(&s, path);
    }
    free(s.row);
    free(s.in_runtime);
    return err;
}
