/* The files of an experiment directory, and how they become a result.
 *
 *   .run.json          what rank 0's parent knew at the start: command, environment, versions
 *   .profile.raw       all ranks, from MPI_Finalize (the library writes it)
 *   .dump              the number of the last request for a snapshot (control.h)
 *   .partial.<r>.raw   the ranks of one node, saved from shared memory after an unhappy end or for
 *                      a snapshot; r: lowest rank
 *   profile.cubex, meta.json   the result; the rest goes when it is complete
 *   .finished          it is complete, and somebody removes the rest, or died while doing so
 *   .ranks, .profile.raw.*     the library's own
 *
 * Called by the parents and by `latecomer recover`. */
#ifndef LC_RUN_EXPERIMENT_H
#define LC_RUN_EXPERIMENT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "base/err.h"
#include "format/raw.h"

#define LC_DUMP_REQUEST ".dump"
/* When the node's first program ended, in seconds of the calendar; in the meta of parts only. */
#define LC_META_FIRST_END     "first_end_s"
#define LC_ENDING_OF_SNAPSHOT "running" /* "ending" in the meta of a part: the node has not ended */

/* Makes profile.cubex and meta.json of what is there. `meta` (may be NULL; not taken) overrides
 * what the files say. LC_ERR_NOT_FOUND: there is nothing. `keep`: the run goes on, nothing is
 * removed. A result that is complete stays as it is. */
enum lc_err lc_experiment_finish(const char *dir, json_t *meta, bool keep);

/* Makes the result for a caller that has just saved a part of it: as lc_experiment_finish, but
 * where another node's parent took that part into a result that is whole, and removed it, that is
 * the result. Errors: those of lc_experiment_finish. */
enum lc_err lc_experiment_finish_partial(const char *dir, bool keep);

/* Nodes have saved more than the result holds (or there is none yet): lc_experiment_finish would
 * bring it up to date. */
bool lc_experiment_is_stale(const char *dir);

/* Saves a profile of some ranks, under the name of the lowest. LC_ERR_IO, LC_ERR_NOMEM. */
enum lc_err lc_experiment_write_partial(const char *dir, int32_t lowest_rank,
                                        const struct lc_raw *raw);
/* Writes an object to a file of the directory. LC_ERR_IO, LC_ERR_NOMEM. */
enum lc_err lc_experiment_write_json(const char *dir, const char *name, const json_t *object);
/* MPI_Finalize has written the profile of all ranks. */
bool lc_experiment_has_profile(const char *dir);
/* A profile is there, and may be read. */
bool lc_experiment_has_result(const char *dir);
/* Its parts of nodes (.partial.<r>.raw), one call each. */
void lc_experiment_parts(const char *dir, void (*part)(void *context, const struct stat *file),
                         void *context);
/* Removes our temporary files; the directory too if nothing else is in it. */
void lc_experiment_clean(const char *dir);
/* A run writes there, or died without a word (.run.json is there); *began: when it began, may be
 * NULL. */
bool lc_experiment_is_open(const char *dir, struct timespec *began);
/* On how many nodes its ranks are; 0: not known. */
size_t lc_experiment_nodes(const char *dir);

#endif
