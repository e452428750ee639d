/* Traces of a run as an OTF2 archive: made after the program ended, from what the library left in
 * shared memory and in files.
 *
 * Nouns
 *   experiment directory  DIR; the archive is DIR/traces.otf2, DIR/traces.def and
 *                         DIR/traces/<location>.{evt,def}
 *   raw files             DIR/traces/r<rank>.t<thread>.raw (records), DIR/traces/r<rank>.defs
 *                         (definition stream), DIR/traces/union (definitions of all ranks, from
 *                         MPI_Finalize); removed when the archive is complete
 *   rank file             DIR/traces/r<rank>.done: the rank's event files are written, and how many
 *                         events each has
 *
 * Invariant: traces.otf2 exists if and only if the archive is complete. Called by `latecomer run`
 * (parents of the ranks) and `latecomer recover`. */
#ifndef LC_TRACE_ARCHIVE_H
#define LC_TRACE_ARCHIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "format/trace_record.h"

/* Where names come from: given by the caller, since only it links what reads debug information.
 * Text belongs to the context. */
struct lc_trace_symbol {
    const char *name;         /* as shown; NULL: unknown */
    const char *linkage_name; /* NULL: the same */
    const char *file;         /* NULL: unknown */
    uint32_t line;
};
struct lc_trace_names {
    void *context;
    /* the function that begins at `offset` of the module, or holds it */
    void (*function)(void *context, const char *module, const char *build_id, uint64_t offset,
                     bool is_main, struct lc_trace_symbol *out);
    /* file and line of that address */
    void (*line)(void *context, const char *module, const char *build_id, uint64_t offset,
                 struct lc_trace_symbol *out);
};

struct lc_trace_options {
    int callpath;       /* enum lc_trace_callpath of trace_convert.h */
    bool handles;       /* create/destroy handle operations, as newer tools write them */
    const char *filter; /* file of patterns (filter.h), or NULL */
    double patience_s;  /* rank 0: how long to wait for the other ranks' files */
    const struct lc_trace_names *names;
    void (*progress)(const char *text, double fraction); /* rank 0, after 2 s; may be NULL */
};

/* enter, context, none -> options.callpath; NULL or "": enter. false: none of these. */
bool lc_trace_callpath_of(const char *text, int *callpath);

/* The area inside a state of the library (a mapping of `bytes` bytes), NULL if there is none or it
 * is damaged. */
const struct lc_trace_area *lc_trace_area_of(const void *state, size_t bytes);

struct lc_trace_summary { /* of all ranks */
    uint64_t events, bytes, flushes, lost_records, lost_threads;
    int write_error; /* errno of the first failure to write out a full buffer, of this rank */
};

/* After a good end (area->finalized): writes the event files of this rank; on rank 0 also the
 * definitions, when all ranks are done. `state` may be used by nobody else. The summary is filled
 * on rank 0. Errors: LC_ERR_NOMEM, LC_ERR_FORMAT, LC_ERR_IO, LC_ERR_NOT_FOUND. */
enum lc_err lc_trace_finish(const void *state, size_t bytes, const char *dir,
                            const struct lc_trace_options *options,
                            struct lc_trace_summary *summary);

/* After a bad end: saves what one rank left in memory to its raw files, for lc_trace_recover. Any
 * process of the node may call it. Errors: LC_ERR_NOMEM, LC_ERR_FORMAT, LC_ERR_IO. */
enum lc_err lc_trace_salvage(const void *state, size_t bytes, const char *dir);

struct lc_trace_recovered {
    int ranks, ranks_found;
    uint64_t events;
    uint64_t bytes; /* of event files */
    bool complete_already;
};

/* Makes an archive of the raw files in DIR. LC_ERR_NOT_FOUND: there are none. */
enum lc_err lc_trace_recover(const char *dir, const struct lc_trace_options *options,
                             struct lc_trace_recovered *out);

#endif
