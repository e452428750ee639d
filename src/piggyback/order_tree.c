#include "piggyback/order_tree.h"

#include <stddef.h>

#include "base/hash.h"

static uint32_t count_of(const struct lc_order_node *node) {
    return node != NULL ? node->count : 0;
}

static void recount(struct lc_order_node *node) {
    node->count = 1 + count_of(node->left) + count_of(node->right);
}

/* Keys below `key` go to *low, the others to *high. */
static void split(struct lc_order_node *node, uint64_t key, struct lc_order_node **low,
                  struct lc_order_node **high) {
    if (node == NULL) {
        *low = *high = NULL;
    } else if (node->key < key) {
        split(node->right, key, &node->right, high);
        *low = node;
        recount(node);
    } else {
        split(node->left, key, low, &node->left);
        *high = node;
        recount(node);
    }
}

/* All keys of `low` are below those of `high`. */
static struct lc_order_node *merge(struct lc_order_node *low, struct lc_order_node *high) {
    if (low == NULL || high == NULL)
        return low != NULL ? low : high;
    if (low->priority > high->priority) {
        low->right = merge(low->right, high);
        recount(low);
        return low;
    }
    high->left = merge(low, high->left);
    recount(high);
    return high;
}

void lc_order_add(struct lc_order_node **root, struct lc_order_node *node, uint64_t key) {
    uint64_t mix = lc_hash_key(key + 1);
    mix = (mix ^ mix >> 29) * 0xbf58476d1ce4e5b9ull;
    node->key = key;
    node->priority = (uint32_t)(mix >> 32);
    while (*root != NULL && (*root)->priority >= node->priority) {
        (*root)->count++;
        root = key < (*root)->key ? &(*root)->left : &(*root)->right;
    }
    split(*root, key, &node->left, &node->right);
    recount(node);
    *root = node;
}

void lc_order_remove(struct lc_order_node **root, struct lc_order_node *node) {
    while (*root != node) {
        (*root)->count--;
        root = node->key < (*root)->key ? &(*root)->left : &(*root)->right;
    }
    *root = merge(node->left, node->right);
    node->count = 0;
}

uint32_t lc_order_below(const struct lc_order_node *root, uint64_t key) {
    uint32_t below = 0;
    while (root != NULL)
        if (root->key < key) {
            below += 1 + count_of(root->left);
            root = root->right;
        } else {
            root = root->left;
        }
    return below;
}

struct lc_order_node *lc_order_at(struct lc_order_node *root, uint32_t k) {
    while (root != NULL && k != count_of(root->left))
        if (k < count_of(root->left)) {
            root = root->left;
        } else {
            k -= count_of(root->left) + 1;
            root = root->right;
        }
    return root;
}
