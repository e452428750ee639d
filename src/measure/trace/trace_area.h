/* What the parts of the trace recorder share (trace_area.c, definitions.c, trace_calls.c). */
#ifndef LC_MEASURE_TRACE_TRACE_AREA_H
#define LC_MEASURE_TRACE_TRACE_AREA_H

#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stddef.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "format/trace_defs.h"
#include "format/trace_record.h"
#include "measure/core/core.h"
#include "measure/core/thread.h"
#include "measure/mpi/operations.h"
#include "measure/mpi/request.h"

struct lc_comm;
struct lc_entry;

/* Once, when the state exists: makes the area if tracing is asked for. */
void lc_trace_start(void);
/* The stream of a thread, which the area owns; NULL: no room. */
struct lc_trace_stream *lc_trace_stream_new(struct lc_thread *thread, uint64_t begin_ticks);
/* Room for a record of so many words. Never NULL: a place that nobody reads if the stream stopped.
 */
uint64_t *lc_trace_refill(struct lc_trace_stream *stream, unsigned words);

/* At the end of a call: gets room for the next ones, flushing if need be */
void lc_trace_renew(struct lc_trace_stream *stream);

struct lc_tracing {
    struct lc_trace_area *area; /* NULL: not tracing */
    pthread_mutex_t lock;       /* of the list of free chunks */
    pthread_mutex_t defs_lock;  /* of the definition stream and what follows */
    uint32_t n_free;
    struct lc_strbuf defs; /* the whole definition stream again, for MPI_Finalize */
    uint32_t n_strings;
    struct lc_trace_text {
        uint64_t hash;
        char *text;
        uint32_t use; /* enum lc_def_string */
    } * strings;
    size_t cap_strings;
    bool defined;                  /* the process */
    bool samples;                  /* are recorded: not without call paths */
    uint64_t min_bytes, max_bytes; /* of messages that are recorded */
    bool windows;                  /* only windows are recorded (trace_window.c) */
    _Atomic uint32_t window;       /* number of the last one that was opened, 0: none was */
    /* what follows counts where no windows were asked for, too (trace_window.c) */
    _Atomic bool counts;      /* there are gaps: what is begun in them is counted */
    _Atomic uint32_t stretch; /* number of the last one that began, 0: none did */
};
extern struct lc_tracing lc_tracing;
/* Whether --trace was given. */
bool lc_trace_wanted(void);
/* What --buffer asks for, bytes. */
uint64_t lc_trace_buffer_bytes(void);
/* The thread has ended: gives its chunks back where memory is scarce. */
void lc_trace_stream_close(struct lc_trace_stream *s);

/* The words before `end` are complete: whoever reads the stream after this process was killed sees
 * them or does not. */
static inline void lc_trace_commit(struct lc_trace_stream *s, uint64_t *end) {
    atomic_signal_fence(memory_order_release);
    s->next = end;
}

/* Records into the chunk of a thread. */

enum {
    /* free after every call: most calls need no check that fails */
    LC_TRACE_MARGIN_WORDS = 64
};
#define LC_TRACE_RECORDING (LC_MODE_TRACE | LC_MODE_ON | LC_MODE_RECORD)

static inline struct lc_trace_stream *lc_trace_stream_of(const struct lc_call *call) {
    return lc_likely((call->mode & LC_TRACE_RECORDING) == LC_TRACE_RECORDING) ? call->thread->trace
                                                                              : NULL;
}

static inline uint64_t *lc_trace_room(struct lc_trace_stream *s, unsigned words) {
    return lc_likely(s->next + words <= s->limit) ? s->next : lc_trace_refill(s, words);
}

static inline void lc_trace_put1(struct lc_trace_stream *s, uint64_t a) {
    uint64_t *p = lc_trace_room(s, 1);
    p[0] = a;
    lc_trace_commit(s, p + 1);
}

static inline void lc_trace_put2(struct lc_trace_stream *s, uint64_t a, uint64_t b) {
    uint64_t *p = lc_trace_room(s, 2);
    p[0] = a;
    p[1] = b;
    lc_trace_commit(s, p + 2);
}

static inline void lc_trace_put3(struct lc_trace_stream *s, uint64_t a, uint64_t b, uint64_t c) {
    uint64_t *p = lc_trace_room(s, 3);
    p[0] = a;
    p[1] = b;
    p[2] = c;
    lc_trace_commit(s, p + 3);
}

static inline void lc_trace_put4(struct lc_trace_stream *s, uint64_t a, uint64_t b, uint64_t c,
                                 uint64_t d) {
    uint64_t *p = lc_trace_room(s, 4);
    p[0] = a;
    p[1] = b;
    p[2] = c;
    p[3] = d;
    lc_trace_commit(s, p + 4);
}

/* Makes room for what follows a record, where it has become scarce. */
static inline void lc_trace_renew_if_full(struct lc_trace_stream *s) {
    if (lc_unlikely(s->next + LC_TRACE_MARGIN_WORDS > s->limit))
        lc_trace_renew(s);
}

/* Not left out by its size. */
static inline bool lc_trace_sized(const struct lc_trace_stream *s, uint64_t bytes) {
    return lc_likely(bytes - s->min_bytes <= s->more_bytes);
}

/* The definition stream: what is said once. Cold. */

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

/* The call sites of a call path that was not seen before. */
void lc_trace_sites(const struct lc_entry *entry);

/* Brings the definitions of all ranks together. Once, after MPI_Finalize's end stamp; collective if
 * lc_core.agreed. */
void lc_trace_close(void);

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
