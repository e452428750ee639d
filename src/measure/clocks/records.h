/* Entries sent as messages, between ranks that share no memory. */
#ifndef LC_MEASURE_CLOCKS_RECORDS_H
#define LC_MEASURE_CLOCKS_RECORDS_H

#include <stdbool.h>
#include <stdint.h>

#include "piggyback/cpvec.h"

struct lc_call;
struct lc_clk_thread;
struct lc_portion_done;

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

/* What the record of this entry (from the matcher, of a source without ring) says of its send. */
uint64_t lc_clk_record_flags(const struct lc_ring_entry *entry);
#define LC_RECORD_WAITS       (1ull << 32) /* in extra[1]: may wait for its receive; */
#define LC_RECORD_SYNCHRONOUS (1ull << 33) /* it ends only when that is posted; */
#define LC_RECORD_BLOCKS      (1ull << 34) /* is expected to wait; */
#define LC_RECORD_INSIDE      (1ull << 35) /* in the call that sends; */
#define LC_RECORD_KEEPS       (1ull << 36) /* goes in turn (records.h) */
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
    LC_PAST_WAIT_HEAD = 4,
    LC_PAST_WAIT_WORDS = /* at most: as many as it has causes */
    LC_PAST_WAIT_HEAD + LC_PAST_SENT_CAUSES + LC_PAST_SENT_CAUSES / 2,
    LC_PAST_WORK_WORDS = 3,
    LC_PAST_WORDS = LC_PAST_HEAD + LC_PAST_SENT_WAITS * LC_PAST_WAIT_WORDS +
                    LC_PAST_SENT_WORK * LC_PAST_WORK_WORDS
};

/* extra[1] also has the number of what-if clocks, and their generation above it (cpvec.h); of a
 * reply LC_GENERATION_LOST where the clocks that it was to have are not there any more. */
#define LC_GENERATION_LOST 0xffffffu
static inline uint64_t lc_clk_pack_scenarios(uint32_t n, uint32_t generation) {
    return n > 0 ? (uint64_t)generation << 8 | n : 0;
}
static inline uint32_t lc_clk_scenarios_of(const uint64_t *extra) {
    return extra[1] & 0xff;
}
static inline uint32_t lc_clk_generation_of(const uint64_t *extra) {
    return extra[1] >> 8 & LC_GENERATION_LOST;
}

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
/* Takes all packets that have come, before the backlog is worked off; ask: calls MPI, so that it
 * makes progress. With the lock of the queue. */
void lc_clk_records_take(bool ask);
/* Has lc_clk_record_pull taken any since? Any thread may ask, without a lock. */
bool lc_clk_records_pulled(void);
/* A record of a message, or another part of records of this rank's. */
void lc_clk_record_arrived(uint32_t source, uint64_t *words, int n);
/* Once, before the first record. */
void lc_clk_records_init(void);
/* At the end, when nothing is under way any more; collective. */
void lc_clk_records_finish(void);

/* Messages between ranks that carry clocks: what goes to one rank during a call leaves in one
 * packet, after the program's own message. Receives are posted in advance, so that MPI delivers
 * packets during the program's own calls; nothing here waits.
 *
 * A packet: number of words | mark, then parts, each its number of words and the words. All with
 * lc_clk.lock held. */

enum lc_packet_part {
    LC_PART_RECORD, /* of a message of the program, of a window */
    LC_PART_REPLY,
    LC_PART_SHADOW, /* of a collective operation */
    LC_PART_BASE,   /* of messages in turn (records.h) */
    LC_PART_KINDS
};

enum { LC_PART_WORDS = 493 }; /* of one part, at most */

/* take: called with every part that arrives, of n words. */
void lc_clk_packets_begin(void (*take)(uint32_t source, uint64_t *words, int n));

/* A part of n words for rank `to`; it leaves with lc_clk_packets_send. False: too many packets are
 * under way. */
bool lc_clk_packet_add(uint32_t to, enum lc_packet_part kind, const uint64_t *words, uint32_t n);
/* The part just added is one of those that may wait for others: the packet stays until it has
 * `most` parts of this kind, another part is added, or it is old. */
void lc_clk_packet_hold(uint32_t to, uint32_t most);
/* The packet to this rank leaves as any other. */
void lc_clk_packet_release(uint32_t to);

/* The part just added tells what the call in progress did. If that is one of a row (the same
 * function soon again, and nothing of this process waits for others), it may wait for the parts of
 * the next ones as lc_clk_packet_hold says, until the row is over: another function of MPI is
 * called, or an event waits (backlog.h). */
void lc_clk_packet_row(uint32_t to);
/* Some may be held for a row. Any thread may ask, without the lock. */
bool lc_clk_packets_in_row(void);
/* Some may be held for a row of calls of this function. Any thread may ask, without the lock. */
bool lc_clk_packets_row_of(uint32_t fn);
/* The row is over: what was held for it leaves as any other packet. */
void lc_clk_packets_end_row(void);
/* Sends all packets that hold something, but for those that wait. */
void lc_clk_packets_send(void);

/* Takes the packets that have arrived. False: none. ask: calls MPI, so that it makes progress; else
 * only looks at what MPI has delivered already. */
bool lc_clk_packets_take(bool ask);

/* Nothing has come, and nothing is to leave (now: lc_patience_ticks): a look without the lock, by
 * any thread. */
bool lc_clk_packets_idle(uint64_t now);

/* Collective: calls `work` until no rank has anything left (*left false) and no packet is under
 * way. */
void lc_clk_packets_quiesce(void (*work)(bool *left));
/* Cancels the posted receives and frees everything; nothing may be under way. */
void lc_clk_packets_end(void);

/* Messages in turn between ranks that share no memory. Two ranks that answer each other (ping-pong)
 * know what the other one's clocks depend on: nothing but its own work and the messages that both
 * exchange. So a record of such a message need not wait for clocks: it says what the sender did
 * since its last message (a *turn*: its work, which message it received and when, its work until
 * the send), and the receiver computes the sender's clocks itself. Turns do not depend on each
 * other's arrival, so several of them share a packet.
 *
 * Nouns
 *   turn     one receive from a rank, and the next send to it; nothing else changes clocks
 *   chain    turns with the same rank, one after the other
 *   base     the clocks of the sender before the first turn of a chain; told when they are known
 *   kept     what this rank's record of a message says, for turns of the other one that follow it
 *   partner  a rank that took turns with this one
 *   stream   messages to, or from, a partner with one (context, tag)
 *
 * Invariants: a rank begins a chain only where the other one has promised, in a record that has
 * arrived, to keep what it sends from then on. Both count these messages by stream; a turn's
 * receive is the next one of its stream, as no other receive of its rank is open, and the base says
 * how many came before. Records of a partner are used in the order of its sends. Only the first
 * thread of a process takes turns. */

/* ---- what the thread does; not locked */

/* It has worked so long in this node; `part`: of the time until the next call. */
void lc_clk_turns_worked(uint64_t ticks, uint32_t node, bool part);
/* This was a portion of it. */
void lc_clk_turns_portion(const struct lc_portion_done *portion);
/* Something else has happened that changes clocks or publishes them: the chain ends. */
void lc_clk_turns_close(void);
/* A chain is open: the backlog is expected to wait for some messages. */
bool lc_clk_turns_open(void);

/* The event of a chain's base: before that of its first receive. */
void lc_clk_turns_begin(struct lc_clk_thread *k, const struct lc_call *call, uint32_t source);

/* ---- messages; with the lock */

/* A receive from `source` is complete; certain: its place in the stream (context, tag) is that of
 * its completion. True: a chain begins with it (lc_clk_turns_begin). */
bool lc_clk_turns_received(struct lc_clk_thread *k, const struct lc_call *call, uint32_t source,
                           uint32_t context, int32_t tag, bool certain);
/* Where the clocks are: it has got this record. */
void lc_clk_turns_got(uint32_t source, const struct lc_ring_entry *entry);

/* How the record of a message goes. */
enum lc_turn_way {
    LC_TURN_NONE,  /* as any other, with clocks */
    LC_TURN_KEEPS, /* as any other, with LC_RECORD_KEEPS */
    LC_TURN_SENT   /* as a turn: it is on its way already */
};
struct lc_turn_send { /* flags: LC_RECORD_WAITS, ..; seq: its number */
    uint32_t to, context;
    int32_t tag;
    uint32_t bytes, seq;
    uint64_t flags;
};
/* A message is sent at call->begin. */
enum lc_turn_way lc_clk_turns_send(const struct lc_call *call, const struct lc_turn_send *send);
/* The clocks of a message to `to` are known: the n words of its record. */
void lc_clk_turns_known(uint32_t to, uint32_t seq, const uint64_t *words, uint32_t n);

/* A message to `to` that was told of has not left: nothing that was kept is certain. */
void lc_clk_turns_void(uint32_t to);

/* ---- records that arrive; with the lock */

/* Takes a part of a packet that is a turn, or a record that comes after one that is not worked off
 * yet. False: it is any other record. */
bool lc_clk_turns_take(uint32_t source, const uint64_t *words, uint32_t n);
/* A record of a message has arrived, with clocks: flags of its extra words. */
void lc_clk_turns_arrived(uint32_t source, uint32_t seq, uint64_t flags);
/* Frees everything. */
void lc_clk_turns_end(void);

#endif
