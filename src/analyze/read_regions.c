/* Enter, Leave, program begin, samples: the call paths of a location. */
#include <stdlib.h>
#include <string.h>

#include "analyze/reader.h"
#include "base/mem.h"

/* Appends a transition. Unlike lc_grow this never touches memory that is not used yet: these are
 * the largest arrays. */
static void transition(struct lc_reader *reader, int64_t t, uint32_t node) {
    struct lc_loc *loc = reader->loc;
    if (__builtin_expect(loc->n_transitions >= loc->cap_transitions, 0)) {
        uint64_t need = (uint64_t)loc->cap_transitions + loc->cap_transitions / 2 + 64;
        if (need >= UINT32_MAX) {
            reader->err = lc_fail(LC_ERR_UNSUPPORTED, "location %u: more than %u transitions",
                                  loc->id, UINT32_MAX);
            return;
        }
        int64_t *time = realloc(loc->time, need * sizeof *time);
        if (time)
            loc->time = time;
        uint32_t *cnode = realloc(loc->cnode, need * sizeof *cnode);
        if (cnode)
            loc->cnode = cnode;
        if (!time || !cnode) {
            reader->err = lc_fail(LC_ERR_NOMEM, "events: no memory for %llu transitions",
                                  (unsigned long long)need);
            return;
        }
        loc->cap_transitions = (uint32_t)need;
    }
    loc->time[loc->n_transitions] = t;
    loc->cnode[loc->n_transitions++] = node;
}

static struct lc_node_sums *sums_of(struct lc_reader *reader, uint32_t node) {
    if (__builtin_expect(node >= reader->cap_sums, 0)) {
        reader->err = lc_grow(&reader->sums, &reader->cap_sums, reader->tree.n_nodes + 64,
                              sizeof *reader->sums);
        if (reader->err != LC_OK)
            return NULL;
    }
    struct lc_node_sums *sums = &reader->sums[node];
    if (!sums->touched) {
        reader->err = lc_grow(&reader->touched, &reader->cap_touched, reader->n_touched + 1,
                              sizeof *reader->touched);
        if (reader->err != LC_OK)
            return NULL;
        reader->touched[reader->n_touched++] = node;
        sums->touched = true;
    }
    return sums;
}

/* Books the time of the call path left behind. */
static inline void move(struct lc_reader *reader, int64_t t, uint32_t node) {
    if (reader->begun) {
        struct lc_node_sums *sums = sums_of(reader, reader->node);
        if (sums)
            sums->ticks += t - reader->change;
    }
    reader->begun = true;
    reader->change = t;
    reader->node = node;
    transition(reader, t, node);
}

/* The life of a location begins with its first event, in its root. */
static void begin_life(struct lc_reader *reader, int64_t t, uint32_t node) {
    if (!reader->begun && reader->first < t)
        move(reader, reader->first, node);
}

/* --- samples of the code between two transitions: they cut the time of the call path there into
 * transitions to the functions that they found, docs/definitions/estimates.md#samples-in-traces */

static void count_sample(struct lc_reader *reader, uint32_t node, double weight_s) {
    struct lc_node_sums *sums = sums_of(reader, node);
    const double most_s = 10;
    if (!sums)
        return;
    double us = (weight_s < most_s ? weight_s : most_s) * 1e6;
    sums->samples++;
    sums->sampled_ns += (int64_t)(us * 1e3);
    if (sums->squares_us2 < INT64_MAX / 2) /* not so in an archive that means it */
        sums->squares_us2 += (int64_t)(us * us);
}

/* How many of the regions of a context, innermost first, are below the call path `base`. Where that
 * is no part of it (a filter, several programs): those that samples found below something that was
 * entered. */
static uint32_t count_inside(const struct lc_reader *reader, uint32_t base, const uint32_t *regions,
                             uint32_t n) {
    const struct lc_tree_node *nodes = reader->tree.nodes;
    uint32_t depth = 0, i, sampled = 0;
    for (uint32_t node = base; node != 0; node = nodes[node].parent)
        depth++;
    uint32_t node = base;
    for (i = depth <= n ? n - depth : n; i < n && regions[i] == nodes[node].region; i++)
        node = nodes[node].parent;
    if (depth <= n && i == n)
        return n - depth;
    while (sampled < n && reader->trace->regions[regions[sampled]].sampled)
        sampled++;
    return sampled < n ? sampled : 0;
}

/* The node of a context in the time of `base`. What is inside of an OpenMP construct belongs to it,
 * as in profiles: the function that the compiler made of it is not shown. */
static uint32_t node_of(struct lc_reader *reader, uint32_t base, uint32_t context) {
    const struct lc_def_context *contexts = reader->defs->contexts;
    uint32_t regions[LC_SAMPLE_DEPTH], n = 0, node = base;
    for (; context != LC_NONE && n < LC_SAMPLE_DEPTH; context = contexts[context].parent)
        if (!reader->trace->regions[contexts[context].region].outlined)
            regions[n++] = contexts[context].region;
    for (uint32_t i = count_inside(reader, base, regions, n); i-- > 0 && node != LC_NONE;)
        node = lc_tree_child(&reader->tree, node, regions[i]);
    if (node == LC_NONE)
        reader->err = LC_ERR_NOMEM;
    return node == LC_NONE ? base : node;
}

/* The time between two transitions. */
struct gap {
    int64_t begin, end, on; /* on the processor, in all */
    uint32_t base;          /* its call path */
    double weight;          /* of all samples */
    size_t next;            /* the first sample whose part is not over */
    double passed;          /* weight of those before it */
    int64_t given, off;     /* time on and off the processor so far */
};

static const struct lc_def_generator *generator_of(const struct lc_reader *reader, size_t i) {
    return &reader->defs->generators[reader->samples[i].generator];
}

/* The thread is off the processor from there until the next sample of the scheduler. */
static bool leaves(const struct lc_reader *reader, size_t i) {
    uint32_t context = reader->samples[i].context;
    return generator_of(reader, i)->scheduler &&
           reader->trace->regions[reader->defs->contexts[context].region].sampled;
}

static int64_t off_until(const struct lc_reader *reader, size_t i, int64_t end) {
    for (i++; i < reader->n_samples; i++)
        if (generator_of(reader, i)->scheduler)
            return reader->samples[i].time;
    return end;
}

static void measure_gap(const struct lc_reader *reader, struct gap *gap) {
    gap->on = gap->end - gap->begin;
    for (size_t i = 0; i < reader->n_samples; i++) {
        if (leaves(reader, i))
            gap->on -= off_until(reader, i, gap->end) - reader->samples[i].time;
        else if (!generator_of(reader, i)->scheduler)
            gap->weight += generator_of(reader, i)->weight;
    }
}

static void move_to(struct lc_reader *reader, int64_t t, uint32_t node) {
    if (node != reader->node)
        move(reader, t, node);
}

/* Parts of the time on the processor, up to `until` of it: each sample has one in proportion to its
 * weight, in the order of the samples. */
static void give_parts(struct lc_reader *reader, struct gap *gap, int64_t until) {
    while (gap->given < until) {
        while (gap->next < reader->n_samples && generator_of(reader, gap->next)->scheduler)
            gap->next++;
        if (gap->next == reader->n_samples) {
            move_to(reader, gap->begin + gap->off + gap->given, gap->base);
            gap->given = until;
            return;
        }
        double passed = gap->passed + generator_of(reader, gap->next)->weight;
        double share = (double)gap->on * (passed / gap->weight);
        int64_t end = share < (double)gap->on ? (int64_t)share : gap->on;
        uint32_t node = node_of(reader, gap->base, reader->samples[gap->next].context);
        if (end > gap->given) {
            move_to(reader, gap->begin + gap->off + gap->given, node);
            gap->given = end < until ? end : until;
        }
        if (end <= until) {
            count_sample(reader, node, generator_of(reader, gap->next)->weight);
            gap->passed = passed;
            gap->next++;
        }
    }
}

void lc_reader_place_samples(struct lc_reader *reader, int64_t end) {
    struct gap gap = {.begin = reader->change, .end = end, .base = reader->node};
    if (reader->n_samples == 0 || gap.base == 0 || gap.end <= gap.begin) {
        reader->n_samples = 0;
        return;
    }
    measure_gap(reader, &gap);
    for (size_t i = 0; i < reader->n_samples; i++) {
        if (!leaves(reader, i))
            continue;
        int64_t from = reader->samples[i].time, until = off_until(reader, i, end);
        give_parts(reader, &gap, from - gap.begin - gap.off);
        if (until > from)
            move_to(reader, from, node_of(reader, gap.base, reader->samples[i].context));
        gap.off += until - from;
    }
    give_parts(reader, &gap, gap.on);
    move_to(reader, end, gap.base);
    reader->n_samples = 0;
}

/* Before the location changes its call path at time t. */
static inline void before_change(struct lc_reader *reader, int64_t t) {
    if (__builtin_expect(reader->n_samples > 0, 0))
        lc_reader_place_samples(reader, t);
}

/* --- regions */

static void note_special(struct lc_reader *reader, int64_t t, const struct lc_an_region *region) {
    struct lc_loc *loc = reader->loc;
    if (region->fn == LC_FN_MPI_INIT) {
        if (loc->init_enter == INT64_MIN) {
            loc->init_enter = t;
            loc->init_cnode = reader->node;
        } else {
            lc_health_note(reader->health, LC_HEALTH_INIT_TWICE, loc->id);
        }
    } else if (region->fn == LC_FN_MPI_FINALIZE) {
        if (loc->finalize_enter == INT64_MIN) {
            loc->finalize_enter = t;
            loc->finalize_cnode = reader->node;
        } else {
            lc_health_note(reader->health, LC_HEALTH_INIT_TWICE, loc->id);
        }
    } else if (region->fn == LC_FN_MPI_PROBE || region->fn == LC_FN_MPI_MPROBE) {
        lc_reader_call(reader); /* it has no records */
    }
    if (region->phase) {
        struct lc_loc_extra *extra = lc_reader_extra(reader);
        uint32_t r = (uint32_t)(region - reader->trace->regions);
        if (!extra)
            return;
        reader->err =
            lc_grow(&extra->phases, &extra->cap_phases, extra->n_phases + 1, sizeof *extra->phases);
        if (reader->err == LC_OK)
            extra->phases[extra->n_phases++] =
                (struct lc_phase){t, INT64_MAX, r, reader->phase_counts[r]++};
    }
    if (region->fn == LC_FN_OMP_BARRIER || region->fn == LC_FN_OMP_IBARRIER ||
        region->fn == LC_FN_OMP_TASKWAIT) {
        uint32_t call = lc_reader_call(reader);
        if (!reader->waiting_depth)
            reader->waiting_depth = (uint32_t)reader->depth;
        if (call != LC_NONE)
            loc->calls[call].task_level = (uint16_t)reader->n_open_tasks;
        if (region->fn == LC_FN_OMP_TASKWAIT && call != LC_NONE)
            reader->err = lc_reader_task_event(
                reader, &(struct lc_task_event){.time = t,
                                                .task = reader->task,
                                                .call = call,
                                                .cnode = LC_NONE,
                                                .what = strstr(region->name, "taskgroup")
                                                            ? LC_TASK_WAITS_GROUP
                                                            : LC_TASK_WAITS});
    } else if (region->fn == LC_FN_OMP_TASK && reader->waiting_depth &&
               reader->n_open_tasks < LC_TASK_LEVELS) {
        reader->open_tasks[reader->n_open_tasks].begin = t;
        reader->open_tasks[reader->n_open_tasks++].depth = (uint32_t)reader->depth;
    }
}

/* Of a region entered outside of all others, or below too many. */
static uint32_t unusual_parent(struct lc_reader *reader, uint32_t region) {
    if (!reader->depth)
        return reader->base;
    lc_health_note(reader->health, LC_HEALTH_TOO_DEEP, reader->loc->id);
    if (region < reader->n_defined)
        reader->deep[region]++;
    return reader->frames[LC_MAX_DEPTH - 1].node;
}

/* Depth of the innermost open frame of a region, 0: there is none. */
static size_t depth_of(const struct lc_reader *reader, uint32_t region) {
    size_t depth = reader->depth;
    if (depth > LC_MAX_DEPTH && region < reader->n_defined && !reader->deep[region])
        depth = LC_MAX_DEPTH;
    while (depth && reader->frames[depth - 1].region != region)
        depth--;
    return depth;
}

/* Enters and leaves regions (also those that have no record of their own). */
static void reader_enter(struct lc_reader *reader, int64_t t, uint32_t region) {
    before_change(reader, t);
    uint32_t parent = __builtin_expect(reader->depth - 1 < LC_MAX_DEPTH - 1, 1)
                          ? reader->node
                          : unusual_parent(reader, region);
    uint32_t node = lc_tree_child(&reader->tree, parent, region);
    if (__builtin_expect(node == LC_NONE || reader->depth == reader->cap_frames, 0)) {
        reader->err = node == LC_NONE ? LC_ERR_NOMEM
                                      : lc_grow(&reader->frames, &reader->cap_frames,
                                                reader->depth + 1, sizeof *reader->frames);
        if (reader->err != LC_OK)
            return;
    }
    struct lc_loc *loc = reader->loc;
    begin_life(reader, t, node);
    if (!reader->root)
        reader->root = node;
    reader->frames[reader->depth++] =
        (struct lc_open_region){node, loc->n_transitions, LC_NONE, region};
    move(reader, t, node);
    struct lc_node_sums *sums = sums_of(reader, node);
    if (!sums)
        return;
    sums->visits++;
    const struct lc_an_region *r = &reader->trace->regions[region];
    if (r->special)
        note_special(reader, t, r);
}

/* One that was executed at this level. */
static enum lc_err add_task(struct lc_reader *reader, int64_t end) {
    struct lc_loc_extra *extra = lc_reader_extra(reader);
    uint32_t level = reader->n_open_tasks;
    if (!extra)
        return reader->err;
    if (!extra->tasks)
        LC_TRY(lc_alloc(&extra->tasks, LC_TASK_LEVELS, sizeof *extra->tasks));
    struct lc_spans *spans = &extra->tasks[level];
    LC_TRY(lc_grow(&spans->all, &spans->cap, spans->n + 1, sizeof *spans->all));
    spans->all[spans->n++] = (struct lc_span){reader->open_tasks[level].begin, end};
    return LC_OK;
}

static void end_special(struct lc_reader *reader, int64_t t, const struct lc_an_region *region) {
    struct lc_loc *loc = reader->loc;
    uint32_t node = reader->frames[reader->depth].node;
    if (region->fn == LC_FN_MPI_INIT && loc->init_leave == INT64_MIN && node == loc->init_cnode)
        loc->init_leave = t;
    else if (region->fn == LC_FN_MPI_FINALIZE && loc->finalize_leave == INT64_MIN &&
             node == loc->finalize_cnode)
        loc->finalize_leave = t;
    if (region->phase && loc->extra)
        for (size_t i = loc->extra->n_phases; i-- > 0;)
            if (loc->extra->phases[i].end == INT64_MAX &&
                loc->extra->phases[i].region == (uint32_t)(region - reader->trace->regions)) {
                loc->extra->phases[i].end = t;
                break;
            }
    if (reader->depth < reader->waiting_depth)
        reader->waiting_depth = 0;
    if (region->fn == LC_FN_OMP_TASK)
        reader->left_task = node;
    while (reader->err == LC_OK && reader->n_open_tasks > 0 &&
           reader->depth < reader->open_tasks[reader->n_open_tasks - 1].depth) {
        reader->n_open_tasks--;
        reader->err = add_task(reader, t);
    }
}

void lc_reader_leave(struct lc_reader *reader, int64_t t) {
    before_change(reader, t);
    struct lc_open_region *frame = &reader->frames[--reader->depth];
    struct lc_loc *loc = reader->loc;
    if (__builtin_expect(reader->depth >= LC_MAX_DEPTH, 0) && frame->region < reader->n_defined)
        reader->deep[frame->region]--;
    for (uint32_t c = frame->call, before; c != LC_NONE; c = before) {
        before = loc->calls[c].leave; /* the one before with records of this region */
        loc->calls[c].leave = loc->n_transitions;
    }
    move(reader, t,
         reader->depth  ? reader->frames[reader->depth - 1].node
         : reader->base ? reader->base
                        : reader->root);
    const struct lc_an_region *r = &reader->trace->regions[frame->region];
    if (r->special)
        end_special(reader, t, r);
}

void lc_reader_set_base(struct lc_reader *reader, int64_t t, uint32_t node) {
    if (reader->depth || (reader->begun && reader->base == node))
        return;
    before_change(reader, t);
    begin_life(reader, t, node);
    reader->base = node;
    move(reader, t, node);
}

uint32_t lc_reader_call(struct lc_reader *reader) {
    struct lc_loc *loc = reader->loc;
    if (!reader->depth) {
        lc_health_note(reader->health, LC_HEALTH_RECORD_OUTSIDE, loc->id);
        return LC_NONE;
    }
    struct lc_open_region *frame = &reader->frames[reader->depth - 1];
    /* After a call nested in this one, its records continue under a second number. */
    if (frame->call != LC_NONE && frame->call + 1 == loc->n_calls)
        return frame->call;
    if (loc->n_calls == loc->cap_calls) {
        reader->err =
            lc_reserve(&loc->calls, &loc->cap_calls, loc->n_calls + 1, sizeof *loc->calls);
        if (reader->err != LC_OK)
            return LC_NONE;
    }
    loc->calls[loc->n_calls] =
        (struct lc_mpi_call){frame->enter, frame->call, (uint32_t)loc->n_done,
                             reader->trace->regions[frame->region].fn, 0};
    frame->call = (uint32_t)loc->n_calls++;
    return frame->call;
}

void lc_reader_count(struct lc_reader *reader, enum lc_count count, int64_t value) {
    struct lc_node_sums *sums = sums_of(reader, reader->node);
    if (!sums)
        return;
    if (!sums->counts) {
        reader->err = lc_grow(&reader->counts, &reader->cap_counts, reader->n_counts + 1,
                              sizeof *reader->counts);
        if (reader->err != LC_OK)
            return;
        memset(reader->counts[reader->n_counts], 0, sizeof *reader->counts);
        sums->counts = (uint32_t)++reader->n_counts;
    }
    reader->counts[sums->counts - 1][count] += value;
}

static uint32_t region_of(struct lc_reader *reader, OTF2_RegionRef id) {
    uint32_t region = id < reader->n_region_of ? reader->region_of[id]
                                               : lc_idmap_get(&reader->defs->region_of, id);
    if (__builtin_expect(region == LC_NONE, 0)) {
        lc_health_note(reader->health, LC_HEALTH_UNKNOWN_REGION, reader->loc->id);
        return reader->unknown_region;
    }
    return region;
}

static OTF2_CallbackCode on_enter(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t position,
                                  void *user, OTF2_AttributeList *attributes, OTF2_RegionRef id) {
    (void)location, (void)position, (void)attributes;
    struct lc_reader *reader = user;
    reader_enter(reader, lc_reader_time(reader, time), region_of(reader, id));
    return lc_reader_end(reader);
}

static OTF2_CallbackCode on_leave(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t position,
                                  void *user, OTF2_AttributeList *attributes, OTF2_RegionRef id) {
    (void)location, (void)position, (void)attributes;
    struct lc_reader *reader = user;
    int64_t t = lc_reader_time(reader, time);
    uint32_t region = region_of(reader, id);
    size_t depth = depth_of(reader, region);
    if (__builtin_expect(!depth, 0)) {
        lc_health_note(reader->health, LC_HEALTH_LEAVE_WITHOUT_ENTER, reader->loc->id);
        return OTF2_CALLBACK_SUCCESS;
    }
    if (__builtin_expect(depth != reader->depth, 0))
        lc_health_add(reader->health, LC_HEALTH_ENTER_WITHOUT_LEAVE, reader->loc->id,
                      (int64_t)(reader->depth - depth));
    while (reader->depth >= depth)
        lc_reader_leave(reader, t);
    return lc_reader_end(reader);
}

enum lc_err lc_program_region_add(struct lc_defs *defs, uint64_t string) {
    const char *program = lc_defs_text(defs, string), *slash = strrchr(program, '/');
    struct lc_an_region region = {.name = slash ? slash + 1 : program,
                                  .mangled = program,
                                  .file = "",
                                  .paradigm = "measurement",
                                  .role = "artificial"};
    struct lc_trace *trace = defs->trace;
    LC_TRY(
        lc_grow(&trace->regions, &defs->cap_regions, trace->n_regions + 1, sizeof *trace->regions));
    trace->regions[trace->n_regions++] = region;
    return LC_OK;
}

/* The region that stands for the program: role ARTIFICIAL with the command line as canonical name,
 * else the base name. */
static uint32_t program_region(struct lc_reader *reader, OTF2_StringRef name, uint32_t n_arguments,
                               const OTF2_StringRef *arguments) {
    struct lc_strbuf command = {0};
    const char *program = lc_defs_text(reader->defs, name);
    lc_strbuf_puts(&command, program);
    for (uint32_t i = 0; i < n_arguments; i++)
        lc_strbuf_printf(&command, " %s", lc_defs_text(reader->defs, arguments[i]));
    uint32_t region = LC_NONE;
    const struct lc_trace *trace = reader->trace;
    for (size_t i = 0; i < reader->n_defined && region == LC_NONE; i++)
        if (trace->regions[i].artificial &&
            strcmp(trace->regions[i].mangled, lc_strbuf_get(&command)) == 0)
            region = (uint32_t)i;
    lc_strbuf_free(&command);
    if (region != LC_NONE)
        return region;
    /* Not defined: an extra region, known by the string, so that all ranks can agree on its number
     * later. */
    for (size_t i = 0; i < reader->n_programs; i++)
        if (reader->programs[i] == name)
            return (uint32_t)(reader->n_defined + i);
    reader->err = lc_grow(&reader->programs, &reader->cap_programs, reader->n_programs + 1,
                          sizeof *reader->programs);
    if (reader->err == LC_OK)
        reader->err = lc_program_region_add(reader->defs, name);
    if (reader->err != LC_OK)
        return reader->unknown_region;
    reader->programs[reader->n_programs] = name;
    return (uint32_t)(reader->n_defined + reader->n_programs++);
}

static OTF2_CallbackCode on_program_begin(OTF2_LocationRef location, OTF2_TimeStamp time,
                                          uint64_t position, void *user,
                                          OTF2_AttributeList *attributes, OTF2_StringRef name,
                                          uint32_t n_arguments, const OTF2_StringRef *arguments) {
    (void)location, (void)position, (void)attributes;
    struct lc_reader *reader = user;
    int64_t t = lc_reader_time(reader, time);
    reader_enter(reader, t, program_region(reader, name, n_arguments, arguments));
    return lc_reader_end(reader);
}

static OTF2_CallbackCode on_program_end(OTF2_LocationRef location, OTF2_TimeStamp time,
                                        uint64_t position, void *user,
                                        OTF2_AttributeList *attributes, int64_t status) {
    (void)location, (void)position, (void)attributes, (void)status;
    struct lc_reader *reader = user;
    int64_t t = lc_reader_time(reader, time);
    if (reader->depth > 1)
        lc_health_add(reader->health, LC_HEALTH_ENTER_WITHOUT_LEAVE, reader->loc->id,
                      (int64_t)reader->depth - 1);
    while (reader->depth)
        lc_reader_leave(reader, t);
    return lc_reader_end(reader);
}

static OTF2_CallbackCode on_sample(OTF2_LocationRef location, OTF2_TimeStamp time,
                                   uint64_t position, void *user, OTF2_AttributeList *attributes,
                                   OTF2_CallingContextRef context, uint32_t distance,
                                   OTF2_InterruptGeneratorRef generator) {
    (void)location, (void)position, (void)attributes, (void)distance;
    struct lc_reader *reader = user;
    lc_reader_pass(reader, time);
    uint32_t at = lc_idmap_get(&reader->defs->context_of, context),
             by = lc_idmap_get(&reader->defs->generator_of, generator);
    if (at == LC_NONE || by == LC_NONE || !reader->begun)
        return lc_reader_end(reader);
    reader->err = lc_grow(&reader->samples, &reader->cap_samples, reader->n_samples + 1,
                          sizeof *reader->samples);
    if (reader->err == LC_OK)
        reader->samples[reader->n_samples++] = (struct lc_read_sample){reader->last, at, by};
    return lc_reader_end(reader);
}

void lc_read_region_callbacks(OTF2_EvtReaderCallbacks *callbacks) {
    OTF2_EvtReaderCallbacks_SetEnterCallback(callbacks, on_enter);
    OTF2_EvtReaderCallbacks_SetLeaveCallback(callbacks, on_leave);
    OTF2_EvtReaderCallbacks_SetProgramBeginCallback(callbacks, on_program_begin);
    OTF2_EvtReaderCallbacks_SetProgramEndCallback(callbacks, on_program_end);
    OTF2_EvtReaderCallbacks_SetCallingContextSampleCallback(callbacks, on_sample);
}
