/* latecomer compare --delay-models: one analysis, both delay-cost models. */
#include <stdio.h>

#include "base/log.h"
#include "cli/cmd.h"
#include "cli/options.h"
#include "report/delay_models.h"
#include "report/locate.h"

enum { KEY_JSON = 256, KEY_MODELS };

struct settings {
    bool json, models;
    const char *operand;
};

static const struct argp_option options[] = {
    {"delay-models", KEY_MODELS, NULL, 0,
     "Compare the models proportional and wait-first of one analysis", 0},
    {"json", KEY_JSON, NULL, 0, "One JSON object on standard output", 0},
    {0}};

static error_t parse(int key, char *arg, struct argp_state *state) {
    struct settings *settings = state->input;
    if (key == KEY_JSON)
        settings->json = true;
    else if (key == KEY_MODELS)
        settings->models = true;
    else if (key == ARGP_KEY_ARG)
        lc_cli_operand(&settings->operand, arg, "compare", "FILE or DIR");
    else if (key == ARGP_KEY_END && !settings->models)
        lc_cli_usage("compare: two results cannot be compared yet: give --delay-models FILE");
    else
        return ARGP_ERR_UNKNOWN;
    return 0;
}

static const struct argp argp = {
    options,
    parse,
    "--delay-models [FILE|DIR]",
    "Compares the two delay-cost models of one analysis: totals, costs "
    "per rank and call path, how concentrated they are, and what moves "
    "from short-term to long-term costs.",
    NULL,
    NULL,
    NULL};

int lc_cmd_compare(int argc, char **argv) {
    struct settings settings = {0};
    int code = lc_cli_parse(&argp, 0, argc, argv, &settings);
    if (code != LC_EXIT_OK)
        return code;
    struct lc_view *view;
    enum lc_err err = lc_locate_view(settings.operand, true, &view);
    if (err == LC_OK)
        err = lc_delay_models_write(view, settings.json, stdout);
    if (err != LC_OK)
        lc_complain("%s", lc_err_text());
    lc_view_close(view);
    return err == LC_OK ? LC_EXIT_OK : LC_EXIT_ERROR;
}
