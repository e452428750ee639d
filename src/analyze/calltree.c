#include "analyze/calltree.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum lc_err lc_tree_init(struct lc_call_tree *tree) {
    *tree = (struct lc_call_tree){0};
    LC_TRY(lc_grow(&tree->nodes, &tree->cap_nodes, 64, sizeof *tree->nodes));
    tree->nodes[0] = (struct lc_tree_node){LC_NONE, LC_NONE, 0, LC_NONE, 0};
    tree->n_nodes = 1;
    return LC_OK;
}

void lc_tree_free(struct lc_call_tree *tree) {
    free(tree->nodes);
    lc_idmap_free(&tree->children);
    *tree = (struct lc_call_tree){0};
}

static enum lc_err add_node(struct lc_call_tree *tree, uint32_t parent, uint32_t region,
                            uint64_t first, uint32_t *id) {
    LC_TRY(lc_grow(&tree->nodes, &tree->cap_nodes, tree->n_nodes + 1, sizeof *tree->nodes));
    *id = (uint32_t)tree->n_nodes;
    tree->nodes[tree->n_nodes++] = (struct lc_tree_node){parent, region, LC_NONE, LC_NONE, first};
    return lc_idmap_put(&tree->children, (uint64_t)parent << 32 | region, *id);
}

uint32_t lc_tree_child_slow(struct lc_call_tree *tree, uint32_t parent, uint32_t region) {
    uint32_t child = lc_idmap_get(&tree->children, (uint64_t)parent << 32 | region);
    if (child == LC_NONE && add_node(tree, parent, region, tree->next_first++, &child) != LC_OK)
        return LC_NONE;
    tree->nodes[parent].last_child = child;
    tree->nodes[parent].last_region = region;
    return child;
}

struct packed_node {
    uint64_t first;
    uint32_t parent, region; /* parent: index in the sender's array */
};

/* Adds another rank's nodes to the union; parents come first. */
static enum lc_err merge(struct lc_call_tree *all, const struct packed_node *nodes, size_t count) {
    uint32_t *map;
    LC_TRY(lc_alloc(&map, count + 1, sizeof *map));
    enum lc_err err = LC_OK;
    for (size_t i = 1; i < count && err == LC_OK; i++) {
        uint32_t parent = map[nodes[i].parent];
        uint32_t id = lc_idmap_get(&all->children, (uint64_t)parent << 32 | nodes[i].region);
        if (id == LC_NONE)
            err = add_node(all, parent, nodes[i].region, nodes[i].first, &id);
        else if (nodes[i].first < all->nodes[id].first)
            all->nodes[id].first = nodes[i].first;
        map[i] = id;
    }
    free(map);
    return err;
}

struct sibling {
    uint64_t first;
    uint32_t parent, node;
};

static int by_parent_first(const void *a, const void *b) {
    const struct sibling *x = a, *y = b;
    if (x->parent != y->parent)
        return x->parent < y->parent ? -1 : 1;
    return x->first < y->first ? -1 : x->first > y->first;
}

/* Pre-order numbering of the union without recursion; cnodes[k] and, per node of the union, nothing
 * else is needed. */
static enum lc_err number(const struct lc_call_tree *all, struct lc_an_cnode *cnodes) {
    size_t n = all->n_nodes;
    struct sibling *order;
    uint32_t *begin, *stack_next, *stack_cnode;
    LC_TRY(lc_alloc(&order, n, sizeof *order));
    LC_TRY(lc_alloc(&begin, n + 2, sizeof *begin));
    LC_TRY(lc_alloc(&stack_next, n + 1, sizeof *stack_next));
    LC_TRY(lc_alloc(&stack_cnode, n + 1, sizeof *stack_cnode));
    for (size_t i = 1; i < n; i++) {
        order[i - 1] = (struct sibling){all->nodes[i].first, all->nodes[i].parent, (uint32_t)i};
        begin[all->nodes[i].parent + 1]++;
    }
    qsort(order, n - 1, sizeof *order, by_parent_first);
    for (size_t i = 1; i <= n; i++)
        begin[i] += begin[i - 1];
    /* Depth d of the walk: the next child to visit, and the cnode whose children these are. */
    size_t depth = 0;
    uint32_t next_id = 0, node_of_depth = 0;
    uint32_t *stack_node = malloc((n + 1) * sizeof *stack_node);
    if (!stack_node)
        return lc_fail(LC_ERR_NOMEM, "call tree: no memory for %zu call paths", n);
    stack_node[0] = node_of_depth;
    stack_next[0] = begin[0];
    stack_cnode[0] = LC_NONE;
    for (;;) {
        if (stack_next[depth] == begin[stack_node[depth] + 1]) {
            if (stack_cnode[depth] != LC_NONE)
                cnodes[stack_cnode[depth]].last = next_id - 1;
            if (depth-- == 0)
                break;
            continue;
        }
        uint32_t node = order[stack_next[depth]++].node;
        cnodes[next_id] =
            (struct lc_an_cnode){stack_cnode[depth], all->nodes[node].region, next_id, next_id};
        depth++;
        stack_node[depth] = node;
        stack_next[depth] = begin[node];
        stack_cnode[depth] = next_id++;
    }
    free(stack_node);
    free(order);
    free(begin);
    free(stack_next);
    free(stack_cnode);
    return LC_OK;
}

/* cnodes of this rank's nodes, by walking down the final tree from the roots. */
static enum lc_err map_nodes(const struct lc_call_tree *tree, const struct lc_trace *trace,
                             uint32_t *map) {
    struct lc_idmap of = {0};
    enum lc_err err = LC_OK;
    for (size_t i = 0; i < trace->n_cnodes && err == LC_OK; i++)
        err = lc_idmap_put(&of, (uint64_t)trace->cnodes[i].parent << 32 | trace->cnodes[i].region,
                           (uint32_t)i);
    map[0] = LC_NONE;
    for (size_t i = 1; i < tree->n_nodes && err == LC_OK; i++)
        map[i] =
            lc_idmap_get(&of, (uint64_t)map[tree->nodes[i].parent] << 32 | tree->nodes[i].region);
    lc_idmap_free(&of);
    return err;
}

static enum lc_err pack(const struct lc_call_tree *tree, struct packed_node **packed) {
    LC_TRY(lc_alloc(packed, tree->n_nodes, sizeof **packed));
    for (size_t i = 0; i < tree->n_nodes; i++)
        (*packed)[i] = (struct packed_node){tree->nodes[i].first, tree->nodes[i].parent,
                                            tree->nodes[i].region};
    return LC_OK;
}

/* On rank 0: the union of all ranks' trees, numbered. */
static enum lc_err unite(const struct lc_transport *comm, const struct packed_node *gathered,
                         const uint64_t *bytes, struct lc_trace *trace) {
    struct lc_call_tree all;
    LC_TRY(lc_tree_init(&all));
    enum lc_err err = LC_OK;
    for (uint32_t r = 0; r < comm->size && err == LC_OK; r++) {
        size_t count = bytes[r] / sizeof *gathered;
        err = merge(&all, gathered, count);
        gathered += count;
    }
    if (err == LC_OK)
        err = lc_alloc(&trace->cnodes, all.n_nodes, sizeof *trace->cnodes);
    if (err == LC_OK)
        err = number(&all, trace->cnodes);
    trace->n_cnodes = all.n_nodes - 1;
    lc_tree_free(&all);
    return err;
}

enum lc_err lc_tree_unify(const struct lc_call_tree *tree, struct lc_trace *trace, uint32_t **map) {
    const struct lc_transport *comm = trace->comm;
    struct packed_node *packed = NULL, *gathered = NULL;
    uint64_t *bytes = NULL;
    size_t n_gathered;
    enum lc_err err = lc_alloc(&bytes, comm->size, sizeof *bytes);
    if (err == LC_OK)
        err = pack(tree, &packed);
    err = lc_transport_agree(comm, err);
    if (err == LC_OK)
        err = lc_transport_gather(comm, packed, tree->n_nodes * sizeof *packed, (void **)&gathered,
                                  &n_gathered, bytes);
    if (err == LC_OK && comm->rank == 0)
        err = unite(comm, gathered, bytes, trace);
    err = lc_transport_agree(comm, err);
    free(packed);
    free(gathered);
    free(bytes);
    if (err != LC_OK)
        return err;
    int64_t n = (int64_t)trace->n_cnodes;
    lc_transport_allreduce_i64(comm, &n, 1, LC_OP_MAX);
    trace->n_cnodes = (size_t)n;
    err = comm->rank == 0 ? LC_OK : lc_alloc(&trace->cnodes, (size_t)n + 1, sizeof *trace->cnodes);
    if (err == LC_OK)
        err = lc_alloc(map, tree->n_nodes, sizeof **map);
    LC_TRY(lc_transport_agree(comm, err));
    lc_transport_bcast(comm, trace->cnodes, trace->n_cnodes * sizeof *trace->cnodes, 0);
    return lc_transport_agree(comm, map_nodes(tree, trace, *map));
}
