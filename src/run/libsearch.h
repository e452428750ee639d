/* The libraries an ELF file needs, transitively, found by the dynamic linker's rules: DT_RPATH of
 * the file and those that need it, LD_LIBRARY_PATH, DT_RUNPATH, the linker's cache, the standard
 * folders; $ORIGIN and $LIB are replaced. Nothing is executed. */
#ifndef LC_RUN_LIBSEARCH_H
#define LC_RUN_LIBSEARCH_H

#include "base/err.h"

/* Calls `visit` once for each library with its path. Libraries that are not found are left out.
 * Errors: LC_ERR_NOMEM, and what `visit` returns, after which it is not called again. */
enum lc_err lc_libsearch_walk(const char *program,
                              enum lc_err (*visit)(void *context, const char *path), void *context);

/* Where the dynamic linker finds a library of this name that is preloaded; *path NULL: nowhere. The
 * caller frees it. Errors: LC_ERR_NOMEM. */
enum lc_err lc_libsearch_find(const char *soname, char **path);

#endif
