#include "measure/samples/sample_nodes.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/none.h"
#include "format/omp_construct.h"
#include "measure/clocks/clocks_hooks.h"
#include "measure/core/core.h"
#include "measure/callpath/entry.h"
#include "measure/callpath/python_stack.h"
#include "measure/unwind/modules.h"
#include "measure/samples/perf_ring.h"
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
    const struct lc_state_node *function, *caller; /* innermost, of any kind; NULL: not known */
    bool in_openmp;                                /* inside of a construct of `function` */
};

static bool is_function(const struct lc_state_node *node) {
    return node->kind == LC_RAW_FRAME || node->kind == LC_RAW_SCRIPT;
}

static struct around look_around(uint32_t at) {
    const struct lc_state_node *nodes = lc_state_nodes();
    struct around a = {0};
    for (; at != 0 && at != LC_NONE; at = nodes[at].parent) {
        const struct lc_state_node *node = &nodes[at];
        if (node->kind == LC_RAW_REGION && a.function == NULL)
            a.in_openmp = a.in_openmp || lc_omp_is_construct(lc_state_name_of(node->ref));
        else if (is_function(node) && a.function == NULL)
            a.function = node;
        else if (is_function(node)) {
            a.caller = node;
            break;
        } else if (node->kind != LC_RAW_REGION) {
            break;
        }
    }
    return a;
}

static bool is(const struct lc_activation_of_sample *a, const struct lc_state_node *node) {
    if (node == NULL || (a->script != 0) != (node->kind == LC_RAW_SCRIPT))
        return false;
    return a->script != 0 ? a->script == node->ref + 1
                          : a->module == node->ref && a->offset == node->offset;
}

/* How many of the activations are inside of the exact node; -1: that is not known. */
static int count_inside(const struct lc_activation_of_sample *a, int n,
                        const struct around *around) {
    int inside = -1;
    for (int i = 0; i < n; i++) {
        if (around->in_openmp && a[i].module != LC_NONE &&
            lc_omp_is_runtime(lc_state_path_of(a[i].module)))
            return i;
        /* C functions around those of Python are not looked at */
        bool outermost = i + 1 == n || around->caller == NULL || is(&a[i + 1], around->caller) ||
                         (a[i].script != 0 && around->caller->kind == LC_RAW_FRAME);
        if (is(&a[i], around->function) && outermost)
            inside = i; /* of a recursion the outermost: the rest made no call */
        if (!a[i].linked)
            break;
    }
    return inside;
}

static uint32_t child(uint32_t at, const struct lc_activation_of_sample *a) {
    uint32_t node = a->script != 0
                        ? lc_state_child(at, LC_RAW_SAMPLED_SCRIPT, a->script - 1, 0, 0, 0)
                        : lc_state_child(at, LC_RAW_SAMPLED, a->module, 0, a->offset, a->site);
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

/* The functions of Python in place of the interpreter's own C functions: with each C function that
 * runs frames those that it runs; at the end what is left, where the copy of the stack is too small
 * to tell. */
static int put_python(const struct lc_perf_record *sample, struct lc_sample_scratch *scratch,
                      int n) {
    struct lc_activation_of_sample *a = scratch->activations;
    uint64_t evaluate = lc_python_evaluate();
    const struct lc_module *m = lc_module_find(evaluate);
    uint32_t next = 0;
    int found = 0;
    memcpy(scratch->machine, a, (size_t)n * sizeof *a);
    for (int i = 0; i <= n; i++) {
        bool left = i == n, own = !left && m != NULL && scratch->machine[i].module == m->id;
        if (left)
            scratch->python_left = next < sample->n_python;
        bool more = left || (own && scratch->machine[i].offset == evaluate - m->bias);
        if (!left && !own && found < LC_SAMPLE_CHAIN)
            a[found++] = scratch->machine[i];
        while (more && next < sample->n_python && found < LC_SAMPLE_CHAIN) {
            bool outermost = (sample->python[2 * next] & LC_PYTHON_KINDS) != 0;
            if (scratch->scripts[next] != 0)
                a[found++] = (struct lc_activation_of_sample){.module = LC_NONE,
                                                              .script = scratch->scripts[next]};
            next++;
            more = left || !outermost;
        }
    }
    for (int i = 0; i < found; i++)
        a[i].linked = i + 1 < found;
    return found;
}

/* How many of the activations of a sample are inside of the exact node; -1: not known, only the
 * first one is. `known`: callers, of the copy of the stack. */
static int find_inside(struct lc_thread *t, const struct lc_perf_record *sample, uint32_t known,
                       const struct around *around, struct lc_sample_scratch *scratch, int *n) {
    struct lc_activation_of_sample *a = scratch->activations;
    *n = activations(t, scratch->addresses, known, true, a);
    if (sample->n_python > 0)
        *n = put_python(sample, scratch, *n);
    int inside = *n > 0 ? count_inside(a, *n, around) : -1;
    if (inside < 0 &&
        sample->n_python == 0) { /* the kernel followed frame pointers, as far as there were any */
        *n = activations(t, sample->addresses, (uint32_t)sample->n, false, a);
        inside = *n > 0 ? count_inside(a, *n, around) : -1;
        if (*n == 0) /* samples at switches have none */
            *n = activations(t, scratch->addresses, known, true, a);
    }
    return inside;
}

static bool is_among(const struct lc_activation_of_sample *a, int n,
                     const struct lc_state_node *node) {
    for (int i = 0; i < n; i++)
        if (is(&a[i], node))
            return true;
    return false;
}

/* Of the functions around the node's own that which the activations are inside of, without any of
 * those inside of it: these have returned, as a function does that is called in a loop and makes
 * the calls around the sample, each time anew. LC_NONE: that is not known, or there is none. Only
 * among functions of the machine: a region is open until its end, and of Python the stack tells
 * less. */
static uint32_t find_outer(uint32_t at, const struct lc_activation_of_sample *a, int n) {
    const struct lc_state_node *nodes = lc_state_nodes();
    int inside = -1;
    uint32_t outer = at;
    while (inside < 0) {
        if (outer == 0 || outer == LC_NONE || nodes[outer].kind != LC_RAW_FRAME)
            return LC_NONE;
        outer = nodes[outer].parent;
        if (outer == 0 || outer == LC_NONE || nodes[outer].kind != LC_RAW_FRAME)
            return LC_NONE;
        struct around around = look_around(outer);
        inside = count_inside(a, n, &around);
    }
    for (uint32_t left = at; left != outer; left = nodes[left].parent)
        if (is_among(a, inside, &nodes[left]))
            return LC_NONE;
    return outer;
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

/* The innermost function of Python that the node is in; NULL: it is in none. */
static const struct lc_state_node *script_around(uint32_t at) {
    const struct lc_state_node *nodes = lc_state_nodes();
    while (at != 0 && at != LC_NONE && nodes[at].kind != LC_RAW_SCRIPT)
        at = nodes[at].parent;
    return at != 0 && at != LC_NONE ? &nodes[at] : NULL;
}

/* How many of the activations are inside of the innermost function of Python that the node is in;
 * -1: that is none of them. The node may be in a function of an extension that has returned. */
static int below_script(uint32_t at, const struct lc_activation_of_sample *a, int n) {
    const struct lc_state_node *script = script_around(at);
    int below = -1;
    for (int i = 0; script != NULL && i < n; i++)
        if (is(&a[i], script))
            below = i;
    return below < DEEPEST ? below : DEEPEST;
}

/* The interpreter, for a function of Python of which the sample does not tell: that of the node, or
 * one that it called. */
static bool is_interpreting(uint32_t at, const struct lc_activation_of_sample *a,
                            const struct lc_perf_record *sample) {
    const struct lc_module *m = lc_module_find(lc_python_evaluate());
    return sample->n_python == 0 && m != NULL && a->module == m->id && script_around(at) != NULL;
}

/* With lc_core.lock held. */
static uint32_t node_of(struct lc_thread *t, uint32_t at, const struct lc_perf_record *sample,
                        uint32_t known, struct lc_sample_scratch *scratch, bool *cut,
                        uint64_t *address, uint32_t *outer) {
    const struct lc_activation_of_sample *a = scratch->activations;
    struct around around = look_around(at);
    uint32_t node = at;
    int n = 0;
    if (!has_room()) {
        *cut = false;
        return at;
    }
    if (sample->n_python == 0 && around.caller != NULL && around.caller->kind == LC_RAW_SCRIPT)
        around.caller = NULL; /* the stack does not tell of it */
    int inside = find_inside(t, sample, known, &around, scratch, &n);
    *cut = *cut && (inside < 0 || (sample->n_python > 0 && scratch->python_left));
    if (n == 0 || is_in_mpi(a, inside < 0 ? n : inside))
        return at; /* of the program no function but the exact one */
    if (inside < 0 && outer != NULL && sample->n_python == 0) {
        int copied = activations(t, scratch->addresses, known, true, scratch->machine);
        if (!is_in_mpi(scratch->machine, copied))
            *outer = find_outer(at, scratch->machine, copied);
        if (*outer != LC_NONE)
            return at;
    }
    if (inside < 0 && is_interpreting(at, &a[0], sample)) {
        inside = 0;
        *cut = false;
    }
    if (inside < 0 || inside > DEEPEST) {
        int below = inside < 0 ? below_script(at, a, n) : DEEPEST;
        inside = below > 0 ? below : is(&a[0], around.function) ? 0 : 1;
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
                        struct lc_sample_scratch *scratch, bool *cut, uint64_t *address,
                        uint32_t *outer) {
    if (t->draft == NULL) /* of a thread that has made no call: a worker of OpenMP */
        t->draft = calloc(1, sizeof(struct lc_draft));
    struct lc_draft *d = t->draft;
    uint32_t known = 0;
    *cut = false;
    *address = 0;
    if (d != NULL) /* the long part, by tables of the thread's own */
        known = lc_stack_copy_walk(&d->walk, sample, scratch->addresses, LC_SAMPLE_CHAIN, cut);
    for (uint32_t i = 0; i < sample->n_python; i++) {
        uint32_t region = lc_python_noted(t, sample->python[2 * i]);
        scratch->scripts[i] = region != LC_NONE ? lc_region_get(region).name + 1 : 0;
    }
    pthread_mutex_lock(&lc_core.lock);
    uint32_t node = node_of(t, at, sample, known, scratch, cut, address, outer);
    pthread_mutex_unlock(&lc_core.lock);
    return node;
}
