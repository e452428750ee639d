/* Threads, parallel regions, barriers and the other places where threads of a team synchronise. */
#ifndef LC_MEASURE_OPENMP_TEAM_H
#define LC_MEASURE_OPENMP_TEAM_H

#include <stdint.h>
#include <stdbool.h>
#include <stddef.h>

#include "measure/openmp/ompt.h"

struct lc_state_row;

/* Callback: a thread of the runtime begins; kind: initial or worker. */
void lc_omp_thread_begin(int kind, union ompt_data *data);
/* Callback: a thread of the runtime ends; its open time is booked. */
void lc_omp_thread_end(union ompt_data *data);
/* Callback: a team is forked; wanted: threads that were asked for. */
void lc_omp_parallel_begin(union ompt_data *task, const struct ompt_frame *frame,
                           union ompt_data *region, unsigned wanted, int flags, const void *code);
/* Callback: a parallel region has ended, on the thread that forked it. */
void lc_omp_parallel_end(union ompt_data *region, union ompt_data *task, int flags,
                         const void *code);
/* Callback: a thread begins or ends its share in a team; number: its own, team: how many. */
void lc_omp_implicit_task(int endpoint, union ompt_data *region, union ompt_data *task,
                          unsigned team, unsigned number, int flags);
/* Callback: a thread goes into or out of a barrier, taskwait or taskgroup. */
void lc_omp_sync_region(int kind, int endpoint, union ompt_data *region, union ompt_data *task,
                        const void *code);
/* Callback: a thread begins or ends to wait in a barrier, taskwait or taskgroup. */
void lc_omp_sync_region_wait(int kind, int endpoint, union ompt_data *region, union ompt_data *task,
                             const void *code);
/* No callback: lc_omp_sync_region_wait with the begin of a taskgroup's, known later: since then
 * (ticks) the thread has done nothing that was told. */
void lc_omp_taskgroup_waits(uint64_t since, const void *code);
/* Callback: a thread goes into or out of a worksharing construct. */
void lc_omp_work(int kind, int endpoint, union ompt_data *region, union ompt_data *task,
                 uint64_t count, const void *code);
/* Callback: a thread goes into or out of a masked region. */
void lc_omp_masked(int endpoint, union ompt_data *region, union ompt_data *task, const void *code);

/* The measurement ends: waiting that is not over is booked. */
void lc_omp_book_open(void);
/* The measurement has ended, and all clocks are known: spans of task constructs are booked. */
void lc_omp_book_spans(void);
/* Measurement stops, now (ticks): books what workers have waited at the ends of regions that this
 * thread forked, of which they hear when the next one begins. */
void lc_omp_book_joined(uint64_t now);

/* No callback: a function of the runtime begins, in which the thread waits at a barrier or not. */
void lc_omp_barrier_perhaps(const void *code);
/* It is over: which of them it was. */
void lc_omp_barrier_was_there(bool was);

/* Locks, critical sections, ordered: an edge from each release to the next acquire, and waiting for
 * whoever held it. */

/* Before any callback; every_release: the runtime says that it reports each release of a lock. */
void lc_omp_mutexes_init(bool every_release);
/* Callback: a lock is made; wait: what the runtime calls the lock. */
void lc_omp_lock_init(int kind, unsigned hint, unsigned implementation, uint64_t wait,
                      const void *code);
/* Callback: a thread wants the lock, and may wait for it. */
void lc_omp_mutex_acquire(int kind, unsigned hint, unsigned implementation, uint64_t wait,
                          const void *code);
/* Callback: the thread has got the lock. */
void lc_omp_mutex_acquired(int kind, uint64_t wait, const void *code);
/* Callback: the thread has released the lock. */
void lc_omp_mutex_released(int kind, uint64_t wait, const void *code);
/* Callback: the owner takes or releases a nested lock once more. */
void lc_omp_nest_lock(int endpoint, uint64_t wait, const void *code);

/* ---- regions of one thread of which only their time is measured */

/* It begins, outside of all others; frame: of the runtime's function. To be handed to
 * lc_omp_plain_end; 0: nothing is told. */
uint32_t lc_omp_plain_begin(void *frame, const void *code);
/* One that is counted only, in this row. */
void lc_omp_plain_counts(struct lc_state_row *row);
/* It is over. */
void lc_omp_plain_end(uint32_t opened, void *frame, const void *code);

#endif
