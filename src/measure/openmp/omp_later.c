#include "measure/openmp/omp_later.h"

#include <string.h>

#include "measure/clocks/backlog.h"
#include "measure/clocks/call_state.h"
#include "measure/clocks/clocks.h"
#include "measure/core/core.h"
#include "measure/core/thread.h"
#include "measure/openmp/nodes.h"

struct event {
    struct lc_omp_thread *o;
    uint64_t now;
    void *record, *other; /* with a reference each */
    uint32_t node;
    enum lc_omp_change what;
};
_Static_assert(sizeof(struct event) <= LC_EVENT_DATA, "it has to fit");

/* Of whoever runs events: all that it gives back goes to the owners' lists. */
static struct lc_omp_pools nobody = {.of_many = true};

static void happen(struct lc_call *call, struct lc_clk_thread *k, void *data) {
    (void)call;
    struct event e;
    memcpy(&e, data, sizeof e);
    struct lc_omp_thread *o = e.o;
    struct lc_omp_task *before = o->running;
    bool kept = o->running_kept;
    lc_omp_happens(o, k, e.what, e.record, e.other, e.now, e.node);
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
    static const struct lc_event_type type = {.run = happen};
    struct lc_clk_thread *k = o->t->clocks;
    if (k == NULL)
        return;
    if (record != NULL)
        lc_omp_keep(record);
    if (other != NULL)
        lc_omp_keep(other);
    struct event e = {o, now, record, other, node, what};
    uint64_t begin = now != 0 ? now : k->seen;
    const struct lc_event_at where = {.begin = begin, .end = begin};
    lc_clk_backlog_submit_at(&type, k, &where, &e, sizeof e);
}

/* What a record that is not used any more refers to. */
static void forget(struct lc_omp_pools *mine, struct lc_omp_item *item) {
    struct lc_omp_region *region = (struct lc_omp_region *)item;
    if (item->kind == LC_OMP_REGION) {
        lc_omp_unkeep(mine, region->fork.later);
        for (size_t i = 0; i < 2; i++) {
            lc_omp_unkeep(mine, region->barriers[i].joint.point.later);
            region->barriers[i].joint.point.later = NULL;
        }
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
        lc_omp_later_at(o, LC_OMP_JOINS, joint->point.later, from, 0, 0);
}

LC_COLD struct lc_omp_set *lc_omp_point_later(struct lc_omp_thread *o, uint64_t now) {
    struct lc_omp_set *set = record_new(o);
    if (set != NULL)
        lc_omp_later_at(o, LC_OMP_TELLS, set, NULL, now, lc_omp_node_now(o));
    return set;
}
