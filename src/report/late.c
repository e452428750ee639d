#include "report/late.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct columns {
    int late_rank, late_thread, late_path, waiting_path, seconds, indirect, error, from, to, share;
};

static int either(const struct lc_tsv *tsv, const char *name, const char *other) {
    int column = lc_tsv_column(tsv, name);
    return column >= 0 ? column : lc_tsv_column(tsv, other);
}

static struct columns columns_of(const struct lc_tsv *tsv) {
    return (struct columns){.late_rank = lc_tsv_column(tsv, "late_rank"),
                            .late_thread = lc_tsv_column(tsv, "late_thread"),
                            .late_path = lc_tsv_column(tsv, "late_callpath"),
                            .waiting_path = lc_tsv_column(tsv, "waiting_callpath"),
                            .seconds = lc_tsv_column(tsv, "seconds"),
                            .indirect = lc_tsv_column(tsv, "indirect_seconds"),
                            .error = lc_tsv_column(tsv, "error"),
                            .from = either(tsv, "late_call_site_begin", "late_from"),
                            .to = either(tsv, "late_call_site_end", "late_to"),
                            .share = lc_tsv_column(tsv, "share")};
}

/* The line of this rank and code; a new one if there is none. */
static struct lc_late *find_or_add(struct lc_late_list *late, const struct lc_view *view,
                                   const char *rank, const char *path, const char *thread,
                                   bool add) {
    /* Frames that the view makes one path are one code. */
    uint32_t id = view->fold_names != NULL ? lc_view_find(view, path) : LC_NONE;
    for (size_t i = 0; i < late->n; i++)
        if (strcmp(late->list[i].rank, rank) == 0 && strcmp(late->list[i].thread, thread) == 0 &&
            (strcmp(late->list[i].path, path) == 0 ||
             (id != LC_NONE && lc_view_find(view, late->list[i].path) == id)))
            return &late->list[i];
    if (!add)
        return NULL;
    late->list[late->n] =
        (struct lc_late){.rank = rank, .path = path, .thread = thread, .from = "", .to = ""};
    return &late->list[late->n++];
}

/* Adds up lines of the same late rank and code; victims: only who waited for it. The list is short:
 * it was bounded when it was made. */
static void add_up(struct lc_late_list *late, const struct lc_view *view, const struct lc_tsv *tsv,
                   bool victims) {
    const struct columns at = columns_of(tsv);
    for (size_t r = 0; r < tsv->n_rows; r++) {
        const char *thread = at.late_thread >= 0 ? lc_tsv_cell(tsv, r, at.late_thread) : "";
        struct lc_late *own = find_or_add(late, view, lc_tsv_cell(tsv, r, at.late_rank),
                                          lc_tsv_cell(tsv, r, at.late_path), thread, !victims);
        double seconds = lc_tsv_number(tsv, r, at.seconds);
        if (own == NULL)
            continue;
        if (!victims) {
            own->seconds += seconds;
            own->indirect += at.indirect >= 0 ? lc_tsv_number(tsv, r, at.indirect) : 0.0;
            own->error = hypot(own->error, at.error >= 0 ? lc_tsv_number(tsv, r, at.error) : 0.0);
            own->share += 100.0 * lc_tsv_number(tsv, r, at.share);
        }
        if (seconds <= own->victim_seconds)
            continue;
        own->victim_seconds = seconds;
        own->victim = at.waiting_path >= 0 ? lc_tsv_cell(tsv, r, at.waiting_path) : NULL;
        own->from = lc_tsv_cell(tsv, r, at.from);
        own->to = lc_tsv_cell(tsv, r, at.to);
    }
}

static int compare(const void *a, const void *b) {
    double x = ((const struct lc_late *)a)->seconds, y = ((const struct lc_late *)b)->seconds;
    return (x < y) - (x > y);
}

static enum lc_err parse(const struct lc_view *view, const char *member, struct lc_tsv *tsv) {
    const char *data;
    size_t bytes;
    if (lc_cubex_misc(view->cube, member, &data, &bytes) != LC_OK)
        return LC_OK;
    return lc_tsv_parse(tsv, data, bytes);
}

enum lc_err lc_late_read(struct lc_late_list *late, const struct lc_view *view) {
    *late = (struct lc_late_list){0};
    enum lc_err err = parse(view, "blame.tsv", &late->blame);
    if (err == LC_OK)
        err = parse(view, "costs.tsv", &late->costs);
    const struct lc_tsv *from = late->costs.n_rows > 0 ? &late->costs : &late->blame;
    if (err == LC_OK && from->n_rows > 0)
        err = lc_alloc(&late->list, from->n_rows, sizeof late->list[0]);
    if (err != LC_OK) {
        lc_late_free(late);
        return err;
    }
    add_up(late, view, from, false);
    for (size_t i = 0; from == &late->costs && i < late->n; i++)
        late->list[i].victim_seconds = 0.0;
    if (from == &late->costs)
        add_up(late, view, &late->blame, true);
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
    lc_tsv_free(&late->blame);
    lc_tsv_free(&late->costs);
    free(late->list);
    *late = (struct lc_late_list){0};
}
