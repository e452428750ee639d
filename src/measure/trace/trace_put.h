/* Records into the chunk of a thread. */
#ifndef LC_MEASURE_TRACE_TRACE_PUT_H
#define LC_MEASURE_TRACE_TRACE_PUT_H

#include <stdbool.h>
#include <stdint.h>

#include "format/trace_record.h"
#include "measure/core/core.h"
#include "measure/core/thread.h"
#include "measure/trace/trace_area.h"

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

#endif
