/* Entries as messages, between ranks that share no memory: one record per message of the program,
 * sent after it (packets.c) when the clocks of the sender are known (backlog.c).
 * A send that may wait for its receiver says so in its record; a receiver that comes late to such a
 * message answers with a record of its own if the sender's clocks change with it (MPI's own
 * hand-shake takes two or three messages more there), else with words in its next record to this
 * rank.
 * Times and clocks travel in nanoseconds of the global clock. */
#include "measure/clocks/records.h"

#include "measure/clocks/back_edges.h"
#include "measure/clocks/clocks.h"
#include "measure/clocks/edges.h"
#include "measure/clocks/origins.h"
#include "measure/clocks/packets.h"
#include "measure/clocks/record_format.h"
#include "measure/clocks/turns.h"

_Static_assert(LC_RECORD_HEAD + LC_RECORD_EXTRA + LC_PAST_WORDS +
                       LC_RECORD_REPLIES * LC_RECORD_REPLY <=
                   LC_PART_WORDS,
               "a part of a packet");

uint32_t lc_clk_record_pack(struct lc_clk_thread *k, const struct lc_stamp *stamp, uint32_t context,
                            int32_t tag, uint32_t bytes, uint32_t seq, uint64_t waits,
                            uint64_t *words) {
    lc_clk_pack_stamp(stamp, words);
    words[5] = (uint64_t)stamp->node << 32 | seq;
    words[6] = (uint64_t)context << 32 | (uint32_t)tag;
    words[7] = bytes;
    bool reply = context == LC_CONTEXT_REPLY; /* the receive may have been posted long ago */
    uint32_t n = LC_RECORD_HEAD +
                 lc_clk_extra(k, reply ? stamp : NULL, LC_RECORD_ITEMS, words + LC_RECORD_HEAD);
    words[LC_RECORD_HEAD + 1] |= waits;
    return n;
}

bool lc_clk_record_send(struct lc_clk_thread *k, uint32_t to, const struct lc_stamp *stamp,
                        uint32_t context, int32_t tag, uint32_t bytes, uint32_t seq,
                        uint64_t waits) {
    if (!lc_clk.records)
        return false;
    uint64_t words[LC_PART_WORDS];
    bool reply = context == LC_CONTEXT_REPLY;
    uint32_t n = lc_clk_record_pack(k, stamp, context, tag, bytes, seq, waits, words);
    if (!reply)
        lc_clk_turns_known(to, seq, words, n);
    n += lc_clk_origins_pack((int32_t)to, words + n);
    uint64_t replies = lc_clk_back_pack(to, words + n);
    words[LC_RECORD_HEAD + 1] |= replies << LC_REPLIES_SHIFT;
    n += (uint32_t)replies * lc_clk_reply_words(lc_clk.n_whatif);
    if (!lc_clk_packet_add(to, reply ? LC_PART_REPLY : LC_PART_RECORD, words, n))
        return false;
    if (!reply && (waits & LC_RECORD_BACK) == 0)
        lc_clk_packet_row(to);
    lc_clk.counts.record_bytes += n * sizeof *words;
    return true;
}
