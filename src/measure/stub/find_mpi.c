#include "measure/stub/find_mpi.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

/* More than MPI_MAX_LIBRARY_VERSION_STRING of any MPI: 256 (Open MPI), 8192 (MPICH). */
enum { VERSION_BYTES = 16384 };

struct visit {
    size_t wanted, index;
    unsigned long long loads; /* objects that were loaded so far; 0: the C library does not say */
    unsigned long long unloads;
    char path[4096];
};

/* Stops at the object number `wanted`: nothing may be opened within dl_iterate_phdr. */
static int take_path(struct dl_phdr_info *info, size_t bytes, void *data) {
    struct visit *v = data;
    if (bytes >= offsetof(struct dl_phdr_info, dlpi_subs) + sizeof info->dlpi_subs) {
        v->loads = info->dlpi_adds;
        v->unloads = info->dlpi_subs;
    }
    if (v->index++ != v->wanted)
        return 0;
    snprintf(v->path, sizeof v->path, "%s", info->dlpi_name);
    return 1;
}

/* A symbol of this library itself, not of one that it needs. */
static void *own_symbol(void *handle, const char *name) {
    Dl_info where;
    struct link_map *map;
    void *symbol = dlsym(handle, name);
    if (symbol == NULL || dladdr(symbol, &where) == 0 || dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0)
        return NULL;
    return strcmp(where.dli_fname, map->l_name) == 0 ? symbol : NULL;
}

static bool is_mpi(struct lc_loaded_mpi *mpi, const char *path) {
    if (path[0] == '\0') /* the program itself: its calls cannot be intercepted */
        return false;
    void *handle = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
    if (handle == NULL)
        return false;
    void *init = own_symbol(handle, LC_MPI_SYMBOL);
    Dl_info here, there; /* this library exports it too */
    if (init == NULL || dladdr((void *)lc_find_mpi, &here) == 0 || dladdr(init, &there) == 0 ||
        here.dli_fbase == there.dli_fbase) {
        dlclose(handle);
        return false;
    }
    mpi->handle = handle;
    snprintf(mpi->path, sizeof mpi->path, "%s", path);
    return true;
}

/* MPI allows this call before MPI_Init. */
static void ask(struct lc_loaded_mpi *mpi) {
    static char text[VERSION_BYTES];
    int length = 0;
    int (*version)(char *, int *) =
        (int (*)(char *, int *))dlsym(mpi->handle, "PMPI_Get_library_version");
    bool said = version != NULL && version(text, &length) == 0;
    mpi->flavour = lc_flavour_decide(mpi->path, said ? text : NULL,
                                     own_symbol(mpi->handle, LC_OPENMPI_SYMBOL) != NULL);
    if (said)
        lc_mpi_product(text, mpi->product, sizeof mpi->product);
    else
        snprintf(mpi->product, sizeof mpi->product, "%s", lc_flavour_name(mpi->flavour));
}

bool lc_find_mpi(struct lc_loaded_mpi *mpi) {
    static unsigned long long loads_without, unloads_without;
    for (size_t i = 0;; i++) {
        struct visit v = {.wanted = i};
        int more = dl_iterate_phdr(take_path, &v);
        if (i == 0 && v.loads != 0 && v.loads == loads_without && v.unloads == unloads_without)
            return false;
        if (more == 0) {
            loads_without = v.loads;
            unloads_without = v.unloads;
            return false;
        }
        if (is_mpi(mpi, v.path)) {
            ask(mpi);
            return true;
        }
    }
}
