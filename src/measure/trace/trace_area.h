/* What the parts of the trace recorder share (trace_area.c, definitions.c, trace_calls.c,
 * trace_unify.c). */
#ifndef LC_MEASURE_TRACE_TRACE_AREA_H
#define LC_MEASURE_TRACE_TRACE_AREA_H

#include <pthread.h>

#include "base/strbuf.h"
#include "measure/core.h"
#include "format/trace_defs.h"
#include "format/trace_record.h"

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
    uint64_t min_bytes, max_bytes; /* of messages that are recorded */
};
extern struct lc_tracing lc_tracing;

bool lc_trace_wanted(void);
uint64_t lc_trace_buffer_bytes(void);
void lc_trace_stream_open(struct lc_trace_stream *s, uint32_t thread, uint64_t begin_ticks);
void lc_trace_stream_close(struct lc_trace_stream *s);
bool lc_trace_flush(struct lc_trace_stream *s);
void lc_trace_define(enum lc_def_type type, const void *head, size_t head_bytes, const void *rest,
                     size_t rest_bytes);

#endif
