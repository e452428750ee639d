#include "model/row_order.h"

#include <stdlib.h>

#include "base/mem.h"

enum lc_err lc_order_check(const struct lc_model *model) {
    for (uint32_t c = 0; c < model->n_cnodes; c++) {
        uint32_t parent = model->cnodes[c].parent;
        /* The parent is the previous cnode or one of its ancestors. Each cnode is left once, so all
         * walks together are linear. */
        uint32_t walk = c == 0 ? LC_NONE : c - 1;
        while (walk != parent && walk != LC_NONE)
            walk = model->cnodes[walk].parent;
        if (walk != parent)
            return lc_fail(LC_ERR_RANGE, "call tree: cnode %u is not in pre-order below %u", c,
                           parent);
    }
    return LC_OK;
}

/* Children in order of definition: first_child[n_cnodes + 1] (the last entry: first root),
 * next_sibling[n_cnodes]; LC_NONE ends. */
static enum lc_err order_children(const struct lc_model *model, uint32_t **first_child,
                                  uint32_t **next_sibling) {
    size_t count = model->n_cnodes;
    LC_TRY(lc_alloc(first_child, count + 1, sizeof **first_child));
    enum lc_err err = lc_alloc(next_sibling, count + 1, sizeof **next_sibling);
    if (err != LC_OK) {
        free(*first_child);
        return err;
    }
    for (size_t i = 0; i <= count; i++)
        (*first_child)[i] = (*next_sibling)[i] = LC_NONE;
    for (size_t i = count; i-- > 0;) { /* from the end, so that lists ascend */
        uint32_t parent = model->cnodes[i].parent;
        uint32_t *head = &(*first_child)[parent == LC_NONE ? count : parent];
        (*next_sibling)[i] = *head;
        *head = (uint32_t)i;
    }
    return LC_OK;
}

enum lc_err lc_order_inclusive(const struct lc_model *model, uint32_t **position) {
    uint32_t *first_child, *next_sibling, next = 0;
    *position = NULL;
    LC_TRY(order_children(model, &first_child, &next_sibling));
    enum lc_err err = lc_alloc(position, model->n_cnodes, sizeof **position);
    /* In pre-order the recursion visits cnodes by ascending id: "number the children" happens once
     * per cnode, in that order. */
    for (uint32_t c = 0; err == LC_OK && c < model->n_cnodes; c++) {
        if (model->cnodes[c].parent == LC_NONE)
            (*position)[c] = next++;
        for (uint32_t child = first_child[c]; child != LC_NONE; child = next_sibling[child])
            (*position)[child] = next++;
    }
    free(first_child);
    free(next_sibling);
    return err;
}
