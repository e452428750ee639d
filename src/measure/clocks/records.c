/* Entries as messages, between ranks that share no memory: one record per message of the program,
 * sent after it (packets.c) when the clocks of the sender are known (backlog.c).
 * A send that may wait for its receiver says so in its record; a receiver that comes late to such a
 * message answers with a record of its own if the sender's clocks change with it (MPI's own
 * hand-shake takes two or three messages more there), else with words in its next record to this
 * rank.
 * Times and clocks travel in nanoseconds of the global clock. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "measure/clocks/back_edges.h"
#include "measure/clocks/call_state.h"
#include "measure/clocks/clocks.h"
#include "measure/clocks/composed_collectives.h"
#include "measure/clocks/edges.h"
#include "measure/clocks/global_time.h"
#include "measure/clocks/packets.h"
#include "measure/clocks/receives.h"
#include "measure/clocks/records.h"
#include "measure/clocks/shadow_collectives.h"
#include "measure/clocks/wait_states.h"
#include "measure/core.h"
#include "piggyback/match.h"

enum {
    LC_RECORD_HEAD = 8,
    LC_REPLIES_SHIFT = 40 /* their number, in extra[1] */
};
#define LC_RECORD_SHADOW (1ull << 63) /* in place of the bytes */
_Static_assert(LC_RECORD_HEAD + LC_RECORD_EXTRA + LC_RECORD_REPLIES * LC_RECORD_REPLY <=
                   LC_PART_WORDS,
               "a part of a packet");

static void to_words(const struct lc_stamp *stamp, uint64_t *words) {
    double enter = lc_clk_to_global(stamp->enter);
    memcpy(&words[0], &enter, sizeof enter);
    words[1] = lc_clk_ns_of(stamp->useful);
    words[2] = lc_clk_ns_of(stamp->outside_omp);
    words[3] = lc_clk_ns_of(stamp->phase_useful);
    words[4] = (uint64_t)stamp->interval << 32 | stamp->phase;
}

static struct lc_stamp to_stamp(const uint64_t *words) {
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

void lc_clk_pack_reply(const struct lc_clk_thread *k, const struct lc_stamp *post, uint32_t seq,
                       uint64_t *words) {
    to_words(post, words);
    words[5] = (uint64_t)post->node << 32 | seq;
    if (lc_clk.n_whatif > 0)
        lc_clk_whatif_words(k, post, words + LC_RECORD_REPLY - LC_WHATIF_MAX);
}

uint32_t lc_clk_unpack_reply(const uint64_t *words, struct lc_stamp *post) {
    *post = to_stamp(words);
    return (uint32_t)words[5];
}

bool lc_clk_record_send(struct lc_clk_thread *k, uint32_t to, const struct lc_stamp *stamp,
                        uint32_t context, int32_t tag, uint32_t bytes, uint32_t seq,
                        uint64_t waits) {
    if (!lc_clk.records)
        return false;
    uint64_t words[LC_PART_WORDS];
    to_words(stamp, words);
    words[5] = (uint64_t)stamp->node << 32 | seq;
    words[6] = (uint64_t)context << 32 | (uint32_t)tag;
    words[7] = bytes;
    bool reply = context == LC_CONTEXT_REPLY; /* the receive may have been posted long ago */
    uint32_t n = LC_RECORD_HEAD +
                 lc_clk_extra(k, reply ? stamp : NULL, LC_RECORD_ITEMS, words + LC_RECORD_HEAD);
    uint64_t replies = lc_clk_back_pack(to, words + n);
    words[LC_RECORD_HEAD + 1] |= waits | replies << LC_REPLIES_SHIFT;
    n += (uint32_t)replies * lc_clk_reply_words(lc_clk.n_whatif);
    if (!lc_clk_packet_add(to, reply ? LC_PART_REPLY : LC_PART_RECORD, words, n))
        return false;
    lc_clk.counts.record_bytes += n * sizeof *words;
    return true;
}

bool lc_clk_record_shadow(uint32_t to, uint32_t context, uint32_t number, const uint64_t *payload,
                          uint32_t n) {
    uint64_t words[LC_PART_WORDS] = {0};
    words[6] = (uint64_t)context << 32 | number;
    words[7] = LC_RECORD_SHADOW;
    memcpy(words + LC_RECORD_HEAD, payload, n * sizeof *payload);
    return lc_clk_packet_add(to, LC_PART_SHADOW, words, LC_RECORD_HEAD + n);
}

/* One of the replies at the end of a record. The vector of the record is as good as that of then,
 * for the last one; what-if clocks are its own. */
static void take_reply(uint32_t source, const uint64_t *words, const uint64_t *extra,
                       uint32_t n_extra, bool last) {
    struct lc_ring_entry entry = {.context = LC_CONTEXT_REPLY};
    uint64_t own[LC_RECORD_EXTRA];
    entry.tag = (int32_t)lc_clk_unpack_reply(words, &entry.stamp);
    if ((uint32_t)extra[1] > 0 && n_extra <= LC_RECORD_EXTRA) {
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
    int each = replies > 0 ? (int)lc_clk_reply_words((uint32_t)extra[1]) : 0;
    int rest = n - replies * each;
    if (replies > LC_RECORD_REPLIES || rest < LC_RECORD_HEAD + 2)
        return n;
    for (int i = 0; i < replies; i++)
        take_reply(source, words + rest + i * each, extra, (uint32_t)(rest - LC_RECORD_HEAD),
                   i == replies - 1);
    return rest;
}

static void add(uint32_t source, uint64_t *words, int n) {
    if (lc_clk_composed_is(words, n)) {
        lc_clk.counts.parts_taken++;
        lc_clk_composed_part(source, words, (uint32_t)n);
        return;
    }
    if (n < LC_RECORD_HEAD)
        return;
    bool shadow = words[7] == LC_RECORD_SHADOW;
    lc_clk.counts.parts_taken++;
    if (!shadow)
        n = take_replies(source, words, n);
    if (!shadow && n > LC_RECORD_HEAD + 1)
        words[LC_RECORD_HEAD + 1] &= (1ull << LC_REPLIES_SHIFT) - 1;
    struct lc_ring_entry entry = {
        .stamp = to_stamp(words),
        .seq = (uint32_t)words[5],
        .context = (uint32_t)(words[6] >> 32),
        .tag = (int32_t)(uint32_t)words[6],
        .bytes = (uint32_t)words[7],
    };
    if (entry.context == LC_CONTEXT_REPLY)
        lc_clk_reply_extra(source, entry.tag, words + LC_RECORD_HEAD,
                           (uint32_t)(n - LC_RECORD_HEAD));
    if (n > LC_RECORD_HEAD + 1 && !shadow && words[LC_RECORD_HEAD + 1] & LC_RECORD_SURELY)
        lc_clk_reply_wanted();
    lc_match_add(&lc_clk.match, source, &entry, words + LC_RECORD_HEAD,
                 (uint32_t)(n - LC_RECORD_HEAD));
    if (shadow)
        lc_clk_shadow_part(entry.context, (uint32_t)entry.tag);
}

uint64_t lc_clk_record_flags(const struct lc_ring_entry *entry) {
    const struct lc_stashed *item =
        (const struct lc_stashed *)((const char *)entry - offsetof(struct lc_stashed, entry));
    return item->n_extra > 1 ? item->extra[1] : 0;
}

bool lc_clk_record_pull(void *user, uint32_t source) {
    (void)user;
    (void)source;
    return lc_clk_packets_take(false);
}

void lc_clk_records_init(void) {
    lc_clk_packets_begin(add);
}

/* Takes what comes, until nobody has anything left to do or on its way. */
void lc_clk_records_quiesce(void (*work)(bool *left)) {
    MPI_Request barrier = MPI_REQUEST_NULL;
    bool waiting = false;
    for (int all_here = 0; !all_here;) {
        bool left = false;
        lc_clk_packets_take(true);
        work(&left);
        lc_clk_packets_quiesce();
        if (!left && !waiting && lc_clk_packets_quiescent())
            waiting = lc_real.Ibarrier(lc_core.comm, &barrier) == MPI_SUCCESS;
        if (waiting)
            lc_real.Test(&barrier, &all_here, MPI_STATUS_IGNORE);
    }
    while (lc_clk_packets_take(true)) {
    }
    bool left;
    work(&left);
}

void lc_clk_records_finish(void) {
    if (lc_clk.comm == MPI_COMM_NULL)
        return;
    lc_clk_packets_end();
    lc_real.Comm_free(&lc_clk.comm);
}
