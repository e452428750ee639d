#include "analyze/definition_ids.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"

const char *lc_defs_text(const struct lc_defs *defs, uint64_t id) {
    uint32_t index = lc_idmap_get(&defs->strings, id);
    return index == LC_NONE ? "" : defs->texts[index];
}

/* The runtime's own function of the same name is no construct of OpenMP. */
static bool is_same(const struct lc_an_region *a, const struct lc_an_region *b) {
    return a->sampled == b->sampled && a->fn == b->fn && strcmp(a->name, b->name) == 0;
}

enum lc_err lc_defs_region(struct lc_defs *defs, const struct lc_an_region *region, uint32_t *id) {
    struct lc_trace *trace = defs->trace;
    uint64_t hash = lc_hash_text(LC_HASH_BEGIN ^ region->sampled, region->name);
    uint32_t found;
    for (; (found = lc_idmap_get(&defs->name_of, hash)) != LC_NONE; hash++)
        if (is_same(&trace->regions[found], region)) {
            *id = found;
            return LC_OK;
        }
    LC_TRY(
        lc_grow(&trace->regions, &defs->cap_regions, trace->n_regions + 1, sizeof *trace->regions));
    *id = (uint32_t)trace->n_regions;
    trace->regions[trace->n_regions++] = *region;
    return lc_idmap_put(&defs->name_of, hash, *id);
}

void lc_defs_free(struct lc_defs *defs) {
    lc_idmap_free(&defs->strings);
    lc_idmap_free(&defs->region_of);
    lc_idmap_free(&defs->name_of);
    lc_idmap_free(&defs->comm_of);
    lc_idmap_free(&defs->window_of);
    lc_idmap_free(&defs->file_of);
    lc_idmap_free(&defs->group_of);
    lc_idmap_free(&defs->context_of);
    lc_idmap_free(&defs->generator_of);
    free(defs->contexts);
    free(defs->generators);
    free(defs->texts);
    free(defs->groups);
}
