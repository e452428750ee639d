/* Threads, parallel regions, barriers and the other places where threads of a team synchronise. */
#ifndef LC_MEASURE_OPENMP_TEAM_H
#define LC_MEASURE_OPENMP_TEAM_H

#include <stddef.h>

#include "measure/openmp/ompt.h"

/* Callbacks. */
void lc_omp_thread_begin(int kind, union ompt_data *data);
void lc_omp_thread_end(union ompt_data *data);
void lc_omp_parallel_begin(union ompt_data *task, const struct ompt_frame *frame,
                           union ompt_data *region, unsigned wanted, int flags, const void *code);
void lc_omp_parallel_end(union ompt_data *region, union ompt_data *task, int flags,
                         const void *code);
void lc_omp_implicit_task(int endpoint, union ompt_data *region, union ompt_data *task,
                          unsigned team, unsigned number, int flags);
void lc_omp_sync_region(int kind, int endpoint, union ompt_data *region, union ompt_data *task,
                        const void *code);
void lc_omp_sync_region_wait(int kind, int endpoint, union ompt_data *region, union ompt_data *task,
                             const void *code);
void lc_omp_work(int kind, int endpoint, union ompt_data *region, union ompt_data *task,
                 uint64_t count, const void *code);
void lc_omp_masked(int endpoint, union ompt_data *region, union ompt_data *task, const void *code);

/* The measurement ends: waiting that is not over is booked. */
void lc_omp_book_open(void);

#endif
