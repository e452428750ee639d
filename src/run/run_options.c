#include "run/run_options.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/perf_sampler.h"
#include "base/what_if_spec.h"
#include "format/filter.h"
#include "format/trace_choice.h"

const struct lc_run_option lc_run_options[] = {
    {"output", "DIR", 'o', "Experiment directory (default: latecomer-PROGRAM-RANKSxTHREADS-TIME)",
     NULL, false},
    {"ranks", "N", 'n', "Start N processes with the right launcher", NULL, false},
    {"launcher", "COMMAND", 256, "Launcher to use with -n", NULL, false},
    {"max-overhead", "SHARE", 268,
     "Overhead above which call paths get less detail: 5% (default), or off", NULL, false},
    {"callpath", "HOW", 257, "Call paths: unwind (default), caller or none", "unwind|caller|none",
     false},
    {"sample", "RATE", 276,
     "Samples of the code between calls, per second of each thread's work: 1 to 10000 (default: up "
     "to 500, as many as take 0.8 % of the time), where the kernel allows it, or off; timer or "
     "timer:RATE: by timers and signals, where it does not",
     NULL, false},
    {"counters", "WHICH", 277,
     "Count at each event: instructions and cycles, where the processor lets programs read them, "
     "page faults and context switches: all (the same without =), or software (the last two)",
     "all|software", true},
    {"trace", "WINDOW", 258,
     "Write an OTF2 archive beside the profile: of the whole run (default), of the phase that is "
     "named, or of `iterations A-B` of the loops that are found",
     NULL, true},
    {"trace-callpath", "HOW", 259, "Callers in the trace: enter (default), context or none",
     "enter|context|none", false},
    {"filter", "FILE", 260, "What to leave out of traces: functions, communicators, sizes", NULL,
     false},
    {"buffer", "SIZE", 261, "Memory for the trace of a process, e.g. 64M", NULL, false},
    {"on-full", "WHAT", 262, "When the buffer is full: flush (default) or stop", "flush|stop",
     false},
    {"trace-handles", NULL, 267, "In the trace: creating and freeing handles as collectives", NULL,
     false},
    {"start-stopped", NULL, 263, "Measure nothing until the program turns measurement on", NULL,
     false},
    {"what-if", "SPEC", 264,
     "Predict: NAME=FACTOR[,NAME=FACTOR..]; mpi=0; omp=0; tasks=infinite; repeatable", NULL, false},
    {"transport", "HOW", 265, "How clocks travel between ranks: auto (default), shm or mpi",
     "auto|shm|mpi", false},
    {"dump-every", "SECONDS", 266, "Save what is known so far every SECONDS", NULL, false},
    {"openmp", "HOW", 275,
     "Programs built with GCC: on their own OpenMP runtime (native, the default; auto is the "
     "same), "
     "or on LLVM's (libomp)",
     "auto|libomp|native", false},
    {"quiet", NULL, 0, "No messages (-q of all commands)", NULL, false},
    {NULL, NULL, 0, NULL, NULL, false},
};

/* "LATECOMER_TRACE_CALLPATH" of "trace-callpath"; text of at least 64 bytes. */
static void run_option_variable(const struct lc_run_option *option, char *text) {
    size_t length = (size_t)snprintf(text, 64, "LATECOMER_%s", option->name);
    for (size_t i = 0; i < length; i++)
        text[i] = (char)(text[i] == '-' ? '_' : toupper((unsigned char)text[i]));
}

static bool is_choice(const char *choices, const char *value) {
    size_t length = strlen(value);
    for (const char *at = choices; length != 0; at++) {
        size_t here = strcspn(at, "|");
        if (here == length && strncmp(at, value, here) == 0)
            return true;
        at += here;
        if (*at == '\0')
            break;
    }
    return false;
}

/* "64M": a number and K, M, G or nothing. */
static bool is_size(const char *value) {
    char *end;
    double number = strtod(value, &end);
    return end != value && number > 0 &&
           (*end == '\0' || (strchr("kKmMgG", *end) && end[1] == '\0'));
}

/* Read before the program starts: a filter that cannot be used would be noticed only at the end. */
static enum lc_err check_filter(const char *path) {
    struct lc_filter *filter = NULL;
    char why[512];
    if (lc_filter_load(&filter, path) != LC_OK) {
        snprintf(why, sizeof why, "%s", lc_err_text());
        return lc_fail(LC_ERR_USAGE, "--filter: %s", why);
    }
    lc_filter_free(filter);
    return LC_OK;
}

/* "5%": above 0, at most 100; or off. */
static bool is_budget(const char *value) {
    char *end;
    double number = strtod(value, &end);
    return strcmp(value, "off") == 0 ||
           (end != value && strcmp(end, "%") == 0 && number > 0 && number <= 100);
}

static enum lc_err check_value(const struct lc_run_option *option, const char *value) {
    char *end;
    bool good = true;
    const char *want = option->choices;
    if (option->choices != NULL) {
        good = is_choice(option->choices, value) || (option->optional && strcmp(value, "1") == 0);
    } else if (strcmp(option->name, "ranks") == 0) {
        long number = strtol(value, &end, 10);
        good = end != value && *end == '\0' && number > 0 && number < 10000000;
        want = "a number above 0";
    } else if (strcmp(option->name, "dump-every") == 0) {
        double number = strtod(value, &end);
        good = end != value && *end == '\0' && isfinite(number) && number > 0;
        want = "a number of seconds above 0";
    } else if (strcmp(option->name, "filter") == 0) {
        return check_filter(value);
    } else if (strcmp(option->name, "what-if") == 0) {
        return lc_what_if_check(value);
    } else if (strcmp(option->name, "max-overhead") == 0) {
        good = is_budget(value);
        want = "a share such as 5%, or off";
    } else if (strcmp(option->name, "sample") == 0) {
        struct lc_sample_choice choice;
        good = *value != '\0' && lc_sample_choose(value, &choice);
        want = "samples per second (1 to 10000), timer, timer:RATE, or off";
    } else if (strcmp(option->name, "trace") == 0) {
        struct lc_trace_choice choice;
        good = lc_trace_choose(value, &choice);
        want = "`iterations A-B`, with A from 10 on and B not below it, or the name of a phase";
    } else if (strcmp(option->name, "buffer") == 0) {
        good = is_size(value);
        want = "a size such as 64M";
    }
    if (good)
        return LC_OK;
    return lc_fail(LC_ERR_USAGE, "--%s: '%s' is not allowed: give %s", option->name, value, want);
}

enum lc_err lc_run_option_set(const struct lc_run_option *option, const char *value) {
    char variable[64], joined[4096];
    run_option_variable(option, variable);
    LC_TRY(check_value(option, value));
    static bool what_if_given; /* the first one replaces what the environment said */
    if (strcmp(option->name, "what-if") == 0) {
        const char *before = what_if_given ? getenv(variable) : NULL;
        what_if_given = true;
        if (before != NULL && *before != '\0') {
            if (snprintf(joined, sizeof joined, "%s;%s", before, value) >= (int)sizeof joined)
                return lc_fail(LC_ERR_USAGE, "--what-if: too long: give fewer scenarios");
            value = joined;
            LC_TRY(check_value(option, value));
        }
    }
    return lc_run_option_give(variable, value);
}

enum lc_err lc_run_option_give(const char *variable, const char *value) {
    const char *before = getenv("LATECOMER_GIVEN");
    char given[4096];
    int length = snprintf(given, sizeof given, "%s%s%s", before != NULL ? before : "",
                          before != NULL ? ":" : "", variable);
    if (length >= (int)sizeof given || setenv("LATECOMER_GIVEN", given, 1) != 0 ||
        setenv(variable, value, 1) != 0)
        return lc_fail_errno(LC_ERR_NOMEM, "memory: cannot set %s", variable);
    return LC_OK;
}

enum lc_err lc_run_options_check(void) {
    for (const struct lc_run_option *option = lc_run_options; option->name != NULL; option++) {
        const char *value = lc_run_option_text(option->name);
        if (value != NULL && option->argument != NULL)
            LC_TRY(check_value(option, value));
    }
    return LC_OK;
}

const char *lc_run_option_text(const char *name) {
    char variable[64];
    struct lc_run_option option = {.name = name};
    run_option_variable(&option, variable);
    const char *value = getenv(variable);
    return value == NULL || *value == '\0' ? NULL : value;
}

bool lc_run_option_on(const char *name) {
    const char *value = lc_run_option_text(name);
    return value != NULL && strcmp(value, "0") != 0 && strcmp(value, "off") != 0;
}

double lc_run_option_number(const char *name) {
    const char *value = lc_run_option_text(name);
    return value == NULL ? 0.0 : strtod(value, NULL);
}
