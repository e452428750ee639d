/* Collective operations where clocks lag behind the program (backlog.h): their begin, their
 * publication and their end are events of the backlog. */
#ifndef LC_MEASURE_CLOCKS_COLLECTIVES_BACKLOG_H
#define LC_MEASURE_CLOCKS_COLLECTIVES_BACKLOG_H

#include <stdbool.h>

struct lc_call;
struct lc_clk_coll;
struct lc_clk_thread;
struct lc_coll;
struct lc_comm;

/* A member enters. */
void lc_clk_coll_begin_in_backlog(struct lc_call *call, struct lc_clk_thread *k,
                                  const struct lc_coll *coll, struct lc_clk_coll *x);
/* Publishes this member's clocks as they are at the begin of the call; once per operation. */
void lc_clk_coll_publish_in_backlog(struct lc_call *call, struct lc_clk_thread *k,
                                    struct lc_clk_coll *x);
/* MPI has accepted the operation: a blocking one is complete, others have started. */
void lc_clk_coll_end_in_backlog(struct lc_call *call, struct lc_clk_thread *k, struct lc_coll *coll,
                                struct lc_clk_coll *x);
/* The operation is complete; x is released by its event. */
void lc_clk_coll_over_in_backlog(struct lc_call *call, struct lc_clk_thread *k,
                                 struct lc_clk_coll *x);
/* MPI has refused the operation, or it failed; x is released. */
void lc_clk_coll_failed_in_backlog(struct lc_call *call, struct lc_clk_thread *k,
                                   struct lc_clk_coll *x, bool refused);

/* The synchronisation of all members of a communicator (both groups) in its constructor. */
void lc_clk_constructor_sync_in_backlog(struct lc_call *call, struct lc_clk_thread *k,
                                        struct lc_comm *comm);

#endif
