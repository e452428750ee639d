/* Entries as messages, between ranks that share no memory: one record per message of the program,
 * sent after it (packets.c) when the clocks of the sender are known (backlog.c).
 * A send that may wait for its receiver says so in its record; a receiver that comes late to such a
 * message answers with a record of its own if the sender's clocks change with it (MPI's own
 * hand-shake takes two or three messages more there), else with words in its next record to this
 * rank.
 * Times and clocks travel in nanoseconds of the global clock. */
#include <stddef.h>
#include <string.h>
#include <stdatomic.h>

#include "measure/clocks/records.h"
#include "measure/clocks/clock_messages.h"
#include "measure/clocks/clocks.h"
#include "measure/clocks/edges.h"
#include "measure/clocks/origins.h"
#include "measure/clocks/global_time.h"
#include "piggyback/match.h"
#include "measure/clocks/collectives.h"
#include "measure/clocks/compared_work.h"
#include "measure/core/core.h"

void lc_clk_pack_stamp(const struct lc_stamp *stamp, uint64_t *words) {
    double enter = lc_clk_to_global(stamp->enter);
    memcpy(&words[0], &enter, sizeof enter);
    words[1] = lc_clk_ns_of(stamp->useful);
    words[2] = lc_clk_ns_of(stamp->outside_omp);
    words[3] = lc_clk_ns_of(stamp->phase_useful);
    words[4] = (uint64_t)stamp->interval << 32 | stamp->phase;
}

/* Back from words 0 to 5, of which the last has its node in the upper half. */
static struct lc_stamp lc_clk_unpack_stamp(const uint64_t *words) {
    double enter;
    memcpy(&enter, &words[0], sizeof enter);
    return (struct lc_stamp){.enter = lc_clk_from_global(enter),
                             .useful = lc_clk_ticks_of(words[1]),
                             .outside_omp = lc_clk_ticks_of(words[2]),
                             .phase_useful = lc_clk_ticks_of(words[3]),
                             .interval = (uint32_t)(words[4] >> 32),
                             .phase = (uint32_t)words[4],
                             .node = (uint32_t)(words[5] >> 32)};
}

uint32_t lc_clk_unpack_reply(const uint64_t *words, struct lc_stamp *post) {
    *post = lc_clk_unpack_stamp(words);
    return (uint32_t)words[5];
}

uint64_t lc_clk_record_flags(const struct lc_ring_entry *entry) {
    const struct lc_stashed *item =
        (const struct lc_stashed *)((const char *)entry - offsetof(struct lc_stashed, entry));
    return item->n_extra > 1 ? item->extra[1] : 0;
}

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
    uint64_t replies =
        lc_clk_back_pack(to, lc_clk_generation_of(words + LC_RECORD_HEAD), words + n);
    words[LC_RECORD_HEAD + 1] |= replies << LC_REPLIES_SHIFT;
    n += (uint32_t)replies * lc_clk_reply_words(lc_clk.n_whatif);
    if (!lc_clk_packet_add(to, reply ? LC_PART_REPLY : LC_PART_RECORD, words, n))
        return false;
    if (!reply && (waits & LC_RECORD_BACK) == 0)
        lc_clk_packet_row(to);
    lc_clk.counts.record_bytes += n * sizeof *words;
    return true;
}

/* Packets were taken where a message was looked for; the backlog has not been worked off since. */
static _Atomic bool pulled;

/* One of the replies at the end of a record. The vector of the record is as good as that of then,
 * for the last one; what-if clocks are its own. */
static void take_reply(uint32_t source, const uint64_t *words, const uint64_t *extra,
                       uint32_t n_extra, bool last) {
    struct lc_ring_entry entry = {.context = LC_CONTEXT_REPLY};
    uint64_t own[LC_RECORD_EXTRA];
    entry.tag = (int32_t)lc_clk_unpack_reply(words, &entry.stamp);
    if (lc_clk_scenarios_of(extra) > 0 && n_extra <= LC_RECORD_EXTRA) {
        memcpy(own, extra, n_extra * sizeof *own);
        memcpy(own + 2, words + LC_RECORD_REPLY - LC_WHATIF_MAX, LC_WHATIF_MAX * sizeof *own);
        lc_clk_reply_extra(source, entry.tag, own, n_extra);
    } else {
        lc_clk_reply_extra(source, entry.tag, extra, last ? n_extra : 0);
    }
    lc_match_add(&lc_clk.match, source, &entry, NULL, 0);
}

/* Replies at the end of a record; the words before them. */
static int take_replies(uint32_t source, const uint64_t *words, int n) {
    const uint64_t *extra = words + LC_RECORD_HEAD;
    int replies = n > LC_RECORD_HEAD + 1 ? (int)(extra[1] >> LC_REPLIES_SHIFT) : 0;
    int each = replies > 0 ? (int)lc_clk_reply_words(lc_clk_scenarios_of(extra)) : 0;
    int rest = n - replies * each;
    if (replies > LC_RECORD_REPLIES || rest < LC_RECORD_HEAD + 2)
        return n;
    uint32_t n_extra = (uint32_t)(rest - LC_RECORD_HEAD);
    if (extra[0] <= LC_RECORD_ITEMS && lc_clk_extra_words(extra) < n_extra)
        n_extra = lc_clk_extra_words(extra); /* behind it stands what the sender did lately */
    for (int i = 0; i < replies; i++)
        take_reply(source, words + rest + i * each, extra, n_extra, i == replies - 1);
    return rest;
}

/* What the sender did lately stands after `extra`; the words before it. */
static int take_past(uint32_t source, const uint64_t *words, int n) {
    const uint64_t *extra = words + LC_RECORD_HEAD;
    if (n < LC_RECORD_HEAD + 2 || extra[0] > LC_RECORD_ITEMS)
        return n;
    int before = LC_RECORD_HEAD + (int)lc_clk_extra_words(extra);
    if (n <= before)
        return n;
    lc_clk_origins_take(source, words + before, (uint32_t)(n - before));
    return before;
}

/* A part of a packet. */
static void add(uint32_t source, uint64_t *words, int n) {
    if (lc_clk_composed_is(words, n)) {
        lc_clk.parts_taken++;
        lc_clk_composed_part(source, words, (uint32_t)n);
        return;
    }
    if (lc_clk_sums_is(words, (uint32_t)n)) {
        lc_clk.parts_taken++;
        lc_clk_sums_part(source, words, (uint32_t)n);
        return;
    }
    if (n < LC_RECORD_HEAD)
        return;
    lc_clk.parts_taken++;
    if (!lc_clk_turns_take(source, words, (uint32_t)n))
        lc_clk_record_arrived(source, words, n);
}

void lc_clk_record_arrived(uint32_t source, uint64_t *words, int n) {
    bool shadow = words[7] == LC_RECORD_SHADOW;
    if (!shadow)
        n = take_replies(source, words, n);
    if (!shadow && n > LC_RECORD_HEAD + 1)
        words[LC_RECORD_HEAD + 1] &= (1ull << LC_REPLIES_SHIFT) - 1;
    if (!shadow && n > LC_RECORD_HEAD + 1 && words[6] >> 32 != LC_CONTEXT_REPLY)
        lc_clk_turns_arrived(source, (uint32_t)words[5], words[LC_RECORD_HEAD + 1]);
    if (!shadow)
        n = take_past(source, words, n);
    struct lc_ring_entry entry = {
        .stamp = lc_clk_unpack_stamp(words),
        .seq = (uint32_t)words[5],
        .context = (uint32_t)(words[6] >> 32),
        .tag = (int32_t)(uint32_t)words[6],
        .bytes = (uint32_t)words[7],
    };
    if (entry.context == LC_CONTEXT_REPLY)
        lc_clk_reply_extra(source, entry.tag, words + LC_RECORD_HEAD,
                           (uint32_t)(n - LC_RECORD_HEAD));
    if (n > LC_RECORD_HEAD + 1 && !shadow && words[LC_RECORD_HEAD + 1] & LC_RECORD_SYNCHRONOUS)
        lc_clk_reply_wanted();
    lc_match_add(&lc_clk.match, source, &entry, words + LC_RECORD_HEAD,
                 (uint32_t)(n - LC_RECORD_HEAD));
    if (shadow)
        lc_clk_shadow_part(entry.context, (uint32_t)entry.tag);
}

bool lc_clk_record_pull(void *user, uint32_t source) {
    (void)user;
    (void)source;
    bool any = lc_clk_packets_take(false);
    if (any)
        atomic_store_explicit(&pulled, true, memory_order_relaxed);
    return any;
}

bool lc_clk_records_pulled(void) {
    return atomic_load_explicit(&pulled, memory_order_relaxed);
}

void lc_clk_records_take(bool ask) {
    lc_clk_packets_take(ask);
    atomic_store_explicit(&pulled, false, memory_order_relaxed);
}

void lc_clk_records_init(void) {
    lc_clk_packets_begin(add);
}

void lc_clk_records_finish(void) {
    if (lc_clk.comm == MPI_COMM_NULL)
        return;
    lc_clk_packets_end();
    lc_clk_turns_end();
    lc_shadow_free_spare();
    lc_real.Comm_free(&lc_clk.comm);
}
