/* Entries sent as messages, between ranks that share no memory. */
#ifndef LC_MEASURE_CLOCKS_RECORDS_H
#define LC_MEASURE_CLOCKS_RECORDS_H

#include <stdbool.h>
#include <stdint.h>

#include "piggyback/cpvec.h"

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

/* Words of a record: an entry as message. Times and clocks travel in nanoseconds of the global
 * clock. */

struct lc_ring_entry;
struct lc_stamp;

/* What the record of this entry (from the matcher, of a source without ring) says of its send. */
uint64_t lc_clk_record_flags(const struct lc_ring_entry *entry);
#define LC_RECORD_WAITS       (1ull << 32) /* in extra[1]: may wait for its receive; */
#define LC_RECORD_SYNCHRONOUS (1ull << 33) /* it ends only when that is posted; */
#define LC_RECORD_BLOCKS      (1ull << 34) /* is expected to wait; */
#define LC_RECORD_INSIDE      (1ull << 35) /* in the call that sends; */
#define LC_RECORD_KEEPS       (1ull << 36) /* goes in turn (turns.h) */
/* of messages that have edges back */
#define LC_RECORD_BACK (LC_RECORD_WAITS | LC_RECORD_SYNCHRONOUS | LC_RECORD_BLOCKS)

#define LC_RECORD_SHADOW (1ull << 63) /* in place of the bytes: of a shadow collective */

enum {
    LC_RECORD_HEAD = 8,    /* words before `extra` */
    LC_REPLIES_SHIFT = 40, /* number of replies after the record, in extra[1] */
    LC_RECORD_ITEMS = 20,
    LC_RECORD_EXTRA = 2 + LC_WHATIF_MAX + 2 * LC_RECORD_ITEMS,
    /* words of a reply that goes with a record to the same rank, at most */
    LC_RECORD_REPLY = 6 + LC_WHATIF_MAX,
    LC_RECORD_REPLIES = 30, /* of them in one record, at most */
    /* what the sender did lately (origins.h), after `extra` */
    LC_PAST_HEAD = 2,
    LC_PAST_SENT_WAITS = 3,
    LC_PAST_SENT_CAUSES = 6,
    LC_PAST_SENT_WORK = 8,
    LC_PAST_WAIT_WORDS = 4 + LC_PAST_SENT_CAUSES + LC_PAST_SENT_CAUSES / 2,
    LC_PAST_WORK_WORDS = 3,
    LC_PAST_WORDS = LC_PAST_HEAD + LC_PAST_SENT_WAITS * LC_PAST_WAIT_WORDS +
                    LC_PAST_SENT_WORK * LC_PAST_WORK_WORDS
};

/* Words of a reply from a rank with so many what-if scenarios. */
static inline uint32_t lc_clk_reply_words(uint32_t n_whatif) {
    return n_whatif > 0 ? LC_RECORD_REPLY : LC_RECORD_REPLY - LC_WHATIF_MAX;
}

/* Words of `extra` that are set. */
static inline uint32_t lc_clk_extra_words(const uint64_t *extra) {
    return 2 + LC_WHATIF_MAX + 2 * (uint32_t)extra[0];
}

/* Writes a stamp as words 0 to 4 of a record. */
void lc_clk_pack_stamp(const struct lc_stamp *stamp, uint64_t *words);

/* A reply (back_edges.c packs it) as the stamp of the post; returns the number of the message it
 * belongs to. */
uint32_t lc_clk_unpack_reply(const uint64_t *words, struct lc_stamp *post);

/* Parts of packets that arrive: records go to the matcher, their replies to the senders that wait
 * for them, steps of collectives to these. */

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
