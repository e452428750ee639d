/* Messages of the commands to people: standard error, prefix "latecomer: ", silenced by -q.
 * Called by commands only; libraries return errors instead (err.h), the measurement library has its
 * own one-liner. */
#ifndef LC_BASE_LOG_H
#define LC_BASE_LOG_H

#include <stdbool.h>

/* -q: from now on lc_say prints nothing; lc_complain still does. */
void lc_log_quiet(bool quiet);
/* Whether lc_log_quiet was asked for (-q). */
bool lc_log_is_quiet(void);

/* Prints one line of information to standard error, unless -q. */
void lc_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints one line that tells an error to standard error, also with -q. */
void lc_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
