/* Entries as messages, between ranks that share no memory: one record per message of the program,
 * sent before it on a private communicator, fetched by the receiver when it looks for the entry.
 * A send that may wait for its receiver says so in its record; a receiver that comes late to such a
 * message answers with a record of its own if the sender's clocks change with it (MPI's own
 * hand-shake takes two or three messages more there), else with words in its next record to this
 * rank.
 * Never waits: a receiver probes, a sender keeps the buffers of what is still on its way. Times and
 * clocks travel in nanoseconds of the global clock. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "measure/clocks/back_edges.h"
#include "measure/clocks/call_state.h"
#include "measure/clocks/clocks.h"
#include "measure/clocks/edges.h"
#include "measure/clocks/global_time.h"
#include "measure/clocks/records.h"
#include "measure/clocks/wait_states.h"
#include "measure/core.h"
#include "piggyback/match.h"

enum {
    LC_RECORD_TAG = 0x4c32,
    LC_RECORDS_MAX = 4096,
    LC_RECORD_HEAD = 8,
    LC_RECORD_WORDS = LC_RECORD_HEAD + LC_RECORD_EXTRA + LC_RECORD_REPLIES * LC_RECORD_REPLY,
    LC_REPLIES_SHIFT = 40 /* their number, in extra[1] */
};

struct lc_record {
    uint64_t words[LC_RECORD_WORDS];
    MPI_Request request;
    struct lc_record *next;
};

static struct lc_record *flying, *flying_last, *spare;
static uint32_t n_flying;
static bool settling; /* MPI_Finalize: all records that come are read */

/* Takes back buffers of records that have left, oldest first. */
static void collect(void) {
    while (flying != NULL) {
        int done = 0;
        if (lc_real.Test(&flying->request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS || !done)
            return;
        struct lc_record *r = flying;
        flying = r->next;
        if (flying == NULL)
            flying_last = NULL;
        r->next = spare;
        spare = r;
        n_flying--;
    }
}

static struct lc_record *take(void) {
    if (n_flying >= 8)
        collect();
    if (n_flying >= LC_RECORDS_MAX)
        return NULL;
    struct lc_record *r = spare;
    if (r != NULL)
        spare = r->next;
    else
        r = malloc(sizeof *r);
    return r;
}

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

/* synchronous: it is complete only when it was received */
static int (*send_call(bool synchronous))(const void *, int, MPI_Datatype, int, int, MPI_Comm,
                                          MPI_Request *) {
    return synchronous ? lc_real.Issend : lc_real.Isend;
}

bool lc_clk_record_send(struct lc_clk_thread *k, uint32_t to, const struct lc_stamp *stamp,
                        uint32_t context, int32_t tag, uint32_t bytes, uint32_t seq,
                        uint64_t waits) {
    if (!lc_clk.records || lc_clk.comm == MPI_COMM_NULL || lc_core.finalized)
        return false;
    struct lc_record *r = take();
    if (r == NULL)
        return false;
    to_words(stamp, r->words);
    r->words[5] = (uint64_t)stamp->node << 32 | seq;
    r->words[6] = (uint64_t)context << 32 | (uint32_t)tag;
    r->words[7] = bytes;
    bool then = context == LC_CONTEXT_REPLY; /* the receive may have been posted long ago */
    uint32_t n = LC_RECORD_HEAD +
                 lc_clk_extra(k, then ? stamp : NULL, LC_RECORD_ITEMS, r->words + LC_RECORD_HEAD);
    uint64_t replies = lc_clk_back_pack(to, r->words + n);
    r->words[LC_RECORD_HEAD + 1] |= waits | replies << LC_REPLIES_SHIFT;
    n += (uint32_t)replies * lc_clk_reply_words(lc_clk.n_whatif);
    if (send_call(settling)(r->words, (int)n, MPI_UINT64_T, (int)to, LC_RECORD_TAG, lc_clk.comm,
                            &r->request) != MPI_SUCCESS) {
        r->next = spare;
        spare = r;
        return false;
    }
    r->next = NULL;
    *(flying_last != NULL ? &flying_last->next : &flying) = r;
    flying_last = r;
    n_flying++;
    lc_clk.counts.records++;
    lc_clk.counts.replies += context == LC_CONTEXT_REPLY;
    lc_clk.counts.record_bytes += n * sizeof *r->words;
    return true;
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
    if (n < LC_RECORD_HEAD)
        return;
    n = take_replies(source, words, n);
    if (n > LC_RECORD_HEAD + 1)
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
    lc_match_add(&lc_clk.match, source, &entry, words + LC_RECORD_HEAD,
                 (uint32_t)(n - LC_RECORD_HEAD));
}

uint64_t lc_clk_record_flags(const struct lc_ring_entry *entry) {
    const struct lc_stashed *item =
        (const struct lc_stashed *)((const char *)entry - offsetof(struct lc_stashed, entry));
    return item->n_extra > 1 ? item->extra[1] : 0;
}

bool lc_clk_record_pull(void *user, uint32_t source) {
    (void)user;
    int there = 0, n = 0;
    MPI_Status status;
    uint64_t words[LC_RECORD_WORDS];
    if (lc_clk.comm == MPI_COMM_NULL || lc_core.finalized ||
        lc_real.Iprobe((int)source, LC_RECORD_TAG, lc_clk.comm, &there, &status) != MPI_SUCCESS ||
        !there)
        return false;
    if (lc_real.Recv(words, (int)(sizeof words / sizeof *words), MPI_UINT64_T, (int)source,
                     LC_RECORD_TAG, lc_clk.comm, &status) != MPI_SUCCESS ||
        lc_real.Get_count(&status, MPI_UINT64_T, &n) != MPI_SUCCESS)
        return false;
    add(source, words, n);
    return true;
}

static bool discard(void *user, uint32_t source) {
    uint64_t words[LC_RECORD_WORDS];
    (void)user;
    return lc_real.Recv(words, (int)(sizeof words / sizeof *words), MPI_UINT64_T, (int)source,
                        LC_RECORD_TAG, lc_clk.comm, MPI_STATUS_IGNORE) == MPI_SUCCESS;
}

/* Takes what comes, until every rank has got rid of its own. */
static void take_all(bool (*one)(void *user, uint32_t source)) {
    MPI_Request barrier = MPI_REQUEST_NULL;
    bool waiting = false;
    for (int all_here = 0; !all_here;) {
        int there = 0;
        MPI_Status status;
        lc_real.Iprobe(MPI_ANY_SOURCE, LC_RECORD_TAG, lc_clk.comm, &there, &status);
        if (there) {
            one(NULL, (uint32_t)status.MPI_SOURCE);
            continue;
        }
        collect();
        if (flying == NULL && !waiting)
            waiting = lc_real.Ibarrier(lc_clk.comm, &barrier) == MPI_SUCCESS;
        if (waiting)
            lc_real.Test(&barrier, &all_here, MPI_STATUS_IGNORE);
    }
}

/* Until everybody has read what was sent to it. */
void lc_clk_records_flush(struct lc_clk_thread *k) {
    if (lc_clk.comm == MPI_COMM_NULL || !lc_clk.records)
        return;
    lc_clk_lock();
    settling = true;
    lc_clk_back_flush(k);
    take_all(lc_clk_record_pull);
    lc_clk_unlock();
}

/* Receives what nobody asked for (messages that the program left). */
void lc_clk_records_finish(void) {
    if (lc_clk.comm == MPI_COMM_NULL)
        return;
    take_all(discard);
    lc_real.Comm_free(&lc_clk.comm);
}
