/* Entries sent as messages, between ranks that share no memory. */
#ifndef LC_MEASURE_CLOCKS_RECORDS_H
#define LC_MEASURE_CLOCKS_RECORDS_H

#include <stdbool.h>
#include <stdint.h>

struct lc_clk_thread;
struct lc_stamp;

/* The words of a record with the clocks of an entry, without replies; returns their number, of
 * LC_PART_WORDS at most. waits: what it says of its send (LC_RECORD_WAITS, ..). */
uint32_t lc_clk_record_pack(struct lc_clk_thread *k, const struct lc_stamp *stamp, uint32_t context,
                            int32_t tag, uint32_t bytes, uint32_t seq, uint64_t waits,
                            uint64_t *words);
/* Sends an entry. False: lost (too many packets are under way). */
bool lc_clk_record_send(struct lc_clk_thread *k, uint32_t to, const struct lc_stamp *stamp,
                        uint32_t context, int32_t tag, uint32_t bytes, uint32_t seq,
                        uint64_t waits);
#endif
