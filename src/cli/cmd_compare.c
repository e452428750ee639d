/* latecomer compare: two results or two sets of them; or both delay-cost models of one analysis. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "cli/cmd.h"
#include "cli/options.h"
#include "report/compare.h"
#include "report/delay_models.h"
#include "report/locate.h"

enum { KEY_JSON = 256, KEY_MODELS, KEY_GATE, KEY_MARKDOWN, KEY_THRESHOLD };

struct settings {
    bool json, models, gate, markdown;
    double threshold; /* 0.05: 5 % */
    size_t n_after;   /* lc_cli_after_dashes */
    struct lc_operands operands;
};

static const struct argp_option options[] = {
    {"gate", KEY_GATE, NULL, 0,
     "Exit with status 3 if B is slower by more than chance; needs three runs or more on each side",
     0},
    {"threshold", KEY_THRESHOLD, "PERCENT", 0, "Differences below it count as none (default 5)", 0},
    {"json", KEY_JSON, NULL, 0, "One JSON object on standard output", 0},
    {"markdown", KEY_MARKDOWN, NULL, 0, "Tables for a merge request or job summary", 0},
    {"delay-models", KEY_MODELS, NULL, 0,
     "Compare the models proportional and wait-first, of one analysis or the mean of several", 0},
    {0}};

static double parse_threshold(const char *text) {
    char *end;
    double percent = strtod(text, &end);
    end += *end == '%';
    if (end == text || *end != '\0' || !(percent >= 0.0 && percent <= 1000.0))
        lc_cli_usage("compare: --threshold %s: give a number of percent, 0 to 1000", text);
    return percent / 100.0;
}

/* Two results, or two sets with "--" between them. */
static void check_operands(const struct settings *settings) {
    size_t n = settings->operands.n, after = settings->n_after;
    if (settings->models && after != SIZE_MAX)
        lc_cli_usage("compare: --delay-models: two sets given: give analyses of one");
    if (settings->models)
        return;
    if (after == SIZE_MAX && n != 2)
        lc_cli_usage("compare: %zu results given: give two, or two sets: A1 A2 -- B1 B2", n);
    if (after != SIZE_MAX && (after == 0 || after >= n))
        lc_cli_usage("compare: one set is empty: give results before and after --");
    if (settings->json && settings->markdown)
        lc_cli_usage("compare: give --json or --markdown, not both");
}

static error_t parse(int key, char *arg, struct argp_state *state) {
    struct settings *settings = state->input;
    if (key == KEY_JSON)
        settings->json = true;
    else if (key == KEY_MODELS)
        settings->models = true;
    else if (key == KEY_GATE)
        settings->gate = true;
    else if (key == KEY_MARKDOWN)
        settings->markdown = true;
    else if (key == KEY_THRESHOLD)
        settings->threshold = parse_threshold(arg);
    else if (key == ARGP_KEY_ARG)
        return lc_cli_operand_add(&settings->operands, arg);
    else if (key == ARGP_KEY_END)
        check_operands(settings);
    else
        return ARGP_ERR_UNKNOWN;
    return 0;
}

static const struct argp argp = {
    options,
    parse,
    "A B\nA.. -- B..\n--delay-models [FILE|DIR..]",
    "Compares two results, or two sets of runs: whether B takes longer than A by more than chance, "
    "what changed (work, balance, serialisation, MPI), and in which call paths. Chance is "
    "estimated from three runs or more on each side; fewer can at most differ, and it says how "
    "many runs would tell. With --delay-models: both delay-cost models of one analysis, or their "
    "means over several.",
    NULL,
    NULL,
    NULL};

static enum lc_err add_runs(const struct settings *settings, struct lc_comparison *comparison) {
    size_t after = settings->n_after == SIZE_MAX ? 1 : settings->n_after;
    for (size_t i = 0; i < settings->operands.n; i++) {
        char *file;
        LC_TRY(lc_locate(settings->operands.items[i], false, &file));
        enum lc_err err = lc_comparison_add(comparison, i + after >= settings->operands.n, file);
        free(file);
        LC_TRY(err);
    }
    return LC_OK;
}

static enum lc_err compare(const struct settings *settings, int *code) {
    struct lc_comparison *comparison;
    LC_TRY(lc_comparison_new(&comparison));
    enum lc_err err = add_runs(settings, comparison);
    if (err == LC_OK)
        err = lc_comparison_make(comparison, settings->threshold);
    if (err == LC_OK)
        err = lc_comparison_write(comparison,
                                  settings->json       ? LC_COMPARE_JSON
                                  : settings->markdown ? LC_COMPARE_MARKDOWN
                                                       : LC_COMPARE_TEXT,
                                  stdout);
    if (err == LC_OK && settings->gate && !lc_comparison_is_possible(comparison))
        err = lc_fail(LC_ERR_UNSUPPORTED, "compare: --gate: these results cannot be compared: give "
                                          "runs of the same program on as many ranks");
    if (err == LC_OK && settings->gate && lc_comparison_is_slower(comparison))
        *code = LC_EXIT_SLOWER;
    else if (err == LC_OK && settings->gate && lc_comparison_runs_needed(comparison) > 0)
        lc_say("compare: --gate: not decided: give %zu runs on each side",
               lc_comparison_runs_needed(comparison));
    lc_comparison_free(comparison);
    return err;
}

static enum lc_err compare_models(const struct settings *settings) {
    size_t n = settings->operands.n > 0 ? settings->operands.n : 1, opened = 0;
    struct lc_view **views;
    LC_TRY(lc_alloc(&views, n, sizeof views[0]));
    enum lc_err err = LC_OK;
    for (; err == LC_OK && opened < n; opened += err == LC_OK)
        err = lc_locate_view(settings->operands.n > 0 ? settings->operands.items[opened] : NULL,
                             true, &views[opened]);
    if (err == LC_OK)
        err = lc_delay_models_write(views, n, settings->json, stdout);
    for (size_t v = 0; v < opened; v++)
        lc_view_close(views[v]);
    free(views);
    return err;
}

int lc_cmd_compare(int argc, char **argv) {
    struct settings settings = {.n_after = lc_cli_after_dashes(argc, argv), .threshold = 0.05};
    int code = lc_cli_parse(&argp, 0, argc, argv, &settings);
    if (code == LC_EXIT_OK) {
        enum lc_err err = settings.models ? compare_models(&settings) : compare(&settings, &code);
        if (err != LC_OK) {
            lc_complain("%s", lc_err_text());
            code = LC_EXIT_ERROR;
        }
    }
    free(settings.operands.items);
    return code;
}
