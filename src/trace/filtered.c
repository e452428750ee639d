/* What a filter means for the regions and communicators of one rank. Functions of an OpenMP runtime
 * are left out always: what they do is told by the regions of constructs. */
#include <stdlib.h>

#include "base/mem.h"
#include "format/omp_construct.h"
#include "trace/rank.h"

static const char *region_name(const struct lc_trace_region *r,
                               const struct lc_trace_names *names) {
    struct lc_trace_symbol symbol = {0};
    if (r->kind != LC_RAW_FRAME)
        return r->name;
    if (names)
        names->function(names->context, r->module, r->build_id, r->offset,
                        r->flags & LC_RAW_NODE_MAIN, &symbol);
    return symbol.name ? symbol.name : "";
}

static bool is_of_runtime(const struct lc_trace_region *r) {
    return r->kind == LC_RAW_FRAME && r->module != NULL && lc_omp_is_runtime(r->module);
}

/* Those that no filter brings back; nothing is allocated if there are none. LC_ERR_NOMEM. */
static enum lc_err leave_out_runtimes(struct lc_filtered *out, const struct lc_trace_defs *defs) {
    for (size_t i = 0; i < defs->n_regions; i++) {
        if (!is_of_runtime(&defs->regions[i]))
            continue;
        if (out->regions == NULL)
            LC_TRY(lc_alloc(&out->regions, defs->n_regions + 1, 1));
        out->regions[i] = 1;
    }
    return LC_OK;
}

enum lc_err lc_trace_filtered(struct lc_filtered *out, const struct lc_trace_defs *defs,
                              const struct lc_trace_options *options) {
    *out = (struct lc_filtered){0};
    if (!options->filter || !*options->filter)
        return leave_out_runtimes(out, defs);
    enum lc_err err = lc_filter_load(&out->filter, options->filter);
    if (err == LC_OK && out->filter->functions)
        err = lc_alloc(&out->regions, defs->n_regions + 1, 1);
    if (err == LC_OK && out->filter->comms)
        err = lc_alloc(&out->comms, defs->n_comms + 1, 1);
    for (size_t i = 0; err == LC_OK && out->regions && i < defs->n_regions; i++)
        out->regions[i] =
            !(defs->regions[i].flags & (LC_RAW_NODE_MAIN | LC_RAW_NODE_START)) &&
            lc_filter_excludes(out->filter, false, region_name(&defs->regions[i], options->names));
    for (size_t i = 0; err == LC_OK && out->comms && i < defs->n_comms; i++)
        out->comms[i] =
            defs->comms[i].known && lc_filter_excludes(out->filter, true, defs->comms[i].name);
    if (err == LC_OK)
        err = leave_out_runtimes(out, defs);
    if (err != LC_OK)
        lc_trace_filtered_free(out);
    return err;
}

void lc_trace_filtered_free(struct lc_filtered *f) {
    lc_filter_free(f->filter);
    free(f->regions);
    free(f->comms);
    *f = (struct lc_filtered){0};
}
