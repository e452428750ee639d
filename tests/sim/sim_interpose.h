/* Functions of the C library that libsim.so has in its own way, for processes of a simulation. */
#ifndef SIM_INTERPOSE_H
#define SIM_INTERPOSE_H

#include <dlfcn.h>

#include "sim.h"

/* The function of the C library. */
/* NOLINTBEGIN(bugprone-macro-parentheses) */
#define NEXT(name)                                                                                 \
    ({                                                                                             \
        static __typeof__(&name) next_;                                                            \
        if (next_ == NULL)                                                                         \
            next_ = (__typeof__(&name))dlsym(RTLD_NEXT, #name);                                    \
        next_;                                                                                     \
    })
/* NOLINTEND(bugprone-macro-parentheses) */

/* Is the calling thread one of a simulation? */
static inline bool sim_is_on(void) {
    return sim != NULL && sim_self() != NULL;
}

#endif
