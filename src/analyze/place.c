#include "analyze/place.h"

#include <stdlib.h>
#include <string.h>

#include "model/model.h"

void lc_place_callpath(struct lc_strbuf *text, const struct lc_trace *trace, uint32_t cnode) {
    uint32_t parent = trace->cnodes[cnode].parent;
    if (parent != LC_NONE) {
        lc_place_callpath(text, trace, parent);
        lc_strbuf_putc(text, '/');
    }
    lc_callpath_add(text, trace->regions[trace->cnodes[cnode].region].name);
}

void lc_place_set(json_t *object, const struct lc_trace *trace, uint32_t location, uint32_t cnode) {
    const struct lc_an_location *l = &trace->locations[location];
    json_object_set_new(object, "rank", json_integer(trace->processes[l->process].rank));
    json_object_set_new(object, "thread", json_integer(l->thread));
    if (cnode == LC_NONE)
        return;
    struct lc_strbuf text = {0};
    lc_place_callpath(&text, trace, cnode);
    json_object_set_new(object, "callpath", json_string(lc_strbuf_get(&text)));
    lc_strbuf_free(&text);
}

json_t *lc_place_seconds(const struct lc_trace *trace, double ticks) {
    return json_real(ticks / (double)trace->ticks_per_second);
}

json_t *lc_place_time(const struct lc_trace *trace, int64_t time) {
    return lc_place_seconds(trace, (double)(time - trace->t0));
}

enum lc_err lc_place_dump(struct lc_strbuf *out, json_t *value) {
    char *text = value != NULL ? json_dumps(value, JSON_COMPACT | JSON_REAL_PRECISION(17)) : NULL;
    json_decref(value);
    if (text == NULL)
        return lc_fail(LC_ERR_NOMEM,
                       "root causes: no memory for the list: use more analysis ranks");
    lc_strbuf_puts(out, text);
    free(text);
    return LC_OK;
}
