/* The MPI library that the process has loaded, found by what it exports, under whatever name.
 * Called by the preloaded library alone. */
#ifndef LC_MEASURE_STUB_FIND_MPI_H
#define LC_MEASURE_STUB_FIND_MPI_H

#include <stdbool.h>

#include "job/mpi_flavour.h"

struct lc_loaded_mpi {
    void *handle;            /* of dlopen; NULL: none is loaded */
    enum lc_flavour flavour; /* unknown: it cannot be measured */
    char path[4096];
    char product[64]; /* "MPICH 4.0.2": what it says it is, now that it runs */
};

/* Looks at the loaded objects, unless they are as they were when it last found nothing. With the
 * stub's lock held. */
bool lc_find_mpi(struct lc_loaded_mpi *mpi);

/* The same without asking it anything: its own PMPI_Init; NULL: there is none. */
void *lc_find_mpi_symbol(void);

/* The function of this name in the next library that has it after the object `path`, as loaded. */
void *lc_symbol_behind(const char *path, const char *name);

#endif
