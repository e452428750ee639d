/* Start of the core, by the stub. */
#ifndef LC_MEASURE_START_CORE_START_H
#define LC_MEASURE_START_CORE_START_H

#include "measure/stub/stub.h"

/* What the stub looks for in a core (stub.h). */
lc_core_start_fn lc_core_start;

#endif
