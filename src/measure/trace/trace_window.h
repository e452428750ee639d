/* Windows of the trace: with `--trace=PHASE` and `--trace=iterations A-B` records are made inside
 * of them only; the profile stays that of the whole run.
 *
 * Nouns
 *   window   from the begin of a phase, or of iteration A of a loop, to the end of it, or of
 *            iteration B. The first thread of a process opens and closes it; the k-th of one rank
 *            is the k-th of the others, since they go through the same phases and loops
 *   stretch  what is recorded without interruption: a window, or of one, or of a run without
 *            windows, what lies between the program's stopping of the measurement and its start;
 *            those of a process are numbered from 1
 *   gap      what lies before, between and after stretches: gap g is after g of them had begun
 *   half     the sending or the receiving half of a message, or the part of this process in a
 *            collective. It is in the trace if it was begun in a stretch; then the call that
 *            completes it is recorded, too, also in a gap where the measurement is not stopped
 *   channel  halves of equal communicator, peer, tag and direction, or collectives of a
 *            communicator: on all sides they match in the order in which they were begun
 *
 * Halves begun in gaps have no record, but are counted by channel and gap, so that whoever reads
 * the trace can tell which of those in it belong together (LC_DEF_LEFT_OUT, analyze/p2p.c). Cost
 * in gaps: one look-up in a table for each.
 *
 * Each thread has records in its own stream only: it learns of windows at its next event
 * (LC_MODE_WINDOW), and the time outside of them becomes the region LC_NOT_TRACED there. */
#ifndef LC_MEASURE_TRACE_TRACE_WINDOW_H
#define LC_MEASURE_TRACE_TRACE_WINDOW_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "measure/mpi/operations.h"
#include "measure/mpi/request.h"
#include "measure/core/core.h"
#include "measure/trace/trace_area.h"

struct lc_call;
struct lc_msg;
struct lc_region_open;
struct lc_request;

/* Once, when the area exists: what the user asked for. */
void lc_trace_window_init(void);
/* The begin of a region, before it is recorded: opens a window if it is the phase asked for. */
void lc_trace_window_region_begin(struct lc_call *call);
/* The end of a region that was recorded: closes the window that it opened. */
void lc_trace_window_region_end(struct lc_call *call, const struct lc_region_open *open);
/* An event of a thread that was told of a window (LC_MODE_WINDOW): its stream gets to know it. */
void lc_trace_window_seen(struct lc_call *call);
/* The program stops the measurement, or starts it again. */
void lc_trace_control(struct lc_call *call, bool on);
/* A thread got a stream. */
void lc_trace_window_first(struct lc_call *call);
/* The end of a thread, in the stream that it has. */
bool lc_trace_window_ends(const struct lc_trace_stream *stream);
/* Before the definitions of all ranks are joined: what is not written yet. */
void lc_trace_window_finish(void);

/* A call in a gap that completes what was begun in a window: from here on it is recorded. NULL: it
 * cannot be. */
struct lc_trace_stream *lc_trace_window_late(struct lc_call *call);

/* A half of which a record would have been made here was begun (sends), or is complete (receives:
 * peer and tag are known only then). */
void lc_trace_count_outside(struct lc_call *call, struct lc_comm *comm, struct lc_def_left_out one);

static inline bool lc_trace_wants_bytes(uint64_t bytes) {
    return bytes - lc_tracing.min_bytes <= lc_tracing.max_bytes - lc_tracing.min_bytes;
}

static inline void lc_trace_outside(struct lc_call *call, struct lc_msg *msg,
                                    enum lc_def_half half) {
    if (lc_likely(!lc_tracing.counts) || !lc_trace_wants_bytes(msg->bytes))
        return;
    lc_trace_count_outside(call, msg->comm,
                           (struct lc_def_left_out){.peer = (uint32_t)msg->peer,
                                                    .tag = (uint32_t)msg->tag,
                                                    .half = half,
                                                    .gap = lc_tracing.stretch,
                                                    .count = 1});
    if (msg->request != NULL)
        msg->request->gap = lc_tracing.stretch + 1;
}

#endif
