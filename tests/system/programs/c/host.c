/* A program that is not linked to MPI. host local|global|deepbind PLUGIN: opens a shared object
 * that is (as an interpreter does). */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv) {
    if (argc < 3)
        return 2;
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
