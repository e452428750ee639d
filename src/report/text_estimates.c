/* How good the estimates are: a wait that is in every call raises the minimum itself and stays
 * unseen. For each estimate that uses the minimum of its own process: how far that lies above the
 * smallest minimum of the same function and size class on any process. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "format/mpi_function.h"
#include "report/text_parts.h"
#include "report/tsv.h"

enum { MOST_GAPS = 5 };

struct cell { /* one function, size class, process */
    const char *function;
    int size_class;
    int32_t rank;
    double count, least;
};

struct gap {
    const struct cell *cell;
    double smallest; /* of the function and class on any process */
    int32_t smallest_rank;
};

static const char *function_of(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

static int compare_cells(const void *a, const void *b) {
    const struct cell *x = a, *y = b;
    int order = strcmp(x->function, y->function);
    if (order == 0)
        order = x->size_class - y->size_class;
    return order != 0 ? order : (x->rank > y->rank) - (x->rank < y->rank);
}

/* A file may say anything; classes are 0 to 64. */
static int class_of(double number) {
    return number >= 0.0 && number <= 64.0 ? (int)number : 0;
}

/* Sorted by function, class, rank; lines of several call paths joined. */
static size_t collect(const struct lc_text *text, const struct lc_tsv *tsv, struct cell *cells) {
    int path = lc_tsv_column(tsv, "callpath"), location = lc_tsv_column(tsv, "location");
    int class = lc_tsv_column(tsv, "class"), count = lc_tsv_column(tsv, "count");
    int least = lc_tsv_column(tsv, "min");
    if (least < 0)
        least = lc_tsv_column(tsv, "min_s");
    size_t n = 0, kept = 0;
    if (path < 0 || location < 0 || class < 0 || count < 0 || least < 0)
        return 0;
    for (size_t r = 0; r < tsv->n_rows; r++) {
        const char *function = function_of(lc_tsv_cell(tsv, r, path));
        double where = lc_tsv_number(tsv, r, location);
        if (!lc_mpi_estimated_locally(lc_mpi_find(function)) || where < 0 ||
            where >= (double)text->view->model->n_locations)
            continue;
        cells[n++] = (struct cell){.function = function,
                                   .size_class = class_of(lc_tsv_number(tsv, r, class)),
                                   .rank = lc_view_rank(text->view, (uint32_t)where),
                                   .count = lc_tsv_number(tsv, r, count),
                                   .least = lc_tsv_number(tsv, r, least)};
    }
    if (n == 0)
        return 0;
    qsort(cells, n, sizeof cells[0], compare_cells);
    for (size_t i = 1; i < n; i++) {
        if (compare_cells(&cells[kept], &cells[i]) != 0) {
            cells[++kept] = cells[i];
            continue;
        }
        cells[kept].count += cells[i].count;
        if (cells[i].least < cells[kept].least)
            cells[kept].least = cells[i].least;
    }
    return kept + 1;
}

static double unseen(const struct gap *gap) {
    return gap->cell->count * (gap->cell->least - gap->smallest);
}

static int compare_gaps(const void *a, const void *b) {
    double x = unseen(a), y = unseen(b);
    return (x < y) - (x > y);
}

static void find_gaps(const struct cell *cells, size_t n, struct gap *gaps) {
    for (size_t begin = 0, end; begin < n; begin = end) {
        size_t best = begin;
        for (end = begin; end < n && cells[end].size_class == cells[begin].size_class &&
                          strcmp(cells[end].function, cells[begin].function) == 0;
             end++)
            if (cells[end].least < cells[best].least)
                best = end;
        for (size_t i = begin; i < end; i++)
            gaps[i] = (struct gap){&cells[i], cells[best].least, cells[best].rank};
    }
}

static void format_class(int size_class, char buffer[64]) {
    if (size_class <= 0)
        snprintf(buffer, 64, "0 bytes");
    else
        snprintf(buffer, 64, "%.0f bytes and more", (double)(UINT64_C(1) << (size_class - 1) % 64));
}

/* Measured waiting of one kind (or, NULL, of all) in calls that complete several requests. */
static double measured_in_several(const struct lc_text *text, const struct lc_wait_sum *wait) {
    const struct lc_sums *sums = text->sums;
    double seconds = 0.0;
    for (size_t i = 0; i < sums->n_places; i++)
        if ((wait == NULL || &sums->waits[sums->places[i].wait] == wait) &&
            lc_completes_several(text->view, sums->places[i].path))
            seconds += sums->places[i].seconds;
    return seconds;
}

/* The error: what was measured tells it; else what was waited for may be nothing, or all the time
 * in these calls. */
static enum lc_err print_apart(const struct lc_text *text) {
    const struct lc_sums *sums = text->sums;
    uint32_t metric = lc_model_find_metric(text->view->model, "mpi_waitall_estimated");
    double estimated = 0.0, all = lc_text_share(sums->several_time, sums->total_time);
    if (metric == LC_NONE)
        return LC_OK;
    LC_TRY(lc_view_total(text->view, metric, &estimated));
    estimated = lc_text_share(estimated, sums->total_time);
    if (estimated < 0.05)
        return LC_OK;
    lc_text_heading(text, "Estimates of MPI_Waitall, Waitany and Waitsome",
                    "in no sum: the shortest call says nothing of calls that complete several "
                    "requests; shares of all time");
    if (sums->estimated) {
        double low = estimated, high = all > estimated ? all - estimated : 0.0;
        fprintf(text->out,
                "  estimated %5.1f %%, error up to %.1f points: these calls took %.1f %%\n",
                estimated, low > high ? low : high, all);
    } else {
        double measured = lc_text_share(measured_in_several(text, NULL), sums->total_time);
        fprintf(text->out, "  estimated %5.1f %%, measured %.1f %%: error %.1f points\n", estimated,
                measured, estimated > measured ? estimated - measured : measured - estimated);
    }
    return LC_OK;
}

/* What the method without communication says about the waits that were measured, in the calls for
 * which it is meant. */
static enum lc_err print_beside(const struct lc_text *text) {
    const struct lc_sums *sums = text->sums;
    bool printed = false;
    for (size_t i = 0; i < sums->n_waits && !sums->estimated; i++) {
        const struct lc_wait_sum *wait = &sums->waits[i];
        char name[96];
        double total;
        snprintf(name, sizeof name, "%s_estimated", wait->kind->name);
        uint32_t metric = lc_model_find_metric(text->view->model, name);
        if (metric == LC_NONE)
            continue;
        LC_TRY(lc_view_total(text->view, metric, &total));
        double estimated = lc_text_share(total, sums->total_time);
        double measured =
            lc_text_share(wait->total - measured_in_several(text, wait), sums->total_time);
        if (estimated < 0.05 && measured < 0.05)
            continue;
        if (!printed)
            lc_text_heading(
                text, "Estimates beside what was measured",
                "from the shortest calls alone: waits that occur in every call are missed, calls "
                "that are slow for other reasons are included; shares of all time");
        printed = true;
        fprintf(text->out, "  %-16s measured %5.1f %%  estimated %5.1f %%\n", wait->kind->label,
                measured, estimated);
    }
    return LC_OK;
}

static void print_gaps(const struct lc_text *text, const struct gap *gaps, size_t n) {
    if (unseen(&gaps[0]) <= 0.0)
        return;
    lc_text_heading(text, "What the estimates cannot see",
                    "how far the minimum on a rank lies above the smallest on any rank, times the "
                    "number of calls");
    for (size_t i = 0; i < n && i < MOST_GAPS; i++) {
        const struct gap *gap = &gaps[i];
        char least[32], smallest[32], all[32], size[64];
        if (i > 0 && unseen(gap) < 0.001 * text->sums->total_time)
            break;
        format_class(gap->cell->size_class, size);
        fprintf(text->out,
                "  %s (%s), rank %d: %s, smallest %s on rank %d: up to %s in %.0f calls\n",
                gap->cell->function, size, gap->cell->rank,
                lc_text_seconds(gap->cell->least, least), lc_text_seconds(gap->smallest, smallest),
                gap->smallest_rank, lc_text_seconds(unseen(gap), all), gap->cell->count);
    }
}

enum lc_err lc_text_estimates(const struct lc_text *text) {
    const char *data;
    size_t bytes;
    struct lc_tsv tsv;
    if (lc_model_find_metric(text->view->model, "mpi_latesender_estimated") == LC_NONE)
        return LC_OK;
    LC_TRY(print_beside(text));
    LC_TRY(print_apart(text));
    if (lc_cubex_misc(text->view->cube, "size_classes.tsv", &data, &bytes) != LC_OK)
        return LC_OK;
    LC_TRY(lc_tsv_parse(&tsv, data, bytes));
    struct cell *cells = NULL;
    struct gap *gaps = NULL;
    enum lc_err err = lc_alloc(&cells, tsv.n_rows + 1, sizeof cells[0]);
    if (err == LC_OK)
        err = lc_alloc(&gaps, tsv.n_rows + 1, sizeof gaps[0]);
    size_t n = err == LC_OK ? collect(text, &tsv, cells) : 0;
    if (n > 0) {
        find_gaps(cells, n, gaps);
        qsort(gaps, n, sizeof gaps[0], compare_gaps);
        print_gaps(text, gaps, n);
    }
    free(gaps);
    free(cells);
    lc_tsv_free(&tsv);
    return err;
}
