/* Which collectives a measured program uses: by call path, size and communicator, from the size
 * classes of its profile. What `latecomer bench --of` measures alone. */
#ifndef LC_REPORT_COLLECTIVE_USE_H
#define LC_REPORT_COLLECTIVE_USE_H

#include <stdbool.h>
#include <stdint.h>

#include "report/view.h"

struct lc_collective_use {
    char *path;
    const char *operation; /* static */
    uint64_t bytes;        /* of each rank to each partner, as `latecomer bench --bytes` has it */
    bool in_place;         /* with MPI_IN_PLACE, as far as the sizes tell */
    uint32_t members;      /* of the communicator; of those from 65,535 on: so many */
    uint32_t ranks;        /* that called it here; several communicators where it is more */
    uint32_t *rank;        /* [ranks], ascending */
    double seconds, calls; /* over all ranks */
    double waiting;        /* seconds: the call path's, in proportion to the time */
};

/* Blocking collectives, those that took the most time first. Sizes are means of all calls of a size
 * class (of a factor of two), and exact where these are of one size; MPI_IN_PLACE is recognised
 * where the mean would not be in its class without. Of operations whose blocks may differ there is
 * one mean of all calls of a call path. Without size classes (files of other tools):
 * means over all calls of a call path, on communicators of all ranks. lc_collective_uses_free(),
 * also after a failure. LC_ERR_NOMEM, and the errors of reading rows. */
enum lc_err lc_collective_uses(struct lc_view *view, struct lc_collective_use **uses, size_t *n);
/* Frees the list with what it holds. */
void lc_collective_uses_free(struct lc_collective_use *uses, size_t n);

#endif
