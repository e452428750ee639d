/* Where clocks lag behind the program (clocks/backlog.h): what happens to the clocks of a thread in
 * OpenMP waits in the queue and happens in the order in which the program did it, once they have
 * come so far. What it needs is kept by counted records (omp_pool.h). */
#ifndef LC_MEASURE_OPENMP_OMP_LATER_H
#define LC_MEASURE_OPENMP_OMP_LATER_H

#include <stdint.h>

struct lc_omp_joint;
struct lc_omp_set;
struct lc_omp_thread;

/* What happens: each is a function of omp_clocks.h. */
enum lc_omp_change {
    LC_OMP_BEGINS,     /* record: the task that it runs */
    LC_OMP_TAKES_OVER, /* from a thread that has ended */
    LC_OMP_WORKED,
    LC_OMP_ENTERS,
    LC_OMP_LEAVES,
    LC_OMP_REFUSED,
    LC_OMP_RUNS,       /* record: the task, that of all until LC_OMP_BACK */
    LC_OMP_RUNS_FIRST, /* .. it begins */
    LC_OMP_FIRST_TASK,
    LC_OMP_FOLLOWS,
    LC_OMP_SHARE_ENDED, /* other: the task that forked it */
    LC_OMP_TASK_ENDED,
    LC_OMP_UNDEFERRED, /* other: its creator */
    LC_OMP_BACK,
    LC_OMP_TELLS, /* record: where the point will be known (struct lc_omp_set) */
    LC_OMP_EDGE,  /* .. it comes from */
    LC_OMP_JOINS  /* record: the joint's; other: the point's */
};

/* record, other: as the kind says, or NULL; both are kept until it has happened. now: ticks; 0:
 * those of the thread's last event. node: where the thread is. Nothing where it has no clocks. */
void lc_omp_later_at(struct lc_omp_thread *o, enum lc_omp_change what, void *record, void *other,
                     uint64_t now, uint32_t node);
/* The same at the thread's construct. */
void lc_omp_later(struct lc_omp_thread *o, enum lc_omp_change what, void *record, void *other,
                  uint64_t now);

/* Where the point of the thread will be known, to be unkept; NULL: no memory. */
struct lc_omp_set *lc_omp_point_later(struct lc_omp_thread *o, uint64_t now);
/* The joint's part of lc_omp_join_locked: it has a record of its own for each time that it begins
 * anew. from: of the point; NULL: there was no memory for one. */
void lc_omp_join_later(struct lc_omp_joint *joint, struct lc_omp_set *from);

#endif
