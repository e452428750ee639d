/* Reading the events of one location at a time with libotf2: private to read*.c. The callbacks turn
 * records into the arrays of struct lc_loc.
 *
 * Invariant: frames[0..depth) are the open regions; frames[depth - 1].node, or base when nothing is
 * open, is the call path of the last transition. */
#ifndef LC_ANALYZE_READER_H
#define LC_ANALYZE_READER_H

#include <otf2/otf2.h>

#include "analyze/calltree.h"
#include "analyze/definition_ids.h"
#include "analyze/events.h"
#include "analyze/health.h"

/* Deeper call paths are cut: they come from Leave records that are missing. */
enum { LC_MAX_DEPTH = 1000 };
/* Most regions of the call path of a sample. */
enum { LC_SAMPLE_DEPTH = 256 };

struct lc_open_region {
    uint32_t node;
    uint32_t enter; /* transition */
    uint32_t call;  /* of the location; LC_NONE: no record in it yet */
    uint32_t region;
};

struct lc_node_sums { /* of the location being read */
    int64_t ticks, visits;
    int64_t samples, sampled_ns, squares_us2;
    uint32_t counts; /* index + 1 into counts[]; 0: none */
    bool touched;
};

struct lc_read_sample {
    int64_t time;
    uint32_t context, generator; /* of lc_defs */
};

struct lc_reader {
    struct lc_trace *trace;
    struct lc_defs *defs;
    struct lc_health *health;
    struct lc_call_tree tree; /* of this rank */
    uint32_t *region_of;      /* OTF2 region -> region, dense for small ids */
    size_t n_region_of;
    uint32_t unknown_region;
    size_t n_defined;   /* regions that all ranks have; after them: programs */
    uint64_t *programs; /* OTF2 strings */
    size_t n_programs, cap_programs;
    enum lc_err err; /* of a callback; ends reading */

    /* the location being read */
    struct lc_loc *loc;
    int64_t last, change; /* last event, last transition */
    int64_t first;        /* event before the first transition; INT64_MAX: none */
    bool begun;
    uint32_t node,
        base;      /* current call path; what regions of an empty stack hang below, 0: nothing */
    uint32_t root; /* the first one entered: time between such regions is its; 0: none yet */
    struct lc_open_region *frames;
    size_t depth, cap_frames;
    uint32_t *deep;            /* per defined region: frames of it from LC_MAX_DEPTH on */
    struct lc_node_sums *sums; /* per node of the tree */
    size_t cap_sums;
    uint32_t *touched;
    size_t n_touched, cap_touched;
    int64_t (*counts)[LC_COUNTS];
    size_t n_counts, cap_counts;
    struct lc_idmap sends, recvs, colls; /* open requests -> p2p, p2p, colls */
    int64_t coll_begin;                  /* INT64_MIN: no collective begun */
    uint64_t comm_id;                    /* the communicator looked up last */
    uint32_t comm;
    uint32_t waiting_depth; /* depth of the outermost open barrier or taskwait, 0: none */
    struct {                /* tasks executed inside of waiting constructs */
        int64_t begin;
        uint32_t depth;
    } open_tasks[LC_TASK_LEVELS];
    uint32_t n_open_tasks;
    uint64_t task;      /* that runs: as in struct lc_task_event */
    uint32_t left_task; /* call path of the task that was left last */
    uint64_t n_events;
    uint32_t *phase_counts;         /* per defined region */
    struct lc_read_sample *samples; /* since the last transition */
    size_t n_samples, cap_samples;
    struct { /* what the location before had */
        uint64_t events;
        size_t calls, done, p2p, colls;
    } before;
    uint32_t open_fork, open_part;   /* innermost, in extra->teams; LC_NONE: none */
    bool forks_missing;              /* of some teams of the process, as far as it was read */
    struct lc_idmap lock_ids, locks; /* lock -> number; (number, order) -> extra->locks */
    /* (window, target) -> number; (number, lock) -> extra->rma_locks */
    struct lc_idmap rma_targets, rma_windows;
};

/* Time of a record, never before the one before it. */
static inline int64_t lc_reader_time(struct lc_reader *reader, uint64_t time) {
    int64_t t = (int64_t)(time - reader->trace->global_offset);
    reader->n_events++;
    if (__builtin_expect(t < reader->last, 0)) {
        lc_health_note(reader->health, LC_HEALTH_TIME_BACKWARDS, reader->loc->id);
        t = reader->last;
    }
    reader->last = t;
    return t;
}

/* Of a record that changes nothing. */
static inline void lc_reader_pass(struct lc_reader *reader, uint64_t time) {
    int64_t t = lc_reader_time(reader, time);
    if (!reader->begun && t < reader->first)
        reader->first = t;
}

static inline OTF2_CallbackCode lc_reader_end(const struct lc_reader *reader) {
    return __builtin_expect(reader->err == LC_OK, 1) ? OTF2_CALLBACK_SUCCESS
                                                     : OTF2_CALLBACK_INTERRUPT;
}

/* Cuts the time since the last transition, up to `end`, by the samples in it; the location is in
 * the same node as before, then. */
void lc_reader_place_samples(struct lc_reader *reader, int64_t end);
/* Ends the innermost activation at time t (ticks). */
void lc_reader_leave(struct lc_reader *reader, int64_t t);
/* The call path of an empty stack changes (worker threads). */
void lc_reader_set_base(struct lc_reader *reader, int64_t t, uint32_t node);
/* The activation around a record as a call; LC_NONE (counted) outside of any region. */
uint32_t lc_reader_call(struct lc_reader *reader);
/* Adds a blocking collective operation that the call around the record completes. */
void lc_reader_add_coll(struct lc_reader *reader, const struct lc_coll_part *coll);
/* Counts something that the result tells (enum lc_count). */
void lc_reader_count(struct lc_reader *reader, enum lc_count count, int64_t value);
/* What the location's seldom records are kept in, made when first asked for; NULL: no memory. */
struct lc_loc_extra *lc_reader_extra(struct lc_reader *reader);

/* Appends the region of a program that has none in the archive. Errors: LC_ERR_NOMEM. */
enum lc_err lc_program_region_add(struct lc_defs *defs, uint64_t string);

/* The implicit task of the innermost team that the location is in. */
static inline uint64_t lc_reader_implicit_task(const struct lc_reader *reader) {
    return (uint64_t)1 << 63 | (uint64_t)reader->loc->id << 32 | reader->open_part;
}
/* Adds an event of a task. LC_ERR_NOMEM. */
enum lc_err lc_reader_task_event(struct lc_reader *reader, const struct lc_task_event *event);

/* Sets those of regions, samples and threads' own call paths. */
void lc_read_region_callbacks(OTF2_EvtReaderCallbacks *callbacks);
/* Sets those of messages, requests and collectives. */
void lc_read_mpi_callbacks(OTF2_EvtReaderCallbacks *callbacks);
/* Sets those of teams, forks and locks. */
void lc_read_thread_callbacks(OTF2_EvtReaderCallbacks *callbacks);
/* Sets the callbacks of tasks (OpenMP). */
void lc_read_task_callbacks(OTF2_EvtReaderCallbacks *callbacks);
/* Whether the location came to teams whose forks, or their call paths, were not known when it was
 * read, and are now. */
bool lc_read_threads_outdated(const struct lc_reader *reader, const struct lc_loc *loc);
/* All locations of the process of `locs` have been read: notes teams without a fork. */
void lc_read_threads_end(struct lc_reader *reader, const struct lc_loc *locs, size_t n);
/* Sets those of windows and one-sided operations. */
void lc_read_rma_callbacks(OTF2_EvtReaderCallbacks *callbacks);
/* Sets the callbacks of all records that have no file of their own. */
void lc_read_other_callbacks(OTF2_EvtReaderCallbacks *callbacks);

/* Notes begin and end of a location for the subjects. Errors: what the first of them that
 * fails returns, LC_ERR_NOMEM or LC_ERR_IO (a file of kept events). */
enum lc_err lc_read_mpi_end(struct lc_reader *reader);

#endif
