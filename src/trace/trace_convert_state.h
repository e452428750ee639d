/* What the two halves of the converter share: trace_convert.c (time, frames, calls),
 * trace_convert_mpi.c (what calls begin and complete). */
#ifndef LC_TRACE_TRACE_CONVERT_STATE_H
#define LC_TRACE_TRACE_CONVERT_STATE_H

#include "trace/trace_convert.h"

struct lc_open_coll { /* nonblocking collectives in progress, by request */
    uint64_t request;
    uint64_t words[3];
};

struct lc_open_rma { /* one-sided operations that are not known to be complete */
    uint32_t win, target;
    uint64_t number;
};

struct lc_convert_frame {
    uint32_t node;
    bool region; /* begun by REGION_IN: ends with REGION_OUT, not by comparison of paths */
};

struct lc_trace_conversion {
    struct lc_convert *c;
    OTF2_EvtWriter *w;
    const struct lc_trace_defs *d;
    OTF2_ErrorCode error;
    uint64_t now; /* absolute ticks of the last event */
    struct lc_convert_frame *stack;
    size_t depth, cap_stack;
    uint32_t *chain; /* scratch: a path, root first */
    size_t cap_chain;
    uint32_t call_node; /* LC_NONE: no call is open */
    bool started;
    uint64_t coll[3]; /* of the open call; kind 0: none */
    uint64_t handle;
    uint64_t rma_coll[2];
    uint64_t *done; /* completions of the open call, until its end is known */
    size_t n_done, cap_done;
    struct lc_open_coll *icolls;
    size_t n_icolls, cap_icolls;
    struct lc_open_rma *rmas;
    size_t n_rmas, cap_rmas;
    uint64_t next_rma; /* matching number */
    uint64_t *dropped; /* requests that the filter leaves out, ascending */
    size_t n_dropped, cap_dropped;
    size_t next_child;
};

static inline void lc_convert_note(struct lc_trace_conversion *s, OTF2_ErrorCode code) {
    if (s->error == OTF2_SUCCESS)
        s->error = code;
    s->c->n_events++;
}

/* Finds the requests that the filter leaves out: a receive is known by its size only when it is
 * complete, but its request comes first. */
enum lc_err lc_convert_find_dropped(struct lc_trace_conversion *s);

/* A record of the open call: something that begins with it, or is complete at its end. */
enum lc_err lc_convert_mpi(struct lc_trace_conversion *s, const uint64_t *words);

/* At the end of the call: what it completed. */
void lc_convert_completions(struct lc_trace_conversion *s);

#endif
