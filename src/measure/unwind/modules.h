/* Which file of the process holds an address, and what that file is. */
#ifndef LC_MEASURE_UNWIND_MODULES_H
#define LC_MEASURE_UNWIND_MODULES_H

#include <stdint.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "base/program_names.h"

enum lc_module_kind { LC_MODULE_OTHER, LC_MODULE_PROGRAM, LC_MODULE_LIBC, LC_MODULE_MPI };

struct lc_module {
    uint64_t begin, end; /* mapped */
    uint64_t bias;
    uint32_t id; /* in the state */
    enum lc_module_kind kind;
};

/* The module that holds an address; NULL: none (generated code). With lc_core.lock held. The
 * pointer holds until the next call. */
const struct lc_module *lc_module_find(uint64_t address);
/* The id (base/program_names.h) of the executable of this process. */
void lc_module_program(char id[LC_PROGRAM_ID_BYTES]);
/* A library came or went: the list is read again when it is next asked for. */
void lc_modules_forget(void);

/* Calls that MPI's Fortran binding makes for itself while it forwards one of the program: handles
 * and statuses are converted, data types made for array sections. They are not the program's, so
 * nothing is measured of them; they are known by their return addresses, before anything else
 * happens in a wrapper. */

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

/* Is it the Fortran binding of that function, called by the program? */
bool lc_bindings_forwards(uint64_t ra, const char *name);

#endif
