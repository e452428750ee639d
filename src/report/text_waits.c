/* Who makes whom wait: blame in words, and the largest wait states with the ranks that carry them.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "report/late.h"
#include "report/text_parts.h"

enum { MOST_BLAMED = 6, MOST_PLACES = 8 };

struct blamed {
    struct lc_late late;
    double seconds, share; /* of all that are joined here; percent of all waiting */
    double indirect;       /* of the seconds */
    double error;          /* standard error of the seconds, of code that samples found */
    char *ranks;           /* several that are alike, instead of `late.rank`; NULL: one */
    bool joined;           /* was looked at */
};

static int compare_blamed(const void *a, const void *b) {
    double x = ((const struct blamed *)a)->seconds, y = ((const struct blamed *)b)->seconds;
    return (x < y) - (x > y);
}

enum { MOST_ALIKE = 8 };

/* Code that several ranks are late in alike is one line: no rank stands out. Lines of one path are
 * joined unless one rank has most of its seconds. The list is in descending order, and stays so. */
static void join_alike(struct blamed *list, size_t n, const struct lc_view *view) {
    for (size_t i = 0; i < n; i++) {
        double all = 0.0, share = 0.0, indirect = 0.0, error = 0.0;
        size_t alike = 0;
        struct lc_strbuf ranks = {0};
        for (size_t j = i; j < n && !list[i].joined; j++)
            if (strcmp(list[j].late.path, list[i].late.path) == 0) {
                all += list[j].seconds;
                share += list[j].share;
                indirect += list[j].indirect;
                error = hypot(error, list[j].error);
                if (++alike <= MOST_ALIKE) {
                    char number[64];
                    lc_late_number(&list[j].late, view, number);
                    lc_strbuf_printf(&ranks, "%s%s", alike > 1 ? ", " : "", number);
                }
            }
        if (alike > MOST_ALIKE)
            lc_strbuf_puts(&ranks, ", ..");
        if (alike < 2 || list[i].seconds >= 0.6 * all || !lc_strbuf_ok(&ranks)) {
            lc_strbuf_free(&ranks);
            for (size_t j = i; j < n && alike > 1; j++) /* each for itself */
                list[j].joined =
                    list[j].joined || strcmp(list[j].late.path, list[i].late.path) == 0;
            continue;
        }
        for (size_t j = i + 1; j < n; j++)
            if (strcmp(list[j].late.path, list[i].late.path) == 0) {
                list[j].joined = true;
                list[j].seconds = 0.0;
            }
        list[i].joined = true;
        list[i].ranks = lc_strbuf_take(&ranks);
        list[i].seconds = all;
        list[i].share = share;
        list[i].indirect = indirect;
        list[i].error = error;
    }
}

/* `where`, `victim`: the call paths as they are printed. */
static void print_blamed(const struct lc_text *text, const struct blamed *blamed, const char *where,
                         const char *victim) {
    char seconds[32], source[160], number[64];
    const struct lc_late *late = &blamed->late;
    lc_late_number(late, text->view, number);
    double share = blamed->share > 0.0 ? blamed->share
                                       : lc_text_share(blamed->seconds, text->sums->total_waiting);
    fprintf(text->out, "  %s%5.1f %%%s  %8s  %s%s%s %s%s%s%s\n      %s%s%s\n", lc_text_alarm(text),
            share, lc_text_plain(text), lc_text_seconds(blamed->seconds, seconds),
            lc_text_bold(text), lc_late_noun(late, text->view), blamed->ranks != NULL ? "s" : "",
            blamed->ranks != NULL ? blamed->ranks : number, lc_text_plain(text),
            blamed->ranks != NULL ? ", about equally, wait for each other" : "",
            lc_text_source(text, lc_view_find(text->view, late->path), source), lc_text_bold(text),
            where, lc_text_plain(text));
    if (late->from[0] != '\0' || late->to[0] != '\0') {
        char *from = lc_text_outside(late->from[0] != '\0' ? late->from : "?", 40);
        char *to = lc_text_outside(late->to[0] != '\0' ? late->to : "?", 40);
        fprintf(text->out, "      between %s and %s\n", from, to);
        free(from);
        free(to);
    }
    if (blamed->error > 0)
        fprintf(text->out, "      found by samples: standard error %s\n",
                lc_text_seconds(blamed->error, seconds));
    if (blamed->indirect >= 0.05 * blamed->seconds)
        fprintf(text->out,
                "      %s of it passed on: those who waited for it were late for others\n",
                lc_text_seconds(blamed->indirect, seconds));
    if (late->victim != NULL)
        fprintf(text->out, "      others wait most in %s\n", victim);
}

/* As lc_text_paths, of call paths in words; what is none of this result is printed as it is. */
static enum lc_err print_names(const struct lc_text *text, const char *const *names, size_t n,
                               size_t width, char ***printed) {
    uint32_t ids[MOST_BLAMED] = {0};
    for (size_t i = 0; i < n; i++)
        ids[i] = names[i] != NULL ? lc_view_find(text->view, names[i]) : LC_NONE;
    LC_TRY(lc_text_paths(text, ids, n, width, printed));
    for (size_t i = 0; i < n; i++)
        if (ids[i] == LC_NONE && names[i] != NULL) {
            free((*printed)[i]);
            (*printed)[i] = lc_text_outside(names[i], width);
            if ((*printed)[i] == NULL)
                return lc_fail(LC_ERR_NOMEM, "memory: cannot print a call path");
        }
    return LC_OK;
}

static enum lc_err print_list(const struct lc_text *text, const struct blamed *list, size_t n) {
    const char *late[MOST_BLAMED] = {0}, *waiting[MOST_BLAMED] = {0};
    char **where = NULL, **victims = NULL;
    size_t shown = 0;
    while (shown < n && shown < MOST_BLAMED &&
           (shown == 0 || list[shown].seconds >= 0.02 * list[0].seconds)) {
        late[shown] = list[shown].late.path;
        waiting[shown] = list[shown].late.victim;
        shown++;
    }
    enum lc_err err = print_names(text, late, shown, text->width - 6, &where);
    if (err == LC_OK)
        err = print_names(text, waiting, shown, text->width - 26, &victims);
    for (size_t i = 0; err == LC_OK && i < shown; i++)
        print_blamed(text, &list[i], where[i], victims[i]);
    lc_text_paths_free(where, shown);
    lc_text_paths_free(victims, shown);
    return err;
}

/* Both sums, and what they are of. */
static void print_costs(const struct lc_text *text) {
    const json_t *costs = json_object_get(text->meta, "waiting_costs");
    static const char *const names[] = {"waits_s", "costs_s", "direct_s", "indirect_s"};
    char seconds[4][32], unknown[32];
    if (costs == NULL)
        return;
    for (int i = 0; i < 4; i++)
        lc_text_seconds(json_number_value(json_object_get(costs, names[i])), seconds[i]);
    double unknown_s = json_number_value(json_object_get(costs, "unknown_direct_s")) +
                       json_number_value(json_object_get(costs, "unknown_indirect_s"));
    fprintf(text->out, "  in all: waits %s, their costs %s: %s direct, %s passed on, %s unknown\n",
            seconds[0], seconds[1], seconds[2], seconds[3], lc_text_seconds(unknown_s, unknown));
}

enum lc_err lc_text_blame(const struct lc_text *text) {
    struct lc_late_list late;
    struct blamed *list = NULL;
    LC_TRY(lc_late_read(&late, text->view));
    size_t n = late.n;
    enum lc_err err = lc_alloc(&list, n, sizeof list[0]);
    for (size_t i = 0; err == LC_OK && i < n; i++)
        list[i] = (struct blamed){.late = late.list[i],
                                  .seconds = late.list[i].seconds,
                                  .share = late.list[i].share,
                                  .indirect = late.list[i].indirect,
                                  .error = late.list[i].error};
    if (err == LC_OK && n > 0) {
        join_alike(list, n, text->view);
        qsort(list, n, sizeof list[0], compare_blamed);
        lc_text_heading(
            text, "Who is late",
            "measured: the ranks and code with which waiting began; share of all waiting");
        double waiting = lc_text_share(text->sums->total_waiting, text->sums->total_time);
        if (waiting < 0.1)
            fprintf(text->out, "  nobody: waiting is only %.2f %% of the time\n", waiting);
        else
            err = print_list(text, list, n);
        if (err == LC_OK)
            print_costs(text);
    }
    for (size_t i = 0; list != NULL && i < n; i++)
        free(list[i].ranks);
    free(list);
    lc_late_free(&late);
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
    int printed = 0;
    for (const struct lc_wait_sum *w = next_kind(sums, NULL);
         w != NULL && w->total >= 0.01 * sums->total_waiting && w->total > 0.0;
         w = next_kind(sums, w))
        fprintf(text->out, "%s%s %.1f %%", printed++ > 0 ? ", " : "  in all: ", w->kind->label,
                lc_text_share(w->total, sums->total_time));
    if (printed > 0)
        fputc('\n', text->out);
}

static enum lc_err print_place(const struct lc_text *text, const struct lc_wait_place *place,
                               const char *where, double *row) {
    const struct lc_wait_sum *wait = &text->sums->waits[place->wait];
    char seconds[32], who[256];
    LC_TRY(lc_view_exclusive_row(text->view, wait->metric, place->path, row));
    lc_text_carriers(text, row, who, sizeof who);
    fprintf(text->out, "  %s%5.1f %%  %8s%s  %s: %s\n      %s\n", lc_text_bold(text),
            lc_text_share(place->seconds, text->sums->total_time),
            lc_text_seconds(place->seconds, seconds), lc_text_plain(text), wait->kind->label, who,
            where);
    return LC_OK;
}

enum lc_err lc_text_waits(const struct lc_text *text) {
    const struct lc_sums *sums = text->sums;
    double *row;
    if (sums->n_waits == 0 || lc_text_only_time(text) || lc_text_uninitialised(text))
        return LC_OK;
    lc_text_heading(text, "Largest wait states",
                    sums->estimated
                        ? "estimated from the shortest calls: waits that occur in every "
                          "call are not seen"
                        : "share of all time; ranks that wait");
    if (sums->n_places == 0) {
        fprintf(text->out, "  none\n");
        return LC_OK;
    }
    print_kinds(text);
    size_t n = 0;
    uint32_t ids[MOST_PLACES];
    char **where = NULL;
    while (n < sums->n_places && n < MOST_PLACES &&
           (n == 0 || sums->places[n].seconds >= 0.01 * sums->total_waiting)) {
        ids[n] = sums->places[n].path;
        n++;
    }
    LC_TRY(lc_alloc(&row, text->view->model->n_locations, sizeof row[0]));
    enum lc_err err = lc_text_paths(text, ids, n, text->width - 6, &where);
    for (size_t i = 0; err == LC_OK && i < n; i++)
        err = print_place(text, &sums->places[i], where[i], row);
    lc_text_paths_free(where, n);
    free(row);
    return err;
}
