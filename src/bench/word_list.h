/* Lists of words with commas between, as options have them. */
#ifndef LC_BENCH_WORD_LIST_H
#define LC_BENCH_WORD_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/strbuf.h"

/* Is it one of the words? */
static inline bool lc_word_list_has(const char *list, const char *word) {
    size_t length = strlen(word);
    for (const char *at = list; at != NULL; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, word, length) == 0 && (at[length] == ',' || at[length] == '\0'))
            return true;
    }
    return false;
}

/* Each once: one result of each is what there is room for. */
static inline void lc_word_list_add(const char *word, struct lc_strbuf *list) {
    if (list->length == 0 || !lc_word_list_has(lc_strbuf_get(list), word))
        lc_strbuf_printf(list, "%s%s", list->length > 0 ? "," : "", word);
}

#endif
