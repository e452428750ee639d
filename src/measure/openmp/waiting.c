#include "measure/openmp/waiting.h"

#include "measure/clocks/call_state.h"
#include "measure/openmp/nodes.h"

void lc_omp_wait_begin(struct lc_omp_thread *o, bool in_barrier, uint64_t now) {
    if (o->task == NULL)
        return;
    o->task->came = now;
    o->task->elsewhere = o->task->back = 0;
    o->task->in_barrier = in_barrier;
}

void lc_omp_wait_book(struct lc_omp_thread *o, const struct lc_omp_task *task, uint32_t kind,
                      const struct lc_omp_late *last) {
    uint64_t waited = last->when > task->came ? last->when - task->came : 0;
    lc_omp_waited(o, o->at, kind, waited > task->elsewhere ? waited - task->elsewhere : 0, last);
}

void lc_omp_wait_end_tasks(struct lc_omp_thread *o, const struct lc_omp_late *last) {
    struct lc_omp_task *task = o->task;
    uint64_t from = task->left > last->when ? task->left : last->when;
    if (task->came != 0 && task->back > from)
        task->elsewhere -= task->back - from;
    if (task->came != 0)
        lc_omp_wait_book(o, task, LC_MEASURED_OMP_TASKWAIT, last);
    task->came = 0;
}
