/* What stands behind the functions of this library that GCC's code calls of its OpenMP runtime: the
 * runtime in the caller's own scope. Most processes have one, which all see; libraries that an
 * interpreter loads may each bring one of their own. */
#ifndef LC_MEASURE_STUB_GOMP_BEHIND_H
#define LC_MEASURE_STUB_GOMP_BEHIND_H

#include <stdbool.h>

/* In the order of enum lc_gomp_entry: what all callers have, NULL where that is not known. */
extern void *lc_gomp_reals[];
extern const char *const lc_gomp_names[];

/* The function that the caller would have found without this library; NULL: none. */
void *lc_gomp_behind(unsigned entry, const void *caller);
/* Is it one of GCC's runtime, which tells tools nothing? LLVM's has these functions, too. */
bool lc_is_libgomp(void *function);
/* A library may have gone: its addresses may belong to another one. */
void lc_gomp_forget_callers(void);

#endif
