/* Entries as messages, between ranks that share no memory. */
#ifndef LC_MEASURE_CLOCKS_RECORDS_H
#define LC_MEASURE_CLOCKS_RECORDS_H

#include <stdbool.h>
#include <stdint.h>

#include "piggyback/cpvec.h"

struct lc_clk_thread;
struct lc_ring_entry;
struct lc_stamp;

/* Sends an entry. False: lost (too many packets are under way). */
bool lc_clk_record_send(struct lc_clk_thread *k, uint32_t to, const struct lc_stamp *stamp,
                        uint32_t context, int32_t tag, uint32_t bytes, uint32_t seq,
                        uint64_t waits);
/* Takes the packets that MPI has delivered (lc_match_calls); false: none. */
bool lc_clk_record_pull(void *user, uint32_t source);
/* Of a collective operation: n words. */
bool lc_clk_record_shadow(uint32_t to, uint32_t context, uint32_t number, const uint64_t *payload,
                          uint32_t n);
/* Once, before the first record. */
void lc_clk_records_init(void);
/* Collective: calls `work` until no rank has anything left (*left false) and no packet is under
 * way. */
void lc_clk_records_quiesce(void (*work)(bool *left));
void lc_clk_records_finish(void); /* collective */

/* What the record of this entry (from the matcher, of a source without ring) says of its send. */
uint64_t lc_clk_record_flags(const struct lc_ring_entry *entry);
#define LC_RECORD_WAITS  (1ull << 32) /* in extra[1]: may wait for its receive; */
#define LC_RECORD_SURELY (1ull << 33) /* surely ends only when it is posted; */
#define LC_RECORD_BLOCKS (1ull << 34) /* is expected to wait; */
#define LC_RECORD_INSIDE (1ull << 35) /* in the call that sends */

enum {
    LC_RECORD_ITEMS = 20,
    LC_RECORD_EXTRA = 2 + LC_WHATIF_MAX + 2 * LC_RECORD_ITEMS,
    /* words of a reply that goes with a record to the same rank, at most */
    LC_RECORD_REPLY = 6 + LC_WHATIF_MAX,
    LC_RECORD_REPLIES = 32 /* of them in one record, at most */
};

/* Words of a reply from a rank with so many what-if scenarios. */
static inline uint32_t lc_clk_reply_words(uint32_t n_whatif) {
    return n_whatif > 0 ? LC_RECORD_REPLY : LC_RECORD_REPLY - LC_WHATIF_MAX;
}

/* A reply as words, with the what-if clocks that thread k had when it made the stamp; the number of
 * the message it belongs to. */
void lc_clk_pack_reply(const struct lc_clk_thread *k, const struct lc_stamp *post, uint32_t seq,
                       uint64_t *words);
uint32_t lc_clk_unpack_reply(const uint64_t *words, struct lc_stamp *post);

#endif
