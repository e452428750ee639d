/* What OpenMP looks like in call paths: constructs by name and line, and nothing of how compilers
 * and runtimes do it. */
#ifndef LC_RUN_OMP_NAMES_H
#define LC_RUN_OMP_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "format/raw.h"
#include "symbols/symbols.h"

/* "!$omp parallel @solve.c:12" of a name as in format/omp_construct.h, in `text`; without line
 * where that is not known. Errors: LC_ERR_NOMEM. */
enum lc_err lc_omp_construct_name(const struct lc_raw *raw, struct lc_symbols *symbols,
                                  const char *name, char *text, size_t bytes);
/* What Score-P calls the role of such a region, "parallel", "barrier", ..; static. */
const char *lc_omp_role(const char *name);

/* The part of `omp_time` to which the time in such a region belongs; NULL: the time is that of the
 * construct's code. */
const char *lc_omp_time_metric(const char *name);

#endif
