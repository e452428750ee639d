/* The entry of an operation, as the begin of a collective writes it. */
#ifndef LC_TESTS_LOG_WRITE_H
#define LC_TESTS_LOG_WRITE_H

#include <stdbool.h>

#include "piggyback/colllog.h"

/* False: skipped. */
static inline bool log_write(struct lc_colllog *log, uint64_t op, const struct lc_stamp *stamp) {
    struct lc_log_entry *entry = lc_colllog_place(log, op);
    if (!entry)
        return false;
    entry->stamp = *stamp;
    lc_colllog_ready(log, op, entry);
    return true;
}

#endif
