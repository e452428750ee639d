#include "measure/stub/chain.h"

#include <dlfcn.h>
#include <link.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

/* The oldest version of dlsym, which every C library of this machine still has. */
#if defined(__x86_64__)
#define OLDEST_DLSYM "GLIBC_2.2.5"
#else
#define OLDEST_DLSYM "GLIBC_2.17"
#endif

typedef void *dlsym_fn(void *library, const char *name);

/* Read by the assembly of dlsym, after lc_chain_dlsym. */
dlsym_fn *lc_linkers_dlsym __attribute__((visibility("hidden")));
extern void *const lc_entries[] __attribute__((visibility("hidden"))); /* PMPI_ functions */
void *lc_chain_dlsym(void *library, const char *name, const void *caller)
    __attribute__((visibility("hidden")));

static _Atomic(void *) first_mpi; /* where the MPI library begins; NULL: to be looked for */

static dlsym_fn *linkers_dlsym(void) {
    dlsym_fn *function = __atomic_load_n(&lc_linkers_dlsym, __ATOMIC_RELAXED);
    if (function == NULL) {
        function = (dlsym_fn *)dlvsym(RTLD_NEXT, "dlsym", OLDEST_DLSYM);
        __atomic_store_n(&lc_linkers_dlsym, function, __ATOMIC_RELAXED);
    }
    return function;
}

void *lc_real_symbol(void *library, const char *name) {
    return linkers_dlsym()(library, name);
}

int lc_real_dlclose(void *library) {
    static int (*_Atomic real)(void *);
    int (*function)(void *) = atomic_load_explicit(&real, memory_order_relaxed);
    if (function == NULL) {
        function = (int (*)(void *))lc_real_symbol(RTLD_NEXT, "dlclose");
        atomic_store_explicit(&real, function, memory_order_relaxed);
    }
    return function(library);
}

static void *begin_of_object(const void *address) {
    Dl_info where;
    return address != NULL && dladdr(address, &where) != 0 ? where.dli_fbase : NULL;
}

void *lc_chain_layer(void *mpi, const char *name) {
    void *next = lc_real_symbol(RTLD_NEXT, name);
    return next != NULL && next != lc_real_symbol(mpi, name) ? next : NULL;
}

void lc_chain_forget(void) {
    atomic_store_explicit(&first_mpi, NULL, memory_order_relaxed);
}

/* Where the library begins that this process' calls go to. */
static void *begin_of_mpi(const struct lc_chain_stub *stub) {
    if (stub->awake)
        return stub->mpi != NULL ? begin_of_object(lc_real_symbol(stub->mpi, LC_MPI_SYMBOL)) : NULL;
    void *begin = atomic_load_explicit(&first_mpi, memory_order_relaxed);
    if (begin != NULL)
        return begin;
    begin = begin_of_object(lc_find_mpi_symbol());
    atomic_store_explicit(&first_mpi, begin, memory_order_relaxed);
    return begin;
}

/* The caller asks for the next function of this name behind itself. */
static void *next_after(const void *caller, const char *name) {
    Dl_info where;
    struct link_map *object = NULL;
    if (dladdr1(caller, &where, (void **)&object, RTLD_DL_LINKMAP) == 0 || object == NULL)
        return NULL;
    return lc_symbol_behind(object->l_name, name);
}

/* The function of this library that dlsym is to return, NULL: what the dynamic linker finds. */
void *lc_chain_dlsym(void *library, const char *name, const void *caller) {
    linkers_dlsym();
    const char *plain = name != NULL && name[0] == 'P' ? name + 1 : name;
    if (name == NULL || library == RTLD_DEFAULT || plain[0] != 'M' || plain[1] != 'P' ||
        plain[2] != 'I') /* no function: a sanitizer asks before its own are ready */
        return NULL;
    const struct lc_chain_stub stub = lc_stub_for_chain();
    unsigned number = 0;
    while (number < stub.n_names && strcmp(stub.names[number], plain) != 0)
        number++;
    if (number == stub.n_names)
        return NULL;
    void *found = library == RTLD_NEXT ? next_after(caller, name) : lc_real_symbol(library, name);
    void *begin = begin_of_object(found);
    bool is_mpi = begin != NULL && begin == begin_of_mpi(&stub);
    if (is_mpi)
        dlerror(); /* of the search */
    return is_mpi ? lc_entries[number] : NULL;
}
