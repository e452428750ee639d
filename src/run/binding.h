/* How the threads of a program are bound that was built for libgomp and runs on LLVM's runtime:
 * the two read OMP_PROC_BIND, OMP_PLACES and GOMP_CPU_AFFINITY differently (without places libgomp
 * binds to hardware threads, and its "true" is "close"; LLVM's to cores, and "true" is "spread"),
 * so the second is given words that make it do what the first would. Called before the program
 * starts; the preloaded library (measure/stub) hands the words over. */
#ifndef LC_RUN_BINDING_H
#define LC_RUN_BINDING_H

#include "base/err.h"

struct lc_binding {
    char *bind;   /* OMP_PROC_BIND for LLVM's runtime; NULL: nothing is asked for */
    char *places; /* OMP_PLACES, "": none */
};

/* What the environment asks of libgomp. *why (256 bytes): why LLVM's runtime cannot be made to do
 * it, else "". The caller frees with lc_binding_free(). Errors: LC_ERR_NOMEM. */
enum lc_err lc_binding_choose(struct lc_binding *binding, char *why);
/* Empties it. */
void lc_binding_free(struct lc_binding *binding);

#endif
