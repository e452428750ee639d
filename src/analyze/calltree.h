/* The call tree of one analysis rank while it reads, and its unification over all ranks. Node 0
 * stands for "outside of all regions".
 *
 * Invariant: a node is older than its children. Order of the final numbering: pre-order, children
 * in the order in which they appear first (lowest location, then order of events there): the same
 * for any number of ranks. */
#ifndef LC_ANALYZE_CALLTREE_H
#define LC_ANALYZE_CALLTREE_H

#include "base/idmap.h"
#include "analyze/trace.h"

struct lc_tree_node {
    uint32_t parent, region;
    uint32_t last_child, last_region; /* the child entered last: mostly the next one, too */
    uint64_t first;                   /* where it appeared first: location << 32 | order */
};

struct lc_call_tree {
    struct lc_tree_node *nodes;
    size_t n_nodes, cap_nodes;
    struct lc_idmap children; /* parent << 32 | region -> node */
    uint64_t next_first;      /* set by the reader at the begin of a location: location << 32 */
};

/* A tree that holds its root; lc_tree_free frees it. LC_ERR_NOMEM. */
enum lc_err lc_tree_init(struct lc_call_tree *tree);
/* Frees the nodes, not the struct. */
void lc_tree_free(struct lc_call_tree *tree);

/* The child of `parent` with this region, added where there is none; LC_NONE without memory. */
uint32_t lc_tree_child_slow(struct lc_call_tree *tree, uint32_t parent, uint32_t region);

static inline uint32_t lc_tree_child(struct lc_call_tree *tree, uint32_t parent, uint32_t region) {
    const struct lc_tree_node *node = &tree->nodes[parent];
    return node->last_region == region ? node->last_child
                                       : lc_tree_child_slow(tree, parent, region);
}

/* Collective. Merges the trees of all ranks into trace->cnodes; (*map)[node] is the cnode of a node
 * of this rank, map[0] = LC_NONE (the caller frees it). Errors: LC_ERR_NOMEM. */
enum lc_err lc_tree_unify(const struct lc_call_tree *tree, struct lc_trace *trace, uint32_t **map);

#endif
