#include "run/what_if_errors.h"

#include <math.h>
#include <stdlib.h>

#include "base/stats.h"
#include "base/what_if_spec.h"
#include "run/path_samples.h"

struct scenarios {
    const struct lc_sampled *sampled;
    const struct lc_named_tree *tree;
    const struct lc_model *model;
    const struct lc_path_piece *pieces;
    size_t n_pieces;
};

/* Is a call path inside of what the term names? sampled: as far as samples found it. */
static bool inside(const struct scenarios *s, const struct lc_what_if_term *term, uint32_t cnode,
                   bool sampled) {
    for (; cnode != LC_NONE && (!sampled || s->tree->sampled[cnode]);
         cnode = s->model->cnodes[cnode].parent) {
        const struct lc_region *region = &s->model->regions[s->model->cnodes[cnode].region];
        if (lc_what_if_means(term, region->name, region->mangled))
            return true;
    }
    return false;
}

/* Of the path's time in what the term names; what an exact node is in has none. */
static double variance_of(const struct scenarios *s, const struct lc_what_if_term *term) {
    double sum = 0, on_s, samples;
    for (size_t i = 0, n; i < s->n_pieces; i += n) {
        double named_s = 0;
        n = lc_path_group(s->sampled, s->pieces + i, s->n_pieces - i, &on_s, &samples);
        if (on_s <= 0 || inside(s, term, s->tree->cnode_of[s->pieces[i].exact], false))
            continue;
        for (size_t k = i; k < i + n; k++)
            if (!s->pieces[k].off && inside(s, term, s->tree->cnode_of[s->pieces[k].node], true))
                named_s += s->pieces[k].seconds;
        double error = lc_stats_share_error(on_s, named_s / on_s, samples);
        sum += error * error;
    }
    return sum * (1 - term->factor) * (1 - term->factor);
}

static double error_of(const struct scenarios *s, const char *spec) {
    struct lc_what_if_term term;
    unsigned scenario = 0;
    double variance = 0;
    bool found = true;
    while (spec != NULL && lc_what_if_next(&spec, &scenario, &term, &found) == LC_OK && found)
        if (term.part == LC_WHAT_IF_CODE)
            variance += variance_of(s, &term);
    return sqrt(variance);
}

enum lc_err lc_what_if_errors(json_t *pop, const struct lc_sampled *sampled,
                              const struct lc_named_tree *tree,
                              const struct lc_blame_table *values) {
    struct scenarios s = {.sampled = sampled, .tree = tree, .model = values->model};
    struct lc_path_piece *pieces;
    json_t *item;
    size_t i;
    if (json_array_size(json_object_get(pop, "what_if")) == 0)
        return LC_OK;
    LC_TRY(lc_path_pieces(values->defs, values->values, values->n_values, &pieces, &s.n_pieces));
    s.pieces = pieces;
    json_array_foreach(json_object_get(pop, "what_if"), i, item) {
        double error = error_of(&s, json_string_value(json_object_get(item, "spec")));
        if (error > 0)
            json_object_set_new(item, "sampling_error_s", json_real(error));
    }
    free(pieces);
    return LC_OK;
}
