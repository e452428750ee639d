/* What the generated wrappers do before and after point-to-point calls that start something
 * (completion: complete.h, collectives: coll.h). Bytes are booked where a send is started and where
 * a receive completes; MPI_PROC_NULL is no message. */
#ifndef LC_MEASURE_CALLS_WRAP_H
#define LC_MEASURE_CALLS_WRAP_H

#include "measure/calls/coll.h"
#include "measure/calls/coll_bytes.h"
#include "measure/calls/communicators.h"
#include "measure/calls/complete.h"
#include "measure/calls/message_setup.h"
#include "measure/calls/request.h"
#include "measure/calls/special.h"
#include "measure/calls/status.h"
#include "measure/calls/sync.h"
#include "measure/calls/windows.h"
#include "measure/calls/wrappers.h"
#include "measure/hot.h"
#include "measure/trace/trace_io.h"
#include "measure/trace/trace_rma.h"

#endif
