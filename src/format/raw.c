#include "format/raw.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/lookup.h"
#include "base/mem.h"

const char *const lc_raw_measured[LC_RAW_MEASURED] = {
    "mpi_latesender",
    "mpi_latereceiver",
    "mpi_probe_wait",
    "mpi_poll_wait",
    "mpi_wait_nxn",
    "mpi_barrier_wait",
    "mpi_latebroadcast",
    "mpi_earlyreduce",
    "mpi_earlyscan",
    "mpi_neighbor_wait",
    "mpi_mgmt_comm_wait",
    "mpi_io_collective_wait",
    "mpi_rma_wait_at_create",
    "mpi_rma_wait_at_free",
    "mpi_rma_wait_at_fence",
    "mpi_rma_early_wait",
    "mpi_rma_sync_late_post",
    "mpi_rma_sync_lock_competition",
    "mpi_finalize_wait",
    "omp_ibarrier_wait",
    "omp_ebarrier_wait",
    "omp_lock_contention_critical",
    "omp_lock_contention_api",
    "omp_taskwait_wait",
    "omp_idle_threads",
    "omp_management",
    "omp_fork",
    "omp_limited_parallelism",
    "omp_task_wait",
    "omp_task_work",
    "omp_task_span",
    "omp_tasks_created",
    "omp_tasks_stolen",
    "omp_tasks_at_once",
    "critical_path_useful",
};

const char *const lc_raw_counters[LC_COUNTERS] = {"instructions", "cycles", "page_faults",
                                                  "context_switches", "bytes_sent"};

const char *lc_raw_sampled_name(uint64_t what) {
    switch (what) {
    case LC_RAW_OFF_CPU:
        return "(off CPU)";
    case LC_RAW_PREEMPTED:
        return "(preempted)";
    case LC_RAW_KERNEL:
        return "(kernel)";
    case LC_RAW_PAGE_FAULT:
        return "(off CPU: page fault)";
    case LC_RAW_FILE_SYSTEM:
        return "(off CPU: file system)";
    case LC_RAW_CALLERS:
        return "...";
    default:
        return "(unresolved)";
    }
}

/* Open addressing, a power of two of slots, at most half full; a slot holds id + 1, 0 is empty. */
/* What the public struct does not show: look-up by content. */
struct raw_private {
    struct lc_raw raw;
    struct lc_lookup names, modules, nodes;
};

static struct raw_private *private_of(struct lc_raw *raw) {
    return (struct raw_private *)raw;
}

static uint64_t mix(uint64_t hash, uint64_t word) {
    hash = lc_hash_key(hash ^ word);
    return hash ^ (hash >> 32);
}

static uint64_t hash_text(uint64_t hash, const char *text) {
    return mix(lc_hash_text(hash, text), 1);
}

static uint64_t hash_node(const struct lc_raw_node *node) {
    return mix(mix(mix(mix(4, node->parent), node->kind), node->ref), node->offset);
}

enum lc_err lc_raw_new(struct lc_raw **raw) {
    struct raw_private *made;
    *raw = NULL;
    LC_TRY(lc_alloc(&made, 1, sizeof *made));
    *raw = &made->raw;
    return LC_OK;
}

void lc_raw_free(struct lc_raw *raw) {
    if (raw == NULL)
        return;
    for (size_t i = 0; i < raw->n_modules; i++) {
        free(raw->modules[i].path);
        free(raw->modules[i].build_id);
    }
    for (size_t i = 0; i < raw->n_names; i++)
        free(raw->names[i]);
    free(raw->modules);
    free(raw->names);
    free(raw->nodes);
    free(raw->locations);
    free(raw->rows);
    free(raw->values);
    free(raw->facts);
    free(raw->meta);
    free(raw->pop);
    struct raw_private *all = private_of(raw);
    lc_lookup_free(&all->names);
    lc_lookup_free(&all->modules);
    lc_lookup_free(&all->nodes);
    free(all);
}

static enum lc_err too_many(const char *what) {
    return lc_fail(LC_ERR_RANGE, "raw profile: more than 4 billion %s", what);
}

enum lc_err lc_raw_add_name(struct lc_raw *raw, const char *name, uint32_t *id) {
    struct lc_lookup *names = &private_of(raw)->names;
    uint64_t hash = lc_hash_text(LC_HASH_BEGIN, name);
    *id = LC_LOOKUP(names, hash, i, strcmp(raw->names[i], name) == 0);
    if (*id != LC_NONE)
        return LC_OK;
    if (raw->n_names >= LC_NONE - 1)
        return too_many("names");
    LC_TRY(lc_lookup_reserve(names, raw->n_names + 1));
    LC_TRY(lc_grow(&raw->names, &raw->cap_names, raw->n_names + 1, sizeof raw->names[0]));
    LC_TRY(lc_strdup(&raw->names[raw->n_names], name));
    *id = (uint32_t)raw->n_names++;
    return lc_lookup_add(names, hash, *id);
}

enum lc_err lc_raw_add_module(struct lc_raw *raw, const char *path, const char *build_id,
                              uint32_t *id) {
    struct lc_lookup *modules = &private_of(raw)->modules;
    uint64_t hash = lc_hash_text(hash_text(LC_HASH_BEGIN, path), build_id);
    *id = LC_LOOKUP(modules, hash, i,
                    strcmp(raw->modules[i].path, path) == 0 &&
                        strcmp(raw->modules[i].build_id, build_id) == 0);
    if (*id != LC_NONE)
        return LC_OK;
    if (raw->n_modules >= LC_NONE - 1)
        return too_many("modules");
    LC_TRY(lc_lookup_reserve(modules, raw->n_modules + 1));
    LC_TRY(lc_grow(&raw->modules, &raw->cap_modules, raw->n_modules + 1, sizeof raw->modules[0]));
    struct lc_raw_module *module = &raw->modules[raw->n_modules];
    LC_TRY(lc_strdup(&module->path, path));
    enum lc_err err = lc_strdup(&module->build_id, build_id);
    if (err != LC_OK) {
        free(module->path);
        module->path = NULL;
        return err;
    }
    *id = (uint32_t)raw->n_modules++;
    return lc_lookup_add(modules, hash, *id);
}

static bool is_same(const struct lc_raw_node *a, const struct lc_raw_node *b) {
    return a->parent == b->parent && a->kind == b->kind && a->ref == b->ref &&
           a->offset == b->offset;
}

enum lc_err lc_raw_add_node(struct lc_raw *raw, const struct lc_raw_node *node, uint32_t *id) {
    if (node->parent == LC_NONE ? raw->n_nodes != 0 && node->kind != LC_RAW_ROOT
                                : node->parent >= raw->n_nodes)
        return lc_fail(LC_ERR_RANGE, "raw profile: call-tree node with a bad parent");
    struct lc_lookup *nodes = &private_of(raw)->nodes;
    uint64_t hash = hash_node(node);
    *id = LC_LOOKUP(nodes, hash, i, is_same(&raw->nodes[i], node));
    if (*id != LC_NONE) {
        struct lc_raw_node *known = &raw->nodes[*id];
        known->flags |= node->flags;
        if (known->call_site == 0)
            known->call_site = node->call_site;
        return LC_OK;
    }
    if (raw->n_nodes >= LC_NONE - 1)
        return too_many("call-tree nodes");
    LC_TRY(lc_lookup_reserve(nodes, raw->n_nodes + 1));
    LC_TRY(lc_grow(&raw->nodes, &raw->cap_nodes, raw->n_nodes + 1, sizeof raw->nodes[0]));
    raw->nodes[raw->n_nodes] = *node;
    *id = (uint32_t)raw->n_nodes++;
    return lc_lookup_add(nodes, hash, *id);
}

enum lc_err lc_raw_add_location(struct lc_raw *raw, const struct lc_raw_location *location,
                                uint32_t *id) {
    if (raw->n_locations >= LC_NONE - 1)
        return too_many("locations");
    LC_TRY(lc_grow(&raw->locations, &raw->cap_locations, raw->n_locations + 1,
                   sizeof raw->locations[0]));
    raw->locations[raw->n_locations] = *location;
    *id = (uint32_t)raw->n_locations++;
    return LC_OK;
}

enum lc_err lc_raw_add_row(struct lc_raw *raw, const struct lc_raw_row *row) {
    LC_TRY(lc_grow(&raw->rows, &raw->cap_rows, raw->n_rows + 1, sizeof raw->rows[0]));
    raw->rows[raw->n_rows++] = *row;
    return LC_OK;
}

enum lc_err lc_raw_add_value(struct lc_raw *raw, const struct lc_raw_value *value) {
    LC_TRY(lc_grow(&raw->values, &raw->cap_values, raw->n_values + 1, sizeof raw->values[0]));
    raw->values[raw->n_values++] = *value;
    return LC_OK;
}

static enum lc_err broken(const char *what) {
    return lc_fail(LC_ERR_FORMAT, "raw profile: %s out of range: the file is damaged", what);
}

enum lc_err lc_raw_check(const struct lc_raw *raw) {
    for (size_t i = 0; i < raw->n_nodes; i++) {
        const struct lc_raw_node *node = &raw->nodes[i];
        if (node->kind >= LC_RAW_KINDS)
            return broken("kind of a call-tree node");
        if (i == 0 ? node->parent != LC_NONE : node->parent >= i)
            return broken("parent of a call-tree node");
        if (lc_raw_is_code(node->kind) && node->ref != LC_NONE && node->ref >= raw->n_modules)
            return broken("module of a call-tree node");
        if (lc_raw_is_named(node->kind) && node->ref >= raw->n_names)
            return broken("name of a call-tree node");
        if (node->kind == LC_RAW_PROGRAM && node->parent != 0)
            return broken("place of a program in the call tree");
    }
    for (size_t i = 0; i < raw->n_locations; i++)
        if (raw->locations[i].host >= raw->n_names)
            return broken("host of a location");
    for (size_t i = 0; i < raw->n_rows; i++)
        if (raw->rows[i].node >= raw->n_nodes || raw->rows[i].location >= raw->n_locations ||
            raw->rows[i].size_class > LC_RAW_CLASS_TIME)
            return broken("row");
    for (size_t i = 0; i < raw->n_values; i++)
        if (raw->values[i].node >= raw->n_nodes || raw->values[i].location >= raw->n_locations ||
            raw->values[i].metric >= raw->n_names)
            return broken("value");
    return LC_OK;
}

static enum lc_err merge_definitions(struct lc_raw *raw, const struct lc_raw *other,
                                     uint32_t *names, uint32_t *modules, uint32_t *nodes) {
    for (size_t i = 0; i < other->n_names; i++)
        LC_TRY(lc_raw_add_name(raw, other->names[i], &names[i]));
    for (size_t i = 0; i < other->n_modules; i++)
        LC_TRY(lc_raw_add_module(raw, other->modules[i].path, other->modules[i].build_id,
                                 &modules[i]));
    for (size_t i = 0; i < other->n_nodes; i++) {
        struct lc_raw_node node = other->nodes[i];
        if (node.parent != LC_NONE)
            node.parent = nodes[node.parent];
        if (lc_raw_is_code(node.kind))
            node.ref = node.ref == LC_NONE ? LC_NONE : modules[node.ref];
        else if (lc_raw_is_named(node.kind))
            node.ref = names[node.ref];
        LC_TRY(lc_raw_add_node(raw, &node, &nodes[i]));
    }
    return LC_OK;
}

/* Tables from ids of `other` to ids of `raw`. */
struct maps {
    uint32_t *names, *modules, *nodes;
};

static enum lc_err make_maps(struct lc_raw *raw, const struct lc_raw *other, struct maps *maps) {
    *maps = (struct maps){0};
    enum lc_err err = lc_raw_check(other);
    if (err == LC_OK)
        err = lc_alloc(&maps->names, other->n_names + 1, sizeof maps->names[0]);
    if (err == LC_OK)
        err = lc_alloc(&maps->modules, other->n_modules + 1, sizeof maps->modules[0]);
    if (err == LC_OK)
        err = lc_alloc(&maps->nodes, other->n_nodes + 1, sizeof maps->nodes[0]);
    if (err == LC_OK)
        err = merge_definitions(raw, other, maps->names, maps->modules, maps->nodes);
    return err;
}

static void free_maps(struct maps *maps) {
    free(maps->names);
    free(maps->modules);
    free(maps->nodes);
}

enum lc_err lc_raw_merge_nodes(struct lc_raw *raw, const struct lc_raw *other, uint32_t **map) {
    struct maps maps;
    enum lc_err err = make_maps(raw, other, &maps);
    *map = NULL;
    if (err == LC_OK) {
        *map = maps.nodes;
        maps.nodes = NULL;
    }
    free_maps(&maps);
    return err;
}

static enum lc_err merge_contents(struct lc_raw *raw, const struct lc_raw *other,
                                  const struct maps *maps) {
    uint32_t first_location = (uint32_t)raw->n_locations;
    for (size_t i = 0; i < other->n_locations; i++) {
        struct lc_raw_location location = other->locations[i];
        uint32_t id;
        location.host = maps->names[location.host];
        LC_TRY(lc_raw_add_location(raw, &location, &id));
    }
    for (size_t i = 0; i < other->n_rows; i++) {
        struct lc_raw_row row = other->rows[i];
        row.node = maps->nodes[row.node];
        row.location += first_location;
        LC_TRY(lc_raw_add_row(raw, &row));
    }
    for (size_t i = 0; i < other->n_values; i++) {
        struct lc_raw_value value = other->values[i];
        value.node = maps->nodes[value.node];
        value.location += first_location;
        value.metric = maps->names[value.metric];
        LC_TRY(lc_raw_add_value(raw, &value));
    }
    return LC_OK;
}

enum lc_err lc_raw_merge(struct lc_raw *raw, const struct lc_raw *other) {
    struct maps maps;
    enum lc_err err = make_maps(raw, other, &maps);
    if (err == LC_OK)
        err = merge_contents(raw, other, &maps);
    free_maps(&maps);
    return err;
}
