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
#ifndef LC_MEASURE_CLOCKS_TURNS_H
#define LC_MEASURE_CLOCKS_TURNS_H

#include <stdbool.h>
#include <stdint.h>

struct lc_call;
struct lc_clk_thread;
struct lc_ring_entry;

/* ---- what the thread does; not locked */

/* It has worked so long in this node; `part`: of the time until the next call. */
void lc_clk_turns_worked(uint64_t ticks, uint32_t node, bool part);
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
    LC_TURN_TOLD   /* as a turn: it is on its way already */
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
