/* The comparison of both delay-cost models for people. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/delay_models_compute.h"
#include "report/text_parts.h"

enum { MOST_LINES = 15 };

/* One unit for a whole table, so that its figures can be compared at a glance. */
struct unit {
    const char *name;
    double per_second;
};

static struct unit unit_for(double largest_s) {
    return largest_s >= 1.0    ? (struct unit){"s", 1.0}
           : largest_s >= 1e-3 ? (struct unit){"ms", 1e3}
                               : (struct unit){"us", 1e6};
}

static void print_total(const struct lc_text *text, const char *name, double a, double b,
                        struct unit unit) {
    double difference = (b - a) * unit.per_second;
    if (fabs(difference) < 0.0005) /* no "-0.000" */
        difference = 0.0;
    if (a != 0.0 || b != 0.0)
        fprintf(text->out, "  %-52s %12.3f %12.3f %+12.3f\n", name, a * unit.per_second,
                b * unit.per_second, difference);
}

/* "Late Sender: delay costs, short-term" below "Late Sender: delay costs": short-term. */
static const char *name_below(const struct lc_cost_node *node, const struct lc_cost_node *above) {
    size_t length = above != NULL ? strlen(above->display) : 0;
    bool repeats = length > 0 && strncmp(node->display, above->display, length) == 0 &&
                   strncmp(node->display + length, ", ", 2) == 0;
    return repeats ? node->display + length + 2 : node->display;
}

/* Costs, and wait states by origin and effect, each kind below its sum. */
static void print_tree(const struct lc_text *text, const struct lc_delay_models *models) {
    const struct unit unit = unit_for(fmax(models->all[0], models->all[1]));
    char note[96], indented[96];
    snprintf(note, sizeof note, "%s; costs: of code, by those who wait; wait states: who waits",
             unit.name);
    lc_text_heading(text, "Metrics", note);
    fprintf(text->out, "  %-52s %12s %12s %12s\n", "", lc_cost_model_names[0],
            lc_cost_model_names[1], "difference");
    for (size_t i = 0; i < models->n_nodes; i++) {
        const struct lc_cost_node *node = &models->tree[i], *above = node;
        while (above > models->tree && above->depth >= node->depth)
            above--;
        snprintf(indented, sizeof indented, "%*s%s", (int)(2 * node->depth), "",
                 name_below(node, above->depth < node->depth ? above : NULL));
        print_total(text, indented, node->total[0], node->total[1], unit);
    }
}

static void print_totals(const struct lc_text *text, const struct lc_delay_models *models) {
    static const char *const names[LC_N_CLASSES] = {
        "costs: direct (short-term)", "costs: indirect (long-term)", "wait states: direct",
        "wait states: indirect",      "wait states: propagating",    "wait states: terminal"};
    const struct unit unit = unit_for(fmax(models->all[0], models->all[1]));
    const double first = models->sums[0][LC_CLASS_SHORT_TERM],
                 other = models->sums[1][LC_CLASS_SHORT_TERM];
    char moved[32];
    lc_text_heading(text, "Totals", unit.name);
    fprintf(text->out, "  %-52s %12s %12s %12s\n", "", lc_cost_model_names[0],
            lc_cost_model_names[1], "difference");
    print_total(text, "delay costs", models->all[0], models->all[1], unit);
    for (int c = 0; c < LC_N_CLASSES; c++)
        print_total(text, names[c], models->sums[0][c], models->sums[1][c], unit);
    fprintf(text->out,
            "  wait-first moves %s (%.1f %% of the short-term costs) to long-term costs\n",
            lc_text_seconds(first - other, moved), lc_text_share(first - other, first));
}

/* The mean of some runs, and how far the least and the most of them are from it. */
struct spread {
    double mean, least, most;
};

static struct spread spread_of(const struct lc_delay_models *models, bool costs) {
    struct spread s = {0.0, INFINITY, 0.0};
    for (size_t v = 0; v < models->n_views; v++) {
        double value = costs ? models->runs[v].costs[0] : models->runs[v].time_s;
        s.mean += value / (double)models->n_views;
        s.least = fmin(s.least, value);
        s.most = fmax(s.most, value);
    }
    return s;
}

static void print_spread(const struct lc_text *text, const char *what, struct spread s) {
    char mean[32], least[32], most[32];
    fprintf(text->out, "  %s: mean %s, least %s (%+.1f %%), most %s (%+.1f %%)\n", what,
            lc_text_seconds(s.mean, mean), lc_text_seconds(s.least, least),
            lc_text_share(s.least - s.mean, s.mean), lc_text_seconds(s.most, most),
            lc_text_share(s.most - s.mean, s.mean));
}

static void print_runs(const struct lc_text *text, const struct lc_delay_models *models) {
    char time[32], costs[32], other[32];
    if (models->n_views < 2)
        return;
    lc_text_heading(text, "Runs",
                    "time of all ranks and threads; delay costs, proportional and wait-first");
    for (size_t v = 0; v < models->n_views; v++)
        fprintf(text->out, "  %10s %10s %10s  %s\n", lc_text_seconds(models->runs[v].time_s, time),
                lc_text_seconds(models->runs[v].costs[0], costs),
                lc_text_seconds(models->runs[v].costs[1], other), models->views[v]->file);
    print_spread(text, "time", spread_of(models, false));
    print_spread(text, "delay costs", spread_of(models, true));
}

/* Paths of the first view as everywhere, those that only others have as they are. */
static enum lc_err path_names(const struct lc_text *text, const struct lc_cost_items *items,
                              size_t n, char ***names) {
    uint32_t ids[MOST_LINES] = {0};
    size_t width = text->width > 100 ? text->width - 66 : 40;
    for (size_t i = 0; i < n; i++)
        ids[i] = items->list[i].id;
    LC_TRY(lc_text_paths(text, ids, n, width, names));
    for (size_t i = 0; i < n; i++)
        if (ids[i] == LC_NONE) {
            free((*names)[i]);
            (*names)[i] = lc_text_outside(items->list[i].path, width);
            if ((*names)[i] == NULL)
                return lc_fail(LC_ERR_NOMEM, "memory: cannot print a call path");
        }
    return LC_OK;
}

static enum lc_err print_items(const struct lc_text *text, const struct lc_delay_models *models,
                               const struct lc_cost_items *items, bool paths) {
    double sum[LC_N_COST_MODELS] = {0}, largest = 0.0;
    size_t shown = items->n < MOST_LINES ? items->n : MOST_LINES;
    for (size_t i = 0; i < items->n; i++)
        for (int m = 0; m < LC_N_COST_MODELS; m++)
            largest = fmax(largest, fmax(items->list[i].of[m][LC_CLASS_SHORT_TERM],
                                         items->list[i].of[m][LC_CLASS_LONG_TERM]));
    const struct unit unit = unit_for(largest);
    char note[96], **names = NULL;
    snprintf(note, sizeof note,
             "%s, short + long term, and cumulated share; ordered by the first model", unit.name);
    lc_text_heading(text, paths ? "Costs per call path" : "Costs per rank", note);
    fprintf(text->out, "  %29s  %29s\n", lc_cost_model_names[0], lc_cost_model_names[1]);
    enum lc_err err = paths ? path_names(text, items, shown, &names) : LC_OK;
    for (size_t i = 0; err == LC_OK && i < shown; i++) {
        const struct lc_cost_item *item = &items->list[i];
        for (int m = 0; m < LC_N_COST_MODELS; m++) {
            sum[m] += lc_cost_of(item, m);
            fprintf(text->out, "  %9.3f + %9.3f %5.1f %%",
                    item->of[m][LC_CLASS_SHORT_TERM] * unit.per_second,
                    item->of[m][LC_CLASS_LONG_TERM] * unit.per_second,
                    lc_text_share(sum[m], models->all[m]));
        }
        if (paths)
            fprintf(text->out, "  %s\n", names[i]);
        else
            fprintf(text->out, "  rank %d\n", item->rank);
    }
    lc_text_paths_free(names, shown);
    if (items->n > shown)
        fprintf(text->out, "  (%zu more)\n", items->n - shown);
    return err;
}

static double waiting_of(const struct lc_cost_item *item) {
    return item->of[0][LC_CLASS_DIRECT] + item->of[0][LC_CLASS_INDIRECT];
}

/* Who waits, in the order of the costs above. */
static void print_waiting(const struct lc_text *text, const struct lc_delay_models *models) {
    double largest = 0.0;
    const struct lc_cost_items *ranks = &models->ranks;
    for (size_t i = 0; i < ranks->n; i++)
        largest = fmax(largest, waiting_of(&ranks->list[i]));
    const struct unit unit = unit_for(largest);
    lc_text_heading(
        text, "Waiting in MPI per rank",
        "of own waiting: what code of others caused, what their waiting did; what others "
        "waited for in turn, what nobody did");
    fprintf(text->out, "  %19s", "");
    for (int m = 0; m < LC_N_COST_MODELS; m++)
        fprintf(text->out, "%*s%s", m == 0 ? 2 : 24, "", lc_cost_model_names[m]);
    fprintf(text->out, "\n  %-8s %7s %-2s", "", "waits", "");
    for (int m = 0; m < LC_N_COST_MODELS; m++)
        fprintf(text->out, "  %7s +%7s  %7s +%7s", "direct", "indir.", "propag.", "term.");
    fputc('\n', text->out);
    for (size_t i = 0; i < ranks->n && i < MOST_LINES; i++) {
        const struct lc_cost_item *rank = &ranks->list[i];
        fprintf(text->out, "  rank %-3d %7.3f %-2s", rank->rank, waiting_of(rank) * unit.per_second,
                unit.name);
        for (int m = 0; m < LC_N_COST_MODELS; m++)
            for (int c = LC_CLASS_DIRECT; c < LC_N_CLASSES; c += 2)
                fprintf(text->out, "  %7.3f +%7.3f", rank->of[m][c] * unit.per_second,
                        rank->of[m][c + 1] * unit.per_second);
        fputc('\n', text->out);
    }
    if (ranks->n > MOST_LINES)
        fprintf(text->out, "  (%zu more)\n", ranks->n - MOST_LINES);
}

/* How many items hold half, 80, 90 and 99 % of all costs in each model. */
static enum lc_err print_pareto(const struct lc_text *text, const struct lc_delay_models *models,
                                const struct lc_cost_items *items, const char *what) {
    static const double levels[] = {0.5, 0.8, 0.9, 0.99};
    fprintf(text->out, "  %-12s", what);
    for (int model = 0; model < LC_N_COST_MODELS; model++) {
        double *shares;
        LC_TRY(lc_cost_pareto(models, items, model, &shares));
        fprintf(text->out, "  %s:", lc_cost_model_names[model]);
        for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++) {
            size_t k = 0;
            while (k < items->n && shares[k] < levels[i] - 1e-12)
                k++;
            fprintf(text->out, " %zu", models->all[model] > 0.0 && k < items->n ? k + 1 : 0);
        }
        free(shares);
    }
    fprintf(text->out, "  of %zu\n", items->n);
    return LC_OK;
}

enum lc_err lc_delay_models_text(const struct lc_delay_models *models, FILE *out) {
    const struct lc_text text = {.out = out, .view = models->views[0], .width = 100};
    fprintf(out, "%s", models->views[0]->file);
    for (size_t v = 1; v < models->n_views; v++)
        fprintf(out, ", %s", models->views[v]->file);
    fputs(": delay costs in two models\n", out);
    print_totals(&text, models);
    print_runs(&text, models);
    print_tree(&text, models);
    LC_TRY(print_items(&text, models, &models->ranks, false));
    print_waiting(&text, models);
    LC_TRY(print_items(&text, models, &models->paths, true));
    lc_text_heading(&text, "Concentration",
                    "how many of the most expensive account for 50, 80, 90, 99 % of all costs");
    LC_TRY(print_pareto(&text, models, &models->ranks, "ranks"));
    return print_pareto(&text, models, &models->paths, "call paths");
}
