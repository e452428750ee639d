#include "measure/samples/sample_nodes.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/none.h"
#include "format/omp_construct.h"
#include "measure/clocks/clocks_hooks.h"
#include "measure/core/core.h"
#include "measure/callpath/entries.h"
#include "measure/unwind/modules.h"
#include "measure/samples/perf_ring.h"
#include "measure/samples/stack_copy.h"
#include "measure/core/state_write.h"
#include "measure/core/thread.h"

enum { DEEPEST = 48 }; /* functions below the exact node */

static struct lc_activation_of_sample look_up(struct lc_thread *t, uint64_t ip, bool innermost) {
    struct lc_activation_of_sample a = {.module = LC_NONE};
    struct lc_draft *d = t->draft;
    const struct lc_module *m = lc_module_find(innermost ? ip : ip - 1);
    if (m == NULL)
        return a;
    a.module = m->id;
    a.kind = m->kind;
    a.offset = a.site = (innermost ? ip : ip - 1) - m->bias;
    if (d == NULL)
        return a;
    const struct lc_rule *rule = lc_walk_rule(&d->walk, innermost ? ip + 1 : ip);
    if (rule->start != 0)
        a.offset = rule->start - m->bias;
    a.linked = rule->cfa == LC_CFA_FP || rule->cfa == LC_CFA_AT_FP;
    return a;
}

/* What the exact node says of the stack around it. */
struct around {
    const struct lc_state_node *function, *caller; /* innermost; NULL: not known */
    bool in_openmp;                                /* inside of a construct of `function` */
};

static struct around look_around(uint32_t at) {
    const struct lc_state_node *nodes = lc_state_nodes();
    struct around a = {0};
    for (; at != 0 && at != LC_NONE; at = nodes[at].parent) {
        const struct lc_state_node *node = &nodes[at];
        if (node->kind == LC_RAW_REGION && a.function == NULL)
            a.in_openmp = a.in_openmp || lc_omp_is_construct(lc_state_name_of(node->ref));
        else if (node->kind == LC_RAW_FRAME && a.function == NULL)
            a.function = node;
        else if (node->kind == LC_RAW_FRAME) {
            a.caller = node;
            break;
        } else if (node->kind != LC_RAW_REGION) {
            break;
        }
    }
    return a;
}

static bool is(const struct lc_activation_of_sample *a, const struct lc_state_node *node) {
    return node != NULL && a->module == node->ref && a->offset == node->offset;
}

/* How many of the activations are inside of the exact node; -1: that is not known. */
static int count_inside(const struct lc_activation_of_sample *a, int n,
                        const struct around *around) {
    int inside = -1;
    for (int i = 0; i < n; i++) {
        if (around->in_openmp && a[i].module != LC_NONE &&
            lc_omp_is_runtime(lc_state_path_of(a[i].module)))
            return i;
        bool outermost = i + 1 == n || around->caller == NULL || is(&a[i + 1], around->caller);
        if (is(&a[i], around->function) && outermost)
            inside = i; /* of a recursion the outermost: the rest made no call */
        if (!a[i].linked)
            break;
    }
    return inside;
}

static uint32_t child(uint32_t at, const struct lc_activation_of_sample *a) {
    uint32_t node = lc_state_child(at, LC_RAW_SAMPLED, a->module, 0, a->offset, a->site);
    if (node == LC_NONE)
        return at;
    lc_clocks_path(node);
    return node;
}

static uint32_t special(uint32_t at, uint64_t what) {
    uint32_t node = lc_state_child(at, LC_RAW_SAMPLED, LC_NONE, 0, what, 0);
    if (node == LC_NONE)
        return at;
    lc_clocks_path(node);
    return node;
}

uint32_t lc_sample_special(uint32_t at, uint64_t what) {
    pthread_mutex_lock(&lc_core.lock);
    uint32_t node = special(at, what);
    pthread_mutex_unlock(&lc_core.lock);
    return node;
}

/* Samples leave room for what is exact. */
static bool has_room(void) {
    const struct lc_state_table *nodes = &lc_core.state->nodes;
    return atomic_load_explicit(&nodes->count, memory_order_relaxed) < nodes->capacity / 2;
}

/* A chain of addresses as activations, up to the first that is in unknown code. certain: each was
 * called by the next; else where functions keep frame pointers. */
static int activations(struct lc_thread *t, const uint64_t *addresses, uint32_t n, bool certain,
                       struct lc_activation_of_sample *a) {
    int found = 0;
    for (uint32_t i = 0; i < n; i++) {
        a[found] = look_up(t, addresses[i], i == 0);
        if (a[found].module != LC_NONE) {
            if (certain)
                a[found].linked = i + 1 < n;
            found++;
        } else if (!certain || found > 0) { /* the kernel's page of functions has no file */
            break;
        }
    }
    return found;
}

/* How many of the activations of a sample are inside of the exact node; -1: not known, only the
 * first one is. `known`: callers, of the copy of the stack. */
static int find_inside(struct lc_thread *t, const struct lc_perf_record *sample, uint32_t known,
                       const struct around *around, struct lc_sample_scratch *scratch, int *n) {
    struct lc_activation_of_sample *a = scratch->activations;
    *n = activations(t, scratch->addresses, known, true, a);
    int inside = *n > 0 ? count_inside(a, *n, around) : -1;
    if (inside < 0) { /* the kernel followed frame pointers, as far as there were any */
        *n = activations(t, sample->addresses, (uint32_t)sample->n, false, a);
        inside = *n > 0 ? count_inside(a, *n, around) : -1;
    }
    return inside;
}

/* In MPI or in the tool, whatever function of other libraries these have called. */
static bool is_in_mpi(const struct lc_activation_of_sample *a, int n) {
    for (int i = 0; i < n; i++)
        if (a[i].kind == LC_MODULE_MPI)
            return true;
    return false;
}

/* Is that the module of the innermost code from the node outwards? */
static bool in_module(uint32_t node, uint32_t module) {
    const struct lc_state_node *nodes = lc_state_nodes();
    while (node != 0 && node != LC_NONE && nodes[node].kind == LC_RAW_REGION)
        node = nodes[node].parent;
    return node != LC_NONE && lc_raw_is_code(nodes[node].kind) && nodes[node].ref == module;
}

/* With lc_core.lock held. */
static uint32_t node_of(struct lc_thread *t, uint32_t at, const struct lc_perf_record *sample,
                        uint32_t known, struct lc_sample_scratch *scratch, bool *cut,
                        uint64_t *address) {
    const struct lc_activation_of_sample *a = scratch->activations;
    struct around around = look_around(at);
    uint32_t node = at;
    int n = 0;
    if (!has_room()) {
        *cut = false;
        return at;
    }
    int inside = find_inside(t, sample, known, &around, scratch, &n);
    *cut = *cut && inside < 0;
    if (n == 0 || is_in_mpi(a, inside < 0 ? n : inside))
        return at; /* of the program no function but the exact one */
    if (inside < 0 || inside > DEEPEST) {
        inside = is(&a[0], around.function) ? 0 : 1;
        if (inside > 0)
            node = special(node, LC_RAW_CALLERS);
    }
    for (int i = inside; i-- > 0;)
        node = child(node, &a[i]);
    if (sample->in_kernel)
        return special(node, LC_RAW_KERNEL);
    *address = in_module(node, a[0].module) ? a[0].site : 0;
    return node;
}

uint32_t lc_sample_node(struct lc_thread *t, uint32_t at, const struct lc_perf_record *sample,
                        struct lc_sample_scratch *scratch, bool *cut, uint64_t *address) {
    if (t->draft == NULL) /* of a thread that has made no call: a worker of OpenMP */
        t->draft = calloc(1, sizeof(struct lc_draft));
    struct lc_draft *d = t->draft;
    uint32_t known = 0;
    *cut = false;
    *address = 0;
    if (d != NULL) /* the long part, by tables of the thread's own */
        known = lc_stack_copy_walk(&d->walk, sample, scratch->addresses, LC_SAMPLE_CHAIN, cut);
    pthread_mutex_lock(&lc_core.lock);
    uint32_t node = node_of(t, at, sample, known, scratch, cut, address);
    pthread_mutex_unlock(&lc_core.lock);
    return node;
}
