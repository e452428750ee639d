/* Edges of what synchronises without being a collective operation of data. */
#ifndef LC_MEASURE_CLOCKS_SYNCHRONISING_H
#define LC_MEASURE_CLOCKS_SYNCHRONISING_H

#include <stdbool.h>

struct lc_comm;

/* a copy of a communicator that the program may free before what was made of it;
 * false: no memory */
bool lc_clk_keep_comm(struct lc_comm *copy, struct lc_comm *comm);

#endif
