#include "run/system.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct place {
    int32_t rank, thread;
    uint32_t raw; /* raw location, or LC_NONE: left nothing */
};

static int compare_places(const void *a, const void *b) {
    const struct place *x = a, *y = b;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    return (x->raw > y->raw) - (x->raw < y->raw);
}

/* All places of the result: those of the profile, and one for each rank that is missing. */
static enum lc_err list_places(const struct lc_raw *raw, int32_t ranks, struct place **places,
                               size_t *count) {
    unsigned char *seen;
    enum { MAX_RANKS = 1 << 24 };
    if (ranks < 0 || ranks > MAX_RANKS)
        ranks = 0;
    LC_TRY(lc_alloc(places, raw->n_locations + (size_t)ranks + 1, sizeof **places));
    enum lc_err err = lc_alloc(&seen, (size_t)ranks + 1, 1);
    if (err != LC_OK) {
        free(*places);
        return err;
    }
    *count = raw->n_locations;
    for (size_t i = 0; i < raw->n_locations; i++) {
        const struct lc_raw_location *location = &raw->locations[i];
        (*places)[i] = (struct place){location->rank, location->thread, (uint32_t)i};
        if (location->rank >= 0 && location->rank < ranks)
            seen[location->rank] = 1;
    }
    for (int32_t r = 0; r < ranks; r++)
        if (!seen[r])
            (*places)[(*count)++] = (struct place){r, 0, LC_NONE};
    free(seen);
    qsort(*places, *count, sizeof **places, compare_places);
    return LC_OK;
}

static enum lc_err find_node(struct lc_model *model, uint32_t machine, const char *host,
                             uint32_t *id) {
    for (size_t i = 0; i < model->n_system_nodes; i++)
        if (model->system_nodes[i].parent == machine &&
            strcmp(model->system_nodes[i].name, host) == 0) {
            *id = (uint32_t)i;
            return LC_OK;
        }
    return lc_model_add_system_node(model, machine, host, "node", id);
}

static enum lc_err add_place(struct lc_model *model, const struct place *place, uint32_t node,
                             uint32_t *process) {
    char name[64];
    bool same =
        model->n_processes != 0 && model->processes[model->n_processes - 1].rank == place->rank;
    if (!same) {
        snprintf(name, sizeof name, "MPI Rank %d", place->rank);
        LC_TRY(lc_model_add_process(model, node, place->rank, name, process));
    }
    if (place->thread == 0)
        snprintf(name, sizeof name, "Master thread");
    else
        snprintf(name, sizeof name, "Thread %d", place->thread);
    return lc_model_add_location(model, *process, place->thread, name, NULL);
}

static enum lc_err describe(const struct lc_model *model, const struct place *places,
                            size_t n_places, json_t *meta) {
    json_t *hosts = json_array(), *threads = json_array(), *unknown = json_array();
    for (size_t i = 0; i < n_places; i++)
        if (places[i].raw == LC_NONE)
            json_array_append_new(unknown, json_integer(places[i].rank));
    if (json_array_size(unknown) > 0)
        json_object_set(meta, "unknown_ranks", unknown);
    else
        json_object_del(meta, "unknown_ranks");
    json_decref(unknown);
    for (size_t i = 0; i < model->n_system_nodes; i++)
        if (model->system_nodes[i].parent != LC_NONE)
            json_array_append_new(hosts, json_string(model->system_nodes[i].name));
    size_t at = 0;
    for (size_t p = 0; p < model->n_processes; p++) {
        json_int_t count = 0;
        for (; at < model->n_locations && model->locations[at].process == p; at++)
            count++;
        json_array_append_new(threads, json_integer(count));
    }
    if (json_object_set_new(meta, "hosts", hosts) != 0 ||
        json_object_set_new(meta, "threads", threads) != 0)
        return lc_fail(LC_ERR_NOMEM, "memory: cannot describe the run");
    return LC_OK;
}

enum lc_err lc_system_build(struct lc_system *system, const struct lc_raw *raw, int32_t ranks,
                            const struct lc_rank_hosts *hosts, struct lc_model *model,
                            json_t *meta) {
    struct place *places = NULL;
    size_t count = 0;
    uint32_t machine, process = 0;
    *system = (struct lc_system){0};
    LC_TRY(list_places(raw, ranks, &places, &count));
    enum lc_err err = lc_alloc(&system->column_of, raw->n_locations + 1, sizeof(uint32_t));
    if (err == LC_OK)
        err = lc_model_add_system_node(model, LC_NONE, "machine", "machine", &machine);
    for (size_t i = 0; err == LC_OK && i < count; i++) {
        uint32_t node;
        const char *name = hosts->otherwise;
        if (places[i].raw != LC_NONE) {
            name = raw->names[raw->locations[places[i].raw].host];
            system->column_of[places[i].raw] = (uint32_t)i;
        } else if (hosts->names != NULL && hosts->names[places[i].rank][0] != '\0') {
            name = hosts->names[places[i].rank];
        }
        err = find_node(model, machine, name, &node);
        if (err == LC_OK)
            err = add_place(model, &places[i], node, &process);
    }
    system->n_columns = count;
    if (err == LC_OK)
        err = describe(model, places, count, meta);
    free(places);
    if (err != LC_OK)
        lc_system_free(system);
    return err;
}

void lc_system_free(struct lc_system *system) {
    free(system->column_of);
    *system = (struct lc_system){0};
}
