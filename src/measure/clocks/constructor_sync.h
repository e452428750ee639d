/* Constructors whose new communicator has other members than the communicator passed to them
 * (MPI_Intercomm_create, MPI_Comm_spawn, ..) synchronise all members of the new one (both groups):
 * an edge from every member to every other. */
#ifndef LC_MEASURE_CLOCKS_CONSTRUCTOR_SYNC_H
#define LC_MEASURE_CLOCKS_CONSTRUCTOR_SYNC_H

struct lc_call;
struct lc_clk_thread;
struct lc_comm;

/* Collective over `comm`, inside its constructor, where all ranks share memory (elsewhere clocks
 * lag: lc_clk_constructor_sync_in_backlog). Waits for all members. */
void lc_clk_constructor_sync(struct lc_clk_thread *k, struct lc_call *call, struct lc_comm *comm);
/* Frees what the exchange needed; before MPI_Finalize. */
void lc_clk_constructor_sync_finish(void);

#endif
