#include "trace/trace_convert.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/mem.h"
#include "format/omp_construct.h"
#include "trace/trace_convert_state.h"

static enum lc_err push(struct lc_trace_conversion *s, uint32_t node, enum lc_open_kind kind) {
    return lc_convert_push(s, (struct lc_convert_frame){.node = node, .kind = kind});
}

/* The path of `node`, root first, without the root above main; false if the number is wrong. */
static bool chain_of(struct lc_trace_conversion *s, uint32_t node, size_t *n) {
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
 * as before. Inside a team of OpenMP only what is called there: what is after the path's last
 * construct goes above the frames of OpenMP. */
static enum lc_err change_frames(struct lc_trace_conversion *s, size_t n, size_t common,
                                 uint64_t time, size_t *entered) {
    size_t base = lc_convert_omp_depth(s), outer = base > 0 ? n : 0;
    while (outer > 0 && !lc_convert_is_construct(s, s->chain[outer - 1]))
        outer--;
    const struct lc_convert_frame *stack = s->stack != NULL ? s->stack + base : NULL;
    size_t same = 0;
    while (outer + same < n && base + same < s->depth && stack != NULL &&
           stack[same].node == s->chain[outer + same] &&
           (outer + same < common || base + same == 0 || stack[same].kind != LC_FRAME_CALLER))
        same++;
    while (s->depth > base + same)
        lc_convert_pop(s);
    same += outer;
    *entered = n - same;
    if (!s->started) {
        lc_convert_start(s, lc_convert_time(s, s->c->begin_ticks));
        s->thread_begun = s->c->thread > 0;
        if (s->thread_begun)
            lc_convert_note(
                s, OTF2_EvtWriter_ThreadBegin(s->w, NULL, s->now, s->c->thread_comm, s->c->thread));
        if (n > 0) {
            lc_convert_enter(s, s->chain[0], 2);
            LC_TRY(push(s, s->chain[0], LC_FRAME_CALLER));
            same = 1;
        }
    }
    lc_convert_samples(s);
    lc_convert_move_to(s, time);
    for (size_t i = same; i < n; i++) {
        if (lc_convert_is_recorded(s, i, false) && s->c->callpath == LC_TRACE_ENTER)
            lc_convert_enter(s, s->chain[i], 1);
        LC_TRY(push(s, s->chain[i], LC_FRAME_CALLER));
    }
    return LC_OK;
}

static void finish_call(struct lc_trace_conversion *s, uint64_t time);

static enum lc_err begin_call(struct lc_trace_conversion *s, const uint64_t *words) {
    uint32_t node = (uint32_t)words[1], common = (uint32_t)(words[1] >> 32);
    uint64_t time = lc_convert_time(s, lc_rec_payload(words[0]));
    size_t n = 0, entered = 0;
    if (s->call_node != LC_NONE) /* its end is missing: calls do not nest */
        finish_call(s, s->now);
    if (!chain_of(s, node, &n) || n == 0) {
        s->c->n_bad++;
        return LC_OK;
    }
    LC_TRY(change_frames(s, n - 1, common, time, &entered));
    s->call_node = node;
    lc_convert_enter(s, node, (uint32_t)entered + 2);
    return LC_OK;
}

static enum lc_err begin_region(struct lc_trace_conversion *s, const uint64_t *words) {
    uint32_t node = (uint32_t)words[1], common = (uint32_t)(words[1] >> 32);
    size_t n = 0, entered = 0;
    if (!chain_of(s, node, &n) || n == 0) {
        s->c->n_bad++;
        return LC_OK;
    }
    LC_TRY(change_frames(s, n - 1, common, lc_convert_time(s, lc_rec_payload(words[0])), &entered));
    if (lc_convert_is_construct(s, node) &&
        lc_omp_makes_team(s->d->regions[s->d->nodes[node].region].name))
        return push(s, node, LC_FRAME_SILENT);
    lc_convert_enter(s, node, (uint32_t)entered + 2);
    return push(s, node, LC_FRAME_REGION);
}

static void end_region(struct lc_trace_conversion *s, uint64_t time) {
    size_t at_region = s->depth;
    while (at_region > 0 && s->stack[at_region - 1].kind != LC_FRAME_REGION &&
           s->stack[at_region - 1].kind != LC_FRAME_SILENT)
        at_region--;
    if (at_region == 0) {
        s->c->n_bad++;
        return;
    }
    while (s->depth > at_region)
        lc_convert_pop(s);
    lc_convert_samples(s);
    lc_convert_move_to(s, time);
    lc_convert_pop(s);
}

static void finish_call(struct lc_trace_conversion *s, uint64_t time) {
    lc_convert_move_to(s, time);
    lc_convert_completions(s);
    if (s->call_node != LC_NONE)
        lc_convert_leave(s, s->call_node);
    s->call_node = LC_NONE;
}

static void close_all(struct lc_trace_conversion *s, uint64_t time) {
    if (!s->started)
        return;
    lc_convert_samples(s);
    if (s->call_node !=
        LC_NONE) { /* cut off within a call: what it completed is not known to be complete */
        s->coll[0] = s->handle = s->rma_coll[0] = 0;
        finish_call(s, time);
    }
    while (s->depth > 1)
        lc_convert_pop(s);
    lc_convert_move_to(s, time);
    if (s->depth == 1)
        lc_convert_pop(s);
    if (s->thread_begun)
        lc_convert_note(s, OTF2_EvtWriter_ThreadEnd(s->w, NULL, s->now, s->c->thread_comm,
                                                    OTF2_UNDEFINED_UINT64));
    s->started = s->thread_begun = false;
}

static void timed(struct lc_trace_conversion *s, const uint64_t *words) {
    uint64_t time = lc_convert_time(s, lc_rec_payload(words[0]));
    lc_convert_move_to(s, time);
    switch (lc_rec_kind_of(words[0])) {
    case LC_REC_PHASE:
        lc_convert_note(s,
                        OTF2_EvtWriter_ParameterString(s->w, NULL, s->now, 0, (uint32_t)words[1]));
        break;
    case LC_REC_ON:
    case LC_REC_WINDOW:
        lc_convert_note(s,
                        OTF2_EvtWriter_MeasurementOnOff(s->w, NULL, s->now, OTF2_MEASUREMENT_ON));
        break;
    case LC_REC_OFF:
        lc_convert_note(s,
                        OTF2_EvtWriter_MeasurementOnOff(s->w, NULL, s->now, OTF2_MEASUREMENT_OFF));
        break;
    default: {
        uint64_t stop = lc_convert_time(s, lc_rec_payload(words[1]));
        lc_convert_note(s, OTF2_EvtWriter_BufferFlush(s->w, NULL, s->now, stop));
        s->now = stop;
    }
    }
}

static bool mapped(const struct lc_trace_defs *d, enum lc_union_type type, uint64_t number) {
    return number < d->n_maps[type] && d->maps[type][number] != LC_NONE;
}

/* Numbers in the record refer to something that is defined; they do unless the stream or the
 * definitions were damaged. */
static bool sound(const struct lc_trace_conversion *s, enum lc_rec_kind kind,
                  const uint64_t *words) {
    static const uint8_t refers[LC_REC_KINDS] = {
        /* 1 + enum lc_union_type */
        [LC_REC_SEND] = 1 + LC_UNION_COMM,        [LC_REC_ISEND] = 1 + LC_UNION_COMM,
        [LC_REC_RECV] = 1 + LC_UNION_COMM,        [LC_REC_IRECV] = 1 + LC_UNION_COMM,
        [LC_REC_COLL] = 1 + LC_UNION_COMM,        [LC_REC_ICOLL] = 1 + LC_UNION_COMM,
        [LC_REC_HANDLE] = 1 + LC_UNION_COMM,      [LC_REC_COMM_MADE] = 1 + LC_UNION_COMM,
        [LC_REC_COMM_FREED] = 1 + LC_UNION_COMM,  [LC_REC_WIN_MADE] = 1 + LC_UNION_WIN,
        [LC_REC_WIN_FREED] = 1 + LC_UNION_WIN,    [LC_REC_RMA_COLL] = 1 + LC_UNION_WIN,
        [LC_REC_RMA_PUT] = 1 + LC_UNION_WIN,      [LC_REC_RMA_GET] = 1 + LC_UNION_WIN,
        [LC_REC_RMA_ATOMIC] = 1 + LC_UNION_WIN,   [LC_REC_RMA_DONE] = 1 + LC_UNION_WIN,
        [LC_REC_RMA_LOCK] = 1 + LC_UNION_WIN,     [LC_REC_RMA_GROUP] = 1 + LC_UNION_WIN,
        [LC_REC_RMA_SYNC] = 1 + LC_UNION_WIN,     [LC_REC_PHASE] = 1 + LC_UNION_STRING,
        [LC_REC_IO_OPEN] = 1 + LC_UNION_HANDLE,   [LC_REC_IO_CLOSE] = 1 + LC_UNION_HANDLE,
        [LC_REC_IO_BEGIN] = 1 + LC_UNION_HANDLE,  [LC_REC_IO_ISSUED] = 1 + LC_UNION_HANDLE,
        [LC_REC_IO_TESTED] = 1 + LC_UNION_HANDLE, [LC_REC_IO_DONE] = 1 + LC_UNION_HANDLE,
        [LC_REC_IO_SEEK] = 1 + LC_UNION_HANDLE,   [LC_REC_IO_DELETE] = 1 + LC_UNION_FILE,
    };
    if (refers[kind] == 0)
        return true;
    if (kind == LC_REC_RMA_GROUP && !mapped(s->d, LC_UNION_GROUP, lc_rec_peer(words[0])))
        return false;
    uint64_t number = kind == LC_REC_PHASE ? words[1] : lc_rec_comm(words[0]);
    return mapped(s->d, (enum lc_union_type)(refers[kind] - 1), number);
}

/* Between two events: the frames that ended before it are known with the second of them. */
static enum lc_err keep_sample(struct lc_trace_conversion *s, const uint64_t *words) {
    uint32_t node = (uint32_t)words[1], generator = (uint32_t)(words[1] >> 32);
    if (node >= s->d->n_nodes || generator >= LC_REC_GENERATORS || s->call_node != LC_NONE) {
        s->c->n_bad++;
        return LC_OK;
    }
    LC_TRY(lc_grow(&s->samples, &s->cap_samples, s->n_samples + 1, sizeof(*s->samples)));
    s->samples[s->n_samples++] = (struct lc_open_sample){lc_rec_payload(words[0]), node, generator};
    return LC_OK;
}

static enum lc_err record(struct lc_trace_conversion *s, const uint64_t *words) {
    enum lc_rec_kind kind = lc_rec_kind_of(words[0]);
    if (!sound(s, kind, words)) {
        s->c->n_bad++;
        return LC_OK;
    }
    switch (kind) {
    case LC_REC_SAMPLE:
        return keep_sample(s, words);
    case LC_REC_CALL:
        return begin_call(s, words);
    case LC_REC_EXIT:
        finish_call(s, lc_convert_time(s, lc_rec_payload(words[0])));
        return LC_OK;
    case LC_REC_REGION_IN:
        return begin_region(s, words);
    case LC_REC_REGION_OUT:
        end_region(s, lc_convert_time(s, lc_rec_payload(words[0])));
        return LC_OK;
    case LC_REC_PHASE:
    case LC_REC_ON:
    case LC_REC_OFF:
    case LC_REC_FLUSH:
    case LC_REC_WINDOW:
        lc_convert_samples(s);
        if (kind == LC_REC_WINDOW)
            s->window = (uint32_t)words[1];
        if (s->started)
            timed(s, words);
        return LC_OK;
    case LC_REC_END:
        close_all(s, lc_convert_time(s, lc_rec_payload(words[0])));
        return LC_OK;
    default:
        if (kind >= LC_REC_OMP_WORKER)
            return lc_convert_omp(s, words);
        return s->call_node != LC_NONE ? lc_convert_mpi(s, words) : LC_OK;
    }
}

enum { STEP_WORDS = 1 << 18 };

/* Every few megabytes: what lies after need not stay in memory. */
static void step(const struct lc_convert *c, const struct lc_trace_segment *segment, size_t *from,
                 size_t to) {
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t begin = ((uintptr_t)(segment->words + *from) + page - 1) & ~(page - 1);
    uintptr_t end = (uintptr_t)(segment->words + to) & ~(page - 1);
    if (segment->file && end > begin)
        madvise((void *)begin, end - begin, MADV_DONTNEED);
    if (c->progress)
        c->progress(c->user, to - *from);
    *from = to;
}

enum lc_err lc_convert_run(struct lc_convert *c) {
    struct lc_trace_conversion s = {.c = c, .w = c->writer, .d = c->defs, .call_node = LC_NONE};
    enum lc_err err = lc_convert_find_dropped(&s);
    for (size_t i = 0; err == LC_OK && i < c->n_segments; i++) {
        const struct lc_trace_segment *segment = &c->segments[i];
        size_t k = 0, from = 0;
        while (err == LC_OK && k < segment->n_words) {
            unsigned n = lc_rec_words(lc_rec_kind_of(segment->words[k]));
            if (n == 0 ||
                n > segment->n_words - k) { /* cut off, or not a stream: the rest cannot be read */
                c->n_bad++;
                break;
            }
            err = record(&s, &segment->words[k]);
            k += n;
            if (k - from >= STEP_WORDS)
                step(c, segment, &from, k);
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
    free(s.samples);
    free(s.dropped);
    if (s.attributes != NULL)
        OTF2_AttributeList_Delete(s.attributes);
    return err;
}
