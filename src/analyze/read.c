#include "analyze/read.h"

#include <otf2/otf2.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyze/archive_defs.h"
#include "analyze/crash.h"
#include "analyze/distribute.h"
#include "analyze/event_store.h"
#include "analyze/forecast.h"
#include "analyze/reader.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "format/trace_def_records.h"

enum { READ_STEP = 1 << 20, MOST_ROOM = 1 << 22 };

/* A file of local definitions without a record: header of its only chunk, end of chunk, end of
 * file.
 */
enum { EMPTY_FILE_BYTES = 20 };

/* libotf2 prints every error on its way; what matters comes back as a code. */
static OTF2_ErrorCode silent(void *user, const char *file, uint64_t line, const char *function,
                             OTF2_ErrorCode code, const char *format, va_list arguments) {
    (void)user, (void)file, (void)line, (void)function, (void)format, (void)arguments;
    return code;
}

static struct lc_loc unread(const struct lc_trace *trace, uint32_t location) {
    return (struct lc_loc){.id = location,
                           .process = trace->locations[location].process,
                           .root = LC_NONE,
                           .init_enter = INT64_MIN,
                           .init_leave = INT64_MIN,
                           .finalize_enter = INT64_MIN,
                           .finalize_leave = INT64_MIN};
}

static enum lc_err take_locations(struct lc_trace *trace) {
    for (size_t p = 0; p < trace->n_processes; p++)
        if (trace->processes[p].owner == trace->comm->rank)
            trace->n_locs += trace->processes[p].n_locations;
    LC_TRY(lc_alloc(&trace->locs, trace->n_locs + 1, sizeof *trace->locs));
    LC_TRY(lc_alloc(&trace->own, trace->n_locations + 1, sizeof *trace->own));
    size_t n = 0;
    for (size_t i = 0; i < trace->n_locations; i++) {
        trace->own[i] = LC_NONE;
        if (lc_trace_owner(trace, (uint32_t)i) != trace->comm->rank)
            continue;
        trace->own[i] = (uint32_t)n;
        trace->locs[n++] = unread(trace, (uint32_t)i);
    }
    return LC_OK;
}

/* Room in advance, so that arrays need not move while they grow: as much as the location before
 * needed for so many events. Memory that is not used in the end was never touched. Announcements
 * of damaged archives are not believed beyond MOST_ROOM. */
static size_t room_for(const struct lc_reader *reader, uint64_t events, size_t before) {
    if (!reader->before.events)
        return 0;
    double room = (double)before * (double)events / (double)reader->before.events;
    return room < MOST_ROOM ? (size_t)(room + room / 16) : MOST_ROOM;
}

static enum lc_err make_room(const struct lc_reader *reader, struct lc_loc *loc) {
    uint64_t events = reader->trace->locations[loc->id].n_events;
    size_t transitions = events < MOST_ROOM ? (size_t)events : MOST_ROOM;
    size_t cap_time = 0, cap_cnode = 0;
    LC_TRY(lc_reserve(&loc->time, &cap_time, transitions, sizeof *loc->time));
    LC_TRY(lc_reserve(&loc->cnode, &cap_cnode, transitions, sizeof *loc->cnode));
    loc->cap_transitions = (uint32_t)(cap_time < cap_cnode ? cap_time : cap_cnode);
    LC_TRY(lc_reserve(&loc->calls, &loc->cap_calls, room_for(reader, events, reader->before.calls),
                      sizeof *loc->calls));
    LC_TRY(lc_reserve(&loc->done, &loc->cap_done, room_for(reader, events, reader->before.done),
                      sizeof *loc->done));
    LC_TRY(lc_reserve(&loc->p2p, &loc->cap_p2p, room_for(reader, events, reader->before.p2p),
                      sizeof *loc->p2p));
    return lc_reserve(&loc->colls, &loc->cap_colls, room_for(reader, events, reader->before.colls),
                      sizeof *loc->colls);
}

/* Where processes run different programs, all of a location hangs below that of its process. */
static enum lc_err begin_program(struct lc_reader *reader) {
    struct lc_loc *loc = reader->loc;
    uint32_t program = reader->trace->processes[loc->process].program;
    if (program == LC_NONE)
        return LC_OK;
    uint32_t node = lc_tree_child(&reader->tree, 0, program);
    if (node == LC_NONE)
        return LC_ERR_NOMEM;
    reader->base = reader->root = node;
    if (reader->trace->locations[loc->id].thread == 0)
        loc->root = node;
    return LC_OK;
}

static enum lc_err begin_location(struct lc_reader *reader, struct lc_loc *loc) {
    reader->loc = loc;
    reader->last = INT64_MIN;
    reader->first = INT64_MAX;
    reader->begun = false;
    reader->node = reader->base = reader->root = 0;
    reader->depth = 0;
    reader->n_touched = reader->n_counts = reader->n_samples = 0;
    reader->coll_begin = INT64_MIN;
    reader->comm_id = UINT64_MAX;
    reader->comm = LC_NONE;
    reader->waiting_depth = reader->n_open_tasks = 0;
    reader->n_events = 0;
    reader->open_fork = reader->open_part = LC_NONE;
    reader->task = lc_reader_implicit_task(reader);
    reader->left_task = LC_NONE;
    lc_idmap_clear(&reader->lock_ids);
    lc_idmap_clear(&reader->locks);
    lc_idmap_clear(&reader->rma_targets);
    lc_idmap_clear(&reader->rma_windows);
    reader->tree.next_first = (uint64_t)loc->id << 32;
    memset(reader->phase_counts, 0, reader->n_defined * sizeof *reader->phase_counts);
    LC_TRY(begin_program(reader));
    return make_room(reader, loc);
}

static enum lc_err add_cell(struct lc_loc *loc, uint32_t node, uint32_t metric, int64_t value) {
    if (!value)
        return LC_OK;
    LC_TRY(lc_grow(&loc->cells, &loc->cap_cells, loc->n_cells + 1, sizeof *loc->cells));
    loc->cells[loc->n_cells++] = (struct lc_cell){node, metric, value};
    return LC_OK;
}

/* Sums per call path become cells; the sums are cleared for the next location. */
static enum lc_err collect(struct lc_reader *reader) {
    for (size_t i = 0; i < reader->n_touched; i++) {
        uint32_t node = reader->touched[i];
        struct lc_node_sums *sums = &reader->sums[node];
        if (node) {
            LC_TRY(add_cell(reader->loc, node, LC_CELL_VISITS, sums->visits));
            LC_TRY(add_cell(reader->loc, node, LC_CELL_TIME, sums->ticks));
            LC_TRY(add_cell(reader->loc, node, LC_CELL_SAMPLES, sums->samples));
            LC_TRY(add_cell(reader->loc, node, LC_CELL_SAMPLED_NS, sums->sampled_ns));
            LC_TRY(add_cell(reader->loc, node, LC_CELL_SQUARES_US2, sums->squares_us2));
            for (uint32_t c = 0; sums->counts && c < LC_COUNTS; c++)
                LC_TRY(add_cell(reader->loc, node, c, reader->counts[sums->counts - 1][c]));
        }
        *sums = (struct lc_node_sums){0};
    }
    return LC_OK;
}

/* Nothing is added to these from now on. */
static void keep(struct lc_event_store *store, struct lc_loc *loc) {
    lc_event_store_move(store, &loc->time, loc->n_transitions * sizeof *loc->time);
    lc_event_store_move(store, &loc->cnode, loc->n_transitions * sizeof *loc->cnode);
    lc_event_store_move(store, &loc->calls, loc->n_calls * sizeof *loc->calls);
    lc_event_store_move(store, &loc->done, loc->n_done * sizeof *loc->done);
    lc_event_store_move(store, &loc->p2p, loc->n_p2p * sizeof *loc->p2p);
    lc_event_store_move(store, &loc->colls, loc->n_colls * sizeof *loc->colls);
    lc_event_store_rest(store);
}

/* Closes what is open, and gives back memory that is not needed. */
static enum lc_err end_location(struct lc_reader *reader) {
    struct lc_loc *loc = reader->loc;
    if (!reader->begun && reader->n_events)
        lc_reader_set_base(reader, reader->last, 0);
    lc_health_add(reader->health, LC_HEALTH_ENTER_WITHOUT_LEAVE, loc->id, (int64_t)reader->depth);
    while (reader->depth && reader->err == LC_OK)
        lc_reader_leave(reader, reader->last);
    if (reader->begun) {
        reader->base = LC_NONE; /* a last transition in any case: the end of the location's life */
        lc_reader_set_base(reader, reader->last, 0);
    } else {
        lc_health_note(reader->health, LC_HEALTH_NO_EVENTS, loc->id);
    }
    LC_TRY(reader->err);
    for (uint32_t i = 0; i < loc->n_transitions && loc->root == LC_NONE; i++)
        if (loc->cnode[i])
            loc->root = loc->cnode[i];
    LC_TRY(lc_read_mpi_end(reader));
    LC_TRY(collect(reader));
    size_t cap = loc->cap_transitions, cap2 = cap;
    lc_shrink(&loc->time, &cap, loc->n_transitions, sizeof *loc->time);
    lc_shrink(&loc->cnode, &cap2, loc->n_transitions, sizeof *loc->cnode);
    loc->cap_transitions = loc->n_transitions;
    lc_shrink(&loc->calls, &loc->cap_calls, loc->n_calls, sizeof *loc->calls);
    lc_shrink(&loc->done, &loc->cap_done, loc->n_done, sizeof *loc->done);
    lc_shrink(&loc->p2p, &loc->cap_p2p, loc->n_p2p, sizeof *loc->p2p);
    lc_shrink(&loc->colls, &loc->cap_colls, loc->n_colls, sizeof *loc->colls);
    lc_shrink(&loc->cells, &loc->cap_cells, loc->n_cells, sizeof *loc->cells);
    keep(reader->trace->store, loc);
    reader->before.events = reader->n_events;
    reader->before.calls = loc->n_calls;
    reader->before.done = loc->n_done;
    reader->before.p2p = loc->n_p2p;
    reader->before.colls = loc->n_colls;
    reader->trace->n_events += reader->n_events;
    return LC_OK;
}

static OTF2_EvtReaderCallbacks *callbacks_new(void) {
    OTF2_EvtReaderCallbacks *callbacks = OTF2_EvtReaderCallbacks_New();
    if (callbacks) {
        lc_read_region_callbacks(callbacks);
        lc_read_mpi_callbacks(callbacks);
        lc_read_thread_callbacks(callbacks);
        lc_read_task_callbacks(callbacks);
        lc_read_rma_callbacks(callbacks);
        lc_read_other_callbacks(callbacks);
    }
    return callbacks;
}

struct archive {
    const char *path;
    OTF2_Reader *otf2;
    OTF2_EvtReaderCallbacks *callbacks;
    lc_progress_fn *progress;
    void *user;
    uint64_t done, all;
};

/* Mapping tables and clock offsets: libotf2 applies them to the events once they have been read.
 * Many archives have none, and a reader of definitions clears a buffer of megabytes. */
static void read_local_definitions(struct archive *archive, uint64_t id) {
    int64_t bytes = lc_archive_file_bytes(archive->path, id, "def");
    if (bytes >= 0 && bytes <= EMPTY_FILE_BYTES)
        return;
    OTF2_DefReader *reader = OTF2_Reader_GetDefReader(archive->otf2, id);
    uint64_t n;
    if (!reader)
        return;
    OTF2_Reader_ReadAllLocalDefinitions(archive->otf2, reader, &n);
    OTF2_Reader_CloseDefReader(archive->otf2, reader);
}

static enum lc_err read_location(struct lc_reader *reader, struct archive *archive,
                                 struct lc_loc *loc) {
    const struct lc_an_location *location = &reader->trace->locations[loc->id];
    LC_TRY(begin_location(reader, loc));
    OTF2_EvtReader *events = OTF2_Reader_GetEvtReader(archive->otf2, location->otf2_id);
    bool damaged = !events;
    if (events) {
        OTF2_Reader_RegisterEvtCallbacks(archive->otf2, events, archive->callbacks, reader);
        uint64_t n = READ_STEP;
        while (n == READ_STEP && reader->err == LC_OK && !damaged) {
            OTF2_ErrorCode code = OTF2_Reader_ReadLocalEvents(archive->otf2, events, READ_STEP, &n);
            damaged = code != OTF2_SUCCESS && reader->err == LC_OK;
            if (archive->progress)
                archive->progress(archive->user, archive->done + reader->n_events, archive->all);
        }
        OTF2_Reader_CloseEvtReader(archive->otf2, events);
    }
    LC_TRY(reader->err);
    archive->done += location->n_events;
    if (damaged && location->n_events)
        lc_health_note(reader->health, LC_HEALTH_DAMAGED, loc->id);
    if (damaged && location->n_events > reader->n_events)
        lc_health_add(reader->health, LC_HEALTH_LOST, loc->id,
                      (int64_t)(location->n_events - reader->n_events));
    return end_location(reader);
}

/* As if it had not been read before. */
static enum lc_err read_location_again(struct lc_reader *reader, struct archive *archive,
                                       struct lc_loc *loc) {
    struct lc_health noted, *health = reader->health;
    uint64_t n_events = reader->trace->n_events, done = archive->done;
    lc_health_init(&noted); /* it was noted the first time */
    lc_loc_free(reader->trace, loc);
    *loc = unread(reader->trace, loc->id);
    reader->health = &noted;
    enum lc_err err = read_location(reader, archive, loc);
    reader->health = health;
    reader->trace->n_events = n_events;
    archive->done = done;
    return err;
}

/* Threads are read in the order of their numbers, so that a team is mostly read after its fork.
 * What a thread does in teams of later ones hangs below the call path of the fork, too, once that
 * is known: it is read again. Teams inside of each other may need that several times. */
static enum lc_err read_process_again(struct lc_reader *reader, struct archive *archive,
                                      struct lc_loc *locs, size_t n) {
    enum { MOST_TIMES = 8 };
    bool any = reader->forks_missing;
    for (int times = 0; any && times < MOST_TIMES; times++) {
        any = false;
        for (size_t l = 0; l < n; l++) {
            if (!lc_read_threads_outdated(reader, &locs[l]))
                continue;
            any = true;
            LC_TRY(read_location_again(reader, archive, &locs[l]));
        }
    }
    if (reader->forks_missing)
        lc_read_threads_end(reader, locs, n);
    reader->forks_missing = false;
    return LC_OK;
}

static enum lc_err read_events(struct lc_reader *reader, struct archive *archive) {
    struct lc_trace *trace = reader->trace;
    for (size_t i = 0; i < trace->n_locs; i++) {
        const struct lc_an_location *location = &trace->locations[trace->locs[i].id];
        archive->all += location->n_events;
        OTF2_Reader_SelectLocation(archive->otf2, location->otf2_id);
    }
    OTF2_Reader_OpenDefFiles(archive->otf2);
    OTF2_Reader_OpenEvtFiles(archive->otf2);
    for (size_t i = 0; i < trace->n_locs;) {
        size_t n = trace->processes[trace->locs[i].process].n_locations;
        for (size_t l = i; l < i + n; l++) {
            read_local_definitions(archive, trace->locations[trace->locs[l].id].otf2_id);
            LC_TRY(read_location(reader, archive, &trace->locs[l]));
        }
        LC_TRY(read_process_again(reader, archive, &trace->locs[i], n));
        i += n;
    }
    return LC_OK;
}

static enum lc_err reader_init(struct lc_reader *reader, struct lc_defs *defs,
                               struct lc_trace *trace) {
    reader->trace = trace;
    reader->defs = defs;
    struct lc_an_region unknown = {
        .name = "<unknown>", .mangled = "", .file = "", .paradigm = "unknown", .role = "unknown"};
    LC_TRY(lc_defs_region(defs, &unknown, &reader->unknown_region));
    reader->n_defined = trace->n_regions;
    LC_TRY(lc_alloc(&reader->phase_counts, trace->n_regions, sizeof *reader->phase_counts));
    LC_TRY(lc_alloc(&reader->deep, trace->n_regions, sizeof *reader->deep));
    LC_TRY(lc_tree_init(&reader->tree));
    /* Dense for the small ids that archives use. */
    reader->n_region_of = 4 * trace->n_regions;
    LC_TRY(lc_alloc(&reader->region_of, reader->n_region_of, sizeof *reader->region_of));
    for (size_t i = 0; i < reader->n_region_of; i++)
        reader->region_of[i] = lc_idmap_get(&defs->region_of, i);
    return LC_OK;
}

static void reader_free(struct lc_reader *reader) {
    lc_tree_free(&reader->tree);
    free(reader->region_of);
    free(reader->frames);
    free(reader->sums);
    free(reader->touched);
    free(reader->counts);
    free(reader->phase_counts);
    free(reader->deep);
    free(reader->programs);
    free(reader->samples);
    lc_idmap_free(&reader->sends);
    lc_idmap_free(&reader->recvs);
    lc_idmap_free(&reader->colls);
    lc_idmap_free(&reader->lock_ids);
    lc_idmap_free(&reader->locks);
    lc_idmap_free(&reader->rma_targets);
    lc_idmap_free(&reader->rma_windows);
}

static int by_u64(const void *a, const void *b) {
    const uint64_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

/* Programs without a region in the archive get the same number on all ranks: in the order of their
 * strings. */
static enum lc_err unify_programs(struct lc_reader *reader) {
    struct lc_trace *trace = reader->trace;
    uint64_t *all = NULL;
    size_t bytes = 0;
    LC_TRY(lc_transport_gather(trace->comm, reader->programs, reader->n_programs * sizeof *all,
                               (void **)&all, &bytes, NULL));
    int64_t count = 0;
    if (bytes) {
        qsort(all, bytes / sizeof *all, sizeof *all, by_u64);
        for (size_t i = 0; i < bytes / sizeof *all; i++)
            if (!count || all[count - 1] != all[i])
                all[count++] = all[i];
    }
    lc_transport_allreduce_i64(trace->comm, &count, 1, LC_OP_MAX);
    if (!count) {
        free(all);
        return LC_OK;
    }
    if (trace->comm->rank != 0)
        LC_TRY(lc_alloc(&all, (size_t)count, sizeof *all));
    lc_transport_bcast(trace->comm, all, (size_t)count * sizeof *all, 0);
    for (size_t i = 1; i < reader->tree.n_nodes; i++) {
        struct lc_tree_node *node = &reader->tree.nodes[i];
        if (node->region < reader->n_defined)
            continue;
        const uint64_t *at = bsearch(&reader->programs[node->region - reader->n_defined], all,
                                     (size_t)count, sizeof *all, by_u64);
        node->region = (uint32_t)(reader->n_defined + (size_t)(at ? at - all : 0));
    }
    trace->n_regions = reader->n_defined;
    enum lc_err err = LC_OK;
    for (int64_t i = 0; i < count && err == LC_OK; i++)
        err = lc_program_region_add(reader->defs, all[i]);
    free(all);
    return err;
}

static uint32_t mapped(const uint32_t *map, uint32_t node) {
    return node == LC_NONE ? LC_NONE : map[node];
}

static void map_location(struct lc_loc *loc, const uint32_t *map) {
    for (uint32_t i = 0; i < loc->n_transitions; i++)
        loc->cnode[i] = map[loc->cnode[i]];
    for (size_t i = 0; i < loc->n_cells; i++)
        loc->cells[i].cnode = map[loc->cells[i].cnode];
    loc->root = mapped(map, loc->root);
    loc->init_cnode = mapped(map, loc->init_cnode);
    loc->finalize_cnode = mapped(map, loc->finalize_cnode);
    struct lc_loc_extra *extra = loc->extra;
    for (size_t i = 0; extra && i < extra->n_teams; i++)
        extra->teams[i].cnode = mapped(map, extra->teams[i].cnode);
    for (size_t i = 0; extra && i < extra->n_locks; i++) {
        extra->locks[i].cnode = mapped(map, extra->locks[i].cnode);
        extra->locks[i].release_cnode = mapped(map, extra->locks[i].release_cnode);
    }
    for (size_t i = 0; extra && i < extra->n_task_events; i++)
        extra->task_events[i].cnode = mapped(map, extra->task_events[i].cnode);
}

static enum lc_err unify(struct lc_reader *reader) {
    struct lc_trace *trace = reader->trace;
    uint32_t *map = NULL;
    LC_TRY(lc_transport_agree(trace->comm, unify_programs(reader)));
    LC_TRY(lc_tree_unify(&reader->tree, trace, &map));
    for (size_t c = 0; c < trace->n_cnodes; c++) { /* parents come before their children */
        struct lc_an_cnode *cnode = &trace->cnodes[c];
        if (!trace->regions[cnode->region].sampled || cnode->parent == LC_NONE)
            continue;
        cnode->exact = trace->cnodes[cnode->parent].exact;
        trace->sampled = true;
    }
    for (size_t i = 0; i < trace->n_locs; i++) {
        map_location(&trace->locs[i], map);
        lc_event_store_rest(trace->store);
    }
    free(map);
    return LC_OK;
}

static enum lc_err find_windows(struct lc_trace *trace, OTF2_Reader *reader) {
    char *text = NULL;
    if (OTF2_Reader_GetProperty(reader, LC_WINDOW_PROPERTY, &text) != OTF2_SUCCESS || text == NULL)
        return LC_OK;
    char *clean = lc_clean_text(text);
    if (clean != NULL)
        trace->windows = lc_arena_strdup(&trace->arena, clean);
    free(clean);
    free(text);
    return trace->windows != NULL ? LC_OK : LC_ERR_NOMEM;
}

static enum lc_err open_all(struct lc_trace *trace, const char *path, struct lc_reader *reader,
                            struct lc_defs *defs, struct archive *archive) {
    OTF2_Error_RegisterCallback(silent, NULL);
    archive->otf2 = OTF2_Reader_Open(path);
    if (!archive->otf2)
        return lc_fail(LC_ERR_FORMAT,
                       "%s: no readable OTF2 archive: is it complete (traces.otf2, "
                       "traces.def, traces/)?",
                       path);
    OTF2_Reader_SetSerialCollectiveCallbacks(archive->otf2);
    LC_TRY(lc_defs_read(defs, archive->otf2, trace));
    LC_TRY(find_windows(trace, archive->otf2));
    LC_TRY(lc_distribute_trace(trace));
    LC_TRY(take_locations(trace));
    LC_TRY(reader_init(reader, defs, trace));
    archive->callbacks = callbacks_new();
    if (!archive->callbacks)
        return lc_fail(LC_ERR_NOMEM, "events: no memory for callbacks");
    return LC_OK;
}

struct reading { /* what the steps of lc_trace_read share */
    struct lc_trace *trace;
    struct lc_defs defs;
    struct lc_reader reader;
    struct archive archive;
};

static enum lc_err open_step(void *user) {
    struct reading *r = user;
    lc_crash_watch(&r->reader.n_events);
    enum lc_err err = open_all(r->trace, r->archive.path, &r->reader, &r->defs, &r->archive);
    lc_crash_watch(NULL);
    return err;
}

static enum lc_err events_step(void *user) {
    struct reading *r = user;
    lc_crash_watch(&r->reader.n_events);
    enum lc_err err = read_events(&r->reader, &r->archive);
    lc_crash_watch(NULL);
    return err;
}

/* Collective. False: libotf2 has failed here. */
static bool read_all(struct reading *r, enum lc_err *err) {
    const struct lc_transport *comm = r->trace->comm;
    bool good = lc_crash_read(open_step, r, err);
    *err = lc_transport_agree(comm, *err);
    if (*err == LC_OK)
        *err = lc_forecast_check(r->trace, r->archive.path);
    if (*err != LC_OK)
        return good;
    good = lc_crash_read(events_step, r, err);
    *err = lc_transport_agree(comm, *err);
    return good;
}

/* Collective. What all ranks have read becomes one trace. */
static enum lc_err bring_together(struct reading *r) {
    struct lc_trace *trace = r->trace;
    LC_TRY(unify(&r->reader));
    int64_t n_events = (int64_t)trace->n_events;
    lc_transport_allreduce_i64(trace->comm, &n_events, 1, LC_OP_SUM);
    trace->n_events = (uint64_t)n_events;
    return lc_trace_bounds(trace);
}

enum lc_err lc_trace_read(struct lc_trace **out, const struct lc_transport *comm, const char *path,
                          struct lc_health *health, const struct lc_read_how *how) {
    struct reading r = {.reader = {.health = health}, .archive = {.path = path}};
    *out = NULL;
    if (how != NULL) {
        r.archive.progress = how->progress;
        r.archive.user = how->user;
    }
    enum lc_err err = lc_alloc(&r.trace, 1, sizeof *r.trace);
    LC_TRY(lc_transport_agree(comm, err));
    r.trace->comm = comm;
    r.trace->health = health;
    r.trace->store = how != NULL ? how->store : NULL;
    if (!read_all(&r, &err))
        return err;
    if (r.archive.callbacks)
        OTF2_EvtReaderCallbacks_Delete(r.archive.callbacks);
    if (r.archive.otf2)
        OTF2_Reader_Close(r.archive.otf2);
    if (comm->rank == 0)
        lc_health_add(health, LC_HEALTH_NOT_CPU, LC_NONE, r.defs.skipped_locations);
    if (err == LC_OK)
        err = bring_together(&r);
    reader_free(&r.reader);
    lc_defs_free(&r.defs);
    if (err == LC_OK)
        *out = r.trace;
    else
        lc_trace_free(r.trace);
    return err;
}
