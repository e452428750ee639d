/* The experiment directory: one for all processes of a job, agreed on before the programs start. A
 * process finds the choice of the others through a link `.latecomer-<job>` beside the directory;
 * rank 0 is given a moment to be first, else whoever comes first chooses. The link goes when
 * MPI_Init has ended on rank 0, or at the end. */
#ifndef LC_RUN_RUNDIR_H
#define LC_RUN_RUNDIR_H

#include <stdbool.h>

#include "base/err.h"
#include "job/launcher.h"

/* What the parent of the lowest rank of a node saves. */
#define LC_PARTIAL_FORMAT ".partial.%d.raw"
#define LC_RUNDIR_CLAIM   ".job" /* in the directory, until the result is there */

struct lc_rundir {
    char *path;          /* absolute */
    char *link;          /* absolute; NULL without a launcher */
    char *wanted;        /* the directory asked for held a result already: its name, else NULL */
    bool wanted_is_file; /* it is no directory at all */
    bool founder;        /* this process made it */
    bool is_late;        /* others of this job had ended before this process began */
};

/* `wanted`: -o or NULL for latecomer-<program>-<ranks>x<threads>-<time stamp> in the working
 * directory. Errors: LC_ERR_NOMEM, LC_ERR_EXISTS, LC_ERR_IO, LC_ERR_RANGE, LC_ERR_USAGE. */
enum lc_err lc_rundir_agree(struct lc_rundir *dir, const struct lc_launch *launch,
                            const char *wanted, const char *program, int threads);
void lc_rundir_unlink(struct lc_rundir *dir); /* the others do not need the link any more */
/* Frees the names, not the struct; the directory stays. */
void lc_rundir_free(struct lc_rundir *dir);

#endif
