/* Texts of the global definitions, each written once. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "trace/global_state.h"

/* The number of a text; written on first use. Reference 0 is "". */
uint32_t lc_global_string(struct lc_global *g, const char *text) {
    uint64_t hash = lc_hash_text(LC_HASH_BEGIN, text);
    uint32_t at = LC_LOOKUP(&g->text_at, hash, i, strcmp(g->texts[i].text, text) == 0);
    if (at != LC_NONE)
        return g->texts[at].number;
    char *copy = strdup(text);
    if (copy == NULL ||
        lc_grow(&g->texts, &g->cap_texts, g->n_texts + 1, sizeof *g->texts) != LC_OK ||
        lc_lookup_add(&g->text_at, hash, (uint32_t)g->n_texts) != LC_OK) {
        free(copy);
        g->no_memory = true;
        return 0;
    }
    g->texts[g->n_texts++] = (struct lc_text_number){copy, g->n_strings};
    WRITE(g, String(g->w, g->n_strings, text));
    return g->n_strings++;
}

void lc_global_group(struct lc_global *g, uint32_t number, OTF2_GroupType type,
                     OTF2_Paradigm paradigm, uint32_t n, const uint64_t *members) {
    static const uint64_t none;
    WRITE(g, Group(g->w, number, lc_global_string(g, ""), type, paradigm, OTF2_GROUP_FLAG_NONE, n,
                   n ? members : &none));
}
