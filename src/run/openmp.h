/* On which OpenMP runtime a program runs: its own. LLVM's tells tools (OMPT) what it does; of GCC's
 * the preloaded library sees the calls. With --openmp=libomp a program built for libgomp runs on
 * LLVM's, which has the functions that GCC compiles calls of: it is preloaded, and its functions
 * are found before libgomp's. */
#ifndef LC_RUN_OPENMP_H
#define LC_RUN_OPENMP_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "run/inspect.h"

/* Are the calls of GCC's code to libgomp to be seen, on which the program then stays (--openmp)? */
bool lc_openmp_is_native(void);
/* What to preload so that OpenMP is seen, or NULL: nothing is needed, or it cannot be (--openmp;
 * *why then says so, else it is ""). `why` has room for 256 bytes. The caller frees the path.
 * Errors: LC_ERR_NOMEM, with *library NULL. */
enum lc_err lc_openmp_choose(const struct lc_program *program, char **library, char *why);
/* Functions of an OpenMP runtime that the program calls and that are measured nowhere, because a
 * compiler newer than this tool makes such calls, or because they are for regions on other devices.
 * The caller frees the *n names, and what holds them, also after an error: LC_ERR_NOMEM. */
enum lc_err lc_openmp_unknown(const struct lc_program *program, char ***names, size_t *n);
/* Does a file of the program call what creates explicit tasks? */
bool lc_openmp_makes_tasks(const struct lc_program *program);
/* Whether libgomp is linked statically into the program, which is known unless it is stripped. */
bool lc_openmp_inside(const struct lc_program *program);

#endif
