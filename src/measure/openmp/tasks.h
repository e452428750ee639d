/* Explicit tasks: their life, and the clock that each has. */
#ifndef LC_MEASURE_OPENMP_TASKS_H
#define LC_MEASURE_OPENMP_TASKS_H

#include "measure/openmp/ompt.h"
#include "measure/openmp/omp_thread.h"

/* A task record of this thread; NULL: no memory. */
struct lc_omp_task *lc_omp_task_new(struct lc_omp_thread *o);
void lc_omp_task_unkeep(struct lc_omp_thread *o, struct lc_omp_task *task);

/* The barrier that waits for what this task creates now. */
struct lc_omp_barrier *lc_omp_barrier_of(const struct lc_omp_task *task);
/* Joins what that barrier waits for; `number` is the barrier's; a thread that has come, or (false)
 * a task that has ended. */
void lc_omp_join_barrier(struct lc_omp_region *region, uint32_t number,
                         const struct lc_omp_point *point, bool thread);

/* Longest chain of useful work with a clock per task, ticks, in the interval that is about to end;
 * 0: no explicit task ran. */
uint64_t lc_omp_task_chain(uint32_t interval);

/* Callbacks. */
void lc_omp_task_create(union ompt_data *creator, const struct ompt_frame *frame,
                        union ompt_data *data, int flags, int has_dependences, const void *code);
void lc_omp_task_schedule(union ompt_data *before, int status, union ompt_data *next);
void lc_omp_dependences(union ompt_data *data, const struct ompt_dependence *list, int n);

#endif
