/* Results of programs of which only the times are known: one that used MPI, but never through the
 * functions that are measured (objects opened with RTLD_DEEPBIND; the coverage audit in the result
 * says so), and one that has nothing to measure. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"
#include "run/experiment.h"
#include "run/json_string.h"
#include "run/openmp.h"
#include "run/run_meta.h"
#include "run/run.h"

bool lc_run_left_mark(const struct lc_run *run, char *mark, size_t size) {
    char text[512] = "";
    if (pread(run->state_fd, text, sizeof text - 1, 0) < 1 || text[0] == '\0' ||
        strchr("!?#", text[0]) == NULL)
        return false;
    snprintf(mark, size, "%s", text);
    return true;
}

static json_t *audit(const char *library) {
    json_t *object = json_object(), *objects = json_array(), *coverage = json_object();
    json_object_set_new(object, "object", lc_meta_string(library));
    json_object_set_new(object, "symbols", json_string("all"));
    json_object_set_new(object, "why", json_string("RTLD_DEEPBIND"));
    json_array_append_new(objects, object);
    json_object_set_new(coverage, "calls", json_integer(0));
    json_object_set_new(coverage, "bound_elsewhere", objects);
    return coverage;
}

/* One location per rank, with its time and nothing else. */
static enum lc_err fill(const struct lc_run *run, struct lc_raw *raw) {
    char host[64] = "";
    uint32_t root, name, location;
    gethostname(host, sizeof host - 1);
    struct lc_raw_node node = {.kind = LC_RAW_ROOT, .parent = LC_NONE};
    LC_TRY(lc_raw_add_node(raw, &node, &root));
    LC_TRY(lc_raw_add_name(raw, host, &name));
    for (int32_t rank = 0; rank < run->launch.size; rank++) {
        struct lc_raw_location where = {.rank = rank,
                                        .host = name,
                                        .pid = rank == run->launch.rank ? run->child : 0,
                                        .begin_ns = run->begin_ns,
                                        .end_ns = run->end_ns};
        LC_TRY(lc_raw_add_location(raw, &where, &location));
        struct lc_raw_row row = {.node = root,
                                 .location = location,
                                 .size_class = LC_RAW_CLASS_TIME,
                                 .sum_ns = run->end_ns - run->begin_ns};
        LC_TRY(lc_raw_add_row(raw, &row));
    }
    return LC_OK;
}

/* `known`: what else is known of the run, for its meta. */
static enum lc_err write_times(struct lc_run *run, const char *ending, bool complete,
                               json_t *known) {
    struct lc_raw *raw = NULL;
    LC_TRY(lc_raw_new(&raw));
    enum lc_err err = fill(run, raw);
    if (err == LC_OK) {
        json_t *meta = lc_meta_end(run, ending, complete);
        json_object_update(meta, known);
        raw->meta = json_dumps(meta, JSON_REAL_PRECISION(17));
        json_decref(meta);
        err = lc_experiment_write_partial(run->dir.path, run->launch.rank, raw);
    }
    lc_raw_free(raw);
    return err != LC_OK ? err : lc_experiment_finish_partial(run->dir.path, false);
}

enum lc_err lc_run_write_passed_by(struct lc_run *run, const char *mark) {
    bool finalized = mark[0] == '!';
    json_t *known = json_pack("{s:o}", "coverage", audit(mark + 1));
    enum lc_err err = write_times(run, finalized ? "MPI_Finalize" : "exit", finalized, known);
    json_decref(known);
    return err;
}

enum lc_err lc_run_write_plain(struct lc_run *run) {
    char ending[32] = "exit";
    if (WIFSIGNALED(run->wait_status))
        snprintf(ending, sizeof ending, "signal %d", WTERMSIG(run->wait_status));
    json_t *known = json_object();
    if (!lc_openmp_inside(&run->program)) /* it has no team, whatever OMP_NUM_THREADS says */
        json_object_set_new(known, "threads_wanted", json_integer(1));
    enum lc_err err = write_times(run, ending, WIFEXITED(run->wait_status), known);
    json_decref(known);
    return err;
}
