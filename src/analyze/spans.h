/* Long runs of neighbouring wait states. What concerns all states of a run is noted once, at
 * O(log n) nodes of a binary tree over blocks of LC_SPAN_BLOCK states, and found again from each
 * state on the way from its block to the root. The ends of a run are left to be done one by one,
 * and so are short runs as a whole.
 *
 * A tree over n blocks has the nodes 1 to 2 n - 1; the blocks are those from n on, and the parent
 * of node i is i / 2. Used by delay.c, graph_spans.c, long_term.c. */
#ifndef LC_ANALYZE_SPANS_H
#define LC_ANALYZE_SPANS_H

#include <stddef.h>
#include <stdint.h>

enum { LC_SPAN_BLOCK = 8, LC_SPAN_SHORTEST = 3 * LC_SPAN_BLOCK };

struct lc_block_span { /* whole blocks: states [from, until) */
    uint64_t from, until;
};

static inline size_t lc_span_blocks(uint64_t n_states) {
    return (size_t)((n_states + LC_SPAN_BLOCK - 1) / LC_SPAN_BLOCK);
}

/* The whole blocks inside of a run of n states, without its first and its last one; empty and at
 * the end of the run where that is not worth while. */
static inline struct lc_block_span lc_span_inside(uint64_t first, uint64_t n) {
    if (n < LC_SPAN_SHORTEST)
        return (struct lc_block_span){first + n, first + n};
    return (struct lc_block_span){(first + LC_SPAN_BLOCK) / LC_SPAN_BLOCK * LC_SPAN_BLOCK,
                                  (first + n - 1) / LC_SPAN_BLOCK * LC_SPAN_BLOCK};
}

struct lc_span_walk { /* over the nodes that together are a span */
    size_t low, high;
};

static inline struct lc_span_walk lc_span_begin(struct lc_block_span span, size_t n_blocks) {
    return (struct lc_span_walk){n_blocks + (size_t)(span.from / LC_SPAN_BLOCK),
                                 n_blocks + (size_t)(span.until / LC_SPAN_BLOCK)};
}

/* The next node, 0 at the end. */
static inline size_t lc_span_next(struct lc_span_walk *walk) {
    for (; walk->low < walk->high; walk->low /= 2, walk->high /= 2) {
        if (walk->low % 2 == 1)
            return walk->low++;
        if (walk->high % 2 == 1)
            return --walk->high;
    }
    return 0;
}

/* The node of the block of a state. */
static inline size_t lc_span_leaf(uint64_t state, size_t n_blocks) {
    return n_blocks + (size_t)(state / LC_SPAN_BLOCK);
}

#endif
