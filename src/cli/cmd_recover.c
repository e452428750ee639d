/* latecomer recover: makes a result, and the archive of a trace, of what a killed run left. */
#include "base/log.h"
#include "cli/cmd.h"
#include "cli/options.h"
#include "run/control.h"
#include "run/experiment.h"
#include "symbols/debug_server.h"
#include "trace/names.h"

enum { KEY_HANDLES = 256, KEY_CALLPATH, KEY_FILTER };

struct settings {
    const char *dir;
    struct lc_trace_options trace;
};

static const struct argp_option options[] = {
    {"filter", KEY_FILTER, "FILE", 0, "Names to leave out of the trace, as in `latecomer run`", 0},
    {"trace-callpath", KEY_CALLPATH, "HOW", 0, "Callers in the trace: enter, context or none", 0},
    {"trace-handles", KEY_HANDLES, NULL, 0,
     "In the trace: creating and freeing handles as collectives", 0},
    {0}};

static error_t parse(int key, char *arg, struct argp_state *state) {
    struct settings *settings = state->input;
    switch (key) {
    case KEY_FILTER:
        settings->trace.filter = arg;
        return 0;
    case KEY_HANDLES:
        settings->trace.handles = true;
        return 0;
    case KEY_CALLPATH:
        if (!lc_trace_callpath_of(arg, &settings->trace.callpath))
            lc_cli_usage("recover: --trace-callpath: '%s': give enter, context or none", arg);
        return 0;
    case ARGP_KEY_ARG:
        lc_cli_operand(&settings->dir, arg, "recover", "experiment directory");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp argp = {
    options,
    parse,
    "DIR",
    "Finishes the experiment DIR of a run that was killed: merges what its nodes saved into "
    "DIR/profile.cubex, marked incomplete, and finishes its trace in DIR/traces.otf2.",
    NULL,
    NULL,
    NULL};

static void progress(const char *text, double fraction) {
    lc_say("trace: %s (%.0f %%)", text, fraction * 100);
}

static enum lc_err recover_trace(struct settings *settings) {
    struct lc_symbols *symbols = NULL;
    struct lc_trace_recovered result = {0};
    LC_TRY(lc_symbols_new(&symbols));
    struct lc_trace_names names = lc_trace_names_of(symbols);
    settings->trace.names = &names;
    settings->trace.progress = progress;
    enum lc_err err = lc_trace_recover(settings->dir, &settings->trace, &result);
    lc_symbols_free(symbols);
    if (err == LC_OK && result.complete_already)
        lc_say("%s/traces.otf2 is complete", settings->dir);
    else if (err == LC_OK)
        lc_say("recovered: %s/traces.otf2: %llu events of %d of %d ranks", settings->dir,
               (unsigned long long)result.events, result.ranks_found, result.ranks);
    return err;
}

static enum lc_err recover_profile(const char *dir) {
    enum lc_err err = lc_experiment_finish(dir, NULL, false);
    if (err == LC_ERR_NOT_FOUND && lc_experiment_has_result(dir)) {
        lc_say("%s: the profile is complete: nothing to recover", dir);
        err = LC_OK;
    } else if (err == LC_OK) {
        lc_say("recovered: see it with `latecomer show %s`", dir);
    }
    if (err == LC_OK)
        lc_experiment_clean(dir);
    return err;
}

int lc_cmd_recover(int argc, char **argv) {
    struct settings settings = {0};
    int code = lc_cli_parse(&argp, 0, argc, argv, &settings);
    if (code != LC_EXIT_OK)
        return code;
    if (settings.dir == NULL)
        lc_cli_usage("recover: no directory given: give that of a killed experiment");
    lc_debug_server_allow();
    if (lc_control_is_running(settings.dir)) {
        lc_complain("%s: the run is still in progress: use `latecomer dump %s` for a snapshot",
                    settings.dir, settings.dir);
        return LC_EXIT_ERROR;
    }
    enum lc_err trace = recover_trace(&settings);
    if (trace != LC_OK && trace != LC_ERR_NOT_FOUND) {
        lc_complain("%s", lc_err_text());
        return LC_EXIT_ERROR;
    }
    enum lc_err profile = recover_profile(settings.dir);
    if (profile == LC_OK || (profile == LC_ERR_NOT_FOUND && trace == LC_OK))
        return LC_EXIT_OK;
    lc_complain("%s", lc_err_text());
    return LC_EXIT_ERROR;
}
