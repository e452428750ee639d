#include "trace/convert.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct open_coll { /* nonblocking collectives in progress, by request */
    uint64_t request;
    uint64_t words[3];
};

struct open_rma { /* one-sided operations that are not known to be complete */
    uint32_t win, target;
    uint64_t number;
};

struct frame {
    uint32_t node;
    bool region; /* begun by REGION_IN: ends with REGION_OUT, not by comparison of paths */
};

struct state {
    struct lc_convert *c;
    OTF2_EvtWriter *w;
    const struct lc_trace_defs *d;
    OTF2_ErrorCode error;
    uint64_t now;        /* absolute ticks of the last event */
    uint64_t call_begin; /* of the MPI call that is open */
    struct frame *stack;
    size_t depth, cap_stack;
    uint32_t *chain; /* scratch: a path, root first */
    size_t cap_chain;
    uint32_t call_node; /* LC_NONE: no call is open */
    bool started;
    uint64_t coll[3]; /* of the open call; kind 0: none */
    uint64_t handle;
    uint64_t rma_coll[2];
    uint64_t *done; /* completions of the open call, until its end is known */
    size_t n_done, cap_done;
    struct open_coll *icolls;
    size_t n_icolls, cap_icolls;
    struct open_rma *rmas;
    size_t n_rmas, cap_rmas;
    uint64_t next_rma; /* matching number */
    uint64_t
        *dropped; /* requests of sends that the filter left out, ascending; top bit: complete */
    size_t n_dropped, cap_dropped, n_dropped_open;
    size_t next_child;
};
#define COMPLETE (1ull << 63)

static void note(struct state *s, OTF2_ErrorCode code) {
    if (s->error == OTF2_SUCCESS)
        s->error = code;
    s->c->n_events++;
}

static uint64_t at(struct state *s, uint64_t ticks) {
    uint64_t time = s->d->process.base_ticks + ticks;
    return time > s->now ? time : s->now;
}

/* Threads that this one is taken to have created, at the time they were first seen. */
static void move_to(struct state *s, uint64_t time) {
    const struct lc_convert *c = s->c;
    while (s->next_child < c->n_children && at(s, c->children[s->next_child].begin_ticks) <= time &&
           s->started) {
        const struct lc_trace_thread *child = &c->children[s->next_child++];
        s->now = at(s, child->begin_ticks);
        note(s, OTF2_EvtWriter_ThreadCreate(s->w, NULL, s->now, c->thread_comm, child->thread));
    }
    if (time > s->now)
        s->now = time;
}

/* The filter leaves this message or collective out. */
static bool unwanted(const struct state *s, const uint64_t *words) {
    const struct lc_convert *c = s->c;
    uint32_t comm = lc_rec_comm(words[0]);
    if (c->muted && comm < s->d->n_comms && c->muted[comm])
        return true;
    enum lc_rec_kind kind = lc_rec_kind_of(words[0]);
    bool message =
        kind == LC_REC_SEND || kind == LC_REC_ISEND || kind == LC_REC_RECV || kind == LC_REC_IRECV;
    return message && c->filter &&
           (words[2] < c->filter->min_bytes || words[2] > c->filter->max_bytes);
}

static enum lc_err drop_request(struct state *s, uint64_t request) {
    if (s->n_dropped_open == 0)
        s->n_dropped = 0;
    LC_TRY(lc_grow(&s->dropped, &s->cap_dropped, s->n_dropped + 1, sizeof(*s->dropped)));
    s->dropped[s->n_dropped++] = request;
    s->n_dropped_open++;
    return LC_OK;
}

/* Requests are numbered in the order of their start, so the list is sorted. */
static bool was_dropped(struct state *s, uint64_t request, bool complete) {
    size_t low = 0, high = s->n_dropped;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if ((s->dropped[middle] & ~COMPLETE) < request)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == s->n_dropped || s->dropped[low] != request)
        return false;
    if (complete) {
        s->dropped[low] |= COMPLETE;
        s->n_dropped_open--;
    }
    return true;
}

static bool visible(const struct state *s, uint32_t node) {
    uint32_t region = s->d->nodes[node].region;
    if (s->c->callpath == LC_TRACE_CONTEXT && node >= s->d->n_maps[LC_UNION_CONTEXT])
        return false; /* first seen after the definitions of all ranks were brought together */
    return region != LC_NONE && region < s->d->n_maps[LC_UNION_REGION] &&
           !(s->c->hidden && s->c->hidden[region]);
}

static void enter(struct state *s, uint32_t node, uint32_t distance) {
    if (!visible(s, node))
        return;
    if (s->c->callpath == LC_TRACE_CONTEXT)
        note(s, OTF2_EvtWriter_CallingContextEnter(s->w, NULL, s->now, node, distance));
    else
        note(s, OTF2_EvtWriter_Enter(s->w, NULL, s->now, s->d->nodes[node].region));
}

static void leave(struct state *s, uint32_t node) {
    if (!visible(s, node))
        return;
    if (s->c->callpath == LC_TRACE_CONTEXT)
        note(s, OTF2_EvtWriter_CallingContextLeave(s->w, NULL, s->now, node));
    else
        note(s, OTF2_EvtWriter_Leave(s->w, NULL, s->now, s->d->nodes[node].region));
}

/* Callers get records of their own only in the mode "enter"; the root and regions of the user
 * always do. */
static bool recorded(const struct state *s, size_t level, bool region) {
    return s->c->callpath == LC_TRACE_ENTER || level == 0 || region;
}

static enum lc_err push(struct state *s, uint32_t node, bool region) {
    LC_TRY(lc_grow(&s->stack, &s->cap_stack, s->depth + 1, sizeof(*s->stack)));
    s->stack[s->depth++] = (struct frame){node, region};
    return LC_OK;
}

static void pop(struct state *s) {
    struct frame *top = &s->stack[--s->depth];
    if (recorded(s, s->depth, top->region))
        leave(s, top->node);
}

/* The path of `node`, root first, without the root above main; false if the number is wrong. */
static bool chain_of(struct state *s, uint32_t node, size_t *n) {
    if (node >= s->d->n_nodes)
        return false;
    size_t depth = s->d->nodes[node].depth;
    if (lc_grow(&s->chain, &s->cap_chain, depth + 1, sizeof(*s->chain)) != LC_OK)
        return false;
    *n = depth;
    for (uint32_t i = node; i != LC_NONE && s->d->nodes[i].region != LC_NONE;
         i = s->d->nodes[i].parent)
        s->chain[--depth] = i;
    return true;
}

/* Makes the open frames those of chain[0, n): the first `common` of them are the same activations
 * as before. */
static enum lc_err change_frames(struct state *s, size_t n, size_t common, uint64_t time,
                                 size_t *entered) {
    size_t same = 0;
    while (same < n && same < s->depth && s->stack[same].node == s->chain[same] &&
           (same < common || same == 0 || s->stack[same].region))
        same++;
    while (s->depth > same)
        pop(s);
    *entered = n - same;
    if (!s->started) {
        move_to(s, at(s, s->c->begin_ticks));
        s->c->first_time = s->now;
        s->started = true;
        if (s->c->thread > 0)
            note(s,
                 OTF2_EvtWriter_ThreadBegin(s->w, NULL, s->now, s->c->thread_comm, s->c->thread));
        if (n > 0) {
            enter(s, s->chain[0], 2);
            LC_TRY(push(s, s->chain[0], false));
            same = 1;
        }
    }
    move_to(s, time);
    for (size_t i = same; i < n; i++) {
        if (recorded(s, i, false) && s->c->callpath == LC_TRACE_ENTER)
            enter(s, s->chain[i], 1);
        LC_TRY(push(s, s->chain[i], false));
    }
    return LC_OK;
}

static void finish_call(struct state *s, uint64_t time);

static enum lc_err begin_call(struct state *s, const uint64_t *words) {
    uint32_t node = (uint32_t)words[1], common = (uint32_t)(words[1] >> 32);
    uint64_t time = at(s, lc_rec_payload(words[0]));
    size_t n = 0, entered = 0;
    if (s->call_node != LC_NONE) /* its end is missing: calls do not nest */
        finish_call(s, s->now);
    if (!chain_of(s, node, &n) || n == 0) {
        s->c->n_bad++;
        return LC_OK;
    }
    LC_TRY(change_frames(s, n - 1, common, time, &entered));
    s->call_node = node;
    s->call_begin = time;
    enter(s, node, (uint32_t)entered + 2);
    return LC_OK;
}

static enum lc_err begin_region(struct state *s, const uint64_t *words) {
    uint32_t node = (uint32_t)words[1], common = (uint32_t)(words[1] >> 32);
    size_t n = 0, entered = 0;
    if (!chain_of(s, node, &n) || n == 0) {
        s->c->n_bad++;
        return LC_OK;
    }
    LC_TRY(change_frames(s, n - 1, common, at(s, lc_rec_payload(words[0])), &entered));
    enter(s, node, (uint32_t)entered + 2);
    return push(s, node, true);
}

static void end_region(struct state *s, uint64_t time) {
    size_t at_region = s->depth;
    while (at_region > 0 && !s->stack[at_region - 1].region)
        at_region--;
    if (at_region == 0) {
        s->c->n_bad++;
        return;
    }
    while (s->depth > at_region)
        pop(s);
    move_to(s, time);
    pop(s);
}

static uint32_t collective_root(uint64_t word) {
    return lc_rec_peer(word); /* the special values are those of OTF2 */
}

static void end_icoll(struct state *s, uint64_t request) {
    if (s->n_dropped_open && was_dropped(s, request, true))
        return;
    for (size_t i = 0; i < s->n_icolls; i++) {
        struct open_coll *o = &s->icolls[i];
        if (o->request != request)
            continue;
        note(s, OTF2_EvtWriter_NonBlockingCollectiveComplete(
                    s->w, NULL, s->now, (OTF2_CollectiveOp)(o->words[1] >> 56),
                    lc_rec_comm(o->words[0]), collective_root(o->words[0]),
                    lc_rec_payload(o->words[1]), o->words[2], request));
        *o = s->icolls[--s->n_icolls];
        return;
    }
    s->c->n_bad++;
}

static void end_rmas(struct state *s, uint32_t win, uint32_t target) {
    size_t kept = 0;
    for (size_t i = 0; i < s->n_rmas; i++) {
        const struct open_rma *o = &s->rmas[i];
        if (o->win == win && (target == LC_NONE || o->target == target))
            note(s, OTF2_EvtWriter_RmaOpCompleteRemote(s->w, NULL, s->now, win, o->number));
        else
            s->rmas[kept++] = *o;
    }
    s->n_rmas = kept;
}

/* What a call completed; happens at its end. */
static void completion(struct state *s, const uint64_t *words) {
    uint64_t t = s->now, w = words[0], request = lc_rec_payload(w);
    enum lc_rec_kind kind = lc_rec_kind_of(w);
    if (s->n_dropped_open &&
        (kind == LC_REC_ISEND_DONE || kind == LC_REC_TESTED || kind == LC_REC_CANCELLED) &&
        was_dropped(s, request, kind != LC_REC_TESTED))
        return;
    if ((kind == LC_REC_RECV || kind == LC_REC_IRECV) && unwanted(s, words)) {
        if (kind == LC_REC_IRECV) /* its request is in the trace: close it */
            note(s, OTF2_EvtWriter_MpiRequestCancelled(s->w, NULL, t, words[3]));
        return;
    }
    switch (kind) {
    case LC_REC_RECV:
        note(s, OTF2_EvtWriter_MpiRecv(s->w, NULL, t, lc_rec_peer(w), lc_rec_comm(w),
                                       (uint32_t)words[1], words[2]));
        break;
    case LC_REC_IRECV:
        note(s, OTF2_EvtWriter_MpiIrecv(s->w, NULL, t, lc_rec_peer(w), lc_rec_comm(w),
                                        (uint32_t)words[1], words[2], words[3]));
        break;
    case LC_REC_ISEND_DONE:
        note(s, OTF2_EvtWriter_MpiIsendComplete(s->w, NULL, t, request));
        break;
    case LC_REC_TESTED:
        note(s, OTF2_EvtWriter_MpiRequestTest(s->w, NULL, t, request));
        break;
    case LC_REC_CANCELLED:
        note(s, OTF2_EvtWriter_MpiRequestCancelled(s->w, NULL, t, request));
        break;
    case LC_REC_ICOLL_DONE:
        end_icoll(s, request);
        break;
    case LC_REC_COMM_MADE:
        note(s, OTF2_EvtWriter_CommCreate(s->w, NULL, t, lc_rec_comm(w)));
        break;
    case LC_REC_COMM_FREED:
        note(s, OTF2_EvtWriter_CommDestroy(s->w, NULL, t, lc_rec_comm(w)));
        break;
    case LC_REC_WIN_MADE:
        note(s, OTF2_EvtWriter_RmaWinCreate(s->w, NULL, t, lc_rec_comm(w)));
        break;
    case LC_REC_WIN_FREED:
        note(s, OTF2_EvtWriter_RmaWinDestroy(s->w, NULL, t, lc_rec_comm(w)));
        break;
    case LC_REC_RMA_DONE:
        end_rmas(s, lc_rec_comm(w), lc_rec_peer(w));
        break;
    case LC_REC_RMA_LOCK: {
        OTF2_LockType type = words[1] >> 8 & 1 ? OTF2_LOCK_SHARED : OTF2_LOCK_EXCLUSIVE;
        if ((words[1] & 0xff) == LC_REC_LOCK_ACQUIRE)
            note(s, OTF2_EvtWriter_RmaAcquireLock(s->w, NULL, t, lc_rec_comm(w), lc_rec_peer(w), 0,
                                                  type));
        else
            note(s,
                 OTF2_EvtWriter_RmaReleaseLock(s->w, NULL, t, lc_rec_comm(w), lc_rec_peer(w), 0));
        break;
    }
    case LC_REC_RMA_GROUP:
        note(s, OTF2_EvtWriter_RmaGroupSync(s->w, NULL, t, (OTF2_RmaSyncLevel)words[1],
                                            lc_rec_comm(w), lc_rec_peer(w)));
        break;
    case LC_REC_RMA_SYNC:
        note(s, OTF2_EvtWriter_RmaSync(s->w, NULL, t, lc_rec_comm(w), lc_rec_peer(w),
                                       (OTF2_RmaSyncType)words[1]));
        break;
    default:
        s->c->n_bad++;
    }
}

static enum lc_err defer(struct state *s, const uint64_t *words) {
    unsigned n = lc_rec_words(lc_rec_kind_of(words[0]));
    LC_TRY(lc_grow(&s->done, &s->cap_done, s->n_done + n, sizeof(*s->done)));
    memcpy(s->done + s->n_done, words, n * sizeof(*words));
    s->n_done += n;
    return LC_OK;
}

static void flush_deferred(struct state *s) {
    for (size_t i = 0; i < s->n_done; i += lc_rec_words(lc_rec_kind_of(s->done[i])))
        completion(s, &s->done[i]);
    s->n_done = 0;
}

static void finish_call(struct state *s, uint64_t time) {
    move_to(s, time);
    flush_deferred(s);
    if (s->coll[0])
        note(s,
             OTF2_EvtWriter_MpiCollectiveEnd(
                 s->w, NULL, s->now, (OTF2_CollectiveOp)(s->coll[1] >> 56), lc_rec_comm(s->coll[0]),
                 collective_root(s->coll[0]), lc_rec_payload(s->coll[1]), s->coll[2]));
    if (s->handle)
        note(s, OTF2_EvtWriter_MpiCollectiveEnd(
                    s->w, NULL, s->now,
                    lc_rec_peer(s->handle) ? OTF2_COLLECTIVE_OP_DESTROY_HANDLE
                                           : OTF2_COLLECTIVE_OP_CREATE_HANDLE,
                    lc_rec_comm(s->handle), OTF2_COLLECTIVE_ROOT_NONE, 0, 0));
    if (s->rma_coll[0])
        note(s, OTF2_EvtWriter_RmaCollectiveEnd(
                    s->w, NULL, s->now, (OTF2_CollectiveOp)(s->rma_coll[1] >> 56),
                    (OTF2_RmaSyncLevel)lc_rec_payload(s->rma_coll[1]), lc_rec_comm(s->rma_coll[0]),
                    OTF2_COLLECTIVE_ROOT_NONE, 0, 0));
    s->coll[0] = s->handle = s->rma_coll[0] = 0;
    if (s->call_node != LC_NONE)
        leave(s, s->call_node);
    s->call_node = LC_NONE;
}

static enum lc_err begin_rma(struct state *s, enum lc_rec_kind kind, const uint64_t *words) {
    uint32_t win = lc_rec_comm(words[0]), target = lc_rec_peer(words[0]);
    uint64_t number = ++s->next_rma;
    LC_TRY(lc_grow(&s->rmas, &s->cap_rmas, s->n_rmas + 1, sizeof(*s->rmas)));
    s->rmas[s->n_rmas++] = (struct open_rma){win, target, number};
    if (kind == LC_REC_RMA_PUT)
        note(s, OTF2_EvtWriter_RmaPut(s->w, NULL, s->now, win, target, words[1], number));
    else if (kind == LC_REC_RMA_GET)
        note(s, OTF2_EvtWriter_RmaGet(s->w, NULL, s->now, win, target, words[1], number));
    else
        note(s, OTF2_EvtWriter_RmaAtomic(s->w, NULL, s->now, win, target,
                                         (OTF2_RmaAtomicType)(words[3] >> 56), words[1],
                                         lc_rec_payload(words[3]), number));
    return LC_OK;
}

/* What a call starts; happens at its begin. */
static enum lc_err beginning(struct state *s, const uint64_t *words) {
    uint64_t t = s->now, w = words[0];
    uint32_t comm = lc_rec_comm(w), peer = lc_rec_peer(w);
    enum lc_rec_kind kind = lc_rec_kind_of(w);
    bool filtered =
        kind == LC_REC_SEND || kind == LC_REC_ISEND || kind == LC_REC_COLL || kind == LC_REC_ICOLL;
    if (filtered && unwanted(s, words)) {
        bool request = kind == LC_REC_ISEND || kind == LC_REC_ICOLL;
        return request ? drop_request(s, words[3]) : LC_OK;
    }
    switch (kind) {
    case LC_REC_SEND:
        note(s, OTF2_EvtWriter_MpiSend(s->w, NULL, t, peer, comm, (uint32_t)words[1], words[2]));
        break;
    case LC_REC_ISEND:
        note(s, OTF2_EvtWriter_MpiIsend(s->w, NULL, t, peer, comm, (uint32_t)words[1], words[2],
                                        words[3]));
        break;
    case LC_REC_IRECV_POST:
        note(s, OTF2_EvtWriter_MpiIrecvRequest(s->w, NULL, t, lc_rec_payload(w)));
        break;
    case LC_REC_COLL:
        memcpy(s->coll, words, sizeof(s->coll));
        note(s, OTF2_EvtWriter_MpiCollectiveBegin(s->w, NULL, t));
        break;
    case LC_REC_HANDLE:
        if (s->c->handles && !s->handle) {
            s->handle = w;
            note(s, OTF2_EvtWriter_MpiCollectiveBegin(s->w, NULL, t));
        }
        break;
    case LC_REC_RMA_COLL:
        if (words[1] >> 56 != OTF2_COLLECTIVE_OP_BARRIER && !s->c->handles)
            break;
        memcpy(s->rma_coll, words, sizeof(s->rma_coll));
        note(s, OTF2_EvtWriter_RmaCollectiveBegin(s->w, NULL, t));
        break;
    case LC_REC_ICOLL:
        LC_TRY(lc_grow(&s->icolls, &s->cap_icolls, s->n_icolls + 1, sizeof(*s->icolls)));
        s->icolls[s->n_icolls].request = words[3];
        memcpy(s->icolls[s->n_icolls++].words, words, 3 * sizeof(*words));
        note(s, OTF2_EvtWriter_NonBlockingCollectiveRequest(s->w, NULL, t, words[3]));
        break;
    case LC_REC_RMA_PUT:
    case LC_REC_RMA_GET:
    case LC_REC_RMA_ATOMIC:
        return begin_rma(s, kind, words);
    default:
        s->c->n_bad++;
    }
    return LC_OK;
}

static void close_all(struct state *s, uint64_t time) {
    if (!s->started)
        return;
    if (s->call_node !=
        LC_NONE) { /* cut off within a call: what it completed is not known to be complete */
        s->coll[0] = s->handle = s->rma_coll[0] = 0;
        finish_call(s, time);
    }
    while (s->depth > 1)
        pop(s);
    move_to(s, time);
    if (s->depth == 1)
        pop(s);
    if (s->c->thread > 0)
        note(s, OTF2_EvtWriter_ThreadEnd(s->w, NULL, s->now, s->c->thread_comm,
                                         OTF2_UNDEFINED_UINT64));
    s->started = false;
}

static void timed(struct state *s, const uint64_t *words) {
    uint64_t time = at(s, lc_rec_payload(words[0]));
    move_to(s, time);
    switch (lc_rec_kind_of(words[0])) {
    case LC_REC_PHASE:
        note(s, OTF2_EvtWriter_ParameterString(s->w, NULL, s->now, 0, (uint32_t)words[1]));
        break;
    case LC_REC_ON:
        note(s, OTF2_EvtWriter_MeasurementOnOff(s->w, NULL, s->now, OTF2_MEASUREMENT_ON));
        break;
    case LC_REC_OFF:
        note(s, OTF2_EvtWriter_MeasurementOnOff(s->w, NULL, s->now, OTF2_MEASUREMENT_OFF));
        break;
    default: {
        uint64_t stop = at(s, lc_rec_payload(words[1]));
        note(s, OTF2_EvtWriter_BufferFlush(s->w, NULL, s->now, stop));
        s->now = stop;
    }
    }
}

/* Numbers in the record refer to something; they do unless the stream was damaged. */
static bool sound(const struct state *s, enum lc_rec_kind kind, const uint64_t *words) {
    static const uint8_t refers[LC_REC_KINDS] = {
        [LC_REC_SEND] = 1,     [LC_REC_ISEND] = 1,     [LC_REC_RECV] = 1,
        [LC_REC_IRECV] = 1,    [LC_REC_COLL] = 1,      [LC_REC_ICOLL] = 1,
        [LC_REC_HANDLE] = 1,   [LC_REC_COMM_MADE] = 1, [LC_REC_COMM_FREED] = 1,
        [LC_REC_WIN_MADE] = 2, [LC_REC_WIN_FREED] = 2, [LC_REC_RMA_COLL] = 2,
        [LC_REC_RMA_PUT] = 2,  [LC_REC_RMA_GET] = 2,   [LC_REC_RMA_ATOMIC] = 2,
        [LC_REC_RMA_DONE] = 2, [LC_REC_RMA_LOCK] = 2,  [LC_REC_RMA_GROUP] = 3,
        [LC_REC_RMA_SYNC] = 2, [LC_REC_PHASE] = 4,
    };
    const struct lc_trace_defs *d = s->d;
    const uint8_t what = refers[kind];
    if (what == 1)
        return lc_rec_comm(words[0]) < d->n_maps[LC_UNION_COMM] &&
               d->comms[lc_rec_comm(words[0])].known;
    if (what == 4)
        return words[1] < d->n_maps[LC_UNION_STRING];
    if (what == 3 && lc_rec_peer(words[0]) >= d->n_maps[LC_UNION_GROUP])
        return false;
    return what == 0 || lc_rec_comm(words[0]) < d->n_maps[LC_UNION_WIN];
}

static enum lc_err record(struct state *s, const uint64_t *words) {
    enum lc_rec_kind kind = lc_rec_kind_of(words[0]);
    if (!sound(s, kind, words)) {
        s->c->n_bad++;
        return LC_OK;
    }
    switch (kind) {
    case LC_REC_CALL:
        return begin_call(s, words);
    case LC_REC_EXIT:
        finish_call(s, at(s, lc_rec_payload(words[0])));
        return LC_OK;
    case LC_REC_REGION_IN:
        return begin_region(s, words);
    case LC_REC_REGION_OUT:
        end_region(s, at(s, lc_rec_payload(words[0])));
        return LC_OK;
    case LC_REC_PHASE:
    case LC_REC_ON:
    case LC_REC_OFF:
    case LC_REC_FLUSH:
        if (s->started)
            timed(s, words);
        return LC_OK;
    case LC_REC_END:
        close_all(s, at(s, lc_rec_payload(words[0])));
        return LC_OK;
    case LC_REC_SEND:
    case LC_REC_ISEND:
    case LC_REC_IRECV_POST:
    case LC_REC_COLL:
    case LC_REC_ICOLL:
    case LC_REC_HANDLE:
    case LC_REC_RMA_COLL:
    case LC_REC_RMA_PUT:
    case LC_REC_RMA_GET:
    case LC_REC_RMA_ATOMIC:
        return s->call_node != LC_NONE ? beginning(s, words) : LC_OK;
    default:
        return s->call_node != LC_NONE ? defer(s, words) : LC_OK;
    }
}

enum lc_err lc_convert_run(struct lc_convert *c) {
    struct state s = {.c = c, .w = c->writer, .d = c->defs, .call_node = LC_NONE};
    enum lc_err err = LC_OK;
    for (size_t i = 0; err == LC_OK && i < c->n_segments; i++) {
        const struct lc_trace_segment *segment = &c->segments[i];
        size_t k = 0;
        while (err == LC_OK && k < segment->n_words) {
            unsigned n = lc_rec_words(lc_rec_kind_of(segment->words[k]));
            if (n == 0 ||
                n > segment->n_words - k) { /* cut off, or not a stream: the rest cannot be read */
                c->n_bad++;
                break;
            }
            err = record(&s, &segment->words[k]);
            k += n;
            if (s.error != OTF2_SUCCESS)
                err = lc_fail(LC_ERR_IO, "trace of thread %u: %s: is the disk full?", c->thread,
                              OTF2_Error_GetDescription(s.error));
        }
    }
    if (err == LC_OK)
        close_all(&s, s.now);
    c->last_time = s.now;
    free(s.stack);
    free(s.chain);
    free(s.done);
    free(s.icolls);
    free(s.rmas);
    free(s.dropped);
    return err;
}
