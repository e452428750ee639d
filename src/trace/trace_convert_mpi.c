/* What MPI calls begin and complete -> OTF2 events. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "trace/trace_convert_state.h"

/* The filter leaves this message or collective out. */
static bool unwanted(const struct lc_trace_conversion *s, const uint64_t *words) {
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

static int by_number(const void *a, const void *b) {
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static enum lc_err drop(struct lc_trace_conversion *s, uint64_t request) {
    LC_TRY(lc_grow(&s->dropped, &s->cap_dropped, s->n_dropped + 1, sizeof(*s->dropped)));
    s->dropped[s->n_dropped++] = request;
    return LC_OK;
}

enum lc_err lc_convert_find_dropped(struct lc_trace_conversion *s) {
    const struct lc_convert *c = s->c;
    if (!c->muted && !c->filter && !s->d->process.sized)
        return LC_OK;
    for (size_t i = 0; i < c->n_segments; i++) {
        const struct lc_trace_segment *segment = &c->segments[i];
        unsigned n;
        for (size_t k = 0; k < segment->n_words; k += n) {
            const uint64_t *words = &segment->words[k];
            enum lc_rec_kind kind = lc_rec_kind_of(words[0]);
            n = lc_rec_words(kind);
            if (n == 0 || n > segment->n_words - k)
                break;
            if (kind == LC_REC_DROPPED)
                LC_TRY(drop(s, lc_rec_payload(words[0])));
            bool of_request = kind == LC_REC_ISEND || kind == LC_REC_IRECV || kind == LC_REC_ICOLL;
            if (of_request && unwanted(s, words))
                LC_TRY(drop(s, words[3]));
        }
    }
    if (s->n_dropped)
        qsort(s->dropped, s->n_dropped, sizeof(*s->dropped), by_number);
    return LC_OK;
}

static bool dropped(const struct lc_trace_conversion *s, uint64_t request) {
    return s->n_dropped && bsearch(&request, s->dropped, s->n_dropped, sizeof(request), by_number);
}

/* The record is left out by the filter. */
static bool left_out(const struct lc_trace_conversion *s, const uint64_t *words) {
    switch (lc_rec_kind_of(words[0])) {
    case LC_REC_SEND:
    case LC_REC_RECV:
    case LC_REC_COLL:
    case LC_REC_ISEND:
    case LC_REC_IRECV:
    case LC_REC_ICOLL:
        return unwanted(s, words);
    case LC_REC_IRECV_POST:
    case LC_REC_ISEND_DONE:
    case LC_REC_ICOLL_DONE:
    case LC_REC_TESTED:
    case LC_REC_CANCELLED:
        return dropped(s, lc_rec_payload(words[0]));
    default:
        return lc_rec_kind_of(words[0]) == LC_REC_DROPPED;
    }
}

/* What an event carries in traces of windows; NULL: nothing. window: in which it was begun. */
static OTF2_AttributeList *left_out_before(struct lc_trace_conversion *s,
                                           struct lc_def_left_out channel, uint32_t window) {
    uint64_t count = s->d->n_left_out > 0 ? lc_trace_left_out_before(s->d, &channel, window) : 0;
    if (count > 0 && s->attributes == NULL)
        s->attributes = OTF2_AttributeList_New();
    if (count == 0 || s->attributes == NULL)
        return NULL;
    OTF2_AttributeList_AddUint64(s->attributes, LC_TRACE_LEFT_OUT_REF, count);
    return s->attributes; /* empty again once the event is written */
}

static OTF2_AttributeList *of_message(struct lc_trace_conversion *s, const uint64_t *words,
                                      enum lc_def_half half) {
    uint32_t posted = (uint32_t)(words[1] >> 32); /* 0: in the window that is open now */
    const struct lc_def_left_out channel = {.comm = lc_rec_comm(words[0]),
                                            .peer = lc_rec_peer(words[0]),
                                            .tag = (uint32_t)words[1],
                                            .half = half};
    return left_out_before(s, channel, posted != 0 ? posted : s->window);
}

static OTF2_AttributeList *of_collective(struct lc_trace_conversion *s, uint64_t head,
                                         enum lc_def_half half, uint32_t window) {
    const struct lc_def_left_out channel = {.comm = lc_rec_comm(head), .half = half};
    return left_out_before(s, channel, window);
}

static uint32_t collective_root(uint64_t word) {
    return lc_rec_peer(word); /* the special values are those of OTF2 */
}

static void end_icoll(struct lc_trace_conversion *s, uint64_t request) {
    for (size_t i = 0; i < s->n_icolls; i++) {
        struct lc_open_coll *o = &s->icolls[i];
        if (o->request != request)
            continue;
        OTF2_AttributeList *numbered = of_collective(s, o->words[0], LC_HALF_ICOLL, o->window);
        lc_convert_note(s, OTF2_EvtWriter_NonBlockingCollectiveComplete(
                               s->w, numbered, s->now, (OTF2_CollectiveOp)(o->words[1] >> 56),
                               lc_rec_comm(o->words[0]), collective_root(o->words[0]),
                               lc_rec_payload(o->words[1]), o->words[2], request));
        *o = s->icolls[--s->n_icolls];
        return;
    }
    s->c->n_bad++;
}

static void end_rmas(struct lc_trace_conversion *s, uint32_t win, uint32_t target) {
    size_t kept = 0;
    for (size_t i = 0; i < s->n_rmas; i++) {
        const struct lc_open_rma *o = &s->rmas[i];
        if (o->win == win && (target == LC_NONE || o->target == target))
            lc_convert_note(s,
                            OTF2_EvtWriter_RmaOpCompleteRemote(s->w, NULL, s->now, win, o->number));
        else
            s->rmas[kept++] = *o;
    }
    s->n_rmas = kept;
}

static void io_completion(struct lc_trace_conversion *s, const uint64_t *words) {
    uint64_t t = s->now;
    uint32_t file = lc_rec_comm(words[0]), bits = lc_rec_peer(words[0]);
    switch (lc_rec_kind_of(words[0])) {
    case LC_REC_IO_OPEN:
        lc_convert_note(
            s, OTF2_EvtWriter_IoCreateHandle(
                   s->w, NULL, t, file, (OTF2_IoAccessMode)(bits & 0xff),
                   (OTF2_IoCreationFlag)(bits >> LC_REC_OPEN_CREATION &
                                         ((1u << (LC_REC_OPEN_STATUS - LC_REC_OPEN_CREATION)) - 1)),
                   (OTF2_IoStatusFlag)(bits >> LC_REC_OPEN_STATUS)));
        break;
    case LC_REC_IO_CLOSE:
        lc_convert_note(s, OTF2_EvtWriter_IoDestroyHandle(s->w, NULL, t, file));
        break;
    case LC_REC_IO_DELETE:
        lc_convert_note(s, OTF2_EvtWriter_IoDeleteFile(s->w, NULL, t, 0, file));
        break;
    case LC_REC_IO_ISSUED:
        lc_convert_note(s, OTF2_EvtWriter_IoOperationIssued(s->w, NULL, t, file, words[1]));
        break;
    case LC_REC_IO_TESTED:
        lc_convert_note(s, OTF2_EvtWriter_IoOperationTest(s->w, NULL, t, file, words[1]));
        break;
    case LC_REC_IO_DONE:
        lc_convert_note(
            s, OTF2_EvtWriter_IoOperationComplete(s->w, NULL, t, file, words[1], words[2]));
        break;
    case LC_REC_IO_SEEK:
        lc_convert_note(s, OTF2_EvtWriter_IoSeek(s->w, NULL, t, file, (int64_t)words[1],
                                                 (OTF2_IoSeekOption)bits, words[2]));
        break;
    default:
        s->c->n_bad++;
    }
}

/* What a call completed; happens at its end. */
static void completion(struct lc_trace_conversion *s, const uint64_t *words) {
    uint64_t t = s->now, w = words[0], request = lc_rec_payload(w);
    enum lc_rec_kind kind = lc_rec_kind_of(w);
    switch (kind) {
    case LC_REC_RECV:
        lc_convert_note(s, OTF2_EvtWriter_MpiRecv(s->w, of_message(s, words, LC_HALF_RECEIVE), t,
                                                  lc_rec_peer(w), lc_rec_comm(w),
                                                  (uint32_t)words[1], words[2]));
        break;
    case LC_REC_IRECV:
        lc_convert_note(s, OTF2_EvtWriter_MpiIrecv(s->w, of_message(s, words, LC_HALF_RECEIVE), t,
                                                   lc_rec_peer(w), lc_rec_comm(w),
                                                   (uint32_t)words[1], words[2], words[3]));
        break;
    case LC_REC_ISEND_DONE:
        lc_convert_note(s, OTF2_EvtWriter_MpiIsendComplete(s->w, NULL, t, request));
        break;
    case LC_REC_TESTED:
        lc_convert_note(s, OTF2_EvtWriter_MpiRequestTest(s->w, NULL, t, request));
        break;
    case LC_REC_CANCELLED:
        lc_convert_note(s, OTF2_EvtWriter_MpiRequestCancelled(s->w, NULL, t, request));
        break;
    case LC_REC_ICOLL_DONE:
        end_icoll(s, request);
        break;
    case LC_REC_COMM_MADE:
        lc_convert_note(s, OTF2_EvtWriter_CommCreate(s->w, NULL, t, lc_rec_comm(w)));
        break;
    case LC_REC_COMM_FREED:
        lc_convert_note(s, OTF2_EvtWriter_CommDestroy(s->w, NULL, t, lc_rec_comm(w)));
        break;
    case LC_REC_WIN_MADE:
        lc_convert_note(s, OTF2_EvtWriter_RmaWinCreate(s->w, NULL, t, lc_rec_comm(w)));
        break;
    case LC_REC_WIN_FREED:
        lc_convert_note(s, OTF2_EvtWriter_RmaWinDestroy(s->w, NULL, t, lc_rec_comm(w)));
        break;
    case LC_REC_RMA_DONE:
        end_rmas(s, lc_rec_comm(w), lc_rec_peer(w));
        break;
    case LC_REC_RMA_LOCK: {
        OTF2_LockType type = words[1] >> 8 & 1 ? OTF2_LOCK_SHARED : OTF2_LOCK_EXCLUSIVE;
        if ((words[1] & 0xff) == LC_REC_LOCK_ACQUIRE)
            lc_convert_note(s, OTF2_EvtWriter_RmaAcquireLock(s->w, NULL, t, lc_rec_comm(w),
                                                             lc_rec_peer(w), 0, type));
        else
            lc_convert_note(
                s, OTF2_EvtWriter_RmaReleaseLock(s->w, NULL, t, lc_rec_comm(w), lc_rec_peer(w), 0));
        break;
    }
    case LC_REC_RMA_GROUP:
        lc_convert_note(s, OTF2_EvtWriter_RmaGroupSync(s->w, NULL, t, (OTF2_RmaSyncLevel)words[1],
                                                       lc_rec_comm(w), lc_rec_peer(w)));
        break;
    case LC_REC_RMA_SYNC:
        lc_convert_note(s, OTF2_EvtWriter_RmaSync(s->w, NULL, t, lc_rec_comm(w), lc_rec_peer(w),
                                                  (OTF2_RmaSyncType)words[1]));
        break;
    default:
        io_completion(s, words);
    }
}

static enum lc_err begin_rma(struct lc_trace_conversion *s, enum lc_rec_kind kind,
                             const uint64_t *words) {
    uint32_t win = lc_rec_comm(words[0]), target = lc_rec_peer(words[0]);
    uint64_t number = ++s->next_rma;
    LC_TRY(lc_grow(&s->rmas, &s->cap_rmas, s->n_rmas + 1, sizeof(*s->rmas)));
    s->rmas[s->n_rmas++] = (struct lc_open_rma){win, target, number};
    if (kind == LC_REC_RMA_PUT)
        lc_convert_note(s,
                        OTF2_EvtWriter_RmaPut(s->w, NULL, s->now, win, target, words[1], number));
    else if (kind == LC_REC_RMA_GET)
        lc_convert_note(s,
                        OTF2_EvtWriter_RmaGet(s->w, NULL, s->now, win, target, words[1], number));
    else
        lc_convert_note(s, OTF2_EvtWriter_RmaAtomic(s->w, NULL, s->now, win, target,
                                                    (OTF2_RmaAtomicType)(words[3] >> 56), words[1],
                                                    lc_rec_payload(words[3]), number));
    return LC_OK;
}

/* What a call starts; happens at its begin. */
static enum lc_err beginning(struct lc_trace_conversion *s, const uint64_t *words) {
    uint64_t t = s->now, w = words[0];
    uint32_t comm = lc_rec_comm(w), peer = lc_rec_peer(w);
    enum lc_rec_kind kind = lc_rec_kind_of(w);
    switch (kind) {
    case LC_REC_SEND:
        lc_convert_note(s, OTF2_EvtWriter_MpiSend(s->w, of_message(s, words, LC_HALF_SEND), t, peer,
                                                  comm, (uint32_t)words[1], words[2]));
        break;
    case LC_REC_ISEND:
        lc_convert_note(s,
                        OTF2_EvtWriter_MpiIsend(s->w, of_message(s, words, LC_HALF_SEND), t, peer,
                                                comm, (uint32_t)words[1], words[2], words[3]));
        break;
    case LC_REC_IRECV_POST:
        lc_convert_note(s, OTF2_EvtWriter_MpiIrecvRequest(s->w, NULL, t, lc_rec_payload(w)));
        break;
    case LC_REC_COLL:
        memcpy(s->coll, words, sizeof(s->coll));
        lc_convert_note(s, OTF2_EvtWriter_MpiCollectiveBegin(s->w, NULL, t));
        break;
    case LC_REC_HANDLE:
        if (s->c->handles && !s->handle) {
            s->handle = w;
            lc_convert_note(s, OTF2_EvtWriter_MpiCollectiveBegin(s->w, NULL, t));
        }
        break;
    case LC_REC_RMA_COLL:
        if (words[1] >> 56 != OTF2_COLLECTIVE_OP_BARRIER && !s->c->handles)
            break;
        memcpy(s->rma_coll, words, sizeof(s->rma_coll));
        lc_convert_note(s, OTF2_EvtWriter_RmaCollectiveBegin(s->w, NULL, t));
        break;
    case LC_REC_ICOLL:
        LC_TRY(lc_grow(&s->icolls, &s->cap_icolls, s->n_icolls + 1, sizeof(*s->icolls)));
        s->icolls[s->n_icolls].request = words[3];
        s->icolls[s->n_icolls].window = s->window;
        memcpy(s->icolls[s->n_icolls++].words, words, 3 * sizeof(*words));
        lc_convert_note(s, OTF2_EvtWriter_NonBlockingCollectiveRequest(s->w, NULL, t, words[3]));
        break;
    case LC_REC_IO_BEGIN:
        lc_convert_note(s, OTF2_EvtWriter_IoOperationBegin(
                               s->w, NULL, t, comm, (OTF2_IoOperationMode)(peer & 0xff),
                               (OTF2_IoOperationFlag)(peer >> 8 & 0xff), words[1], words[2]));
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

static enum lc_err defer(struct lc_trace_conversion *s, const uint64_t *words) {
    unsigned n = lc_rec_words(lc_rec_kind_of(words[0]));
    LC_TRY(lc_grow(&s->done, &s->cap_done, s->n_done + n, sizeof(*s->done)));
    memcpy(s->done + s->n_done, words, n * sizeof(*words));
    s->n_done += n;
    return LC_OK;
}

static void end_collectives(struct lc_trace_conversion *s) {
    uint64_t t = s->now;
    if (s->coll[0]) {
        OTF2_AttributeList *numbered = of_collective(s, s->coll[0], LC_HALF_COLL, s->window);
        lc_convert_note(s, OTF2_EvtWriter_MpiCollectiveEnd(
                               s->w, numbered, t, (OTF2_CollectiveOp)(s->coll[1] >> 56),
                               lc_rec_comm(s->coll[0]), collective_root(s->coll[0]),
                               lc_rec_payload(s->coll[1]), s->coll[2]));
    }
    if (s->handle)
        lc_convert_note(s, OTF2_EvtWriter_MpiCollectiveEnd(
                               s->w, NULL, t,
                               lc_rec_peer(s->handle) ? OTF2_COLLECTIVE_OP_DESTROY_HANDLE
                                                      : OTF2_COLLECTIVE_OP_CREATE_HANDLE,
                               lc_rec_comm(s->handle), OTF2_COLLECTIVE_ROOT_NONE, 0, 0));
    if (s->rma_coll[0])
        lc_convert_note(s, OTF2_EvtWriter_RmaCollectiveEnd(
                               s->w, NULL, t, (OTF2_CollectiveOp)(s->rma_coll[1] >> 56),
                               (OTF2_RmaSyncLevel)lc_rec_payload(s->rma_coll[1]),
                               lc_rec_comm(s->rma_coll[0]), OTF2_COLLECTIVE_ROOT_NONE, 0, 0));
    s->coll[0] = s->handle = s->rma_coll[0] = 0;
}

void lc_convert_completions(struct lc_trace_conversion *s) {
    for (size_t i = 0; i < s->n_done; i += lc_rec_words(lc_rec_kind_of(s->done[i])))
        completion(s, &s->done[i]);
    s->n_done = 0;
    end_collectives(s);
}

enum lc_err lc_convert_mpi(struct lc_trace_conversion *s, const uint64_t *words) {
    if (left_out(s, words))
        return LC_OK;
    switch (lc_rec_kind_of(words[0])) {
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
    case LC_REC_IO_BEGIN:
        return beginning(s, words);
    default:
        return defer(s, words);
    }
}
