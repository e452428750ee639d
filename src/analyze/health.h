/* Trace health: whatever is wrong with a trace is counted here by kind, with the first place, and
 * skipped; the analysis goes on. The list is printed at the end and kept in the result
 * (meta.health). */
#ifndef LC_ANALYZE_HEALTH_H
#define LC_ANALYZE_HEALTH_H

#include <stdint.h>

#include "analyze/transport.h"
#include "base/strbuf.h"

/* kind, what it means for people (a plural that follows "<count> "), what was done */
#define LC_HEALTH_TABLE(X)                                                                         \
    X(NOT_CPU, "locations that are no CPU threads", "skipped")                                     \
    X(NO_EVENTS, "locations without events", "empty in the result")                                \
    X(DAMAGED, "locations whose events cannot be read to the end", "used up to the damage")        \
    X(LOST, "events fewer than the archive announces", "missing")                                  \
    X(UNKNOWN_RECORD, "records of unknown kinds", "skipped")                                       \
    X(SAMPLES, "sampling records", "skipped: the analysis needs Enter and Leave")                  \
    X(TIME_BACKWARDS, "events earlier than the one before them", "moved to its time")              \
    X(LEAVE_WITHOUT_ENTER, "Leave records without an open Enter", "skipped")                       \
    X(ENTER_WITHOUT_LEAVE, "regions left open", "closed with the region or location around them")  \
    X(TOO_DEEP, "regions entered below 1000 others", "shown below the 1000th")                     \
    X(UNKNOWN_REGION, "records that name an undefined region", "shown as <unknown>")               \
    X(RECORD_OUTSIDE, "MPI records outside of any region", "skipped")                              \
    X(UNKNOWN_COMM, "records that name an undefined communicator or rank", "skipped")              \
    X(SEND_UNMATCHED, "messages sent, but not received", "skipped")                                \
    X(RECV_UNMATCHED, "messages received, but not sent", "skipped")                                \
    X(BYTES_DIFFER, "messages received with another length than sent", "used")                     \
    X(REQUEST_UNKNOWN, "completions of unknown requests", "skipped")                               \
    X(REQUEST_OPEN, "requests never completed", "skipped")                                         \
    X(REQUEST_REUSED, "requests started twice without completion", "the first skipped")            \
    X(COLL_END_ALONE, "collective ends without a begin", "taken as begun with their call")         \
    X(COLL_BEGIN_ALONE, "collective begins without an end", "skipped")                             \
    X(COLL_INCOMPLETE, "collective operations that not all members took part in", "skipped")       \
    X(COLL_MISMATCH, "collective operations whose members name different operations or roots",     \
      "skipped")                                                                                   \
    X(COLL_REALIGNED, "members with missing or superfluous collective records",                    \
      "the others matched by operation, root and time")                                            \
    X(COLL_UNKNOWN, "collective operations of unknown kinds", "without wait states")               \
    X(COLL_NEIGHBORS, "neighbourhood operations whose neighbours the trace does not name",         \
      "without wait states")                                                                       \
    X(INIT_TWICE, "further calls of MPI_Init or MPI_Finalize by a process", "ordinary calls")      \
    X(INIT_MISSING, "processes without MPI_Init or MPI_Finalize", "default bounds")                \
    X(VIOLATION_P2P, "messages received before they were sent", "waiting cut at the call's end")   \
    X(VIOLATION_COLL, "collective waits released after their end",                                 \
      "waiting cut at the call's end")                                                             \
    X(TEAM_UNKNOWN, "thread teams without a fork", "below the root")                               \
    X(LOCK_ORDER, "lock acquisitions without a release before them", "without cause")

enum lc_health_kind {
#define LC_HEALTH_ENUM(name, text, done) LC_HEALTH_##name,
    LC_HEALTH_TABLE(LC_HEALTH_ENUM)
#undef LC_HEALTH_ENUM
        LC_HEALTH_KINDS
};

struct lc_health {
    int64_t count[LC_HEALTH_KINDS];
    /* lowest location concerned; INT64_MAX: none in particular */
    int64_t location[LC_HEALTH_KINDS];
    int64_t largest_violation_ticks;
};

void lc_health_init(struct lc_health *health);
void lc_health_note(struct lc_health *health, enum lc_health_kind kind, uint32_t location);
/* `count` at once; location LC_NONE: none in particular. */
void lc_health_add(struct lc_health *health, enum lc_health_kind kind, uint32_t location,
                   int64_t count);
void lc_health_reduce(struct lc_health *health, const struct lc_transport *comm);
const char *lc_health_text(enum lc_health_kind kind);
const char *lc_health_done(enum lc_health_kind kind);
const char *lc_health_name(enum lc_health_kind kind); /* "not_cpu" */

#endif
