/* Which operations of MPI a measured program uses: by call path, size and communicators, from the
 * size classes of its profile. What `latecomer bench --of` measures alone. */
#ifndef LC_REPORT_OPERATION_USE_H
#define LC_REPORT_OPERATION_USE_H

#include <stdbool.h>
#include <stdint.h>

#include "report/view.h"

struct lc_operation_use {
    char *path;
    const char *operation; /* static */
    /* What the operation has when it is measured alone, and the call has not: "MPI_Wait" of
     * MPI_Iallreduce; NULL: the call is all of it, and what it takes longer is arrival. Static. */
    const char *with;
    bool sized;            /* has a size: not MPI_Barrier */
    bool pair;             /* between two ranks */
    uint64_t bytes;        /* of each rank to each partner, as `latecomer bench --bytes` has it */
    bool in_place;         /* with MPI_IN_PLACE, as far as the sizes tell */
    uint32_t members;      /* of the communicator (of those from 65,535 on: so many); ranks that
                            take part */
    uint32_t ranks;        /* that called it here; several communicators where it is more */
    uint32_t *rank;        /* [ranks], ascending */
    bool groups_known;     /* the result says who is in which communicator; else it is a guess */
    uint32_t n_groups;     /* communicators that work at the same time, no rank in two */
    uint32_t group_size;   /* as `members`, but where not all of them called it */
    uint32_t *group;       /* [n_groups][group_size] ranks */
    double seconds, calls; /* over all ranks */
    double waiting;        /* seconds: the call path's, in proportion to the time */
};

/* Collectives (nonblocking ones, too), point-to-point and one-sided operations that `latecomer
 * bench` can measure, those that took the most time first. Sizes are means of all calls of a size
 * class (of a factor of two), and exact where these are of one size; MPI_IN_PLACE is recognised
 * where the mean would not be in its class without. Of operations whose blocks may differ there is
 * one mean of all calls of a call path. Communicators that share ranks are uses of their own. A
 * message is one between the two ranks that exchange the most. Without size classes (files of other
 * tools): means over all calls of a call path, on communicators of all ranks.
 * lc_operation_uses_free(), also after a failure. LC_ERR_NOMEM, and the errors of reading rows. */
enum lc_err lc_operation_uses(struct lc_view *view, struct lc_operation_use **uses, size_t *n);
/* Frees the list with what it holds. */
void lc_operation_uses_free(struct lc_operation_use *uses, size_t n);

#endif
