/* The file of `latecomer run --filter`: what is left out of a trace. One rule per line, `#` begins
 * a comment; patterns are those of the shell; of several rules that match a name the last one
 * counts.
 *
 *   exclude PATTERN..        functions: no Enter and Leave (what they send and receive stays, in
 * the function that called them) include PATTERN.. exclude-comm PATTERN..   communicators by name
 * (MPI_COMM_WORLD, MPI_Comm_set_name): no messages, no collectives include-comm PATTERN.. min-bytes
 * N, max-bytes N messages of other sizes are left out */
#ifndef LC_FORMAT_FILTER_H
#define LC_FORMAT_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct lc_filter_rule {
    char *pattern;
    bool exclude, comm;
};

struct lc_filter {
    struct lc_filter_rule *rules;
    size_t n_rules, cap_rules;
    uint64_t min_bytes, max_bytes;
    bool functions, comms; /* there are such rules */
};

/* Reads a filter of Score-P's form; lc_filter_free frees it. LC_ERR_IO, LC_ERR_FORMAT,
 * LC_ERR_NOMEM. */
enum lc_err lc_filter_load(struct lc_filter **filter, const char *path);
/* NULL is allowed. */
void lc_filter_free(struct lc_filter *filter);
/* The last rule that matches the name decides. comm: names of communicators, else of functions.
 * */
bool lc_filter_excludes(const struct lc_filter *filter, bool comm, const char *name);

#endif
