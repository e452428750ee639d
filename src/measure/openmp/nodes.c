#include "measure/openmp/nodes.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/hash.h"
#include "measure/clocks/clocks.h"
#include "measure/clocks/clocks_hooks.h"
#include "measure/clocks/intervals.h"
#include "measure/clocks/wait_states.h"
#include "measure/core/core.h"
#include "measure/openmp/omp_blame.h"
#include "measure/openmp/omp_trace.h"
#include "measure/callpath/entry.h"
#include "measure/hot/locations.h"
#include "measure/hot/polls.h"
#include "measure/unwind/modules.h"
#include "measure/samples/sampler.h"
#include "measure/core/state_write.h"

static const char *const names[] = {
    [LC_OMP_AT_PARALLEL] = "parallel",
    [LC_OMP_AT_TEAMS] = "teams",
    [LC_OMP_AT_TASK] = "task",
    [LC_OMP_AT_IMPLICIT_BARRIER] = "implicit barrier",
    [LC_OMP_AT_BARRIER] = "barrier",
    [LC_OMP_AT_TASKWAIT] = "taskwait",
    [LC_OMP_AT_TASKGROUP] = "taskgroup",
    [LC_OMP_AT_CRITICAL] = "critical",
    [LC_OMP_AT_ATOMIC] = "atomic",
    [LC_OMP_AT_ORDERED] = "ordered",
    [LC_OMP_AT_SET_LOCK] = "omp_set_lock",
    [LC_OMP_AT_FOR] = "for",
    [LC_OMP_AT_SECTIONS] = "sections",
    [LC_OMP_AT_SINGLE] = "single",
    [LC_OMP_AT_MASTER] = "master",
    [LC_OMP_AT_WORKSHARE] = "workshare",
    [LC_OMP_AT_DISTRIBUTE] = "distribute",
    [LC_OMP_AT_TASKLOOP] = "taskloop",
    [LC_OMP_AT_SCOPE] = "scope",
    [LC_OMP_AT_CRITICAL_BLOCK] = "critical sblock",
    [LC_OMP_AT_ORDERED_BLOCK] = "ordered sblock",
    [LC_OMP_AT_UNSET_LOCK] = "omp_unset_lock",
    [LC_OMP_AT_TEST_LOCK] = "omp_test_lock",
    [LC_OMP_AT_CREATE_TASK] = "create task",
    [LC_OMP_AT_IDLE] = "idle",
};
enum { KNOWN = 64 }; /* a kind besides those of constructs */

/* "!$omp parallel @/path/app+0x1234", text of `bytes`; code 0: without a place. With
 * lc_core.lock. */
static void put_name(char *text, size_t bytes, enum lc_omp_construct construct, uint64_t code) {
    const struct lc_module *m = code != 0 ? lc_module_find(code - 1) : NULL;
    if (m == NULL)
        snprintf(text, bytes, "!$omp %s", names[construct]);
    else
        snprintf(text, bytes, "!$omp %s @%s+0x%llx", names[construct], lc_state_path_of(m->id),
                 (unsigned long long)(code - 1 - m->bias));
}

static uint32_t make(uint32_t parent, enum lc_omp_construct construct, uint64_t code) {
    char text[4200];
    pthread_mutex_lock(&lc_core.lock);
    put_name(text, sizeof text, construct, code);
    uint32_t name = lc_state_add_name(text);
    uint32_t node =
        name != LC_NONE ? lc_state_child(parent, LC_RAW_REGION, name, 0, 0, 0) : LC_NONE;
    if (node != LC_NONE)
        lc_clocks_path(node);
    pthread_mutex_unlock(&lc_core.lock);
    return node;
}

static uint32_t region_id(enum lc_omp_construct construct, uint64_t code) {
    char text[4200];
    pthread_mutex_lock(&lc_core.lock);
    put_name(text, sizeof text, construct, code);
    pthread_mutex_unlock(&lc_core.lock);
    return lc_region_by_name(text);
}

static struct lc_omp_node *find(struct lc_omp_thread *o, uint32_t parent, uint32_t kind,
                                uint64_t code) {
    uint64_t mix = lc_hash_key(code ^ (uint64_t)parent << 40 ^ (uint64_t)kind << 32);
    struct lc_omp_node **at = &o->nodes[mix >> (64 - LC_OMP_NODES_LOG2)];
    for (struct lc_omp_node *n = *at; n != NULL; n = n->next)
        if (n->code == code && n->parent == parent && n->kind == kind)
            return n;
    struct lc_omp_node *n = calloc(1, sizeof *n);
    if (n == NULL)
        return NULL;
    bool name = (kind & LC_OMP_AT_NAME) != 0;
    n->node = name            ? region_id((enum lc_omp_construct)(kind - LC_OMP_AT_NAME), code)
              : kind == KNOWN ? parent
                              : make(parent, (enum lc_omp_construct)kind, code);
    if (n->node == LC_NONE && !name)
        n->node = 0;
    n->parent = parent;
    n->kind = kind;
    n->code = code;
    n->row = lc_time_row(o->t, name ? 0 : n->node);
    n->next = *at;
    *at = n;
    return n;
}

struct lc_omp_node *lc_omp_node_get(struct lc_omp_thread *o, uint32_t parent,
                                    enum lc_omp_construct construct, const void *code) {
    struct lc_omp_node *got = o->got;
    if (got == NULL || got->code != (uint64_t)code || got->parent != parent ||
        got->kind != (uint32_t)construct)
        o->got = got = find(o, parent, construct, (uint64_t)code);
    return got;
}

/* That of a construct below the node where the thread is. */
static inline struct lc_omp_node *inner_of(struct lc_omp_thread *o, enum lc_omp_construct construct,
                                           uint64_t code) {
    struct lc_omp_node *inner = lc_omp_node_inside(o->at, construct, (const void *)code);
    if (lc_unlikely(inner == NULL))
        o->at->inner = inner = find(o, o->at->node, construct, code);
    return inner;
}

struct lc_omp_node *lc_omp_node_known(struct lc_omp_thread *o, uint32_t node) {
    struct lc_omp_node *known = o->known;
    if (known == NULL || known->node != node)
        o->known = known = find(o, node, KNOWN, 0);
    return known;
}

/* The frame of the runtime's function that the program called tells the call path; it is where it
 * says if the return address is there. */
static bool frame_holds(const void *frame, const void *code) {
    enum { NEAR = 1 << 16 };
    uint64_t here = (uint64_t)__builtin_frame_address(0), at = (uint64_t)frame;
    return at > here && at - here < NEAR && (at & 7) == 0 &&
           lc_address_of(*(const uint64_t *)(at + 8)) == (uint64_t)code;
}

uint32_t lc_omp_path_open(struct lc_omp_thread *o, enum lc_omp_construct construct, void *frame,
                          const void *code, uint32_t *node) {
    struct lc_omp_node *name =
        lc_omp_node_get(o, 0, (enum lc_omp_construct)(LC_OMP_AT_NAME | construct), code);
    if (name == NULL || name->node == LC_NONE)
        return 0;
    void *at = frame_holds(frame, code) ? frame : __builtin_frame_address(0);
    *node = lc_region_enter(name->node, at, (void *)(uintptr_t)code);
    return *node != 0 ? name->node + 1 : 0;
}

uint32_t lc_omp_path_open_late(struct lc_omp_thread *o, enum lc_omp_construct construct,
                               const void *code, uint64_t ago, uint32_t *node) {
    struct lc_omp_node *name =
        lc_omp_node_get(o, 0, (enum lc_omp_construct)(LC_OMP_AT_NAME | construct), code);
    if (name == NULL || name->node == LC_NONE)
        return 0;
    *node =
        lc_region_enter_late(name->node, __builtin_frame_address(0), (void *)(uintptr_t)code, ago);
    return *node != 0 ? name->node + 1 : 0;
}

void lc_omp_path_close(uint32_t opened, void *frame, const void *code, uint64_t now) {
    void *at = frame_holds(frame, code) ? frame : __builtin_frame_address(0);
    lc_region_leave(opened - 1, at, (void *)(uintptr_t)code, now);
}

struct lc_omp_node *lc_omp_node_idle(struct lc_omp_thread *o) {
    if (o->idle_node == NULL)
        o->idle_node = find(o, 0, LC_OMP_AT_IDLE, 0);
    return o->idle_node;
}

bool lc_omp_node_runs_code(const struct lc_omp_node *node) {
    switch (node->kind) {
    case KNOWN:
    case LC_OMP_AT_PARALLEL:
    case LC_OMP_AT_TEAMS:
    case LC_OMP_AT_TASK:
    case LC_OMP_AT_FOR:
    case LC_OMP_AT_SECTIONS:
    case LC_OMP_AT_SINGLE:
    case LC_OMP_AT_MASTER:
    case LC_OMP_AT_WORKSHARE:
    case LC_OMP_AT_DISTRIBUTE:
    case LC_OMP_AT_TASKLOOP:
    case LC_OMP_AT_SCOPE:
        return true;
    default:
        return false;
    }
}

/* Measurement was off since the thread's last event. */
static LC_COLD void resume(struct lc_thread *t) {
    uint64_t since = atomic_load_explicit(&lc_resumed_ticks, memory_order_relaxed);
    atomic_fetch_and_explicit(&t->mode, ~(uint32_t)LC_MODE_RESUMED, memory_order_relaxed);
    t->last = t->off_entry;
    if (t->last_ticks < since)
        t->last_ticks = since;
}

void lc_omp_book(struct lc_omp_thread *o, uint64_t now) {
    struct lc_thread *t = o->t;
    if (o->at == NULL)
        return;
    uint32_t mode = atomic_load_explicit(&t->mode, memory_order_relaxed);
    lc_polls_before(t, now);
    if (lc_unlikely((mode & LC_MODE_RESUMED) != 0))
        resume(t);
    if (lc_unlikely(lc_samples_new(t))) {
        if (lc_omp_node_runs_code(o->at))
            lc_samples_at(t, o->at->node);
        else
            lc_samples_drop(t);
    }
    if ((mode & LC_MODE_ON) != 0)
        lc_omp_book_time(o, now);
    t->last_ticks = lc_larger(t->last_ticks, now);
}

bool lc_omp_push_unseen(struct lc_omp_thread *o, enum lc_omp_construct construct, const void *code,
                        uint64_t now) {
    if (o->at == NULL)
        return false;
    lc_omp_book(o, now);
    if (o->n_outer < LC_OMP_DEEPEST) {
        struct lc_omp_node *inner = inner_of(o, construct, (uint64_t)code);
        lc_omp_go_into(o, inner != NULL ? inner : o->at);
        return true;
    }
    o->n_outer++;
    return false;
}

void lc_omp_push(struct lc_omp_thread *o, enum lc_omp_construct construct, const void *code,
                 uint64_t now) {
    if (lc_omp_push_unseen(o, construct, code, now))
        lc_omp_trace2(o, LC_REC_OMP_IN, now, o->at->node);
}

void lc_omp_pop(struct lc_omp_thread *o, uint64_t now) {
    if (o->at != NULL && o->n_outer > 0 && o->n_outer <= LC_OMP_DEEPEST)
        lc_omp_trace2(o, LC_REC_OMP_OUT, now, o->at->node);
    lc_omp_pop_into_block(o, now);
}

void lc_omp_pop_into_block(struct lc_omp_thread *o, uint64_t now) {
    if (o->at == NULL || o->n_outer == 0)
        return;
    lc_omp_book(o, now);
    lc_omp_go_out(o);
}

static bool measures(const struct lc_omp_thread *o) {
    const struct lc_clk_thread *k = o->t->clocks;
    return k != NULL && (lc_unlikely(lc_clk.backlog) ? lc_clk_interval_now() : k->l.interval) != 0;
}

void lc_omp_add(struct lc_omp_thread *o, struct lc_omp_node *at, uint32_t kind, uint64_t amount) {
    if (amount != 0 && measures(o))
        lc_omp_put(o, at, kind, amount);
}

void lc_omp_put(struct lc_omp_thread *o, struct lc_omp_node *at, uint32_t kind, uint64_t amount) {
    if (at == NULL || amount == 0)
        return;
    if (at->waits == NULL)
        at->waits = lc_clk_waits_new(o->t->index, at->node);
    if (at->waits != NULL)
        at->waits->ticks[kind] += amount;
}

void lc_omp_waited(struct lc_omp_thread *o, struct lc_omp_node *at, uint32_t kind, uint64_t ticks,
                   const struct lc_omp_late *late) {
    if (ticks != 0 && measures(o))
        lc_omp_put_waited(o, at, kind, ticks, late);
}

void lc_omp_put_waited(struct lc_omp_thread *o, struct lc_omp_node *at, uint32_t kind,
                       uint64_t ticks, const struct lc_omp_late *late) {
    if (at == NULL || ticks == 0)
        return;
    lc_omp_put(o, at, kind, ticks);
    lc_omp_blame_add(at, late, ticks);
}
