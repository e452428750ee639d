/* latecomer recover DIR: makes an archive of what a killed run left behind. */
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/log.h"
#include "cli/cmd.h"
#include "trace/convert.h"
#include "trace/names.h"

enum { KEY_HANDLES = 256, KEY_CALLPATH, KEY_FILTER };

struct arguments {
    const char *dir;
    struct lc_trace_options options;
};

static const struct argp_option options[] = {
    {"filter", KEY_FILTER, "FILE", 0, "leave out functions, messages, communicators", 0},
    {"trace-callpath", KEY_CALLPATH, "MODE", 0, "enter (default), context or none", 0},
    {"trace-handles", KEY_HANDLES, NULL, 0, "write operations that make and free handles", 0},
    {"quiet", 'q', NULL, 0, "no messages", 0},
    {0}};

static error_t parse(int key, char *arg, struct argp_state *state) {
    struct arguments *a = state->input;
    switch (key) {
    case KEY_FILTER:
        a->options.filter = arg;
        return 0;
    case KEY_HANDLES:
        a->options.handles = true;
        return 0;
    case KEY_CALLPATH:
        if (!lc_trace_callpath_of(arg, &a->options.callpath))
            argp_error(state, "unknown mode '%s': known are enter, context, none", arg);
        return 0;
    case 'q':
        lc_log_quiet(true);
        return 0;
    case ARGP_KEY_ARG:
        if (a->dir)
            argp_error(state, "one directory at a time");
        a->dir = arg;
        return 0;
    case ARGP_KEY_END:
        if (!a->dir)
            argp_error(state, "which directory?");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static void progress(const char *text, double fraction) {
    lc_say("%s: %.0f %%", text, fraction * 100);
}

int lc_cmd_recover(int argc, char **argv) {
    static const struct argp argp = {
        options,
        parse,
        "DIR",
        "Finish the trace of a run that was killed: makes traces.otf2 of what its processes had "
        "written or left in memory.",
        NULL,
        NULL,
        NULL};
    struct arguments a = {.options = {.progress = progress}};
    struct lc_symbols *symbols = NULL;
    struct lc_trace_recovered result;
    argp_err_exit_status = LC_EXIT_USAGE;
    if (argp_parse(&argp, argc, argv, 0, NULL, &a) != 0)
        return LC_EXIT_USAGE;
    enum lc_err err = lc_symbols_new(&symbols);
    if (err == LC_OK) {
        struct lc_trace_names names = lc_trace_names_of(symbols);
        a.options.names = &names;
        err = lc_trace_recover(a.dir, &a.options, &result);
    }
    lc_symbols_free(symbols);
    if (err != LC_OK) {
        lc_complain("%s", lc_err_text());
        return LC_EXIT_ERROR;
    }
    if (result.complete_already)
        lc_say("%s/traces.otf2 is complete already", a.dir);
    else
        lc_say("%s/traces.otf2: %llu events of %d of %d ranks", a.dir,
               (unsigned long long)result.events, result.ranks_found, result.ranks);
    return LC_EXIT_OK;
}
