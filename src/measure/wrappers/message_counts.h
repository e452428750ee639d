/* How many messages a call had. */
#ifndef LC_MEASURE_WRAPPERS_MESSAGE_COUNTS_H
#define LC_MEASURE_WRAPPERS_MESSAGE_COUNTS_H

#include <stdint.h>

#include "format/raw.h"
#include "format/state.h"
#include "measure/hot/hot.h"
#include "measure/callpath/entry.h"
#include "measure/core/thread.h"

/* The number of point-to-point messages of calls that can have other than one, in a row of its own
 * (see LC_RAW_CLASS_MESSAGES). */
static inline void lc_count_messages(struct lc_call *call, uint64_t rcvd, uint64_t rcvd_empty,
                                     uint64_t sent, uint64_t sent_empty) {
    if ((rcvd | rcvd_empty | sent | sent_empty) == 0)
        return;
    struct lc_state_row *row = lc_row(call->thread, call->entry->path, LC_RAW_CLASS_MESSAGES);
    row->count += rcvd;
    row->sum += rcvd_empty;
    row->min += sent;
    row->max += sent_empty;
}

#endif
