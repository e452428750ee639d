/* The system tree of a raw profile: machine, nodes, processes, threads; and where each raw location
 * ends up. */
#ifndef LC_RUN_SYSTEM_H
#define LC_RUN_SYSTEM_H

#include <jansson.h>

#include "model/model.h"
#include "format/rank_record.h"
#include "format/raw.h"

struct lc_system {
    uint32_t *column_of; /* raw location -> location of the model */
    size_t n_columns;
};

/* Where the ranks are of which nothing is known. */
struct lc_rank_hosts {
    const char (*names)[LC_RANK_HOST_BYTES]; /* per rank; "": not known; may be NULL */
    const char *otherwise;                   /* for those */
};

/* Locations are ordered by rank, then thread; ranks below `ranks` that left nothing get one too.
 * Adds "hosts" and "threads" to meta, and "unknown_ranks", those that left nothing, if any. Errors:
 * LC_ERR_NOMEM, and LC_ERR_RANGE of lc_model_add_process and the like. */
enum lc_err lc_system_build(struct lc_system *system, const struct lc_raw *raw, int32_t ranks,
                            const struct lc_rank_hosts *hosts, struct lc_model *model,
                            json_t *meta);
/* Frees what it holds, not the model. */
void lc_system_free(struct lc_system *system);

#endif
