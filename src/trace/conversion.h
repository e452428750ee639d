/* What the conversion of a location is given, and what it gives back.
 *
 * Nouns
 *   segment  contiguous words of a stream (the file of flushed chunks, then the chunks in memory);
 *            a record never lies in two segments */
#ifndef LC_TRACE_CONVERSION_H
#define LC_TRACE_CONVERSION_H

#include <otf2/otf2.h>

#include "format/trace_defs.h"
#include "format/filter.h"
#include "format/trace_record.h"

/* The number of the archive's only attribute, LC_LEFT_OUT_ATTRIBUTE. */
enum { LC_TRACE_LEFT_OUT_REF = 0 };

struct lc_trace_segment {
    const uint64_t *words;
    size_t n_words;
    bool file; /* a mapped file: pages are given back once they are converted */
};

enum lc_trace_callpath { LC_TRACE_ENTER, LC_TRACE_CONTEXT, LC_TRACE_NONE };

struct lc_convert {
    OTF2_EvtWriter *writer;
    const struct lc_trace_defs *defs;
    const struct lc_trace_segment *segments;
    size_t n_segments;
    uint32_t thread;
    uint64_t begin_ticks; /* since base, as all times of the streams */
    enum lc_trace_callpath callpath;
    bool handles; /* write create/destroy handle operations as collectives, as newer tools do */
    const struct lc_filter *filter; /* messages by size and communicator; NULL: all */
    const unsigned char *hidden;    /* per region of defs: filtered; NULL: none */
    const unsigned char *muted;     /* per communicator of defs, the same */
    uint32_t thread_comm;           /* number of the communicator of the threads of this process */
    /* written as ThreadCreate on this location, ascending by begin; the communicators of teams of
     * OpenMP follow: thread_comm + 1 + team */
    const struct lc_trace_thread *children;
    size_t n_children;
    void (*progress)(void *user, uint64_t n_words); /* since the last call; NULL: none */
    void *user;
    /* out */
    uint64_t n_events;
    uint64_t first_time, last_time; /* absolute ticks */
    uint64_t n_bad;                 /* records that made no sense and were skipped */
    uint32_t *teams;                /* that this thread was in; malloc'ed */
    size_t n_teams, cap_teams;
};

#endif
