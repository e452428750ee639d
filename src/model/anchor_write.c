#include "model/anchor.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/lookup.h"
#include "base/utf8.h"
#include "model/row_order.h"

/* Escapes for content and attribute values; what XML cannot hold is \xNN. */
static void put_escaped(struct lc_strbuf *xml, const char *text) {
    for (const char *p = text; *p != '\0';) {
        int length = lc_utf8_length(p, NULL);
        switch (*p) {
        case '<':
            lc_strbuf_puts(xml, "&lt;");
            break;
        case '>':
            lc_strbuf_puts(xml, "&gt;");
            break;
        case '&':
            lc_strbuf_puts(xml, "&amp;");
            break;
        case '\'':
            lc_strbuf_puts(xml, "&apos;");
            break;
        case '"':
            lc_strbuf_puts(xml, "&quot;");
            break;
        case '\t':
        case '\n':
        case '\r': /* would become blanks or line ends */
            lc_strbuf_printf(xml, "&#%d;", *p);
            break;
        default:
            if (length > 0)
                lc_strbuf_add(xml, p, (size_t)length);
            else
                lc_strbuf_printf(xml, "\\x%02x", (unsigned char)*p);
        }
        p += length > 0 ? length : 1;
    }
}

static void put_element(struct lc_strbuf *xml, const char *tag, const char *text) {
    lc_strbuf_printf(xml, "<%s>", tag);
    put_escaped(xml, text);
    lc_strbuf_printf(xml, "</%s>\n", tag);
}

static void put_metric(struct lc_strbuf *xml, const struct lc_model *model, uint32_t id) {
    static const char *const kinds[] = {"EXCLUSIVE", "INCLUSIVE", "SIMPLE", "POSTDERIVED"};
    static const char *const types[] = {"DOUBLE",    "UINT64",    "INTEGER",
                                        "MINDOUBLE", "MAXDOUBLE", "DOUBLE"};
    const struct lc_metric *metric = &model->metrics[id];
    lc_strbuf_printf(xml, "<metric id=\"%u\" type=\"%s\">\n", id, kinds[metric->kind]);
    put_element(xml, "disp_name", metric->display);
    put_element(xml, "uniq_name", metric->name);
    put_element(xml, "dtype", types[metric->dtype]);
    put_element(xml, "uom", metric->unit);
    put_element(xml, "url", "");
    put_element(xml, "descr", metric->descr);
    for (uint32_t child = id + 1; child < model->n_metrics; child++)
        if (model->metrics[child].parent == id)
            put_metric(xml, model, child); /* as deep as the table of metrics: a few levels */
    lc_strbuf_puts(xml, "</metric>\n");
}

static void put_region(struct lc_strbuf *xml, const struct lc_region *region, uint32_t id) {
    lc_strbuf_printf(xml, "<region id=\"%u\" mod=\"", id);
    put_escaped(xml, region->module);
    lc_strbuf_printf(xml, "\" begin=\"%" PRId64 "\" end=\"%" PRId64 "\">\n", region->begin_line,
                     region->end_line);
    put_element(xml, "name", region->name);
    put_element(xml, "mangled_name", region->mangled);
    put_element(xml, "paradigm", region->paradigm);
    put_element(xml, "role", region->role);
    put_element(xml, "url", "");
    put_element(xml, "descr", "");
    lc_strbuf_puts(xml, "</region>\n");
}

/* In pre-order: before a cnode, everything is closed that is not its ancestor. */
static void put_cnodes(struct lc_strbuf *xml, const struct lc_model *model) {
    uint32_t open = LC_NONE;
    for (uint32_t c = 0; c <= model->n_cnodes; c++) {
        uint32_t parent = c < model->n_cnodes ? model->cnodes[c].parent : LC_NONE;
        for (; open != parent; open = model->cnodes[open].parent)
            lc_strbuf_puts(xml, "</cnode>\n");
        if (c < model->n_cnodes) {
            lc_strbuf_printf(xml, "<cnode id=\"%u\" calleeId=\"%u\">\n", c,
                             model->cnodes[c].region);
            open = c;
        }
    }
}

static void put_process(struct lc_strbuf *xml, const struct lc_model *model, uint32_t id) {
    const struct lc_process *process = &model->processes[id];
    lc_strbuf_printf(xml, "<locationgroup Id=\"%u\">\n", id);
    put_element(xml, "name", process->name);
    lc_strbuf_printf(xml, "<rank>%d</rank>\n<type>process</type>\n", process->rank);
    /* Locations are ordered by process: look no further than the process's own. */
    size_t first = LC_FIRST_WHERE(i, 0, model->n_locations, model->locations[i].process >= id);
    for (size_t l = first; l < model->n_locations && model->locations[l].process == id; l++) {
        lc_strbuf_printf(xml, "<location Id=\"%zu\">\n", l);
        put_element(xml, "name", model->locations[l].name);
        lc_strbuf_printf(xml, "<rank>%d</rank>\n<type>thread</type>\n</location>\n",
                         model->locations[l].thread);
    }
    lc_strbuf_puts(xml, "</locationgroup>\n");
}

static void put_system_node(struct lc_strbuf *xml, const struct lc_model *model, uint32_t id) {
    lc_strbuf_printf(xml, "<systemtreenode Id=\"%u\">\n", id);
    put_element(xml, "name", model->system_nodes[id].name);
    put_element(xml, "class", model->system_nodes[id].class_name);
    for (uint32_t child = id + 1; child < model->n_system_nodes; child++)
        if (model->system_nodes[child].parent == id)
            put_system_node(xml, model,
                            child); /* machine, node: few levels, bounded by the writer */
    for (uint32_t p = 0; p < model->n_processes; p++)
        if (model->processes[p].system_node == id)
            put_process(xml, model, p);
    lc_strbuf_puts(xml, "</systemtreenode>\n");
}

void lc_anchor_write(struct lc_strbuf *xml, const struct lc_model *model) {
    lc_strbuf_puts(xml, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<cube version=\"4.4\">\n");
    for (size_t i = 0; i < model->n_attrs; i++) {
        lc_strbuf_puts(xml, "<attr key=\"");
        put_escaped(xml, model->attrs[i].key);
        lc_strbuf_puts(xml, "\" value=\"");
        put_escaped(xml, model->attrs[i].value);
        lc_strbuf_puts(xml, "\"/>\n");
    }
    lc_strbuf_puts(xml, "<doc>\n<mirrors>\n</mirrors>\n</doc>\n<metrics>\n");
    for (uint32_t m = 0; m < model->n_metrics; m++)
        if (model->metrics[m].parent == LC_NONE)
            put_metric(xml, model, m);
    lc_strbuf_puts(xml, "</metrics>\n<program>\n");
    for (uint32_t r = 0; r < model->n_regions; r++)
        put_region(xml, &model->regions[r], r);
    put_cnodes(xml, model);
    lc_strbuf_puts(xml, "</program>\n<system>\n");
    for (uint32_t n = 0; n < model->n_system_nodes; n++)
        if (model->system_nodes[n].parent == LC_NONE)
            put_system_node(xml, model, n);
    lc_strbuf_puts(xml, "<topologies>\n</topologies>\n</system>\n</cube>\n");
}
