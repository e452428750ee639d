/* The call tree of a state (state.h) as an LC_DEF_TREE record. Reads memory that a program may be
 * writing, or may have ruined. */
#include <stdlib.h>
#include <string.h>

#include "format/trace_defs.h"

struct state_view {
    const char *base;
    size_t bytes;
    const struct lc_state_header *header;
};

static const void *table_at(const struct state_view *v, const struct lc_state_table *table,
                            size_t entry_bytes, uint32_t *count) {
    uint32_t n = atomic_load_explicit(&table->count,
                                      memory_order_acquire); /* partner: release in state_write.c */
    if (table->offset > v->bytes || n > (v->bytes - table->offset) / entry_bytes ||
        n > table->capacity)
        n = 0;
    *count = n;
    return v->base + (n ? table->offset : 0);
}

static void put_text(const struct state_view *v, uint32_t offset, struct lc_strbuf *out) {
    uint32_t n;
    const char *text = table_at(v, &v->header->text, 1, &n);
    size_t length = offset < n ? strnlen(text + offset, n - offset) : 0;
    if (length && offset + length < n)
        lc_strbuf_add(out, text + offset, length);
    lc_strbuf_putc(out, 0);
}

enum lc_err lc_trace_tree_pack(const void *state, size_t n_bytes, struct lc_strbuf *out) {
    struct state_view v = {state, n_bytes, state};
    if (n_bytes < sizeof(*v.header) || v.header->magic != LC_STATE_MAGIC ||
        v.header->version != LC_STATE_VERSION)
        return lc_fail(LC_ERR_FORMAT,
                       "state of the program: not written: the program did not call MPI");
    struct lc_def_tree head = {0};
    const struct lc_state_node *nodes =
        table_at(&v, &v.header->nodes, sizeof(*nodes), &head.n_nodes);
    const struct lc_state_module *modules =
        table_at(&v, &v.header->modules, sizeof(*modules), &head.n_modules);
    const struct lc_state_name *names =
        table_at(&v, &v.header->names, sizeof(*names), &head.n_names);
    struct lc_strbuf body = {0};
    lc_strbuf_add(&body, (const char *)nodes, head.n_nodes * sizeof(*nodes));
    for (uint32_t i = 0; i < head.n_modules; i++) {
        put_text(&v, modules[i].path, &body);
        put_text(&v, modules[i].build_id, &body);
    }
    for (uint32_t i = 0; i < head.n_names; i++)
        put_text(&v, names[i].text, &body);
    lc_trace_def_put(out, LC_DEF_TREE, &head, sizeof(head), lc_strbuf_get(&body), body.length);
    bool ok = lc_strbuf_ok(&body) && lc_strbuf_ok(out);
    lc_strbuf_free(&body);
    return ok ? LC_OK : lc_fail(LC_ERR_NOMEM, "call tree of the trace: not enough memory");
}

enum lc_err lc_trace_defs_tree_from_state(struct lc_trace_defs *defs, const void *state,
                                          size_t n_bytes) {
    struct lc_strbuf packed = {0};
    enum lc_err err = lc_trace_tree_pack(state, n_bytes, &packed);
    if (err == LC_OK)
        err = lc_trace_defs_parse(defs, lc_strbuf_get(&packed), packed.length);
    lc_strbuf_free(&packed);
    return err;
}
