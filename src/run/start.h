/* `latecomer run -n N`: calls the launcher that belongs to the program's MPI, which then calls
 * `latecomer run` on every rank. */
#ifndef LC_RUN_START_H
#define LC_RUN_START_H

#include <stdbool.h>

#include "base/err.h"

/* Replaces this process; returns only on failure: LC_ERR_NOT_FOUND, LC_ERR_IO: no such program, or
 * no launcher; LC_ERR_SYSTEM: it cannot be run; LC_ERR_NOMEM. */
enum lc_err lc_start_job(long ranks, char **argv, bool quiet);

#endif
