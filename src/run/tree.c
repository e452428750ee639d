#include "run/tree.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "run/functions.h"

/* The tree while names are merged: drafts in order of creation, children linked. */
struct draft {
    uint32_t parent, region;
    uint32_t first_child, last_child, next;
    uint32_t mpi_name;
    uint32_t cnode; /* number in pre-order */
};

struct builder {
    const struct lc_raw *raw;
    struct lc_symbols *symbols;
    struct lc_model *model;
    struct draft *drafts;
    size_t n_drafts, cap_drafts;
    uint32_t first_root, last_root;
    uint32_t *regions; /* open addressing by name and kind; region + 1 */
    size_t n_slots;
    uint32_t *draft_of; /* raw node -> draft */
    size_t n_unnamed;
};

static uint64_t hash_name(const char *name, const char *paradigm) {
    uint64_t hash = lc_hash_text(LC_HASH_BEGIN ^ (unsigned char)paradigm[0], name);
    return hash ^ hash >> 31;
}

static enum lc_err grow_region_table(struct builder *b) {
    size_t n_slots = b->n_slots == 0 ? 256 : b->n_slots * 2;
    uint32_t *slots;
    LC_TRY(lc_alloc(&slots, n_slots, sizeof slots[0]));
    for (size_t i = 0; i < b->model->n_regions; i++) {
        const struct lc_region *region = &b->model->regions[i];
        size_t at = hash_name(region->name, region->paradigm) & (n_slots - 1);
        while (slots[at] != 0)
            at = (at + 1) & (n_slots - 1);
        slots[at] = (uint32_t)i + 1;
    }
    free(b->regions);
    b->regions = slots;
    b->n_slots = n_slots;
    return LC_OK;
}

/* Regions are the same if name and paradigm are. */
static enum lc_err find_region(struct builder *b, const struct lc_region *wanted, uint32_t *id) {
    if ((b->model->n_regions + 1) * 2 > b->n_slots)
        LC_TRY(grow_region_table(b));
    size_t at = hash_name(wanted->name, wanted->paradigm) & (b->n_slots - 1);
    for (; b->regions[at] != 0; at = (at + 1) & (b->n_slots - 1)) {
        const struct lc_region *known = &b->model->regions[b->regions[at] - 1];
        if (strcmp(known->name, wanted->name) == 0 &&
            strcmp(known->paradigm, wanted->paradigm) == 0) {
            *id = b->regions[at] - 1;
            return LC_OK;
        }
    }
    LC_TRY(lc_model_add_region(b->model, wanted, id));
    b->regions[at] = *id + 1;
    return LC_OK;
}

static enum lc_err region_named(struct builder *b, const char *name, const char *paradigm,
                                const char *role, uint32_t *id) {
    struct lc_region region = {.name = (char *)(uintptr_t)name,
                               .mangled = (char *)(uintptr_t)name,
                               .module = (char *)(uintptr_t) "",
                               .paradigm = (char *)(uintptr_t)paradigm,
                               .role = (char *)(uintptr_t)role,
                               .begin_line = -1,
                               .end_line = -1};
    return find_region(b, &region, id);
}

static enum lc_err region_of_frame(struct builder *b, const struct lc_raw_node *node,
                                   uint32_t *id) {
    static const struct lc_raw_module unknown = {(char *)(uintptr_t) "", (char *)(uintptr_t) ""};
    const struct lc_raw_module *module =
        node->ref == LC_NONE ? &unknown : &b->raw->modules[node->ref];
    struct lc_symbol symbol;
    LC_TRY(lc_symbols_function(b->symbols, module->path, module->build_id, node->offset, &symbol));
    if (!symbol.known) {
        b->n_unnamed++;
        if (node->flags & LC_RAW_NODE_MAIN)
            symbol.name = symbol.mangled = "main";
    }
    struct lc_region region = {.name = (char *)(uintptr_t)symbol.name,
                               .mangled = (char *)(uintptr_t)symbol.mangled,
                               .module = symbol.file[0] != '\0' ? (char *)(uintptr_t)symbol.file
                                                                : module->path,
                               .paradigm = (char *)(uintptr_t) "compiler",
                               .role = (char *)(uintptr_t) "function",
                               .begin_line = symbol.line,
                               .end_line = -1};
    return find_region(b, &region, id);
}

static enum lc_err region_of(struct builder *b, const struct lc_raw_node *node, uint32_t *id) {
    switch (node->kind) {
    case LC_RAW_FRAME:
        return region_of_frame(b, node, id);
    case LC_RAW_MPI:
        return region_named(b, b->raw->names[node->ref], "mpi",
                            lc_function_role(b->raw->names[node->ref]), id);
    case LC_RAW_REGION:
        return region_named(b, b->raw->names[node->ref], "user", "function", id);
    case LC_RAW_CUT:
        return region_named(b, "...", "unknown", "function", id);
    default:
        return region_named(b, "main", "compiler", "function", id);
    }
}

static enum lc_err child_draft(struct builder *b, uint32_t parent, uint32_t region, uint32_t *id) {
    uint32_t first = parent == LC_NONE ? b->first_root : b->drafts[parent].first_child;
    for (uint32_t d = first; d != LC_NONE; d = b->drafts[d].next)
        if (b->drafts[d].region == region) {
            *id = d;
            return LC_OK;
        }
    LC_TRY(lc_grow(&b->drafts, &b->cap_drafts, b->n_drafts + 1, sizeof b->drafts[0]));
    *id = (uint32_t)b->n_drafts++;
    b->drafts[*id] = (struct draft){parent, region, LC_NONE, LC_NONE, LC_NONE, LC_NONE, LC_NONE};
    uint32_t *first_slot = parent == LC_NONE ? &b->first_root : &b->drafts[parent].first_child;
    uint32_t *last_slot = parent == LC_NONE ? &b->last_root : &b->drafts[parent].last_child;
    if (*last_slot != LC_NONE)
        b->drafts[*last_slot].next = *id;
    else
        *first_slot = *id;
    *last_slot = *id;
    return LC_OK;
}

static enum lc_err make_drafts(struct builder *b) {
    uint32_t main_region;
    LC_TRY(region_named(b, "main", "compiler", "function", &main_region));
    for (size_t i = 0; i < b->raw->n_nodes; i++) {
        const struct lc_raw_node *node = &b->raw->nodes[i];
        uint32_t region, parent;
        LC_TRY(region_of(b, node, &region));
        bool top = i == 0 || (node->parent == 0 &&
                              ((node->flags & (LC_RAW_NODE_MAIN | LC_RAW_NODE_START)) != 0 ||
                               region == main_region));
        parent = top ? LC_NONE : b->draft_of[node->parent];
        LC_TRY(child_draft(b, parent, region, &b->draft_of[i]));
        if (node->kind == LC_RAW_MPI)
            b->drafts[b->draft_of[i]].mpi_name = node->ref;
    }
    return LC_OK;
}

/* Numbers the drafts depth first and hands them to the model. */
static enum lc_err number_drafts(struct builder *b, struct lc_named_tree *tree) {
    uint32_t at = b->first_root;
    while (at != LC_NONE) {
        struct draft *draft = &b->drafts[at];
        uint32_t parent = draft->parent == LC_NONE ? LC_NONE : b->drafts[draft->parent].cnode;
        uint32_t cnode;
        LC_TRY(lc_model_add_cnode(b->model, parent, draft->region, &cnode));
        draft->cnode = cnode;
        tree->mpi_name[cnode] = draft->mpi_name;
        tree->top_of[cnode] = parent == LC_NONE ? cnode : tree->top_of[parent];
        tree->n_cnodes = cnode + 1;
        if (draft->first_child != LC_NONE) {
            at = draft->first_child;
            continue;
        }
        for (;;) { /* up until there is a sibling */
            tree->subtree_end[b->drafts[at].cnode] = tree->n_cnodes;
            uint32_t next = b->drafts[at].next;
            if (next == LC_NONE && b->drafts[at].parent != LC_NONE) {
                at = b->drafts[at].parent;
                continue;
            }
            at = next;
            break;
        }
    }
    return LC_OK;
}

enum lc_err lc_tree_build(struct lc_named_tree *tree, const struct lc_raw *raw,
                          struct lc_symbols *symbols, struct lc_model *model) {
    struct builder b = {.raw = raw,
                        .symbols = symbols,
                        .model = model,
                        .first_root = LC_NONE,
                        .last_root = LC_NONE};
    *tree = (struct lc_named_tree){0};
    if (raw->n_nodes == 0)
        return lc_fail(LC_ERR_FORMAT, "raw profile: no call tree: nothing was measured");
    enum lc_err err = lc_alloc(&b.draft_of, raw->n_nodes, sizeof b.draft_of[0]);
    if (err == LC_OK)
        err = make_drafts(&b);
    if (err == LC_OK)
        err = lc_alloc(&tree->cnode_of, raw->n_nodes, sizeof tree->cnode_of[0]);
    if (err == LC_OK)
        err = lc_alloc(&tree->subtree_end, b.n_drafts, sizeof tree->subtree_end[0]);
    if (err == LC_OK)
        err = lc_alloc(&tree->top_of, b.n_drafts, sizeof tree->top_of[0]);
    if (err == LC_OK)
        err = lc_alloc(&tree->mpi_name, b.n_drafts, sizeof tree->mpi_name[0]);
    if (err == LC_OK)
        err = number_drafts(&b, tree);
    for (size_t i = 0; err == LC_OK && i < raw->n_nodes; i++)
        tree->cnode_of[i] = b.drafts[b.draft_of[i]].cnode;
    if (err == LC_OK)
        tree->main_cnode = tree->cnode_of[0];
    tree->n_unnamed = b.n_unnamed;
    free(b.drafts);
    free(b.draft_of);
    free(b.regions);
    if (err != LC_OK)
        lc_tree_free(tree);
    return err;
}

void lc_tree_free(struct lc_named_tree *tree) {
    free(tree->cnode_of);
    free(tree->subtree_end);
    free(tree->top_of);
    free(tree->mpi_name);
    *tree = (struct lc_named_tree){0};
}
