/* Of an analysed trace: root causes (delay costs), the critical path, the indicators. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "report/delay_costs.h"
#include "report/text_parts.h"
#include "report/tsv.h"

enum { MOST_CAUSES = 8, MOST_SEGMENTS = 8 };

struct cause {
    uint32_t path;
    double short_term, long_term;
};

static int compare_causes(const void *a, const void *b) {
    const struct cause *p = a, *q = b;
    double x = p->short_term + p->long_term, y = q->short_term + q->long_term;
    return (x < y) - (x > y);
}

/* Delay costs of one path over all kinds, per location in `sums`. */
static enum lc_err add_costs(struct lc_view *view, struct cause *cause, double *row, double *sums) {
    for (uint32_t m = 0; m < view->model->n_metrics; m++) {
        bool longterm;
        if (!lc_is_delay_cost(view, m, &longterm))
            continue;
        LC_TRY(lc_view_exclusive_row(view, m, cause->path, row));
        for (size_t l = 0; l < view->model->n_locations; l++) {
            *(longterm ? &cause->long_term : &cause->short_term) += row[l];
            if (sums != NULL)
                sums[l] += row[l];
        }
    }
    return LC_OK;
}

static void print_path_line(const struct lc_text *text, uint32_t path, const char *where,
                            const char *before, const char *who) {
    char source[160];
    fprintf(text->out, "  %s  %s%s\n      %s%s%s\n", before, who,
            lc_text_source(text, path, source), lc_text_bold(text), where, lc_text_plain(text));
}

static enum lc_err print_cause(const struct lc_text *text, const struct cause *cause,
                               const char *where, double all, double *row, double *sums) {
    struct cause again = {.path = cause->path};
    char before[96], who[256], a[32], b[32];
    memset(sums, 0, text->view->model->n_locations * sizeof sums[0]);
    LC_TRY(add_costs(text->view, &again, row, sums));
    lc_text_carriers(text, sums, who, sizeof who);
    snprintf(before, sizeof before, "%5.1f %%  %8s +%8s",
             lc_text_share(cause->short_term + cause->long_term, all),
             lc_text_seconds(cause->short_term, a), lc_text_seconds(cause->long_term, b));
    print_path_line(text, cause->path, where, before, who);
    return LC_OK;
}

/* What all causes cost together, of one kind of waiting. */
struct kind_costs {
    const char *name; /* the metric */
    double direct, indirect;
};

static int compare_kinds(const void *a, const void *b) {
    const struct kind_costs *p = a, *q = b;
    double x = p->direct + p->indirect, y = q->direct + q->indirect;
    return (x < y) - (x > y);
}

static void print_kind(const struct lc_text *text, const char *name, double direct, double indirect,
                       double all) {
    char a[32], b[32], c[32];
    fprintf(text->out, "    %-34s %9s = %9s direct + %9s indirect  %5.1f %%\n", name,
            lc_text_seconds(direct + indirect, a), lc_text_seconds(direct, b),
            lc_text_seconds(indirect, c), lc_text_share(direct + indirect, all));
}

/* The sum over both terms is called after the kind: "Late Sender: delay costs", Scalasca's "Late
 * Sender". The caller frees it; NULL without memory. */
static char *kind_name(const struct lc_model *model, const char *cost) {
    uint32_t sum = model->metrics[lc_model_find_metric(model, cost)].parent;
    char *name = lc_text_outside(sum != LC_NONE ? model->metrics[sum].display : cost, 60);
    char *colon = name != NULL ? strstr(name, ": delay costs") : NULL;
    if (colon != NULL)
        *colon = '\0';
    return name;
}

static enum lc_err list_kinds(struct lc_view *view, struct kind_costs *kinds, size_t *n) {
    for (uint32_t m = 0; m < view->model->n_metrics; m++) {
        char twin[128];
        bool longterm;
        uint32_t other;
        const struct lc_metric *metric = &view->model->metrics[m];
        if (!lc_is_delay_cost(view, m, &longterm) || longterm)
            continue;
        struct kind_costs *kind = &kinds[*n];
        *kind = (struct kind_costs){.name = metric->name};
        snprintf(twin, sizeof twin, "%.*s_longterm",
                 (int)(strlen(metric->name) - (view->wait_first ? strlen("_waitfirst") : 0)),
                 metric->name);
        LC_TRY(lc_view_total(view, m, &kind->direct));
        other = lc_metric_of_model(view, twin);
        if (other != LC_NONE)
            LC_TRY(lc_view_total(view, other, &kind->indirect));
        *n += kind->direct + kind->indirect > 0.0;
    }
    return LC_OK;
}

/* What becomes of waiting in MPI: on which others wait in turn, and which delays nobody. */
static enum lc_err print_effect(const struct lc_text *text) {
    struct lc_view *view = text->view;
    uint32_t ids[2] = {lc_metric_of_model(view, "mpi_wait_propagating"),
                       lc_metric_of_model(view, "mpi_wait_terminal")};
    double totals[2] = {0.0, 0.0};
    char a[32], b[32];
    for (int i = 0; i < 2; i++)
        if (ids[i] != LC_NONE)
            LC_TRY(lc_view_total(view, ids[i], &totals[i]));
    if (totals[0] > 0.01 * (totals[0] + totals[1]))
        fprintf(text->out, "    of waiting in MPI, %s (%.1f %%) makes others wait, %s nobody\n",
                lc_text_seconds(totals[0], a), lc_text_share(totals[0], totals[0] + totals[1]),
                lc_text_seconds(totals[1], b));
    return LC_OK;
}

static enum lc_err print_kinds(const struct lc_text *text) {
    struct lc_view *view = text->view;
    struct kind_costs *kinds;
    double direct = 0.0, indirect = 0.0;
    size_t n = 0;
    LC_TRY(lc_alloc(&kinds, view->model->n_metrics + 1, sizeof kinds[0]));
    enum lc_err err = list_kinds(view, kinds, &n);
    for (size_t i = 0; i < n; i++) {
        direct += kinds[i].direct;
        indirect += kinds[i].indirect;
    }
    if (err == LC_OK) {
        qsort(kinds, n, sizeof kinds[0], compare_kinds);
        print_kind(text, "all", direct, indirect, direct + indirect);
    }
    for (size_t i = 0; err == LC_OK && i < n && n > 1; i++) {
        if (kinds[i].direct + kinds[i].indirect < 0.01 * (direct + indirect))
            break;
        char *name = kind_name(view->model, kinds[i].name);
        if (name == NULL)
            err = lc_fail(LC_ERR_NOMEM, "memory: cannot print the kinds of delay costs");
        else
            print_kind(text, name, kinds[i].direct, kinds[i].indirect, direct + indirect);
        free(name);
    }
    free(kinds);
    return err;
}

/* `causes`: the most expensive first; all: what they cost together. */
static enum lc_err print_list(const struct lc_text *text, const struct cause *causes, double all,
                              double *row, double *sums) {
    uint32_t ids[MOST_CAUSES];
    char **where = NULL;
    size_t n = 0;
    while (n < MOST_CAUSES && n < text->view->n_paths &&
           causes[n].short_term + causes[n].long_term > 0.005 * all) {
        ids[n] = causes[n].path;
        n++;
    }
    enum lc_err err = lc_text_paths(text, ids, n, text->width - 6, &where);
    for (size_t i = 0; err == LC_OK && i < n; i++)
        err = print_cause(text, &causes[i], where[i], all, row, sums);
    lc_text_paths_free(where, n);
    return err;
}

static enum lc_err print_causes(const struct lc_text *text, double *row, double *sums) {
    struct lc_view *view = text->view;
    struct cause *causes;
    double all = 0.0;
    LC_TRY(lc_alloc(&causes, view->n_paths, sizeof causes[0]));
    enum lc_err err = LC_OK;
    for (uint32_t p = 0; err == LC_OK && p < view->n_paths; p++) {
        causes[p].path = p;
        err = add_costs(view, &causes[p], row, NULL);
        all += causes[p].short_term + causes[p].long_term;
    }
    if (err == LC_OK && all > 0.0) {
        qsort(causes, view->n_paths, sizeof causes[0], compare_causes);
        lc_text_heading(
            text, "Root causes",
            view->wait_first
                ? "delay costs in the model wait-first: waiting caused by this code, directly + "
                  "through other wait states, which pay before code does"
                : "delay costs: waiting caused by this code, directly + through other wait states");
        err = print_kinds(text);
        if (err == LC_OK)
            err = print_effect(text);
        if (err == LC_OK)
            err = print_list(text, causes, all, row, sums);
    }
    free(causes);
    return err;
}

static void print_between(const struct lc_text *text, const char *from, const char *to) {
    char *begin = lc_text_outside(from, 40), *end = lc_text_outside(to, 40);
    fprintf(text->out, "      between %s and %s\n", begin, end);
    free(begin);
    free(end);
}

/* Between which calls the code of this path was, as the library found out (critical_path.tsv). */
static void print_sites(const struct lc_text *text, const struct lc_tsv *sites, uint32_t path) {
    int begin = lc_tsv_column(sites, "call_site_begin"),
        end = lc_tsv_column(sites, "call_site_end");
    for (size_t r = 0; r < sites->n_rows; r++) {
        const char *from = lc_tsv_cell(sites, r, begin), *to = lc_tsv_cell(sites, r, end);
        if (*from != '\0' && *to != '\0' &&
            lc_view_find(text->view, lc_tsv_cell(sites, r, 0)) == path)
            print_between(text, from, to);
    }
}

static enum lc_err sum_lengths(struct lc_view *view, uint32_t metric, double *row, double *length) {
    for (uint32_t p = 0; p < view->n_paths; p++) {
        LC_TRY(lc_view_exclusive_row(view, metric, p, row));
        for (size_t l = 0; l < view->model->n_locations; l++)
            length[p] += row[l];
    }
    return LC_OK;
}

/* The longest paths, at most MOST_SEGMENTS and each of more than a hundredth. */
static size_t choose_longest(const struct lc_view *view, double *length, double all,
                             uint32_t *ids) {
    for (size_t n = 0; n < MOST_SEGMENTS; n++) {
        uint32_t best = LC_NONE;
        for (uint32_t p = 0; p < view->n_paths; p++) {
            bool chosen = false;
            for (size_t i = 0; i < n; i++)
                chosen = chosen || ids[i] == p;
            if (!chosen && length[p] > 0.01 * all && (best == LC_NONE || length[p] > length[best]))
                best = p;
        }
        if (best == LC_NONE)
            return n;
        ids[n] = best;
    }
    return MOST_SEGMENTS;
}

static enum lc_err print_segments(const struct lc_text *text, uint32_t metric, double *length,
                                  double all, double *row) {
    struct lc_view *view = text->view;
    const char *data;
    size_t bytes;
    struct lc_tsv sites = {0};
    uint32_t ids[MOST_SEGMENTS];
    char **where = NULL;
    if (!text->analysis && lc_cubex_misc(view->cube, "critical_path.tsv", &data, &bytes) == LC_OK)
        LC_TRY(lc_tsv_parse(&sites, data, bytes));
    size_t n = choose_longest(view, length, all, ids);
    enum lc_err err = lc_text_paths(text, ids, n, text->width - 6, &where);
    for (size_t i = 0; err == LC_OK && i < n; i++) {
        char before[64], who[256], seconds[32];
        err = lc_view_exclusive_row(view, metric, ids[i], row);
        lc_text_carriers(text, row, who, sizeof who);
        snprintf(before, sizeof before, "%5.1f %%  %8s", lc_text_share(length[ids[i]], all),
                 lc_text_seconds(length[ids[i]], seconds));
        print_path_line(text, ids[i], where[i], before, who);
        print_sites(text, &sites, ids[i]);
    }
    lc_text_paths_free(where, n);
    lc_tsv_free(&sites);
    return err;
}

/* The path's code is kept in a list of bounded length; the head says what that cost. */
static void print_path_heading(const struct lc_text *text, const char *remark) {
    double none = json_number_value(json_object_get(text->pop, "not_attributed"));
    double outer = json_number_value(json_object_get(text->pop, "attributed_further_out"));
    lc_text_heading(text, "Critical path", remark);
    if (!text->analysis && none > 0.02)
        fprintf(text->out, "  ! %.1f %% of it has no call path, and is not in this list\n",
                100.0 * none);
    if (!text->analysis && outer > 0.02)
        fprintf(text->out,
                "  ! %.1f %% of it was spent in many small pieces: it is shown at the functions "
                "around them\n",
                100.0 * outer);
}

/* Start and end of MPI are apart, as everywhere: the profile's path begins after MPI_Init, the
 * trace's with the program. */
static enum lc_err print_critical_path(const struct lc_text *text, const char *name,
                                       const char *remark, double *row) {
    struct lc_view *view = text->view;
    uint32_t metric = lc_model_find_metric(view->model, name);
    double all, apart = 0.0, *length;
    char line[256], seconds[32];
    if (metric == LC_NONE)
        return LC_OK;
    LC_TRY(lc_view_total(view, metric, &all));
    LC_TRY(lc_alloc(&length, view->n_paths, sizeof length[0]));
    enum lc_err err = sum_lengths(view, metric, row, length);
    for (uint32_t p = 0; err == LC_OK && p < view->n_paths; p++)
        if (text->sums->apart[p]) {
            apart += length[p];
            length[p] = 0.0;
        }
    if (err == LC_OK && all - apart > 0.0) {
        snprintf(line, sizeof line, "%s%s%s%s", remark, apart > 0.005 * all ? "; apart from " : "",
                 apart > 0.005 * all ? lc_text_seconds(apart, seconds) : "",
                 apart > 0.005 * all ? " of start and end of MPI" : "");
        print_path_heading(text, line);
        err = print_segments(text, metric, length, all - apart, row);
    }
    free(length);
    return err;
}

/* Seconds of the run, or of all that it holds, ranks times run time: not to be compared. */
static void print_indicators(const struct lc_text *text) {
    static const char wall[] = "wall-clock time: by how much the run takes longer";
    static const char allocation[] = "allocation time: of all ranks and threads together";
    static const struct {
        const char *unit, *metric, *name;
    } list[] = {
        {wall, "critical_path_imbalance", "imbalance on the critical path"},
        {allocation, "critical_path_activities", "activities on the critical path"},
        {allocation, "non_critical_path_activities", "activities off the critical path"},
        {allocation, "critical_imbalance_impact", "waiting caused by imbalance"},
        {allocation, "intra_partition_imbalance", "  within the ranks that run the code"},
        {allocation, "inter_partition_imbalance", "  from ranks that never run it"},
    };
    struct lc_view *view = text->view;
    const char *unit = NULL;
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
        double total;
        char seconds[32];
        uint32_t metric = lc_model_find_metric(view->model, list[i].metric);
        if (metric == LC_NONE || lc_view_total(view, metric, &total) != LC_OK)
            continue;
        if (unit == NULL)
            lc_text_heading(text, "Indicators", "what imbalance costs");
        if (unit != list[i].unit)
            fprintf(text->out, "  in %s\n", list[i].unit);
        unit = list[i].unit;
        fprintf(text->out, "    %-38s %9s\n", list[i].name, lc_text_seconds(total, seconds));
    }
}

enum lc_err lc_text_causes(const struct lc_text *text) {
    double *row = NULL, *sums = NULL;
    size_t n = text->view->model->n_locations;
    enum lc_err err = lc_alloc(&row, n, sizeof row[0]);
    if (err == LC_OK)
        err = lc_alloc(&sums, n, sizeof sums[0]);
    if (err == LC_OK)
        err = print_causes(text, row, sums);
    if (err == LC_OK)
        err = lc_text_chains(text);
    if (err == LC_OK)
        err = print_critical_path(text, "critical_path", "the code that determines the run time",
                                  row);
    if (err == LC_OK)
        print_indicators(text);
    free(row);
    free(sums);
    return err;
}

enum lc_err lc_text_useful_path(const struct lc_text *text) {
    double *row;
    LC_TRY(lc_alloc(&row, text->view->model->n_locations, sizeof row[0]));
    enum lc_err err = print_critical_path(
        text, "critical_path_useful",
        "the longest chain of useful work: its code and the ranks it runs on", row);
    free(row);
    return err;
}
