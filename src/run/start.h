/* `latecomer run -n N`: calls the launcher that belongs to the program's MPI, which then calls
 * `latecomer run` on every rank. */
#ifndef LC_RUN_START_H
#define LC_RUN_START_H

#include <stdbool.h>

#include "base/err.h"

/* Replaces this process; returns only on failure. */
enum lc_err lc_start_job(long ranks, char **argv, bool quiet);

#endif
