/* Explicit tasks: their life, and the clock that each has. */
#ifndef LC_MEASURE_OPENMP_TASKS_H
#define LC_MEASURE_OPENMP_TASKS_H

#include <stdbool.h>

#include "measure/openmp/ompt.h"
#include "measure/openmp/omp_thread.h"

/* A task record of this thread; NULL: no memory. */
struct lc_omp_task *lc_omp_task_new(struct lc_omp_thread *o);
/* One user of the record more, of the thread that runs the task. */
void lc_omp_task_keep(struct lc_omp_task *task);
/* Takes back what lc_omp_task_keep gave, on the thread that runs the task. */
static inline void lc_omp_task_kept(struct lc_omp_task *task) {
    task->spare++;
}
/* The task has ended: it creates no more children, and is one user of its record less. */
void lc_omp_task_over(struct lc_omp_thread *o, struct lc_omp_task *task);
/* Gives back the references to a task that children of it have left to this thread. */
void lc_omp_parent_unkeep(struct lc_omp_thread *o);

/* A worker has come to what may be the last barrier of its region: takes its task out of the
 * runtime's `data` of it, which may be NULL. */
void lc_omp_task_hide(struct lc_omp_thread *o, union ompt_data *data);
/* Puts it back, in the next callback that has `data` (or NULL); nothing if none was taken out. */
void lc_omp_task_unhide(struct lc_omp_thread *o, union ompt_data *data);

/* The thread comes to a barrier: tells of tasks that it has ended before. */
void lc_omp_tell_ended(struct lc_omp_thread *o);

/* Longest chain of useful work with a clock per task, ticks, in the interval that is about to end;
 * 0: no explicit task ran. Raises what-if clocks [LC_WHATIF_MAX] to those of tasks that ended. */
uint64_t lc_omp_task_chain(uint32_t interval, uint64_t *whatif);
/* Longest chain of useful work with a clock per task, ticks, in the phase that ends now; 0: no
 * explicit task ran. */
uint64_t lc_omp_phase_chain(uint32_t phase, uint64_t now);
/* Callback: a task creates another one; data: the runtime's word for the new one. */
void lc_omp_task_create(union ompt_data *creator, const struct ompt_frame *frame,
                        union ompt_data *data, int flags, int has_dependences, const void *code);
/* Callback: the thread goes from one task to another; status: why (enum ompt_task_status). */
void lc_omp_task_schedule(union ompt_data *before, int status, union ompt_data *next);
/* Callback: dependences of a task, right after its creation, or of an iteration. */
void lc_omp_dependences(union ompt_data *data, const struct ompt_dependence *list, int n);

/* Ordered loops whose iterations wait for others (`ordered depend(sink: ..)`, until these come to
 * `ordered depend(source)`): the edge from the source, and the waiting, which is that of `ordered`.
 *
 * The runtime tells of the source before the others may go on, and of a sink when its waiting is
 * over, both with the iteration, counted from 0 in each dimension; of the begin of the waiting the
 * preloaded library tells, which stands between the program and the runtime's function. */

/* The thread is at the source of an iteration, or its waiting for one is over; list: n dimensions
 * of the loop. */
void lc_omp_iteration(struct lc_omp_thread *o, const struct ompt_dependence *list, int n);

/* The calling thread begins to wait for an iteration, or (false) is back from the runtime, also
 * where there is no such iteration; code: where the program called it. */
void lc_omp_sink(bool begins, const void *code);

/* Dependences between the children of a task (depend clauses), by the rules of their types.
 *
 * Per address there is a current set of tasks and the one before it. Tasks of one set are not
 * ordered among each other (in, inoutset), exclude each other (mutexinoutset), or there is but one
 * (out, inout); each is ordered after all tasks of the set before. A task whose type is that of
 * the current set joins it, any other begins a new one. A set gathers the ends of its tasks; the
 * runtime starts a task only when all tasks of the set before have ended. A task with `out` of
 * omp_all_memory is the only one of a set that becomes the current one of every address, also of
 * those to come. */

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
    /* references to them that are there for tasks to come, without an atomic operation each */
    uint32_t spare_current, spare_before;
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

/* Per task construct: the longest chain of useful work of its tasks (span), and how many of them
 * ran at once. A construct is a node of the call tree; the first LC_OMP_SPANS that create a task
 * have a span. */

/* Of the construct at this node of the thread: 1 + index; 0: it has none. */
uint32_t lc_omp_span_of(struct lc_omp_node *node);
/* The task begins to run, or goes on. */
void lc_omp_span_runs(struct lc_omp_task *task);
/* It ends, or is put down. */
void lc_omp_span_stops(struct lc_omp_task *task);
/* The task has ended on this thread: its construct's chain, in the thread's interval, may be the
 * longest. */
void lc_omp_span_ended(struct lc_omp_thread *o, const struct lc_omp_task *task);
/* Adds the spans of the interval, which is about to end, to what is known, and begins anew. */
void lc_omp_spans_close(void);
/* The measurement ends: books all of it. */
void lc_omp_spans_book(struct lc_omp_thread *o);

/* Spans of tasks and points, of which n are there: n at least, more of them 0. */
static inline void lc_omp_spans_have(uint64_t *spans, uint32_t *have, uint32_t n) {
    while (*have < n)
        spans[(*have)++] = 0;
}

/* To the larger of both; `from` has n. */
static inline void lc_omp_spans_raise(uint64_t *to, uint32_t *have, const uint64_t *from,
                                      uint32_t n) {
    lc_omp_spans_have(to, have, n);
    for (uint32_t i = 0; i < n; i++)
        to[i] = from[i] > to[i] ? from[i] : to[i];
}

/* Waiting of a task in a barrier, taskwait or taskgroup: since when, and what its thread did
 * meanwhile. Called by the callbacks of these constructs (team.c, tasks.c). */

/* The task that the thread runs begins to wait; now: ticks. */
void lc_omp_wait_begin(struct lc_omp_thread *o, bool in_barrier, uint64_t now);
/* Books how long `task` waited for the last one since it came (task->came, ticks), less what its
 * thread did meanwhile; kind: enum lc_measured_wait. */
void lc_omp_wait_book(struct lc_omp_thread *o, const struct lc_omp_task *task, uint64_t came,
                      uint32_t kind, const struct lc_omp_late *last);
/* The thread's task has waited for other tasks, the last of which ended at `last` (when 0: none):
 * what the thread did after that was no waiting for it. Books it as taskwait. */
void lc_omp_wait_end_tasks(struct lc_omp_thread *o, const struct lc_omp_late *last);

#endif
