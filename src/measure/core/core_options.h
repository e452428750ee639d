/* What `latecomer run` asks of the core, in variables LATECOMER_* of the environment as it was at
 * the start; and the one line that the core may write to standard error. */
#ifndef LC_MEASURE_CORE_CORE_OPTIONS_H
#define LC_MEASURE_CORE_CORE_OPTIONS_H

/* Copies the variables LATECOMER_* of the environment; once, when the core starts. Without memory
 * for one it is as if it were not set. */
void lc_options_keep(void);

/* The value of a variable LATECOMER_NAME as it was at the start, or NULL; kept for ever. */
const char *lc_option(const char *name);

/* One line to standard error, once per process; not with LATECOMER_QUIET. Keeps errno. */
void lc_say_once(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
