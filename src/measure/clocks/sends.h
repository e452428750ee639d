/* The sender's entry: goes before its message, through a ring or as a record. */
#ifndef LC_MEASURE_CLOCKS_SENDS_H
#define LC_MEASURE_CLOCKS_SENDS_H

#include <stdint.h>

struct lc_call;
struct lc_clk_thread;
struct lc_ring_entry;
struct lc_stamp;
union lc_op_clocks;

/* an entry of no bytes, with lc_clk.lock held */
void lc_clk_put(struct lc_clk_thread *k, uint32_t to, const struct lc_stamp *stamp,
                uint32_t context, int32_t tag);

/* The same with the clocks of the call's begin, now or from the backlog; without lc_clk.lock. */
void lc_clk_put_at_begin(struct lc_call *call, struct lc_clk_thread *k, uint32_t to,
                         uint32_t context, int32_t tag);

/* puts an entry on its way; its sequence number (0: lost) and place (NULL: none). With
 * lc_clk.lock held. */
uint32_t lc_clk_put_entry(struct lc_clk_thread *k, uint32_t to, const struct lc_stamp *stamp,
                          uint32_t context, int32_t tag, uint32_t bytes, uint64_t waits,
                          struct lc_ring_entry **entry);

/* Where clocks lag behind the program: the number in its ring of a send to this node; 0: not there.
 */
uint32_t lc_clk_sent_seq(uint64_t id);

/* What the clocks of a request or message hold of a send to this rank that will not come, if its
 * entry is in a ring. */
void lc_clk_void_entry(int32_t to, const union lc_op_clocks *clocks);

#endif
