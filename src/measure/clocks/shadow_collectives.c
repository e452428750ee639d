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
#include "measure/hot.h"
#include "measure/thread.h"
#include "piggyback/logical.h"

/* How long a record whose operation is over is waited for, in us: by a blocking call that
 * synchronises its members, by other blocking ones; by one that ends a nonblocking one and may
 * wait (the record may need others to call MPI again, and comes late then); by others. Up to
 * LC_SHADOW_DIRECT members a root's records go straight, not along a tree of ranks that need not
 * be there. */
enum {
    LC_SHADOW_ALL_US = 1000000,
    LC_SHADOW_SOME_US = 20000,
    LC_SHADOW_BLOCK_US = 1000,
    LC_SHADOW_LOOK_US = 10,
    LC_SHADOWS_LATE = 32,
    LC_SHADOW_DIRECT = 64
};

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
    struct lc_clk_copy_use *use;
    bool overdue; /* counted there */
    const struct lc_shadow_form *form;
    struct lc_shadow *next;
    struct lc_shadow_record in, out;
    int *counts;                      /* alltoallv: counts and displacements of both sides */
    struct lc_shadow_record *records; /* alltoallv: those received */
    int n_records, n_pairs;
    enum lc_coll_kind kind;
    int root;
    /* kept: until MPI says that the program's own has begun; waits: for the copy */
    enum { LC_SHADOW_KEPT, LC_SHADOW_WAITS, LC_SHADOW_STARTED, LC_SHADOW_FAILED } state;
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

/* With lc_clk.lock. */
static void drop(struct lc_shadow *m) {
    if (m->use != NULL)
        lc_clk_copy_unuse(m->use, m->overdue);
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

bool lc_clk_still_waits(struct lc_clk_patience *p, uint64_t left) {
    if (left != p->left || p->since == 0) {
        p->left = left;
        p->since = lc_ticks();
    }
    return left > 0 && lc_ticks() - p->since < LC_GIVE_UP_MS * 1000ull * lc_clk.slow_ticks;
}

static uint64_t n_behind(void) {
    uint64_t n = 0;
    for (const struct lc_shadow *m = behind; m != NULL; m = m->next)
        n++;
    return n;
}

void lc_clk_shadows_last(struct lc_clk_thread *k) {
    struct lc_clk_patience patience = {0};
    do
        lc_clk_shadows_complete(k);
    while (lc_clk_still_waits(&patience, k->n_late));
}

void lc_clk_shadows_finish(void) {
    struct lc_clk_patience patience = {0};
    for (struct lc_shadow *m = behind; m != NULL; m = m->next) {
        lc_clk.counts.skipped += m->thread != NULL;
        m->thread = NULL;
    }
    do
        free_completed();
    while (lc_clk_still_waits(&patience, n_behind()));
    if (behind != NULL) /* MPI may still use the type and the operation */
        return;
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
static bool some_to(struct lc_thread *t, const struct lc_coll *coll, int i) {
    MPI_Datatype type = coll->sendtypes != NULL ? coll->sendtypes[i] : coll->sendtype;
    return coll->sendcounts != NULL && lc_count_at(coll->sendcounts, coll->large, i) > 0 &&
           lc_type_bytes(t, type) > 0;
}

static bool set_pairs(struct lc_thread *t, struct lc_shadow *m, const struct lc_clk_coll *x,
                      const struct lc_coll *coll) {
    int n = coll->comm->inter ? coll->comm->remote_size : coll->comm->size;
    int me = coll->comm->inter ? -1 : coll->comm->rank;
    m->counts = calloc(4 * (size_t)n, sizeof *m->counts);
    if (m->counts == NULL)
        return false;
    int *to = m->counts, *from = to + 2 * n, *from_at = from + n;
    if (x->kind == LC_COLL_V2V) {
        for (int i = 0; i < n; i++) {
            from[i] = i != me && x->from != NULL && x->from[i];
            to[i] = i != me && (coll->in_place ? from[i] : some_to(t, coll, i));
        }
    } else if (x->kind == LC_COLL_ONE2N || x->kind == LC_COLL_N2ONE) {
        int *root = x->kind == LC_COLL_ONE2N ? from : to, *others = root == to ? from : to;
        for (int i = 0; i < n; i++) {
            root[i] = i == x->root && i != me;
            others[i] = me == x->root && i != me;
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
    switch (m->counts != NULL ? LC_COLL_V2V : m->kind) {
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
static void start(struct lc_shadow *m, struct lc_clk_comm *c) {
    m->use = lc_clk_copy_use(c);
    bool started = m->use != NULL && start_on(m, c->copy) == MPI_SUCCESS;
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

/* May a call that MPI refuses return? Then others may not have made it, and what is started on the
 * copy for it would meet what they start for their next one. */
static bool may_fail(const struct lc_comm *comm) {
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    if (lc_real.Comm_get_errhandler(comm->handle, &handler) != MPI_SUCCESS)
        return true;
    bool fatal = handler == MPI_ERRORS_ARE_FATAL;
#if defined(LC_FLAVOUR_MPICH)
    bool counted = !fatal && handler != MPI_ERRORS_RETURN;
#else
    bool counted = true;
#endif
    if (counted && handler != MPI_ERRHANDLER_NULL)
        lc_real.Errhandler_free(&handler);
    return !fatal;
}

/* ask: MPI may be asked whether the copy is there. */
static void start_or_wait(struct lc_shadow *m, struct lc_clk_comm *c, bool ask) {
    bool ready = lc_clk_copy_ready(c, ask);
    lc_clk_lock();
    if (ready) {
        start(m, c);
    } else {
        struct lc_shadow **at = &c->waiting;
        while (*at != NULL)
            at = &(*at)->next;
        *at = m;
        m->state = LC_SHADOW_WAITS;
    }
    lc_clk_unlock();
}

static bool is_certain(const struct lc_call *call, const struct lc_clk_coll *x,
                       const struct lc_coll *coll) {
    return lc_clk.fn_uniform[call->fn] && !coll->nonblocking && !coll->persistent &&
           !coll->comm->inter && (x->kind == LC_COLL_BARRIER || (x->sends && x->receives));
}

void lc_clk_shadow_begin(struct lc_clk_thread *k, const struct lc_call *call, struct lc_clk_coll *x,
                         const struct lc_coll *coll, const struct lc_stamp *stamp) {
    x->shadow = NULL;
    /* Inside MPI_Comm_idup nothing asks MPI: Open MPI (4.1) hangs when it gets on with one between
     * the begins of two. */
    bool idup = x->kind == LC_COLL_SYNC && coll->nonblocking;
    if (!idup)
        free_completed();
    struct lc_shadow *m = calloc(1, sizeof *m);
    if (m == NULL)
        return;
    m->form = coll->nonblocking ? &brief : &whole;
    if (x->sends)
        fill(k, stamp, m->form, &m->out);
    if (lc_core.rank == 0 && coll->comm->size == lc_core.size && is_certain(call, x, coll))
        m->out.resync = lc_clk_resync_due();
    m->kind = x->kind;
    m->root = x->root;
    bool straight = (x->kind == LC_COLL_ONE2N || x->kind == LC_COLL_N2ONE) && !coll->comm->inter &&
                    coll->comm->size <= LC_SHADOW_DIRECT;
    if ((straight || x->kind == LC_COLL_V2V || x->kind == LC_COLL_NEIGHBOR) &&
        !set_pairs(call->thread, m, x, coll)) {
        drop(m);
        return;
    }
    x->shadow = m;
    /* of a window the program may have freed the communicator */
    if (x->kind == LC_COLL_SYNC || !may_fail(coll->comm))
        start_or_wait(m, x->c, !idup);
}

void lc_clk_shadow_posted(struct lc_clk_coll *x) {
    if (x->shadow != NULL && x->shadow->state == LC_SHADOW_KEPT)
        start_or_wait(x->shadow, x->c, x->kind != LC_COLL_SYNC);
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
        if (lc_clk_copy_ready(c, true) &&
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

/* How long the result is waited for, in us. All members are in an operation that is certain, and
 * have begun. Others have it from ranks that were in the operation before this one was through, but
 * need not have ended theirs, or had an error in it; once one has not come in time, no other of the
 * communicator is waited for until it has. */
static uint64_t patience_us(const struct lc_clk_coll *x, const struct lc_shadow *m,
                            const struct lc_coll *coll, bool reads, bool certain) {
    if (certain)
        return UINT32_MAX;
    if (m->use != NULL && m->use->n_overdue > 0)
        return 0;
    if (!reads || (coll != NULL && coll->failed))
        return 0;
    if (coll != NULL && !coll->nonblocking)
        return x->kind == LC_COLL_N2N || x->kind == LC_COLL_BARRIER || x->kind == LC_COLL_SYNC
                   ? LC_SHADOW_ALL_US
                   : LC_SHADOW_SOME_US;
    return x->may_block && x->receives ? LC_SHADOW_BLOCK_US : LC_SHADOW_LOOK_US;
}

static void put_off(struct lc_clk_thread *k, const struct lc_call *call, struct lc_clk_coll *x,
                    struct lc_shadow *m, bool reads) {
    lc_clk_lock();
    if (reads && k->n_late < LC_SHADOWS_LATE && k->l.interval) {
        want_later(k, call, x, m);
    } else if (reads) {
        lc_clk.counts.skipped++;
        LC_CLK_LOG("Z %u %u\n", x->c->context, x->op);
    }
    if (reads && m->use != NULL && !x->nonblocking) {
        m->overdue = true;
        m->use->n_overdue++;
    }
    read_later(m);
    lc_clk_unlock();
}

/* The call that MPI refused has no shadow, unless it was started before. */
static bool is_void(struct lc_shadow *m, const struct lc_clk_coll *x, const struct lc_coll *coll) {
    if (m->state == LC_SHADOW_KEPT && (coll == NULL || !coll->failed))
        start_or_wait(m, x->c, true);
    return m->state == LC_SHADOW_KEPT || m->state == LC_SHADOW_FAILED;
}

static void drop_locked(struct lc_shadow *m) {
    lc_clk_lock();
    drop(m);
    lc_clk_unlock();
}

void lc_clk_shadow_end(struct lc_clk_thread *k, struct lc_call *call, struct lc_clk_coll *x,
                       const struct lc_coll *coll) {
    struct lc_shadow *m = x->shadow;
    bool reads = x->receives &&
                 !((x->kind == LC_COLL_SCAN || x->kind == LC_COLL_EXSCAN) && x->c->log.me == 0);
    if (m == NULL)
        return;
    x->shadow = NULL;
    if (is_void(m, x, coll)) {
        drop_locked(m);
        return;
    }
    bool certain = coll != NULL && !coll->failed && is_certain(call, x, coll);
    if (certain)
        lc_clk_copy_wait(x->c);
    int done =
        test(m, x->c, call->end + patience_us(x, m, coll, reads, certain) * lc_clk.slow_ticks);
    call->end = lc_ticks(); /* this is part of the call, not work of the program */
    if (!done) {
        put_off(k, call, x, m, reads);
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
    drop_locked(m);
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
