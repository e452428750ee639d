#include "report/trace_advice.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "format/omp_construct.h"
#include "format/trace_choice.h"

enum { LEAST_ITERATIONS = 10 }; /* of a window */

struct list {
    struct lc_trace_window *all;
    size_t n, cap;
};

/* A region by name. */
static bool is_named(const struct lc_view *view, uint32_t path) {
    const struct lc_cnode *node = &view->model->cnodes[view->paths[path].first_cnode];
    const struct lc_region *region = &view->model->regions[node->region];
    return strcmp(region->paradigm, "user") == 0 && !lc_omp_is_construct(region->name);
}

static bool is_outermost(const struct lc_view *view, uint32_t path) {
    for (uint32_t up = view->paths[path].parent; up != LC_NONE; up = view->paths[up].parent)
        if (is_named(view, up))
            return false;
    return true;
}

static enum lc_err add(struct list *list, struct lc_trace_window one) {
    if (one.window == NULL ||
        lc_grow(&list->all, &list->cap, list->n + 1, sizeof *list->all) != LC_OK) {
        free(one.window);
        free(one.callpath);
        return lc_fail(LC_ERR_NOMEM, "windows worth a trace: not enough memory");
    }
    list->all[list->n++] = one;
    return LC_OK;
}

static double share(double part, double all) {
    return all > 0 ? fmin(part / all, 1.0) : 0.0;
}

/* Phases of equal name at several places are one window. */
static enum lc_err add_phases(struct list *list, struct lc_view *view, const struct lc_sums *sums) {
    double *estimates;
    LC_TRY(lc_alloc(&estimates, view->n_paths, sizeof *estimates));
    bool any = false;
    enum lc_err err = lc_sums_estimates(view, estimates, &any);
    for (uint32_t p = 0; p < view->n_paths && err == LC_OK; p++) {
        if (!is_named(view, p) || !is_outermost(view, p))
            continue;
        const char *name = view->paths[p].name;
        size_t i = 0;
        while (i < list->n && strcmp(list->all[i].window, name) != 0)
            i++;
        if (i == list->n)
            err = add(list, (struct lc_trace_window){.window = strdup(name),
                                                     .estimated_s = any ? 0.0 : NAN});
        if (err != LC_OK)
            break;
        struct lc_trace_window *w = &list->all[i];
        w->waiting_s += sums->waiting[p];
        w->estimated_s += estimates[p];
        w->waiting_share = share(w->waiting_s, sums->total_waiting);
        w->time_share += share(sums->time[p], sums->total_time);
    }
    free(estimates);
    return err;
}

/* Seconds of all ranks in one block of iterations of `by_rank`. */
static double sum_block(const json_t *by_rank, const char *key, size_t block, double n_ranks) {
    const json_t *rows = json_object_get(by_rank, key);
    double per_row = json_number_value(json_object_get(by_rank, "ranks"));
    double iterations = json_number_value(json_object_get(by_rank, "block")), sum = 0;
    for (size_t r = 0; r < json_array_size(rows); r++) {
        double left = n_ranks - (double)r * per_row;
        double mean = json_number_value(json_array_get(json_array_get(rows, r), block));
        sum += mean * iterations * fmax(0.0, fmin(left, per_row));
    }
    return sum;
}

/* The neighbouring blocks of at least LEAST_ITERATIONS with most waiting, of those that can be
 * traced. */
static enum lc_err add_loop(struct list *list, const struct lc_sums *sums, const json_t *loop,
                            double n_ranks, double elapsed_s) {
    const json_t *by_rank = json_object_get(loop, "by_rank");
    const char *path = json_string_value(json_object_get(loop, "callpath"));
    size_t blocks = json_array_size(json_array_get(json_object_get(by_rank, "waiting_s"), 0));
    double length = json_number_value(json_object_get(by_rank, "block"));
    if (!(length >= 1) || blocks == 0 || path == NULL)
        return LC_OK;
    size_t wide = (size_t)ceil(LEAST_ITERATIONS / length), at = blocks;
    size_t first = (size_t)ceil((LC_TRACE_FIRST_ITERATION - 1) / length);
    wide = first + wide > blocks ? (blocks > first ? blocks - first : 0) : wide;
    double most = 0;
    for (size_t b = first; wide > 0 && b + wide <= blocks; b++) {
        double waiting = 0;
        for (size_t k = b; k < b + wide; k++)
            waiting += sum_block(by_rank, "waiting_s", k, n_ranks);
        if (waiting > most) {
            most = waiting;
            at = b;
        }
    }
    if (at == blocks)
        return LC_OK;
    double time = 0;
    for (size_t k = at; k < at + wide; k++)
        time += sum_block(by_rank, "elapsed_s", k, n_ranks);
    struct lc_strbuf window = {0};
    lc_strbuf_printf(&window, "iterations %.0f-%.0f", (double)at * length + 1,
                     (double)(at + wide) * length);
    return add(list, (struct lc_trace_window){.window = lc_strbuf_take(&window),
                                              .callpath = strdup(path),
                                              .waiting_s = most,
                                              .estimated_s = NAN,
                                              .waiting_share = share(most, sums->total_waiting),
                                              .time_share = share(time, n_ranks * elapsed_s)});
}

/* Phases before loops. */
static int by_waiting(const void *a, const void *b) {
    const struct lc_trace_window *x = a, *y = b;
    if ((x->callpath == NULL) != (y->callpath == NULL))
        return x->callpath == NULL ? -1 : 1;
    return (x->waiting_s < y->waiting_s) - (x->waiting_s > y->waiting_s);
}

enum lc_err lc_trace_windows(struct lc_view *view, const struct lc_sums *sums, const json_t *pop,
                             struct lc_trace_window **out, size_t *n) {
    struct list list = {0};
    *out = NULL;
    *n = 0;
    if (lc_view_is_analysis(view))
        return LC_OK;
    enum lc_err err = add_phases(&list, view, sums);
    double elapsed_s = json_number_value(json_object_get(pop, "elapsed_s"));
    const json_t *loop;
    size_t i, kept = 0;
    json_array_foreach(json_object_get(pop, "iterations"), i, loop) {
        if (err == LC_OK)
            err = add_loop(&list, sums, loop, (double)view->model->n_processes, elapsed_s);
    }
    for (i = 0; i < list.n; i++) {
        if (list.all[i].waiting_s > 0)
            list.all[kept++] = list.all[i];
        else
            free(list.all[i].window);
    }
    if (kept > 0)
        qsort(list.all, kept, sizeof *list.all, by_waiting);
    if (err != LC_OK) {
        lc_trace_windows_free(list.all, kept);
        return err;
    }
    *out = list.all;
    *n = kept;
    return LC_OK;
}

void lc_trace_windows_free(struct lc_trace_window *list, size_t n) {
    for (size_t i = 0; list != NULL && i < n; i++) {
        free(list[i].window);
        free(list[i].callpath);
    }
    free(list);
}
