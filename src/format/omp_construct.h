/* Names of OpenMP constructs as the measurement library writes them: "!$omp parallel
 * @/path/app+0x1234", the file and address (in its ELF address space) of the construct's call. What
 * reads results makes "!$omp parallel @solve.c:12" of it. */
#ifndef LC_FORMAT_OMP_CONSTRUCT_H
#define LC_FORMAT_OMP_CONSTRUCT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define LC_OMP_PREFIX "!$omp "

struct lc_omp_place {
    int construct; /* bytes of the name before " @" */
    const char *path;
    int path_bytes;
    uint64_t offset;
};

static inline bool lc_omp_is_construct(const char *name) {
    return strncmp(name, LC_OMP_PREFIX, strlen(LC_OMP_PREFIX)) == 0;
}

/* Does it make a team? */
static inline bool lc_omp_makes_team(const char *name) {
    static const char parallel[] = LC_OMP_PREFIX "parallel", teams[] = LC_OMP_PREFIX "teams";
    return strncmp(name, parallel, sizeof parallel - 1) == 0 ||
           strncmp(name, teams, sizeof teams - 1) == 0;
}

/* A function that the compiler made of a construct (main._omp_fn.0, .omp_outlined.)? */
static inline bool lc_omp_is_outlined(const char *function) {
    return strstr(function, "._omp_fn.") != NULL || strstr(function, ".omp_outlined") != NULL ||
           strncmp(function, ".omp_task", 9) == 0;
}

/* Is the file the library of an OpenMP runtime? */
static inline bool lc_omp_is_runtime(const char *path) {
    static const char *const runtimes[] = {"libomp.so", "libomp-", "libiomp5.so", "libgomp",
                                           "liblatecomer"};
    const char *slash = strrchr(path, '/'), *base = slash != NULL ? slash + 1 : path;
    for (size_t i = 0; i < sizeof runtimes / sizeof *runtimes; i++)
        if (strncmp(base, runtimes[i], strlen(runtimes[i])) == 0)
            return true;
    return false;
}

/* false: it has no place. */
static inline bool lc_omp_place_of(const char *name, struct lc_omp_place *place) {
    const char *at = strstr(name, " @"), *plus = strrchr(name, '+');
    if (!lc_omp_is_construct(name) || at == NULL || plus == NULL || plus < at)
        return false;
    *place = (struct lc_omp_place){.construct = (int)(at - name),
                                   .path = at + 2,
                                   .path_bytes = (int)(plus - at) - 2,
                                   .offset = strtoull(plus + 1, NULL, 16)};
    return true;
}

#endif
