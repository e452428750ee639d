#include "measure/stub/chain.h"

#include <dlfcn.h>
#include <link.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "measure/gomp_entries.h"

enum { BUCKETS = 1024 };

void *lc_gomp_reals[LC_GOMP_ENTRIES];
const char *const lc_gomp_names[LC_GOMP_ENTRIES] = {
#include "measure/gomp_names.inc"
};

/* A call, or (caller NULL) a function, that was looked at: once, and again when a library has
 * gone. */
struct known {
    struct known *next; /* same hash; lists only grow */
    const void *caller;
    unsigned entry;
    void *function;             /* of which it is known; of a call: what is behind it */
    _Atomic(void *) real;       /* of a call */
    _Atomic bool is_libgomp;    /* of a function */
    _Atomic unsigned looked_up; /* `closed` then, plus 1; 0: never */
};
static _Atomic(struct known *) all[BUCKETS];
static _Atomic unsigned closed; /* libraries */

static void close_library(void *library) {
    if (library != NULL)
        lc_real_dlclose(library);
}

static struct known *look_up(const void *caller, unsigned entry, void *function) {
    uintptr_t key = (uintptr_t)caller ^ (uintptr_t)function;
    _Atomic(struct known *) *bucket = &all[(key * 31 + entry) % BUCKETS];
    struct known *first = atomic_load_explicit(bucket, memory_order_acquire); /* partner: below */
    for (struct known *at = first; at != NULL; at = at->next)
        if (at->caller == caller && at->entry == entry && at->function == function)
            return at;
    struct known *made = calloc(1, sizeof *made);
    if (made == NULL)
        return NULL;
    made->caller = caller;
    made->entry = entry;
    made->function = function;
    made->next = first;
    while (!atomic_compare_exchange_weak_explicit(bucket, &made->next, made, memory_order_release,
                                                  memory_order_relaxed))
        ;
    return made;
}

/* The same as it was? Else the caller looks again, and says so with is_new. */
static bool is_current(const struct known *known) {
    return known != NULL && atomic_load_explicit(&known->looked_up, memory_order_acquire) ==
                                atomic_load_explicit(&closed, memory_order_relaxed) + 1;
}

static void is_new(struct known *known) {
    if (known != NULL)
        atomic_store_explicit(&known->looked_up,
                              atomic_load_explicit(&closed, memory_order_relaxed) + 1,
                              memory_order_release);
}

static void *library_of(const void *address) {
    Dl_info where;
    return dladdr(address, &where) != 0 && where.dli_fname != NULL
               ? dlopen(where.dli_fname, RTLD_LAZY | RTLD_NOLOAD)
               : NULL;
}

static int find_libgomp(struct dl_phdr_info *info, size_t bytes, void *path) {
    const char *slash = strrchr(info->dlpi_name, '/');
    (void)bytes;
    if (strncmp(slash != NULL ? slash + 1 : info->dlpi_name, "libgomp", 7) != 0)
        return 0;
    *(char **)path = strdup(info->dlpi_name);
    return 1;
}

void *lc_in_scope_of(const char *name, const void *caller) {
    void *library = library_of(caller);
    void *found = library != NULL ? dlsym(library, name) : NULL;
    close_library(library);
    if (found != NULL)
        return found;
    char *path = NULL;
    dl_iterate_phdr(find_libgomp, &path);
    library = path != NULL ? dlopen(path, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    found = library != NULL ? dlsym(library, name) : NULL;
    close_library(library);
    free(path);
    return found;
}

void *lc_gomp_behind(unsigned entry, const void *caller) {
    void *real = __atomic_load_n(&lc_gomp_reals[entry], __ATOMIC_RELAXED);
    if (real != NULL)
        return real;
    struct known *call = look_up(caller, entry, NULL);
    if (is_current(call))
        return atomic_load_explicit(&call->real, memory_order_relaxed);
    real = dlsym(RTLD_NEXT, lc_gomp_names[entry]);
    if (real != NULL) {
        __atomic_store_n(&lc_gomp_reals[entry], real, __ATOMIC_RELAXED);
        return real;
    }
    real = lc_in_scope_of(lc_gomp_names[entry], caller);
    if (real != NULL && call != NULL) {
        atomic_store_explicit(&call->real, real, memory_order_relaxed);
        is_new(call);
    }
    return real;
}

bool lc_is_libgomp(void *function) {
    struct known *known = look_up(NULL, 0, function);
    if (is_current(known))
        return atomic_load_explicit(&known->is_libgomp, memory_order_relaxed);
    void *library = library_of(function);
    bool is = library != NULL && dlsym(library, "GOMP_parallel") != NULL &&
              dlsym(library, "__kmpc_fork_call") == NULL;
    close_library(library);
    if (known != NULL) {
        atomic_store_explicit(&known->is_libgomp, is, memory_order_relaxed);
        is_new(known);
    }
    return is;
}

void lc_gomp_forget_callers(void) {
    atomic_fetch_add_explicit(&closed, 1, memory_order_relaxed);
}

enum { MOST_CPUS = 8192 };

static char *bind, *places; /* NULL: nothing is bound */
static bool any_cpus;
static unsigned long cpus[MOST_CPUS / (8 * sizeof(long))];

/* The parent has the CPUs that this process had at its start; only a child of it, not one of the
 * program's own, may ask for them. */
void lc_omp_binding_remember(void) {
    const char *state = getenv("LATECOMER_STATE"), *words = getenv("LATECOMER_OPENMP_BIND"),
               *list = getenv("LATECOMER_OPENMP_PLACES");
    int parent;
    if (bind != NULL || state == NULL || words == NULL || list == NULL ||
        sscanf(state, "%d:", &parent) != 1 || parent != getppid())
        return;
    bind = strdup(words);
    places = strdup(list);
    any_cpus = sched_getaffinity(parent, sizeof cpus, (cpu_set_t *)cpus) == 0;
}

void lc_omp_binding_restore(void) {
    lc_omp_binding_remember();
    if (bind == NULL || places == NULL)
        return;
    if (any_cpus)
        sched_setaffinity(0, sizeof cpus, (const cpu_set_t *)cpus);
    setenv("OMP_PROC_BIND", bind, 1);
    if (places[0] != '\0')
        setenv("OMP_PLACES", places, 1);
    else
        unsetenv("OMP_PLACES");
    unsetenv("GOMP_CPU_AFFINITY");
}
