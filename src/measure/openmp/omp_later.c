#include "measure/openmp/omp_later.h"

#include <string.h>

#include "measure/callpath/entry.h"
#include "measure/clocks/backlog.h"
#include "measure/clocks/call_state.h"
#include "measure/clocks/clocks.h"
#include "measure/core/core.h"
#include "measure/core/thread.h"
#include "measure/openmp/nodes.h"
#include "measure/openmp/omp_clocks.h"

struct event {
    struct lc_omp_thread *o;
    uint64_t now;
    void *record, *other; /* with a reference each */
    uint32_t node, what;
};
_Static_assert(sizeof(struct event) <= LC_EVENT_DATA, "it has to fit");

static void happens(struct lc_clk_thread *k, const struct event *e) {
    struct lc_omp_thread *o = e->o;
    struct lc_omp_task *task = e->record;
    struct lc_omp_set *set = e->record;
    switch (e->what) {
    case LC_OMP_BEGINS:
        lc_omp_clock_begins(o, k, e->now);
        o->running = task;
        break;
    case LC_OMP_TAKES_OVER:
        o->seen_own = o->seen_useful = 0;
        o->running = NULL;
        break;
    case LC_OMP_WORKED:
        if (!k->in_runtime)
            lc_omp_clock_worked(o, k, e->now, e->node);
        break;
    case LC_OMP_ENTERS:
        if (!k->in_runtime)
            lc_omp_clock_enters(o, k, e->now, e->node);
        break;
    case LC_OMP_LEAVES:
        if (k->in_runtime)
            lc_omp_clock_leaves(o, k, e->now);
        break;
    case LC_OMP_REFUSED:
        k->in_runtime = 0;
        break;
    case LC_OMP_RUNS:
    case LC_OMP_RUNS_FIRST: {
        struct lc_omp_task *before = o->running;
        o->running = task;
        lc_omp_clock_runs(o, k, before, task, e->what == LC_OMP_RUNS_FIRST);
        break;
    }
    case LC_OMP_FIRST_TASK:
        o->running = task;
        lc_omp_clock_first_task(k, task);
        break;
    case LC_OMP_BACK:
        o->running = task;
        if (task != NULL)
            lc_omp_clock_back(o, task);
        break;
    case LC_OMP_FOLLOWS:
        lc_omp_clock_follows(o, k, task);
        break;
    case LC_OMP_SHARE_ENDED:
        lc_omp_clock_share_ended(o, task, e->other);
        if (o->running == task)
            o->running = NULL;
        break;
    case LC_OMP_TASK_ENDED:
        lc_omp_clock_task_ended(o, task);
        break;
    case LC_OMP_UNDEFERRED:
        lc_omp_clock_undeferred(task, e->other);
        break;
    case LC_OMP_TELLS:
        lc_omp_clock_point(o, k, e->now, &set->joint.point);
        set->joint.any = true;
        set->joint.point.late = (struct lc_omp_late){e->now, k->index, e->node};
        break;
    case LC_OMP_EDGE:
        if (set->joint.any)
            lc_omp_clock_edge(o, k, &set->joint.point, e->now);
        break;
    case LC_OMP_JOINS: {
        const struct lc_omp_set *from = e->other;
        if (from->joint.any)
            lc_omp_clock_join(&set->joint, &from->joint.point);
        break;
    }
    }
}

/* Of whoever runs events: all that it gives back goes to the owners' lists. */
static struct lc_omp_pools nobody;

static void happens_later(struct lc_call *call, struct lc_clk_thread *k, void *data) {
    (void)call;
    struct event e;
    memcpy(&e, data, sizeof e);
    struct lc_omp_thread *o = e.o;
    struct lc_omp_task *before = o->running;
    bool kept = o->running_kept;
    happens(k, &e);
    if (o->running != before || !kept) {
        if (o->running != NULL)
            lc_omp_keep(&o->running->item);
        o->running_kept = o->running != NULL;
        if (kept)
            lc_omp_unkeep(&nobody, before);
    }
    lc_omp_unkeep(&nobody, e.record);
    lc_omp_unkeep(&nobody, e.other);
}

LC_COLD void lc_omp_later_at(struct lc_omp_thread *o, enum lc_omp_change what, void *record,
                             void *other, uint64_t now, uint32_t node) {
    static const struct lc_event_type type = {.run = happens_later};
    struct lc_clk_thread *k = o->t->clocks;
    if (k == NULL)
        return;
    if (record != NULL)
        lc_omp_keep(record);
    if (other != NULL)
        lc_omp_keep(other);
    struct event e = {o, now, record, other, node, what};
    struct lc_entry entry = {.items = NULL};
    struct lc_call call = {.entry = &entry, .begin = now != 0 ? now : k->seen};
    call.end = call.begin;
    lc_clk_backlog_submit(&type, k, &call, &e, sizeof e);
}

void lc_omp_later(struct lc_omp_thread *o, enum lc_omp_change what, void *record, void *other,
                  uint64_t now) {
    lc_omp_later_at(o, what, record, other, now, o->at != NULL ? o->at->node : 0);
}

/* What a record that is not used any more refers to. */
static void forget(struct lc_omp_pools *mine, struct lc_omp_item *item) {
    struct lc_omp_region *region = (struct lc_omp_region *)item;
    if (item->kind == LC_OMP_REGION) {
        lc_omp_unkeep(mine, region->fork.later);
        for (size_t i = 0; i < 2; i++)
            lc_omp_unkeep(mine, region->barriers[i].joint.point.later);
    } else if (item->kind == LC_OMP_GROUP) {
        lc_omp_unkeep(mine, ((struct lc_omp_group *)item)->joint.point.later);
    } else if (item->kind == LC_OMP_SET) {
        lc_omp_unkeep(mine, ((struct lc_omp_set *)item)->joint.point.later);
    }
    lc_omp_give(mine, item);
}

static struct lc_omp_set *record_new(struct lc_omp_thread *o) {
    lc_omp_at_end(LC_OMP_REGION, forget);
    lc_omp_at_end(LC_OMP_GROUP, forget);
    lc_omp_at_end(LC_OMP_SET, forget);
    return lc_omp_set_new(o);
}

LC_COLD void lc_omp_join_later(struct lc_omp_joint *joint, struct lc_omp_set *from) {
    struct lc_omp_thread *o = lc_self != NULL ? lc_self->openmp : NULL;
    if (!joint->any && joint->point.later != NULL) {
        lc_omp_unkeep(&nobody, joint->point.later);
        joint->point.later = NULL;
    }
    if (o == NULL || from == NULL)
        return;
    if (joint->point.later == NULL)
        joint->point.later = record_new(o);
    if (joint->point.later != NULL)
        lc_omp_later(o, LC_OMP_JOINS, joint->point.later, from, 0);
}

LC_COLD struct lc_omp_set *lc_omp_point_later(struct lc_omp_thread *o, uint64_t now) {
    struct lc_omp_set *set = record_new(o);
    if (set != NULL)
        lc_omp_later(o, LC_OMP_TELLS, set, NULL, now);
    return set;
}
