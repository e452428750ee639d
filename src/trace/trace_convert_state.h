/* What the parts of the converter share: trace_convert.c (paths, calls), trace_convert_mpi.c
 * (what calls begin and complete), trace_convert_omp.c (teams, constructs, tasks). */
#ifndef LC_TRACE_TRACE_CONVERT_STATE_H
#define LC_TRACE_TRACE_CONVERT_STATE_H

#include "trace/conversion.h"

struct lc_open_coll { /* nonblocking collectives in progress, by request */
    uint64_t request;
    uint64_t words[3];
    uint32_t window; /* in which it was started */
};

struct lc_open_rma { /* one-sided operations that are not known to be complete */
    uint32_t win, target;
    uint64_t number;
};

enum lc_open_kind {
    LC_FRAME_CALLER, /* ends where the next path does not have it */
    LC_FRAME_REGION, /* begun by REGION_IN, ends with REGION_OUT */
    LC_FRAME_SILENT, /* the same, but the team's records tell of it */
    /* OpenMP, in the order in which they nest: ends with the record of its own */
    LC_FRAME_FORK,
    LC_FRAME_TEAM,
    LC_FRAME_CONSTRUCT,
    LC_FRAME_TASK
};
struct lc_convert_frame {
    uint32_t node;
    enum lc_open_kind kind;
    uint32_t team; /* communicator */
    uint64_t task;
};

struct lc_open_sample { /* of the code since the last event */
    uint64_t ticks;
    uint32_t node, generator;
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
    uint32_t call_node;         /* LC_NONE: no call is open */
    bool started, thread_begun; /* it has a first event; as a thread that the program made */
    uint64_t coll[3];           /* of the open call; kind 0: none */
    uint64_t handle;
    uint64_t rma_coll[2];
    uint64_t *done; /* completions of the open call, until its end is known */
    size_t n_done, cap_done;
    struct lc_open_coll *icolls;
    size_t n_icolls, cap_icolls;
    struct lc_open_rma *rmas;
    size_t n_rmas, cap_rmas;
    uint64_t next_rma;              /* matching number */
    struct lc_open_sample *samples; /* until it is known which frames have ended before them */
    size_t n_samples, cap_samples;
    uint64_t *dropped; /* requests that the filter leaves out, ascending */
    size_t n_dropped, cap_dropped;
    size_t next_child;
    uint32_t window; /* the last stretch that began (measure/trace/trace_area.h), 0: none */
    OTF2_AttributeList *attributes; /* of the next event; NULL before the first */
};

static inline void lc_convert_note(struct lc_trace_conversion *s, OTF2_ErrorCode code) {
    if (s->error == OTF2_SUCCESS)
        s->error = code;
    s->c->n_events++;
}

/* The time stamp of ticks since base; never before the one before it. */
uint64_t lc_convert_time(struct lc_trace_conversion *s, uint64_t ticks);
/* Later events happen at `time`. Threads that this one is taken to have created are written at the
 * time they were first seen. */
void lc_convert_move_to(struct lc_trace_conversion *s, uint64_t time);
/* Writes the samples since the last event, now that the stack is that of the code between both. */
void lc_convert_samples(struct lc_trace_conversion *s);
/* The life of a thread of the runtime begins. */
void lc_convert_start(struct lc_trace_conversion *s, uint64_t time);
/* Enter of a node, now. `distance`: as OTF2 wants it of calling contexts, 2: only the
 * innermost region is new. */
void lc_convert_enter(struct lc_trace_conversion *s, uint32_t node, uint32_t distance);
/* Writes the leave of a node at the current time. */
void lc_convert_leave(struct lc_trace_conversion *s, uint32_t node);
/* Callers get records of their own only in the mode "enter"; the root and regions of the user
 * always do. */
bool lc_convert_is_recorded(const struct lc_trace_conversion *s, size_t level, bool region);
/* A frame on top of the stack; LC_ERR_NOMEM. */
enum lc_err lc_convert_push(struct lc_trace_conversion *s, struct lc_convert_frame frame);
/* Writes the leave of the topmost frame at the current time. */
void lc_convert_pop(struct lc_trace_conversion *s);
/* Frames up to the topmost of OpenMP; 0: none. */
size_t lc_convert_omp_depth(const struct lc_trace_conversion *s);

/* Is the node that of a construct of OpenMP? */
bool lc_convert_is_construct(const struct lc_trace_conversion *s, uint32_t node);

/* Converts one record of OpenMP. Errors: LC_ERR_NOMEM. */
enum lc_err lc_convert_omp(struct lc_trace_conversion *s, const uint64_t *words);

/* Finds the requests that the filter leaves out: a receive is known by its size only when it is
 * complete, but its request comes first. Errors: LC_ERR_NOMEM. */
enum lc_err lc_convert_find_dropped(struct lc_trace_conversion *s);

/* A record of the open call: something that begins with it, or is complete at its end. Errors:
 * LC_ERR_NOMEM. */
enum lc_err lc_convert_mpi(struct lc_trace_conversion *s, const uint64_t *words);

/* At the end of the call: what it completed. */
void lc_convert_completions(struct lc_trace_conversion *s);

#endif
