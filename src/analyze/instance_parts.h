/* Which records of this rank belong to which collective instance, in the order of instances. Made
 * by instances.c, where records are missing put right by realign.c, read by collective.c. */
#ifndef LC_ANALYZE_INSTANCE_PARTS_H
#define LC_ANALYZE_INSTANCE_PARTS_H

#include "analyze/events.h"
#include "analyze/trace.h"

struct lc_instance_part { /* of a process in an instance */
    uint32_t loc;         /* index in trace->locs */
    uint32_t coll;
};

struct lc_part_run { /* the parts of a process in one stream, in order */
    uint64_t first_instance;
    size_t first, count; /* parts */
    uint32_t *slots;     /* ascending: numbers of the parts in the stream; NULL: 0, 1, .. */
    uint32_t rank;       /* of the process in the communicator */
    uint32_t stream;
};

struct lc_process_runs { /* of one process: runs by ascending instance */
    struct lc_instance_part *parts;
    struct lc_part_run *runs;
    size_t n_runs;
    size_t run, at; /* cursor: next part of runs[run] */
};

struct lc_instances {
    struct lc_process_runs *processes; /* of this rank */
    size_t n_processes;
    uint64_t *base; /* [n_streams + 1]: first instance of a stream */
    size_t n_streams;
    uint32_t *expected; /* per communicator: members in the trace */
};

/* Traces of windows tell the number of each record of this stream (struct lc_left_out). */
static inline bool lc_instances_are_numbered(const struct lc_trace *trace, uint32_t stream) {
    return trace->numbered && stream % LC_COLL_CLASSES <= LC_COLL_NONBLOCKING;
}

/* The cursor's part and instance, if it lies before `end`; NULL otherwise. */
static inline const struct lc_instance_part *lc_instances_peek(const struct lc_process_runs *p,
                                                               uint64_t end, uint64_t *instance,
                                                               uint32_t *rank) {
    if (p->run == p->n_runs)
        return NULL;
    const struct lc_part_run *run = &p->runs[p->run];
    *instance = run->first_instance + (run->slots ? run->slots[p->at] : p->at);
    *rank = run->rank;
    return *instance < end ? &p->parts[run->first + p->at] : NULL;
}

static inline void lc_instances_next(struct lc_process_runs *p) {
    if (++p->at == p->runs[p->run].count) {
        p->at = 0;
        p->run++;
    }
}

#endif
