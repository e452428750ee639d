/* Dependences between the children of a task (depend clauses), by the rules of their types.
 *
 * Per address there is a current set of tasks and the one before it. Tasks of one set are not
 * ordered among each other (in, inoutset), exclude each other (mutexinoutset), or there is but one
 * (out, inout); each is ordered after all tasks of the set before. A task whose type is that of
 * the current set joins it, any other begins a new one. A set gathers the ends of its tasks; the
 * runtime starts a task only when all tasks of the set before have ended. A task with `out` of
 * omp_all_memory is the only one of a set that becomes the current one of every address, also of
 * those to come. */
#ifndef LC_MEASURE_OPENMP_DEPENDENCES_H
#define LC_MEASURE_OPENMP_DEPENDENCES_H

#include "measure/openmp/omp_thread.h"
#include "measure/openmp/ompt.h"

struct lc_omp_link {
    struct lc_omp_item item;
    struct lc_omp_link *next;
    struct lc_omp_set *set;
};

struct lc_omp_entry { /* an address */
    struct lc_omp_item item;
    struct lc_omp_entry *next; /* same hash */
    uint64_t address;
    int type; /* of the current set */
    struct lc_omp_set *current, *before;
};

struct lc_omp_table {
    uint32_t n, mask;
    struct lc_omp_set *all; /* of the last task that depends on all memory; NULL: none yet */
    struct lc_omp_entry **buckets;
};

/* The task is created, and does not run yet. */
void lc_omp_depend(struct lc_omp_thread *o, struct lc_omp_task *task,
                   const struct ompt_dependence *list, int n);
/* It begins to run, or (it is a taskwait) its waiting is over. The end of the last task that it
 * waited for; when 0: there was none. */
struct lc_omp_late lc_omp_depend_begin(struct lc_omp_thread *o, struct lc_omp_task *task,
                                       uint64_t now);
/* It has ended: those that depend on it may run. */
void lc_omp_depend_end(struct lc_omp_thread *o, struct lc_omp_task *task,
                       const struct lc_omp_point *end);
/* Frees what the task's children depend on. */
void lc_omp_table_free(struct lc_omp_pools *mine, struct lc_omp_task *task);

#endif
