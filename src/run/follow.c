/* Where the result goes: known before the program starts, unless MPI does not see what the launcher
 * promised. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "format/state.h"
#include "run/experiment.h"
#include "run/run.h"
#include "run/run_meta.h"

void lc_run_write_start(const struct lc_run *run) {
    json_t *meta = lc_meta_start(run);
    if (lc_experiment_write_json(run->dir.path, ".run.json", meta) != LC_OK)
        lc_complain("%s", lc_err_text());
    json_decref(meta);
}

void lc_run_follow(struct lc_run *run) {
    const struct lc_state_header *own =
        run->peers.n_states == 0 ? NULL : run->peers.states[run->peers.own].header;
    char suffix[sizeof own->apart], *path = NULL;
    if (own == NULL || run->is_apart || atomic_load(&own->is_apart) == 0)
        return;
    snprintf(suffix, sizeof suffix, "%.*s", (int)sizeof suffix - 1, own->apart);
    if (strchr(suffix, '/') != NULL || asprintf(&path, "%s%s", run->dir.path, suffix) < 0)
        return;
    run->is_apart = true;
    free(run->dir.path);
    run->dir.path = path;
    run->launch.rank = 0;
    run->launch.size = run->launch.local_size = 1;
    lc_run_write_start(run);
}
