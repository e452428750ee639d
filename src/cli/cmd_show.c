/* latecomer show: terminal view or JSON of any result. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "cli/cmd.h"
#include "cli/options.h"
#include "report/delay_costs.h"
#include "report/json.h"
#include "report/locate.h"
#include "report/text.h"
#include "run/experiment.h"

struct settings {
    bool json, analysis, full, wait_first;
    const char *only; /* sections, or NULL */
    enum lc_text_colour colour;
    enum lc_json_by by;
    const char *metrics; /* comma-separated, or NULL */
    const char *operand;
};

enum {
    KEY_JSON = 256,
    KEY_METRIC,
    KEY_BY,
    KEY_ANALYSIS,
    KEY_FULL,
    KEY_ONLY,
    KEY_COLOUR,
    KEY_MODEL
};

static const struct argp_option options[] = {
    {"json", KEY_JSON, NULL, 0, "One JSON object on standard output", 0},
    {"metric", KEY_METRIC, "M,..", 0, "Only these metrics (unique names)", 0},
    {"by", KEY_BY, "callpath|location|both", 0,
     "JSON: values per call path, per location, or both (default)", 0},
    {"full", KEY_FULL, NULL, 0,
     "Everything, names and call paths whole, with parameters and template arguments, frames of "
     "the C library, too",
     0},
    {"only", KEY_ONLY, "SECTION,..", 0,
     "Only these sections, in full: run, findings, late, waits, causes, impact, path, tree, lines, "
     "ranks, efficiency, tasks, beside, estimates, audit, next; or all",
     0},
    {"color", KEY_COLOUR, "auto|always|never", 0,
     "Colour: on a terminal (default; not with NO_COLOR), always or never", 0},
    {"model", KEY_MODEL, "proportional|wait-first", 0,
     "Delay costs of root causes, chains and findings: waiting and code of the cause pay in "
     "proportion (default), or its waiting pays first",
     0},
    {"analysis", KEY_ANALYSIS, NULL, 0, "DIR stands for its analysis.cubex, not its profile.cubex",
     0},
    {0}};

static void check_sections(const char *list) {
    size_t n;
    const char *const *names = lc_text_sections(&n);
    lc_cli_check_words("show: --only", "section", list, names, n);
}

static error_t parse(int key, char *arg, struct argp_state *state) {
    struct settings *settings = state->input;
    switch (key) {
    case KEY_JSON:
        settings->json = true;
        break;
    case KEY_METRIC:
        settings->metrics = arg;
        break;
    case KEY_BY:
        if (strcmp(arg, "callpath") == 0)
            settings->by = LC_JSON_BY_CALLPATH;
        else if (strcmp(arg, "location") == 0)
            settings->by = LC_JSON_BY_LOCATION;
        else if (strcmp(arg, "both") == 0)
            settings->by = LC_JSON_BOTH;
        else
            lc_cli_usage("show: --by %s: unknown: give callpath, location or both", arg);
        break;
    case KEY_ONLY:
        check_sections(arg);
        settings->only = arg;
        break;
    case KEY_COLOUR:
        if (strcmp(arg, "auto") == 0)
            settings->colour = LC_COLOUR_AUTO;
        else if (strcmp(arg, "always") == 0)
            settings->colour = LC_COLOUR_ALWAYS;
        else if (strcmp(arg, "never") == 0)
            settings->colour = LC_COLOUR_NEVER;
        else
            lc_cli_usage("show: --color %s: unknown: give auto, always or never", arg);
        break;
    case KEY_MODEL:
        if (strcmp(arg, "proportional") != 0 && strcmp(arg, "wait-first") != 0)
            lc_cli_usage("show: --model %s: unknown: give proportional or wait-first", arg);
        settings->wait_first = strcmp(arg, "wait-first") == 0;
        break;
    case KEY_FULL:
        settings->full = true;
        break;
    case KEY_ANALYSIS:
        settings->analysis = true;
        break;
    case ARGP_KEY_ARG:
        lc_cli_operand(&settings->operand, arg, "show", "FILE or DIR");
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static const struct argp argp = {
    options,
    parse,
    "[FILE|DIR]",
    "Shows a result: who waits for whom, where the time goes, how efficient the run was. "
    "Without FILE or DIR: the newest experiment directory here. Reads files of Score-P and "
    "Scalasca, too.",
    NULL,
    NULL,
    NULL};

static void complain_metric(const struct lc_view *view, const char *word) {
    const struct lc_model *model = view->model;
    const char **names = calloc(model->n_metrics + 1, sizeof names[0]);
    for (size_t m = 0; names != NULL && m < model->n_metrics; m++)
        names[m] = model->metrics[m].name;
    const char *better = names != NULL ? lc_cli_suggest(word, names, model->n_metrics) : NULL;
    if (better != NULL)
        lc_complain("show: metric %s: not in %s: did you mean %s?", word, view->file, better);
    else
        lc_complain("show: metric %s: not in %s: `latecomer show --json` lists those it has", word,
                    view->file);
    free(names);
}

/* Marks the metrics of a comma-separated list; false after a complaint. */
static bool choose_metrics(const struct lc_view *view, const char *list, bool *chosen) {
    char *copy = strdup(list), *rest = copy;
    bool ok = copy != NULL;
    for (char *word; ok && (word = strsep(&rest, ",")) != NULL;) {
        if (*word == '\0')
            continue;
        uint32_t id = lc_model_find_metric(view->model, word);
        ok = id != LC_NONE && view->model->metrics[id].kind != LC_METRIC_DERIVED;
        if (ok)
            chosen[id] = true;
        else
            complain_metric(view, word);
    }
    free(copy);
    return ok;
}

static int show(const struct settings *settings, struct lc_view *view) {
    bool *chosen = NULL;
    int code = LC_EXIT_OK;
    if (settings->metrics != NULL) {
        if (lc_alloc(&chosen, view->model->n_metrics, sizeof chosen[0]) != LC_OK ||
            !choose_metrics(view, settings->metrics, chosen))
            code = LC_EXIT_USAGE;
    }
    if (code == LC_EXIT_OK) {
        const struct lc_json_options json = {.by = settings->by, .metrics = chosen};
        const struct lc_text_options text = {.metrics = chosen,
                                             .only = settings->only,
                                             .full = settings->full,
                                             .colour = settings->colour};
        enum lc_err err = LC_OK;
        if (!settings->json && !settings->full)
            err = lc_view_fold(view, true);
        if (err == LC_OK)
            err = settings->json ? lc_json_write(view, &json, stdout)
                                 : lc_text_write(view, &text, stdout);
        if (err != LC_OK) {
            lc_complain("%s", lc_err_text());
            code = LC_EXIT_ERROR;
        }
    }
    free(chosen);
    return code;
}

/* What the nodes of a run have saved since its result was made (dumps, a lost node) is joined. */
static void bring_up_to_date(const char *operand) {
    if (operand == NULL || !lc_experiment_is_stale(operand))
        return;
    if (lc_experiment_finish(operand, NULL, true) != LC_OK && lc_experiment_has_result(operand))
        lc_say("%s: nodes have saved newer data than this result: %s", operand, lc_err_text());
}

int lc_cmd_show(int argc, char **argv) {
    struct settings settings = {0};
    int code = lc_cli_parse(&argp, 0, argc, argv, &settings);
    if (code != LC_EXIT_OK)
        return code;
    struct lc_view *view;
    bring_up_to_date(settings.operand);
    if (lc_locate_view(settings.operand, settings.analysis, &view) != LC_OK) {
        lc_complain("%s", lc_err_text());
        return LC_EXIT_ERROR;
    }
    if (lc_cubex_derived(view->cube) > 0)
        lc_say("%s: %zu metrics defined by expressions were skipped", view->file,
               lc_cubex_derived(view->cube));
    view->wait_first = settings.wait_first;
    if (lc_check_delay_model(view) == LC_OK) {
        code = show(&settings, view);
    } else {
        lc_complain("%s", lc_err_text());
        code = LC_EXIT_ERROR;
    }
    lc_view_close(view);
    return code;
}
