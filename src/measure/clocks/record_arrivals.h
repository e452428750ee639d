/* Parts of packets that arrive: records go to the matcher, their replies to the senders that wait
 * for them, steps of collectives to these. */
#ifndef LC_MEASURE_CLOCKS_RECORD_ARRIVALS_H
#define LC_MEASURE_CLOCKS_RECORD_ARRIVALS_H

#include <stdbool.h>
#include <stdint.h>

/* Takes the packets that MPI has delivered (lc_match_calls); false: none. */
bool lc_clk_record_pull(void *user, uint32_t source);
/* The same before the backlog is worked off; ask: calls MPI, so that it makes progress. With the
 * lock of the queue. */
void lc_clk_records_take(bool ask);
/* Has lc_clk_record_pull taken any since? Any thread may ask, without a lock. */
bool lc_clk_records_pulled(void);
/* A record of a message, or another part of records of this rank's. */
void lc_clk_record_arrived(uint32_t source, uint64_t *words, int n);
/* Once, before the first record. */
void lc_clk_records_init(void);
/* At the end, when nothing is under way any more; collective. */
void lc_clk_records_finish(void);

#endif
