#include "format/mpi_function.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const struct function {
    const char *name;
    struct lc_mpi_function facts;
} table[] = {
#include "format/mpi_function_table.inc"
};

static const struct lc_mpi_function nothing = {.operation = LC_MPI_OP_NONE};

static int compare(const void *key, const void *function) {
    return strcasecmp(key, ((const struct function *)function)->name);
}

static const struct function *find(const char *name) {
    return bsearch(name, table, sizeof table / sizeof table[0], sizeof table[0], compare);
}

const struct lc_mpi_function *lc_mpi_find(const char *name) {
    const struct function *found = find(name);
    return found != NULL && strcmp(found->name, name) == 0 ? &found->facts : &nothing;
}

const struct lc_mpi_function *lc_mpi_find_region(const char *name) {
    char plain[64];
    size_t length = strlen(name);
    while (length > 0 && name[length - 1] == '_')
        length--;
    if (length >= sizeof plain)
        return &nothing;
    memcpy(plain, name, length);
    plain[length] = '\0';
    const struct function *found = find(plain);
    return found != NULL ? &found->facts : &nothing;
}
