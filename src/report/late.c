#include "report/late.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct columns {
    int late_rank, late_thread, late_path, waiting_path, seconds, from, to, share;
};

static int either(const struct lc_tsv *tsv, const char *name, const char *other) {
    int column = lc_tsv_column(tsv, name);
    return column >= 0 ? column : lc_tsv_column(tsv, other);
}

/* Adds up lines of the same late rank and code. The list is short: it was bounded when it was made.
 */
static void add_up(struct lc_late_list *late, const struct columns *at) {
    const struct lc_tsv *tsv = &late->tsv;
    for (size_t r = 0; r < tsv->n_rows; r++) {
        const char *rank = lc_tsv_cell(tsv, r, at->late_rank);
        const char *path = lc_tsv_cell(tsv, r, at->late_path);
        const char *thread = at->late_thread >= 0 ? lc_tsv_cell(tsv, r, at->late_thread) : "";
        double seconds = lc_tsv_number(tsv, r, at->seconds);
        size_t i = 0;
        while (i < late->n &&
               (strcmp(late->list[i].rank, rank) != 0 || strcmp(late->list[i].path, path) != 0 ||
                strcmp(late->list[i].thread, thread) != 0))
            i++;
        struct lc_late *own = &late->list[i];
        if (i == late->n) {
            *own = (struct lc_late){
                .rank = rank, .path = path, .thread = thread, .from = "", .to = ""};
            late->n++;
        }
        own->seconds += seconds;
        own->share += 100.0 * lc_tsv_number(tsv, r, at->share);
        if (seconds > own->victim_seconds) {
            own->victim_seconds = seconds;
            own->victim = lc_tsv_cell(tsv, r, at->waiting_path);
            own->from = lc_tsv_cell(tsv, r, at->from);
            own->to = lc_tsv_cell(tsv, r, at->to);
        }
    }
}

static int compare(const void *a, const void *b) {
    double x = ((const struct lc_late *)a)->seconds, y = ((const struct lc_late *)b)->seconds;
    return (x < y) - (x > y);
}

enum lc_err lc_late_read(struct lc_late_list *late, const struct lc_view *view) {
    const char *data;
    size_t bytes;
    *late = (struct lc_late_list){0};
    if (lc_cubex_misc(view->cube, "blame.tsv", &data, &bytes) != LC_OK)
        return LC_OK;
    LC_TRY(lc_tsv_parse(&late->tsv, data, bytes));
    const struct columns at = {.late_rank = lc_tsv_column(&late->tsv, "late_rank"),
                               .late_thread = lc_tsv_column(&late->tsv, "late_thread"),
                               .late_path = lc_tsv_column(&late->tsv, "late_callpath"),
                               .waiting_path = lc_tsv_column(&late->tsv, "waiting_callpath"),
                               .seconds = lc_tsv_column(&late->tsv, "seconds"),
                               .from = either(&late->tsv, "late_call_site_begin", "late_from"),
                               .to = either(&late->tsv, "late_call_site_end", "late_to"),
                               .share = lc_tsv_column(&late->tsv, "share")};
    enum lc_err err = lc_alloc(&late->list, late->tsv.n_rows, sizeof late->list[0]);
    if (err != LC_OK) {
        lc_late_free(late);
        return err;
    }
    add_up(late, &at);
    if (late->n > 0)
        qsort(late->list, late->n, sizeof late->list[0], compare);
    return LC_OK;
}

static bool alone(const struct lc_late *late, const struct lc_view *view) {
    return late->thread[0] != '\0' && view->model->n_processes == 1;
}

const char *lc_late_noun(const struct lc_late *late, const struct lc_view *view) {
    return alone(late, view) ? "thread" : "rank";
}

void lc_late_number(const struct lc_late *late, const struct lc_view *view, char text[64]) {
    if (alone(late, view))
        snprintf(text, 64, "%.20s", late->thread);
    else if (late->thread[0] != '\0')
        snprintf(text, 64, "%.20s thread %.20s", late->rank, late->thread);
    else
        snprintf(text, 64, "%.20s", late->rank);
}

void lc_late_free(struct lc_late_list *late) {
    lc_tsv_free(&late->tsv);
    free(late->list);
    *late = (struct lc_late_list){0};
}
