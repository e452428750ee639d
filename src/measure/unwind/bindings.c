#include "measure/unwind/bindings.h"

#include <ctype.h>
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"

struct lc_bindings lc_bindings;

/* Answers by return address: address << 1 | own; 0: empty. Two places for each; what finds both
 * taken replaces the first. */
enum { ANSWERS = 2048 };
static _Atomic uint64_t answers[ANSWERS];

static bool is_binding(const char *path) {
    static const char *const names[] = {"libmpi_mpifh", "libmpi_usempi", "libmpichfort"};
    const char *slash = strrchr(path, '/'), *base = slash != NULL ? slash + 1 : path;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(base, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

void lc_bindings_note(const char *path, uint64_t begin, uint64_t end) {
    if (!is_binding(path))
        return;
    uint64_t low = atomic_load_explicit(&lc_bindings.begin, memory_order_relaxed);
    uint64_t high = atomic_load_explicit(&lc_bindings.end, memory_order_relaxed);
    if (high == 0 || begin < low)
        atomic_store_explicit(&lc_bindings.begin, begin, memory_order_relaxed);
    if (end > high)
        atomic_store_explicit(&lc_bindings.end, end, memory_order_relaxed);
}

void lc_bindings_forget(void) {
    for (int i = 0; i < ANSWERS; i++)
        atomic_store_explicit(&answers[i], 0, memory_order_relaxed);
}

/* The function around an address, if a Fortran binding has it. */
static bool find(uint64_t ra, Dl_info *place) {
    return dladdr((void *)(ra - 1), place) != 0 && place->dli_fname != NULL &&
           is_binding(place->dli_fname);
}

/* "_send_" in "_mpi_send__", "_ompi_send_f_", "_mpir_send_cdesc_": the binding of MPI_Send */
static bool named_after(const char *caller_name, const char *name) {
    char wanted[128], caller[256];
    snprintf(wanted, sizeof wanted, "%s_", strchr(name, '_'));
    snprintf(caller, sizeof caller, "_%s_", caller_name);
    for (char *c = wanted; *c != '\0'; c++)
        *c = (char)tolower((unsigned char)*c);
    for (char *c = caller; *c != '\0'; c++)
        *c = (char)tolower((unsigned char)*c);
    return strstr(caller, wanted) != NULL;
}

static bool find_own(uint64_t ra, const char *name) {
    Dl_info place;
    if (!find(ra, &place))
        return false;
    size_t length = strlen(name);
    if (length > 4 &&
        (strcmp(name + length - 4, "_f2c") == 0 || strcmp(name + length - 4, "_c2f") == 0))
        return true;
    if (place.dli_sname ==
        NULL) /* MPICH's descriptor functions, not exported: types for sections */
        return strncmp(name, "MPI_Type_", 9) == 0;
    return !named_after(place.dli_sname, name);
}

bool lc_bindings_own(uint64_t ra, const char *name) {
    uint64_t at = (lc_hash_key(ra) >> 40) % ANSWERS, kept;
    for (uint64_t i = 0; i < 2; i++) {
        kept = atomic_load_explicit(&answers[at ^ i], memory_order_relaxed);
        if (kept >> 1 == ra)
            return kept & 1;
    }
    bool own = find_own(ra, name);
    uint64_t second = atomic_load_explicit(&answers[at ^ 1], memory_order_relaxed);
    kept = atomic_load_explicit(&answers[at], memory_order_relaxed);
    atomic_store_explicit(&answers[kept == 0 || second != 0 ? at : at ^ 1], ra << 1 | own,
                          memory_order_relaxed);
    return own;
}

bool lc_bindings_forwards(uint64_t ra, const char *name) {
    Dl_info place;
    return find(ra, &place) && !find_own(ra, name);
}
