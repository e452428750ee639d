/* What the rest of the core asks OpenMP, once its runtime has started: the core does not know more
 * of it. Members are NULL before. */
#ifndef LC_MEASURE_CORE_ATTACHED_H
#define LC_MEASURE_CORE_ATTACHED_H

#include <stdbool.h>
#include <stdint.h>

struct lc_thread;

struct lc_omp_attached {
    /* The calling thread ends: does its location stay, for the next one that takes its place
     * (lc_thread_take_over)? NULL: never. */
    bool (*keeps)(void);
    void (*thread_gone)(struct lc_thread *t); /* the thread ends */
    /* Longest chain of useful work with a clock per task, ticks, in the interval that is about to
     * end; 0: no explicit task ran. Raises the what-if clocks to those of tasks that have ended. */
    uint64_t (*task_chain)(uint32_t interval, uint64_t *whatif);
    uint64_t (*phase_chain)(uint32_t phase, uint64_t now); /* the same of a phase; now: its end */
    void (*book_open)(void);  /* the measurement ends: books waits in progress */
    void (*book_spans)(void); /* all clocks are known: books what follows from them */
};
extern struct lc_omp_attached lc_omp_attached;

#endif
