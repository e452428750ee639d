#include "report/align_paths.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"

struct side {
    struct lc_view *view;
    uint64_t *calls; /* per path: hash of the calls below it, with their counts, its own name left
                        out; 0: there are none */
    bool *taken;     /* of b: is the partner of some path */
};

/* Children come after their parents: from the end, what is below is complete. Sums do not depend on
 * the order of children. */
static enum lc_err hash_calls(struct side *side) {
    struct lc_view *view = side->view;
    uint32_t visits = lc_model_find_metric(view->model, "visits");
    double *row;
    LC_TRY(lc_alloc(&side->calls, view->n_paths, sizeof side->calls[0]));
    LC_TRY(lc_alloc(&side->taken, view->n_paths, sizeof side->taken[0]));
    LC_TRY(lc_alloc(&row, view->model->n_locations, sizeof row[0]));
    enum lc_err err = LC_OK;
    for (uint32_t p = (uint32_t)view->n_paths; err == LC_OK && p-- > 0;) {
        double count = 0.0;
        if (visits != LC_NONE)
            err = lc_view_row(view, visits, p, row);
        for (size_t l = 0; err == LC_OK && visits != LC_NONE && l < view->model->n_locations; l++)
            count += row[l];
        uint32_t parent = view->paths[p].parent;
        if (parent == LC_NONE || (count <= 0.0 && side->calls[p] == 0))
            continue;
        uint64_t own = side->calls[p];
        if (view->paths[p].mpi)
            own = lc_hash_text(LC_HASH_BEGIN ^ own, view->paths[p].name);
        own = lc_hash_word(own, (uint64_t)count);
        side->calls[parent] += lc_hash_key(own | 1);
    }
    free(row);
    return err;
}

static uint32_t first_of(const struct lc_view *view, uint32_t parent) {
    return parent == LC_NONE ? 0 : view->paths[parent].first_child;
}

/* The next one with the same parent; roots have no list. */
static uint32_t next_of(const struct lc_view *view, uint32_t path) {
    if (view->paths[path].parent != LC_NONE)
        return view->paths[path].next_sibling;
    for (uint32_t p = path + 1; p < view->n_paths; p++)
        if (view->paths[p].parent == LC_NONE)
            return p;
    return LC_NONE;
}

static uint32_t find_name(const struct side *b, uint32_t parent, const char *name) {
    if (b->view->n_paths == 0)
        return LC_NONE;
    for (uint32_t c = first_of(b->view, parent); c != LC_NONE; c = next_of(b->view, c))
        if (!b->taken[c] && strcmp(b->view->paths[c].name, name) == 0)
            return c;
    return LC_NONE;
}

/* The one child of b with the same calls; several: none. */
static uint32_t find_calls(const struct side *b, uint32_t parent, uint64_t calls) {
    uint32_t found = LC_NONE;
    if (b->view->n_paths == 0 || calls == 0)
        return LC_NONE;
    for (uint32_t c = first_of(b->view, parent); c != LC_NONE; c = next_of(b->view, c))
        if (!b->taken[c] && !b->view->paths[c].mpi && b->calls[c] == calls) {
            if (found != LC_NONE)
                return LC_NONE;
            found = c;
        }
    return found;
}

/* Parents come before children: each path finds its partner below the partner of its parent, the
 * ones of equal name before renamed ones take them. */
static void match_below(const struct side *a, struct side *b, uint32_t *to, bool renamed) {
    for (uint32_t p = 0; p < a->view->n_paths; p++) {
        const struct lc_merged_path *path = &a->view->paths[p];
        uint32_t parent = path->parent == LC_NONE ? LC_NONE : to[path->parent];
        if (to[p] != LC_NONE || (path->parent != LC_NONE && parent == LC_NONE))
            continue;
        uint32_t found = find_name(b, parent, path->name);
        if (found == LC_NONE && renamed && !path->mpi)
            found = find_calls(b, parent, a->calls[p]);
        if (found != LC_NONE) {
            to[p] = found;
            b->taken[found] = true;
        }
    }
}

/* The same name and the same calls, wherever it is: the one that is left. */
static void match_moved(const struct side *a, struct side *b, uint32_t *to) {
    for (uint32_t p = 0; p < a->view->n_paths; p++) {
        uint32_t found = LC_NONE;
        bool several = false;
        if (to[p] != LC_NONE || a->calls[p] == 0 || a->view->paths[p].mpi)
            continue;
        for (uint32_t q = 0; q < b->view->n_paths && !several; q++)
            if (!b->taken[q] && b->calls[q] == a->calls[p] &&
                strcmp(a->view->paths[p].name, b->view->paths[q].name) == 0) {
                several = found != LC_NONE;
                found = q;
            }
        if (found == LC_NONE || several)
            continue;
        to[p] = found;
        b->taken[found] = true;
        match_below(a, b, to, true);
    }
}

enum lc_err lc_align_paths(struct lc_view *va, struct lc_view *vb, uint32_t *to) {
    struct side a = {.view = va}, b = {.view = vb};
    for (uint32_t p = 0; p < va->n_paths; p++)
        to[p] = LC_NONE;
    enum lc_err err = hash_calls(&a);
    if (err == LC_OK)
        err = hash_calls(&b);
    if (err == LC_OK) {
        match_below(&a, &b, to, false);
        match_below(&a, &b, to, true);
        match_moved(&a, &b, to);
    }
    free(a.calls);
    free(a.taken);
    free(b.calls);
    free(b.taken);
    return err;
}
