/* The MPI library that the process has loaded, found by what it exports, under whatever name.
 * Called by the preloaded library alone, with its lock held. */
#ifndef LC_MEASURE_STUB_FIND_MPI_H
#define LC_MEASURE_STUB_FIND_MPI_H

#include <stdbool.h>

#include "base/mpi_flavour.h"

struct lc_loaded_mpi {
    void *handle;            /* of dlopen; NULL: none is loaded */
    enum lc_flavour flavour; /* unknown: it cannot be measured */
    char path[4096];
    char product[64]; /* "MPICH 4.0.2": what it says it is, now that it runs */
};

/* Looks at the loaded objects, unless they are as they were when it last found nothing. */
bool lc_find_mpi(struct lc_loaded_mpi *mpi);

#endif
