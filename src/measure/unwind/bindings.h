/* Calls that MPI's Fortran binding makes for itself while it forwards one of the program: handles
 * and statuses are converted, data types made for array sections. They are not the program's, so
 * nothing is measured of them; they are known by their return addresses, before anything else
 * happens in a wrapper. */
#ifndef LC_MEASURE_UNWIND_BINDINGS_H
#define LC_MEASURE_UNWIND_BINDINGS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* From the lowest to the highest address of the bindings seen so far; may hold other libraries too.
 * Empty at first. Grows only, so that a torn reading of the two words is either range or empty. */
struct lc_bindings {
    _Atomic uint64_t begin, end;
};
extern struct lc_bindings lc_bindings;

/* For return addresses within lc_bindings: is this call of MPI function `name` ("MPI_Send") the
 * binding's own? Remembers the answer. */
bool lc_bindings_own(uint64_t ra, const char *name);

/* lc_bindings_own for all return addresses: one comparison for those of the program. */
static inline bool lc_binding_call(uint64_t ra, const char *name) {
    uint64_t begin = atomic_load_explicit(&lc_bindings.begin, memory_order_relaxed);
    uint64_t end = atomic_load_explicit(&lc_bindings.end, memory_order_relaxed);
    if (__builtin_expect(ra - begin >= end - begin, 1))
        return false;
    return lc_bindings_own(ra, name);
}

/* A library that is loaded: is it a binding? Noted then. With lc_core.lock held. */
void lc_bindings_note(const char *path, uint64_t begin, uint64_t end);
/* A library went away: others may come to lie there. */
void lc_bindings_forget(void);

/* Is it the Fortran binding of that function, called by the program? */
bool lc_bindings_forwards(uint64_t ra, const char *name);

#endif
