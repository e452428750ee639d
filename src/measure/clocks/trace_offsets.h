/* Clock offsets of the nodes for the event trace. */
#ifndef LC_MEASURE_CLOCKS_TRACE_OFFSETS_H
#define LC_MEASURE_CLOCKS_TRACE_OFFSETS_H

struct lc_call;
struct lc_clk_measured;
struct lc_comm;

/* clock offsets of the nodes for the event trace */
void lc_clk_trace_begin(void);                                         /* collective, in MPI_Init */
void lc_clk_trace_barrier(struct lc_call *call, struct lc_comm *comm); /* collective over comm */
void lc_clk_trace_end(const struct lc_clk_measured *m); /* collective, in MPI_Finalize */

#endif
