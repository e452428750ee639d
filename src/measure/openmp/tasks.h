/* Explicit tasks: their life, and the clock that each has. */
#ifndef LC_MEASURE_OPENMP_TASKS_H
#define LC_MEASURE_OPENMP_TASKS_H

#include "measure/openmp/ompt.h"
#include "measure/openmp/omp_thread.h"

/* A task record of this thread; NULL: no memory. */
struct lc_omp_task *lc_omp_task_new(struct lc_omp_thread *o);
/* The task has ended: it creates no more children, and is one user of its record less. */
void lc_omp_task_over(struct lc_omp_thread *o, struct lc_omp_task *task);
/* Gives back the references to a task that children of it have left to this thread. */
void lc_omp_parent_unkeep(struct lc_omp_thread *o);
/* One user of the record less; the last one frees it. mine: of the calling thread. */
void lc_omp_task_unkeep(struct lc_omp_pools *mine, struct lc_omp_task *task);

/* A worker has come to what may be the last barrier of its region: takes its task out of the
 * runtime's `data` of it, which may be NULL. */
void lc_omp_task_hide(struct lc_omp_thread *o, union ompt_data *data);
/* Puts it back, in the next callback that has `data` (or NULL); nothing if none was taken out. */
void lc_omp_task_unhide(struct lc_omp_thread *o, union ompt_data *data);

/* Raises what barrier `number` of the region waits for to this point: of a thread that has come, or
 * (thread false) of a task that has ended. */
void lc_omp_join_barrier(struct lc_omp_region *region, uint32_t number,
                         const struct lc_omp_point *point, bool thread);

/* Longest chain of useful work with a clock per task, ticks, in the interval that is about to end;
 * 0: no explicit task ran. Raises what-if clocks [LC_WHATIF_MAX] to those of tasks that ended. */
uint64_t lc_omp_task_chain(uint32_t interval, uint64_t *whatif);
/* The same of the phase that ends now (ticks). */
uint64_t lc_omp_phase_chain(uint32_t phase, uint64_t now);
/* Callback: a task creates another one; data: the runtime's word for the new one. */
void lc_omp_task_create(union ompt_data *creator, const struct ompt_frame *frame,
                        union ompt_data *data, int flags, int has_dependences, const void *code);
/* Callback: the thread goes from one task to another; status: why (enum ompt_task_status). */
void lc_omp_task_schedule(union ompt_data *before, int status, union ompt_data *next);
/* Callback: dependences of a task, right after its creation, or of an iteration (doacross.h). */
void lc_omp_dependences(union ompt_data *data, const struct ompt_dependence *list, int n);

#endif
