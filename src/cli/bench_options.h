/* The options of `latecomer bench`, all of its words together. */
#ifndef LC_CLI_BENCH_OPTIONS_H
#define LC_CLI_BENCH_OPTIONS_H

#include <argp.h>

#include "cli/bench_start.h"
#include "cli/bench_sweep.h"
#include "cli/options.h"

enum { LC_BENCH_NARROW = 5 }; /* options that only some words have */

struct lc_bench_settings {
    bool json, gate;
    const char *output, *operation, *bytes, *of;
    size_t n_after; /* lc_cli_after_dashes */
    struct lc_sweep_options sweep;
    struct lc_bench_options options;
    struct lc_operands operands;
    bool given[LC_BENCH_NARROW];
};

/* For lc_cli_parse(), with a struct lc_bench_settings. */
extern const struct argp lc_bench_argp;

/* Ends the program where an option was given that `word` does not have; "": an operation. */
void lc_bench_check_options(const struct lc_bench_settings *settings, const char *word);

#endif
