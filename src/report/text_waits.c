/* Who makes whom wait: blame in words, and the largest wait states with the ranks that carry them.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "report/text_parts.h"
#include "report/tsv.h"

enum { MOST_BLAMED = 6, MOST_PLACES = 8 };

struct blamed { /* one late place */
    const char *rank, *path, *from, *to;
    double seconds;
    const char *victim; /* the call path that waited longest for it */
    double victim_seconds;
    double share; /* percent of all waiting */
    char *ranks;  /* several that are alike, instead of `rank`; NULL: one */
    bool joined;  /* was looked at */
};

struct blame_columns {
    int late_rank, late_path, waiting_path, seconds, from, to, share;
};

static int either(const struct lc_tsv *tsv, const char *name, const char *other) {
    int column = lc_tsv_column(tsv, name);
    return column >= 0 ? column : lc_tsv_column(tsv, other);
}

/* Adds up lines of the same late rank and code. The list is short: it was bounded when it was made.
 */
static size_t add_up(const struct lc_tsv *tsv, const struct blame_columns *at,
                     struct blamed *list) {
    size_t n = 0;
    for (size_t r = 0; r < tsv->n_rows; r++) {
        const char *rank = lc_tsv_cell(tsv, r, at->late_rank);
        const char *path = lc_tsv_cell(tsv, r, at->late_path);
        double seconds = lc_tsv_number(tsv, r, at->seconds);
        size_t i = 0;
        while (i < n && (strcmp(list[i].rank, rank) != 0 || strcmp(list[i].path, path) != 0))
            i++;
        if (i == n)
            list[n++] = (struct blamed){.rank = rank, .path = path, .from = "", .to = ""};
        list[i].seconds += seconds;
        list[i].share += 100.0 * lc_tsv_number(tsv, r, at->share);
        if (seconds > list[i].victim_seconds) {
            list[i].victim_seconds = seconds;
            list[i].victim = lc_tsv_cell(tsv, r, at->waiting_path);
            list[i].from = lc_tsv_cell(tsv, r, at->from);
            list[i].to = lc_tsv_cell(tsv, r, at->to);
        }
    }
    return n;
}

static int compare_blamed(const void *a, const void *b) {
    double x = ((const struct blamed *)a)->seconds, y = ((const struct blamed *)b)->seconds;
    return (x < y) - (x > y);
}

enum { MOST_ALIKE = 8 };

/* Code that several ranks are late in alike is one line: no rank stands out. Lines of one path are
 * joined unless one rank has most of its seconds. The list is in descending order, and stays so. */
static void join_alike(struct blamed *list, size_t n) {
    for (size_t i = 0; i < n; i++) {
        double all = 0.0, share = 0.0;
        size_t alike = 0;
        struct lc_strbuf ranks = {0};
        for (size_t j = i; j < n && !list[i].joined; j++)
            if (strcmp(list[j].path, list[i].path) == 0) {
                all += list[j].seconds;
                share += list[j].share;
                if (++alike <= MOST_ALIKE)
                    lc_strbuf_printf(&ranks, "%s%s", alike > 1 ? ", " : "", list[j].rank);
            }
        if (alike > MOST_ALIKE)
            lc_strbuf_puts(&ranks, ", ..");
        if (alike < 2 || list[i].seconds >= 0.6 * all || !lc_strbuf_ok(&ranks)) {
            lc_strbuf_free(&ranks);
            for (size_t j = i; j < n && alike > 1; j++) /* each for itself */
                list[j].joined = list[j].joined || strcmp(list[j].path, list[i].path) == 0;
            continue;
        }
        for (size_t j = i + 1; j < n; j++)
            if (strcmp(list[j].path, list[i].path) == 0) {
                list[j].joined = true;
                list[j].seconds = 0.0;
            }
        list[i].joined = true;
        list[i].ranks = lc_strbuf_take(&ranks);
        list[i].seconds = all;
        list[i].share = share;
    }
}

static void print_blamed(const struct lc_text *text, const struct blamed *late) {
    char seconds[32], where[512], victim[512], source[160];
    double share =
        late->share > 0.0 ? late->share : lc_text_share(late->seconds, text->sums->total_waiting);
    fprintf(text->out, "  %srank%s %s%s in %s%s%s%s cost %s %s%.0f %%%s of all waiting (%s)\n",
            lc_text_bold(text), late->ranks != NULL ? "s" : "",
            late->ranks != NULL ? late->ranks : late->rank, lc_text_plain(text), lc_text_bold(text),
            lc_text_path(late->path, text->width - 60, where, sizeof where), lc_text_plain(text),
            lc_text_source(text, lc_view_find(text->view, late->path), source),
            late->ranks != NULL ? "each other, about alike," : "the others", lc_text_alarm(text),
            share, lc_text_plain(text), lc_text_seconds(late->seconds, seconds));
    if (late->from[0] != '\0' || late->to[0] != '\0')
        fprintf(text->out, "      between %s and %s\n", late->from[0] != '\0' ? late->from : "?",
                late->to[0] != '\0' ? late->to : "?");
    if (late->victim != NULL)
        fprintf(text->out, "      mostly in %s\n",
                lc_text_path(late->victim, text->width - 18, victim, sizeof victim));
}

enum lc_err lc_text_blame(const struct lc_text *text) {
    const char *data;
    size_t bytes;
    struct lc_tsv tsv;
    if (lc_cubex_misc(text->view->cube, "blame.tsv", &data, &bytes) != LC_OK)
        return LC_OK;
    LC_TRY(lc_tsv_parse(&tsv, data, bytes));
    const struct blame_columns at = {.late_rank = lc_tsv_column(&tsv, "late_rank"),
                                     .late_path = lc_tsv_column(&tsv, "late_callpath"),
                                     .waiting_path = lc_tsv_column(&tsv, "waiting_callpath"),
                                     .seconds = lc_tsv_column(&tsv, "seconds"),
                                     .from = either(&tsv, "late_call_site_begin", "late_from"),
                                     .to = either(&tsv, "late_call_site_end", "late_to"),
                                     .share = lc_tsv_column(&tsv, "share")};
    struct blamed *list = NULL;
    enum lc_err err = lc_alloc(&list, tsv.n_rows, sizeof list[0]);
    size_t n = err == LC_OK ? add_up(&tsv, &at, list) : 0;
    if (n > 0) {
        qsort(list, n, sizeof list[0], compare_blamed);
        join_alike(list, n);
        qsort(list, n, sizeof list[0], compare_blamed);
        lc_text_heading(text, "Who is late", "measured, rank and code that the others waited for");
        double waiting = lc_text_share(text->sums->total_waiting, text->sums->total_time);
        if (waiting < 0.1)
            fprintf(text->out, "  nobody: all waiting together is %.2f %% of the time\n", waiting);
        for (size_t i = 0; i < n && i < MOST_BLAMED && waiting >= 0.1; i++) {
            if (i > 0 && list[i].seconds < 0.02 * list[0].seconds)
                break;
            print_blamed(text, &list[i]);
        }
    }
    for (size_t i = 0; i < n; i++)
        free(list[i].ranks);
    free(list);
    lc_tsv_free(&tsv);
    return err;
}

/* The largest kind after `last` (NULL: of all), in the order of the table where they are equal;
 * NULL: none. */
static const struct lc_wait_sum *next_kind(const struct lc_sums *sums,
                                           const struct lc_wait_sum *last) {
    const struct lc_wait_sum *best = NULL;
    for (const struct lc_wait_sum *w = sums->waits; w < sums->waits + sums->n_waits; w++) {
        bool after =
            last == NULL || w->total < last->total || (w->total == last->total && w > last);
        if (after && (best == NULL || w->total > best->total))
            best = w;
    }
    return best;
}

/* One line: all kinds, largest first. */
static void print_kinds(const struct lc_text *text) {
    const struct lc_sums *sums = text->sums;
    int told = 0;
    for (const struct lc_wait_sum *w = next_kind(sums, NULL);
         w != NULL && w->total >= 0.01 * sums->total_waiting && w->total > 0.0;
         w = next_kind(sums, w))
        fprintf(text->out, "%s%s %.1f %%", told++ > 0 ? ", " : "  in all: ", w->kind->label,
                lc_text_share(w->total, sums->total_time));
    if (told > 0)
        fputc('\n', text->out);
}

enum lc_err lc_text_waits(const struct lc_text *text) {
    const struct lc_sums *sums = text->sums;
    double *row;
    if (sums->n_waits == 0)
        return LC_OK;
    lc_text_heading(text, "Largest wait states",
                    sums->estimated ? "estimated from the shortest calls: waits that are in every "
                                      "call are not seen"
                                    : "share of all time; ranks that wait");
    if (sums->n_places == 0) {
        fprintf(text->out, "  none\n");
        return LC_OK;
    }
    print_kinds(text);
    LC_TRY(lc_alloc(&row, text->view->model->n_locations, sizeof row[0]));
    enum lc_err err = LC_OK;
    for (size_t i = 0; err == LC_OK && i < sums->n_places && i < MOST_PLACES; i++) {
        const struct lc_wait_place *place = &sums->places[i];
        const struct lc_wait_sum *wait = &sums->waits[place->wait];
        char seconds[32], who[256], where[512];
        if (i > 0 && place->seconds < 0.01 * sums->total_waiting)
            break;
        char *path = lc_view_path(text->view, place->path);
        err = path != NULL ? lc_view_exclusive_row(text->view, wait->metric, place->path, row)
                           : LC_ERR_NOMEM;
        if (err == LC_OK) {
            lc_text_carriers(text, row, who, sizeof who);
            fprintf(text->out, "  %-16s %s%8s %5.1f %%%s  %s\n      %s\n", wait->kind->label,
                    lc_text_bold(text), lc_text_seconds(place->seconds, seconds),
                    lc_text_share(place->seconds, sums->total_time), lc_text_plain(text), who,
                    lc_text_path(path, text->width - 6, where, sizeof where));
        }
        free(path);
    }
    free(row);
    return err;
}
