#include "analyze/archive_defs_comm.h"

#include <stdlib.h>
#include <string.h>

#include "format/trace_def_records.h"

static OTF2_CallbackCode on_group(void *user, OTF2_GroupRef id, OTF2_StringRef name,
                                  OTF2_GroupType type, OTF2_Paradigm paradigm, OTF2_GroupFlag flags,
                                  uint32_t n_members, const uint64_t *members) {
    (void)name, (void)flags;
    struct lc_def_raw *raw = user;
    struct lc_defs *defs = raw->defs;
    uint64_t *copy = NULL;
    raw->err = lc_grow(&defs->groups, &defs->cap_groups, defs->n_groups + 1, sizeof *defs->groups);
    if (raw->err == LC_OK && n_members &&
        !(copy = lc_arena_take(&defs->trace->arena, n_members * sizeof *copy)))
        raw->err = LC_ERR_NOMEM;
    if (raw->err == LC_OK) {
        if (n_members)
            memcpy(copy, members, n_members * sizeof *copy);
        defs->groups[defs->n_groups] = (struct lc_def_group){type, paradigm, n_members, copy, NULL};
        raw->err = lc_idmap_put(&defs->group_of, id, (uint32_t)defs->n_groups++);
    }
    return RAW_END(raw);
}

static OTF2_CallbackCode add_comm(struct lc_def_raw *raw, struct raw_comm definition) {
    struct raw_comm *comm = RAW_ADD(raw, comms);
    if (comm)
        *comm = definition;
    return RAW_END(raw);
}

static OTF2_CallbackCode on_comm(void *user, OTF2_CommRef id, OTF2_StringRef name,
                                 OTF2_GroupRef group, OTF2_CommRef parent, OTF2_CommFlag flags) {
    (void)name, (void)parent, (void)flags;
    return add_comm(user, (struct raw_comm){id, group, OTF2_UNDEFINED_GROUP, false});
}

static OTF2_CallbackCode on_inter_comm(void *user, OTF2_CommRef id, OTF2_StringRef name,
                                       OTF2_GroupRef group_a, OTF2_GroupRef group_b,
                                       OTF2_CommRef common, OTF2_CommFlag flags) {
    (void)name, (void)common, (void)flags;
    return add_comm(user, (struct raw_comm){id, group_a, group_b, false});
}

static OTF2_CallbackCode on_window(void *user, OTF2_RmaWinRef id, OTF2_StringRef name,
                                   OTF2_CommRef of, OTF2_RmaWinFlag flags) {
    (void)name, (void)flags;
    return add_comm(user, (struct raw_comm){id, of, OTF2_UNDEFINED_GROUP, true});
}

static OTF2_CallbackCode on_file(void *user, OTF2_IoHandleRef id, OTF2_StringRef name,
                                 OTF2_IoFileRef file, OTF2_IoParadigmRef paradigm,
                                 OTF2_IoHandleFlag flags, OTF2_CommRef comm,
                                 OTF2_IoHandleRef parent) {
    (void)name, (void)file, (void)paradigm, (void)flags, (void)parent;
    struct lc_def_raw *raw = user;
    for (size_t i = 0; i < raw->n_comms && raw->err == LC_OK; i++)
        if (raw->comms[i].id == comm && !raw->comms[i].window)
            raw->err = lc_idmap_put(&raw->defs->file_of, id, (uint32_t)i);
    return RAW_END(raw);
}

static OTF2_CallbackCode on_dimension(void *user, OTF2_CartDimensionRef id, OTF2_StringRef name,
                                      uint32_t size, OTF2_CartPeriodicity periodicity) {
    (void)name;
    struct lc_def_raw *raw = user;
    struct raw_dim *dim = RAW_ADD(raw, dims);
    if (dim)
        *dim = (struct raw_dim){id, {size, periodicity == OTF2_CART_PERIODIC_TRUE}};
    return RAW_END(raw);
}

static OTF2_CallbackCode on_topology(void *user, OTF2_CartTopologyRef id, OTF2_StringRef name,
                                     OTF2_CommRef comm, uint8_t n_dims,
                                     const OTF2_CartDimensionRef *dims) {
    (void)id, (void)name;
    struct lc_def_raw *raw = user;
    uint64_t *copy = lc_arena_take(&raw->defs->trace->arena, (n_dims + 1u) * sizeof *copy);
    struct raw_topology *topology = copy ? RAW_ADD(raw, topologies) : NULL;
    if (!copy)
        raw->err = LC_ERR_NOMEM;
    for (uint8_t i = 0; copy && i < n_dims; i++)
        copy[i] = dims[i];
    if (topology)
        *topology = (struct raw_topology){comm, n_dims, copy};
    return RAW_END(raw);
}

static OTF2_CallbackCode on_property(void *user, OTF2_LocationRef location, OTF2_StringRef name,
                                     OTF2_Type type, OTF2_AttributeValue value) {
    struct lc_def_raw *raw = user;
    const char *text = lc_defs_text(raw->defs, name);
    size_t prefix = strlen(LC_NEIGHBOURS_PROPERTY);
    char *end;
    if (type != OTF2_TYPE_STRING || strncmp(text, LC_NEIGHBOURS_PROPERTY, prefix) != 0)
        return OTF2_CALLBACK_SUCCESS;
    uint64_t comm = strtoull(text + prefix, &end, 10);
    struct raw_neighbours *of = *end == '\0' ? RAW_ADD(raw, neighbours) : NULL;
    if (of)
        *of = (struct raw_neighbours){location, comm, lc_defs_text(raw->defs, value.stringRef)};
    return RAW_END(raw);
}

void lc_defs_comm_callbacks(OTF2_GlobalDefReaderCallbacks *callbacks) {
    OTF2_GlobalDefReaderCallbacks_SetGroupCallback(callbacks, on_group);
    OTF2_GlobalDefReaderCallbacks_SetCommCallback(callbacks, on_comm);
    OTF2_GlobalDefReaderCallbacks_SetInterCommCallback(callbacks, on_inter_comm);
    OTF2_GlobalDefReaderCallbacks_SetRmaWinCallback(callbacks, on_window);
    OTF2_GlobalDefReaderCallbacks_SetIoHandleCallback(callbacks, on_file);
    OTF2_GlobalDefReaderCallbacks_SetCartDimensionCallback(callbacks, on_dimension);
    OTF2_GlobalDefReaderCallbacks_SetCartTopologyCallback(callbacks, on_topology);
    OTF2_GlobalDefReaderCallbacks_SetLocationPropertyCallback(callbacks, on_property);
}

const struct lc_def_group *lc_defs_rank_list(const struct lc_defs *defs, OTF2_Paradigm paradigm) {
    for (size_t i = 0; i < defs->n_groups; i++)
        if (defs->groups[i].type == OTF2_GROUP_TYPE_COMM_LOCATIONS &&
            defs->groups[i].paradigm == paradigm)
            return &defs->groups[i];
    return NULL;
}

/* Members of a group as processes. A COMM_GROUP names positions in the COMM_LOCATIONS group of its
 * paradigm. */
static enum lc_err resolve_group(struct lc_def_raw *raw, struct lc_def_group *group) {
    if (group->type != OTF2_GROUP_TYPE_COMM_GROUP && group->type != OTF2_GROUP_TYPE_COMM_LOCATIONS)
        return LC_OK;
    const struct lc_def_group *ranks = lc_defs_rank_list(raw->defs, group->paradigm);
    uint32_t *processes =
        lc_arena_take(&raw->defs->trace->arena, (group->n_members + 1) * sizeof *processes);
    if (!processes)
        return LC_ERR_NOMEM;
    for (uint32_t i = 0; i < group->n_members; i++) {
        uint64_t member = group->members[i];
        processes[i] = LC_NONE;
        if (group->type == OTF2_GROUP_TYPE_COMM_GROUP) {
            if (!ranks || member >= ranks->n_members)
                continue;
            member = ranks->members[member];
        }
        processes[i] = lc_idmap_get(&raw->location_process, member);
    }
    group->processes = processes;
    return LC_OK;
}

static void set_members(const struct lc_defs *defs, uint64_t group, uint32_t *n,
                        const uint32_t **members, bool *self) {
    uint32_t index = lc_idmap_get(&defs->group_of, group);
    if (index == LC_NONE)
        return;
    const struct lc_def_group *g = &defs->groups[index];
    if (g->type == OTF2_GROUP_TYPE_COMM_SELF) {
        *self = true;
        *n = 1;
    } else if (g->processes) {
        *n = g->n_members;
        *members = g->processes;
    }
}

/* A topology counts if its dimensions are known and hold just the members. */
static enum lc_err build_topologies(struct lc_def_raw *raw) {
    struct lc_trace *trace = raw->defs->trace;
    for (size_t i = 0; i < raw->n_topologies; i++) {
        const struct raw_topology *from = &raw->topologies[i];
        uint32_t comm = lc_idmap_get(&raw->defs->comm_of, from->comm);
        struct lc_an_dim *dims = lc_arena_take(&trace->arena, (from->n_dims + 1) * sizeof *dims);
        uint64_t cells = 1;
        if (!dims)
            return LC_ERR_NOMEM;
        for (uint32_t d = 0; d < from->n_dims; d++) {
            dims[d].size = 0;
            for (size_t k = 0; k < raw->n_dims; k++)
                if (raw->dims[k].id == from->dims[d])
                    dims[d] = raw->dims[k].dim;
            cells = cells > UINT32_MAX ? cells : cells * dims[d].size;
        }
        if (comm == LC_NONE || !from->n_dims || cells != trace->comms[comm].n_members)
            continue;
        trace->comms[comm].n_dims = from->n_dims;
        trace->comms[comm].dims = dims;
    }
    return LC_OK;
}

static enum lc_err parse_ranks(struct lc_trace *trace, const char *text, uint32_t n_members,
                               struct lc_an_sources *out) {
    uint32_t *ranks = lc_arena_take(&trace->arena, (strlen(text) / 2 + 2) * sizeof *ranks);
    if (!ranks)
        return LC_ERR_NOMEM;
    out->n = 0;
    for (char *end; *text; text = *end ? end + 1 : end) {
        unsigned long rank = strtoul(text, &end, 10);
        if (end == text)
            break;
        if (rank < n_members)
            ranks[out->n++] = (uint32_t)rank;
    }
    out->ranks = ranks;
    return LC_OK;
}

static enum lc_err build_neighbours(struct lc_def_raw *raw) {
    struct lc_trace *trace = raw->defs->trace;
    for (size_t i = 0; i < raw->n_neighbours; i++) {
        const struct raw_neighbours *from = &raw->neighbours[i];
        uint32_t id = lc_idmap_get(&raw->defs->comm_of, from->comm);
        uint32_t process = lc_idmap_get(&raw->location_process, from->location);
        if (id == LC_NONE || process == LC_NONE)
            continue;
        struct lc_an_comm *comm = &trace->comms[id];
        uint32_t rank = lc_transport_rank(comm, process);
        if (rank == LC_NONE || rank >= comm->n_members)
            continue;
        struct lc_an_sources *sources = (struct lc_an_sources *)(uintptr_t)comm->sources;
        if (sources == NULL) {
            sources = lc_arena_take(&trace->arena, comm->n_members * sizeof *sources);
            if (!sources)
                return LC_ERR_NOMEM;
            memset(sources, 0, comm->n_members * sizeof *sources);
            comm->sources = sources;
        }
        LC_TRY(parse_ranks(trace, from->ranks, comm->n_members, &sources[rank]));
    }
    return LC_OK;
}

enum lc_err lc_defs_build_comms(struct lc_def_raw *raw) {
    struct lc_defs *defs = raw->defs;
    struct lc_trace *trace = defs->trace;
    for (size_t i = 0; i < defs->n_groups; i++)
        LC_TRY(resolve_group(raw, &defs->groups[i]));
    LC_TRY(lc_alloc(&trace->comms, raw->n_comms + 1, sizeof *trace->comms));
    trace->n_comms = raw->n_comms;
    for (size_t i = 0; i < raw->n_comms; i++) {
        struct raw_comm *from = &raw->comms[i];
        struct lc_an_comm *to = &trace->comms[i];
        if (from->window)
            continue;
        set_members(defs, from->group, &to->n_members, &to->members, &to->self);
        if (from->remote != OTF2_UNDEFINED_GROUP)
            set_members(defs, from->remote, &to->n_remote, &to->remote, &to->self);
        LC_TRY(lc_idmap_put(&defs->comm_of, from->id, (uint32_t)i));
    }
    LC_TRY(build_topologies(raw));
    LC_TRY(build_neighbours(raw));
    for (size_t i = 0; i < raw->n_comms; i++) {
        if (!raw->comms[i].window)
            continue;
        uint32_t of = lc_idmap_get(&defs->comm_of, raw->comms[i].group);
        if (of != LC_NONE)
            trace->comms[i] = trace->comms[of];
        trace->comms[i].window = true;
        LC_TRY(lc_idmap_put(&defs->window_of, raw->comms[i].id, (uint32_t)i));
    }
    return LC_OK;
}
