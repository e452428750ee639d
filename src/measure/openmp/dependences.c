#include "measure/openmp/tasks.h"

#include <stdlib.h>

#include "base/hash.h"
#include "measure/core/core.h"
#include "measure/openmp/omp_edges.h"

enum { FIRST_BUCKETS = 64, SPARE = 16 };

/* One reference more, of those that are to spare. */
static void keep(struct lc_omp_set *set, uint32_t *spare) {
    if (lc_unlikely(*spare == 0)) {
        atomic_fetch_add_explicit(&set->item.references, SPARE, memory_order_relaxed);
        *spare = SPARE;
    }
    --*spare;
}

/* spare: references to the set, NULL: none. */
static void tie(struct lc_omp_thread *o, struct lc_omp_ties *ties, struct lc_omp_set *set,
                uint32_t *spare) {
    struct lc_omp_link *link = NULL;
    if (set == NULL)
        return;
    if (lc_unlikely(ties->n == LC_OMP_TIES)) {
        link = lc_omp_take(&o->pools, LC_OMP_LINK, sizeof(struct lc_omp_link));
        if (link == NULL)
            return;
    }
    if (spare != NULL)
        keep(set, spare);
    else
        lc_omp_keep(&set->item);
    if (lc_likely(link == NULL)) {
        ties->first[ties->n++] = set;
        return;
    }
    link->set = set;
    link->next = ties->more;
    ties->more = link;
}

static void untie(struct lc_omp_thread *o, struct lc_omp_ties *ties) {
    for (struct lc_omp_link *link = ties->more, *next; link != NULL; link = next) {
        next = link->next;
        lc_omp_unkeep(&o->pools, link->set);
        lc_omp_give(&o->pools, &link->item);
    }
    ties->more = NULL;
    while (ties->n > 0)
        lc_omp_unkeep(&o->pools, ties->first[--ties->n]);
}

static uint32_t bucket_of(uint64_t address, uint32_t mask) {
    return (uint32_t)(lc_hash_key(address) >> 32) & mask;
}

static void grow(struct lc_omp_table *table) {
    uint32_t mask = table->mask * 2 + 1;
    struct lc_omp_entry **bigger = calloc(mask + 1u, sizeof(struct lc_omp_entry *));
    if (bigger == NULL)
        return;
    for (uint32_t i = 0; i <= table->mask; i++)
        for (struct lc_omp_entry *e = table->buckets[i], *next; e != NULL; e = next) {
            next = e->next;
            uint32_t at = bucket_of(e->address, mask);
            e->next = bigger[at];
            bigger[at] = e;
        }
    free(table->buckets);
    table->buckets = bigger;
    table->mask = mask;
}

static struct lc_omp_table *table_of(struct lc_omp_task *parent) {
    if (parent->table != NULL)
        return parent->table;
    struct lc_omp_table *table = calloc(1, sizeof *table);
    if (table == NULL)
        return NULL;
    table->mask = FIRST_BUCKETS - 1;
    table->buckets = calloc(FIRST_BUCKETS, sizeof(struct lc_omp_entry *));
    if (table->buckets == NULL) {
        free(table);
        return NULL;
    }
    parent->table = table;
    return table;
}

static struct lc_omp_entry *entry_of(struct lc_omp_thread *o, struct lc_omp_table *table,
                                     uint64_t address) {
    uint32_t at = bucket_of(address, table->mask);
    for (struct lc_omp_entry *e = table->buckets[at]; e != NULL; e = e->next)
        if (e->address == address)
            return e;
    struct lc_omp_entry *e = lc_omp_take(&o->pools, LC_OMP_ENTRY, sizeof(struct lc_omp_entry));
    if (e == NULL)
        return NULL;
    if (table->n++ > table->mask) {
        grow(table);
        at = bucket_of(address, table->mask);
    }
    e->address = address;
    if (table->all != NULL) { /* as any task before it */
        lc_omp_keep(&table->all->item);
        e->current = table->all;
        e->type = OMPT_DEPEND_OUT;
    }
    e->next = table->buckets[at];
    table->buckets[at] = e;
    return e;
}

static bool shares(int type) {
    return type == OMPT_DEPEND_IN || type == OMPT_DEPEND_INOUTSET ||
           type == OMPT_DEPEND_MUTEXINOUTSET;
}

static void depend_on(struct lc_omp_thread *o, struct lc_omp_task *task, struct lc_omp_table *table,
                      uint64_t address, int type) {
    struct lc_omp_entry *e = entry_of(o, table, address);
    if (e == NULL)
        return;
    if (e->current == NULL || e->type != type || !shares(type)) {
        struct lc_omp_set *set = lc_omp_set_new(o);
        if (set == NULL)
            return;
        /* nobody else knows of it */
        atomic_store_explicit(&set->item.references, 1 + SPARE, memory_order_relaxed);
        lc_omp_unkeep_some(&o->pools, e->before, 1 + e->spare_before);
        e->before = e->current;
        e->spare_before = e->spare_current;
        e->current = set;
        e->spare_current = SPARE;
        e->type = type;
    }
    tie(o, &task->after, e->before, &e->spare_before);
    if (type == OMPT_DEPEND_MUTEXINOUTSET) /* one after the other: after those that have ended */
        tie(o, &task->after, e->current, &e->spare_current);
    tie(o, &task->into, e->current, &e->spare_current);
}

/* After all tasks before it that depend on something, before all that follow. */
static void depend_on_all(struct lc_omp_thread *o, struct lc_omp_task *task,
                          struct lc_omp_table *table) {
    struct lc_omp_set *set = lc_omp_set_new(o);
    if (set == NULL)
        return;
    tie(o, &task->after, table->all, NULL);
    for (uint32_t i = 0; i <= table->mask; i++)
        for (struct lc_omp_entry *e = table->buckets[i]; e != NULL; e = e->next) {
            if (e->current != table->all)
                tie(o, &task->after, e->current, &e->spare_current);
            lc_omp_unkeep_some(&o->pools, e->before, 1 + e->spare_before);
            lc_omp_unkeep_some(&o->pools, e->current, 1 + e->spare_current);
            lc_omp_keep(&set->item);
            e->before = NULL;
            e->current = set;
            e->spare_before = e->spare_current = 0;
            e->type = OMPT_DEPEND_OUT;
        }
    lc_omp_unkeep(&o->pools, table->all);
    table->all = set; /* with the first reference */
    tie(o, &task->into, set, NULL);
}

static bool names_all_memory(const struct ompt_dependence *list, int n) {
    bool all = false;
    for (int i = 0; i < n; i++)
        all |= list[i].type == OMPT_DEPEND_OUT_ALL_MEMORY ||
               list[i].type == OMPT_DEPEND_INOUT_ALL_MEMORY;
    return all;
}

void lc_omp_depend(struct lc_omp_thread *o, struct lc_omp_task *task,
                   const struct ompt_dependence *list, int n) {
    struct lc_omp_table *table = task->parent != NULL ? table_of(task->parent) : NULL;
    if (lc_unlikely(table != NULL && names_all_memory(list, n))) {
        depend_on_all(o, task, table); /* nothing else that it names says more */
        return;
    }
    for (int i = 0; table != NULL && i < n; i++) {
        int type = list[i].type == OMPT_DEPEND_INOUT ? OMPT_DEPEND_OUT : list[i].type;
        uint64_t address = list[i].variable.value;
        bool again = false; /* the same address twice: as out, if any of them writes */
        for (int j = 0; j < n; j++) {
            if (j != i && list[j].variable.value == address) {
                again |= j < i;
                if (list[j].type != list[i].type)
                    type = OMPT_DEPEND_OUT;
            }
        }
        if (!again)
            depend_on(o, task, table, address, type);
    }
}

static void follow(struct lc_omp_thread *o, struct lc_omp_set *set, uint64_t now,
                   struct lc_omp_late *latest) {
    struct lc_omp_late late;
    if (lc_omp_edge_joint(o, &set->joint, now, &late) && late.when > latest->when)
        *latest = late;
}

struct lc_omp_late lc_omp_depend_begin(struct lc_omp_thread *o, struct lc_omp_task *task,
                                       uint64_t now) {
    struct lc_omp_late latest = {0};
    for (const struct lc_omp_link *link = task->after.more; link != NULL; link = link->next)
        follow(o, link->set, now, &latest);
    for (uint32_t i = task->after.n; i-- > 0;)
        follow(o, task->after.first[i], now, &latest);
    untie(o, &task->after);
    return latest;
}

void lc_omp_depend_end(struct lc_omp_thread *o, struct lc_omp_task *task,
                       const struct lc_omp_point *end) {
    for (const struct lc_omp_link *link = task->into.more; link != NULL; link = link->next)
        lc_omp_join(&link->set->joint, end);
    for (uint32_t i = task->into.n; i-- > 0;)
        lc_omp_join(&task->into.first[i]->joint, end);
    untie(o, &task->into);
}

void lc_omp_table_free(struct lc_omp_pools *mine, struct lc_omp_task *task) {
    struct lc_omp_table *table = task->table;
    for (uint32_t i = 0; table != NULL && i <= table->mask; i++)
        for (struct lc_omp_entry *e = table->buckets[i], *next; e != NULL; e = next) {
            next = e->next;
            lc_omp_unkeep_some(mine, e->current, 1 + e->spare_current);
            lc_omp_unkeep_some(mine, e->before, 1 + e->spare_before);
            lc_omp_give(mine, &e->item);
        }
    if (table != NULL) {
        lc_omp_unkeep(mine, table->all);
        free(table->buckets);
    }
    free(table);
    task->table = NULL;
}
