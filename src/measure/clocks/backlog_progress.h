/* Progress of the backlog: packets are taken, events that are ready run, packets sent. */
#ifndef LC_MEASURE_CLOCKS_BACKLOG_PROGRESS_H
#define LC_MEASURE_CLOCKS_BACKLOG_PROGRESS_H

struct lc_clk_thread;

/* Makes progress during a call of the program: receives packets, runs the events that are ready,
 * sends packets. From a half full queue on it goes on until a quarter is left, or nothing has
 * arrived for 50 us. */
void lc_clk_backlog_progress(void);

/* At the end of a collective operation in which all members take part: if the queue is long, spends
 * some microseconds on it, so that it does not grow in programs that call nothing else. Stops as
 * soon as there is no progress. */
void lc_clk_backlog_catch_up(void);

/* In a constructor, in which all members take part: makes progress until the queue is empty, for
 * LC_DRAIN_US at most. */
enum { LC_DRAIN_US = 20000 };
/* In a constructor, in which all members take part: makes progress until the queue is empty, for
 * LC_DRAIN_US at most. */
void lc_clk_backlog_drain(void);

/* In MPI_Finalize, collective: makes progress until the queues of all ranks are empty. */
void lc_clk_backlog_finish(struct lc_clk_thread *k);

#endif
