#include "measure/stub/gomp_behind.h"

#include <dlfcn.h>
#include <link.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "measure/gomp_entries.h"

enum { BUCKETS = 1024 };

void *lc_gomp_reals[LC_GOMP_ENTRIES];
const char *const lc_gomp_names[LC_GOMP_ENTRIES] = {
#include "measure/gomp_names.inc"
};

/* Calls from libraries that have a runtime of their own: each is looked up once. */
struct site {
    struct site *next; /* same hash */
    const void *caller;
    unsigned entry;
    void *real;
};
static _Atomic(struct site *) sites[BUCKETS];

static _Atomic(struct site *) *bucket_of(unsigned entry, const void *caller) {
    return &sites[((uintptr_t)caller * 31 + entry) % BUCKETS];
}

struct loaded {
    const char *name;
    void *found;
};

/* Of the libgomp that is loaded for others: a function may be called in the name of another one. */
static int look_into(struct dl_phdr_info *info, size_t bytes, void *context) {
    struct loaded *loaded = context;
    (void)bytes;
    if (strstr(info->dlpi_name, "libgomp") == NULL)
        return 0;
    void *library = dlopen(info->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
    loaded->found = library != NULL ? dlsym(library, loaded->name) : NULL;
    return loaded->found != NULL;
}

static void *in_scope_of(const char *name, const void *caller) {
    Dl_info from;
    struct loaded loaded = {.name = name};
    void *library = dladdr(caller, &from) != 0 && from.dli_fname != NULL
                        ? dlopen(from.dli_fname, RTLD_LAZY | RTLD_NOLOAD) /* and what it needs */
                        : NULL;
    void *found = library != NULL ? dlsym(library, name) : NULL;
    if (found == NULL) {
        dl_iterate_phdr(look_into, &loaded);
        found = loaded.found;
    }
    return found;
}

void *lc_gomp_behind(unsigned entry, const void *caller) {
    void *real = __atomic_load_n(&lc_gomp_reals[entry], __ATOMIC_RELAXED);
    if (real != NULL)
        return real;
    real = dlsym(RTLD_NEXT, lc_gomp_names[entry]);
    if (real != NULL) {
        __atomic_store_n(&lc_gomp_reals[entry], real, __ATOMIC_RELAXED);
        return real;
    }
    _Atomic(struct site *) *bucket = bucket_of(entry, caller);
    struct site *first = atomic_load_explicit(bucket, memory_order_acquire); /* partner: below */
    for (const struct site *at = first; at != NULL; at = at->next)
        if (at->caller == caller && at->entry == entry)
            return at->real;
    real = in_scope_of(lc_gomp_names[entry], caller);
    struct site *site = real != NULL ? malloc(sizeof *site) : NULL;
    if (site == NULL)
        return real;
    *site = (struct site){first, caller, entry, real};
    if (!atomic_compare_exchange_strong_explicit(bucket, &first, site, memory_order_release,
                                                 memory_order_relaxed))
        free(site); /* the next call will find it */
    return real;
}

bool lc_is_libgomp(void *function) {
    Dl_info where;
    if (dladdr(function, &where) == 0 || where.dli_fname == NULL)
        return false;
    void *library = dlopen(where.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    return library != NULL && dlsym(library, "GOMP_parallel") != NULL &&
           dlsym(library, "__kmpc_fork_call") == NULL;
}

void lc_gomp_forget_callers(void) {
    for (size_t i = 0; i < BUCKETS; i++) /* others may be reading: what was there stays */
        atomic_store_explicit(&sites[i], NULL, memory_order_relaxed);
}
