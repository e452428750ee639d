/* Messages of the commands to people: standard error, prefix "latecomer: ", silenced by -q.
 * Called by commands only; libraries return errors instead (err.h), the measurement library has its
 * own one-liner. */
#ifndef LC_BASE_LOG_H
#define LC_BASE_LOG_H

#include <stdbool.h>

/* -q: from now on lc_say prints nothing; lc_complain still does. */
void lc_log_quiet(bool quiet);
bool lc_log_is_quiet(void);

/* One line of information. */
void lc_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* One line that tells an error. */
void lc_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
