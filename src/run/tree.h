/* The call tree of a raw profile as regions and call-tree nodes of the result model: functions get
 * names, nodes of equal names under one parent become one, ids are in pre-order.
 *
 * Call paths begin at `main` (known by position, also where it has no symbol) or at a thread's
 * start function; what hangs directly below the raw root otherwise (paths by return address only,
 * no paths) hangs below `main`. The raw root itself, which holds the time before the first and
 * after the last call of each location, is booked on the location's own top.
 *
 * Where processes run several programs, each is a root, with `main` and start functions below it:
 * equal call paths of different programs stay apart. */
#ifndef LC_RUN_TREE_H
#define LC_RUN_TREE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/program_names.h"
#include "model/model.h"
#include "format/raw.h"
#include "symbols/symbols.h"

struct lc_named_tree {
    uint32_t *cnode_of;   /* raw node -> cnode; root and programs: their `main` */
    uint32_t *program_of; /* raw node -> raw node of the program that it is in, or is; 0: unknown */
    uint32_t *subtree_end; /* cnode -> first cnode after its subtree */
    uint32_t *top_of;      /* cnode -> `main` or the start function that it is in */
    uint32_t *mpi_name; /* cnode -> name of the MPI function (index into raw names), or LC_NONE */
    bool *sampled;      /* cnode: found by samples, its values are estimates */
    uint32_t n_cnodes, main_cnode;
    size_t n_unnamed;            /* functions without a symbol */
    struct lc_programs programs; /* `of`: by raw node, of programs only */
};

enum { LC_TREE_LEAST_SAMPLES = 4 }; /* fewer: joined to "(unresolved)"; standard error > 50 % */

/* Adds regions and cnodes to `model`. samples: per raw node, those in the function itself; NULL:
 * none. Errors: LC_ERR_NOMEM, LC_ERR_FORMAT, LC_ERR_RANGE. */
enum lc_err lc_tree_build(struct lc_named_tree *tree, const struct lc_raw *raw,
                          const uint64_t *samples, struct lc_symbols *symbols,
                          struct lc_model *model);
/* Frees the nodes, not the struct. */
void lc_tree_free(struct lc_named_tree *tree);

#endif
