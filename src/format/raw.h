/* A raw profile: what the measurement library leaves behind, in addresses, before names. Written by
 * MPI_Finalize on rank 0 (one file for all ranks), or made from shared memory by the parent of a
 * program that died; read by `latecomer run`'s parent, which resolves addresses, computes the
 * estimates and writes profile.cubex.
 *
 * Nouns
 *   module    an ELF file of the program: path, build id (hex), so that addresses are (module,
 *             offset in the file's address space)
 *   node      a call-tree node: (parent, kind, what). Frames are functions: `offset` is the begin
 *             of the function, so that one function is one node under its parent whatever the call
 *             site
 *   location  (rank, thread) with host name
 *   row       per (node, location, size class): a size class is 0 for 0 bytes, else
 *             1 + floor(log2(bytes)); see LC_RAW_CLASS_*
 *   value     per (node, location): a named metric that is final as it is (measured waits, critical
 *             path, ...), in its unit
 *
 * Invariants: ids dense; parent < id; node 0 is the root of the tree (`main` by position); times
 * in ns. */
#ifndef LC_FORMAT_RAW_H
#define LC_FORMAT_RAW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/none.h"

enum lc_raw_kind {
    /* the program itself: parent of main and of thread start functions; not shown when it has one
     * child and no rows */
    LC_RAW_ROOT,
    LC_RAW_FRAME,  /* function: module, offset of its begin */
    LC_RAW_MPI,    /* MPI function: name = "MPI_Send" */
    LC_RAW_REGION, /* user region: name */
    LC_RAW_CUT,    /* "...": deeper than the limit */
    /* Found by samples below a node that is exact: a function, as FRAME; or, with ref LC_NONE and
     * offset = enum lc_raw_sampled, what is none */
    LC_RAW_SAMPLED,
    LC_RAW_SCRIPT, /* function of an interpreted program: name = "solver.py:Solver.step:41" */
    /* An executable, below the root: name = its id (base/program_names.h). Everything of the
     * processes that run it hangs below it; not shown where a run has one program only. */
    LC_RAW_PROGRAM,
    LC_RAW_SAMPLED_SCRIPT, /* found by samples, as SAMPLED: a function as SCRIPT */
    LC_RAW_KINDS
};

enum lc_raw_sampled {
    LC_RAW_OFF_CPU = 1, /* the thread waited for something outside of MPI */
    LC_RAW_PREEMPTED,   /* the thread could have gone on, another one had its core */
    LC_RAW_KERNEL,      /* in a system call */
    LC_RAW_SELF,        /* samples in the parent's own function; not shown apart from it */
    LC_RAW_UNRESOLVED,  /* too few samples for names; of the conversion */
    LC_RAW_CALLERS,     /* functions that are not known: who called what is inside */
    /* As OFF_CPU, for a page that had to be fetched; for data of a file, or a device. Both only
     * where that is known. */
    LC_RAW_PAGE_FAULT,
    LC_RAW_FILE_SYSTEM
};
static inline bool lc_raw_is_off_cpu(uint64_t what) { /* times, not samples of them */
    return what == LC_RAW_OFF_CPU || what == LC_RAW_PREEMPTED || what == LC_RAW_PAGE_FAULT ||
           what == LC_RAW_FILE_SYSTEM;
}
const char *lc_raw_sampled_name(uint64_t what); /* as in results: "(off CPU)" */

/* Nodes that samples have found, below one that is exact. */
static inline bool lc_raw_is_sampled(uint32_t kind) {
    return kind == LC_RAW_SAMPLED || kind == LC_RAW_SAMPLED_SCRIPT;
}

/* Nodes whose `ref` is a module. */
static inline bool lc_raw_is_code(uint32_t kind) {
    return kind == LC_RAW_FRAME || kind == LC_RAW_SAMPLED;
}

/* Nodes whose `ref` is a name. */
static inline bool lc_raw_is_named(uint32_t kind) {
    return kind == LC_RAW_MPI || kind == LC_RAW_REGION || kind == LC_RAW_SCRIPT ||
           kind == LC_RAW_SAMPLED_SCRIPT || kind == LC_RAW_PROGRAM;
}

struct lc_raw_module {
    char *path;
    char *build_id; /* lower-case hex, "" if none */
};

struct lc_raw_node {
    uint32_t parent; /* LC_NONE for node 0 */
    uint32_t kind;   /* enum lc_raw_kind */
    /* FRAME: module, LC_NONE: code made at run time; named: name (index into names); else
     * 0 */
    uint32_t ref;
    uint32_t flags;  /* LC_RAW_NODE_* */
    uint64_t offset; /* FRAME: address in the module's ELF address space, begin of the function */
    /* FRAME: one address inside it from which the child was called (ELF address space), 0
     * unknown */
    uint64_t call_site;
};
#define LC_RAW_NODE_MAIN  1u /* this frame is main by position */
#define LC_RAW_NODE_START 2u /* ... a thread's start function by position */

struct lc_raw_location {
    int32_t rank, thread;
    uint32_t host; /* index into names */
    int32_t pid;
    uint64_t begin_ns, end_ns; /* life of the location on the node's CLOCK_MONOTONIC_RAW */
};

/* Names of the values that logical clocks measure: LC_RAW_WAITS wait states, other times, counts
 * (from LC_RAW_COUNTS on), and as the last one critical_path_useful. */
enum { LC_RAW_WAITS = 25, LC_RAW_COUNTS = 31, LC_RAW_MEASURED = 35 };
extern const char *const lc_raw_measured[LC_RAW_MEASURED];
static inline bool lc_raw_is_count(uint32_t measured) {
    return measured >= LC_RAW_COUNTS && measured < LC_RAW_MEASURED - 1;
}

/* Counters along the way (--counters); names of their metrics. */
enum lc_counter {
    LC_COUNTER_INSTRUCTIONS, /* of the processor, */
    LC_COUNTER_CYCLES,
    LC_COUNTER_FAULTS, /* of the kernel */
    LC_COUNTER_SWITCHES,
    LC_COUNTER_BYTES, /* sent; its metric is there without --counters */
    LC_COUNTERS
};
extern const char *const lc_raw_counters[LC_COUNTERS];

enum {
    /* not a message size: sum = exclusive time of the node, count = visits (regions only) */
    LC_RAW_CLASS_TIME = 255,
    LC_RAW_ROW_ROOT = 1, /* flags: calls as root of a rooted collective (own minimum) */
    LC_RAW_ROW_RECV = 2, /* flags: the call completed a receive (MPI_Wait*, MPI_Test*) */
    LC_RAW_ROW_SEND = 4, /* flags: the call completed a send of its own (MPI_Wait*) */
    LC_RAW_ROW_NULL = 8, /* flags: no message (MPI_PROC_NULL, failed): not in comms_*, syncs_* */
    /* flags, four bits from this one on: which of the groups of so many ranks that this process
     * knows (measure/mpi/handles.h); 0: not known, LC_RAW_GROUP_OTHER: one of those for which
     * there is no number */
    LC_RAW_ROW_GROUP_SHIFT = 4,
    LC_RAW_GROUP_OTHER = 15,
    /* flags, from this bit on: members of the communicator of a collective, both groups of an
     * intercommunicator, at most LC_RAW_COMM_MOST; 0: other calls */
    LC_RAW_ROW_COMM_SHIFT = 8,
    LC_RAW_COMM_MOST = 0xffff,
    /* Not a message size: numbers of messages of calls that can have other than one (MPI_Waitall,
     * Waitsome, Testall, Testsome, Startall, Sendrecv*): count = received with bytes, sum_ns =
     * received without, min_ns = sent with, max_ns = sent without. */
    LC_RAW_CLASS_MESSAGES = 254,
    /* Not a message size: samples that fell into the node's own time. count: samples; sum_ns: the
     * time they stand for; max_ns: sum of the squares of these, in (us)^2; of nodes
     * LC_RAW_OFF_CPU and LC_RAW_PREEMPTED: count of times, sum_ns measured, and max_ns 0; or, where
     * it was seen in some windows of time only, what these times stand for. In the state all of
     * this is in ns already. With u what the node's samples of one time between two events stand
     * for, and v those of all nodes then, in LC_RAW_SAMPLE_UNIT_NS: min_ns: sum of u u; bytes_sent:
     * sum of u v. */
    LC_RAW_CLASS_SAMPLES = 253,
    /* Not a message size: samples of the node at one address. count: samples; sum_ns: the time they
     * stand for; min_ns: the address, in the module of the innermost code from the node outwards.
     */
    LC_RAW_CLASS_ADDRESS = 252,
    /* Not a message size: what was counted in the node's own time, or in its calls: sum_ns, min_ns,
     * max_ns, bytes_sent, bytes_rcvd in the order of enum lc_counter. The lowest of these. */
    LC_RAW_CLASS_COUNTERS = 251,
    LC_RAW_SAMPLE_UNIT_NS = 1 << 14
};

/* Does a row of this class hold numbers, or times in ns already, where others hold ticks? */
static inline bool lc_raw_holds_numbers(uint32_t size_class) {
    return size_class >= LC_RAW_CLASS_COUNTERS && size_class < LC_RAW_CLASS_TIME;
}

struct lc_raw_row {
    uint32_t node, location;
    uint32_t size_class, flags;
    uint64_t count, sum_ns, min_ns, max_ns;
    /* point-to-point; collectives: bytes_cout, bytes_cin by the kind of the function */
    uint64_t bytes_sent, bytes_rcvd;
    uint64_t synced; /* of `count`: calls that moved no data */
};

struct lc_raw_value {
    uint32_t metric; /* index into names: a metric of model/metrics.h */
    uint32_t node, location;
    uint32_t unused;
    double value;
};

/* The value with which a node says its number in the process itself, where others name it so. */
#define LC_RAW_NODE_NUMBER "node_number"

struct lc_raw {
    struct lc_raw_module *modules;
    size_t n_modules, cap_modules;
    char **names;
    size_t n_names, cap_names;
    struct lc_raw_node *nodes;
    size_t n_nodes, cap_nodes;
    struct lc_raw_location *locations;
    size_t n_locations, cap_locations;
    struct lc_raw_row *rows; /* any order */
    size_t n_rows, cap_rows;
    struct lc_raw_value *values;
    size_t n_values, cap_values;
    void *facts; /* what the library gathered about the run (format/facts.h); NULL: nothing */
    size_t n_facts;
    /* JSON texts of parents (run/facts_text.h), or NULL: the object "pop", and a part of "meta" */
    char *meta, *pop;
};

/* An empty profile; lc_raw_free frees it. Errors: LC_ERR_NOMEM. What is added below is copied; its
 * number comes back through *id; on errors the profile is as before. */
enum lc_err lc_raw_new(struct lc_raw **raw);
void lc_raw_free(struct lc_raw *raw); /* with all that it holds; NULL is allowed */
/* Finds or adds. Errors: LC_ERR_NOMEM; LC_ERR_RANGE: 4 billion names. */
enum lc_err lc_raw_add_name(struct lc_raw *raw, const char *name, uint32_t *id);
/* Finds or adds. Errors: LC_ERR_NOMEM; LC_ERR_RANGE: 4 billion modules. */
enum lc_err lc_raw_add_module(struct lc_raw *raw, const char *path, const char *build_id,
                              uint32_t *id);
/* Finds an equal one under the parent, or adds. Errors: LC_ERR_NOMEM; LC_ERR_RANGE: the parent is
 * not there yet, or 4 billion nodes. */
enum lc_err lc_raw_add_node(struct lc_raw *raw, const struct lc_raw_node *node, uint32_t *id);
/* Adds one. Errors: LC_ERR_NOMEM; LC_ERR_RANGE: 4 billion locations. */
enum lc_err lc_raw_add_location(struct lc_raw *raw, const struct lc_raw_location *location,
                                uint32_t *id);
/* Adds one; what it refers to is not checked (lc_raw_check). Errors: LC_ERR_NOMEM. */
enum lc_err lc_raw_add_row(struct lc_raw *raw, const struct lc_raw_row *row);
/* Adds a value; what it refers to is not checked (lc_raw_check). Errors: LC_ERR_NOMEM. */
enum lc_err lc_raw_add_value(struct lc_raw *raw, const struct lc_raw_value *value);

/* Adds modules, names and nodes of `other` to `raw`; map[i] is the node of `raw` for node i of
 * `other` (the caller frees *map). The step of the tree in MPI_Finalize, and of joining ranks
 * salvaged from shared memory. Errors: those of lc_raw_add_node; LC_ERR_FORMAT: `other` refers to
 * what it does not hold. `raw` may have got a part by then. */
enum lc_err lc_raw_merge_nodes(struct lc_raw *raw, const struct lc_raw *other, uint32_t **map);
/* All of `other`: nodes, locations, rows, values. Errors: those of lc_raw_merge_nodes. */
enum lc_err lc_raw_merge(struct lc_raw *raw, const struct lc_raw *other);

/* Is it the root, or a program below it: what stands above `main`? */
static inline bool lc_raw_is_above(const struct lc_raw *raw, uint32_t node) {
    return node == 0 || raw->nodes[node].kind == LC_RAW_PROGRAM;
}

/* All references of nodes, locations, rows and values are in range, parents come before children.
 * LC_ERR_FORMAT if not. */
enum lc_err lc_raw_check(const struct lc_raw *raw);

#endif
