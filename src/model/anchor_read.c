#include "model/anchor.h"

#include <errno.h>
#include <expat.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { MAX_DEPTH = 4096 };

enum tag {
    TAG_OTHER,
    TAG_CUBE,
    TAG_ATTR,
    TAG_METRIC,
    TAG_REGION,
    TAG_CNODE,
    TAG_SYSTEM_NODE,
    TAG_PROCESS,
    TAG_LOCATION,
    TAG_TEXT /* a leaf whose text is a field of the element around it */
};

struct frame {
    enum tag tag;
    uint32_t id; /* in the model; LC_NONE if it has none */
};

struct lc_anchor_parser {
    XML_Parser xml;
    struct lc_model *model;
    struct lc_anchor_ids *ids;
    struct frame *stack;
    size_t depth, cap_stack;
    uint32_t *regions; /* by the file's id: model id + 1, 0 unknown */
    size_t cap_regions;
    size_t bytes; /* seen so far: no dense id can be larger */
    struct lc_strbuf text;
    enum lc_err err;
};

static void stop(struct lc_anchor_parser *parser, enum lc_err err) {
    parser->err = err;
    XML_StopParser(parser->xml, XML_FALSE);
}

static const char *attribute(const XML_Char **attributes, const char *name) {
    for (; attributes[0] != NULL; attributes += 2)
        if (strcmp(attributes[0], name) == 0)
            return attributes[1];
    return NULL;
}

static enum lc_err parse_id(const struct lc_anchor_parser *parser, const char *element,
                            const char *text, uint32_t *id) {
    char *end = NULL;
    errno = 0;
    unsigned long value =
        text != NULL && *text >= '0' && *text <= '9' ? strtoul(text, &end, 10) : 0;
    if (end == NULL || *end != '\0' || errno != 0 || value >= parser->bytes || value >= LC_NONE)
        return lc_fail(LC_ERR_FORMAT, "anchor.xml: a %s has the id \"%.20s\", which is not allowed",
                       element, text != NULL ? text : "");
    *id = (uint32_t)value;
    return LC_OK;
}

static enum lc_err start_metric(struct lc_anchor_parser *parser, const XML_Char **attributes,
                                uint32_t parent, uint32_t *id) {
    const char *type = attribute(attributes, "type");
    enum lc_metric_kind kind = LC_METRIC_DERIVED;
    if (type == NULL || strcmp(type, "EXCLUSIVE") == 0)
        kind = LC_METRIC_EXCLUSIVE;
    else if (strcmp(type, "INCLUSIVE") == 0)
        kind = LC_METRIC_INCLUSIVE;
    else if (strcmp(type, "SIMPLE") == 0)
        kind = LC_METRIC_SIMPLE;
    uint32_t number = 0;
    LC_TRY(parse_id(parser, "metric", attribute(attributes, "id"), &number));
    const struct lc_metric metric = {.parent = parent, .kind = kind, .dtype = LC_DTYPE_DOUBLE};
    LC_TRY(lc_grow(&parser->ids->metric, &parser->ids->cap_metric, parser->model->n_metrics + 1,
                   sizeof parser->ids->metric[0]));
    LC_TRY(lc_model_add_metric(parser->model, &metric, id));
    parser->ids->metric[*id] = number;
    return LC_OK;
}

static enum lc_err start_region(struct lc_anchor_parser *parser, const XML_Char **attributes,
                                uint32_t *id) {
    const char *module = attribute(attributes, "mod");
    const char *begin = attribute(attributes, "begin"), *end = attribute(attributes, "end");
    uint32_t number = 0;
    LC_TRY(parse_id(parser, "region", attribute(attributes, "id"), &number));
    const struct lc_region region = {.module = (char *)module,
                                     .begin_line = begin != NULL ? strtoll(begin, NULL, 10) : -1,
                                     .end_line = end != NULL ? strtoll(end, NULL, 10) : -1};
    LC_TRY(lc_grow(&parser->regions, &parser->cap_regions, (size_t)number + 1,
                   sizeof parser->regions[0]));
    LC_TRY(lc_model_add_region(parser->model, &region, id));
    parser->regions[number] = *id + 1;
    return LC_OK;
}

static enum lc_err start_cnode(struct lc_anchor_parser *parser, const XML_Char **attributes,
                               uint32_t parent, uint32_t *id) {
    uint32_t number = 0;
    LC_TRY(parse_id(parser, "cnode", attribute(attributes, "calleeId"), &number));
    if (number >= parser->cap_regions || parser->regions[number] == 0)
        return lc_fail(LC_ERR_FORMAT, "anchor.xml: a cnode calls region %u, which is not defined",
                       number);
    return lc_model_add_cnode(parser->model, parent, parser->regions[number] - 1, id);
}

static enum lc_err start_process(struct lc_anchor_parser *parser, const struct frame *around,
                                 uint32_t *id) {
    if (around->tag != TAG_SYSTEM_NODE)
        return lc_fail(LC_ERR_FORMAT, "anchor.xml: a location group outside of the system tree");
    return lc_model_add_process(parser->model, around->id, 0, "", id);
}

static enum lc_err start_location(struct lc_anchor_parser *parser, const XML_Char **attributes,
                                  const struct frame *around, uint32_t *id) {
    if (around->tag != TAG_PROCESS)
        return lc_fail(LC_ERR_FORMAT, "anchor.xml: a location outside of a location group");
    uint32_t column = 0;
    LC_TRY(parse_id(parser, "location", attribute(attributes, "Id"), &column));
    LC_TRY(lc_grow(&parser->ids->column, &parser->ids->cap_column, parser->model->n_locations + 1,
                   sizeof parser->ids->column[0]));
    LC_TRY(lc_model_add_location(parser->model, around->id, 0, "", id));
    parser->ids->column[*id] = column;
    return LC_OK;
}

static enum lc_err start_attr(struct lc_anchor_parser *parser, const XML_Char **attributes) {
    const char *key = attribute(attributes, "key"), *value = attribute(attributes, "value");
    return key == NULL || value == NULL ? LC_OK : lc_model_set_attr(parser->model, key, value);
}

static enum tag tag_of(const char *name, const struct frame *around) {
    static const struct {
        const char *name;
        enum tag tag;
    } tags[] = {{"cube", TAG_CUBE},
                {"metric", TAG_METRIC},
                {"region", TAG_REGION},
                {"cnode", TAG_CNODE},
                {"systemtreenode", TAG_SYSTEM_NODE},
                {"locationgroup", TAG_PROCESS},
                {"location", TAG_LOCATION}};
    for (size_t i = 0; i < sizeof tags / sizeof tags[0]; i++)
        if (strcmp(name, tags[i].name) == 0)
            return tags[i].tag;
    if (strcmp(name, "attr") == 0)
        return around->tag == TAG_CUBE ? TAG_ATTR : TAG_OTHER;
    return around->id != LC_NONE && around->tag != TAG_CNODE ? TAG_TEXT : TAG_OTHER;
}

static enum lc_err start(struct lc_anchor_parser *parser, const char *name,
                         const XML_Char **attributes) {
    const struct frame outside = {TAG_OTHER, LC_NONE};
    if (parser->depth >= MAX_DEPTH)
        return lc_fail(LC_ERR_FORMAT, "anchor.xml: nested deeper than %d", MAX_DEPTH);
    LC_TRY(lc_grow(&parser->stack, &parser->cap_stack, parser->depth + 1, sizeof parser->stack[0]));
    const struct frame around = parser->depth > 0 ? parser->stack[parser->depth - 1] : outside;
    struct frame frame = {tag_of(name, &around), LC_NONE};
    uint32_t parent = around.tag == frame.tag ? around.id : LC_NONE;
    enum lc_err err = LC_OK;
    if (frame.tag == TAG_METRIC)
        err = start_metric(parser, attributes, parent, &frame.id);
    else if (frame.tag == TAG_REGION)
        err = start_region(parser, attributes, &frame.id);
    else if (frame.tag == TAG_CNODE)
        err = start_cnode(parser, attributes, parent, &frame.id);
    else if (frame.tag == TAG_SYSTEM_NODE)
        err = lc_model_add_system_node(parser->model, parent, "", "", &frame.id);
    else if (frame.tag == TAG_PROCESS)
        err = start_process(parser, &around, &frame.id);
    else if (frame.tag == TAG_LOCATION)
        err = start_location(parser, attributes, &around, &frame.id);
    else if (frame.tag == TAG_ATTR)
        err = start_attr(parser, attributes);
    parser->stack[parser->depth++] = frame;
    lc_strbuf_clear(&parser->text);
    return err;
}

static enum lc_dtype dtype_of(const char *name) {
    static const struct {
        const char *name;
        enum lc_dtype dtype;
    } types[] = {{"DOUBLE", LC_DTYPE_DOUBLE},        {"FLOAT", LC_DTYPE_DOUBLE},
                 {"UINT64", LC_DTYPE_UINT64},        {"UNSIGNED INTEGER", LC_DTYPE_UINT64},
                 {"INTEGER", LC_DTYPE_INT64},        {"INT64", LC_DTYPE_INT64},
                 {"MINDOUBLE", LC_DTYPE_MIN_DOUBLE}, {"MAXDOUBLE", LC_DTYPE_MAX_DOUBLE}};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (strcmp(name, types[i].name) == 0)
            return types[i].dtype;
    return LC_DTYPE_OTHER;
}

static enum lc_err parse_rank(const char *text, int32_t *rank) {
    char *end;
    errno = 0;
    long value = strtol(text, &end, 10);
    if (end == text || errno != 0 || value < INT_MIN || value > INT_MAX)
        return lc_fail(LC_ERR_FORMAT, "anchor.xml: the rank \"%.20s\" is not a number", text);
    *rank = (int32_t)value;
    return LC_OK;
}

/* The text of a leaf becomes a field of the element around it. */
static enum lc_err end_text(struct lc_anchor_parser *parser, const struct frame *around,
                            const char *name) {
    struct lc_model *model = parser->model;
    const char *text = lc_strbuf_get(&parser->text);
    char **field = NULL;
    if (around->tag == TAG_METRIC) {
        struct lc_metric *metric = &model->metrics[around->id];
        if (strcmp(name, "dtype") == 0)
            metric->dtype = dtype_of(text);
        field = strcmp(name, "uniq_name") == 0   ? &metric->name
                : strcmp(name, "disp_name") == 0 ? &metric->display
                : strcmp(name, "uom") == 0       ? &metric->unit
                : strcmp(name, "descr") == 0     ? &metric->descr
                                                 : NULL;
    } else if (around->tag == TAG_REGION) {
        struct lc_region *region = &model->regions[around->id];
        field = strcmp(name, "name") == 0           ? &region->name
                : strcmp(name, "mangled_name") == 0 ? &region->mangled
                : strcmp(name, "paradigm") == 0     ? &region->paradigm
                : strcmp(name, "role") == 0         ? &region->role
                                                    : NULL;
    } else if (around->tag == TAG_SYSTEM_NODE) {
        struct lc_system_node *node = &model->system_nodes[around->id];
        field = strcmp(name, "name") == 0    ? &node->name
                : strcmp(name, "class") == 0 ? &node->class_name
                                             : NULL;
    } else if (around->tag == TAG_PROCESS) {
        if (strcmp(name, "rank") == 0)
            return parse_rank(text, &model->processes[around->id].rank);
        field = strcmp(name, "name") == 0 ? &model->processes[around->id].name : NULL;
    } else if (around->tag == TAG_LOCATION) {
        if (strcmp(name, "rank") == 0)
            return parse_rank(text, &model->locations[around->id].thread);
        field = strcmp(name, "name") == 0 ? &model->locations[around->id].name : NULL;
    }
    if (field == NULL)
        return LC_OK;
    char *copy;
    LC_TRY(lc_strdup(&copy, text));
    free(*field);
    *field = copy;
    return LC_OK;
}

static void on_start(void *data, const XML_Char *name, const XML_Char **attributes) {
    struct lc_anchor_parser *parser = data;
    enum lc_err err = start(parser, name, attributes);
    if (err != LC_OK)
        stop(parser, err);
}

static void on_end(void *data, const XML_Char *name) {
    struct lc_anchor_parser *parser = data;
    struct frame frame = parser->stack[--parser->depth];
    enum lc_err err = LC_OK;
    if (!lc_strbuf_ok(&parser->text))
        err = lc_fail(LC_ERR_NOMEM, "memory: cannot hold a text of anchor.xml");
    else if (frame.tag == TAG_TEXT)
        err = end_text(parser, &parser->stack[parser->depth - 1], name);
    lc_strbuf_clear(&parser->text);
    if (err != LC_OK)
        stop(parser, err);
}

static void on_text(void *data, const XML_Char *text, int length) {
    struct lc_anchor_parser *parser = data;
    if (parser->depth > 0 && parser->stack[parser->depth - 1].tag == TAG_TEXT)
        lc_strbuf_add(&parser->text, text, (size_t)length);
}

/* A document type is where entities are defined; Cube files have none. */
static void on_doctype(void *data, const XML_Char *name, const XML_Char *sysid,
                       const XML_Char *pubid, int has_internal_subset) {
    (void)name;
    (void)sysid;
    (void)pubid;
    (void)has_internal_subset;
    stop(data, lc_fail(LC_ERR_FORMAT, "anchor.xml: has a document type, which no Cube file has"));
}

enum lc_err lc_anchor_parser_new(struct lc_anchor_parser **out, struct lc_model *model,
                                 struct lc_anchor_ids *ids) {
    struct lc_anchor_parser *parser;
    LC_TRY(lc_alloc(&parser, 1, sizeof *parser));
    parser->model = model;
    parser->ids = ids;
    parser->xml = XML_ParserCreate(NULL);
    if (parser->xml == NULL) {
        free(parser);
        return lc_fail(LC_ERR_NOMEM, "memory: cannot create an XML parser");
    }
    XML_SetUserData(parser->xml, parser);
    XML_SetElementHandler(parser->xml, on_start, on_end);
    XML_SetCharacterDataHandler(parser->xml, on_text);
    XML_SetStartDoctypeDeclHandler(parser->xml, on_doctype);
    *out = parser;
    return LC_OK;
}

void lc_anchor_parser_free(struct lc_anchor_parser *parser) {
    if (parser == NULL)
        return;
    XML_ParserFree(parser->xml);
    lc_strbuf_free(&parser->text);
    free(parser->stack);
    free(parser->regions);
    free(parser);
}

/* Sort keys: processes by rank, locations by process and thread; order in the file among equals. */
struct place {
    int64_t major, minor;
    uint32_t index;
};

static int compare_places(const void *a, const void *b) {
    const struct place *x = a, *y = b;
    if (x->major != y->major)
        return x->major < y->major ? -1 : 1;
    if (x->minor != y->minor)
        return x->minor < y->minor ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

static enum lc_err sort_processes(struct lc_model *model) {
    size_t count = model->n_processes;
    struct place *places = NULL;
    struct lc_process *old = NULL;
    uint32_t *rank_of = NULL; /* old index: new index */
    enum lc_err err = lc_alloc(&places, count, sizeof places[0]);
    if (err == LC_OK)
        err = lc_alloc(&old, count, sizeof old[0]);
    if (err == LC_OK)
        err = lc_alloc(&rank_of, count, sizeof rank_of[0]);
    if (err == LC_OK && count > 0) {
        memcpy(old, model->processes, count * sizeof old[0]);
        for (uint32_t i = 0; i < count; i++)
            places[i] = (struct place){old[i].rank, 0, i};
        qsort(places, count, sizeof places[0], compare_places);
        for (uint32_t i = 0; i < count; i++) {
            model->processes[i] = old[places[i].index];
            rank_of[places[i].index] = i;
        }
        for (size_t i = 0; i < model->n_locations; i++)
            model->locations[i].process = rank_of[model->locations[i].process];
    }
    free(rank_of);
    free(old);
    free(places);
    return err;
}

static enum lc_err sort_locations(struct lc_model *model, struct lc_anchor_ids *ids) {
    size_t count = model->n_locations;
    struct place *places = NULL;
    struct lc_location *old = NULL;
    uint32_t *column = NULL;
    enum lc_err err = lc_alloc(&places, count, sizeof places[0]);
    if (err == LC_OK)
        err = lc_alloc(&old, count, sizeof old[0]);
    if (err == LC_OK)
        err = lc_alloc(&column, count, sizeof column[0]);
    if (err == LC_OK && count > 0) {
        memcpy(old, model->locations, count * sizeof old[0]);
        memcpy(column, ids->column, count * sizeof column[0]);
        for (uint32_t i = 0; i < count; i++)
            places[i] = (struct place){old[i].process, old[i].thread, i};
        qsort(places, count, sizeof places[0], compare_places);
        for (uint32_t i = 0; i < count; i++) {
            model->locations[i] = old[places[i].index];
            ids->column[i] = column[places[i].index];
        }
    }
    free(column);
    free(old);
    free(places);
    return err;
}

/* Columns must be a permutation of 0 .. n - 1. */
static enum lc_err check_columns(const struct lc_model *model, const struct lc_anchor_ids *ids) {
    unsigned char *seen;
    LC_TRY(lc_alloc(&seen, model->n_locations, 1));
    enum lc_err err = LC_OK;
    for (size_t i = 0; err == LC_OK && i < model->n_locations; i++) {
        uint32_t column = ids->column[i];
        if (column >= model->n_locations || seen[column])
            err = lc_fail(LC_ERR_FORMAT, "anchor.xml: location ids are not 0 to %zu",
                          model->n_locations - 1);
        else
            seen[column] = 1;
    }
    free(seen);
    return err;
}

static enum lc_err finish(struct lc_anchor_parser *parser) {
    struct lc_model *model = parser->model;
    for (size_t m = 0; m < model->n_metrics; m++) {
        struct lc_metric *metric = &model->metrics[m];
        if (metric->name[0] == '\0')
            return lc_fail(LC_ERR_FORMAT, "anchor.xml: metric %u has no unique name",
                           parser->ids->metric[m]);
        if (metric->dtype == LC_DTYPE_OTHER)
            metric->kind = LC_METRIC_DERIVED;
        parser->ids->n_derived += metric->kind == LC_METRIC_DERIVED;
    }
    if (model->n_locations == 0)
        return lc_fail(LC_ERR_FORMAT, "anchor.xml: defines no locations");
    LC_TRY(check_columns(model, parser->ids));
    LC_TRY(sort_processes(model));
    return sort_locations(model, parser->ids);
}

static unsigned long line_of(XML_Parser xml) {
#if XML_MAJOR_VERSION > 2 || (XML_MAJOR_VERSION == 2 && XML_MINOR_VERSION >= 9)
    return (unsigned long)XML_GetCurrentLineNumber64(xml);
#else
    return (unsigned long)XML_GetCurrentLineNumber(xml);
#endif
}

enum lc_err lc_anchor_parse(struct lc_anchor_parser *parser, const char *text, size_t bytes,
                            bool last) {
    if (bytes > INT_MAX)
        return lc_fail(LC_ERR_RANGE, "anchor.xml: a piece of %zu bytes is too large", bytes);
    parser->bytes += bytes;
    if (XML_Parse(parser->xml, text, (int)bytes, last) != XML_STATUS_OK) {
        if (parser->err != LC_OK)
            return parser->err;
        return lc_fail(LC_ERR_FORMAT, "anchor.xml line %lu: %s", line_of(parser->xml),
                       XML_ErrorString(XML_GetErrorCode(parser->xml)));
    }
    return last ? finish(parser) : LC_OK;
}
