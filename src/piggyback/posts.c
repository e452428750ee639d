#include "piggyback/posts.h"

#include <stdlib.h>
#include <string.h>

_Static_assert(sizeof(struct lc_post_line) == 64, "a line is one cache line");

bool lc_posts_make(struct lc_posts *posts, struct lc_area *mine, uint32_t source) {
    if (posts->off)
        return false;
    uint64_t at = lc_area_take(mine, LC_POSTS_LINES * sizeof *posts->lines);
    posts->off = !at;
    if (!at)
        return false;
    posts->lines = lc_area_at(mine, at);
    posts->owners = calloc(LC_POSTS_LINES, sizeof *posts->owners);
    posts->got = calloc(LC_POSTS_LINES, sizeof *posts->got);
    uint64_t *table = lc_area_at(mine, mine->head->posts);
    /* release: who finds the lines finds them zeroed (lc_posts_find) */
    __atomic_store_n(&table[source], at, __ATOMIC_RELEASE);
    return true;
}

void lc_posts_forget(struct lc_posts *posts, uint32_t line) {
    atomic_store_explicit(&posts->lines[line].number, 0, memory_order_release);
}

/* Does message `seq` have this many entries of its stream before it, from `from` on? Where many
 * receives are pending, most lines are of other messages, which their distance tells: nothing is
 * counted for them, and no further than needed for the others. */
static bool has_before(const struct lc_ring_out *out, uint32_t context, int32_t tag, uint32_t from,
                       uint32_t seq, uint32_t skip) {
    if (seq - from < skip)
        return false;
    uint32_t n = 0;
    for (uint32_t i = from; i != seq && n <= skip; i++) {
        const struct lc_ring_entry *entry = lc_ring_sent(out, i);
        if (!entry)
            return false;
        n += entry->tag == tag &&
             atomic_load_explicit(&entry->context, memory_order_relaxed) == context;
    }
    return n == skip;
}

bool lc_posts_find(const struct lc_area *theirs, const struct lc_ring_out *out, uint32_t me,
                   uint32_t context, int32_t tag, uint32_t seq, struct lc_stamp *stamp,
                   bool *unsure) {
    uint64_t *table = lc_area_at(theirs, theirs->head->posts);
    uint64_t at = __atomic_load_n(&table[me], __ATOMIC_ACQUIRE);
    *unsure = false;
    if (!at)
        return false;
    const struct lc_post_line *lines = lc_area_at(theirs, at);
    for (int i = 0; i < LC_POSTS_LINES; i++) {
        struct lc_post_line copy;
        uint32_t number = atomic_load_explicit(&lines[i].number, memory_order_acquire);
        memcpy(&copy, &lines[i], sizeof copy);
        atomic_thread_fence(memory_order_acquire);
        if (!number || atomic_load_explicit(&lines[i].number, memory_order_relaxed) != number ||
            copy.context != context || copy.tag != tag || (int32_t)(seq - copy.from) < 0)
            continue;
        uint32_t skip = number >> 1 & LC_POSTS_UNSURE;
        if (skip == LC_POSTS_UNSURE) {
            *unsure = true;
        } else if (has_before(out, context, tag, copy.from, seq, skip)) {
            *stamp = copy.stamp;
            return true;
        }
    }
    return false;
}
