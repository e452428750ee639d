/* Trace health: whatever is wrong with a trace is counted here by kind, with the first place, and
 * skipped; the analysis goes on. The list is printed at the end and kept in the result
 * (meta.health). */
#ifndef LC_ANALYZE_HEALTH_H
#define LC_ANALYZE_HEALTH_H

#include <stdint.h>

#include "analyze/transport.h"
#include "base/strbuf.h"

/* kind, what it means for people (after "1 ", after any other count), what was done */
#define LC_HEALTH_TABLE(X)                                                                         \
    X(NOT_CPU, "location that is not a CPU thread", "locations that are not CPU threads",          \
      "skipped")                                                                                   \
    X(NO_EVENTS, "location without events", "locations without events", "empty in the result")     \
    X(DAMAGED, "location whose events cannot be read to the end",                                  \
      "locations whose events cannot be read to the end", "used up to the damage")                 \
    X(LOST, "event announced by the archive is missing",                                           \
      "events announced by the archive are missing", "the result lacks them")                      \
    X(UNKNOWN_RECORD, "record of an unknown kind", "records of unknown kinds", "skipped")          \
    X(SAMPLES, "sampling record", "sampling records",                                              \
      "skipped, because the analysis needs Enter and Leave")                                       \
    X(TIME_BACKWARDS, "event earlier than the one before it",                                      \
      "events earlier than the one before them", "moved to the time of that one")                  \
    X(LEAVE_WITHOUT_ENTER, "Leave record without an open Enter",                                   \
      "Leave records without an open Enter", "skipped")                                            \
    X(ENTER_WITHOUT_LEAVE, "region left open", "regions left open",                                \
      "closed at the end of the enclosing region or location")                                     \
    X(TOO_DEEP, "region entered more than 1000 levels deep",                                       \
      "regions entered more than 1000 levels deep", "shown at level 1000")                         \
    X(UNKNOWN_REGION, "record that names an undefined region",                                     \
      "records that name an undefined region", "shown as <unknown>")                               \
    X(RECORD_OUTSIDE, "MPI record outside any region", "MPI records outside any region",           \
      "skipped")                                                                                   \
    X(UNKNOWN_COMM, "record that names an undefined communicator or rank",                         \
      "records that name an undefined communicator or rank", "skipped")                            \
    X(SEND_UNMATCHED, "message sent but never received", "messages sent but never received",       \
      "skipped")                                                                                   \
    X(RECV_UNMATCHED, "message received but never sent", "messages received but never sent",       \
      "skipped")                                                                                   \
    X(OUTSIDE_WINDOW, "message with one end outside of what was traced",                           \
      "messages with one end outside of what was traced", "not matched")                           \
    X(BYTES_DIFFER, "message received with a different length than it was sent with",              \
      "messages received with a different length than they were sent with", "used")                \
    X(REQUEST_UNKNOWN, "completion of an unknown request", "completions of unknown requests",      \
      "skipped")                                                                                   \
    X(REQUEST_OPEN, "request that was never completed", "requests that were never completed",      \
      "skipped")                                                                                   \
    X(REQUEST_REUSED, "request started again before it was completed",                             \
      "requests started again before they were completed", "the first start is skipped")           \
    X(COLL_END_ALONE, "end of a collective without its begin",                                     \
      "ends of collectives without their begin", "taken to begin with the call")                   \
    X(COLL_BEGIN_ALONE, "begin of a collective without its end",                                   \
      "begins of collectives without their end", "skipped")                                        \
    X(COLL_INCOMPLETE, "collective operation that not all members took part in",                   \
      "collective operations that not all members took part in", "skipped")                        \
    X(COLL_MISMATCH, "collective operation whose members disagree on operation or root",           \
      "collective operations whose members disagree on operation or root", "skipped")              \
    X(COLL_REALIGNED, "member with missing or superfluous collective records",                     \
      "members with missing or superfluous collective records",                                    \
      "the others are matched by operation, root and time")                                        \
    X(COLL_UNKNOWN, "collective operation of an unknown kind",                                     \
      "collective operations of unknown kinds", "without wait states")                             \
    X(COLL_NEIGHBORS, "neighbourhood operation whose neighbours are not in the trace",             \
      "neighbourhood operations whose neighbours are not in the trace", "without wait states")     \
    X(INIT_TWICE, "repeated call of MPI_Init or MPI_Finalize",                                     \
      "repeated calls of MPI_Init or MPI_Finalize", "treated as ordinary calls")                   \
    X(INIT_MISSING, "process without MPI_Init or MPI_Finalize",                                    \
      "processes without MPI_Init or MPI_Finalize", "bounded by the first and last event")         \
    X(VIOLATION_P2P, "message received before it was sent",                                        \
      "messages received before they were sent", "waiting is cut at the end of the call")          \
    X(VIOLATION_COLL, "collective wait that ends after its call",                                  \
      "collective waits that end after their call", "waiting is cut at the end of the call")       \
    X(TEAM_UNKNOWN, "thread team without a fork", "thread teams without a fork",                   \
      "shown below the root")                                                                      \
    X(WAIT_BEFORE_TASKS, "wait for tasks recorded before the last of them was made",               \
      "waits for tasks recorded before the last of them was made",                                 \
      "taken to begin when it was made")                                                           \
    X(LOCK_ORDER, "lock acquired without an earlier release",                                      \
      "locks acquired without an earlier release", "without a cause")

enum lc_health_kind {
#define LC_HEALTH_ENUM(name, one, several, done) LC_HEALTH_##name,
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

/* Nothing noted yet. */
void lc_health_init(struct lc_health *health);
/* Counts one more of a kind of damage; the lowest location that has it is kept. */
void lc_health_note(struct lc_health *health, enum lc_health_kind kind, uint32_t location);
/* `count` at once; location LC_NONE: none in particular. */
void lc_health_add(struct lc_health *health, enum lc_health_kind kind, uint32_t location,
                   int64_t count);
/* Sums over all ranks, on every rank; of locations the lowest. Collective. */
void lc_health_reduce(struct lc_health *health, const struct lc_transport *comm);
/* What follows the count in words, for people; static. */
const char *lc_health_text(enum lc_health_kind kind, int64_t count);
/* What was done about it, in words; static text. */
const char *lc_health_done(enum lc_health_kind kind);
const char *lc_health_name(enum lc_health_kind kind); /* "not_cpu" */

#endif
