/* The three ways to an archive: a good end (each parent its rank, rank 0 the definitions), a bad
 * end (save what is in memory), recovery. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/timer.h"
#include "base/mem.h"
#include "trace/rank.h"

bool lc_trace_callpath_of(const char *text, int *callpath) {
    static const char *const modes[] = {
        [LC_TRACE_ENTER] = "enter", [LC_TRACE_CONTEXT] = "context", [LC_TRACE_NONE] = "none"};
    *callpath = LC_TRACE_ENTER;
    if (!text || !*text)
        return true;
    for (int i = 0; i < 3; i++)
        if (strcmp(text, modes[i]) == 0) {
            *callpath = i;
            return true;
        }
    return false;
}

static double now_s(void) {
    return (double)lc_monotonic_raw_ns() * 1e-9;
}

static void nap(void) {
    nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
}

/* The rate of the clock over the whole run: the parent reads the same two clocks again. */
static void measure_rate(const struct lc_state_header *header, uint64_t *ticks, uint64_t *ns) {
    if (header->by_counter && !lc_timer.by_counter)
        lc_timer_init();
    *ns = lc_monotonic_raw_ns();
    *ticks = header->by_counter ? lc_ticks() : *ns;
    *ticks -= header->base_ticks;
    *ns -= header->base_ns;
}

static enum lc_err read_union(struct lc_union *u, const char *dir) {
    struct lc_trace_mapped file;
    char *path = lc_trace_path(dir, "union");
    enum lc_err err = lc_trace_map_file(&file, path);
    if (err == LC_OK && file.bytes == 0)
        err = lc_fail(LC_ERR_NOT_FOUND, "%s: missing: run `latecomer recover %s`", path, dir);
    if (err == LC_OK)
        err = lc_union_unpack(u, file.at, file.bytes);
    lc_trace_unmap(&file);
    free(path);
    return err;
}

/* Waits until all ranks have written their files. */
static enum lc_err gather_infos(struct lc_trace_rank_info *infos, int n_ranks, const char *dir,
                                const struct lc_trace_options *options) {
    double deadline = now_s() + options->patience_s;
    for (int r = 0; r < n_ranks; r++) {
        enum lc_err err;
        while ((err = lc_trace_info_load(&infos[r], dir, r)) == LC_ERR_NOT_FOUND) {
            lc_trace_tell(options, "waiting for the traces of the other ranks",
                          (double)r / n_ranks);
            if (now_s() > deadline)
                return lc_fail(LC_ERR_NOT_FOUND,
                               "trace of rank %d: not written in time: run `latecomer recover %s`",
                               r, dir);
            nap();
        }
        LC_TRY(err);
    }
    return LC_OK;
}

static void remove_raw(const char *dir, bool mine_only, int rank) {
    char *traces = lc_trace_path(dir, "%s", ""), mine[32];
    int n = snprintf(mine, sizeof(mine), "r%d.", rank);
    DIR *files = traces ? opendir(traces) : NULL;
    struct dirent *entry;
    while (files && (entry = readdir(files))) {
        const char *name = entry->d_name;
        bool raw = name[0] == 'r' && name[1] >= '0' && name[1] <= '9';
        if (!(raw && (!mine_only || strncmp(name, mine, (size_t)n) == 0)) &&
            !(!mine_only && strcmp(name, "union") == 0))
            continue;
        if (mine_only && strstr(name, ".done"))
            continue;
        char *path = lc_trace_path(dir, "%s", name);
        if (path)
            unlink(path);
        free(path);
    }
    if (files)
        closedir(files);
    free(traces);
}

static void summarise(const struct lc_trace_rank_info *info, struct lc_trace_summary *summary) {
    summary->bytes += info->evt_bytes;
    summary->flushes += info->n_flushes;
    summary->lost_records += info->lost_records;
    summary->lost_threads += info->lost_threads;
    for (uint32_t i = 0; info->locations && i < info->n_locations; i++)
        summary->events += info->locations[i].n_events;
}

static enum lc_err finish_global(const struct lc_trace_rank *rank, const char *dir,
                                 const struct lc_trace_options *options,
                                 struct lc_trace_summary *summary) {
    int n_ranks = rank->defs.process.size;
    struct lc_union u = {0};
    struct lc_trace_rank_info *infos = NULL;
    LC_TRY(lc_alloc(&infos, (size_t)n_ranks + 1, sizeof(*infos)));
    enum lc_err err = read_union(&u, dir);
    if (err == LC_OK)
        err = gather_infos(infos, n_ranks, dir, options);
    if (err == LC_OK)
        err = lc_trace_write_global(dir, &u, infos, n_ranks, &rank->defs, options);
    if (err == LC_OK)
        remove_raw(dir, false, 0);
    for (int r = 0; r < n_ranks; r++) {
        summarise(&infos[r], summary);
        lc_trace_info_free(&infos[r]);
    }
    free(infos);
    lc_union_free(&u);
    return err;
}

enum lc_err lc_trace_finish(const void *state, size_t bytes, const char *dir,
                            const struct lc_trace_options *options,
                            struct lc_trace_summary *summary) {
    const struct lc_trace_area *area = lc_trace_area_of(state, bytes);
    lc_trace_tell(options, "", 0);
    *summary = (struct lc_trace_summary){.write_error = area ? (int)area->flush_failed : 0};
    if (!area || !atomic_load_explicit(&area->finalized, memory_order_acquire))
        return lc_fail(LC_ERR_NOT_FOUND,
                       "trace: the program did not reach MPI_Finalize: run `latecomer recover %s`",
                       dir);
    struct lc_trace_rank rank = {0};
    struct lc_trace_rank_info info = {0};
    enum lc_err err = lc_trace_rank_from_state(&rank, state, bytes, dir);
    if (err == LC_OK) {
        measure_rate(state, &rank.defs.end_ticks, &rank.defs.end_ns);
        err = lc_trace_write_events(&rank, dir, options, area->n_global_comms, &info);
    }
    if (err == LC_OK)
        err = lc_trace_info_save(&info, dir);
    if (err == LC_OK) {
        remove_raw(dir, true, area->rank);
        if (area->rank == 0)
            err = finish_global(&rank, dir, options, summary);
    }
    lc_trace_info_free(&info);
    lc_trace_rank_free(&rank);
    return err;
}

enum lc_err lc_trace_salvage(const void *state, size_t bytes, const char *dir) {
    if (!lc_trace_area_of(state, bytes))
        return LC_OK;
    uint64_t rate[2];
    struct lc_strbuf more = {0};
    measure_rate(state, &rate[0], &rate[1]);
    char *traces = lc_trace_path(dir, "%s", "");
    if (traces)
        mkdir(traces, 0777);
    free(traces);
    lc_trace_def_put(&more, LC_DEF_RATE, rate, sizeof(rate), NULL, 0);
    enum lc_err err = lc_trace_tree_pack(state, bytes, &more);
    if (err == LC_OK)
        err = lc_trace_salvage_streams(state, bytes, dir, &more);
    lc_strbuf_free(&more);
    return err;
}

/* Ranks of which DIR/traces holds definitions; size: as the definitions say. */
static enum lc_err find_ranks(const char *dir, int **ranks, int *n_ranks) {
    char *traces = lc_trace_path(dir, "%s", "");
    DIR *files = traces ? opendir(traces) : NULL;
    struct dirent *entry;
    size_t capacity = 0;
    enum lc_err err = LC_OK;
    while (files && err == LC_OK && (entry = readdir(files))) {
        int rank = -1, end = 0;
        if (sscanf(entry->d_name, "r%d.defs%n", &rank, &end) != 1 || end == 0 ||
            entry->d_name[end] != 0 || rank < 0)
            continue;
        err = lc_grow(ranks, &capacity, (size_t)*n_ranks + 1, sizeof(**ranks));
        if (err == LC_OK)
            (*ranks)[(*n_ranks)++] = rank;
    }
    if (files)
        closedir(files);
    free(traces);
    if (err == LC_OK && *n_ranks == 0)
        err = lc_fail(LC_ERR_NOT_FOUND, "%s: holds no unfinished trace: nothing to recover", dir);
    return err;
}

static enum lc_err add_to_union(struct lc_union *u, const struct lc_trace_defs *defs,
                                bool contexts) {
    struct lc_union one = {0};
    enum lc_err err = lc_union_of_rank(&one, defs, contexts);
    if (err == LC_OK)
        err = lc_union_merge(u, &one);
    lc_union_free(&one);
    return err;
}

struct recovery {
    const char *dir;
    struct lc_trace_options *options;
    int *ranks;
    int n_ranks;
    struct lc_union u;
    bool unified;                     /* in MPI_Finalize: some ranks may have their events */
    struct lc_trace_rank_info *infos; /* per rank of the run */
    int size;
    struct lc_trace_defs process;
};

static enum lc_err recover_definitions(struct recovery *r) {
    for (int i = 0; i < r->n_ranks; i++) {
        struct lc_trace_rank rank = {0};
        enum lc_err err = lc_trace_rank_from_files(&rank, r->dir, r->ranks[i]);
        if (err == LC_OK && rank.defs.process.contexts)
            r->options->callpath = LC_TRACE_CONTEXT; /* as the run was started */
        if (err == LC_OK && !r->unified)
            err = add_to_union(&r->u, &rank.defs, r->options->callpath == LC_TRACE_CONTEXT);
        if (err == LC_OK && rank.defs.process.size > r->size)
            r->size = rank.defs.process.size;
        if (err == LC_OK && !r->process.host) {
            r->process = rank.defs;
            rank.defs = (struct lc_trace_defs){0};
        }
        lc_trace_rank_free(&rank);
        LC_TRY(err);
    }
    return lc_alloc(&r->infos, (size_t)r->size + 1, sizeof(*r->infos));
}

/* A run that ended well, but whose archive could not be finished: the definitions of all ranks are
 * there, and the events of those ranks that had written them. */
static enum lc_err recover_union(struct recovery *r) {
    enum lc_err err = read_union(&r->u, r->dir);
    r->unified = err == LC_OK;
    if (!r->unified)
        return err == LC_ERR_NOT_FOUND ? LC_OK : err;
    return LC_OK;
}

static enum lc_err recover_finished(struct recovery *r, int *found) {
    for (int i = 0; r->unified && i < r->size; i++) {
        if (r->infos[i].magic != 0)
            continue;
        enum lc_err err = lc_trace_info_load(&r->infos[i], r->dir, i);
        if (err != LC_OK && err != LC_ERR_NOT_FOUND)
            return err;
        *found += err == LC_OK;
    }
    return LC_OK;
}

static enum lc_err recover_rank(struct recovery *r, int number) {
    struct lc_trace_rank rank = {0};
    bool contexts = r->options->callpath == LC_TRACE_CONTEXT;
    enum lc_err err = lc_trace_rank_from_files(&rank, r->dir, number);
    if (err == LC_OK && number < r->size)
        err = lc_union_map(&r->u, &rank.defs, contexts);
    if (err == LC_OK && number < r->size)
        err = lc_trace_write_events(&rank, r->dir, r->options,
                                    (uint32_t)lc_union_count(&r->u, LC_UNION_COMM),
                                    &r->infos[number]);
    lc_trace_rank_free(&rank);
    return err;
}

enum lc_err lc_trace_recover(const char *dir, const struct lc_trace_options *options,
                             struct lc_trace_recovered *out) {
    struct lc_trace_options own = *options;
    struct recovery r = {.dir = dir, .options = &own};
    lc_trace_tell(options, "", 0);
    *out = (struct lc_trace_recovered){0};
    char *anchor = NULL;
    if (asprintf(&anchor, "%s/traces.otf2", dir) >= 0 && access(anchor, F_OK) == 0)
        out->complete_already = true;
    free(anchor);
    if (out->complete_already)
        return LC_OK;
    enum lc_err err = find_ranks(dir, &r.ranks, &r.n_ranks);
    if (err == LC_OK)
        err = recover_union(&r);
    if (err == LC_OK)
        err = recover_definitions(&r);
    for (int i = 0; err == LC_OK && i < r.n_ranks; i++) {
        lc_trace_tell(options, "recovering", (double)i / r.n_ranks);
        err = recover_rank(&r, r.ranks[i]);
    }
    int found = r.n_ranks;
    if (err == LC_OK)
        err = recover_finished(&r, &found);
    for (int i = 0; err == LC_OK && i < r.size; i++) {
        out->bytes += r.infos[i].evt_bytes;
        for (uint32_t k = 0; k < r.infos[i].n_locations; k++)
            out->events += r.infos[i].locations[k].n_events;
        if (r.infos[i].magic ==
            0) /* nothing left of this rank: it is in the definitions, without a location */
            snprintf(r.infos[i].host, sizeof(r.infos[i].host), "%s", r.process.host);
    }
    if (err == LC_OK)
        err = lc_trace_write_global(dir, &r.u, r.infos, r.size, &r.process, &own);
    if (err == LC_OK)
        remove_raw(dir, false, 0);
    out->ranks = r.size;
    out->ranks_found = found;
    for (int i = 0; r.infos && i < r.size; i++)
        lc_trace_info_free(&r.infos[i]);
    free(r.infos);
    free(r.ranks);
    lc_union_free(&r.u);
    lc_trace_defs_free(&r.process);
    return err;
}
