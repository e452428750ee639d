/* Entries as messages, between ranks that share no memory: one record per message of the program,
 * sent before it on a private communicator, fetched by the receiver when it looks for the entry.
 * A send that may wait for its receiver says so in its record; a receiver that comes late to such a
 * message answers with a record of its own (MPI's own hand-shake takes two or three messages more
 * there).
 * Never waits: a receiver probes, a sender keeps the buffers of what is still on its way. Times and
 * clocks travel in nanoseconds of the global clock. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "measure/clk.h"

enum { LC_RECORD_TAG = 0x4c32, LC_RECORDS_MAX = 4096, LC_RECORD_HEAD = 8 };

struct lc_record {
    uint64_t words[LC_RECORD_HEAD + LC_RECORD_EXTRA];
    MPI_Request request;
    struct lc_record *next;
};

static struct lc_record *flying, *flying_last, *spare;
static uint32_t n_flying;

static uint64_t to_ns(uint64_t ticks) {
    return (uint64_t)((double)ticks * lc_clk.ns_per_tick);
}

static uint64_t to_ticks(uint64_t ns) {
    return (uint64_t)((double)ns / lc_clk.ns_per_tick);
}

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

bool lc_clk_record_send(struct lc_clk_thread *k, uint32_t to, const struct lc_stamp *stamp,
                        uint32_t context, int32_t tag, uint32_t bytes, uint32_t seq,
                        uint64_t waits) {
    if (!lc_clk.records || lc_clk.comm == MPI_COMM_NULL || lc_core.finalized)
        return false;
    struct lc_record *r = take();
    if (r == NULL)
        return false;
    double enter = lc_clk_to_global(stamp->enter);
    memcpy(&r->words[0], &enter, sizeof enter);
    r->words[1] = to_ns(stamp->useful);
    r->words[2] = to_ns(stamp->outside_omp);
    r->words[3] = to_ns(stamp->phase_useful);
    r->words[4] = (uint64_t)stamp->interval << 32 | stamp->phase;
    r->words[5] = (uint64_t)stamp->node << 32 | seq;
    r->words[6] = (uint64_t)context << 32 | (uint32_t)tag;
    r->words[7] = bytes;
    uint32_t n = LC_RECORD_HEAD + lc_clk_extra(k, r->words + LC_RECORD_HEAD);
    r->words[LC_RECORD_HEAD + 1] |= waits;
    if (lc_real.Isend(r->words, (int)n, MPI_UINT64_T, (int)to, LC_RECORD_TAG, lc_clk.comm,
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

static void add(uint32_t source, const uint64_t *words, int n) {
    double enter;
    if (n < LC_RECORD_HEAD)
        return;
    memcpy(&enter, &words[0], sizeof enter);
    struct lc_ring_entry entry = {
        .stamp = {.enter = lc_clk_from_global(enter),
                  .useful = to_ticks(words[1]),
                  .outside_omp = to_ticks(words[2]),
                  .phase_useful = to_ticks(words[3]),
                  .interval = (uint32_t)(words[4] >> 32),
                  .phase = (uint32_t)words[4],
                  .node = (uint32_t)(words[5] >> 32)},
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

bool lc_clk_record_waits(const struct lc_ring_entry *entry) {
    const struct lc_stashed *item =
        (const struct lc_stashed *)((const char *)entry - offsetof(struct lc_stashed, entry));
    return item->n_extra > 1 && (item->extra[1] & LC_RECORD_WAITS) != 0;
}

bool lc_clk_record_pull(void *user, uint32_t source) {
    (void)user;
    int there = 0, n = 0;
    MPI_Status status;
    uint64_t words[LC_RECORD_HEAD + LC_RECORD_EXTRA];
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

/* Receives what nobody asked for (messages that the program left), until every rank has got rid of
 * its own. */
void lc_clk_records_finish(void) {
    if (lc_clk.comm == MPI_COMM_NULL)
        return;
    MPI_Request barrier = MPI_REQUEST_NULL;
    bool waiting = false;
    for (int all_here = 0; !all_here;) {
        int there = 0;
        MPI_Status status;
        lc_real.Iprobe(MPI_ANY_SOURCE, LC_RECORD_TAG, lc_clk.comm, &there, &status);
        if (there) {
            uint64_t words[LC_RECORD_HEAD + LC_RECORD_EXTRA];
            lc_real.Recv(words, (int)(sizeof words / sizeof *words), MPI_UINT64_T,
                         status.MPI_SOURCE, LC_RECORD_TAG, lc_clk.comm, MPI_STATUS_IGNORE);
            continue;
        }
        collect();
        if (flying == NULL && !waiting)
            waiting = lc_real.Ibarrier(lc_clk.comm, &barrier) == MPI_SUCCESS;
        if (waiting)
            lc_real.Test(&barrier, &all_here, MPI_STATUS_IGNORE);
    }
    lc_real.Comm_free(&lc_clk.comm);
}
