/* Chains of an analysed trace: from the most expensive root causes to the last process that waits
 * because of them. A chain begins with the one wait state by which the cause costs most; each line
 * says how much of the waiting is due to the cause, so that the lines add up to what the chain
 * costs, but for wait states beside it, and a chain never costs more than its cause. */
#include <string.h>

#include "report/text_parts.h"

enum { MOST_CHAINS = 3, MOST_VICTIMS = 6 };

static double number(const json_t *object, const char *key) {
    return json_number_value(json_object_get(object, key));
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

static uint32_t path_of(const struct lc_text *text, const json_t *place) {
    const char *path = json_string_value(json_object_get(place, "callpath"));
    return path != NULL ? lc_view_find(text->view, path) : LC_NONE;
}

static void print_victim(const struct lc_text *text, const json_t *victim, const char *where) {
    char part[32], all[32], who[64];
    const json_t *cost = json_object_get(victim, "cost_s");
    double waiting = number(victim, "waiting_s");
    double due = json_is_number(cost) ? json_number_value(cost) : waiting;
    fprintf(text->out, "      %8s  %s waits", lc_text_seconds(due, part),
            who_is(text, victim, who));
    if (due < 0.995 * waiting)
        fprintf(text->out, " (%s in all)", lc_text_seconds(waiting, all));
    fprintf(text->out, " in %s\n", where);
}

/* The first wait state, and those that hand on the most of it. */
static enum lc_err print_chain(const struct lc_text *text, const json_t *cause) {
    char cost[32], dearest[32], who[64];
    const json_t *chain = json_object_get(cause, "chain");
    size_t n = json_array_size(chain), shown = n < MOST_VICTIMS ? n : MOST_VICTIMS;
    uint32_t ids[MOST_VICTIMS], own = path_of(text, cause);
    char **where = NULL, **victims = NULL;
    for (size_t i = 0; i < shown; i++)
        ids[i] = path_of(text, json_array_get(chain, i));
    enum lc_err err = lc_text_paths(text, &own, 1, text->width - 6, &where);
    if (err == LC_OK)
        err = lc_text_paths(text, ids, shown, text->width - 50, &victims);
    if (err == LC_OK) {
        fprintf(text->out, "  %8s  %s%s%s costs the others",
                lc_text_seconds(number(cause, "cost_s"), cost), lc_text_bold(text),
                who_is(text, cause, who), lc_text_plain(text));
        if (number(cause, "wait_states") > 1 && json_object_get(cause, "chain_cost_s") != NULL)
            fprintf(text->out, " in %.0f wait states; the largest costs %s",
                    number(cause, "wait_states"),
                    lc_text_seconds(number(cause, "chain_cost_s"), dearest));
        fprintf(text->out, "\n      %s%s%s\n", lc_text_bold(text), where[0], lc_text_plain(text));
        for (size_t i = 0; i < shown; i++)
            print_victim(text, json_array_get(chain, i), victims[i]);
        if (n > shown)
            fprintf(text->out, "      .. and %zu more\n", n - shown);
    }
    lc_text_paths_free(where, 1);
    lc_text_paths_free(victims, shown);
    return err;
}

enum lc_err lc_text_chains(const struct lc_text *text) {
    const char *data;
    size_t bytes, i;
    if (lc_cubex_misc(text->view->cube, "root_causes.json", &data, &bytes) != LC_OK)
        return LC_OK;
    json_t *root = json_loadb(data, bytes, JSON_DISABLE_EOF_CHECK, NULL), *cause;
    bool titled = false;
    enum lc_err err = LC_OK;
    const char *list = text->view->wait_first ? "root_causes_waitfirst" : "root_causes";
    json_array_foreach(json_object_get(root, list), i, cause) {
        if (i == MOST_CHAINS || err != LC_OK)
            break;
        if (json_array_size(json_object_get(cause, "chain")) == 0)
            continue;
        if (!titled)
            lc_text_heading(text, "Chains",
                            "the most expensive wait state of each cause, who waits because of it, "
                            "and how much of that waiting is due to the cause");
        titled = true;
        err = print_chain(text, cause);
    }
    json_decref(root);
    return err;
}
