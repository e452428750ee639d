#include "measure/stub/chain.h"

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
    void *symbol = lc_real_symbol(handle, name);
    if (symbol == NULL || dladdr(symbol, &where) == 0 || dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0)
        return NULL;
    return strcmp(where.dli_fname, map->l_name) == 0 ? symbol : NULL;
}

/* A library's own PMPI_Init, if it is one of MPI; *handle: to be closed then. */
static void *mpi_symbol(const char *path, void **handle) {
    if (path[0] == '\0') /* the program itself: its calls cannot be intercepted */
        return NULL;
    *handle = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
    if (*handle == NULL)
        return NULL;
    void *init = own_symbol(*handle, LC_MPI_SYMBOL);
    Dl_info here, there; /* this library exports it too */
    if (init != NULL && dladdr((void *)lc_find_mpi, &here) != 0 && dladdr(init, &there) != 0 &&
        here.dli_fbase != there.dli_fbase)
        return init;
    lc_real_dlclose(*handle);
    return NULL;
}

/* MPI allows this call before MPI_Init. */
static void ask(struct lc_loaded_mpi *mpi) {
    static char text[VERSION_BYTES];
    int length = 0;
    int (*version)(char *, int *) =
        (int (*)(char *, int *))lc_real_symbol(mpi->handle, "PMPI_Get_library_version");
    bool said = version != NULL && version(text, &length) == 0;
    mpi->flavour = lc_flavour_decide(mpi->path, said ? text : NULL,
                                     own_symbol(mpi->handle, LC_OPENMPI_SYMBOL) != NULL);
    if (said)
        lc_mpi_product(text, mpi->product, sizeof mpi->product);
    else
        snprintf(mpi->product, sizeof mpi->product, "%s", lc_flavour_name(mpi->flavour));
}

/* How many objects had been loaded and unloaded when there was no MPI. */
struct looked {
    unsigned long long loads, unloads;
};

/* Goes through the objects until it is at one of MPI: its PMPI_Init. */
static void *find(struct visit *v, void **handle, struct looked *without) {
    for (size_t i = 0;; i++) {
        v->index = 0;
        v->wanted = i;
        int more = dl_iterate_phdr(take_path, v);
        if (i == 0 && v->loads != 0 && v->loads == without->loads && v->unloads == without->unloads)
            return NULL;
        if (more == 0) {
            *without = (struct looked){v->loads, v->unloads};
            return NULL;
        }
        void *symbol = mpi_symbol(v->path, handle);
        if (symbol != NULL)
            return symbol;
    }
}

bool lc_find_mpi(struct lc_loaded_mpi *mpi) {
    static struct looked without;
    struct visit v = {0};
    if (find(&v, &mpi->handle, &without) == NULL)
        return false;
    snprintf(mpi->path, sizeof mpi->path, "%s", v.path);
    ask(mpi);
    return true;
}

void *lc_find_mpi_symbol(void) {
    struct visit v = {0};
    void *handle, *symbol = find(&v, &handle, &(struct looked){0});
    if (symbol != NULL)
        lc_real_dlclose(handle);
    return symbol;
}

void *lc_symbol_behind(const char *path, const char *name) {
    bool behind = false;
    for (size_t i = 0;; i++) {
        struct visit v = {.wanted = i};
        if (dl_iterate_phdr(take_path, &v) == 0)
            return NULL;
        void *handle = behind ? dlopen(v.path, RTLD_LAZY | RTLD_NOLOAD) : NULL;
        void *symbol = handle != NULL ? own_symbol(handle, name) : NULL;
        if (handle != NULL)
            lc_real_dlclose(handle);
        if (symbol != NULL)
            return symbol;
        behind = behind || strcmp(v.path, path) == 0;
    }
}
