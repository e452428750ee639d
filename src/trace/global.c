/* Global definitions, in the order and with the properties that other tools of the field write. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/mem.h"
#include "trace/global_state.h"
#include "trace/otf2_archive.h"

/* Numbers of phases in the event files rely on their texts being 1, 2, ...: written before all
 * others. */
static void write_phases(struct lc_global *g) {
    lc_global_string(g, "");
    for (size_t i = 0; i < lc_union_count(g->u, LC_UNION_STRING); i++) {
        const char *text = lc_union_string(g->u, LC_UNION_STRING, i);
        uint32_t expected = (uint32_t)i + 1;
        if (*text && lc_global_string(g, text) == expected)
            continue;
        g->n_strings = expected + 1; /* the empty name twice: a second number for it */
        WRITE(g, String(g->w, expected, text));
    }
    if (lc_union_count(g->u, LC_UNION_STRING))
        WRITE(g, Parameter(g->w, 0, lc_global_string(g, "Phase"), OTF2_PARAMETER_TYPE_STRING));
}

static void write_clock(struct lc_global *g) {
    uint64_t first = UINT64_MAX, last = 0;
    for (int r = 0; r < g->n_ranks; r++)
        for (uint32_t i = 0; i < g->infos[r].n_locations; i++) {
            const struct lc_trace_location_info *l = &g->infos[r].locations[i];
            first = l->n_events && l->first_time < first ? l->first_time : first;
            last = l->n_events && l->last_time > last ? l->last_time : last;
        }
    if (first > last)
        first = last;
    double per_s = g->infos[0].ticks_per_s > 0 ? g->infos[0].ticks_per_s : 1e9;
    uint64_t resolution = (uint64_t)(per_s + 0.5), realtime = OTF2_UNDEFINED_TIMESTAMP;
    if (g->infos[0].begin_realtime_ns)
        realtime = g->infos[0].begin_realtime_ns;
    WRITE(g, ClockProperties(g->w, resolution, first, last - first + 1, realtime));
}

static bool has_mpi(const struct lc_global *g) {
    return lc_union_count(g->u, LC_UNION_COMM) > 0; /* at least that of all */
}

static void write_paradigms(struct lc_global *g) {
    lc_global_thread_paradigms(g);
    if (!has_mpi(g))
        return;
    OTF2_AttributeValue comm = {.stringRef = lc_global_string(g, "Comm ${id}")},
                        win = {.stringRef = lc_global_string(g, "Win ${id}")};
    WRITE(g, Paradigm(g->w, OTF2_PARADIGM_MPI, lc_global_string(g, "MPI"),
                      OTF2_PARADIGM_CLASS_PROCESS));
    WRITE(g, ParadigmProperty(g->w, OTF2_PARADIGM_MPI, OTF2_PARADIGM_PROPERTY_COMM_NAME_TEMPLATE,
                              OTF2_TYPE_STRING, comm));
    WRITE(g, ParadigmProperty(g->w, OTF2_PARADIGM_MPI, OTF2_PARADIGM_PROPERTY_RMA_WIN_NAME_TEMPLATE,
                              OTF2_TYPE_STRING, win));
}

/* One tree node per host name, in order of the first rank on it: numbers[r] of each rank. */
static void write_system(struct lc_global *g, uint32_t *numbers) {
    struct utsname machine;
    const char *system = uname(&machine) == 0 ? machine.sysname : "machine";
    WRITE(g, SystemTreeNode(g->w, 0, lc_global_string(g, system), lc_global_string(g, "machine"),
                            OTF2_UNDEFINED_SYSTEM_TREE_NODE));
    WRITE(g, SystemTreeNodeDomain(g->w, 0, OTF2_SYSTEM_TREE_DOMAIN_MACHINE));
    OTF2_AttributeValue platform = {.stringRef = lc_global_string(g, system)};
    WRITE(g, SystemTreeNodeProperty(g->w, 0, lc_global_string(g, "platform"), OTF2_TYPE_STRING,
                                    platform));
    uint32_t n_nodes = 0;
    struct lc_lookup hosts = {0}; /* first rank of each */
    for (int r = 0; r < g->n_ranks && !g->no_memory; r++) {
        const char *host = g->infos[r].host;
        uint64_t hash = lc_hash_text(LC_HASH_BEGIN, host);
        uint32_t first = LC_LOOKUP(&hosts, hash, i, strcmp(g->infos[i].host, host) == 0);
        if (first == LC_NONE) {
            g->no_memory |= lc_lookup_add(&hosts, hash, (uint32_t)r) != LC_OK;
            numbers[r] = ++n_nodes;
            WRITE(g, SystemTreeNode(g->w, n_nodes, lc_global_string(g, host),
                                    lc_global_string(g, "node"), 0));
            WRITE(g, SystemTreeNodeDomain(g->w, n_nodes, OTF2_SYSTEM_TREE_DOMAIN_SHARED_MEMORY));
        } else {
            numbers[r] = numbers[first];
        }
    }
    lc_lookup_free(&hosts);
}

/* Which executable each process runs: a property, since OTF2 has no definition for it. */
static void write_programs(struct lc_global *g) {
    struct lc_programs programs;
    const char **ids = NULL;
    if (lc_alloc(&ids, (size_t)g->n_ranks + 1, sizeof(*ids)) != LC_OK) {
        g->no_memory = true;
        return;
    }
    for (int r = 0; r < g->n_ranks; r++)
        ids[r] = g->infos[r].program;
    enum lc_err err = lc_programs_find(&programs, ids, (size_t)g->n_ranks);
    free(ids);
    if (err != LC_OK) {
        g->no_memory = true;
        return;
    }
    for (int r = 0; r < g->n_ranks; r++) {
        if (programs.of[r] == LC_NONE)
            continue;
        OTF2_AttributeValue name = {.stringRef =
                                        lc_global_string(g, programs.names[programs.of[r]])};
        WRITE(g, LocationGroupProperty(g->w, (uint32_t)r, lc_global_string(g, LC_PROGRAM_PROPERTY),
                                       OTF2_TYPE_STRING, name));
    }
    lc_programs_free(&programs);
}

static void write_locations(struct lc_global *g, const uint32_t *nodes) {
    char name[64];
    for (int r = 0; r < g->n_ranks; r++) {
        const struct lc_trace_rank_info *info = &g->infos[r];
        snprintf(name, sizeof(name), has_mpi(g) ? "MPI Rank %d" : "Process", r);
        WRITE(g, LocationGroup(g->w, (uint32_t)r, lc_global_string(g, name),
                               OTF2_LOCATION_GROUP_TYPE_PROCESS, nodes[r],
                               OTF2_UNDEFINED_LOCATION_GROUP));
        OTF2_AttributeValue pid = {.int64 = info->pid};
        WRITE(g, LocationGroupProperty(g->w, (uint32_t)r, lc_global_string(g, "ProcessId"),
                                       OTF2_TYPE_INT64, pid));
    }
    write_programs(g);
    for (int r = 0; r < g->n_ranks; r++)
        for (uint32_t i = 0; i < g->infos[r].n_locations; i++) {
            const struct lc_trace_location_info *l = &g->infos[r].locations[i];
            snprintf(name, sizeof(name),
                     l->thread == 0 ? "Master thread"
                     : l->openmp    ? "OMP thread %u"
                                    : "Thread %u",
                     l->thread);
            WRITE(g, Location(g->w, l->location, lc_global_string(g, name),
                              OTF2_LOCATION_TYPE_CPU_THREAD, l->n_events, (uint32_t)r));
            OTF2_AttributeValue tid = {.uint64 = l->tid};
            WRITE(g, LocationProperty(g->w, l->location, lc_global_string(g, "ThreadId"),
                                      OTF2_TYPE_UINT64, tid));
        }
}

/* The number of the group of these MPI processes; equal groups are written once. */
static uint32_t group(struct lc_global *g, const int32_t *world, uint32_t n) {
    uint64_t *members = calloc((size_t)n + 1, sizeof(*members));
    for (uint32_t i = 0; members && i < n; i++)
        members[i] =
            world[i] >= 0 && world[i] < g->n_ranks ? (uint64_t)world[i] : OTF2_UNDEFINED_UINT64;
    if (!members) {
        g->no_memory = true;
        return 0;
    }
    uint64_t hash = lc_hash_bytes(LC_HASH_BEGIN, members, n * sizeof(*members));
    uint32_t at = LC_LOOKUP(&g->group_at, hash, i,
                            g->groups[i].n == n &&
                                memcmp(g->groups[i].members, members, n * sizeof(*members)) == 0);
    if (at == LC_NONE &&
        (lc_grow(&g->groups, &g->cap_groups, g->n_written + 1, sizeof *g->groups) != LC_OK ||
         lc_lookup_add(&g->group_at, hash, (uint32_t)g->n_written) != LC_OK))
        g->no_memory = true;
    if (at != LC_NONE || g->no_memory) {
        free(members);
        return at != LC_NONE ? g->groups[at].number : 0;
    }
    g->groups[g->n_written++] = (struct lc_group){n, g->n_groups, members};
    lc_global_group(g, g->n_groups, OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_MPI, n, members);
    return g->n_groups++;
}

/* Groups 0 (all MPI processes), 1 (self), 2 and up: those that RMA records refer to, in the order
 * of the union. */
static void write_first_groups(struct lc_global *g) {
    size_t n_union = lc_union_count(g->u, LC_UNION_GROUP);
    if (!has_mpi(g))
        return;
    uint64_t *all = malloc(((size_t)g->n_ranks + 1) * sizeof(*all));
    if (!all) {
        g->no_memory = true;
        return;
    }
    for (int r = 0; r < g->n_ranks; r++)
        all[r] = (uint64_t)r;
    lc_global_group(g, 0, OTF2_GROUP_TYPE_COMM_LOCATIONS, OTF2_PARADIGM_MPI, (uint32_t)g->n_ranks,
                    all);
    lc_global_group(g, 1, OTF2_GROUP_TYPE_COMM_SELF, OTF2_PARADIGM_MPI, 0, NULL);
    free(all);
    g->n_groups = 2;
    for (size_t i = 0; i < n_union; i++) {
        const int32_t *world = NULL;
        uint32_t n = 0;
        if (lc_union_group(g->u, i, &world, &n) == LC_OK)
            group(g, world, n);
    }
}

/* OTF2 has definitions of Cartesian topologies only: a property of the first location of a process
 * names its sources in neighbourhood operations on a communicator, ranks of the communicator. */
static void write_neighbours(struct lc_global *g) {
    for (uint32_t i = 0; i < lc_union_count(g->u, LC_UNION_NEIGHBOURS); i++) {
        struct lc_union_neighbours of;
        struct lc_strbuf name = {0}, ranks = {0};
        if (lc_union_read_neighbours(g->u, i, &of) != LC_OK || of.comm == LC_NONE || of.rank < 0 ||
            of.rank >= g->n_ranks || g->infos[of.rank].n_locations == 0)
            continue;
        lc_strbuf_printf(&name, LC_NEIGHBOURS_PROPERTY "%u", of.comm);
        for (uint32_t k = 0; k < of.n; k++) {
            int32_t source;
            memcpy(&source, (const char *)of.sources + 4 * (size_t)k, 4);
            if (source >= 0) /* MPI_PROC_NULL */
                lc_strbuf_printf(&ranks, "%s%d", ranks.length ? " " : "", source);
        }
        OTF2_AttributeValue value = {.stringRef = lc_global_string(g, lc_strbuf_get(&ranks))};
        g->no_memory |= !lc_strbuf_ok(&name) || !lc_strbuf_ok(&ranks);
        WRITE(g,
              LocationProperty(g->w, g->infos[of.rank].locations[0].location,
                               lc_global_string(g, lc_strbuf_get(&name)), OTF2_TYPE_STRING, value));
        lc_strbuf_free(&name);
        lc_strbuf_free(&ranks);
    }
}

/* Where each process is: ranks are in row-major order. */
static void write_coordinates(struct lc_global *g, uint32_t topology,
                              const struct lc_union_comm *c) {
    for (uint32_t rank = 0; rank < c->n_local; rank++) {
        uint32_t at[LC_GRID_DIMS], rest = rank;
        for (uint32_t d = c->n_dims; d-- > 0; rest /= (uint32_t)c->dims[d])
            at[d] = rest % (uint32_t)c->dims[d];
        WRITE(g, CartCoordinate(g->w, topology, rank, (uint8_t)c->n_dims, at));
    }
}

/* The Cartesian topology of a communicator; not where it is damaged. */
static void write_topology(struct lc_global *g, uint32_t comm, const struct lc_union_comm *c) {
    OTF2_CartDimensionRef dims[LC_GRID_DIMS];
    uint64_t cells = 1;
    for (uint32_t d = 0; d < c->n_dims; d++)
        cells = c->dims[d] > 0 && cells <= c->n_local ? cells * (uint64_t)c->dims[d] : 0;
    if (c->n_dims == 0 || cells != c->n_local || c->flags & LC_COMM_INTER)
        return;
    for (uint32_t d = 0; d < c->n_dims; d++) {
        dims[d] = g->n_dimensions++;
        WRITE(g,
              CartDimension(g->w, dims[d], lc_global_string(g, ""), (uint32_t)c->dims[d],
                            c->periodic[d] ? OTF2_CART_PERIODIC_TRUE : OTF2_CART_PERIODIC_FALSE));
    }
    WRITE(g, CartTopology(g->w, g->n_topologies, lc_global_string(g, c->name), comm,
                          (uint8_t)c->n_dims, dims));
    write_coordinates(g, g->n_topologies++, c);
}

/* Numbers are those of the union: parents first. */
static void write_comms(struct lc_global *g) {
    g->n_comms = (uint32_t)lc_union_count(g->u, LC_UNION_COMM);
    for (uint32_t i = 0; i < g->n_comms; i++) {
        struct lc_union_comm c;
        if (lc_union_read_comm(g->u, i, &c) != LC_OK) {
            g->code = OTF2_ERROR_INVALID_DATA;
            return;
        }
        OTF2_CommRef parent = c.parent == LC_NONE ? OTF2_UNDEFINED_COMM : c.parent;
        uint32_t name = lc_global_string(g, c.name);
        if (c.flags & LC_COMM_INTER) {
            uint32_t a = group(g, c.world, c.n_local),
                     b = group(g, c.world + c.n_local, c.n_remote);
            WRITE(g, InterComm(g->w, i, name, a, b, parent, OTF2_COMM_FLAG_CREATE_DESTROY_EVENTS));
        } else {
            uint32_t members = c.flags & LC_COMM_SELF ? 1 : group(g, c.world, c.n_local);
            WRITE(g, Comm(g->w, i, name, members, parent, OTF2_COMM_FLAG_CREATE_DESTROY_EVENTS));
        }
        write_topology(g, i, &c);
    }
    for (uint32_t i = 0; i < lc_union_count(g->u, LC_UNION_WIN); i++) {
        struct lc_union_win win;
        if (lc_union_read_win(g->u, i, &win) == LC_OK)
            WRITE(g, RmaWin(g->w, i, lc_global_string(g, win.name),
                            win.comm == LC_NONE ? OTF2_UNDEFINED_COMM : win.comm,
                            OTF2_RMA_WIN_FLAG_CREATE_DESTROY_EVENTS));
    }
}

static void write_files(struct lc_global *g) {
    size_t n_files = lc_union_count(g->u, LC_UNION_FILE);
    if (n_files == 0)
        return;
    WRITE(g, IoParadigm(g->w, 0, lc_global_string(g, "MPI-IO"), lc_global_string(g, "MPI I/O"),
                        OTF2_IO_PARADIGM_CLASS_PARALLEL, OTF2_IO_PARADIGM_FLAG_NONE, 0, NULL, NULL,
                        NULL));
    for (uint32_t i = 0; i < n_files; i++)
        WRITE(g, IoRegularFile(g->w, i,
                               lc_global_string(g, lc_union_string(g->u, LC_UNION_FILE, i)), 0));
    for (uint32_t i = 0; i < lc_union_count(g->u, LC_UNION_HANDLE); i++) {
        struct lc_union_handle handle;
        if (lc_union_read_handle(g->u, i, &handle) != LC_OK || handle.file == LC_NONE)
            continue;
        WRITE(g,
              IoHandle(g->w, i, lc_global_string(g, ""), handle.file, 0, OTF2_IO_HANDLE_FLAG_NONE,
                       handle.comm == LC_NONE ? OTF2_UNDEFINED_COMM : handle.comm,
                       OTF2_UNDEFINED_IO_HANDLE));
    }
}

/* Messages or collectives may be missing, as they were begun while nothing was recorded. */
static bool has_gaps(const struct lc_global *g) {
    bool counted = g->process->windows != NULL;
    for (int r = 0; r < g->n_ranks; r++)
        counted |= g->infos[r].counted != 0;
    return counted;
}

/* What readers need to match the messages of a trace with gaps. */
static void write_attribute(struct lc_global *g) {
    if (has_gaps(g))
        WRITE(g, Attribute(g->w, LC_TRACE_LEFT_OUT_REF, lc_global_string(g, LC_LEFT_OUT_ATTRIBUTE),
                           lc_global_string(g, "messages or collectives of the same channel, "
                                               "begun before, while nothing was recorded"),
                           OTF2_TYPE_UINT64));
}

static void set_count(struct lc_global *g, const char *name, uint64_t count) {
    char digits[32];
    snprintf(digits, sizeof(digits), "%llu", (unsigned long long)count);
    OTF2_Archive_SetProperty(g->archive, name, digits, true);
}

static void write_properties(struct lc_global *g) {
    uint64_t lost = 0, threads = 0, flushes = 0;
    for (int r = 0; r < g->n_ranks; r++) {
        lost += g->infos[r].lost_records;
        threads += g->infos[r].lost_threads;
        flushes += g->infos[r].n_flushes;
    }
    OTF2_Archive_SetBoolProperty(g->archive, "OTF2::MPI_COMMUNICATION_COMPLETE",
                                 lost == 0 && threads == 0 && !g->options->filter && !has_gaps(g),
                                 true);
    if (g->process->windows != NULL)
        OTF2_Archive_SetProperty(g->archive, LC_WINDOW_PROPERTY, g->process->windows, true);
    OTF2_Archive_SetBoolProperty(g->archive, "OTF2::THREAD_FORK_JOIN_EVENT_COMPLETE",
                                 lc_global_has_teams(g) && lost == 0 && threads == 0, true);
    OTF2_Archive_SetBoolProperty(g->archive, "OTF2::THREAD_CREATE_WAIT_EVENT_COMPLETE", false,
                                 true);
    OTF2_Archive_SetBoolProperty(g->archive, "OTF2::THREAD_LOCK_EVENT_COMPLETE", false, true);
    OTF2_Archive_SetBoolProperty(g->archive, "OTF2::PTHREAD_LOCATION_REUSED", false, true);
    OTF2_Archive_SetProperty(g->archive, "LATECOMER::PROGRAM", g->process->program, true);
    OTF2_Archive_SetProperty(g->archive, "LATECOMER::ARGUMENTS", g->process->arguments, true);
    set_count(g, "LATECOMER::LOST_RECORDS", lost);
    set_count(g, "LATECOMER::LOST_THREADS", threads);
    set_count(g, "LATECOMER::BUFFER_FLUSHES", flushes);
    static const char *const of_interest[] = {"OMP_NUM_THREADS", "OMP_PROC_BIND", "OMP_PLACES",
                                              "SLURM_JOB_ID", "PBS_JOBID"};
    for (size_t i = 0; i < sizeof(of_interest) / sizeof(of_interest[0]); i++) {
        const char *value = getenv(of_interest[i]);
        char name[32];
        snprintf(name, sizeof(name), "LATECOMER::%s", of_interest[i]);
        if (value)
            OTF2_Archive_SetProperty(g->archive, name, value, true);
    }
}

static void free_global(struct lc_global *g) {
    for (size_t i = 0; i < g->n_texts; i++)
        free(g->texts[i].text);
    for (size_t i = 0; i < g->n_written; i++)
        free(g->groups[i].members);
    free(g->texts);
    free(g->groups);
    lc_lookup_free(&g->text_at);
    lc_lookup_free(&g->group_at);
}

static enum lc_err write_all(struct lc_global *g) {
    uint32_t *nodes = NULL;
    LC_TRY(lc_alloc(&nodes, (size_t)g->n_ranks + 1, sizeof(*nodes)));
    write_clock(g);
    write_phases(g);
    write_attribute(g);
    write_paradigms(g);
    write_system(g, nodes);
    write_locations(g, nodes);
    free(nodes);
    write_first_groups(g);
    lc_global_code(g);
    write_comms(g);
    write_neighbours(g);
    lc_global_thread_comms(g);
    write_files(g);
    write_properties(g);
    if (g->no_memory)
        return lc_fail(LC_ERR_NOMEM, "definitions of the trace: not enough memory");
    if (g->code != OTF2_SUCCESS)
        return lc_fail(LC_ERR_IO, "definitions of the trace: %s: check the free space",
                       OTF2_Error_GetDescription(g->code));
    return LC_OK;
}

enum lc_err lc_trace_write_global(const char *dir, const struct lc_union *u,
                                  const struct lc_trace_rank_info *infos, int n_ranks,
                                  const struct lc_trace_defs *process,
                                  const struct lc_trace_options *options) {
    struct lc_trace_archive archive;
    LC_TRY(lc_trace_archive_open(&archive, dir, "global"));
    struct lc_global g = {.archive = archive.otf2,
                          .u = u,
                          .infos = infos,
                          .n_ranks = n_ranks,
                          .process = process,
                          .options = options};
    g.w = OTF2_Archive_GetGlobalDefWriter(archive.otf2);
    enum lc_err err =
        g.w ? write_all(&g)
            : lc_fail(LC_ERR_IO, "%s/traces.def: cannot be written: check the free space", dir);
    free_global(&g);
    if (err == LC_OK)
        return lc_trace_archive_close(&archive, true);
    lc_trace_archive_drop(&archive);
    return err;
}
