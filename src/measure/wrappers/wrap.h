/* What the generated wrappers do before and after point-to-point calls that start something
 * (completion: complete.h, collectives: coll.h). Bytes are booked where a send is started and where
 * a receive completes; MPI_PROC_NULL is no message. */
#ifndef LC_MEASURE_WRAPPERS_WRAP_H
#define LC_MEASURE_WRAPPERS_WRAP_H

#include "measure/wrappers/coll.h"
#include "measure/wrappers/coll_bytes.h"
#include "measure/wrappers/communicators.h"
#include "measure/wrappers/complete.h"
#include "measure/wrappers/message_setup.h"
#include "measure/mpi/request.h"
#include "measure/wrappers/special.h"
#include "measure/mpi/status.h"
#include "measure/wrappers/sync.h"
#include "measure/wrappers/windows.h"
#include "measure/wrappers/wrappers.h"
#include "measure/hot/hot.h"
#include "measure/trace/trace_io.h"
#include "measure/trace/trace_rma.h"

#endif
