/* The clocks of the nodes against the global one, which is that of rank 0's node. */
#ifndef LC_MEASURE_CLOCKS_GLOBAL_TIME_H
#define LC_MEASURE_CLOCKS_GLOBAL_TIME_H

#include <stdbool.h>
#include <stdint.h>

#define LC_CLK_DRIFT 1e-4 /* of the clocks of two nodes against each other, at most */

struct lc_call;
struct lc_clk_measured;
struct lc_comm;

struct lc_offset_ends { /* offsets to the global clock at both ends of the run, ns */
    double offset_begin, offset_end, local_begin, local_end, error;
};

double lc_clk_to_global(uint64_t ticks); /* ns */
/* Ticks at a global time, ns. */
uint64_t lc_clk_from_global(double global_ns);
/* s, between the offsets that were measured at begin and end of the node's interval */
double lc_clk_global_s(const struct lc_offset_ends *c, uint64_t ticks);
/* Did a rank certainly enter its call after this end? On one node that is a comparison; between
 * nodes their clocks may be wrong by the error that the result states, and by drift since then. */
bool lc_clk_came_after(uint64_t enter, uint64_t end);
/* Newly measured: how far off was the offset that was in use until now? */
void lc_clk_compare(const struct lc_clk_measured *m);

/* Every rank is at the end of a collective operation that all were in: the nodes are synchronised
 * again if it is time. Collective. */
void lc_clk_resync_look(struct lc_call *call);
/* Before MPI_Finalize: nothing is on its way any more. Collective. */
void lc_clk_resync_end(void);

/* collective: of this rank's node to rank 0's */
void lc_clk_measure_offset(struct lc_clk_measured *m);

void lc_clk_time_init(void); /* collective */

/* Clock offsets of the nodes for the event trace. */
void lc_clk_trace_begin(void);                                         /* collective, in MPI_Init */
void lc_clk_trace_barrier(struct lc_call *call, struct lc_comm *comm); /* collective over comm */
void lc_clk_trace_end(const struct lc_clk_measured *m); /* collective, in MPI_Finalize */

/* Areas of the ranks of a node; false: no shared memory. */
bool lc_clk_memory(void); /* collective */

#endif
