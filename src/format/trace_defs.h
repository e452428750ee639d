/* Definitions of one rank's trace: what the numbers in its raw streams mean.
 *
 * Nouns
 *   definition stream  a sequence of (type << 56 | payload bytes, payload padded to 8 bytes),
 *                      written by the library on first use
 *   node, region       the call tree as in state.h; regions are its distinct functions, numbered
 *                      per rank
 *   comm, window, ...  as the library numbered them
 *
 * A struct lc_trace_defs is filled from the definition stream (which a dying program leaves in
 * memory or in a file) and from the call tree (in the state, or as an LC_DEF_TREE record). Used by
 * the library in MPI_Finalize and by src/trace; needs no OTF2.
 *
 * Invariants: every number refers to an existing entry or is LC_NONE; every length was checked
 * against the stream's. */
#ifndef LC_FORMAT_TRACE_DEFS_H
#define LC_FORMAT_TRACE_DEFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/trace_def_records.h"
#include "base/arena.h"
#include "base/timer.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "format/state.h"

struct lc_trace_node {
    uint32_t parent;    /* LC_NONE: root */
    uint32_t region;    /* LC_NONE for the root above `main` */
    uint32_t depth;     /* regions on the way from the root, itself included */
    uint32_t kind;      /* enum lc_raw_kind */
    bool in_region;     /* a region of the user, or below one */
    bool sampled;       /* found by samples below an exact node */
    bool holds_samples; /* that, or a node around one: samples refer to it */
};

struct lc_trace_site { /* a place in the function of the node's parent from which it was called */
    uint32_t node, unused;
    uint64_t address; /* as in the parent's module */
};

/* A region of the user that was outermost somewhere: a phase. Beside LC_RAW_NODE_MAIN. */
#define LC_TRACE_PHASE 0x80000000u

struct lc_trace_region {
    /* enum lc_raw_kind, LC_RAW_NODE_MAIN; SAMPLED: a function, or with a name what is none */
    uint32_t kind, flags;
    const char *name; /* MPI, REGION; "" */
    const char *module, *build_id;
    uint64_t offset;
};

struct lc_trace_comm {
    struct lc_def_comm head;
    const int32_t *world; /* n_local + n_remote */
    const char *name;
    struct lc_def_grid grid;
    bool known;
};

struct lc_trace_win {
    uint32_t comm;
    const char *name;
    bool known;
};

struct lc_trace_group {
    const int32_t *world;
    uint32_t n;
};

struct lc_trace_neighbours {
    uint32_t comm, n;
    const int32_t *sources;
};

struct lc_trace_string {
    const char *text; /* NULL: unknown */
    uint32_t use;     /* enum lc_def_string, or'ed */
};

struct lc_trace_file {
    struct lc_def_file head;
    bool known;
};

struct lc_trace_thread {
    uint32_t thread, tid;
    uint64_t begin_ticks;
};

struct lc_trace_clock {
    uint64_t ticks;
    int64_t offset;
    uint64_t deviation;
};

struct lc_trace_left_out {
    struct lc_def_left_out of;
    int64_t until; /* of its channel, up to the end of the gap */
};

enum lc_union_type { /* what is numbered over all ranks */
                     LC_UNION_REGION,
                     LC_UNION_COMM,
                     LC_UNION_STRING,
                     LC_UNION_WIN,
                     LC_UNION_GROUP,
                     LC_UNION_FILE,       /* names of files; local numbers are those of strings */
                     LC_UNION_HANDLE,     /* open files */
                     LC_UNION_NEIGHBOURS, /* of a process in a communicator */
                     LC_UNION_SITE,       /* calls: where in which function another is called */
                     LC_UNION_CONTEXT,
                     LC_UNION_TYPES
};

struct lc_trace_defs {
    struct lc_arena arena;
    struct lc_def_process process;
    const char *host, *program, *arguments, *build_id;
    uint64_t end_ticks, end_ns; /* LC_DEF_RATE; 0: none */
    struct lc_trace_node *nodes;
    size_t n_nodes, cap_nodes;
    struct lc_trace_region *regions;
    size_t n_regions, cap_regions;
    struct lc_trace_comm *comms;
    size_t n_comms, cap_comms;
    struct lc_trace_win *wins;
    size_t n_wins, cap_wins;
    struct lc_trace_group *groups;
    size_t n_groups, cap_groups;
    struct lc_trace_neighbours *neighbours;
    size_t n_neighbours, cap_neighbours;
    struct lc_trace_string *strings;
    size_t n_strings, cap_strings;
    struct lc_trace_file *files;
    size_t n_files, cap_files;
    struct lc_trace_site *sites;
    size_t n_sites, cap_sites;
    struct lc_def_bend bend; /* ns_per_tick 0: none */
    bool cut_off;            /* the stream ends in the middle of a record */
    size_t n_bytes;          /* of the stream */
    struct lc_trace_thread *threads;
    size_t n_threads, cap_threads;
    struct lc_trace_clock *clocks;
    size_t n_clocks, cap_clocks;
    const char *windows;                /* which are recorded; NULL: everything is */
    struct lc_trace_left_out *left_out; /* by channel, then gap */
    size_t n_left_out, cap_left_out;
    uint32_t *maps[LC_UNION_TYPES]; /* local number -> global number */
    size_t n_maps[LC_UNION_TYPES];
};

/* The time stamp that the clock of a test shows instead. */
static inline uint64_t lc_trace_bent(const struct lc_trace_defs *d, uint64_t ticks) {
    const struct lc_def_bend *b = &d->bend;
    if (!(b->ns_per_tick > 0))
        return ticks;
    double ns = (double)(int64_t)(ticks - b->base_ticks) * b->ns_per_tick;
    double shift = (lc_timer_bent(&b->bend, ns) - ns) / b->ns_per_tick;
    bool sane = shift > -1e18 && shift < 1e18; /* not so where the definition is damaged */
    return sane ? ticks + (uint64_t)(int64_t)shift : ticks;
}

/* `defs` zeroed or empty; parses the definition stream. LC_ERR_FORMAT if it is damaged. Freed with
 * lc_trace_defs_free. */
enum lc_err lc_trace_defs_parse(struct lc_trace_defs *defs, const void *bytes, size_t n_bytes);
/* Frees what lc_trace_defs_parse filled in; empty afterwards. */
void lc_trace_defs_free(struct lc_trace_defs *defs);

/* What was begun on a channel outside of windows before window number `window` (from 1) was
 * opened. */
uint64_t lc_trace_left_out_before(const struct lc_trace_defs *defs,
                                  const struct lc_def_left_out *channel, uint32_t window);

/* Adds the call tree that the state holds; nothing if the stream had one. Errors: those of
 * lc_trace_tree_pack. */
enum lc_err lc_trace_defs_tree_from_state(struct lc_trace_defs *defs, const void *state,
                                          size_t n_bytes);

/* Appends an LC_DEF_TREE record of the state's call tree, as bytes of the definition stream.
 * Errors: LC_ERR_FORMAT: the program has not written its state; LC_ERR_NOMEM. */
enum lc_err lc_trace_tree_pack(const void *state, size_t n_bytes, struct lc_strbuf *out);

/* Appends one definition record. */
void lc_trace_def_put(struct lc_strbuf *out, enum lc_def_type type, const void *head,
                      size_t head_bytes, const void *rest, size_t rest_bytes);

#endif
