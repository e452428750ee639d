#include "analyze/timeline.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/events.h"
#include "analyze/waits.h"
#include "base/json_text.h"
#include "base/lookup.h"
#include "base/mem.h"
#include "model/model.h"

enum { BINS = 1000 }; /* of equal width */

struct bins {
    int64_t edge[BINS + 1];
    int64_t part[LC_WAIT_KINDS][BINS]; /* waiting that covers a part of the bin */
    int64_t whole[LC_WAIT_KINDS]
                 [BINS + 1]; /* difference array of the number of waits that cover all of it */
};

static size_t bin_of(const struct bins *b, int64_t t) {
    return LC_FIRST_WHERE(i, 1, BINS, b->edge[i] > t) - 1;
}

static void add_wait(struct bins *b, int kind, int64_t begin, int64_t end) {
    size_t first = bin_of(b, begin), last = bin_of(b, end);
    if (first == last) {
        b->part[kind][first] += end - begin;
        return;
    }
    b->part[kind][first] += b->edge[first + 1] - begin;
    b->part[kind][last] += end - b->edge[last];
    b->whole[kind][first + 1]++;
    b->whole[kind][last]--;
}

static double seconds(const struct lc_trace *trace, int64_t ticks) {
    return (double)ticks / (double)trace->ticks_per_second;
}

enum lc_err lc_timeline_make(struct lc_trace *trace, struct lc_strbuf *json) {
    struct bins *b;
    LC_TRY(lc_transport_agree(trace->comm, lc_alloc(&b, 1, sizeof *b)));
    int64_t length = trace->t1 - trace->t0;
    for (int i = 0; i <= BINS; i++) /* t0 + floor(i length / BINS) without overflow */
        b->edge[i] = trace->t0 + length / BINS * i + length % BINS * i / BINS;
    for (size_t l = 0; l < trace->n_locs; l++)
        for (size_t i = 0; i < trace->locs[l].n_waits; i++) {
            const struct lc_wait *w = &trace->locs[l].waits[i];
            if ((w->flags & LC_WAIT_STATE) && lc_wait_metric(w->kind))
                add_wait(b, w->kind, w->start, w->release < w->end ? w->release : w->end);
        }
    lc_transport_allreduce_i64(trace->comm, b->part[0], LC_WAIT_KINDS * BINS, LC_OP_SUM);
    lc_transport_allreduce_i64(trace->comm, b->whole[0], LC_WAIT_KINDS * (BINS + 1), LC_OP_SUM);
    lc_strbuf_printf(json, "{\"bins\":%d,\"begin_s\":0,\"end_s\":%.17g,\"metrics\":{", BINS,
                     seconds(trace, length));
    const char *separator = "";
    for (int k = 0; k < LC_WAIT_KINDS; k++) {
        int64_t count = 0, any = 0;
        for (int i = 0; i < BINS; i++)
            any |= b->part[k][i];
        if (!any)
            continue;
        lc_strbuf_printf(json, "%s\n\"%s\":[", separator, lc_wait_metric((enum lc_wait_kind)k));
        separator = ",";
        for (int i = 0; i < BINS; i++) {
            count += b->whole[k][i];
            int64_t ticks = b->part[k][i] + count * (b->edge[i + 1] - b->edge[i]);
            lc_strbuf_printf(json, i ? ",%.9g" : "%.9g", seconds(trace, ticks));
        }
        lc_strbuf_putc(json, ']');
    }
    lc_strbuf_puts(json, "}}\n");
    free(b);
    return LC_OK;
}

enum { MAX_PHASES = 100000 };

struct phase_sums {                  /* arrays over phases */
    int64_t (*life)[2];              /* begin, negated so that both are reduced with MAX; end */
    int64_t (*ticks)[LC_WAIT_KINDS]; /* waiting */
};

static void add_phases(const struct lc_loc *loc, const int64_t *first, struct phase_sums *sums) {
    for (size_t i = 0; i < loc->extra->n_phases; i++) {
        const struct lc_phase *p = &loc->extra->phases[i];
        int64_t end = p->end == INT64_MAX ? loc->time[loc->n_transitions - 1] : p->end;
        int64_t index = first[p->region] + p->number;
        if (index >= first[p->region + 1])
            continue;
        int64_t *life = sums->life[index];
        life[0] = -p->begin > life[0] ? -p->begin : life[0];
        life[1] = end > life[1] ? end : life[1];
        size_t w = LC_FIRST_WHERE(k, 0, loc->n_waits, loc->waits[k].start >= p->begin);
        for (; w < loc->n_waits && loc->waits[w].start < end; w++)
            if (loc->waits[w].flags & LC_WAIT_STATE)
                sums->ticks[index][loc->waits[w].kind] += lc_wait_ticks(&loc->waits[w]);
    }
}

static void put_phases(struct lc_strbuf *json, const struct lc_trace *trace, const int64_t *first,
                       const struct phase_sums *sums) {
    lc_strbuf_putc(json, '{');
    const char *separator = "";
    for (size_t r = 0; r < trace->n_regions; r++) {
        if (first[r] == first[r + 1])
            continue;
        struct lc_strbuf name = {0};
        lc_callpath_add(&name, trace->regions[r].name);
        lc_strbuf_printf(json, "%s\n", separator);
        separator = ",";
        lc_json_put(json, lc_strbuf_get(&name));
        lc_strbuf_free(&name);
        lc_strbuf_puts(json, ":[");
        for (int64_t i = first[r]; i < first[r + 1]; i++) {
            const int64_t *life = sums->life[i], *ticks = sums->ticks[i];
            lc_strbuf_printf(json, "%s{\"begin_s\":%.17g,\"end_s\":%.17g,\"waits\":{",
                             i > first[r] ? ",\n" : "", seconds(trace, -life[0] - trace->t0),
                             seconds(trace, life[1] - trace->t0));
            const char *comma = "";
            for (int k = 0; k < LC_WAIT_KINDS; k++) {
                if (!ticks[k] || !lc_wait_metric((enum lc_wait_kind)k))
                    continue;
                lc_strbuf_printf(json, "%s\"%s\":%.17g", comma,
                                 lc_wait_metric((enum lc_wait_kind)k), seconds(trace, ticks[k]));
                comma = ",";
            }
            lc_strbuf_puts(json, "}}");
        }
        lc_strbuf_putc(json, ']');
    }
    lc_strbuf_puts(json, "}\n");
}

enum lc_err lc_phases_make(struct lc_trace *trace, struct lc_strbuf *json) {
    int64_t *first;
    LC_TRY(lc_transport_agree(trace->comm, lc_alloc(&first, trace->n_regions + 1, sizeof *first)));
    for (size_t l = 0; l < trace->n_locs; l++) {
        const struct lc_loc_extra *extra = trace->locs[l].extra;
        for (size_t i = 0; extra && i < extra->n_phases; i++) {
            const struct lc_phase *p = &extra->phases[i];
            if ((int64_t)p->number + 1 > first[p->region + 1])
                first[p->region + 1] = (int64_t)p->number + 1;
        }
    }
    lc_transport_allreduce_i64(trace->comm, first, trace->n_regions + 1, LC_OP_MAX);
    for (size_t r = 0; r < trace->n_regions; r++) {
        first[r + 1] += first[r];
        if (first[r + 1] > MAX_PHASES)
            first[r + 1] = first[r];
    }
    size_t n = (size_t)first[trace->n_regions];
    struct phase_sums sums = {NULL, NULL};
    enum lc_err err = lc_alloc(&sums.life, n, sizeof *sums.life);
    if (err == LC_OK)
        err = lc_alloc(&sums.ticks, n, sizeof *sums.ticks);
    err = lc_transport_agree(trace->comm, err);
    for (size_t i = 0; i < n && err == LC_OK; i++)
        sums.life[i][0] = sums.life[i][1] = INT64_MIN;
    for (size_t l = 0; l < trace->n_locs && err == LC_OK; l++)
        if (trace->locs[l].extra)
            add_phases(&trace->locs[l], first, &sums);
    if (err == LC_OK) {
        if (n) {
            lc_transport_allreduce_i64(trace->comm, sums.life[0], 2 * n, LC_OP_MAX);
            lc_transport_allreduce_i64(trace->comm, sums.ticks[0], n * LC_WAIT_KINDS, LC_OP_SUM);
        }
        put_phases(json, trace, first, &sums);
    }
    free(sums.life);
    free(sums.ticks);
    free(first);
    return err;
}
