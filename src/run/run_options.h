/* Options of `latecomer run`. Each has an environment twin; the command line is put into the
 * environment first, and the environment is what counts, here and in the measured program. */
#ifndef LC_RUN_RUN_OPTIONS_H
#define LC_RUN_RUN_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct lc_run_option {
    const char *name;     /* "callpath": --callpath and, in capitals with '_', LATECOMER_CALLPATH */
    const char *argument; /* NULL: a switch */
    int key;              /* of argp: a letter, or a number above 255; 0: common to all commands */
    const char *help;
    const char *choices; /* "unwind|caller|none", or NULL */
    bool optional;       /* the argument may be left out: --trace, --trace=solve */
};

extern const struct lc_run_option lc_run_options[]; /* ended by a NULL name */

/* Sets the variable; several what-ifs are joined by ';'. LC_ERR_USAGE for a value that is not
 * allowed. */
enum lc_err lc_run_option_set(const struct lc_run_option *option, const char *value);
/* Sets a variable of the library's that is taken out of the program's environment again when it
 * makes its first MPI call (LATECOMER_GIVEN lists them). Errors: LC_ERR_NOMEM. */
enum lc_err lc_run_option_give(const char *variable, const char *value);
/* Checks all that the environment holds (the user may have set variables himself). Errors:
 * LC_ERR_USAGE: a value that is not allowed; those of reading a filter file: LC_ERR_IO,
 * LC_ERR_FORMAT, LC_ERR_NOMEM. */
enum lc_err lc_run_options_check(void);

const char *lc_run_option_text(const char *name); /* NULL if unset or empty */
/* A switch that is set, and not to 0. */
bool lc_run_option_on(const char *name);
double lc_run_option_number(const char *name); /* 0 if unset */

#endif
