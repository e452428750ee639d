/* The channels of `latecomer dump`.
 *
 * On the node of rank 0: a socket DIR/.control of that rank's parent. One line is asked, one
 * answered: "dump" -> "ok" or an error line. Relative paths: socket names are short, directories
 * are not.
 * On all nodes: a file DIR/.dump, which holds the number of the last request. The parent of the
 * lowest rank of each node looks at it once a second (with more than 100 nodes less often: 100
 * times a second all of them together), and writes its node's part when the number is new. */
#ifndef LC_RUN_CONTROL_H
#define LC_RUN_CONTROL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct lc_snapshot {
    size_t nodes, answered; /* of the run; those whose part is new */
    int seconds;            /* that the others were waited for */
};

/* Asks the run that writes `dir` for a snapshot of all its nodes, from any machine that sees the
 * directory, waits for it and joins it. LC_OK also if not all nodes answered. LC_ERR_NOT_FOUND: no
 * run is writing there, LC_ERR_IO: none answered, or its error. */
enum lc_err lc_control_ask(const char *dir, struct lc_snapshot *snapshot);

/* True if a run on this machine answers for `dir`. */
bool lc_control_is_running(const char *dir);

#endif
