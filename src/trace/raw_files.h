/* Files below DIR/traces. */
#ifndef LC_TRACE_RAW_FILES_H
#define LC_TRACE_RAW_FILES_H

#include <stddef.h>

#include "base/err.h"

struct lc_trace_mapped {
    void *at;
    size_t bytes;
};

/* Whole file, read-only; an empty or missing one gives {0}. Errors: LC_ERR_IO. */
enum lc_err lc_trace_map_file(struct lc_trace_mapped *m, const char *path);
/* Gives the mapping back; {0}: nothing. */
void lc_trace_unmap(struct lc_trace_mapped *m);
/* DIR/traces/..., for the caller to free(); NULL: no memory. */
char *lc_trace_path(const char *dir, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
