/* What the parts of the trace recorder share (trace_area.c, definitions.c, trace_calls.c,
 * trace_unify.c). */
#ifndef LC_MEASURE_TRACE_TRACE_AREA_H
#define LC_MEASURE_TRACE_TRACE_AREA_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stddef.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "format/trace_defs.h"
#include "format/trace_record.h"

struct lc_thread;

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
    bool windows;                  /* only windows are recorded (trace_window.h) */
    _Atomic uint32_t window;       /* number of the last one that was opened, 0: none was */
    /* what follows counts where no windows were asked for, too (trace_window.h) */
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

#endif
