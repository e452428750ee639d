/* Enumeration of call paths in .cubex (docs/definitions/cubex.md, "Enumeration position"). With
 * cnode ids in pre-order, the position of an EXCLUSIVE metric's row is the id itself; INCLUSIVE
 * metrics number a root, then all children of a node, then recurse into each child. */
#ifndef LC_MODEL_ROW_ORDER_H
#define LC_MODEL_ROW_ORDER_H

#include "model/model.h"

/* LC_ERR_RANGE if the cnodes are not numbered in depth-first pre-order. */
enum lc_err lc_order_check(const struct lc_model *model);

/* position[cnode] in the INCLUSIVE enumeration. Needs pre-order; the caller frees it.
 * Errors: LC_ERR_NOMEM. */
enum lc_err lc_order_inclusive(const struct lc_model *model, uint32_t **position);

#endif
