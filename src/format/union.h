/* Definitions of all ranks, brought together: what gets a number that all ranks share.
 *
 * Nouns
 *   entry   (type, key, payload): the key says what is meant, the same on every rank (a function by
 *           module and offset, a communicator by its agreed name); the payload holds what the key
 *           does not
 *   union   entries in ascending order of (type, key), each once; the global number of an entry is
 *           its place among those of its type
 *   blob    a union as bytes, to be sent
 *
 * Invariant: merging is associative and commutative but for payloads, of which the longest wins; so
 * any tree gives the same numbers. */
#ifndef LC_FORMAT_UNION_H
#define LC_FORMAT_UNION_H

#include "format/trace_defs.h"

struct lc_union_entry {
    const unsigned char *key, *payload;
    uint32_t key_bytes, payload_bytes;
    uint32_t type; /* enum lc_union_type */
};

struct lc_union {
    struct lc_arena arena;
    struct lc_union_entry *entries;
    size_t n_entries, cap_entries;
    size_t first[LC_UNION_TYPES + 1]; /* entries of a type: [first[t], first[t + 1]) */
};

/* What one rank knows; with `contexts` all its call paths, else those that samples refer to.
 * Errors: LC_ERR_NOMEM; lc_union_free frees what is there, then, too. */
enum lc_err lc_union_of_rank(struct lc_union *u, const struct lc_trace_defs *defs, bool contexts);
/* Puts copies of the other's entries into u. Errors: LC_ERR_NOMEM. */
enum lc_err lc_union_merge(struct lc_union *u, const struct lc_union *other);
/* Appends all records to `out`, for lc_union_unpack. LC_ERR_NOMEM. */
enum lc_err lc_union_pack(const struct lc_union *u, struct lc_strbuf *out);
/* Fills an empty union with copies; lc_union_free frees it. LC_ERR_FORMAT, LC_ERR_NOMEM. */
enum lc_err lc_union_unpack(struct lc_union *u, const void *bytes, size_t n_bytes);
/* Frees what it holds, not the struct. */
void lc_union_free(struct lc_union *u);

/* Fills defs->maps. Errors: LC_ERR_NOMEM; lc_trace_defs_free frees the maps in any case. */
enum lc_err lc_union_map(const struct lc_union *u, struct lc_trace_defs *defs, bool contexts);

/* The global number of an entry, LC_NONE if there is none. */
uint32_t lc_union_find(const struct lc_union *u, enum lc_union_type type, const void *key,
                       size_t key_bytes);

/* The payloads, read back; LC_ERR_FORMAT if damaged. */
struct lc_union_region {
    uint32_t kind, flags;
    const char *name, *module, *build_id;
    uint64_t offset;
};
struct lc_union_comm {
    uint32_t flags, parent; /* global number, LC_NONE */
    uint32_t n_local, n_remote;
    const int32_t *world;
    const char *name;
    uint32_t n_dims; /* Cartesian topology; 0: none */
    int32_t dims[LC_GRID_DIMS], periodic[LC_GRID_DIMS];
};
struct lc_union_win {
    uint32_t comm; /* global number */
    const char *name;
};
struct lc_union_handle { /* an open file */
    uint32_t comm, file; /* global numbers, LC_NONE */
};
struct lc_union_neighbours {
    uint32_t comm; /* global number, LC_NONE */
    uint32_t n;
    int32_t rank;           /* in MPI_COMM_WORLD */
    const int32_t *sources; /* ranks of the communicator, not aligned */
};
struct lc_union_site {
    uint32_t caller, callee; /* regions: global numbers */
    const char *module, *build_id;
    uint64_t call_site;
};
struct lc_union_context {
    uint32_t parent, region; /* global numbers; parent LC_NONE */
    const char *module; /* where the region was called from: file and address in it; "" unknown */
    const char *build_id;
    uint64_t call_site;
};
/* A region; its pointers, and those of all readers, last as `u`. Errors: LC_ERR_RANGE: there is no
 * such number; LC_ERR_FORMAT: the payload is damaged. */
enum lc_err lc_union_read_region(const struct lc_union *u, size_t number,
                                 struct lc_union_region *out);
/* A communicator. Errors: those of lc_union_read_region. */
enum lc_err lc_union_read_comm(const struct lc_union *u, size_t number, struct lc_union_comm *out);
/* A window. Errors: those of lc_union_read_region. */
enum lc_err lc_union_read_win(const struct lc_union *u, size_t number, struct lc_union_win *out);
/* The ranks in MPI_COMM_WORLD of a group. Errors: those of lc_union_read_region. */
enum lc_err lc_union_group(const struct lc_union *u, size_t number, const int32_t **world,
                           uint32_t *n);
/* A call path. Errors: those of lc_union_read_region. */
enum lc_err lc_union_read_context(const struct lc_union *u, size_t number,
                                  struct lc_union_context *out);
/* An open file. Errors: those of lc_union_read_region. */
enum lc_err lc_union_read_handle(const struct lc_union *u, size_t number,
                                 struct lc_union_handle *out);
/* The neighbours of one rank. Errors: those of lc_union_read_region. */
enum lc_err lc_union_read_neighbours(const struct lc_union *u, size_t number,
                                     struct lc_union_neighbours *out);
/* A call site. Errors: those of lc_union_read_region. */
enum lc_err lc_union_read_site(const struct lc_union *u, size_t number, struct lc_union_site *out);
/* Of the types LC_UNION_STRING and LC_UNION_FILE. */
const char *lc_union_string(const struct lc_union *u, enum lc_union_type type, size_t number);
static inline size_t lc_union_count(const struct lc_union *u, enum lc_union_type type) {
    return u->first[type + 1] - u->first[type];
}

#endif
