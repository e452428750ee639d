/* Private copies of communicators, for shadow collectives. Those of what MPI_Comm_idup makes of
 * `parent` are begun before the call, and taken after it, without waiting. */
#ifndef LC_MEASURE_CLOCKS_COMM_COPIES_H
#define LC_MEASURE_CLOCKS_COMM_COPIES_H

#include <stdbool.h>

struct lc_clk_comm;
struct lc_comm;

/* private copies of communicators, for mirrors. False: none. Those of what
 * MPI_Comm_idup makes of `parent` are begun before the call, and taken after it, without waiting.
 */
bool lc_clk_copy_make(struct lc_clk_comm *c, const struct lc_comm *comm);
void lc_clk_copy_begin(struct lc_clk_comm *parent);
bool lc_clk_copy_take(struct lc_clk_comm *c, struct lc_clk_comm *parent);
bool lc_clk_copy_ready(struct lc_clk_comm *c);
void lc_clk_copy_wait(struct lc_clk_comm *c);
void lc_clk_copy_free(struct lc_clk_comm *c);
void lc_clk_copies_finish(void); /* collective: all are there, nothing waits for them */

#endif
