/* Epochs of locks of a window. */
#ifndef LC_MEASURE_CLOCKS_WINDOW_LOCKS_H
#define LC_MEASURE_CLOCKS_WINDOW_LOCKS_H

#include <stdbool.h>
#include <stdint.h>

#include "measure/mpi/handles.h"

struct lc_call;

/* epochs of locks of a window */
enum { LC_TAG_POST, LC_TAG_COMPLETE, LC_TAG_LOCKER, LC_TAG_EPOCH }; /* of a window's entries */

struct lc_clk_locks {
    struct lc_comm comm; /* a copy: the program may free its communicator */
    uint32_t context;
    uint64_t id;             /* of the lines */
    struct lc_unlock *lines; /* own, two per target: exclusive, shared; NULL: none */
    uint8_t *held;           /* by target: 1 shared, 2 exclusive */
    struct lc_away *away;    /* by member; NULL: all are on this node */
    bool announced;
};
void lc_clk_locks_init(struct lc_clk_locks *w); /* both with lc_clk.lock held */
/* It is freed. With lc_clk.lock held. */
void lc_clk_locks_free(struct lc_clk_locks *w);
/* Before MPI_Win_lock and MPI_Win_lock_all. */
void lc_clk_lock_begin(struct lc_call *call, struct lc_clk_locks *w);
void lc_clk_lock_hold(struct lc_clk_locks *w, int target, bool shared); /* -1: all */
/* After MPI_Win_unlock of a target; -1: all. */
void lc_clk_lock_over(struct lc_call *call, struct lc_clk_locks *w, int target);

#endif
