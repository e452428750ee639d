/* The call paths that lost most between the smallest and the largest run. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "report/scaled_runs.h"

static int by_name(const void *a, const void *b) {
    return strcmp(((const struct lc_path_time *)a)->path, ((const struct lc_path_time *)b)->path);
}

enum lc_err lc_scaling_read_paths(struct lc_scaled_run *run, struct lc_view *view,
                                  const struct lc_sums *sums) {
    LC_TRY(lc_alloc(&run->paths, view->n_paths, sizeof run->paths[0]));
    for (uint32_t p = 0; p < view->n_paths; p++) {
        double own = sums->time[p];
        for (uint32_t child = view->paths[p].first_child; child != LC_NONE;
             child = view->paths[child].next_sibling)
            own -= sums->time[child];
        if (sums->apart[p])
            continue;
        struct lc_path_time *one = &run->paths[run->n_paths++];
        *one = (struct lc_path_time){lc_view_path(view, p), lc_view_short_path(view, p), own};
        if (one->path == NULL || one->shown == NULL)
            return lc_fail(LC_ERR_NOMEM, "memory: cannot hold a call path");
    }
    if (run->n_paths > 0)
        qsort(run->paths, run->n_paths, sizeof run->paths[0], by_name);
    return LC_OK;
}

static int by_loss(const void *a, const void *b) {
    const struct lc_lost_path *p = a, *q = b;
    if (p->lost_s != q->lost_s)
        return p->lost_s < q->lost_s ? 1 : -1;
    return strcmp(p->path->path, q->path->path);
}

enum lc_err lc_scaling_find_lost(struct lc_scaling *scaling, bool weak) {
    const struct lc_scaled_run *first = &scaling->runs[0];
    const struct lc_scaled_run *last = &scaling->runs[scaling->n_runs - 1];
    struct lc_lost *lost = &scaling->lost;
    double grown = weak ? last->executors / first->executors : 1.0, losses = 0.0;
    if (last->executors <= first->executors)
        return LC_OK;
    LC_TRY(lc_alloc(&lost->list, first->n_paths + last->n_paths, sizeof lost->list[0]));
    for (size_t i = 0, j = 0; i < first->n_paths || j < last->n_paths;) {
        int order = i == first->n_paths  ? 1
                    : j == last->n_paths ? -1
                                         : strcmp(first->paths[i].path, last->paths[j].path);
        struct lc_lost_path one = {.path = order < 0 ? &first->paths[i] : &last->paths[j]};
        if (order <= 0)
            one.first_s = first->paths[i++].own_s;
        if (order >= 0)
            one.last_s = last->paths[j++].own_s;
        one.lost_s = one.last_s - one.first_s * grown;
        lost->lost_s += one.lost_s;
        losses += fmax(one.lost_s, 0.0);
        lost->list[lost->n++] = one;
    }
    for (size_t i = 0; i < lost->n; i++)
        lost->list[i].share = losses > 0.0 ? fmax(lost->list[i].lost_s, 0.0) / losses : 0.0;
    if (lost->n > 0)
        qsort(lost->list, lost->n, sizeof lost->list[0], by_loss);
    return LC_OK;
}
