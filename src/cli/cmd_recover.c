/* latecomer recover: makes a result of what a killed run left. */
#include "base/log.h"
#include "cli/cmd.h"
#include "cli/options.h"
#include "run/control.h"
#include "run/experiment.h"

static error_t parse(int key, char *arg, struct argp_state *state) {
    const char **dir = state->input;
    if (key != ARGP_KEY_ARG)
        return ARGP_ERR_UNKNOWN;
    if (*dir != NULL)
        lc_cli_usage("recover: %s: more than one operand: give one experiment directory", arg);
    *dir = arg;
    return 0;
}

static const struct argp argp = {
    NULL,
    parse,
    "DIR",
    "Finishes the experiment DIR of a run that was killed: joins what its nodes saved into "
    "DIR/profile.cubex, marked incomplete.",
    NULL,
    NULL,
    NULL};

int lc_cmd_recover(int argc, char **argv) {
    const char *dir = NULL;
    int code = lc_cli_parse(&argp, 0, argc, argv, &dir);
    if (code != LC_EXIT_OK)
        return code;
    if (dir == NULL)
        lc_cli_usage("recover: no directory given: name that of a killed experiment");
    if (lc_control_is_running(dir)) {
        lc_complain("%s: the run that writes it is alive: use `latecomer dump %s`", dir, dir);
        return LC_EXIT_ERROR;
    }
    enum lc_err err = lc_experiment_finish(dir, NULL, false);
    if (err == LC_ERR_NOT_FOUND && lc_experiment_has_result(dir)) {
        lc_experiment_clean(dir);
        lc_say("%s: nothing to recover: the result is complete", dir);
        return LC_EXIT_OK;
    }
    if (err != LC_OK) {
        lc_complain("%s", lc_err_text());
        return LC_EXIT_ERROR;
    }
    lc_experiment_clean(dir);
    lc_say("recovered: see it with `latecomer show %s`", dir);
    return LC_EXIT_OK;
}
