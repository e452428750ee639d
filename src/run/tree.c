#include "run/tree.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/lookup.h"
#include "base/mem.h"
#include "format/mpi_function.h"
#include "format/omp_construct.h"
#include "run/omp_names.h"

/* The tree while names are merged: drafts in order of creation, children linked. */
struct draft {
    uint32_t parent, region;
    uint32_t first_child, last_child, next;
    uint32_t mpi_name;
    uint32_t cnode; /* number in pre-order */
    bool sampled, gone, program;
    uint64_t samples; /* with those of sampled nodes inside */
    uint32_t shown;   /* as this one */
};

struct builder {
    const struct lc_raw *raw;
    struct lc_symbols *symbols;
    struct lc_model *model;
    struct draft *drafts;
    size_t n_drafts, cap_drafts;
    uint32_t first_root, last_root;
    struct lc_lookup regions; /* by name and paradigm */
    uint32_t *draft_of;       /* raw node -> draft */
    const uint64_t *samples;  /* per raw node, or NULL */
    size_t n_unnamed;
    const struct lc_programs *programs;
    uint32_t *root_draft; /* raw node (root or program) -> draft of its program; LC_NONE: none */
};

/* Regions are the same if name and paradigm are. */
static enum lc_err find_region(struct builder *b, const struct lc_region *wanted, uint32_t *id) {
    uint64_t hash = lc_hash_text(LC_HASH_BEGIN ^ (unsigned char)wanted->paradigm[0], wanted->name);
    *id = LC_LOOKUP(&b->regions, hash, i,
                    strcmp(b->model->regions[i].name, wanted->name) == 0 &&
                        strcmp(b->model->regions[i].paradigm, wanted->paradigm) == 0);
    if (*id != LC_NONE)
        return LC_OK;
    LC_TRY(lc_model_add_region(b->model, wanted, id));
    return lc_lookup_add(&b->regions, hash, *id);
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

static char *paradigm_of(const struct lc_raw_node *node) {
    return (char *)(uintptr_t)(node->kind == LC_RAW_SAMPLED ? LC_MODEL_SAMPLED : "compiler");
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
                               .paradigm = paradigm_of(node),
                               .role = (char *)(uintptr_t) "function",
                               .begin_line = symbol.line,
                               .end_line = -1};
    return find_region(b, &region, id);
}

static enum lc_err region_of_construct(struct builder *b, const char *name, uint32_t *id) {
    char text[512];
    LC_TRY(lc_omp_construct_name(b->raw, b->symbols, name, text, sizeof text));
    return region_named(b, text, "openmp", lc_omp_role(name), id);
}

/* How compiler and runtime bring a thread into a construct is not shown: what is inside belongs to
 * the construct. */
static bool is_inside_openmp(const struct builder *b, const struct lc_raw_node *node,
                             uint32_t region) {
    if (!lc_raw_is_code(node->kind) || node->parent == LC_NONE)
        return false;
    return (node->ref != LC_NONE && lc_omp_is_runtime(b->raw->modules[node->ref].path)) ||
           lc_omp_is_outlined(b->model->regions[region].name);
}

/* As Score-P's profiles say it. */
static const char *role_of(const char *mpi_function) {
    static const char *const names[LC_MPI_ROLES] = {
        [LC_MPI_ROLE_NONE] = "function",
        [LC_MPI_ROLE_POINT2POINT] = "point2point",
        [LC_MPI_ROLE_BARRIER] = "barrier",
        [LC_MPI_ROLE_ONE2ALL] = "one2all",
        [LC_MPI_ROLE_ALL2ONE] = "all2one",
        [LC_MPI_ROLE_ALL2ALL] = "all2all",
        [LC_MPI_ROLE_OTHER_COLLECTIVE] = "other collective",
        [LC_MPI_ROLE_RMA] = "rma",
        [LC_MPI_ROLE_ATOMIC] = "atomic",
        [LC_MPI_ROLE_FILE_IO] = "file io",
        [LC_MPI_ROLE_FILE_IO_METADATA] = "file io metadata",
        [LC_MPI_ROLE_ALLOCATE] = "allocate",
        [LC_MPI_ROLE_DEALLOCATE] = "deallocate",
    };
    return names[lc_mpi_find(mpi_function)->role];
}

static enum lc_err region_of(struct builder *b, const struct lc_raw_node *node, uint32_t *id) {
    switch (node->kind) {
    case LC_RAW_FRAME:
        return region_of_frame(b, node, id);
    case LC_RAW_MPI:
        return region_named(b, b->raw->names[node->ref], "mpi", role_of(b->raw->names[node->ref]),
                            id);
    case LC_RAW_REGION:
        if (lc_omp_is_construct(b->raw->names[node->ref]))
            return region_of_construct(b, b->raw->names[node->ref], id);
        return region_named(b, b->raw->names[node->ref], "user", "function", id);
    case LC_RAW_SCRIPT:
        return region_named(b, b->raw->names[node->ref], "compiler", "function", id);
    case LC_RAW_SAMPLED_SCRIPT:
        return region_named(b, b->raw->names[node->ref], LC_MODEL_SAMPLED, "function", id);
    case LC_RAW_SAMPLED:
        if (node->ref != LC_NONE)
            return region_of_frame(b, node, id);
        return region_named(b, lc_raw_sampled_name(node->offset), LC_MODEL_SAMPLED, "function", id);
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
    b->drafts[*id] = (struct draft){.parent = parent,
                                    .region = region,
                                    .first_child = LC_NONE,
                                    .last_child = LC_NONE,
                                    .next = LC_NONE,
                                    .mpi_name = LC_NONE,
                                    .cnode = LC_NONE,
                                    .shown = *id};
    uint32_t *first_slot = parent == LC_NONE ? &b->first_root : &b->drafts[parent].first_child;
    uint32_t *last_slot = parent == LC_NONE ? &b->last_root : &b->drafts[parent].last_child;
    if (*last_slot != LC_NONE)
        b->drafts[*last_slot].next = *id;
    else
        *first_slot = *id;
    *last_slot = *id;
    return LC_OK;
}

static bool is_self(const struct lc_raw_node *node) {
    return node->kind == LC_RAW_SAMPLED && node->parent != LC_NONE && node->ref == LC_NONE &&
           node->offset == LC_RAW_SELF;
}

/* Drafts of the raw root or a program: the program itself, if there are several, and its `main`.
 * What hangs below the raw root alone goes to the first program. */
static enum lc_err draft_above(struct builder *b, uint32_t node, uint32_t main_region) {
    uint32_t program = b->programs->of[node], region, root = LC_NONE;
    if (b->programs->n > 1) {
        const char *name = b->programs->names[program == LC_NONE ? 0 : program];
        LC_TRY(region_named(b, name, "measurement", "artificial", &region));
        LC_TRY(child_draft(b, LC_NONE, region, &root));
        b->drafts[root].program = true;
    }
    b->root_draft[node] = root;
    return child_draft(b, root, main_region, &b->draft_of[node]);
}

static enum lc_err make_drafts(struct builder *b) {
    uint32_t main_region;
    LC_TRY(region_named(b, "main", "compiler", "function", &main_region));
    for (size_t i = 0; i < b->raw->n_nodes; i++) {
        const struct lc_raw_node *node = &b->raw->nodes[i];
        uint32_t region, parent;
        if (lc_raw_is_above(b->raw, (uint32_t)i)) {
            LC_TRY(draft_above(b, (uint32_t)i, main_region));
            continue;
        }
        LC_TRY(region_of(b, node, &region));
        if (is_inside_openmp(b, node, region) || is_self(node)) {
            b->draft_of[i] = b->draft_of[node->parent];
            continue;
        }
        bool top =
            lc_raw_is_above(b->raw, node->parent) &&
            ((node->flags & (LC_RAW_NODE_MAIN | LC_RAW_NODE_START)) != 0 || region == main_region);
        parent = top ? b->root_draft[node->parent] : b->draft_of[node->parent];
        LC_TRY(child_draft(b, parent, region, &b->draft_of[i]));
        if (lc_raw_is_sampled(node->kind)) {
            b->drafts[b->draft_of[i]].sampled = true;
            b->drafts[b->draft_of[i]].samples += b->samples != NULL ? b->samples[i] : 0;
        }
        if (node->kind == LC_RAW_MPI)
            b->drafts[b->draft_of[i]].mpi_name = node->ref;
    }
    return LC_OK;
}

/* Children in the order of their making, without those that are gone. */
static void link_again(struct builder *b) {
    for (size_t i = 0; i < b->n_drafts; i++)
        b->drafts[i].first_child = b->drafts[i].last_child = b->drafts[i].next = LC_NONE;
    b->first_root = b->last_root = LC_NONE;
    for (uint32_t i = 0; i < b->n_drafts; i++) {
        struct draft *d = &b->drafts[i];
        if (d->gone)
            continue;
        uint32_t *first = d->parent == LC_NONE ? &b->first_root : &b->drafts[d->parent].first_child;
        uint32_t *last = d->parent == LC_NONE ? &b->last_root : &b->drafts[d->parent].last_child;
        if (*last != LC_NONE)
            b->drafts[*last].next = i;
        else
            *first = i;
        *last = i;
    }
}

/* Sampled functions with too few samples are shown as one beside their siblings; those without
 * any, as what they are in. Parents come before children. */
static enum lc_err join_small(struct builder *b) {
    uint32_t unresolved, n = (uint32_t)b->n_drafts;
    LC_TRY(region_named(b, lc_raw_sampled_name(LC_RAW_UNRESOLVED), LC_MODEL_SAMPLED, "function",
                        &unresolved));
    for (uint32_t i = n; i-- > 0;)
        if (b->drafts[i].sampled && b->drafts[i].parent != LC_NONE)
            b->drafts[b->drafts[i].parent].samples += b->drafts[i].samples;
    for (uint32_t i = 0; i < n; i++) {
        struct draft *d = &b->drafts[i];
        uint32_t parent = d->parent;
        if (!d->sampled || d->samples >= LC_TREE_LEAST_SAMPLES || parent == LC_NONE)
            continue;
        d->gone = true;
        if (b->drafts[parent].gone || d->samples == 0) {
            d->shown = b->drafts[parent].shown;
            continue;
        }
        uint32_t one;
        LC_TRY(child_draft(b, parent, unresolved, &one));
        b->drafts[one].sampled = true;
        b->drafts[one].gone = false;
        b->drafts[one].shown = one;
        b->drafts[i].shown = one;
    }
    link_again(b);
    for (size_t i = 0; i < b->raw->n_nodes; i++)
        b->draft_of[i] = b->drafts[b->draft_of[i]].shown;
    return LC_OK;
}

static bool any_sampled(const struct lc_raw *raw) {
    for (size_t i = 0; i < raw->n_nodes; i++)
        if (lc_raw_is_sampled(raw->nodes[i].kind))
            return true;
    return false;
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
        tree->sampled[cnode] = draft->sampled;
        bool top = parent == LC_NONE || b->drafts[draft->parent].program;
        tree->top_of[cnode] = top ? cnode : tree->top_of[parent];
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

/* Which programs there are, and which one each node is in. */
static enum lc_err find_programs(struct lc_named_tree *tree, const struct lc_raw *raw) {
    const char **ids = NULL;
    LC_TRY(lc_alloc(&tree->program_of, raw->n_nodes, sizeof tree->program_of[0]));
    LC_TRY(lc_alloc(&ids, raw->n_nodes, sizeof ids[0]));
    for (uint32_t i = 1; i < raw->n_nodes; i++) {
        const struct lc_raw_node *node = &raw->nodes[i];
        bool program = node->kind == LC_RAW_PROGRAM;
        ids[i] = program ? raw->names[node->ref] : NULL;
        tree->program_of[i] = program ? i : tree->program_of[node->parent];
    }
    enum lc_err err = lc_programs_find(&tree->programs, ids, raw->n_nodes);
    free(ids);
    return err;
}

enum lc_err lc_tree_build(struct lc_named_tree *tree, const struct lc_raw *raw,
                          const uint64_t *samples, struct lc_symbols *symbols,
                          struct lc_model *model) {
    struct builder b = {.raw = raw,
                        .samples = samples,
                        .symbols = symbols,
                        .model = model,
                        .first_root = LC_NONE,
                        .last_root = LC_NONE};
    *tree = (struct lc_named_tree){0};
    if (raw->n_nodes == 0)
        return lc_fail(LC_ERR_FORMAT, "raw profile: no call tree: nothing was measured");
    enum lc_err err = lc_alloc(&b.draft_of, raw->n_nodes, sizeof b.draft_of[0]);
    if (err == LC_OK)
        err = lc_alloc(&b.root_draft, raw->n_nodes, sizeof b.root_draft[0]);
    if (err == LC_OK)
        err = find_programs(tree, raw);
    b.programs = &tree->programs;
    if (err == LC_OK)
        err = make_drafts(&b);
    if (err == LC_OK && any_sampled(raw))
        err = join_small(&b);
    if (err == LC_OK)
        err = lc_alloc(&tree->cnode_of, raw->n_nodes, sizeof tree->cnode_of[0]);
    if (err == LC_OK)
        err = lc_alloc(&tree->subtree_end, b.n_drafts, sizeof tree->subtree_end[0]);
    if (err == LC_OK)
        err = lc_alloc(&tree->top_of, b.n_drafts, sizeof tree->top_of[0]);
    if (err == LC_OK)
        err = lc_alloc(&tree->mpi_name, b.n_drafts, sizeof tree->mpi_name[0]);
    if (err == LC_OK)
        err = lc_alloc(&tree->sampled, b.n_drafts, sizeof tree->sampled[0]);
    if (err == LC_OK)
        err = number_drafts(&b, tree);
    for (size_t i = 0; err == LC_OK && i < raw->n_nodes; i++)
        tree->cnode_of[i] = b.drafts[b.draft_of[i]].cnode;
    if (err == LC_OK)
        tree->main_cnode = tree->cnode_of[0];
    tree->n_unnamed = b.n_unnamed;
    free(b.drafts);
    free(b.draft_of);
    free(b.root_draft);
    lc_lookup_free(&b.regions);
    if (err != LC_OK)
        lc_tree_free(tree);
    return err;
}

void lc_tree_free(struct lc_named_tree *tree) {
    free(tree->cnode_of);
    free(tree->program_of);
    lc_programs_free(&tree->programs);
    free(tree->subtree_end);
    free(tree->top_of);
    free(tree->mpi_name);
    free(tree->sampled);
    *tree = (struct lc_named_tree){0};
}
