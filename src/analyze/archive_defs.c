#include "analyze/archive_defs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/archive_defs_comm.h"
#include "analyze/raw_defs.h"
#include "analyze/region_class.h"
#include "base/utf8.h"
#include "format/trace_def_records.h"

static OTF2_CallbackCode on_clock(void *user, uint64_t resolution, uint64_t offset, uint64_t length,
                                  uint64_t realtime) {
    (void)length, (void)realtime;
    struct lc_trace *trace = ((struct lc_def_raw *)user)->defs->trace;
    trace->ticks_per_second = resolution;
    trace->global_offset = offset;
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_string(void *user, OTF2_StringRef id, const char *text) {
    struct lc_def_raw *raw = user;
    struct lc_defs *defs = raw->defs;
    raw->err = lc_grow(&defs->texts, &defs->cap_texts, defs->n_texts + 1, sizeof *defs->texts);
    char *clean = lc_clean_text(text ? text : "");
    if (raw->err == LC_OK && (!clean || !(text = lc_arena_strdup(&defs->trace->arena, clean))))
        raw->err = LC_ERR_NOMEM;
    free(clean);
    if (raw->err == LC_OK) {
        defs->texts[defs->n_texts] = text;
        raw->err = lc_idmap_put(&defs->strings, id, (uint32_t)defs->n_texts++);
    }
    return RAW_END(raw);
}

static OTF2_CallbackCode on_attribute(void *user, OTF2_AttributeRef id, OTF2_StringRef name,
                                      OTF2_StringRef description, OTF2_Type type) {
    (void)description;
    struct lc_defs *defs = ((struct lc_def_raw *)user)->defs;
    if (type == OTF2_TYPE_UINT64 && strcmp(lc_defs_text(defs, name), LC_LEFT_OUT_ATTRIBUTE) == 0) {
        defs->left_out = id;
        defs->trace->numbered = true;
    }
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_node(void *user, OTF2_SystemTreeNodeRef id, OTF2_StringRef name,
                                 OTF2_StringRef class_name, OTF2_SystemTreeNodeRef parent) {
    struct lc_def_raw *raw = user;
    struct raw_node *node = RAW_ADD(raw, nodes);
    if (node)
        *node = (struct raw_node){id, parent, lc_defs_text(raw->defs, name),
                                  lc_defs_text(raw->defs, class_name)};
    return RAW_END(raw);
}

static OTF2_CallbackCode on_location_group(void *user, OTF2_LocationGroupRef id,
                                           OTF2_StringRef name, OTF2_LocationGroupType type,
                                           OTF2_SystemTreeNodeRef parent,
                                           OTF2_LocationGroupRef creator) {
    (void)creator, (void)type;
    struct lc_def_raw *raw = user;
    struct raw_group *group = RAW_ADD(raw, groups);
    if (group)
        *group = (struct raw_group){.id = id,
                                    .system_node = parent,
                                    .name = lc_defs_text(raw->defs, name),
                                    .order = LC_NONE,
                                    .process = LC_NONE};
    return RAW_END(raw);
}

static OTF2_CallbackCode on_group_property(void *user, OTF2_LocationGroupRef id,
                                           OTF2_StringRef name, OTF2_Type type,
                                           OTF2_AttributeValue value) {
    struct lc_def_raw *raw = user;
    if (type != OTF2_TYPE_STRING || strcmp(lc_defs_text(raw->defs, name), LC_PROGRAM_PROPERTY) != 0)
        return OTF2_CALLBACK_SUCCESS;
    const char *program = lc_defs_text(raw->defs, value.stringRef);
    if (*program == '\0')
        return OTF2_CALLBACK_SUCCESS;
    struct raw_program *one = RAW_ADD(raw, programs);
    if (one)
        *one = (struct raw_program){id, program};
    return RAW_END(raw);
}

static OTF2_CallbackCode on_location(void *user, OTF2_LocationRef id, OTF2_StringRef name,
                                     OTF2_LocationType type, uint64_t n_events,
                                     OTF2_LocationGroupRef group) {
    struct lc_def_raw *raw = user;
    if (type != OTF2_LOCATION_TYPE_CPU_THREAD) {
        raw->defs->skipped_locations++;
        return OTF2_CALLBACK_SUCCESS;
    }
    struct raw_location *location = RAW_ADD(raw, locations);
    if (location)
        *location = (struct raw_location){id, n_events, group, lc_defs_text(raw->defs, name)};
    return RAW_END(raw);
}

static OTF2_CallbackCode on_region(void *user, OTF2_RegionRef id, OTF2_StringRef name,
                                   OTF2_StringRef canonical, OTF2_StringRef description,
                                   OTF2_RegionRole role, OTF2_Paradigm paradigm,
                                   OTF2_RegionFlag flags, OTF2_StringRef file, uint32_t begin,
                                   uint32_t end) {
    (void)description;
    struct lc_def_raw *raw = user;
    struct lc_an_region region = {.name = lc_defs_text(raw->defs, name),
                                  .mangled = lc_defs_text(raw->defs, canonical),
                                  .file = lc_defs_text(raw->defs, file),
                                  .begin_line = begin,
                                  .end_line = end,
                                  .phase = (flags & OTF2_REGION_FLAG_PHASE) != 0};
    /* Score-P gives the program a region whose canonical name is its command line. */
    region.artificial = role == OTF2_REGION_ROLE_ARTIFICIAL;
    lc_region_classify(&region, paradigm, role);
    uint32_t index;
    raw->err = lc_defs_region(raw->defs, &region, &index);
    if (raw->err == LC_OK)
        raw->err = lc_idmap_put(&raw->defs->region_of, id, index);
    return RAW_END(raw);
}

static OTF2_CallbackCode on_context(void *user, OTF2_CallingContextRef id, OTF2_RegionRef region,
                                    OTF2_SourceCodeLocationRef place,
                                    OTF2_CallingContextRef parent) {
    (void)place;
    struct lc_def_raw *raw = user;
    struct lc_defs *defs = raw->defs;
    uint32_t r = lc_idmap_get(&defs->region_of, region);
    if (r == LC_NONE)
        return OTF2_CALLBACK_SUCCESS;
    raw->err =
        lc_grow(&defs->contexts, &defs->cap_contexts, defs->n_contexts + 1, sizeof *defs->contexts);
    if (raw->err == LC_OK) {
        defs->contexts[defs->n_contexts] =
            (struct lc_def_context){lc_idmap_get(&defs->context_of, parent), r};
        raw->err = lc_idmap_put(&defs->context_of, id, (uint32_t)defs->n_contexts++);
    }
    return RAW_END(raw);
}

static OTF2_CallbackCode on_generator(void *user, OTF2_InterruptGeneratorRef id,
                                      OTF2_StringRef name, OTF2_InterruptGeneratorMode mode,
                                      OTF2_Base base, int64_t exponent, uint64_t period) {
    (void)mode;
    struct lc_def_raw *raw = user;
    struct lc_defs *defs = raw->defs;
    double weight = (double)period * pow(base == OTF2_BASE_BINARY ? 2 : 10, (double)exponent);
    raw->err = lc_grow(&defs->generators, &defs->cap_generators, defs->n_generators + 1,
                       sizeof *defs->generators);
    if (raw->err == LC_OK) {
        defs->generators[defs->n_generators] = (struct lc_def_generator){
            .weight = weight > 1e-30 && weight < 1e30 ? weight : 1,
            .scheduler = strcmp(lc_defs_text(defs, name), LC_SAMPLE_SCHEDULER) == 0};
        raw->err = lc_idmap_put(&defs->generator_of, id, (uint32_t)defs->n_generators++);
    }
    return RAW_END(raw);
}

static int by_group_order(const void *a, const void *b) {
    const struct raw_group *x = a, *y = b;
    if (x->order != y->order)
        return x->order < y->order ? -1 : 1;
    return x->id < y->id ? -1 : x->id > y->id;
}

static int by_location_id(const void *a, const void *b) {
    const struct raw_location *x = a, *y = b;
    return x->id < y->id ? -1 : x->id > y->id;
}

/* Ranks of processes: the position of their locations in MPI's list; others after them. */
static enum lc_err order_processes(struct lc_def_raw *raw) {
    struct lc_idmap group_of_location = {0}, group_index = {0};
    enum lc_err err = LC_OK;
    for (size_t i = 0; i < raw->n_groups && err == LC_OK; i++)
        err = lc_idmap_put(&group_index, raw->groups[i].id, (uint32_t)i);
    for (size_t i = 0; i < raw->n_locations && err == LC_OK; i++) {
        uint32_t group = lc_idmap_get(&group_index, raw->locations[i].group);
        if (group == LC_NONE)
            continue;
        raw->groups[group].n_locations++;
        err = lc_idmap_put(&group_of_location, raw->locations[i].id, group);
    }
    const struct lc_def_group *ranks = lc_defs_rank_list(raw->defs, OTF2_PARADIGM_MPI);
    for (uint32_t r = 0; ranks && r < ranks->n_members && err == LC_OK; r++) {
        uint32_t group = lc_idmap_get(&group_of_location, ranks->members[r]);
        if (group < raw->n_groups && raw->groups[group].order == LC_NONE)
            raw->groups[group].order = r;
    }
    lc_idmap_free(&group_of_location);
    lc_idmap_free(&group_index);
    if (err == LC_OK && raw->n_groups)
        qsort(raw->groups, raw->n_groups, sizeof *raw->groups, by_group_order);
    return err;
}

static enum lc_err build_nodes(struct lc_def_raw *raw) {
    struct lc_trace *trace = raw->defs->trace;
    LC_TRY(lc_alloc(&trace->system_nodes, raw->n_nodes + 1, sizeof *trace->system_nodes));
    for (size_t i = 0; i < raw->n_nodes; i++) {
        uint32_t parent = lc_idmap_get(&raw->node_of, raw->nodes[i].parent);
        trace->system_nodes[i] =
            (struct lc_an_system_node){parent, raw->nodes[i].name, raw->nodes[i].class_name};
        LC_TRY(lc_idmap_put(&raw->node_of, raw->nodes[i].id, (uint32_t)i));
    }
    trace->n_system_nodes = raw->n_nodes;
    if (!raw->n_nodes) {
        trace->system_nodes[0] = (struct lc_an_system_node){LC_NONE, "machine", "machine"};
        trace->n_system_nodes = 1;
    }
    return LC_OK;
}

/* Call paths of different executables are different ones: each program gets a region, the root of
 * the call paths of its processes, in the order of processes. Not where all run one program. */
static enum lc_err find_programs(struct lc_def_raw *raw, const struct lc_idmap *process_of_group) {
    struct lc_trace *trace = raw->defs->trace;
    const char **of = NULL;
    bool differ = false;
    const char *first = NULL;
    LC_TRY(lc_alloc(&of, trace->n_processes + 1, sizeof *of));
    for (size_t i = 0; i < raw->n_programs; i++) {
        uint32_t p = lc_idmap_get(process_of_group, raw->programs[i].group);
        if (p != LC_NONE)
            of[p] = raw->programs[i].name;
    }
    for (size_t p = 0; p < trace->n_processes; p++) {
        trace->processes[p].program = LC_NONE;
        if (of[p] == NULL)
            continue;
        if (first == NULL)
            first = of[p];
        else
            differ |= strcmp(of[p], first) != 0;
    }
    enum lc_err err = LC_OK;
    for (size_t p = 0; differ && p < trace->n_processes && err == LC_OK; p++) {
        struct lc_an_region region = {.name = of[p],
                                      .mangled = of[p],
                                      .file = "",
                                      .paradigm = "measurement",
                                      .role = "artificial",
                                      .artificial = true};
        if (of[p] == NULL)
            continue;
        for (size_t q = 0; q < p && trace->processes[p].program == LC_NONE; q++)
            if (of[q] != NULL && strcmp(of[q], of[p]) == 0)
                trace->processes[p].program = trace->processes[q].program;
        if (trace->processes[p].program == LC_NONE) {
            trace->processes[p].program = (uint32_t)trace->n_regions;
            err = lc_grow(&trace->regions, &raw->defs->cap_regions, trace->n_regions + 1,
                          sizeof *trace->regions);
            if (err == LC_OK)
                trace->regions[trace->n_regions++] = region;
        }
    }
    free(of);
    return err;
}

static enum lc_err build_places(struct lc_def_raw *raw) {
    struct lc_trace *trace = raw->defs->trace;
    LC_TRY(order_processes(raw));
    LC_TRY(build_nodes(raw));
    LC_TRY(lc_alloc(&trace->processes, raw->n_groups + 1, sizeof *trace->processes));
    LC_TRY(lc_alloc(&trace->locations, raw->n_locations + 1, sizeof *trace->locations));
    if (raw->n_locations)
        qsort(raw->locations, raw->n_locations, sizeof *raw->locations, by_location_id);
    uint32_t first = 0;
    for (size_t g = 0; g < raw->n_groups; g++) {
        struct raw_group *group = &raw->groups[g];
        if (!group->n_locations) /* accelerators and the like */
            continue;
        uint32_t node = lc_idmap_get(&raw->node_of, group->system_node);
        group->process = (uint32_t)trace->n_processes++;
        trace->processes[group->process] =
            (struct lc_an_process){.rank = (int32_t)group->process,
                                   .first_location = first,
                                   .system_node = node == LC_NONE ? 0 : node,
                                   .name = group->name};
        first += group->n_locations;
    }
    struct lc_idmap process_of_group = {0};
    enum lc_err err = LC_OK;
    for (size_t g = 0; g < raw->n_groups && err == LC_OK; g++)
        if (raw->groups[g].process != LC_NONE)
            err = lc_idmap_put(&process_of_group, raw->groups[g].id, raw->groups[g].process);
    for (size_t i = 0; i < raw->n_locations && err == LC_OK; i++) {
        const struct raw_location *location = &raw->locations[i];
        uint32_t p = lc_idmap_get(&process_of_group, location->group);
        if (p == LC_NONE) {
            raw->defs->skipped_locations++;
            continue;
        }
        struct lc_an_process *process = &trace->processes[p];
        uint32_t thread = process->n_locations++;
        trace->locations[process->first_location + thread] = (struct lc_an_location){
            location->id, location->n_events, p, (int32_t)thread, location->name};
        err = lc_idmap_put(&raw->location_process, location->id, p);
    }
    trace->n_locations = first;
    if (err == LC_OK)
        err = find_programs(raw, &process_of_group);
    lc_idmap_free(&process_of_group);
    return err;
}

static enum lc_err read_all(struct lc_def_raw *raw, OTF2_Reader *reader) {
    OTF2_GlobalDefReader *def_reader = OTF2_Reader_GetGlobalDefReader(reader);
    OTF2_GlobalDefReaderCallbacks *callbacks = OTF2_GlobalDefReaderCallbacks_New();
    if (!def_reader || !callbacks)
        return lc_fail(LC_ERR_FORMAT, "global definitions: cannot be opened: is the file "
                                      "traces.def there and complete?");
    OTF2_GlobalDefReaderCallbacks_SetClockPropertiesCallback(callbacks, on_clock);
    OTF2_GlobalDefReaderCallbacks_SetStringCallback(callbacks, on_string);
    OTF2_GlobalDefReaderCallbacks_SetAttributeCallback(callbacks, on_attribute);
    OTF2_GlobalDefReaderCallbacks_SetSystemTreeNodeCallback(callbacks, on_node);
    OTF2_GlobalDefReaderCallbacks_SetLocationGroupCallback(callbacks, on_location_group);
    OTF2_GlobalDefReaderCallbacks_SetLocationGroupPropertyCallback(callbacks, on_group_property);
    OTF2_GlobalDefReaderCallbacks_SetLocationCallback(callbacks, on_location);
    OTF2_GlobalDefReaderCallbacks_SetRegionCallback(callbacks, on_region);
    OTF2_GlobalDefReaderCallbacks_SetCallingContextCallback(callbacks, on_context);
    OTF2_GlobalDefReaderCallbacks_SetInterruptGeneratorCallback(callbacks, on_generator);
    lc_defs_comm_callbacks(callbacks);
    OTF2_Reader_RegisterGlobalDefCallbacks(reader, def_reader, callbacks, raw);
    OTF2_GlobalDefReaderCallbacks_Delete(callbacks);
    uint64_t n_read = 0;
    OTF2_ErrorCode status = OTF2_Reader_ReadAllGlobalDefinitions(reader, def_reader, &n_read);
    OTF2_Reader_CloseGlobalDefReader(reader, def_reader);
    if (raw->err != LC_OK)
        return raw->err;
    if (status != OTF2_SUCCESS)
        return lc_fail(LC_ERR_FORMAT, "global definitions: damaged after %llu records (%s)",
                       (unsigned long long)n_read, OTF2_Error_GetDescription(status));
    return LC_OK;
}

enum lc_err lc_defs_read(struct lc_defs *defs, OTF2_Reader *reader, struct lc_trace *trace) {
    *defs = (struct lc_defs){.trace = trace, .left_out = OTF2_UNDEFINED_ATTRIBUTE};
    struct lc_def_raw raw = {.defs = defs};
    enum lc_err err = read_all(&raw, reader);
    if (err == LC_OK)
        err = build_places(&raw);
    if (err == LC_OK)
        err = lc_defs_build_comms(&raw);
    if (err == LC_OK && !trace->ticks_per_second)
        err = lc_fail(LC_ERR_FORMAT, "global definitions: no timer resolution: the archive is "
                                     "damaged or was not finished");
    if (err == LC_OK && !trace->n_locations)
        err = lc_fail(LC_ERR_FORMAT, "trace: holds no CPU thread: nothing to analyse");
    free(raw.groups);
    free(raw.programs);
    free(raw.locations);
    free(raw.nodes);
    free(raw.comms);
    free(raw.dims);
    free(raw.topologies);
    free(raw.neighbours);
    lc_idmap_free(&raw.location_process);
    lc_idmap_free(&raw.node_of);
    return err;
}
