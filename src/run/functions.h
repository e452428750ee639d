/* What the result makers know about MPI functions: which wait state is estimated where, which
 * counters a call feeds. One table. */
#ifndef LC_RUN_FUNCTIONS_H
#define LC_RUN_FUNCTIONS_H

#include <stdint.h>

enum lc_estimate { /* wait states estimated from minima; docs/definitions/estimates.md */
                   LC_EST_NONE,
                   LC_EST_LATE_SENDER,   /* minimum of the process */
                   LC_EST_LATE_RECEIVER, /* minimum of the process */
                   /* MPI_Wait*: late sender if the call completed a receive, late receiver if it
                    * completed sends only */
                   LC_EST_WAIT,
                   /* Those that may complete several requests, and return when the last or the
                    * first of them is complete: their shortest call says nothing of the others */
                   LC_EST_WAIT_SEVERAL,
                   LC_EST_NXN, /* from here on: minimum of all processes */
                   LC_EST_BARRIER,
                   LC_EST_LATE_BROADCAST, /* calls that are not root */
                   LC_EST_EARLY_REDUCE    /* root calls */
};

enum lc_traffic { /* how calls count as messages */
                  LC_TRAFFIC_NONE,
                  LC_TRAFFIC_SEND,
                  LC_TRAFFIC_RECV,
                  /* receives, where the row says that the call completed one */
                  LC_TRAFFIC_COMPLETE,
                  LC_TRAFFIC_RMA,              /* bytes only */
                  LC_TRAFFIC_OTHER_COLLECTIVE, /* nonblocking, neighbourhood: bytes only */
                  LC_TRAFFIC_COLLECTIVE
};

struct lc_function_class {
    enum lc_estimate estimate;
    enum lc_traffic traffic;
};

/* By C name; large-count forms (MPI_Send_c) are as the plain ones. */
struct lc_function_class lc_function_classify(const char *name);
/* Role of a region in the sense of OTF2, "barrier", "one2all", ..; static. */
const char *lc_function_role(const char *name);

#endif
