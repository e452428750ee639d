/* Messages between ranks that carry clocks: what goes to one rank during a call leaves in one
 * packet, after the program's own message. Receives are posted in advance, so that MPI delivers
 * packets during the program's own calls; nothing here waits.
 *
 * A packet: number of words | mark, then parts, each its number of words and the words. All with
 * lc_clk.lock held. */
#ifndef LC_MEASURE_CLOCKS_PACKETS_H
#define LC_MEASURE_CLOCKS_PACKETS_H

#include <stdbool.h>
#include <stdint.h>

enum lc_packet_part {
    LC_PART_RECORD, /* of a message of the program, of a window */
    LC_PART_REPLY,
    LC_PART_SHADOW, /* of a collective operation */
    LC_PART_BASE,   /* of messages in turn (turns.h) */
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

#endif
