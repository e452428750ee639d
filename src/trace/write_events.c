/* Event and definition files of a rank's locations, and the rank file. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/outfile.h"
#include "base/strbuf.h"
#include "trace/otf2_archive.h"
#include "trace/rank.h"
#include "trace/trace_convert.h"

static uint64_t location_id(const struct lc_trace_rank *rank, uint32_t thread) {
    return (uint64_t)thread << 32 | (uint32_t)rank->defs.process.rank;
}

static double ticks_per_second(const struct lc_trace_defs *d) {
    if (d->end_ns > 1000000 && d->end_ticks > 0)
        return (double)d->end_ticks / (double)d->end_ns * 1e9;
    return d->process.ns_per_tick > 0 ? 1e9 / d->process.ns_per_tick : 1e9;
}

static int compare_begin(const void *a, const void *b) {
    const struct lc_trace_thread *x = a, *y = b;
    if (x->begin_ticks != y->begin_ticks)
        return x->begin_ticks < y->begin_ticks ? -1 : 1;
    return (x->thread > y->thread) - (x->thread < y->thread);
}

static bool of_openmp(const struct lc_trace_location *l) {
    return l->n_segments > 0 && l->segments[0].n_words > 0 &&
           lc_rec_kind_of(l->segments[0].words[0]) == LC_REC_OMP_WORKER;
}

/* All threads but the first and those of OpenMP, as the main thread's children: who made them is
 * not known. */
static enum lc_err children_of(const struct lc_trace_rank *rank, struct lc_trace_thread **children,
                               size_t *n) {
    *n = 0;
    LC_TRY(lc_alloc(children, rank->n_locations + 1, sizeof(**children)));
    for (size_t i = 0; i < rank->n_locations; i++)
        if (rank->locations[i].thread > 0 && !of_openmp(&rank->locations[i]))
            (*children)[(*n)++] = (struct lc_trace_thread){rank->locations[i].thread, 0,
                                                           rank->locations[i].begin_ticks};
    if (*n)
        qsort(*children, *n, sizeof(**children), compare_begin);
    return LC_OK;
}

/* Rank 0 says how far it is; the other ranks are about as far. */
struct writing {
    const struct lc_trace_options *options;
    uint64_t done, all; /* words */
};

static void count_words(void *user, uint64_t n_words) {
    struct writing *w = user;
    w->done += n_words;
    lc_trace_tell(w->options, "writing events", w->all ? (double)w->done / (double)w->all : 0);
}

static enum lc_err add_teams(struct lc_trace_rank_info *info, size_t *capacity,
                             const struct lc_convert *convert) {
    for (size_t i = 0; i < convert->n_teams; i++) {
        LC_TRY(lc_grow(&info->teams, capacity, info->n_teams + 1, sizeof(*info->teams)));
        info->teams[info->n_teams++] =
            (struct lc_trace_team_info){convert->teams[i], info->n_locations};
    }
    return LC_OK;
}

static enum lc_err convert_locations(struct lc_trace_rank *rank, struct lc_trace_archive *archive,
                                     const struct lc_trace_options *options,
                                     const struct lc_filtered *filtered,
                                     struct lc_trace_rank_info *info) {
    struct lc_trace_thread *children = NULL;
    size_t n_children = 0;
    struct writing writing = {.options = options};
    for (size_t i = 0; i < rank->n_locations; i++)
        for (size_t k = 0; k < rank->locations[i].n_segments; k++)
            writing.all += rank->locations[i].segments[k].n_words;
    LC_TRY(children_of(rank, &children, &n_children));
    enum lc_err err = LC_OK;
    size_t cap_teams = 0;
    for (size_t i = 0; err == LC_OK && i < rank->n_locations; i++) {
        struct lc_trace_location *l = &rank->locations[i];
        uint64_t id = location_id(rank, l->thread);
        struct lc_convert convert = {.writer = OTF2_Archive_GetEvtWriter(archive->otf2, id),
                                     .defs = &rank->defs,
                                     .segments = l->segments,
                                     .n_segments = l->n_segments,
                                     .thread = l->thread,
                                     .begin_ticks = l->begin_ticks,
                                     .callpath = (enum lc_trace_callpath)options->callpath,
                                     .handles = options->handles,
                                     .filter = filtered->filter,
                                     .hidden = filtered->regions,
                                     .muted = filtered->comms,
                                     .thread_comm = (uint32_t)rank->defs.n_comms,
                                     .children = children,
                                     .n_children = l->thread == 0 ? n_children : 0,
                                     .progress = count_words,
                                     .user = &writing};
        if (!convert.writer) {
            err = lc_fail(LC_ERR_IO,
                          "trace: cannot write the events of rank %d: check the free space",
                          rank->defs.process.rank);
            break;
        }
        err = lc_convert_run(&convert);
        OTF2_ErrorCode code = OTF2_Archive_CloseEvtWriter(archive->otf2, convert.writer);
        if (err == LC_OK && code != OTF2_SUCCESS)
            err = lc_fail(LC_ERR_IO, "trace: %s: check the free space",
                          OTF2_Error_GetDescription(code));
        if (err == LC_OK)
            err = add_teams(info, &cap_teams, &convert);
        free(convert.teams);
        uint32_t tid = 0;
        for (size_t k = 0; k < rank->defs.n_threads; k++)
            if (rank->defs.threads[k].thread == l->thread)
                tid = rank->defs.threads[k].tid;
        info->locations[info->n_locations++] = (struct lc_trace_location_info){id,
                                                                               convert.n_events,
                                                                               convert.first_time,
                                                                               convert.last_time,
                                                                               l->thread,
                                                                               tid,
                                                                               of_openmp(l),
                                                                               0};
    }
    free(children);
    return err;
}

/* more: global numbers of what follows. */
static OTF2_ErrorCode write_map(OTF2_DefWriter *writer, OTF2_MappingType type, const uint32_t *map,
                                size_t n, uint32_t shift, const uint32_t *more, size_t n_more) {
    size_t length = n + n_more;
    uint32_t *ids = malloc((length + 1) * sizeof(*ids));
    if (!ids || length == 0) {
        free(ids);
        return OTF2_SUCCESS;
    }
    for (size_t i = 0; i < n; i++)
        ids[i] = map[i] == LC_NONE
                     ? 0
                     : map[i] + shift; /* never referenced: not defined by the program */
    for (size_t i = 0; i < n_more; i++)
        ids[n + i] = more[i];
    OTF2_IdMap *table = OTF2_IdMap_CreateFromUint32Array(length, ids, true);
    OTF2_ErrorCode code =
        table ? OTF2_DefWriter_WriteMappingTable(writer, type, table) : OTF2_SUCCESS;
    OTF2_IdMap_Free(table);
    free(ids);
    return code;
}

static int compare_clocks(const void *a, const void *b) {
    const struct lc_trace_clock *x = a, *y = b;
    return (x->ticks > y->ticks) - (x->ticks < y->ticks);
}

/* Ascending; those measured at barriers are there twice on the rank that measured them. */
static OTF2_ErrorCode write_clocks(OTF2_DefWriter *writer, struct lc_trace_defs *d) {
    if (d->n_clocks)
        qsort(d->clocks, d->n_clocks, sizeof(*d->clocks), compare_clocks);
    for (size_t i = 0; i < d->n_clocks; i++) {
        const struct lc_trace_clock *clock = &d->clocks[i];
        if (i > 0 && clock->ticks <= clock[-1].ticks)
            continue;
        uint64_t ticks = d->process.base_ticks + clock->ticks, shown = lc_trace_bent(d, ticks);
        OTF2_ErrorCode code = OTF2_DefWriter_WriteClockOffset(
            writer, shown, clock->offset + (int64_t)(ticks - shown), (double)clock->deviation);
        if (code != OTF2_SUCCESS)
            return code;
    }
    return OTF2_SUCCESS;
}

/* Communicators after those of MPI: of the process's threads, and of its teams. */
static enum lc_err thread_comms(const struct lc_trace_rank_info *info, uint32_t n_global_comms,
                                uint32_t **comms, size_t *n) {
    *n = 1;
    for (uint32_t i = 0; i < info->n_teams; i++)
        if (info->teams[i].team + 2 > *n)
            *n = info->teams[i].team + 2;
    LC_TRY(lc_alloc(comms, *n, sizeof(**comms)));
    (*comms)[0] = n_global_comms + (uint32_t)info->rank;
    for (uint32_t i = 1; i < *n; i++)
        (*comms)[i] =
            lc_trace_team_comm(n_global_comms, (uint32_t)info->size, (uint32_t)info->rank, i - 1);
    return LC_OK;
}

static OTF2_ErrorCode write_local(OTF2_DefWriter *writer, struct lc_trace_defs *d,
                                  const uint32_t *comms, size_t n_comms) {
    static const struct {
        OTF2_MappingType type;
        enum lc_union_type kind;
        uint32_t shift;
    } tables[] = {
        {OTF2_MAPPING_REGION, LC_UNION_REGION, 0},
        {OTF2_MAPPING_COMM, LC_UNION_COMM, 0},
        {OTF2_MAPPING_STRING, LC_UNION_STRING, 1},
        {OTF2_MAPPING_RMA_WIN, LC_UNION_WIN, 0},
        {OTF2_MAPPING_GROUP, LC_UNION_GROUP, 2},
        {OTF2_MAPPING_CALLING_CONTEXT, LC_UNION_CONTEXT, 0},
        {OTF2_MAPPING_IO_FILE, LC_UNION_FILE, 0},
        {OTF2_MAPPING_IO_HANDLE, LC_UNION_HANDLE, 0},
    };
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        size_t kind = tables[i].kind;
        OTF2_ErrorCode code =
            write_map(writer, tables[i].type, d->maps[kind], d->n_maps[kind], tables[i].shift,
                      comms, kind == LC_UNION_COMM ? n_comms : 0);
        if (code != OTF2_SUCCESS)
            return code;
    }
    return write_clocks(writer, d);
}

static enum lc_err write_definitions(struct lc_trace_rank *rank, struct lc_trace_archive *archive,
                                     const struct lc_trace_rank_info *info,
                                     uint32_t n_global_comms) {
    uint32_t *comms = NULL;
    size_t n_comms = 0;
    LC_TRY(thread_comms(info, n_global_comms, &comms, &n_comms));
    OTF2_ErrorCode code = OTF2_Archive_OpenDefFiles(archive->otf2);
    for (size_t i = 0; code == OTF2_SUCCESS && i < rank->n_locations; i++) {
        OTF2_DefWriter *writer =
            OTF2_Archive_GetDefWriter(archive->otf2, location_id(rank, rank->locations[i].thread));
        code =
            writer ? write_local(writer, &rank->defs, comms, n_comms) : OTF2_ERROR_MEM_ALLOC_FAILED;
        if (writer)
            OTF2_Archive_CloseDefWriter(archive->otf2, writer);
    }
    OTF2_Archive_CloseDefFiles(archive->otf2);
    free(comms);
    return code == OTF2_SUCCESS ? LC_OK
                                : lc_fail(LC_ERR_IO, "trace: %s: check the free space",
                                          OTF2_Error_GetDescription(code));
}

static uint64_t event_bytes(const char *dir, const struct lc_trace_rank_info *info) {
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < info->n_locations; i++) {
        struct stat status;
        char *path =
            lc_trace_path(dir, "%llu.evt", (unsigned long long)info->locations[i].location);
        if (path && stat(path, &status) == 0)
            bytes += (uint64_t)status.st_size;
        free(path);
    }
    return bytes;
}

enum lc_err lc_trace_write_events(struct lc_trace_rank *rank, const char *dir,
                                  const struct lc_trace_options *options, uint32_t n_global_comms,
                                  struct lc_trace_rank_info *info) {
    const struct lc_def_process *process = &rank->defs.process;
    *info = (struct lc_trace_rank_info){.magic = LC_TRACE_RANK_MAGIC,
                                        .rank = process->rank,
                                        .size = process->size,
                                        .pid = process->pid,
                                        .ticks_per_s = ticks_per_second(&rank->defs),
                                        .lost_records = rank->lost_records,
                                        .lost_threads = rank->lost_threads,
                                        .n_flushes = rank->n_flushes,
                                        .begin_realtime_ns = process->begin_realtime_ns,
                                        .base_ticks = process->base_ticks,
                                        .counted = rank->defs.n_left_out > 0};
    snprintf(info->host, sizeof(info->host), "%s", rank->defs.host);
    lc_program_id(info->program, rank->defs.program, rank->defs.build_id);
    LC_TRY(lc_alloc(&info->locations, rank->n_locations + 1, sizeof(*info->locations)));
    struct lc_filtered filtered = {0};
    LC_TRY(lc_trace_filtered(&filtered, &rank->defs, options));
    char name[32];
    snprintf(name, sizeof(name), "%d", process->rank);
    struct lc_trace_archive archive;
    enum lc_err err = lc_trace_archive_open(&archive, dir, name);
    if (err == LC_OK) {
        OTF2_Archive_OpenEvtFiles(archive.otf2);
        err = convert_locations(rank, &archive, options, &filtered, info);
        OTF2_Archive_CloseEvtFiles(archive.otf2);
        if (err == LC_OK)
            err = write_definitions(rank, &archive, info, n_global_comms);
        if (err == LC_OK)
            err = lc_trace_archive_close(&archive, false);
        else
            lc_trace_archive_drop(&archive);
    }
    lc_trace_filtered_free(&filtered);
    info->evt_bytes = event_bytes(dir, info);
    return err;
}

enum lc_err lc_trace_info_save(const struct lc_trace_rank_info *info, const char *dir) {
    struct lc_strbuf text = {0};
    lc_strbuf_add(&text, (const char *)info, sizeof(*info));
    lc_strbuf_add(&text, (const char *)info->locations,
                  info->n_locations * sizeof(*info->locations));
    lc_strbuf_add(&text, (const char *)info->teams, info->n_teams * sizeof(*info->teams));
    char *path = lc_trace_path(dir, "r%d.done", info->rank);
    enum lc_err err = path && lc_strbuf_ok(&text)
                          ? lc_outfile_put(path, lc_strbuf_get(&text), text.length)
                          : lc_fail(LC_ERR_NOMEM, "trace: not enough memory");
    free(path);
    lc_strbuf_free(&text);
    return err;
}

enum lc_err lc_trace_info_load(struct lc_trace_rank_info *info, const char *dir, int rank) {
    struct lc_trace_mapped file;
    char *path = lc_trace_path(dir, "r%d.done", rank);
    enum lc_err err = lc_trace_map_file(&file, path);
    *info = (struct lc_trace_rank_info){0};
    if (err == LC_OK && file.bytes == 0)
        err = LC_ERR_NOT_FOUND; /* not yet: no message */
    if (err == LC_OK) {
        if (file.bytes >= sizeof(*info))
            memcpy(info, file.at, sizeof(*info));
        info->locations = NULL;
        info->teams = NULL;
        uint64_t rest = info->n_locations * (uint64_t)sizeof(*info->locations) +
                        info->n_teams * (uint64_t)sizeof(*info->teams);
        if (info->magic != LC_TRACE_RANK_MAGIC || rest != file.bytes - sizeof(*info))
            err = lc_fail(LC_ERR_FORMAT, "%s: damaged: run `latecomer recover`", path);
    }
    if (err == LC_OK) {
        info->host[sizeof(info->host) - 1] = 0;
        info->program[sizeof(info->program) - 1] = 0;
        const char *rest = (const char *)file.at + sizeof(*info);
        size_t bytes = info->n_locations * sizeof(*info->locations);
        err = lc_alloc(&info->locations, (size_t)info->n_locations + 1, sizeof(*info->locations));
        if (err == LC_OK)
            err = lc_alloc(&info->teams, (size_t)info->n_teams + 1, sizeof(*info->teams));
        if (err == LC_OK) {
            memcpy(info->locations, rest, bytes);
            memcpy(info->teams, rest + bytes, info->n_teams * sizeof(*info->teams));
        }
    }
    lc_trace_unmap(&file);
    free(path);
    return err;
}

void lc_trace_info_free(struct lc_trace_rank_info *info) {
    free(info->locations);
    free(info->teams);
    info->locations = NULL;
    info->teams = NULL;
}
