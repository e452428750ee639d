#include "report/trace_advice.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "format/omp_construct.h"
#include "format/trace_choice.h"

enum { LEAST_ITERATIONS = 10 }; /* of a window */

static const double MORE_THAN_ITS_TIME = 1.5, LEAST_WAITING = 0.1; /* a window with more waiting */
static const double LEAST_OF_LOOP = 0.5, LIKE_THE_LOOP = 0.2, MOST_TIME = 0.5; /* a typical one */
static const double EQUAL = 1e-3; /* of two that are as much like the loop the first one counts */

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

static enum lc_window_worth worth_of(const struct lc_trace_window *w) {
    bool more = w->waiting_share >= MORE_THAN_ITS_TIME * w->time_share;
    return more && w->waiting_share >= LEAST_WAITING ? LC_WINDOW_MORE_WAITING : LC_WINDOW_NOT_WORTH;
}

const char *lc_window_worth_id(enum lc_window_worth worth) {
    static const char *const ids[] = {NULL, "more waiting", "typical iterations"};
    return ids[worth];
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
        w->worth = worth_of(w);
    }
    free(estimates);
    return err;
}

/* What the profile keeps of a loop's iterations: means of each `length` of them, of each `per_row`
 * ranks. */
struct kept {
    const json_t *waiting, *elapsed; /* rows of blocks */
    double length, per_row, n_ranks;
    size_t blocks;
};

struct run_of_blocks {
    size_t at, n;
};

static bool read_kept(const json_t *loop, double n_ranks, struct kept *kept) {
    const json_t *by_rank = json_object_get(loop, "by_rank");
    *kept = (struct kept){json_object_get(by_rank, "waiting_s"),
                          json_object_get(by_rank, "elapsed_s"),
                          json_number_value(json_object_get(by_rank, "block")),
                          json_number_value(json_object_get(by_rank, "ranks")),
                          n_ranks,
                          0};
    kept->blocks = json_array_size(json_array_get(kept->waiting, 0));
    return kept->length >= 1 && kept->blocks > 0;
}

static double ranks_of(const struct kept *kept, size_t row) {
    return fmax(0.0, fmin(kept->n_ranks - (double)row * kept->per_row, kept->per_row));
}

/* Seconds of the ranks of one row in these blocks. */
static double sum_of_row(const struct kept *kept, const json_t *rows, size_t row,
                         struct run_of_blocks run) {
    double sum = 0;
    for (size_t b = run.at; b < run.at + run.n; b++)
        sum += json_number_value(json_array_get(json_array_get(rows, row), b));
    return sum * kept->length * ranks_of(kept, row);
}

static double sum_of(const struct kept *kept, const json_t *rows, struct run_of_blocks run) {
    double sum = 0;
    for (size_t r = 0; r < json_array_size(rows); r++)
        sum += sum_of_row(kept, rows, r, run);
    return sum;
}

/* How far the ranks' waiting per iteration is from that in all iterations, as share of the latter;
 * or their time, if that is farther. */
static double unlike(const struct kept *kept, struct run_of_blocks run) {
    struct run_of_blocks all = {0, kept->blocks};
    double part = (double)run.n / (double)kept->blocks, differs = 0;
    double waiting = part * sum_of(kept, kept->waiting, all);
    double elapsed = part * sum_of(kept, kept->elapsed, all);
    for (size_t r = 0; r < json_array_size(kept->waiting); r++)
        differs += fabs(sum_of_row(kept, kept->waiting, r, run) -
                        part * sum_of_row(kept, kept->waiting, r, all));
    if (!(waiting > 0) || !(elapsed > 0))
        return INFINITY;
    return fmax(differs / waiting, fabs(sum_of(kept, kept->elapsed, run) / elapsed - 1));
}

static void put_shares(const struct kept *kept, const struct lc_sums *sums, double elapsed_s,
                       struct run_of_blocks run, struct lc_trace_window *w) {
    w->waiting_s = sum_of(kept, kept->waiting, run);
    w->waiting_share = share(w->waiting_s, sums->total_waiting);
    w->time_share = share(sum_of(kept, kept->elapsed, run), kept->n_ranks * elapsed_s);
}

/* As many neighbouring blocks as hold LEAST_ITERATIONS, of those that can be traced: the ones with
 * most waiting, if that is clearly more than their share; else those that are most like the loop,
 * if it has most of the waiting. */
static enum lc_err add_loop(struct list *list, const struct lc_sums *sums, const json_t *loop,
                            double n_ranks, double elapsed_s) {
    const char *path = json_string_value(json_object_get(loop, "callpath"));
    struct kept kept;
    if (!read_kept(loop, n_ranks, &kept) || path == NULL)
        return LC_OK;
    size_t first = (size_t)ceil((LC_TRACE_FIRST_ITERATION - 1) / kept.length);
    struct run_of_blocks run = {first, (size_t)ceil(LEAST_ITERATIONS / kept.length)};
    if (run.n > kept.blocks || first > kept.blocks - run.n)
        run.n = kept.blocks > first ? kept.blocks - first : 0;
    struct run_of_blocks chosen = run, typical = run;
    double most = 0, least = INFINITY;
    for (; run.n > 0 && run.at + run.n <= kept.blocks; run.at++) {
        double waiting = sum_of(&kept, kept.waiting, run), differs = unlike(&kept, run);
        if (waiting > most) {
            most = waiting;
            chosen = run;
        }
        if (differs < least - EQUAL) {
            least = differs;
            typical = run;
        }
    }
    if (!(most > 0))
        return LC_OK;
    struct lc_trace_window w = {.estimated_s = NAN}, other = {.estimated_s = NAN};
    w.loop_share = share(sum_of(&kept, kept.waiting, (struct run_of_blocks){0, kept.blocks}),
                         sums->total_waiting);
    put_shares(&kept, sums, elapsed_s, chosen, &w);
    w.worth = worth_of(&w);
    put_shares(&kept, sums, elapsed_s, typical, &other);
    if (w.worth == LC_WINDOW_NOT_WORTH && w.loop_share >= LEAST_OF_LOOP && least <= LIKE_THE_LOOP &&
        other.time_share <= MOST_TIME) {
        other.loop_share = w.loop_share;
        other.worth = LC_WINDOW_TYPICAL;
        w = other;
        chosen = typical;
    }
    struct lc_strbuf window = {0};
    lc_strbuf_printf(&window, "iterations %.0f-%.0f", (double)chosen.at * kept.length + 1,
                     (double)(chosen.at + chosen.n) * kept.length);
    w.window = lc_strbuf_take(&window);
    w.callpath = strdup(path);
    return add(list, w);
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
