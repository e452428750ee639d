/* The result model: metric tree x call tree x locations, as in Cube 4. Whatever measures or
 * analyses fills one, whatever reports reads one; the container is .cubex (cubex_read.h,
 * cubex_write.h).
 *
 * Glossary
 *   region     a function, an MPI call, a user region: something that is entered and left
 *   cnode      a node of the call tree: a region in the context of its callers; the nodes from a
 *              root to it are its call path
 *   location   a thread of a process (rank); the columns of every metric
 *   metric     what is measured; EXCLUSIVE: values without children of a cnode, INCLUSIVE: with
 *              them (only `time`)
 *   row        the values of one metric at one cnode, one double per location
 *
 * Invariants: ids are dense, in order of definition; parents are defined before children; cnodes of
 * our own results are numbered in depth-first pre-order (lc_model_sort_cnodes gives the order);
 * locations are ordered by rank, then thread. Along the metric tree values are inclusive (a parent
 * metric contains its children). */
#ifndef LC_MODEL_MODEL_H
#define LC_MODEL_MODEL_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/none.h"
#include "base/strbuf.h"

enum lc_metric_kind {
    LC_METRIC_EXCLUSIVE,
    LC_METRIC_INCLUSIVE,
    LC_METRIC_SIMPLE,
    LC_METRIC_DERIVED
};
enum lc_dtype {
    LC_DTYPE_DOUBLE,
    LC_DTYPE_UINT64,
    LC_DTYPE_INT64,
    LC_DTYPE_MIN_DOUBLE,
    LC_DTYPE_MAX_DOUBLE,
    LC_DTYPE_OTHER
};

struct lc_metric {
    uint32_t parent; /* metric id or LC_NONE */
    enum lc_metric_kind kind;
    enum lc_dtype dtype;
    char *name;    /* unique name: [A-Za-z0-9_:=]+ */
    char *display; /* for people */
    char *unit;    /* "sec", "occ", "bytes" */
    char *descr;   /* one sentence: the definition */
};

#define LC_MODEL_SAMPLED "sampling" /* paradigm of regions that samples found */

struct lc_region {
    char *name; /* demangled */
    char *mangled;
    char *module;                 /* source file or library; "" if unknown */
    char *paradigm;               /* "compiler", "mpi", "user", ... */
    char *role;                   /* "function", "barrier", ... */
    int64_t begin_line, end_line; /* -1: unknown */
};

struct lc_cnode {
    uint32_t parent; /* cnode id or LC_NONE */
    uint32_t region;
};

struct lc_system_node {
    uint32_t parent; /* system node id or LC_NONE */
    char *name;
    char *class_name; /* "machine", "node", ... */
};

struct lc_process { /* Cube: location group */
    uint32_t system_node;
    int32_t rank;
    char *name;
};

struct lc_location {
    uint32_t process;
    int32_t thread; /* rank inside the process */
    char *name;
};

struct lc_attr { /* key="latecomer.meta" and key="latecomer.pop" hold one JSON object each (docs:
                    command line) */
    char *key, *value;
};

struct lc_model {
    struct lc_metric *metrics;
    size_t n_metrics, cap_metrics;
    struct lc_region *regions;
    size_t n_regions, cap_regions;
    struct lc_cnode *cnodes;
    size_t n_cnodes, cap_cnodes;
    struct lc_system_node *system_nodes;
    size_t n_system_nodes, cap_system_nodes;
    struct lc_process *processes;
    size_t n_processes, cap_processes;
    struct lc_location *locations;
    size_t n_locations, cap_locations;
    struct lc_attr *attrs;
    size_t n_attrs, cap_attrs;
};

/* All strings are copied. Ids come back through *id (may be NULL). Errors: LC_ERR_NOMEM,
 * LC_ERR_RANGE (bad parent). */
enum lc_err lc_model_new(struct lc_model **model); /* freed with lc_model_free */
/* With all that it holds. NULL is allowed. */
void lc_model_free(struct lc_model *model);
/* Adds a metric; a parent must be there already. Errors: LC_ERR_NOMEM, LC_ERR_RANGE. */
enum lc_err lc_model_add_metric(struct lc_model *model, const struct lc_metric *metric,
                                uint32_t *id);
/* Adds a copy of a region; *id: its number. Errors: LC_ERR_NOMEM, LC_ERR_RANGE. */
enum lc_err lc_model_add_region(struct lc_model *model, const struct lc_region *region,
                                uint32_t *id);
/* Adds a call path; parent LC_NONE: a root. Errors: LC_ERR_NOMEM, LC_ERR_RANGE. */
enum lc_err lc_model_add_cnode(struct lc_model *model, uint32_t parent, uint32_t region,
                               uint32_t *id);
/* Adds a machine or node; parent LC_NONE: the root. Errors: LC_ERR_NOMEM, LC_ERR_RANGE. */
enum lc_err lc_model_add_system_node(struct lc_model *model, uint32_t parent, const char *name,
                                     const char *class_name, uint32_t *id);
/* Adds a process on a node. Errors: LC_ERR_NOMEM, LC_ERR_RANGE. */
enum lc_err lc_model_add_process(struct lc_model *model, uint32_t system_node, int32_t rank,
                                 const char *name, uint32_t *id);
/* Adds a thread of a process; thread 0 is the first. Errors: LC_ERR_NOMEM, LC_ERR_RANGE. */
enum lc_err lc_model_add_location(struct lc_model *model, uint32_t process, int32_t thread,
                                  const char *name, uint32_t *id);
/* Adds an attribute, or replaces its value. Errors: LC_ERR_NOMEM, with the old value in place;
 * LC_ERR_RANGE: 4 billion attributes. */
enum lc_err lc_model_set_attr(struct lc_model *model, const char *key, const char *value);
const char *lc_model_attr(const struct lc_model *model, const char *key); /* NULL if absent */
uint32_t lc_model_find_metric(const struct lc_model *model,
                              const char *name); /* LC_NONE if absent */

/* Appends a name as a component of a call path: its '/' as %2F. */
void lc_callpath_add(struct lc_strbuf *path, const char *name);

/* Call path "main/f/MPI_Recv" of a cnode ('/' in a name is %2F); the caller frees it; NULL without
 * memory. */
char *lc_model_callpath(const struct lc_model *model, uint32_t cnode);

#endif
