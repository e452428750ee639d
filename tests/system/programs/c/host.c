/* A program that is not linked to MPI. host local|global|deepbind PLUGIN: opens a shared object
 * that is (as an interpreter does); host dlsym LIBMPI: opens the MPI library itself and calls what
 * dlsym returns. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static int call_dlsym(const char *path, int argc, char **argv) {
    void *mpi = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    if (!mpi) {
        printf("FAILED %s\n", dlerror());
        return 1;
    }
    int (*init)(int *, char ***) = (int (*)(int *, char ***))dlsym(mpi, "MPI_Init");
    int (*initialized)(int *) = (int (*)(int *))dlsym(mpi, "MPI_Initialized");
    int (*finalize)(void) = (int (*)(void))dlsym(mpi, "MPI_Finalize");
    int flag = 0;
    if (!init || !initialized || !finalize)
        return 1;
    init(&argc, &argv);
    for (int i = 0; i < 5; i++)
        initialized(&flag);
    printf("dlsym %d\n", flag);
    finalize();
    return 0;
}

int main(int argc, char **argv) {
    if (argc < 3)
        return 2;
    if (strcmp(argv[1], "dlsym") == 0)
        return call_dlsym(argv[2], argc, argv);
    int flags = RTLD_NOW | (strcmp(argv[1], "global") == 0 ? RTLD_GLOBAL : RTLD_LOCAL);
    if (strcmp(argv[1], "deepbind") == 0)
        flags |= RTLD_DEEPBIND;
    void *plugin = dlopen(argv[2], flags);
    if (!plugin) {
        printf("FAILED %s\n", dlerror());
        return 1;
    }
    int (*run)(int, char **) = (int (*)(int, char **))dlsym(plugin, "plugin_main");
    return run ? run(argc - 2, argv + 2) : 1;
}
