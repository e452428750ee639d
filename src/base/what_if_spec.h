/* What-if scenarios as users write them: `NAME=FACTOR[,NAME=FACTOR..][;NAME=FACTOR..]`. A term
 * names a function or region whose time counts FACTOR times (`solve=0.5`, `Verlet::run=0.9`), or is
 * `mpi=0` (a network that takes no time), `omp=0` (an OpenMP runtime that takes none), or
 * `tasks=infinite` (a thread for every task, perfectly scheduled). Terms of one scenario are
 * separated by commas, scenarios by semicolons. `latecomer run`, the library inside the program and
 * `latecomer analyze` read them here. */
#ifndef LC_BASE_WHAT_IF_SPEC_H
#define LC_BASE_WHAT_IF_SPEC_H

#include <stdbool.h>

#include "base/err.h"

enum {
    LC_WHAT_IF_SCENARIOS = 6, /* what the library has clocks for */
    LC_WHAT_IF_TERMS = 32,    /* of all scenarios together: a bit mask has one bit for each */
    LC_WHAT_IF_NAME = 120,
    LC_WHAT_IF_SCENARIO = 160 /* characters of one scenario, with its end */
};

enum lc_what_if_part {
    LC_WHAT_IF_CODE,  /* a function or region */
    LC_WHAT_IF_MPI,   /* mpi=0 */
    LC_WHAT_IF_OMP,   /* omp=0 */
    LC_WHAT_IF_TASKS, /* tasks=infinite */
};

struct lc_what_if_term {
    unsigned scenario; /* 0, 1, .. */
    double factor;     /* finite, not negative; of code only */
    enum lc_what_if_part part;
    char name[LC_WHAT_IF_NAME];
    char code[160]; /* the name as it stands in symbols of C++: 6Verlet3run; "" if too long */
};

/* Reads the next term at *at and moves *at after it; *found: false at the end of the text. Start
 * with *scenario = 0. LC_ERR_USAGE says which part is no NAME=FACTOR. */
enum lc_err lc_what_if_next(const char **at, unsigned *scenario, struct lc_what_if_term *term,
                            bool *found);

/* Reads all of it and keeps the limits above. LC_ERR_USAGE. */
enum lc_err lc_what_if_check(const char *text);

/* Is a function or region of this name and symbol meant? C functions and regions by their name;
 * functions of C++ by the name without parameters, with or without what it is nested in. `symbol`
 * may equal `name`. */
bool lc_what_if_means(const struct lc_what_if_term *term, const char *name, const char *symbol);

#endif
