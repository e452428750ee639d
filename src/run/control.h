/* The channel of `latecomer dump`: a socket DIR/.control of the parent of the node's first rank.
 * One line is asked, one answered: "dump" -> "ok" or an error line. Relative paths: socket names
 * are short, directories are not. */
#ifndef LC_RUN_CONTROL_H
#define LC_RUN_CONTROL_H

#include <stdbool.h>

#include "base/err.h"

/* Asks the run that writes `dir` for a snapshot and waits for it. */
enum lc_err lc_control_ask(const char *dir);

/* True if a run on this machine answers for `dir`. */
bool lc_control_is_running(const char *dir);

#endif
