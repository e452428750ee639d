/* Memory that is freed as a whole at the end of a phase. Zero-initialise with {0}. Blocks are
 * zeroed and aligned to 16. */
#ifndef LC_BASE_ARENA_H
#define LC_BASE_ARENA_H

#include <stddef.h>

struct lc_arena_block;

struct lc_arena {
    struct lc_arena_block *newest;
    size_t total_bytes; /* taken from the system */
};

/* NULL (and lc_fail's text) if there is no memory. */
void *lc_arena_take(struct lc_arena *arena, size_t bytes);
/* A copy of the text in the arena. NULL as lc_arena_take. */
char *lc_arena_strdup(struct lc_arena *arena, const char *text);
/* Everything that was taken from the arena; it is empty then, and may be used again. */
void lc_arena_free(struct lc_arena *arena);

#endif
