/* latecomer scaling: the POP factors of several runs side by side. */
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "cli/cmd.h"
#include "cli/options.h"
#include "report/locate.h"
#include "report/scaling.h"

enum { KEY_JSON = 256, KEY_WEAK };

struct settings {
    bool json, weak;
    struct lc_operands operands;
};

static const struct argp_option options[] = {
    {"json", KEY_JSON, NULL, 0, "One JSON object on standard output", 0},
    {"weak", KEY_WEAK, NULL, 0, "Weak scaling: the work grows with the ranks", 0},
    {0}};

static error_t parse(int key, char *arg, struct argp_state *state) {
    struct settings *settings = state->input;
    if (key == KEY_JSON)
        settings->json = true;
    else if (key == KEY_WEAK)
        settings->weak = true;
    else if (key == ARGP_KEY_ARG)
        return lc_cli_operand_add(&settings->operands, arg);
    else if (key == ARGP_KEY_NO_ARGS)
        lc_cli_usage("scaling: no results given: give two or more experiment directories");
    else
        return ARGP_ERR_UNKNOWN;
    return 0;
}

static const struct argp argp = {
    options,
    parse,
    "DIR..",
    "Prints the POP efficiency factors of several runs side by side, one column per run, the "
    "smallest first, and the computational scalability relative to that one; of runs that were "
    "analysed what imbalance costs; which call paths lost most; and what other sizes of the "
    "partitions of an MPMD program would take.",
    NULL,
    NULL,
    NULL};

static enum lc_err scale(const struct settings *settings) {
    struct lc_scaling *scaling;
    LC_TRY(lc_scaling_new(&scaling));
    enum lc_err err = LC_OK;
    for (size_t i = 0; err == LC_OK && i < settings->operands.n; i++) {
        char *file;
        err = lc_locate(settings->operands.items[i], false, &file);
        if (err == LC_OK)
            err = lc_scaling_add(scaling, file);
        free(file);
    }
    if (err == LC_OK)
        err = lc_scaling_write(scaling, settings->weak, settings->json, stdout);
    lc_scaling_free(scaling);
    return err;
}

int lc_cmd_scaling(int argc, char **argv) {
    struct settings settings = {0};
    int code = lc_cli_parse(&argp, 0, argc, argv, &settings);
    if (code == LC_EXIT_OK && scale(&settings) != LC_OK) {
        lc_complain("%s", lc_err_text());
        code = LC_EXIT_ERROR;
    }
    free(settings.operands.items);
    return code;
}
