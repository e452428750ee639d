/* The OpenMP tool: what the runtime finds through the preloaded library, and its callbacks. */
#ifndef LC_MEASURE_OPENMP_TOOL_H
#define LC_MEASURE_OPENMP_TOOL_H

struct lc_strbuf;

/* As ompt_start_tool. NULL: nothing is measured here. */
void *lc_omp_start_tool(unsigned version, const char *runtime);
/* Members of the result's `meta`, each with a comma before it; nothing without OpenMP. */
void lc_omp_put_meta(struct lc_strbuf *out);

#endif
