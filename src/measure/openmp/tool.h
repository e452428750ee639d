/* The OpenMP tool: what the runtime finds through the preloaded library, and its callbacks. */
#ifndef LC_MEASURE_OPENMP_TOOL_H
#define LC_MEASURE_OPENMP_TOOL_H

#include <stdbool.h>

struct lc_part;
struct lc_strbuf;

/* A runtime with a tools interface finds the tool through the preloaded library. */
extern const struct lc_part lc_omp_part;
/* Starts the tool for a runtime that has no tools interface, whose calls are seen (gomp/); false:
 * nothing is measured here. */
bool lc_omp_start_native(const char *runtime);
/* LC_FACT_OPENMP and LC_FACT_MISSING; nothing without OpenMP. */
void lc_omp_put_facts(struct lc_strbuf *facts);

#endif
