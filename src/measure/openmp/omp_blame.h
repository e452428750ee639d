/* Which thread of the process, in which code, others waited for. Rows gather per waiting node
 * without a lock, and go to a bounded table of the process (piggyback/blame.h) when another cause
 * takes their place, and at the end. */
#ifndef LC_MEASURE_OPENMP_OMP_BLAME_H
#define LC_MEASURE_OPENMP_OMP_BLAME_H

#include "measure/openmp/omp_thread.h"

/* The thread worked at its node until now, `ticks`: what others will have waited for is where it
 * worked longest since it last waited itself. */
static inline void lc_omp_blame_work(struct lc_omp_thread *o, uint64_t ticks) {
    uint32_t node = o->at != NULL ? o->at->node : 0;
    o->busy = (node == o->busy_node ? o->busy : 0) + ticks;
    o->busy_node = node;
    if (o->busy >= o->longest) {
        o->longest = o->busy;
        o->longest_node = node;
    }
}
/* The node that most of the thread's work since the last call of this belongs to. */
static inline uint32_t lc_omp_blame_node(struct lc_omp_thread *o) {
    uint32_t node = o->longest > 0 ? o->longest_node : o->at != NULL ? o->at->node : 0;
    o->longest = o->busy = 0;
    return node;
}

/* Waiting of the thread at a node, by its cause; NULL: not known. */
void lc_omp_blame_add(struct lc_omp_node *at, const struct lc_omp_late *late, uint64_t ticks);
/* What the thread has gathered goes to the table. Only of a thread that does nothing now. */
void lc_omp_blame_flush(struct lc_omp_thread *o);
/* The table goes to that of the process. */
void lc_omp_blame_close(void);

#endif
