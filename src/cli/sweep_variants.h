/* The variants of a sweep: all combinations of what is varied, each once. Used by bench_sweep.c. */
#ifndef LC_CLI_SWEEP_VARIANTS_H
#define LC_CLI_SWEEP_VARIANTS_H

#include "base/strbuf.h"
#include "cli/bench_start.h"

enum { LC_SWEEP_VARIED = 8, LC_SWEEP_MOST = 64 };

struct lc_sweep_options {
    struct lc_bench_options each;      /* of one launch; output: DIR of the sweep, or NULL */
    const char *vary[LC_SWEEP_VARIED]; /* "NAME=A,B" */
    size_t n_vary;
    size_t rounds; /* 0: default */
};

struct lc_variant {
    struct lc_bench_options options; /* of each launch */
    char *text[LC_SWEEP_VARIED];     /* "NAME=VALUE" of what is varied here */
    char *variable[LC_SWEEP_VARIED], *value[LC_SWEEP_VARIED]; /* of the environment */
    char *before[LC_SWEEP_VARIED]; /* while the variant is entered: what they were */
    size_t n, n_variables;
    char *name; /* texts with blanks between */
};

struct lc_variants {
    struct lc_variant *all;
    size_t n, room;
};

/* NAME: mpi, n, comm, sync, bind, map; a parameter of Open MPI (lower case); a control variable of
 * MPICH or any other variable of the environment (upper case). A parameter that the MPI of a
 * combination does not know does not take part in it, so that combinations which are alike then are
 * one variant. lc_variants_free(), also after a failure. LC_ERR_USAGE, LC_ERR_NOMEM. */
enum lc_err lc_variants_new(struct lc_variants *variants, const struct lc_sweep_options *options);
/* Frees what it holds, not the struct. */
void lc_variants_free(struct lc_variants *variants);

/* Sets the environment of a variant. */
void lc_variant_enter(struct lc_variant *variant);
/* Makes the environment what it was before. */
void lc_variant_leave(struct lc_variant *variant);

#endif
