/* Words of a record: an entry as message. Times and clocks travel in nanoseconds of the global
 * clock. */
#ifndef LC_MEASURE_CLOCKS_RECORD_FORMAT_H
#define LC_MEASURE_CLOCKS_RECORD_FORMAT_H

#include <stdint.h>

#include "piggyback/cpvec.h"

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
/* Back from words 0 to 5, of which the last has its node in the upper half. */
struct lc_stamp lc_clk_unpack_stamp(const uint64_t *words);

/* A reply (back_edges.c packs it) as the stamp of the post; returns the number of the message it
 * belongs to. */
uint32_t lc_clk_unpack_reply(const uint64_t *words, struct lc_stamp *post);

#endif
