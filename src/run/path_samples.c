#include "run/path_samples.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static int compare_pieces(const void *a, const void *b) {
    const struct lc_path_piece *x = a, *y = b;
    if (x->exact != y->exact)
        return x->exact < y->exact ? -1 : 1;
    if (x->location != y->location)
        return x->location < y->location ? -1 : 1;
    return (x->node > y->node) - (x->node < y->node);
}

enum lc_err lc_path_pieces(const struct lc_raw *defs, const struct lc_raw_value *const *values,
                           size_t n_values, struct lc_path_piece **pieces, size_t *n) {
    *n = 0;
    LC_TRY(lc_alloc(pieces, n_values + 1, sizeof **pieces));
    for (size_t i = 0; i < n_values; i++) {
        const struct lc_raw_value *value = values[i];
        const struct lc_raw_node *node = &defs->nodes[value->node];
        if (lc_raw_is_sampled(node->kind) && value->value > 0 &&
            strcmp(defs->names[value->metric], "critical_path_useful") == 0)
            (*pieces)[(*n)++] = (struct lc_path_piece){.exact = lc_sampled_exact(defs, value->node),
                                                       .location = value->location,
                                                       .node = value->node,
                                                       .seconds = value->value,
                                                       .off = lc_sampled_is_off(node)};
    }
    if (*n > 0)
        qsort(*pieces, *n, sizeof **pieces, compare_pieces);
    return LC_OK;
}

size_t lc_path_group(const struct lc_sampled *sampled, const struct lc_path_piece *pieces, size_t n,
                     double *on_s, double *samples) {
    const struct lc_sample_split *split = lc_sampled_find(sampled, pieces->exact, pieces->location);
    double weight_s = 0;
    size_t end = 0;
    for (*on_s = 0;
         end < n && pieces[end].exact == pieces->exact && pieces[end].location == pieces->location;
         end++)
        *on_s += pieces[end].off ? 0 : pieces[end].seconds;
    for (size_t i = 0; split != NULL && i < split->n_parts; i++) {
        const struct lc_sample_part *part = &sampled->parts[split->first + i];
        weight_s += part->measured ? 0 : (double)part->weight_ns * 1e-9;
    }
    bool known = split != NULL && split->effective > 0 && weight_s > 0;
    *samples = known ? *on_s * split->effective / weight_s : 1;
    return end;
}
