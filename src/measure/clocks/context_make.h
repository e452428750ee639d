/* Communicators: a number that all members find without talking, the log of their
 * collectives. */
#ifndef LC_MEASURE_CLOCKS_CONTEXT_MAKE_H
#define LC_MEASURE_CLOCKS_CONTEXT_MAKE_H

struct lc_comm;

/* The clocks' part of a new communicator (comm->clocks; NULL remains where there is no memory). */
void lc_clk_comm_make(struct lc_comm *comm);

#endif
