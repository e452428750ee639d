/* Private copies of communicators, for shadow collectives. Those of what MPI_Comm_idup makes of
 * `parent` are begun before the call, and taken after it, without waiting. */
#ifndef LC_MEASURE_CLOCKS_COMM_COPIES_H
#define LC_MEASURE_CLOCKS_COMM_COPIES_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

struct lc_clk_comm;
struct lc_comm;

/* private copies of communicators, for mirrors. False: none. Those of what
 * MPI_Comm_idup makes of `parent` are begun before the call, and taken after it, without waiting.
 */
bool lc_clk_copy_make(struct lc_clk_comm *c, const struct lc_comm *comm);
void lc_clk_copy_begin(struct lc_clk_comm *parent);
bool lc_clk_copy_take(struct lc_clk_comm *c, struct lc_clk_comm *parent);
/* Is it there? ask: MPI is asked, so that it goes on with it. */
bool lc_clk_copy_ready(struct lc_clk_comm *c, bool ask);
void lc_clk_copy_wait(struct lc_clk_comm *c);
/* The program has freed the communicator: the end of c, now or when nothing waits for its copy. */
void lc_clk_copy_free(struct lc_clk_comm *c);

/* Shadow collectives that are on their way hold the copy, also when the program has freed its own
 * communicator; both with lc_clk.lock held. */
struct lc_clk_copy_use {
    MPI_Comm comm; /* once the program's is freed: to be freed with the last one, else null */
    uint32_t n, n_overdue;
};
struct lc_clk_copy_use *lc_clk_copy_use(struct lc_clk_comm *c);
void lc_clk_copy_unuse(struct lc_clk_copy_use *use, bool overdue);
void lc_clk_copies_finish(void); /* collective: all are there, nothing waits for them */

#endif
