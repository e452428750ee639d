/* Names for traces by the symbol reader of `latecomer run`: the bridge between archive.h and
 * symbols/symbols.h. */
#ifndef LC_TRACE_NAMES_H
#define LC_TRACE_NAMES_H

#include "symbols/symbols.h"
#include "trace/archive.h"

/* `symbols` must outlive the use of the names. */
struct lc_trace_names lc_trace_names_of(struct lc_symbols *symbols);

#endif
