#include <string.h>

#include "base/choose.h"
#include "measure/core/core.h"
#include "measure/hot/hot.h"
#include "measure/callpath/entry.h"
#include "measure/core/state_write.h"
#include "measure/hot/locations.h"
#include "measure/core/thread.h"

/* Begin and end of regions: by name (latecomer.h), by function (-finstrument-functions); and
 * switching measurement on and off. */

enum { NAME_BYTES = 256 };

/* --- begin and end --- */

static void count_error(void) {
    atomic_fetch_add_explicit(&lc_core.n_region_errors, 1, memory_order_relaxed);
}

static void leave_event(struct lc_call *call) {
    struct lc_thread *t = call->thread;
    t->last = (call->mode & LC_MODE_ON) != 0 ? call->entry : t->off_entry;
    t->last_ticks = lc_larger(t->last_ticks, call->begin);
    t->depth = 0;
}

/* The node of the call tree; 0: not measured. */
static uint32_t region_begin(uint32_t region, bool named, void *frame, void *ra) {
    struct lc_call call;
    if (region == LC_NONE || !lc_enter_event(&call, lc_region_fn(region, false), frame, ra))
        return 0;
    struct lc_thread *t = call.thread;
    if (t->n_regions == LC_REGION_DEPTH || (call.mode & LC_MODE_ON) == 0) {
        /* Too deep, or stopped: the end finds no begin; only its number is kept. */
        t->n_regions_lost++;
        leave_event(&call);
        return 0;
    }
    uint32_t node = 0;
    if (call.entry != t->off_entry) {
        lc_row(t, call.entry->path, LC_RAW_CLASS_TIME)->count++;
        lc_hook_region_begin(&call, named);
        node = call.entry->path->node;
    }
    t->regions[t->n_regions++] = (struct lc_region_open){
        .entry = call.entry,
        .begin_ticks = call.begin,
        .name = region,
        .named = named,
        .traced = lc_trace_stream_of(&call) != NULL ? lc_tracing.window + 1 : 0};
    if (named && t->n_named++ == 0)
        atomic_store_explicit(&t->named_region, region + 1, memory_order_relaxed);
    t->ctx = call.entry->serial;
    leave_event(&call);
    return node != LC_NONE ? node : 0;
}

static void close_region(struct lc_thread *t, struct lc_call *call) {
    struct lc_region_open *open = &t->regions[--t->n_regions];
    if (open->named && --t->n_named == 0)
        atomic_store_explicit(&t->named_region, 0, memory_order_relaxed);
    if (open->entry != t->off_entry && (call->mode & LC_MODE_ON) != 0) {
        struct lc_state_row *row = lc_row(t, open->entry->path, LC_RAW_CLASS_TIME);
        uint64_t ticks = call->begin - open->begin_ticks;
        if (ticks < row->min)
            row->min = ticks;
        if (ticks > row->max)
            row->max = ticks;
    }
    lc_hook_region_end(call, open);
    t->ctx = t->n_regions > 0 ? t->regions[t->n_regions - 1].entry->serial : 0;
}

/* now: ticks, or 0: not known. */
static void region_end_at(uint32_t region, void *frame, void *ra, uint64_t now) {
    struct lc_thread *t = lc_self;
    if (region == LC_NONE || t == NULL || t->depth != 0)
        return;
    uint32_t i = t->n_regions;
    while (i > 0 && t->regions[i - 1].name != region)
        i--;
    if (i == 0) {
        if (t->n_regions_lost > 0)
            t->n_regions_lost--;
        else
            count_error();
        return;
    }
    struct lc_call call;
    if (!lc_enter_event_at(&call, lc_region_fn(region, true), frame, ra, now))
        return;
    while (t->n_regions > i) { /* begun inside, never ended */
        close_region(t, &call);
        count_error();
    }
    close_region(t, &call);
    leave_event(&call);
}

static void region_end(uint32_t region, void *frame, void *ra) {
    region_end_at(region, frame, ra, 0);
}

uint32_t lc_region_enter(uint32_t region, void *frame, void *ra) {
    return region_begin(region, false, frame, ra);
}

uint32_t lc_region_enter_late(uint32_t region, void *frame, void *ra, uint64_t ago) {
    struct lc_thread *t = lc_self;
    const uint32_t whole = LC_MODE_LIVE | LC_MODE_ON, modes = whole | LC_MODE_RESUMED;
    if (t == NULL || (atomic_load_explicit(&t->mode, memory_order_relaxed) & modes) != whole)
        return 0;
    t->last_ticks += ago; /* as much less belongs to what was before */
    uint32_t node = region_begin(region, false, frame, ra);
    t->last_ticks -= ago;
    if (node != 0)
        t->regions[t->n_regions - 1].begin_ticks -= ago;
    return node;
}

void lc_region_leave(uint32_t region, void *frame, void *ra, uint64_t now) {
    region_end_at(region, frame, ra, now);
}

void lc_api_begin(const char *name) {
    if (name != NULL)
        region_begin(lc_region_by_name(name), true, __builtin_frame_address(0),
                     __builtin_return_address(0));
}

void lc_api_end(const char *name) {
    if (name != NULL)
        region_end(lc_region_by_name(name), __builtin_frame_address(0),
                   __builtin_return_address(0));
}

/* Fortran passes the length after the arguments; trailing blanks do not belong to the name. */
static void fortran_name(char *out, const char *name, size_t length) {
    if (length > NAME_BYTES - 1)
        length = NAME_BYTES - 1;
    while (length > 0 && name[length - 1] == ' ')
        length--;
    memcpy(out, name, length);
    out[length] = '\0';
}

void lc_api_begin_fortran(const char *name, size_t length) {
    char text[NAME_BYTES];
    fortran_name(text, name, length);
    region_begin(lc_region_by_name(text), true, __builtin_frame_address(0),
                 __builtin_return_address(0));
}

void lc_api_end_fortran(const char *name, size_t length) {
    char text[NAME_BYTES];
    fortran_name(text, name, length);
    region_end(lc_region_by_name(text), __builtin_frame_address(0), __builtin_return_address(0));
}

void lc_api_function_enter(void *function, void *site) {
    (void)site;
    region_begin(lc_region_by_address((uint64_t)function), false, __builtin_frame_address(0),
                 __builtin_return_address(0));
}

void lc_api_function_exit(void *function, void *site) {
    (void)site;
    region_end(lc_region_by_address((uint64_t)function), __builtin_frame_address(0),
               __builtin_return_address(0));
}

/* --- on and off --- */

_Atomic uint64_t lc_resumed_ticks;

/* Switching off is an event: the time before it is booked. Other threads follow with their next
 * call; what they did since their last one belongs to nobody then (the root). Regions that are open
 * stay open. */
void lc_control(bool on, void *frame, void *ra) {
    struct lc_call call;
    if (!lc_enter_event(&call, LC_FN_CONTROL, frame, ra))
        return;
    struct lc_thread *t = call.thread;
    bool was = (call.mode & LC_MODE_ON) != 0;
    if (was == on) {
        leave_event(&call);
        return;
    }
    pthread_mutex_lock(&lc_core.lock);
    lc_core.n_switches++;
    pthread_mutex_unlock(&lc_core.lock);
    if (on)
        atomic_store_explicit(&lc_resumed_ticks, call.begin, memory_order_relaxed);
    else
        lc_parts_stop(&call);
    lc_hook_control(&call, on);
    if (on)
        lc_mode_change(0, LC_MODE_ON | LC_MODE_RESUMED);
    else
        lc_mode_change(LC_MODE_ON, 0);
    t->last = t->off_entry;
    t->last_ticks = call.begin;
    t->depth = 0;
}

void lc_api_start(void) {
    lc_control(true, __builtin_frame_address(0), __builtin_return_address(0));
}

void lc_api_stop(void) {
    lc_control(false, __builtin_frame_address(0), __builtin_return_address(0));
}
