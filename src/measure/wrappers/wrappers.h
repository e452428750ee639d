/* The wrappers, in the order of mpi_functions.tsv. */
#ifndef LC_MEASURE_WRAPPERS_WRAPPERS_H
#define LC_MEASURE_WRAPPERS_WRAPPERS_H

#include "measure/wrappers/coll.h"
#include "measure/wrappers/special.h"
#include "measure/wrappers/complete.h"
#include "measure/wrappers/messages.h"
#include "measure/mpi/request.h"
#include "measure/wrappers/windows.h"
#include "measure/hot/hot.h"
#include "measure/trace/trace_hooks.h"

struct lc_wrapper {
    void *function;
    void **real;
};
extern const struct lc_wrapper lc_wrappers[];

/* What the generated wrappers do before and after point-to-point calls that start something
 * (completion: complete.h, collectives: coll.h). Bytes are booked where a send is started and where
 * a receive completes; MPI_PROC_NULL is no message. */

#endif
