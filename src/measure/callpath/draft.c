#include "measure/core/core.h"
#include "measure/callpath/entry.h"
#include "measure/unwind/modules.h"
#include "measure/callpath/python_stack.h"
#include "measure/unwind/walk.h"
#include "measure/core/state_write.h"
#include "measure/core/thread.h"

#include <stdlib.h>
#include <string.h>

/* From the frames of the stack to the items of a path: cut, insert open regions, intern the nodes.
 */

/* [*low, *high]: the frames that are shown: below main (or a thread's start function) and above it
 * the MPI library are cut off. */
static void cut_frames(const struct lc_frame *frames, int n, int *low, int *high, bool *is_main) {
    int hi = n - 1, lo = 0, libc = 0;
    const struct lc_module *m;
    bool start = false;
    if (hi >= 1) {
        m = lc_module_find(frames[hi].ip - 1);
        enum lc_module_kind outer = m != NULL ? m->kind : LC_MODULE_OTHER;
        m = lc_module_find(frames[hi - 1].ip - 1);
        start = outer == LC_MODULE_PROGRAM && m != NULL && m->kind == LC_MODULE_LIBC;
        hi -= start;
    }
    while (hi >= 0 && (m = lc_module_find(frames[hi].ip - 1)) != NULL &&
           m->kind == LC_MODULE_LIBC) {
        hi--;
        libc++;
    }
    /* _start, __libc_start_main, __libc_start_call_main, main; clone3, start_thread, start function
     */
    *is_main = libc == 2 || (libc > 0 && !start);
    while (lo < hi && (m = lc_module_find(frames[lo].ip - 1)) != NULL && m->kind == LC_MODULE_MPI)
        lo++;
    *low = lo;
    *high = hi;
}

/* A call inside a callback: what lies between the callback and the program's call of MPI is left
 * out. The new index of the outermost frame. */
static int leave_mpi_out(struct lc_frame *frames, int low, int high) {
    int first = -1, last = -1;
    for (int i = low; i <= high; i++) {
        const struct lc_module *m = lc_module_find(frames[i].ip - 1);
        if (m == NULL || m->kind != LC_MODULE_MPI)
            continue;
        first = first < 0 ? i : first;
        last = i;
    }
    if (first < 0)
        return high;
    memmove(&frames[first], &frames[last + 1], (size_t)(high - last) * sizeof *frames);
    return high - (last + 1 - first);
}

uint32_t lc_draft_node(const struct lc_draft *d, uint32_t n) {
    return n == 0 ? 0 : d->items[n - 1].node;
}

static uint32_t module_id(const struct lc_module *m) {
    return m != NULL ? m->id : lc_state_add_module("?", "", 0); /* generated code */
}

/* Where this function was called; outer: the next frame. */
static struct lc_mark place_of(const struct lc_frame *f, const struct lc_frame *outer) {
    if (f->outer.value != 0)
        return f->outer;
    return outer != NULL ? (struct lc_mark){outer->ip_slot, outer->ip} : (struct lc_mark){0, 0};
}

static uint32_t activation_of(const struct lc_frame *f, const struct lc_frame *outer) {
    struct lc_mark place = place_of(f, outer);
    bool by_script = outer != NULL && outer->script != 0;
    return lc_activation(f->script != 0 ? f->script_slot : place.slot,
                         by_script ? outer->script_ip : place.value);
}

static void add_script(struct lc_draft *d, const struct lc_frame *f, const struct lc_frame *outer) {
    uint32_t name = lc_region_get(f->script - 1).name;
    uint32_t node = lc_state_child(lc_draft_node(d, d->n_items), LC_RAW_SCRIPT, name, 0, 0, 0);
    if (node == LC_NONE)
        return;
    d->items[d->n_items++] = (struct lc_item){
        .activation = activation_of(f, outer),
        .site = lc_site_in_line(f->script_line, f->script_ip),
        .node = node,
    };
}

static void add_frame(struct lc_draft *d, const struct lc_frame *f, const struct lc_frame *outer,
                      uint32_t flags) {
    if (f->script != 0) {
        add_script(d, f, outer);
        return;
    }
    uint64_t start = f->start != 0 ? f->start : f->ip - 1;
    const struct lc_module *m = lc_module_find(start);
    uint64_t bias = m != NULL ? m->bias : 0;
    uint64_t site = (f->signal ? f->ip : f->ip - 1) - bias;
    uint32_t node = lc_state_child(lc_draft_node(d, d->n_items), LC_RAW_FRAME, module_id(m), flags,
                                   start - bias, site);
    if (node == LC_NONE)
        return;
    d->items[d->n_items++] = (struct lc_item){
        .activation = activation_of(f, outer),
        .site = m != NULL && site < LC_SITE_UNKNOWN ? (uint32_t)site : LC_SITE_UNKNOWN,
        .node = node,
    };
}

static void add_special(struct lc_draft *d, uint32_t kind, uint32_t ref, uint32_t activation,
                        uint32_t region) {
    uint32_t node = lc_state_child(lc_draft_node(d, d->n_items), kind, ref, 0, 0, 0);
    if (node == LC_NONE)
        return;
    d->items[d->n_items++] =
        (struct lc_item){.activation = activation, .node = node, .region = region};
}

/* The regions that are open on this thread are put where they were begun: after the activation
 * that began them, or as deep as that path and this one agree. Gives the items of frames [low,
 * high] with regions in between. */
static void build_items(struct lc_thread *t, struct lc_draft *d, const struct lc_frame *frames,
                        int n, int low, int high, uint32_t top) {
    const struct lc_item *old = NULL;
    uint32_t n_old = 0, k = 0;
    if (t->n_regions > 0) {
        old = t->regions[t->n_regions - 1].entry->items;
        n_old = t->regions[t->n_regions - 1].entry->n_items;
    }
    bool agree = true;
    int next = high, shown = 0;
    while (k < n_old && d->n_items < LC_ITEMS_MAX + LC_REGION_DEPTH) {
        if (agree && next >= low) {
            const struct lc_frame *outer = next + 1 < n ? &frames[next + 1] : NULL;
            /* A function that is its own region (-finstrument-functions) is both: the frame
             * decides. */
            if (old[k].activation == activation_of(&frames[next], outer)) {
                uint32_t before = d->n_items;
                add_frame(d, &frames[next], outer, next == high ? top : 0);
                if (d->n_items > before)
                    d->items[before].region = old[k].region;
                if (d->n_items > before && d->items[before].node == old[k].node) {
                    next--;
                    shown++;
                    k++;
                    continue;
                }
                d->n_items = before;
            }
        }
        if (old[k].region != 0)
            add_special(d, LC_RAW_REGION, lc_region_get(old[k].region - 1).name, old[k].activation,
                        old[k].region);
        else
            agree = false;
        k++;
    }
    for (; next >= low && shown < LC_ITEMS_MAX; next--, shown++)
        add_frame(d, &frames[next], next + 1 < n ? &frames[next + 1] : NULL,
                  next == high ? top : 0);
    if (next >= low)
        add_special(d, LC_RAW_CUT, 0, lc_activation(1, frames[low].sp), 0);
}

/* From n frames; complete: the outermost one is among them. */
static void use_frames(struct lc_thread *t, struct lc_draft *d, uint64_t frame, int n,
                       bool complete) {
    struct lc_frame *frames = d->frames;
    int n_checked = n, low = 0, high = 0;
    bool is_main = false;
    d->n_items = d->n_checks = 0;
    pthread_mutex_lock(&lc_core.lock);
    if (n > 0 && n < LC_FRAMES_MAX) {
        cut_frames(frames, n, &low, &high, &is_main);
        /* what starts a program or a thread is the same after every return from main */
        if (complete && high + 2 < n)
            n_checked = high + 2;
    }
    d->cacheable = n <= LC_FRAMES_CACHED &&
                   lc_unwind_checks(frame, frames, n_checked, d->checks, &d->n_checks);
    for (; d->n_checks % LC_CHECKS_AT_ONCE; d->n_checks++)
        d->checks[d->n_checks] = d->checks[d->n_checks - 1];
    pthread_mutex_unlock(&lc_core.lock);
    for (int i = 0; i < n; i++) {
        frames[i].script = 0;
        frames[i].outer.value = 0;
    }
    if (n > 0 && n < LC_FRAMES_MAX)
        n = lc_python_insert(t, frames, n, low, &high);
    pthread_mutex_lock(&lc_core.lock);
    if (n == LC_FRAMES_MAX) {
        add_special(d, LC_RAW_CUT, 0, lc_activation(1, 0), 0);
    } else if (n > 0) {
        if (t->in_callback)
            high = leave_mpi_out(frames, low, high);
        /* the start function of a thread lies where main does */
        uint32_t top = !is_main || !complete                               ? 0
                       : t->state->tid == atomic_load(&lc_core.state->pid) ? LC_RAW_NODE_MAIN
                                                                           : LC_RAW_NODE_START;
        build_items(t, d, frames, n, low, high, top);
    }
    pthread_mutex_unlock(&lc_core.lock);
}

void lc_draft_unwind(struct lc_thread *t, struct lc_draft *d, uint64_t frame) {
    bool complete;
    int n = lc_walk_stack(&d->walk, frame, d->frames, LC_FRAMES_MAX, &complete);
    t->counts.unwinds++;
    if (n < 0) {
        n = lc_unwind(frame, d->frames, LC_FRAMES_MAX, &complete);
        t->counts.by_libunwind++;
    }
    use_frames(t, d, frame, n, complete);
}

void lc_draft_copy(struct lc_draft *d, const struct lc_entry *e) {
    d->n_items = e->n_items;
    d->n_checks = e->n_checks;
    memcpy(d->items, e->items, e->n_items * sizeof(struct lc_item));
    memcpy(d->checks, e->checks, e->n_checks * sizeof(struct lc_check));
    d->cacheable = true;
}

void lc_draft_check(struct lc_thread *t, struct lc_draft *d, uint64_t frame) {
    bool complete, complete_too;
    struct lc_frame *walked = malloc(LC_FRAMES_MAX * sizeof *walked);
    int n = lc_unwind(frame, d->frames, LC_FRAMES_MAX, &complete);
    int n_walked =
        walked != NULL ? lc_walk_stack(&d->walk, frame, walked, LC_FRAMES_MAX, &complete_too) : -1;
    if (n_walked >= 0) {
        bool equal = n_walked == n && complete == complete_too;
        for (int i = 0; i < n && equal; i++) {
            const struct lc_frame *a = &d->frames[i], *b = &walked[i];
            equal = a->ip == b->ip && a->sp == b->sp && a->fp == b->fp && a->start == b->start &&
                    (i == 0 || a->ip_slot == b->ip_slot) && a->fp_slot == b->fp_slot;
        }
        t->counts.walked += (uint64_t)n_walked;
        t->counts.wrong += !equal;
    }
    free(walked);
    use_frames(t, d, frame, n, complete);
}

void lc_draft_caller(struct lc_thread *t, struct lc_draft *d, uint64_t ra, uint64_t frame) {
    d->n_items = d->n_checks = 0;
    d->cacheable = true;
    struct lc_frame f = {.ip = ra, .sp = frame + 16, .start = lc_walk_start(&d->walk, ra)};
    struct lc_frame outer = {.ip_slot = frame, .ip = f.start};
    pthread_mutex_lock(&lc_core.lock);
    if (t->callpath == LC_CALLPATH_UNWIND) /* other call paths are whole */
        add_special(d, LC_RAW_CUT, 0, LC_ACTIVATION_UNKNOWN, 0);
    for (uint32_t i = 0; i < t->n_regions; i++) {
        const struct lc_entry *e = t->regions[i].entry;
        const struct lc_item *last = &e->items[e->n_items - 1];
        if (e->n_items > 0 && last->region != 0)
            add_special(d, LC_RAW_REGION, lc_region_get(last->region - 1).name, last->activation,
                        last->region);
    }
    struct lc_frame both[2] = {f, outer};
    add_frame(d, &both[0], &both[1], 0);
    pthread_mutex_unlock(&lc_core.lock);
}

/* The words of a region's begin: one item more, the region itself. Its address decides whether the
 * innermost frame is the region. */
void lc_draft_region(struct lc_draft *d, uint32_t region, uint32_t serial) {
    struct lc_region_name name = lc_region_get(region);
    if (name.address != 0 && d->n_items > 0) {
        struct lc_item *inner = &d->items[d->n_items - 1];
        const struct lc_state_node *nodes = lc_state_nodes();
        const struct lc_module *m = lc_module_find(name.address);
        if (m != NULL && nodes[inner->node].kind == LC_RAW_FRAME &&
            nodes[inner->node].ref == m->id &&
            nodes[inner->node].offset == name.address - m->bias) {
            inner->region = region + 1;
            return;
        }
    }
    if (name.address !=
        0) { /* an inlined function: a frame of its own that the stack does not show */
        const struct lc_module *m = lc_module_find(name.address);
        uint64_t bias = m != NULL ? m->bias : 0;
        uint32_t node = lc_state_child(lc_draft_node(d, d->n_items), LC_RAW_FRAME, module_id(m), 0,
                                       name.address - bias, 0);
        if (node == LC_NONE)
            return;
        d->items[d->n_items++] = (struct lc_item){
            .activation = lc_activation(serial, 0), .node = node, .region = region + 1};
        return;
    }
    add_special(d, LC_RAW_REGION, name.name, lc_activation(serial, 0), region + 1);
}
