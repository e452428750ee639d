/* Collectives of communicators whose members share no memory: a nonblocking operation of the same
 * shape on a private copy of the communicator carries the clocks, started before the program's own
 * and completed after it, so that it costs about as many messages. Barrier, allreduce, ..: an
 * Iallreduce of maxima; bcast, scatter: an Ibcast from the root; reduce, gather: an Ireduce of
 * maxima; scan, exscan: an Iexscan of maxima; alltoallv/w, neighbourhoods: an Ialltoallv, a record
 * where the program sends something. In an intercommunicator the same between its groups. A member
 * that sends nothing contributes a neutral record. A nonblocking one that is not complete when the
 * program's own operation is, is left behind and read later, as if it had been there: nothing waits
 * for it. Its records are brief: Open MPI sends up to 256 bytes at once, and longer ones hold up
 * their sender's part of the operation until the receiver calls MPI again. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/timer.h"
#include "measure/calls/communicators.h"
#include "measure/calls/counts.h"
#include "measure/calls/operations.h"
#include "measure/clocks/call_state.h"
#include "measure/clocks/clocks.h"
#include "measure/clocks/collectives.h"
#include "measure/clocks/comm_copies.h"
#include "measure/clocks/contexts.h"
#include "measure/clocks/edges.h"
#include "measure/clocks/global_time.h"
#include "measure/clocks/records.h"
#include "measure/clocks/shadow_collectives.h"
#include "measure/clocks/wait_states.h"
#include "measure/core.h"
#include "measure/thread.h"
#include "piggyback/logical.h"

/* How long a call that may wait gives a record whose operation is over: it may need others to call
 * MPI again, and comes late then. Others: 10 us. */
enum { LC_SHADOW_BLOCK_US = 1000, LC_SHADOW_LOOK_US = 10, LC_SHADOWS_LATE = 32 };

struct lc_shadow_record {
    uint64_t n;                               /* members that contributed */
    double useful, outside_omp, phase_useful; /* ns */
    uint32_t interval, phase;
    uint64_t resync;         /* rank 0 says: synchronise the nodes again after this operation */
    double latest, earliest; /* ns of the global clock */
    uint32_t latest_rank, latest_node, earliest_rank, earliest_node;
    uint64_t extra[LC_RECORD_EXTRA]; /* of a brief one LC_SHADOW_BRIEF words */
};

enum { LC_SHADOW_BRIEF_ITEMS = 7, LC_SHADOW_BRIEF = 2 + LC_WHATIF_MAX + 2 * LC_SHADOW_BRIEF_ITEMS };
_Static_assert(offsetof(struct lc_shadow_record, extra[LC_SHADOW_BRIEF]) <= 256, "sent at once");

/* How records travel: type and operation. */
struct lc_shadow_form {
    uint32_t words, items; /* of `extra` */
    MPI_Datatype type;
    MPI_Op max;
};

struct lc_shadow {
    MPI_Request request;
    const struct lc_shadow_form *form;
    struct lc_shadow *next;
    struct lc_shadow_record in, out;
    int *counts;                      /* alltoallv: counts and displacements of both sides */
    struct lc_shadow_record *records; /* alltoallv: those received */
    int n_records, n_pairs;
    enum lc_coll_kind kind;
    int root;
    enum { LC_SHADOW_WAITS, LC_SHADOW_STARTED, LC_SHADOW_FAILED } state;
    bool abandoned;
    /* left behind: whose clocks want it (NULL: nobody's), where, and what was booked there */
    struct lc_clk_thread *thread;
    struct lc_call_end at;
    struct lc_booked instead;
    enum lc_measured_wait wait;
};

static struct lc_shadow_form whole = {LC_RECORD_EXTRA, LC_RECORD_ITEMS, MPI_DATATYPE_NULL,
                                      MPI_OP_NULL};
static struct lc_shadow_form brief = {LC_SHADOW_BRIEF, LC_SHADOW_BRIEF_ITEMS, MPI_DATATYPE_NULL,
                                      MPI_OP_NULL};
static struct lc_shadow *behind;

/* words: of `extra` */
static void merge(const struct lc_shadow_record *a, struct lc_shadow_record *b, uint32_t words) {
    uint64_t resync = a->resync | b->resync;
    bool empty = b->n == 0;
    if (a->n > 0 && empty)
        memcpy(b, a, offsetof(struct lc_shadow_record, extra) + words * sizeof *a->extra);
    b->resync = resync;
    if (a->n == 0 || empty)
        return;
    if (a->latest > b->latest || (a->latest == b->latest && a->latest_rank < b->latest_rank)) {
        b->latest = a->latest;
        b->latest_rank = a->latest_rank;
        b->latest_node = a->latest_node;
    }
    if (a->earliest < b->earliest ||
        (a->earliest == b->earliest && a->earliest_rank < b->earliest_rank)) {
        b->earliest = a->earliest;
        b->earliest_rank = a->earliest_rank;
        b->earliest_node = a->earliest_node;
    }
    b->n += a->n;
    if (a->interval != b->interval && a->interval < b->interval)
        return;
    bool newer = a->interval > b->interval;
    if (newer || a->outside_omp > b->outside_omp)
        b->outside_omp = a->outside_omp;
    if (newer || a->phase > b->phase ||
        (a->phase == b->phase && a->phase_useful > b->phase_useful)) {
        b->phase = a->phase;
        b->phase_useful = a->phase_useful;
    }
    uint64_t whatif[LC_WHATIF_MAX];
    for (uint32_t s = 0; s < LC_WHATIF_MAX; s++)
        whatif[s] = newer || a->extra[2 + s] > b->extra[2 + s] ? a->extra[2 + s] : b->extra[2 + s];
    if (newer || a->useful > b->useful) {
        b->useful = a->useful;
        b->interval = a->interval;
        memcpy(b->extra, a->extra, words * sizeof *b->extra);
    }
    memcpy(b->extra + 2, whatif, sizeof whatif);
}

static void merge_whole(void *in, void *inout, int *n, MPI_Datatype *type) {
    (void)type;
    for (int i = 0; i < *n; i++)
        merge((const struct lc_shadow_record *)in + i, (struct lc_shadow_record *)inout + i,
              LC_RECORD_EXTRA);
}

static void merge_brief(void *in, void *inout, int *n, MPI_Datatype *type) {
    (void)type;
    for (int i = 0; i < *n; i++)
        merge((const struct lc_shadow_record *)in + i, (struct lc_shadow_record *)inout + i,
              LC_SHADOW_BRIEF);
}

/* The first words of a record, as far apart as whole ones. */
static void make(struct lc_shadow_form *form, MPI_User_function *max) {
    MPI_Datatype bytes = MPI_DATATYPE_NULL;
    size_t n = offsetof(struct lc_shadow_record, extra) + form->words * sizeof(uint64_t);
    lc_real.Type_contiguous((int)n, MPI_BYTE, &bytes);
    lc_real.Type_create_resized(bytes, 0, (MPI_Aint)sizeof(struct lc_shadow_record), &form->type);
    lc_real.Type_commit(&form->type);
    lc_real.Type_free(&bytes);
    lc_real.Op_create(max, 1, &form->max);
}

void lc_clk_shadow_init(void) {
    make(&whole, merge_whole);
    make(&brief, merge_brief);
}

static void unmake(struct lc_shadow_form *form) {
    if (form->max != MPI_OP_NULL)
        lc_real.Op_free(&form->max);
    if (form->type != MPI_DATATYPE_NULL)
        lc_real.Type_free(&form->type);
}

static void drop(struct lc_shadow *m) {
    free(m->counts);
    free(m->records);
    free(m);
}

static bool is_over(struct lc_shadow *m) {
    int done = 0;
    return lc_real.Test(&m->request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && done;
}

/* Takes back those that nobody's clocks want. */
static void free_completed(void) {
    lc_clk_lock();
    struct lc_shadow **at = &behind;
    while (*at != NULL) {
        struct lc_shadow *m = *at;
        if (m->thread == NULL && is_over(m)) {
            *at = m->next;
            drop(m);
        } else {
            at = &m->next;
        }
    }
    lc_clk_unlock();
}

void lc_clk_shadows_finish(void) {
    for (struct lc_shadow *m = behind; m != NULL; m = m->next) {
        lc_clk.counts.skipped += m->thread != NULL;
        m->thread = NULL;
    }
    while (behind != NULL)
        free_completed();
    unmake(&whole);
    unmake(&brief);
}

static void fill(struct lc_clk_thread *k, const struct lc_stamp *stamp,
                 const struct lc_shadow_form *form, struct lc_shadow_record *r) {
    r->n = 1;
    r->useful = (double)stamp->useful * lc_clk.ns_per_tick;
    r->outside_omp = (double)stamp->outside_omp * lc_clk.ns_per_tick;
    r->phase_useful = (double)stamp->phase_useful * lc_clk.ns_per_tick;
    r->interval = stamp->interval;
    r->phase = stamp->phase;
    r->latest = r->earliest = lc_clk_to_global(stamp->enter);
    r->latest_rank = r->earliest_rank = lc_clk.rank;
    r->latest_node = r->earliest_node = stamp->node;
    lc_clk_extra(k, NULL, form->items, r->extra);
}

/* Pairs that exchange something: to[i] and from[i] for every member; false: no memory. */
static bool set_pairs(struct lc_shadow *m, const struct lc_clk_coll *x,
                      const struct lc_coll *coll) {
    int n = coll->comm->inter ? coll->comm->remote_size : coll->comm->size;
    int me = coll->comm->inter ? -1 : coll->comm->rank;
    m->counts = calloc(4 * (size_t)n, sizeof *m->counts);
    if (m->counts == NULL)
        return false;
    int *to = m->counts, *from = to + 2 * n, *from_at = from + n;
    if (x->kind == LC_COLL_V2V) {
        for (int i = 0; i < n; i++) {
            to[i] = i != me && coll->sendcounts != NULL && !coll->in_place
                        ? lc_count_at(coll->sendcounts, coll->large, i) > 0
                        : i != me && coll->in_place && x->from != NULL && x->from[i];
            from[i] = i != me && x->from != NULL && x->from[i];
        }
    } else {
        const int32_t *targets = x->c->targets != NULL ? x->c->targets : x->c->sources;
        int n_targets = x->c->targets != NULL ? x->c->n_targets : x->c->n_sources;
        for (int i = 0; i < n_targets; i++)
            if (targets[i] >= 0 && targets[i] != me)
                to[targets[i]] = 1;
        for (int i = 0; i < x->c->n_sources; i++)
            if (x->c->sources[i] >= 0 && x->c->sources[i] != me)
                from[x->c->sources[i]] = 1;
    }
    for (int i = 0; i < n; i++) {
        from_at[i] = m->n_records;
        m->n_records += from[i];
    }
    m->n_pairs = n;
    m->records = calloc((size_t)m->n_records + 1, sizeof *m->records);
    return m->records != NULL;
}

static int start_on(struct lc_shadow *m, MPI_Comm copy) {
    MPI_Datatype type = m->form->type;
    MPI_Op max = m->form->max;
    switch (m->kind) {
    case LC_COLL_BARRIER:
    case LC_COLL_SYNC:
    case LC_COLL_N2N:
        return lc_real.Iallreduce(&m->out, &m->in, 1, type, max, copy, &m->request);
    case LC_COLL_ONE2N:
        m->in = m->out;
        return lc_real.Ibcast(&m->in, 1, type, m->root, copy, &m->request);
    case LC_COLL_N2ONE:
        return lc_real.Ireduce(&m->out, &m->in, 1, type, max, m->root, copy, &m->request);
    case LC_COLL_SCAN:
    case LC_COLL_EXSCAN:
        return lc_real.Iexscan(&m->out, &m->in, 1, type, max, copy, &m->request);
    case LC_COLL_V2V:
    case LC_COLL_NEIGHBOR:
        break;
    }
    int *to = m->counts, *to_at = to + m->n_pairs, *from = to_at + m->n_pairs;
    return lc_real.Ialltoallv(&m->out, to, to_at, type, m->records, from, from + m->n_pairs, type,
                              copy, &m->request);
}

/* With lc_clk.lock. */
static void start(struct lc_shadow *m, const struct lc_clk_comm *c) {
    bool started = start_on(m, c->copy) == MPI_SUCCESS;
    m->state = started ? LC_SHADOW_STARTED : LC_SHADOW_FAILED;
    ++*(started ? &lc_clk.counts.shadows : &lc_clk.counts.skipped);
}

static void read_later(struct lc_shadow *m) {
    m->abandoned = true;
    if (m->state == LC_SHADOW_STARTED) {
        m->next = behind;
        behind = m;
    } else if (m->state == LC_SHADOW_FAILED) {
        if (m->thread != NULL)
            m->thread->n_late--;
        drop(m);
    } /* else it is in the list of those that wait */
}

void lc_clk_shadow_start_waiting(struct lc_clk_comm *c) {
    while (c->waiting != NULL) {
        struct lc_shadow *m = c->waiting;
        c->waiting = m->next;
        start(m, c);
        if (m->abandoned)
            read_later(m);
    }
}

void lc_clk_shadow_begin(struct lc_clk_thread *k, struct lc_clk_coll *x, const struct lc_coll *coll,
                         const struct lc_stamp *stamp) {
    x->shadow = NULL;
    free_completed();
    struct lc_shadow *m = calloc(1, sizeof *m);
    if (m == NULL)
        return;
    m->form = coll->nonblocking ? &brief : &whole;
    if (x->sends)
        fill(k, stamp, m->form, &m->out);
    if (lc_core.rank == 0 && !coll->nonblocking && !coll->persistent && !coll->comm->inter &&
        coll->comm->size == lc_core.size && (x->kind == LC_COLL_BARRIER || x->kind == LC_COLL_N2N))
        m->out.resync = lc_clk_resync_due();
    m->kind = x->kind;
    m->root = x->root;
    if ((x->kind == LC_COLL_V2V || x->kind == LC_COLL_NEIGHBOR) && !set_pairs(m, x, coll)) {
        drop(m);
        return;
    }
    bool ready = lc_clk_copy_ready(x->c);
    lc_clk_lock();
    if (ready) {
        start(m, x->c);
    } else {
        struct lc_shadow **at = &x->c->waiting;
        while (*at != NULL)
            at = &(*at)->next;
        *at = m;
    }
    lc_clk_unlock();
    if (m->state != LC_SHADOW_FAILED)
        x->shadow = m;
    else
        drop(m);
}

static struct lc_stamp stamp_of(const struct lc_shadow_record *r) {
    return (struct lc_stamp){.enter = lc_clk_from_global(r->latest),
                             .useful = (uint64_t)(r->useful / lc_clk.ns_per_tick),
                             .outside_omp = (uint64_t)(r->outside_omp / lc_clk.ns_per_tick),
                             .phase_useful = (uint64_t)(r->phase_useful / lc_clk.ns_per_tick),
                             .interval = r->interval,
                             .phase = r->phase};
}

static void apply(struct lc_clk_thread *k, struct lc_call *call, const struct lc_clk_coll *x,
                  const struct lc_shadow_record *r) {
    if (r->n == 0)
        return;
    struct lc_stamp stamp = stamp_of(r);
    lc_clk_edge(k, lc_clk.rank, &stamp, call->end, r->extra, LC_RECORD_EXTRA);
    bool first = x->kind == LC_COLL_N2ONE;
    uint32_t rank = first ? r->earliest_rank : r->latest_rank;
    if (rank != lc_clk.rank)
        lc_clk_coll_candidate(k, call, x, first ? lc_clk_from_global(r->earliest) : stamp.enter,
                              rank, first ? r->earliest_node : r->latest_node);
}

/* Until it is complete or the time has come; the copy that it waits for may come meanwhile. */
static int test(struct lc_shadow *m, struct lc_clk_comm *c, uint64_t deadline) {
    int done = 0;
    do {
        if (lc_clk_copy_ready(c) &&
            (m->state != LC_SHADOW_STARTED ||
             lc_real.Test(&m->request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS))
            return 0;
    } while (!done && lc_ticks() < deadline);
    return done;
}

static void merge_pairs(struct lc_shadow *m) {
    for (int i = 0; m->records != NULL && i < m->n_records; i++)
        merge(&m->records[i], &m->in, m->form->words);
}

static void want_later(struct lc_clk_thread *k, const struct lc_call *call,
                       const struct lc_clk_coll *x, struct lc_shadow *m) {
    m->thread = k;
    m->wait = lc_clk_coll_wait(call, x);
    lc_clk_call_end(k, call, &m->at);
    if (!lc_clk_booked(k, call, &m->instead))
        m->wait = LC_MEASURED_KINDS;
    k->n_late++;
    k->todo = true;
}

/* As apply, for a call that is over. An operation on a file need not have waited for all. */
static void apply_later(struct lc_shadow *m) {
    merge_pairs(m);
    const struct lc_shadow_record *r = &m->in;
    struct lc_stamp stamp = stamp_of(r);
    if (r->n == 0 || (m->kind == LC_COLL_SYNC && stamp.enter > m->at.end))
        return;
    lc_clk_edge_later(m->thread, &m->at, lc_clk.rank, &stamp, r->extra, LC_RECORD_EXTRA);
    bool first = m->kind == LC_COLL_N2ONE;
    uint64_t release = first ? lc_clk_from_global(r->earliest) : stamp.enter;
    uint32_t rank = first ? r->earliest_rank : r->latest_rank;
    if (m->wait == LC_MEASURED_KINDS || rank == lc_clk.rank || release <= m->at.begin)
        return;
    struct lc_candidate c = {.ticks = lc_min(release, m->at.end) - m->at.begin,
                             .kind = m->wait,
                             .late_rank = rank,
                             .late_node = first ? r->earliest_node : r->latest_node};
    if (!lc_clk_book_later(&m->instead, &c))
        return;
    for (struct lc_shadow *other = behind; other != NULL; other = other->next)
        if (other->thread == m->thread && other->at.end == m->at.end) { /* of the same call */
            other->instead.kind = c.kind;
            other->instead.ticks = c.ticks;
        }
}

/* The call's own wait state is known at the begin of the next one. */
void lc_clk_shadows_complete(struct lc_clk_thread *k) {
    lc_clk_lock();
    for (struct lc_shadow *m = behind; m != NULL; m = m->next)
        if (m->thread == k && m->at.calls == 0) {
            m->instead.kind = k->any_candidate ? k->worst.kind : (uint32_t)LC_MEASURED_KINDS;
            m->instead.ticks = k->any_candidate ? k->worst.ticks : 0;
        }
    struct lc_shadow **at = &behind;
    while (*at != NULL) {
        struct lc_shadow *m = *at;
        if (m->thread == k && is_over(m)) {
            *at = m->next;
            apply_later(m);
            k->n_late--;
            drop(m);
        } else {
            m->at.calls += m->thread == k;
            at = &m->next;
        }
    }
    lc_clk_unlock();
}

void lc_clk_shadow_end(struct lc_clk_thread *k, struct lc_call *call, struct lc_clk_coll *x,
                       bool blocking) {
    struct lc_shadow *m = x->shadow;
    int done = 0;
    bool reads = x->receives &&
                 !((x->kind == LC_COLL_SCAN || x->kind == LC_COLL_EXSCAN) && x->c->log.me == 0);
    if (m == NULL)
        return;
    x->shadow = NULL;
    if (blocking) {
        lc_clk_copy_wait(x->c);
        done = m->state == LC_SHADOW_STARTED &&
               lc_real.Wait(&m->request, MPI_STATUS_IGNORE) == MPI_SUCCESS;
    } else {
        uint64_t us = x->may_block && x->receives ? LC_SHADOW_BLOCK_US : LC_SHADOW_LOOK_US;
        done = test(m, x->c, call->end + us * lc_clk.slow_ticks);
    }
    call->end = lc_ticks(); /* this is part of the call, not work of the program */
    if (!done) {
        lc_clk_lock();
        if (reads && k->n_late < LC_SHADOWS_LATE && k->l.interval) {
            want_later(k, call, x, m);
        } else if (reads) {
            lc_clk.counts.skipped++;
            LC_CLK_LOG("Z %u %u\n", x->c->context, x->op);
        }
        read_later(m);
        lc_clk_unlock();
        return;
    }
    if (reads) {
        merge_pairs(m);
        apply(k, call, x, &m->in);
    }
    if (lc_unlikely(m->in.resync)) { /* all ranks are here */
        lc_clk_resync();
        call->end = lc_ticks();
    }
    drop(m);
}

/* Between two groups the first round brings the maxima of the other one, the second those of both.
 */
void lc_clk_shadow_exchange(struct lc_clk_thread *k, struct lc_call *call, struct lc_comm *comm) {
    struct lc_clk_comm *c = comm->clocks;
    struct lc_clk_coll x = {.c = c, .kind = LC_COLL_SYNC};
    struct lc_shadow_record *both = calloc(2, sizeof *both);
    if (c == NULL || both == NULL || whole.type == MPI_DATATYPE_NULL) {
        free(both);
        return;
    }
    if (k != NULL) {
        struct lc_stamp stamp;
        lc_logical_stamp(&k->l, call->begin, &stamp);
        fill(k, &stamp, &whole, &both[0]);
    }
    uint32_t number = UINT32_MAX - c->n_syncs++;
    LC_CLK_LOG("X %u %u %d -1 1 1\nY %u %u\n", c->context, number, (int)x.kind, c->context, number);
    int result = MPI_SUCCESS;
    for (int round = 0; round < (comm->inter ? 2 : 1) && result == MPI_SUCCESS; round++) {
        if (round > 0)
            merge(&both[1], &both[0], whole.words);
        result = lc_real.Allreduce(&both[0], &both[1], 1, whole.type, whole.max, comm->handle);
    }
    call->end = lc_ticks();
    if (result == MPI_SUCCESS && k != NULL)
        apply(k, call, &x, &both[1]);
    free(both);
}
