/* A set of keys in order that knows the place of each: how many are below, and which is the k-th.
 * The nodes are part of what is kept, so nothing is allocated.
 *
 * A treap: a binary search tree by key that is a heap by priorities, which are mixed from the
 * keys; so its depth is O(log n) whatever the order of insertion. Used by the matcher (match.h)
 * where many receives or entries are open. */
#ifndef LC_PIGGYBACK_ORDER_TREE_H
#define LC_PIGGYBACK_ORDER_TREE_H

#include <stdint.h>

struct lc_order_node {
    struct lc_order_node *left, *right;
    uint64_t key;
    uint32_t count; /* of the subtree, with itself; 0: not in a tree */
    uint32_t priority;
};

/* Adds a node of the caller's; the key must not be there yet. */
void lc_order_add(struct lc_order_node **root, struct lc_order_node *node, uint64_t key);
/* Takes out a node that is in the tree. */
void lc_order_remove(struct lc_order_node **root, struct lc_order_node *node);
/* The number of keys in the tree that are smaller than `key`. */
uint32_t lc_order_below(const struct lc_order_node *root, uint64_t key);
/* The k-th from 0; NULL: there are not so many. */
struct lc_order_node *lc_order_at(struct lc_order_node *root, uint32_t k);

#endif
