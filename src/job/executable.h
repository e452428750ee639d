/* Finding programs as the shell does. */
#ifndef LC_JOB_EXECUTABLE_H
#define LC_JOB_EXECUTABLE_H

#include <stdbool.h>

/* A file (not a folder) that this user may execute. */
bool lc_is_executable_file(const char *path);

/* The first executable called `name` in PATH, or `name` itself if it holds a slash; the caller
 * frees it; NULL if there is none. */
char *lc_find_executable(const char *name);

#endif
