/* latecomer dump: the result so far of a running program. */
#include "base/log.h"
#include "cli/cmd.h"
#include "cli/options.h"
#include "run/control.h"

static error_t parse(int key, char *arg, struct argp_state *state) {
    if (key != ARGP_KEY_ARG)
        return ARGP_ERR_UNKNOWN;
    lc_cli_operand(state->input, arg, "dump", "experiment directory");
    return 0;
}

static const struct argp argp = {
    NULL,
    parse,
    "DIR",
    "Asks the run that writes DIR for a snapshot: DIR/profile.cubex then holds what is known so "
    "far about all its nodes, marked incomplete. The program continues.",
    NULL,
    NULL,
    NULL};

int lc_cmd_dump(int argc, char **argv) {
    const char *dir = NULL;
    int code = lc_cli_parse(&argp, 0, argc, argv, &dir);
    if (code != LC_EXIT_OK)
        return code;
    if (dir == NULL)
        lc_cli_usage("dump: no directory given: give that of a running experiment");
    struct lc_snapshot snapshot;
    if (lc_control_ask(dir, &snapshot) != LC_OK) {
        lc_complain("%s", lc_err_text());
        return LC_EXIT_ERROR;
    }
    if (snapshot.answered < snapshot.nodes)
        lc_say("%zu of %zu nodes did not answer within %d s: their ranks are shown as last saved, "
               "or as unknown",
               snapshot.nodes - snapshot.answered, snapshot.nodes, snapshot.seconds);
    lc_say("snapshot in %s: see it with `latecomer show %s`", dir, dir);
    return LC_EXIT_OK;
}
