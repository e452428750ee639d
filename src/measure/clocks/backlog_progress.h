/* Progress of the backlog: packets are taken, events that are ready run, packets sent. */
#ifndef LC_MEASURE_CLOCKS_BACKLOG_PROGRESS_H
#define LC_MEASURE_CLOCKS_BACKLOG_PROGRESS_H

#include <stdint.h>

struct lc_clk_thread;

/* Makes progress during a call of the program, at `now` (lc_ticks): takes the packets that have
 * come, runs the events that are ready, sends packets. */
void lc_clk_backlog_progress(uint64_t now);

enum { LC_DRAIN_US = 20000 };
/* In a constructor, in which all members take part: makes progress until the queue is empty, for
 * LC_DRAIN_US at most. */
void lc_clk_backlog_drain(void);

/* In MPI_Finalize, collective: makes progress until the queues of all ranks are empty. */
void lc_clk_backlog_finish(struct lc_clk_thread *k);

#endif
