/* Chains of an analysed trace: from the most expensive root causes to the last process that waits
 * because of them. */
#include <string.h>

#include "report/text_parts.h"

enum { MOST_CHAINS = 3, MOST_VICTIMS = 6 };

static double number(const json_t *object, const char *key) {
    return json_number_value(json_object_get(object, key));
}

static const char *path_of(const json_t *place, size_t width, char buffer[512]) {
    const char *path = json_string_value(json_object_get(place, "callpath"));
    return lc_text_path(path != NULL ? path : "?", width, buffer, 512);
}

static const char *who_is(const struct lc_text *text, const json_t *place, char buffer[64]) {
    const struct lc_model *model = text->view->model;
    if (model->n_locations == model->n_processes)
        snprintf(buffer, 64, "rank %.0f", number(place, "rank"));
    else
        snprintf(buffer, 64, "rank %.0f thread %.0f", number(place, "rank"),
                 number(place, "thread"));
    return buffer;
}

static void print_chain(const struct lc_text *text, const json_t *cause) {
    char where[512], cost[32], who[64];
    const json_t *chain = json_object_get(cause, "chain");
    size_t i;
    json_t *victim;
    fprintf(text->out, "  %s%s%s in %s%s%s costs the others %s\n", lc_text_bold(text),
            who_is(text, cause, who), lc_text_plain(text), lc_text_bold(text),
            path_of(cause, text->width - 40, where), lc_text_plain(text),
            lc_text_seconds(number(cause, "cost_s"), cost));
    json_array_foreach(chain, i, victim) {
        if (i == MOST_VICTIMS) {
            fprintf(text->out, "      .. and %zu more\n", json_array_size(chain) - i);
            break;
        }
        fprintf(text->out, "      -> %s waits %s in %s\n", who_is(text, victim, who),
                lc_text_seconds(number(victim, "waiting_s"), cost),
                path_of(victim, text->width - 40, where));
    }
}

void lc_text_chains(const struct lc_text *text) {
    const char *data;
    size_t bytes, i;
    if (lc_cubex_misc(text->view->cube, "root_causes.json", &data, &bytes) != LC_OK)
        return;
    json_t *root = json_loadb(data, bytes, JSON_DISABLE_EOF_CHECK, NULL), *cause;
    bool titled = false;
    json_array_foreach(json_object_get(root, "root_causes"), i, cause) {
        if (i == MOST_CHAINS)
            break;
        if (json_array_size(json_object_get(cause, "chain")) == 0)
            continue;
        if (!titled)
            lc_text_heading(text, "Chains",
                            "one wait state that each cause is to blame for most, and "
                            "who waits because of that");
        titled = true;
        print_chain(text, cause);
    }
    json_decref(root);
}
