#include "analyze/instances.h"

#include <stdlib.h>

#include "analyze/health.h"
#include "analyze/realign.h"
#include "base/mem.h"

static uint32_t stream_of(const struct lc_coll_part *coll) {
    return coll->comm * LC_COLL_CLASSES + coll->klass;
}

static bool counts(const struct lc_coll_part *coll) {
    return (coll->flags & LC_COLL_KNOWN) && coll->comm != LC_NONE;
}

struct timed_part {
    int64_t begin;
    struct lc_instance_part part;
};

static int by_begin(const void *a, const void *b) {
    const struct timed_part *x = a, *y = b;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    if (x->part.loc != y->part.loc)
        return x->part.loc < y->part.loc ? -1 : 1;
    return x->part.coll < y->part.coll ? -1 : x->part.coll > y->part.coll;
}

/* Several threads of a process: their operations count in the order of time. */
static enum lc_err order_threads(const struct lc_trace *trace, struct lc_instance_part *parts,
                                 size_t count) {
    struct timed_part *timed;
    LC_TRY(lc_alloc(&timed, count, sizeof *timed));
    for (size_t i = 0; i < count; i++)
        timed[i] =
            (struct timed_part){trace->locs[parts[i].loc].colls[parts[i].coll].begin, parts[i]};
    qsort(timed, count, sizeof *timed, by_begin);
    for (size_t i = 0; i < count; i++)
        parts[i] = timed[i].part;
    free(timed);
    return LC_OK;
}

/* Streams that take no part: communicators of one process. */
static bool skipped(const struct lc_trace *trace, uint32_t stream) {
    const struct lc_an_comm *comm = &trace->comms[stream / LC_COLL_CLASSES];
    return comm->self || comm->n_members + comm->n_remote <= 1;
}

/* Sorts the parts of a process by stream (counting sort; `tally` has n_streams zeroed entries, and
 * has them again at the end). */
static enum lc_err build_process(struct lc_instances *in, struct lc_trace *trace,
                                 struct lc_process_runs *out, uint32_t first, uint32_t n_locs,
                                 size_t *tally) {
    size_t total = 0, active = 0, n_used = 0, cap_used = 0;
    uint32_t *used = NULL;
    enum lc_err err = LC_OK;
    for (uint32_t l = first; l < first + n_locs; l++) {
        size_t before = total;
        for (size_t i = 0; i < trace->locs[l].n_colls && err == LC_OK; i++) {
            const struct lc_coll_part *coll = &trace->locs[l].colls[i];
            if (!counts(coll))
                continue;
            if (!tally[stream_of(coll)]++) {
                err = lc_grow(&used, &cap_used, n_used + 1, sizeof *used);
                if (err == LC_OK)
                    used[n_used++] = stream_of(coll);
            }
            total++;
        }
        active += total > before;
    }
    if (err == LC_OK)
        err = lc_alloc(&out->parts, total, sizeof *out->parts);
    if (err == LC_OK)
        err = lc_alloc(&out->runs, n_used, sizeof *out->runs);
    if (err != LC_OK) {
        free(used);
        return err;
    }
    size_t at = 0;
    for (uint32_t s = 0, seen = 0; s < in->n_streams && seen < n_used; s++) {
        if (!tally[s])
            continue;
        out->runs[seen++] = (struct lc_part_run){.first = at, .count = tally[s], .stream = s};
        size_t n = tally[s];
        tally[s] = at;
        at += n;
    }
    for (uint32_t l = first; l < first + n_locs; l++)
        for (size_t i = 0; i < trace->locs[l].n_colls; i++) {
            const struct lc_coll_part *coll = &trace->locs[l].colls[i];
            if (counts(coll))
                out->parts[tally[stream_of(coll)]++] = (struct lc_instance_part){l, (uint32_t)i};
        }
    for (size_t i = 0; i < n_used; i++)
        tally[used[i]] = 0;
    free(used);
    size_t kept = 0;
    for (size_t r = 0; r < (n_used ? n_used : 0) && err == LC_OK; r++) {
        struct lc_part_run run = out->runs[r];
        const struct lc_an_comm *comm = &trace->comms[run.stream / LC_COLL_CLASSES];
        if (skipped(trace, run.stream))
            continue;
        run.rank = lc_transport_rank(comm, trace->locs[first].process);
        if (run.rank == LC_NONE) {
            lc_health_add(trace->health, LC_HEALTH_UNKNOWN_COMM, trace->locs[first].id,
                          (int64_t)run.count);
            continue;
        }
        if (active > 1)
            err = order_threads(trace, out->parts + run.first, run.count);
        out->runs[kept++] = run;
    }
    out->n_runs = kept;
    return err;
}

/* Where only windows were traced, operations between them are numbers that nobody has. */
static enum lc_err take_numbers(struct lc_instances *in, const struct lc_trace *trace) {
    for (size_t p = 0; p < in->n_processes; p++)
        for (size_t r = 0; r < in->processes[p].n_runs; r++) {
            struct lc_part_run *run = &in->processes[p].runs[r];
            if (run->count == 0 || !lc_instances_are_numbered(trace, run->stream))
                continue;
            LC_TRY(lc_alloc(&run->slots, run->count, sizeof *run->slots));
            uint64_t next = 0;
            for (size_t i = 0; i < run->count; i++) {
                const struct lc_instance_part *part = &in->processes[p].parts[run->first + i];
                uint64_t number = i + (uint64_t)lc_left_out_before(
                                          &trace->locs[part->loc].colls_left_out, part->coll);
                number = number > next ? number : next; /* ascending, whatever the trace says */
                if (number >= UINT32_MAX)
                    return lc_fail(LC_ERR_RANGE, "collectives: more than 4294967294 of one "
                                                 "communicator: analyse a shorter run");
                run->slots[i] = (uint32_t)number;
                next = number + 1;
            }
        }
    return LC_OK;
}

static enum lc_err number_streams(struct lc_instances *in, const struct lc_trace *trace) {
    int64_t *lengths;
    LC_TRY(lc_transport_agree(trace->comm, lc_alloc(&lengths, in->n_streams, sizeof *lengths)));
    for (size_t p = 0; p < in->n_processes; p++)
        for (size_t r = 0; r < in->processes[p].n_runs; r++) {
            const struct lc_part_run *run = &in->processes[p].runs[r];
            int64_t length =
                (int64_t)(run->slots ? run->slots[run->count - 1] + (size_t)1 : run->count);
            if (length > lengths[run->stream])
                lengths[run->stream] = length;
        }
    lc_transport_allreduce_i64(trace->comm, lengths, in->n_streams, LC_OP_MAX);
    for (size_t s = 0; s < in->n_streams; s++)
        in->base[s + 1] = in->base[s] + (uint64_t)lengths[s];
    free(lengths);
    for (size_t p = 0; p < in->n_processes; p++)
        for (size_t r = 0; r < in->processes[p].n_runs; r++)
            in->processes[p].runs[r].first_instance = in->base[in->processes[p].runs[r].stream];
    return LC_OK;
}

static enum lc_err build_all(struct lc_instances *in, struct lc_trace *trace) {
    size_t *tally = NULL;
    LC_TRY(lc_alloc(&in->base, in->n_streams + 1, sizeof *in->base));
    LC_TRY(lc_alloc(&in->expected, trace->n_comms + 1, sizeof *in->expected));
    LC_TRY(lc_alloc(&in->processes, trace->n_locs + 1, sizeof *in->processes));
    LC_TRY(lc_alloc(&tally, in->n_streams + 1, sizeof *tally));
    for (size_t c = 0; c < trace->n_comms; c++) {
        const struct lc_an_comm *comm = &trace->comms[c];
        for (uint32_t r = 0; r < comm->n_members && comm->members; r++)
            in->expected[c] += comm->members[r] != LC_NONE;
        for (uint32_t r = 0; r < comm->n_remote; r++)
            in->expected[c] += comm->remote[r] != LC_NONE;
    }
    enum lc_err err = LC_OK;
    for (size_t l = 0; l < trace->n_locs && err == LC_OK;) {
        uint32_t n = trace->processes[trace->locs[l].process].n_locations;
        err = build_process(in, trace, &in->processes[in->n_processes++], (uint32_t)l, n, tally);
        l += n;
    }
    free(tally);
    return err;
}

enum lc_err lc_instances_build(struct lc_instances *in, struct lc_trace *trace) {
    *in = (struct lc_instances){.n_streams = trace->n_comms * LC_COLL_CLASSES};
    enum lc_err err = lc_transport_agree(trace->comm, build_all(in, trace));
    if (err == LC_OK)
        err = lc_realign(in, trace);
    if (err == LC_OK)
        err = lc_transport_agree(trace->comm, take_numbers(in, trace));
    if (err == LC_OK)
        err = number_streams(in, trace);
    if (err != LC_OK)
        lc_instances_free(in);
    return err;
}

void lc_instances_free(struct lc_instances *in) {
    for (size_t p = 0; in->processes && p < in->n_processes; p++) {
        for (size_t r = 0; in->processes[p].runs && r < in->processes[p].n_runs; r++)
            free(in->processes[p].runs[r].slots);
        free(in->processes[p].parts);
        free(in->processes[p].runs);
    }
    free(in->processes);
    free(in->base);
    free(in->expected);
    *in = (struct lc_instances){0};
}
