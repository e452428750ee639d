/* The definition stream: what is said once. Cold. */
#ifndef LC_MEASURE_TRACE_DEFINITIONS_H
#define LC_MEASURE_TRACE_DEFINITIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <stddef.h>

#include "base/err.h"
#include "format/trace_defs.h"

struct lc_comm;
struct lc_timer_bend;

/* The process itself: rank, host, command. Nothing if no trace is written. */
void lc_trace_define_process(void);

/* The calling thread as a location: index in the process, ticks since those of the area. */
void lc_trace_define_thread(uint32_t index, uint64_t begin_ticks);

/* A measured offset between this node's clock and that of rank 0: at `ticks` of this process (as
 * lc_ticks gives them), global time - local time; nothing if no trace is written. */
void lc_trace_define_clock(uint64_t ticks, int64_t offset_ticks, uint64_t deviation_ticks);
/* The name that the program gave a communicator or window. */
void lc_trace_define_name(bool window, uint32_t id, const char *name);
/* A communicator that was made; parent NULL: of none. */
void lc_trace_define_comm(struct lc_comm *comm, struct lc_comm *parent);

/* A test makes this process believe in another clock (base/timer.h). */
void lc_trace_define_bend(uint64_t base_ticks, double ns_per_tick,
                          const struct lc_timer_bend *bend);
/* The number of a text, new if it is seen for the first time. With tracing on. */
uint32_t lc_trace_define_string(const char *text, enum lc_def_string use);
/* Appends a definition record: `head`, then `rest`. */
void lc_trace_define(enum lc_def_type type, const void *head, size_t head_bytes, const void *rest,
                     size_t rest_bytes);

#endif
