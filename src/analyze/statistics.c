#include "analyze/statistics.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/delay.h"
#include "analyze/place.h"
#include "analyze/select.h"
#include "analyze/timeline.h"
#include "analyze/waits.h"
#include "base/json_text.h"
#include "base/mem.h"

struct severe { /* an instance, comparable without its rank's data */
    int64_t ticks, start, release;
    uint32_t location, cnode, cause, cause_cnode;
    struct lc_wait_parts parts;
};

static int by_severity(const void *a, const void *b) {
    const struct severe *x = a, *y = b;
    if (x->ticks != y->ticks)
        return x->ticks > y->ticks ? -1 : 1;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return x->location < y->location ? -1 : x->location > y->location;
}

/* Call path as a JSON string ("main/f/MPI_Recv", "/" in names as %2F); "" for LC_NONE. */
static void put_callpath(struct lc_strbuf *json, const struct lc_trace *trace, uint32_t cnode) {
    struct lc_strbuf path = {0};
    if (cnode != LC_NONE)
        lc_place_callpath(&path, trace, cnode);
    lc_json_put(json, lc_strbuf_get(&path));
    json->failed = json->failed || !lc_strbuf_ok(&path);
    lc_strbuf_free(&path);
}

static void put_place(struct lc_strbuf *json, const struct lc_trace *trace, const char *prefix,
                      uint32_t location, uint32_t cnode) {
    const struct lc_an_location *l = &trace->locations[location];
    lc_strbuf_printf(json, "\"%srank\":%d,\"%sthread\":%d", prefix,
                     trace->processes[l->process].rank, prefix, l->thread);
    if (cnode == LC_NONE)
        return;
    lc_strbuf_printf(json, ",\"%scallpath\":", prefix);
    put_callpath(json, trace, cnode);
}

static double seconds(const struct lc_trace *trace, int64_t ticks) {
    return (double)ticks / (double)trace->ticks_per_second;
}

/* The waiting that the code of the cause is to blame for, and its own waiting, in both models. */
static void put_parts(struct lc_strbuf *json, const struct lc_trace *trace,
                      const struct severe *instance) {
    static const char *const suffixes[LC_MODELS] = {"", "_waitfirst"};
    for (int model = 0; model < LC_MODELS; model++) {
        double to_code, to_wait;
        lc_delay_shares((enum lc_delay_model)model, instance->ticks, instance->parts.code,
                        instance->parts.waits, &to_code, &to_wait);
        lc_strbuf_printf(json, ",\"direct_s%s\":%.17g,\"indirect_s%s\":%.17g", suffixes[model],
                         to_code * seconds(trace, instance->ticks), suffixes[model],
                         to_wait * seconds(trace, instance->ticks));
    }
}

static void put_severest(struct lc_strbuf *json, const struct lc_trace *trace,
                         const struct severe *all, size_t n) {
    lc_strbuf_puts(json, ",\"severest\":[");
    for (size_t i = 0; i < n && i < LC_SEVEREST; i++) {
        lc_strbuf_printf(json, "%s{\"waiting_s\":%.17g,\"start_s\":%.17g,", i ? "," : "",
                         seconds(trace, all[i].ticks), seconds(trace, all[i].start - trace->t0));
        put_place(json, trace, "", all[i].location, all[i].cnode);
        if (all[i].cause != LC_NONE) {
            lc_strbuf_printf(json, ",\"release_s\":%.17g,",
                             seconds(trace, all[i].release - trace->t0));
            put_place(json, trace, "cause_", all[i].cause, all[i].cause_cnode);
            put_parts(json, trace, &all[i]);
        }
        lc_strbuf_putc(json, '}');
    }
    lc_strbuf_puts(json, "]}");
}

struct sample { /* the wait states of one kind on this rank */
    int64_t *ticks;
    size_t count, cap;
    struct severe worst[LC_SEVEREST + 1];
    size_t n_worst;
    int64_t sum;
};

static void note_severe(struct sample *s, const struct severe *instance) {
    if (s->n_worst == LC_SEVEREST && by_severity(instance, &s->worst[LC_SEVEREST - 1]) >= 0)
        return;
    size_t i = s->n_worst < LC_SEVEREST ? s->n_worst++ : LC_SEVEREST - 1;
    for (; i && by_severity(instance, &s->worst[i - 1]) < 0; i--)
        s->worst[i] = s->worst[i - 1];
    s->worst[i] = *instance;
}

static enum lc_err take_sample(const struct lc_trace *trace, struct sample samples[LC_WAIT_KINDS]) {
    for (size_t i = 0; i < trace->n_locs; i++)
        for (size_t k = 0; k < trace->locs[i].n_waits; k++) {
            const struct lc_wait *w = &trace->locs[i].waits[k];
            if (!(w->flags & LC_WAIT_STATE) || !lc_wait_metric(w->kind))
                continue;
            struct sample *s = &samples[w->kind];
            struct severe instance = {
                lc_wait_ticks(w), w->start, w->release,     trace->locs[i].id,
                w->cnode,         w->cause, w->cause_cnode, trace->locs[i].parts[k]};
            LC_TRY(lc_grow(&s->ticks, &s->cap, s->count + 1, sizeof *s->ticks));
            s->ticks[s->count++] = instance.ticks;
            s->sum += instance.ticks;
            note_severe(s, &instance);
        }
    return LC_OK;
}

/* Quantile of type 7 of Hyndman and Fan from its two neighbours: position q (n - 1). */
static double quantile(const struct lc_trace *trace, int64_t n, int quarters, int64_t low,
                       int64_t high) {
    double fraction = (double)(quarters * (n - 1) % 4) / 4;
    return ((double)low + fraction * (double)(high - low)) / (double)trace->ticks_per_second;
}

static enum lc_err put_kind(struct lc_trace *trace, struct lc_strbuf *json, int kind,
                            const struct sample *s, const int64_t *sums) {
    const struct lc_transport *comm = trace->comm;
    int64_t n = sums[0], at[8], found[8]; /* sums: number and sum on all ranks */
    if (!n)
        return LC_OK;
    at[0] = 0;
    at[1] = n - 1;
    for (int q = 1; q <= 3; q++) {
        at[2 * q] = q * (n - 1) / 4;
        at[2 * q + 1] = at[2 * q] + 1 < n ? at[2 * q] + 1 : n - 1;
    }
    LC_TRY(lc_select_i64(comm, s->ticks, s->count, at, 8, found));
    struct severe *all = NULL;
    size_t bytes = 0;
    LC_TRY(
        lc_transport_gather(comm, s->worst, s->n_worst * sizeof *all, (void **)&all, &bytes, NULL));
    if (comm->rank == 0) {
        size_t n_all = bytes / sizeof *all;
        qsort(all, n_all, sizeof *all, by_severity);
        lc_strbuf_printf(json,
                         "%s\"%s\":{\"count\":%lld,\"sum_s\":%.17g,\"mean_s\":%.17g,\"min_s\":"
                         "%.17g,\"q1_s\":%.17g,\"median_s\":%.17g,\"q3_s\":%.17g,\"max_s\":%.17g",
                         json->length > 1 ? ",\n" : "", lc_wait_metric((enum lc_wait_kind)kind),
                         (long long)n, seconds(trace, sums[1]), seconds(trace, sums[1]) / (double)n,
                         seconds(trace, found[0]), quantile(trace, n, 1, found[2], found[3]),
                         quantile(trace, n, 2, found[4], found[5]),
                         quantile(trace, n, 3, found[6], found[7]), seconds(trace, found[1]));
        put_severest(json, trace, all, n_all);
    }
    free(all);
    return LC_OK;
}

enum lc_err lc_statistics_make(struct lc_trace *trace, struct lc_statistics *statistics) {
    struct sample *samples;
    LC_TRY(lc_transport_agree(trace->comm, lc_alloc(&samples, LC_WAIT_KINDS, sizeof *samples)));
    enum lc_err err = lc_transport_agree(trace->comm, take_sample(trace, samples));
    int64_t sums[LC_WAIT_KINDS][2] = {{0}};
    for (int k = 0; k < LC_WAIT_KINDS && err == LC_OK; k++) {
        sums[k][0] = (int64_t)samples[k].count;
        sums[k][1] = samples[k].sum;
    }
    lc_transport_allreduce_i64(trace->comm, sums[0], 2 * LC_WAIT_KINDS, LC_OP_SUM);
    lc_strbuf_putc(&statistics->json, '{');
    for (int k = 0; k < LC_WAIT_KINDS && err == LC_OK; k++)
        if (lc_wait_metric((enum lc_wait_kind)k))
            err = put_kind(trace, &statistics->json, k, &samples[k], sums[k]);
    lc_strbuf_puts(&statistics->json, "}\n");
    for (int k = 0; k < LC_WAIT_KINDS; k++)
        free(samples[k].ticks);
    free(samples);
    if (err == LC_OK)
        err = lc_timeline_make(trace, &statistics->timeline);
    if (err == LC_OK)
        err = lc_phases_make(trace, &statistics->phases);
    return err;
}

void lc_statistics_free(struct lc_statistics *statistics) {
    lc_strbuf_free(&statistics->json);
    lc_strbuf_free(&statistics->timeline);
    lc_strbuf_free(&statistics->phases);
}
