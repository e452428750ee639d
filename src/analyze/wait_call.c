#include "analyze/wait_call.h"

#include <stdlib.h>

#include "analyze/events.h"
#include "base/lookup.h"
#include "base/mem.h"
#include "format/mpi_function.h"

/* Calls that only ask have no records, so they are no calls of the location. */
static bool only_asks(const struct lc_trace *trace, uint32_t cnode) {
    return cnode != LC_NONE && trace->regions[trace->cnodes[cnode].region].fn == LC_FN_MPI_TEST;
}

enum lc_err lc_wait_classifier_init(struct lc_wait_classifier *classifier, struct lc_trace *trace) {
    *classifier = (struct lc_wait_classifier){.trace = trace};
    for (uint32_t c = 0; c < trace->n_cnodes && !classifier->has_polls; c++)
        classifier->has_polls = only_asks(trace, c);
    return lc_alloc(&classifier->waited_for, trace->n_processes + 1,
                    sizeof *classifier->waited_for);
}

void lc_wait_classifier_free(struct lc_wait_classifier *classifier) {
    free(classifier->waited_for);
    free(classifier->later);
}

/* One operation that a call completes: what it would have waited for. */
struct candidate {
    struct lc_wait wait;
    int64_t ticks; /* <= 0: did not wait */
    bool possible; /* may be the reason of the call's duration at all */
};

struct choice {
    struct candidate best;
    bool any, smallest; /* smallest: MPI_Waitsome returns with the first completion */
};

/* Ties: the candidate seen first. */
static void consider(struct choice *choice, const struct candidate *c) {
    if (!c->possible)
        return;
    int64_t ticks = c->ticks > 0 ? c->ticks : 0, best = choice->best.ticks;
    if (choice->any && (choice->smallest ? ticks >= best : ticks <= best))
        return;
    choice->any = true;
    choice->best = *c;
    choice->best.ticks = ticks;
}

static const uint8_t wait_kind[] = {[LC_KIND_BARRIER] = LC_WAIT_BARRIER,
                                    [LC_KIND_N2N] = LC_WAIT_N2N,
                                    [LC_KIND_N2N_SYNC] = LC_WAIT_N2N,
                                    [LC_KIND_12N] = LC_WAIT_12N,
                                    [LC_KIND_N21] = LC_WAIT_N21,
                                    [LC_KIND_SCAN] = LC_WAIT_SCAN,
                                    [LC_KIND_MGMT] = LC_WAIT_MGMT,
                                    [LC_KIND_FENCE] = LC_WAIT_RMA_FENCE,
                                    [LC_KIND_WIN_CREATE] = LC_WAIT_RMA_CREATE,
                                    [LC_KIND_WIN_FREE] = LC_WAIT_RMA_FREE,
                                    [LC_KIND_IO] = LC_WAIT_IO,
                                    [LC_KIND_NEIGHBOR] = LC_WAIT_NEIGHBOR};

static void set_wait(struct candidate *c, const struct lc_match *by, int64_t start, int64_t end) {
    c->wait.start = start;
    c->wait.end = end;
    c->wait.release = by->enter;
    c->wait.cause_end = by->leave;
    c->wait.cause = by->location;
    c->wait.cause_cnode = by->cnode;
    c->ticks = lc_wait_ticks(&c->wait);
}

static bool is_wait(uint32_t fn) {
    return fn == LC_FN_MPI_WAIT || fn == LC_FN_MPI_WAITSOME;
}

struct call_view {
    const struct lc_loc *loc;
    const struct lc_mpi_call *call;
    int64_t enter, leave;
    uint32_t cnode;
};

/* `blocking`: as docs/definitions/wait-states.md#4-critical-path sees it (roots of n21 wait for the
 * last sender). */
static struct candidate coll_candidate(const struct call_view *v, uint32_t index, bool blocking) {
    const struct lc_coll_part *coll = &v->loc->colls[index];
    bool nonblocking = coll->klass == LC_COLL_NONBLOCKING;
    struct candidate c = {.wait = {.cnode = v->cnode, .kind = wait_kind[coll->kind]}};
    if ((nonblocking && !is_wait(v->call->fn)) || !(coll->flags & LC_COLL_COMPARED))
        return c;
    c.possible = true;
    if (!coll->root)
        return c;
    const struct lc_coll_cause *cause = &v->loc->causes[coll->root - 1];
    if (blocking && coll->kind == LC_KIND_N21)
        cause++;
    c.wait.instance = cause->instance;
    c.wait.flags = (nonblocking ? LC_WAIT_NONBLOCKING : 0) |
                   (coll->flags & LC_COLL_FOR_ALL ? LC_WAIT_FOR_ALL : 0);
    set_wait(&c, &cause->by, nonblocking ? v->enter : coll->begin,
             nonblocking ? v->leave : coll->end);
    return c;
}

static struct candidate recv_candidate(const struct call_view *v, const struct lc_p2p *p2p) {
    struct candidate c = {.wait = {.cnode = v->cnode, .kind = LC_WAIT_LS, .instance = UINT64_MAX}};
    if (((p2p->flags & LC_P2P_NONBLOCKING) && !is_wait(v->call->fn)) ||
        !(p2p->flags & LC_P2P_MATCHED) || (p2p->flags & LC_P2P_SELF))
        return c;
    c.possible = true;
    c.wait.flags = p2p->bytes ? 0 : LC_WAIT_NO_BYTES;
    set_wait(&c, &v->loc->matches[p2p->link], v->enter, v->leave);
    return c;
}

/* A standard-mode nonblocking send may have been buffered: not if the same call had to wait for a
 * message from the same process. */
static struct candidate send_candidate(const struct lc_wait_classifier *classifier,
                                       const struct call_view *v, const struct lc_p2p *p2p) {
    struct candidate c = {.wait = {.cnode = v->cnode, .kind = LC_WAIT_LR, .instance = UINT64_MAX}};
    bool nonblocking = (p2p->flags & LC_P2P_NONBLOCKING) != 0;
    uint32_t started_by = v->loc->calls[p2p->call].fn;
    if (!(p2p->flags & LC_P2P_KNOWN) || (p2p->flags & (LC_P2P_SELF | LC_P2P_LOST)))
        return c;
    if (nonblocking ? !is_wait(v->call->fn)
                    : v->call->fn != LC_FN_MPI_SEND && v->call->fn != LC_FN_MPI_SSEND)
        return c;
    if (nonblocking && started_by != LC_FN_MPI_ISSEND &&
        classifier->waited_for[p2p->peer] == classifier->serial)
        return c;
    c.possible = true;
    c.wait.flags = p2p->bytes ? 0 : LC_WAIT_NO_BYTES;
    if (p2p->link)
        set_wait(&c, &v->loc->lates[p2p->link - 1], v->enter, v->leave);
    return c;
}

/* What a call completed; NULL: a collective operation. */
static const struct lc_p2p *done_p2p(const struct lc_loc *loc, size_t i) {
    return loc->done[i] & 1 ? NULL : &loc->p2p[loc->done[i] >> 1];
}

static enum lc_err emit(struct lc_loc *loc, const struct candidate *c, uint8_t flags) {
    struct lc_wait wait = c->wait;
    wait.flags |= flags;
    if (wait.release > wait.end)
        wait.flags |= LC_WAIT_CUT;
    return lc_wait_add(loc, &wait);
}

/* The first message received by a later call that was sent before the one waited for. */
static uint8_t wrong_order(const struct lc_wait_classifier *classifier,
                           const struct lc_wait *wait) {
    /* A stack: `sent` ascends from the bottom to the top. */
    size_t low =
        LC_FIRST_WHERE(i, 0, classifier->n_later, classifier->later[i].sent >= wait->release);
    if (!low)
        return 0;
    uint32_t source = classifier->trace->locations[wait->cause].process;
    return classifier->later[low - 1].process == source ? LC_WAIT_WO_SAME : LC_WAIT_WO_DIFFERENT;
}

static enum lc_err push_received(struct lc_wait_classifier *classifier,
                                 const struct lc_match *match) {
    while (classifier->n_later && classifier->later[classifier->n_later - 1].sent >= match->enter)
        classifier->n_later--;
    if (classifier->n_later == classifier->cap_later)
        LC_TRY(lc_grow(&classifier->later, &classifier->cap_later, classifier->n_later + 1,
                       sizeof *classifier->later));
    classifier->later[classifier->n_later++] =
        (struct lc_received){match->enter, classifier->trace->locations[match->location].process};
    return LC_OK;
}

/* Of those who came last to a blocking operation, at one instant, one is the cause: in the replay
 * any of them may be later. */
static enum lc_err note_together(struct lc_loc *loc, const struct lc_mpi_call *call,
                                 const struct candidate *c) {
    if (!c->possible || c->wait.start != c->wait.release || c->wait.end == 0 ||
        !lc_wait_is_mutual(&c->wait) || c->wait.cause == loc->id)
        return LC_OK;
    return lc_wait_together(loc, &c->wait, (uint32_t)(call - loc->calls));
}

/* What the operation would wait for if the call came earlier; members of operations in which all
 * wait for all have waits as a rule, and the last one waits for none. */
static enum lc_err note_arrival(struct lc_loc *loc, const struct lc_mpi_call *call,
                                const struct candidate *c) {
    struct lc_arrival arrival = {.release = c->wait.release,
                                 .call = (uint32_t)(call - loc->calls),
                                 .cause = c->wait.cause & LC_ARRIVAL_CAUSE,
                                 .kind = LC_ARRIVED_DATA};
    bool known = c->possible && c->ticks <= 0 && c->wait.end != 0;
    if (known && (c->wait.kind == LC_WAIT_N21 || c->wait.flags & LC_WAIT_FOR_ALL)) {
        arrival.instance = c->wait.instance;
        arrival.kind = LC_ARRIVED_ALL;
        return lc_wait_arrived(loc, &arrival);
    }
    if (!known || c->wait.cause == loc->id)
        return LC_OK;
    if (c->wait.kind == LC_WAIT_LS)
        arrival.kind = LC_ARRIVED_MESSAGE;
    else if (c->wait.kind != LC_WAIT_12N && c->wait.kind != LC_WAIT_SCAN &&
             c->wait.kind != LC_WAIT_NEIGHBOR)
        return LC_OK;
    return lc_wait_arrived(loc, &arrival);
}

/* What else the call waited for while the largest candidate was not there: the replay needs it. A
 * send that waits may have been buffered, so only what surely had to come counts. */
static enum lc_err note_others(const struct lc_wait_classifier *classifier, struct lc_loc *loc,
                               const struct call_view *v, size_t end_done,
                               const struct candidate *best) {
    bool found = false;
    for (size_t i = v->call->first_done; i < end_done; i++) {
        const struct lc_p2p *p2p = done_p2p(loc, i);
        struct candidate c = !p2p                       ? coll_candidate(v, loc->done[i] >> 1, true)
                             : p2p->flags & LC_P2P_RECV ? recv_candidate(v, p2p)
                                                        : send_candidate(classifier, v, p2p);
        bool is_best = !found && c.ticks == best->ticks && c.wait.cause == best->wait.cause &&
                       c.wait.kind == best->wait.kind;
        found |= is_best;
        if (is_best || !c.possible || c.ticks <= 0 || c.wait.kind == LC_WAIT_LR)
            continue;
        LC_TRY(lc_wait_arrived(loc, &(struct lc_arrival){.release = c.wait.release,
                                                         .call = (uint32_t)(v->call - loc->calls),
                                                         .cause = c.wait.cause & LC_ARRIVAL_CAUSE,
                                                         .kind = c.wait.kind == LC_WAIT_LS
                                                                     ? LC_ARRIVED_MESSAGE
                                                                     : LC_ARRIVED_DATA}));
    }
    return LC_OK;
}

/* A probe waits for the message that the next receive of its thread gets, if that was sent before
 * the probe ended: else it found another one. */
static enum lc_err classify_probe(struct lc_loc *loc, const struct lc_mpi_call *call,
                                  const struct lc_p2p *received) {
    struct candidate c = {
        .wait = {.cnode = loc->cnode[call->enter], .kind = LC_WAIT_PROBE, .instance = UINT64_MAX}};
    if (received == NULL || !(received->flags & LC_P2P_MATCHED) || (received->flags & LC_P2P_SELF))
        return LC_OK;
    c.wait.flags = received->bytes ? 0 : LC_WAIT_NO_BYTES;
    set_wait(&c, &loc->matches[received->link], loc->time[call->enter], loc->time[call->leave]);
    if (c.ticks <= 0 || c.wait.release > c.wait.end)
        return LC_OK;
    return emit(loc, &c, call->fn == LC_FN_MPI_MPROBE ? LC_WAIT_STATE | LC_WAIT_BLOCKS : 0);
}

static int64_t ticks_until(int64_t from, int64_t to, int64_t until) {
    return until <= from ? 0 : (until < to ? until : to) - from;
}

/* The one that came last, of those whose messages or parts of nonblocking collective operations
 * the call got; NULL: none. */
static const struct lc_match *last_of(const struct lc_loc *loc, const struct lc_mpi_call *call,
                                      size_t end_done) {
    const struct lc_match *last = NULL;
    for (size_t i = call->first_done; i < end_done; i++) {
        const struct lc_p2p *p2p = done_p2p(loc, i);
        const struct lc_coll_part *coll = p2p ? NULL : &loc->colls[loc->done[i] >> 1];
        const struct lc_match *by = NULL;
        if (p2p && (p2p->flags & LC_P2P_RECV) && (p2p->flags & LC_P2P_MATCHED) &&
            !(p2p->flags & LC_P2P_SELF))
            by = &loc->matches[p2p->link];
        else if (coll && coll->klass == LC_COLL_NONBLOCKING && (coll->flags & LC_COLL_COMPARED) &&
                 coll->root)
            by = &loc->causes[coll->root - 1].by;
        if (by != NULL && (last == NULL || by->enter > last->enter))
            last = by;
    }
    return last;
}

static bool is_probe(uint32_t fn) {
    return fn == LC_FN_MPI_PROBE || fn == LC_FN_MPI_MPROBE;
}

/* Calls that only asked, of one call path. */
struct polls {
    uint32_t cnode;
    int64_t before; /* that they took before what came at last was sent */
};

/* Where they were made; the last of more paths than there is room for has the rest. */
static struct polls *polls_of(struct polls *of, size_t *n, uint32_t cnode) {
    for (size_t i = 0; i < *n; i++)
        if (of[i].cnode == cnode)
            return &of[i];
    *n += *n < LC_POLLED_PATHS;
    of[*n - 1].cnode = cnode;
    return &of[*n - 1];
}

/* Calls before this one, or before the probe that found its message, that only asked for what it
 * got; since the call with records before it. */
static enum lc_err classify_polls(const struct lc_wait_classifier *classifier, struct lc_loc *loc,
                                  size_t at, size_t end_done) {
    const struct lc_match *by = last_of(loc, &loc->calls[at], end_done);
    if (by == NULL)
        return LC_OK;
    at -= at > 0 && is_probe(loc->calls[at - 1].fn);
    const struct lc_mpi_call *call = &loc->calls[at];
    struct polls of[LC_POLLED_PATHS] = {{0, 0}};
    uint32_t since = at > 0 ? call[-1].leave : 0;
    int64_t all = 0, start = 0, end = 0;
    size_t n = 0;
    for (uint32_t i = call->enter; i-- > since;) {
        if (!only_asks(classifier->trace, loc->cnode[i]))
            continue;
        end = n == 0 ? loc->time[i + 1] : end;
        start = loc->time[i];
        all += loc->time[i + 1] - start;
        polls_of(of, &n, loc->cnode[i])->before += ticks_until(start, loc->time[i + 1], by->enter);
    }
    if (n == 0 || (end - start) / LC_POLLS_CLOSELY > all) /* made beside other work */
        return LC_OK;
    if (call->fn == LC_FN_MPI_TEST) { /* the call itself, too */
        end = loc->time[call->leave];
        polls_of(of, &n, loc->cnode[call->enter])->before +=
            ticks_until(loc->time[call->enter], end, by->enter);
    }
    for (size_t i = 0; i < n; i++) {
        struct candidate c = {
            .wait = {.cnode = of[i].cnode, .kind = LC_WAIT_POLL, .instance = UINT64_MAX}};
        set_wait(&c, by, start, end);
        c.wait.busy_ticks = c.ticks - of[i].before;
        if (of[i].before > 0)
            LC_TRY(emit(loc, &c, 0));
    }
    return LC_OK;
}

static enum lc_err classify_call(struct lc_wait_classifier *classifier, struct lc_loc *loc,
                                 const struct lc_mpi_call *call, size_t end_done) {
    struct call_view v = {loc, call, loc->time[call->enter], loc->time[call->leave],
                          loc->cnode[call->enter]};
    struct choice wait = {.smallest = call->fn == LC_FN_MPI_WAITSOME}, blocking = wait;
    classifier->serial++;
    for (size_t i = call->first_done; i < end_done; i++) {
        const struct lc_p2p *p2p = done_p2p(loc, i);
        if (p2p && (p2p->flags & LC_P2P_RECV) && recv_candidate(&v, p2p).ticks > 0)
            classifier->waited_for[p2p->peer] = classifier->serial;
    }
    for (size_t i = call->first_done; i < end_done; i++) {
        const struct lc_p2p *p2p = done_p2p(loc, i);
        if (!p2p) {
            uint32_t index = loc->done[i] >> 1;
            struct candidate a = coll_candidate(&v, index, false),
                             b = coll_candidate(&v, index, true);
            consider(&wait, &a);
            consider(&blocking, &b);
            LC_TRY(note_arrival(loc, call, &b));
            LC_TRY(note_together(loc, call, &b));
            continue;
        }
        struct candidate c = p2p->flags & LC_P2P_RECV ? recv_candidate(&v, p2p)
                                                      : send_candidate(classifier, &v, p2p);
        consider(&wait, &c);
        consider(&blocking, &c);
        LC_TRY(note_arrival(loc, call, &c));
    }
    bool waits = wait.any && wait.best.ticks > 0, blocks = blocking.any && blocking.best.ticks > 0;
    if (blocks && !blocking.smallest && end_done > call->first_done + 1)
        LC_TRY(note_others(classifier, loc, &v, end_done, &blocking.best));
    bool same = waits && blocks && wait.best.wait.release == blocking.best.wait.release &&
                wait.best.wait.cause == blocking.best.wait.cause &&
                wait.best.wait.kind == blocking.best.wait.kind;
    if (waits) {
        if (wait.best.wait.kind == LC_WAIT_LS)
            wait.best.wait.flags |= wrong_order(classifier, &wait.best.wait);
        LC_TRY(emit(loc, &wait.best, same ? LC_WAIT_STATE | LC_WAIT_BLOCKS : LC_WAIT_STATE));
    }
    if (blocks && !same)
        LC_TRY(emit(loc, &blocking.best, LC_WAIT_BLOCKS));
    for (size_t i = end_done; i-- > call->first_done;) {
        const struct lc_p2p *p2p = done_p2p(loc, i);
        if (p2p && (p2p->flags & LC_P2P_RECV) && (p2p->flags & LC_P2P_MATCHED))
            LC_TRY(push_received(classifier, &loc->matches[p2p->link]));
    }
    return LC_OK;
}

/* From the last call to the first, so that the receives of later calls are known. */
enum lc_err lc_wait_classify_location(struct lc_wait_classifier *classifier, struct lc_loc *loc) {
    classifier->n_later = 0;
    size_t end = loc->n_done, p2p = loc->n_p2p;
    const struct lc_p2p *received = NULL; /* by the next receive that was posted after the call */
    for (size_t i = loc->n_calls; i-- > 0;) {
        const struct lc_mpi_call *call = &loc->calls[i];
        for (; p2p > 0 && loc->p2p[p2p - 1].call > i; p2p--)
            if (loc->p2p[p2p - 1].flags & LC_P2P_RECV)
                received = &loc->p2p[p2p - 1];
        if (is_probe(call->fn))
            LC_TRY(classify_probe(loc, call, received));
        if (end > call->first_done && lc_fn_is_mpi(call->fn)) {
            LC_TRY(classify_call(classifier, loc, call, end));
            if (classifier->has_polls)
                LC_TRY(classify_polls(classifier, loc, i, end));
        }
        end = call->first_done;
    }
    for (size_t i = 0, k = loc->n_waits; i + 1 < k; i++) {
        struct lc_wait swap = loc->waits[i];
        loc->waits[i] = loc->waits[--k];
        loc->waits[k] = swap;
    }
    return LC_OK;
}
