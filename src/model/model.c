#include "model/model.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "base/utf8.h"

enum lc_err lc_model_new(struct lc_model **model) {
    return lc_alloc(model, 1, sizeof **model);
}

static void free_metric(struct lc_metric *metric) {
    free(metric->name);
    free(metric->display);
    free(metric->unit);
    free(metric->descr);
}

static void free_region(struct lc_region *region) {
    free(region->name);
    free(region->mangled);
    free(region->module);
    free(region->paradigm);
    free(region->role);
}

void lc_model_free(struct lc_model *model) {
    if (model == NULL)
        return;
    for (size_t i = 0; i < model->n_metrics; i++)
        free_metric(&model->metrics[i]);
    for (size_t i = 0; i < model->n_regions; i++)
        free_region(&model->regions[i]);
    for (size_t i = 0; i < model->n_system_nodes; i++) {
        free(model->system_nodes[i].name);
        free(model->system_nodes[i].class_name);
    }
    for (size_t i = 0; i < model->n_processes; i++)
        free(model->processes[i].name);
    for (size_t i = 0; i < model->n_locations; i++)
        free(model->locations[i].name);
    for (size_t i = 0; i < model->n_attrs; i++) {
        free(model->attrs[i].key);
        free(model->attrs[i].value);
    }
    free(model->metrics);
    free(model->regions);
    free(model->cnodes);
    free(model->system_nodes);
    free(model->processes);
    free(model->locations);
    free(model->attrs);
    free(model);
}

/* A parent must be there already, so that ids ascend from the roots. */
static enum lc_err check_parent(const char *what, uint32_t parent, size_t count, int may_be_root) {
    if (parent == LC_NONE ? may_be_root : parent < count)
        return LC_OK;
    return lc_fail(LC_ERR_RANGE, "result model: %s refers to undefined number %u of %zu", what,
                   parent, count);
}

/* Makes room for one more; ids are 32 bits and LC_NONE is none. */
static enum lc_err make_room(void *array, size_t *capacity, size_t count, size_t elem_bytes) {
    if (count >= LC_NONE - 1)
        return lc_fail(LC_ERR_RANGE, "result model: more than %zu definitions of one kind", count);
    return lc_grow(array, capacity, count + 1, elem_bytes);
}

static void give_id(uint32_t *id, size_t *count) {
    if (id != NULL)
        *id = (uint32_t)*count;
    (*count)++;
}

/* Names may hold any bytes where they come from; from here on they are the same everywhere. */
static enum lc_err copy_text(char **out, const char *text) {
    *out = lc_clean_text(text != NULL ? text : "");
    return *out != NULL ? LC_OK : lc_fail(LC_ERR_NOMEM, "memory: cannot copy a name");
}

enum lc_err lc_model_add_metric(struct lc_model *model, const struct lc_metric *metric,
                                uint32_t *id) {
    LC_TRY(check_parent("a metric's parent", metric->parent, model->n_metrics, 1));
    LC_TRY(make_room(&model->metrics, &model->cap_metrics, model->n_metrics,
                     sizeof model->metrics[0]));
    struct lc_metric copy = {
        .parent = metric->parent, .kind = metric->kind, .dtype = metric->dtype};
    if (copy_text(&copy.name, metric->name) != LC_OK ||
        copy_text(&copy.display, metric->display) != LC_OK ||
        copy_text(&copy.unit, metric->unit) != LC_OK ||
        copy_text(&copy.descr, metric->descr) != LC_OK) {
        free_metric(&copy);
        return LC_ERR_NOMEM;
    }
    model->metrics[model->n_metrics] = copy;
    give_id(id, &model->n_metrics);
    return LC_OK;
}

enum lc_err lc_model_add_region(struct lc_model *model, const struct lc_region *region,
                                uint32_t *id) {
    LC_TRY(make_room(&model->regions, &model->cap_regions, model->n_regions,
                     sizeof model->regions[0]));
    struct lc_region copy = {.begin_line = region->begin_line, .end_line = region->end_line};
    if (copy_text(&copy.name, region->name) != LC_OK ||
        copy_text(&copy.mangled, region->mangled) != LC_OK ||
        copy_text(&copy.module, region->module) != LC_OK ||
        copy_text(&copy.paradigm, region->paradigm) != LC_OK ||
        copy_text(&copy.role, region->role) != LC_OK) {
        free_region(&copy);
        return LC_ERR_NOMEM;
    }
    model->regions[model->n_regions] = copy;
    give_id(id, &model->n_regions);
    return LC_OK;
}

enum lc_err lc_model_add_cnode(struct lc_model *model, uint32_t parent, uint32_t region,
                               uint32_t *id) {
    LC_TRY(check_parent("a call path's parent", parent, model->n_cnodes, 1));
    LC_TRY(check_parent("a call path's region", region, model->n_regions, 0));
    LC_TRY(make_room(&model->cnodes, &model->cap_cnodes, model->n_cnodes, sizeof model->cnodes[0]));
    model->cnodes[model->n_cnodes] = (struct lc_cnode){.parent = parent, .region = region};
    give_id(id, &model->n_cnodes);
    return LC_OK;
}

enum lc_err lc_model_add_system_node(struct lc_model *model, uint32_t parent, const char *name,
                                     const char *class_name, uint32_t *id) {
    LC_TRY(check_parent("a system node's parent", parent, model->n_system_nodes, 1));
    LC_TRY(make_room(&model->system_nodes, &model->cap_system_nodes, model->n_system_nodes,
                     sizeof model->system_nodes[0]));
    struct lc_system_node copy = {.parent = parent};
    if (copy_text(&copy.name, name) != LC_OK || copy_text(&copy.class_name, class_name) != LC_OK) {
        free(copy.name);
        return LC_ERR_NOMEM;
    }
    model->system_nodes[model->n_system_nodes] = copy;
    give_id(id, &model->n_system_nodes);
    return LC_OK;
}

enum lc_err lc_model_add_process(struct lc_model *model, uint32_t system_node, int32_t rank,
                                 const char *name, uint32_t *id) {
    LC_TRY(check_parent("a process's system node", system_node, model->n_system_nodes, 0));
    LC_TRY(make_room(&model->processes, &model->cap_processes, model->n_processes,
                     sizeof model->processes[0]));
    struct lc_process copy = {.system_node = system_node, .rank = rank};
    LC_TRY(copy_text(&copy.name, name));
    model->processes[model->n_processes] = copy;
    give_id(id, &model->n_processes);
    return LC_OK;
}

enum lc_err lc_model_add_location(struct lc_model *model, uint32_t process, int32_t thread,
                                  const char *name, uint32_t *id) {
    LC_TRY(check_parent("a location's process", process, model->n_processes, 0));
    LC_TRY(make_room(&model->locations, &model->cap_locations, model->n_locations,
                     sizeof model->locations[0]));
    struct lc_location copy = {.process = process, .thread = thread};
    LC_TRY(copy_text(&copy.name, name));
    model->locations[model->n_locations] = copy;
    give_id(id, &model->n_locations);
    return LC_OK;
}

enum lc_err lc_model_set_attr(struct lc_model *model, const char *key, const char *value) {
    char *copy;
    LC_TRY(lc_strdup(&copy, value));
    for (size_t i = 0; i < model->n_attrs; i++)
        if (strcmp(model->attrs[i].key, key) == 0) {
            free(model->attrs[i].value);
            model->attrs[i].value = copy;
            return LC_OK;
        }
    enum lc_err err =
        make_room(&model->attrs, &model->cap_attrs, model->n_attrs, sizeof model->attrs[0]);
    char *key_copy = NULL;
    if (err == LC_OK)
        err = lc_strdup(&key_copy, key);
    if (err != LC_OK) {
        free(copy);
        return err;
    }
    model->attrs[model->n_attrs++] = (struct lc_attr){.key = key_copy, .value = copy};
    return LC_OK;
}

const char *lc_model_attr(const struct lc_model *model, const char *key) {
    for (size_t i = 0; i < model->n_attrs; i++)
        if (strcmp(model->attrs[i].key, key) == 0)
            return model->attrs[i].value;
    return NULL;
}

uint32_t lc_model_find_metric(const struct lc_model *model, const char *name) {
    for (size_t i = 0; i < model->n_metrics; i++)
        if (strcmp(model->metrics[i].name, name) == 0)
            return (uint32_t)i;
    return LC_NONE;
}

void lc_callpath_add(struct lc_strbuf *path, const char *name) {
    for (; *name != '\0'; name++)
        if (*name == '/')
            lc_strbuf_puts(path, "%2F");
        else
            lc_strbuf_putc(path, *name);
}

char *lc_model_callpath(const struct lc_model *model, uint32_t cnode) {
    size_t depth = 0;
    for (uint32_t c = cnode; c != LC_NONE; c = model->cnodes[c].parent)
        depth++;
    uint32_t *chain;
    if (lc_alloc(&chain, depth, sizeof chain[0]) != LC_OK)
        return NULL;
    size_t level = depth;
    for (uint32_t c = cnode; c != LC_NONE; c = model->cnodes[c].parent)
        chain[--level] = c;
    struct lc_strbuf text = {0};
    for (size_t i = 0; i < depth; i++) {
        if (i > 0)
            lc_strbuf_putc(&text, '/');
        lc_callpath_add(&text, model->regions[model->cnodes[chain[i]].region].name);
    }
    free(chain);
    char *result = lc_strbuf_take(&text);
    if (result == NULL)
        lc_fail(LC_ERR_NOMEM, "memory: cannot build a call path");
    return result;
}
