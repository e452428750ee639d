#include "report/exact_gain.h"

#include <math.h>
#include <string.h>

json_t *lc_exact_gains_read(struct lc_view *analysis) {
    const char *data;
    size_t bytes;
    if (lc_cubex_misc(analysis->cube, "critical_path.json", &data, &bytes) != LC_OK)
        return NULL;
    json_t *root = json_loadb(data, bytes, 0, NULL);
    json_t *gains = json_incref(json_object_get(root, "gains"));
    json_decref(root);
    return gains;
}

static bool is_meant(const struct lc_search *search, const json_t *gain, const char *kind,
                     const struct lc_finding *finding) {
    const char *without = json_string_value(json_object_get(gain, "without"));
    const char *path = json_string_value(json_object_get(gain, "callpath"));
    const json_t *rank = json_object_get(gain, "rank");
    if (without == NULL || path == NULL || strcmp(without, kind) != 0 ||
        lc_view_find(search->view, path) != finding->replayed_path)
        return false;
    return !json_is_integer(rank) ||
           (finding->n_ranks == 1 && json_integer_value(rank) == finding->ranks[0]);
}

bool lc_exact_gain(const struct lc_search *search, const char *kind, struct lc_finding *finding) {
    size_t i;
    json_t *gain;
    json_array_foreach(search->gains, i, gain) {
        const json_t *now = json_object_get(gain, "now_s"), *then = json_object_get(gain, "then_s");
        if (!json_is_number(now) || !json_is_number(then) || !is_meant(search, gain, kind, finding))
            continue;
        double saved = json_number_value(now) - json_number_value(then);
        double error = search->n_ranks > 0 ? search->least_s / (double)search->n_ranks : 0.0;
        finding->gain_s = fmax(saved, 0.0);
        finding->gain_low_s = fmax(saved - error, 0.0);
        finding->gain_high_s = finding->gain_s + error;
        finding->gain_by = "replay of the trace without this cause";
        return true;
    }
    return false;
}
