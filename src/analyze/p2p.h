/* Matching of messages: per (communicator, source, destination, tag) the k-th send started belongs
 * to the k-th receive posted. The receiver's side lists its receives per channel; sends travel
 * there in bulk and take the head of their channel; where the sender has waited for the receiver
 * (Late Receiver), word goes back. Memory beside the trace: the table of channels and one piece of
 * messages.
 *
 * Fills loc->matches and loc->lates (see events.h). Collective; called by waits.c. */
#ifndef LC_ANALYZE_P2P_H
#define LC_ANALYZE_P2P_H

#include "analyze/trace.h"

/* Matches sends with receives, over all ranks. Collective. LC_ERR_NOMEM. */
enum lc_err lc_p2p_match(struct lc_trace *trace);

#endif
