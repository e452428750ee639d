#include "analyze/realign.h"

#include <stdlib.h>

#include "analyze/align.h"
#include "analyze/health.h"
#include "base/hash.h"
#include "base/mem.h"

struct record { /* on its way to the home of its stream */
    struct lc_align_record what;
    uint32_t stream, process, position, reserved;
};

struct slot { /* on its way back */
    uint32_t stream, process, position, slot;
};

struct sequence { /* of one member, at home */
    size_t first, count;
    uint32_t *partner;
};

static struct lc_align_record describe(const struct lc_trace *trace,
                                       const struct lc_instance_part *part) {
    const struct lc_coll_part *coll = &trace->locs[part->loc].colls[part->coll];
    bool rooted = (coll->kind == LC_KIND_12N || coll->kind == LC_KIND_N21) &&
                  !trace->comms[coll->comm].n_remote; /* there not all know the root */
    return (struct lc_align_record){coll->end, coll->op, rooted ? coll->root : LC_NONE};
}

static int64_t hash_run(const struct lc_trace *trace, const struct lc_process_runs *p,
                        const struct lc_part_run *run) {
    uint64_t hash = run->count;
    for (size_t i = 0; i < run->count; i++) {
        struct lc_align_record record = describe(trace, &p->parts[run->first + i]);
        hash = lc_hash_key(hash ^ record.op ^ (uint64_t)record.root << 8);
        hash ^= hash >> 29;
    }
    return (int64_t)hash;
}

/* differ[stream]: its members have not all the same sequence of operations. */
static enum lc_err find_streams(const struct lc_instances *in, const struct lc_trace *trace,
                                bool *differ, bool *any) {
    size_t n = in->n_streams;
    int64_t *limits;
    LC_TRY(lc_transport_agree(trace->comm, lc_alloc(&limits, 2 * n + 1, sizeof *limits)));
    for (size_t s = 0; s < 2 * n; s++)
        limits[s] = INT64_MIN;
    for (size_t p = 0; p < in->n_processes; p++)
        for (size_t r = 0; r < in->processes[p].n_runs; r++) {
            const struct lc_part_run *run = &in->processes[p].runs[r];
            if (lc_instances_are_numbered(trace, run->stream))
                continue;
            int64_t hash = hash_run(trace, &in->processes[p], run), *limit = &limits[run->stream];
            hash = hash == INT64_MIN ? 0 : hash;
            limit[0] = hash > limit[0] ? hash : limit[0];
            limit[n] = ~hash > limit[n] ? ~hash : limit[n];
        }
    lc_transport_allreduce_i64(trace->comm, limits, 2 * n, LC_OP_MAX);
    for (size_t s = 0; s < n; s++) {
        differ[s] = limits[s] != INT64_MIN && limits[s] != ~limits[n + s];
        *any |= differ[s];
    }
    free(limits);
    return LC_OK;
}

static enum lc_err pack(const struct lc_instances *in, const struct lc_trace *trace,
                        const bool *differ, struct record **records, uint32_t **dest, size_t *n) {
    size_t count = 0;
    for (size_t p = 0; p < in->n_processes; p++)
        for (size_t r = 0; r < in->processes[p].n_runs; r++)
            if (differ[in->processes[p].runs[r].stream])
                count += in->processes[p].runs[r].count;
    LC_TRY(lc_alloc(records, count, sizeof **records));
    LC_TRY(lc_alloc(dest, count, sizeof **dest));
    for (size_t p = 0; p < in->n_processes; p++)
        for (size_t r = 0; r < in->processes[p].n_runs; r++) {
            const struct lc_part_run *run = &in->processes[p].runs[r];
            for (size_t i = 0; i < run->count && differ[run->stream]; i++) {
                const struct lc_instance_part *part = &in->processes[p].parts[run->first + i];
                (*dest)[*n] = run->stream % trace->comm->size;
                (*records)[(*n)++] =
                    (struct record){describe(trace, part), run->stream,
                                    trace->locs[part->loc].process, (uint32_t)i, 0};
            }
        }
    return LC_OK;
}

static int by_sequence(const void *a, const void *b) {
    const struct record *x = a, *y = b;
    if (x->stream != y->stream)
        return x->stream < y->stream ? -1 : 1;
    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    return x->position < y->position ? -1 : x->position > y->position;
}

/* Slots of one stream: the places of the reference, with room before each for the records that
 * only other members have. extra[j]: how many before place j; summed up in the end. */
static void number_slots(const struct sequence *sequences, size_t n, uint32_t *extra,
                         size_t n_reference) {
    for (size_t s = 0; s < n; s++) {
        uint32_t place = 0, more = 0;
        for (size_t i = 0; i < sequences[s].count; i++) {
            if (sequences[s].partner[i] != LC_NONE) {
                place = sequences[s].partner[i] + 1;
                more = 0;
            } else if (++more > extra[place]) {
                extra[place] = more;
            }
        }
    }
    for (size_t j = 1; j <= n_reference; j++)
        extra[j] += extra[j - 1];
}

static void answer_slots(const struct lc_trace *trace, const struct record *in,
                         const struct sequence *s, const uint32_t *extra, struct slot *out,
                         uint32_t *dest) {
    uint32_t place = 0, more = 0;
    for (size_t i = 0; i < s->count; i++) {
        const struct record *record = &in[s->first + i];
        uint32_t slot;
        if (s->partner[i] != LC_NONE) {
            slot = s->partner[i] + extra[s->partner[i]];
            place = s->partner[i] + 1;
            more = 0;
        } else {
            slot = place + (place ? extra[place - 1] : 0) + more++;
        }
        out[i] = (struct slot){record->stream, record->process, record->position, slot};
        dest[i] = trace->processes[record->process].owner;
    }
}

/* One stream at home: records [0, n) of all its members. */
static enum lc_err align_stream(const struct lc_trace *trace, const struct record *in, size_t n,
                                struct slot *out, uint32_t *dest) {
    struct sequence *sequences = NULL;
    struct lc_align_record *what = NULL;
    uint32_t *partner = NULL, *extra = NULL;
    size_t n_sequences = 0, capacity = 0;
    enum lc_err err = lc_alloc(&what, n, sizeof *what);
    if (err == LC_OK)
        err = lc_alloc(&partner, n, sizeof *partner);
    const struct sequence *reference = NULL;
    for (size_t i = 0; i < n && err == LC_OK; i++) {
        what[i] = in[i].what;
        if (i == 0 || in[i].process != in[i - 1].process) {
            err = lc_grow(&sequences, &capacity, n_sequences + 1, sizeof *sequences);
            if (err == LC_OK)
                sequences[n_sequences++] = (struct sequence){i, 0, partner + i};
        }
        if (err == LC_OK)
            sequences[n_sequences - 1].count++;
    }
    for (size_t s = 0; s < n_sequences; s++)
        if (!reference || sequences[s].count > reference->count)
            reference = &sequences[s];
    if (err == LC_OK)
        err = lc_alloc(&extra, reference->count + 1, sizeof *extra);
    for (size_t s = 0; s < n_sequences && err == LC_OK; s++)
        if (&sequences[s] == reference ||
            !lc_align(what + reference->first, reference->count, what + sequences[s].first,
                      sequences[s].count, sequences[s].partner))
            for (size_t i = 0; i < sequences[s].count; i++)
                sequences[s].partner[i] = (uint32_t)i;
    if (err == LC_OK) {
        number_slots(sequences, n_sequences, extra, reference->count);
        for (size_t s = 0; s < n_sequences; s++)
            answer_slots(trace, in, &sequences[s], extra, out + sequences[s].first,
                         dest + sequences[s].first);
    }
    free(sequences);
    free(what);
    free(partner);
    free(extra);
    return err;
}

static enum lc_err align_all(const struct lc_trace *trace, struct record *in, size_t n,
                             struct slot **out, uint32_t **dest) {
    LC_TRY(lc_alloc(out, n, sizeof **out));
    LC_TRY(lc_alloc(dest, n, sizeof **dest));
    if (n)
        qsort(in, n, sizeof *in, by_sequence);
    for (size_t i = 0; i < n;) {
        size_t end = i;
        while (end < n && in[end].stream == in[i].stream)
            end++;
        LC_TRY(align_stream(trace, in + i, end - i, *out + i, *dest + i));
        i = end;
    }
    return LC_OK;
}

static int by_place(const void *a, const void *b) {
    const struct slot *x = a, *y = b;
    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    if (x->stream != y->stream)
        return x->stream < y->stream ? -1 : 1;
    return x->position < y->position ? -1 : x->position > y->position;
}

/* The slots of a run that are not its positions are kept with it. slots[]: sorted by place. */
static enum lc_err take_slots(struct lc_instances *in, struct lc_trace *trace,
                              const struct slot *slots, size_t n) {
    size_t at = 0;
    for (size_t p = 0; p < in->n_processes; p++)
        for (size_t r = 0; r < in->processes[p].n_runs && at < n; r++) {
            struct lc_part_run *run = &in->processes[p].runs[r];
            const struct lc_loc *loc = &trace->locs[in->processes[p].parts[run->first].loc];
            if (slots[at].process != loc->process || slots[at].stream != run->stream)
                continue;
            bool moved = false;
            for (size_t i = 0; i < run->count; i++)
                moved |= slots[at + i].slot != i;
            if (moved) {
                LC_TRY(lc_alloc(&run->slots, run->count, sizeof *run->slots));
                for (size_t i = 0; i < run->count; i++)
                    run->slots[i] = slots[at + i].slot;
                lc_health_note(trace->health, LC_HEALTH_COLL_REALIGNED, loc->id);
            }
            at += run->count;
        }
    return LC_OK;
}

enum lc_err lc_realign(struct lc_instances *in, struct lc_trace *trace) {
    const struct lc_transport *comm = trace->comm;
    bool *differ = NULL, any = false;
    struct record *records = NULL, *arrived = NULL;
    struct slot *answers = NULL, *slots = NULL;
    uint32_t *dest = NULL, *back = NULL;
    size_t n = 0, n_arrived = 0, n_slots = 0;
    enum lc_err err =
        lc_transport_agree(comm, lc_alloc(&differ, in->n_streams + 1, sizeof *differ));
    if (err == LC_OK)
        err = find_streams(in, trace, differ, &any);
    if (err == LC_OK && any) {
        err = lc_transport_agree(comm, pack(in, trace, differ, &records, &dest, &n));
        if (err == LC_OK)
            err = lc_transport_exchange(comm, records, dest, n, sizeof *records, (void **)&arrived,
                                        &n_arrived);
        if (err == LC_OK)
            err = lc_transport_agree(comm, align_all(trace, arrived, n_arrived, &answers, &back));
        if (err == LC_OK)
            err = lc_transport_exchange(comm, answers, back, n_arrived, sizeof *slots,
                                        (void **)&slots, &n_slots);
        if (err == LC_OK && n_slots)
            qsort(slots, n_slots, sizeof *slots, by_place);
        if (err == LC_OK)
            err = lc_transport_agree(comm, take_slots(in, trace, slots, n_slots));
    }
    free(differ);
    free(records);
    free(dest);
    free(arrived);
    free(answers);
    free(back);
    free(slots);
    return err;
}
