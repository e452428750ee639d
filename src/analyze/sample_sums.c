#include "analyze/sample_sums.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/place.h"
#include "base/mem.h"
#include "base/stats.h"
#include "base/table_text.h"
#include "format/raw.h"

static const struct lc_an_region *region_at(const struct lc_trace *trace, uint32_t cnode) {
    return &trace->regions[trace->cnodes[cnode].region];
}

/* Measured by the kernel, not divided by samples. */
static bool is_off(const struct lc_trace *trace, uint32_t cnode) {
    const struct lc_an_region *region = region_at(trace, cnode);
    for (uint64_t what = LC_RAW_OFF_CPU; region->sampled && what <= LC_RAW_FILE_SYSTEM; what++)
        if (lc_raw_is_off_cpu(what) && strcmp(region->name, lc_raw_sampled_name(what)) == 0)
            return true;
    return false;
}

static double seconds(const struct lc_trace *trace, double ticks) {
    return ticks / (double)trace->ticks_per_second;
}

/* How many draws of equal weight have divided so much time of an exact call path: as many samples
 * of equal weight as tell as much as those that are there stand for all of it. */
static double draws(const struct lc_sample_sums *sums, uint32_t exact, double ticks) {
    double ns = sums->ns[exact], squares = sums->squares[exact];
    double part = seconds(sums->lines->trace, ticks) * 1e9 / ns;
    return ns > 0 && squares > 0 ? ns * ns / squares * fmin(part, 1) : 0;
}

/* On and off: what the samples of a location stand for, per exact call path. */
static void set_samples(struct lc_sample_sums *sums, const struct lc_loc *loc, bool on) {
    for (size_t i = 0; i < loc->n_samples; i++) {
        uint32_t exact = sums->lines->trace->cnodes[loc->samples[i].cnode].exact;
        sums->ns[exact] = on ? sums->ns[exact] + (double)loc->samples[i].ns : 0;
        sums->squares[exact] =
            on ? sums->squares[exact] + (double)loc->samples[i].squares_us2 * 1e6 : 0;
    }
}

/* Adds values (ticks) of one location, one per call path of its timeline; divided[]: per exact one
 * the time by whose samples the value is cut, NULL: that is the value itself. */
static void add_values(struct lc_sample_sums *sums, const struct lc_timeline *line,
                       enum lc_sample_sum which, const double *values, const double *divided) {
    const struct lc_trace *trace = sums->lines->trace;
    set_samples(sums, line->loc, true);
    for (uint32_t k = 0; k < line->n_cnodes; k++)
        if (!is_off(trace, line->cnodes[k]))
            sums->whole[trace->cnodes[line->cnodes[k]].exact] += values[k];
    for (uint32_t k = 0; k < line->n_cnodes; k++)
        for (uint32_t c = line->cnodes[k]; region_at(trace, c)->sampled;
             c = trace->cnodes[c].parent) {
            lc_exact_add(&sums->of[c][which][0], seconds(trace, values[k]));
            sums->inside[c] += is_off(trace, line->cnodes[k]) ? 0 : values[k];
        }
    for (uint32_t k = 0; k < line->n_cnodes; k++)
        for (uint32_t c = line->cnodes[k]; region_at(trace, c)->sampled && sums->inside[c] > 0;
             c = trace->cnodes[c].parent) {
            uint32_t exact = trace->cnodes[c].exact;
            double whole = sums->whole[exact],
                   n = draws(sums, exact, divided != NULL ? divided[exact] : whole);
            double error_ms =
                1e3 * lc_stats_share_error(seconds(trace, whole), sums->inside[c] / whole, n);
            lc_exact_add(&sums->of[c][which][1], error_ms * error_ms);
            sums->inside[c] = 0;
        }
    for (uint32_t k = 0; k < line->n_cnodes; k++)
        sums->whole[trace->cnodes[line->cnodes[k]].exact] = 0;
    set_samples(sums, line->loc, false);
}

static enum lc_err allocate(struct lc_sample_sums *sums) {
    size_t n = sums->lines->trace->n_cnodes + 1;
    double **arrays[] = {&sums->whole, &sums->inside, &sums->ns, &sums->squares, &sums->values};
    LC_TRY(lc_alloc(&sums->of, n, sizeof *sums->of));
    LC_TRY(lc_alloc(&sums->samples, n, sizeof *sums->samples));
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        LC_TRY(lc_alloc(arrays[i], n, sizeof **arrays[i]));
    return LC_OK;
}

/* Time of each call path of a location. */
static void add_times(struct lc_sample_sums *sums, const struct lc_timeline *line) {
    const struct lc_trace *trace = sums->lines->trace;
    const struct lc_loc *loc = line->loc;
    double *of_path = sums->inside; /* free until values are added */
    for (uint32_t i = 0; i + 1 < loc->n_transitions; i++)
        if (loc->cnode[i] != LC_NONE)
            of_path[loc->cnode[i]] += (double)(loc->time[i + 1] - loc->time[i]);
    for (uint32_t k = 0; k < line->n_cnodes; k++) {
        sums->values[k] = of_path[line->cnodes[k]];
        of_path[line->cnodes[k]] = 0;
    }
    add_values(sums, line, LC_SUM_TIME, sums->values, NULL);
    for (size_t i = 0; i < loc->n_samples; i++)
        for (uint32_t c = loc->samples[i].cnode; region_at(trace, c)->sampled;
             c = trace->cnodes[c].parent)
            sums->samples[c] += loc->samples[i].n;
}

enum lc_err lc_sample_sums_new(struct lc_sample_sums *sums, const struct lc_timelines *lines) {
    *sums = (struct lc_sample_sums){.lines = lines};
    if (!lines->trace->sampled)
        return LC_OK;
    LC_TRY(allocate(sums));
    for (size_t l = 0; l < lines->trace->n_locs; l++)
        add_times(sums, &lines->lines[l]);
    return LC_OK;
}

void lc_sample_sums_costs(struct lc_sample_sums *sums, const struct lc_costs *costs) {
    const struct lc_timelines *lines = sums->lines;
    for (size_t l = 0; sums->of != NULL && l < lines->trace->n_locs; l++) {
        const struct lc_timeline *line = &lines->lines[l];
        if (costs->excess[l] == NULL)
            continue;
        for (uint32_t k = 0; k < line->n_cnodes; k++)
            sums->values[k] = lc_costs_of(costs, l, LC_PROPORTIONAL, k);
        add_values(sums, line, LC_SUM_COST, sums->values, costs->excess[l]);
    }
}

void lc_sample_sums_path(struct lc_sample_sums *sums, const struct lc_critical_path *path) {
    const struct lc_timelines *lines = sums->lines;
    for (size_t l = 0; sums->of != NULL && l < lines->trace->n_locs; l++) {
        const struct lc_timeline *line = &lines->lines[l];
        for (uint32_t k = 0; k < line->n_cnodes; k++)
            sums->values[k] = (double)path->on_path[l][k];
        add_values(sums, line, LC_SUM_PATH, sums->values, NULL);
    }
}

static void put_row(const struct lc_trace *trace, uint32_t cnode, int64_t samples,
                    const double totals[LC_SAMPLE_SUMS][2], struct lc_strbuf *text) {
    const struct lc_an_region *region = region_at(trace, cnode);
    const char *slash = strrchr(region->file, '/');
    struct lc_strbuf path = {0};
    lc_place_callpath(&path, trace, cnode);
    lc_table_put(text, lc_strbuf_get(&path));
    lc_strbuf_free(&path);
    lc_strbuf_printf(text, "\t%lld", (long long)samples);
    for (int which = 0; which < LC_SAMPLE_SUMS; which++)
        lc_strbuf_printf(text, "\t%.9f\t%.9f", totals[which][0], 1e-3 * sqrt(totals[which][1]));
    lc_strbuf_putc(text, '\t');
    if (region->begin_line > 0) {
        lc_table_put(text, slash != NULL ? slash + 1 : region->file);
        lc_strbuf_printf(text, ":%u", region->begin_line);
    }
    lc_strbuf_putc(text, '\n');
}

enum lc_err lc_sample_sums_write(const struct lc_sample_sums *sums, struct lc_strbuf *text) {
    const struct lc_trace *trace = sums->lines->trace;
    if (sums->of == NULL)
        return LC_OK;
    lc_transport_allreduce_i64(trace->comm, sums->samples, trace->n_cnodes, LC_OP_SUM);
    lc_strbuf_puts(text, "callpath\tsamples\tseconds\terror\tcritical_path\t"
                         "critical_path_error\tcost\tcost_error\tsource\n");
    for (uint32_t c = 0; c < trace->n_cnodes; c++) {
        double totals[LC_SAMPLE_SUMS][2];
        if (!region_at(trace, c)->sampled)
            continue;
        lc_exact_total(trace->comm, sums->of[c][0], totals[0], 2 * (size_t)LC_SAMPLE_SUMS);
        put_row(trace, c, sums->samples[c], totals, text);
    }
    return lc_transport_agree(
        trace->comm,
        lc_strbuf_ok(text) ? LC_OK : lc_fail(LC_ERR_NOMEM, "memory: cannot hold samples.tsv"));
}

void lc_sample_sums_free(struct lc_sample_sums *sums) {
    free(sums->of);
    free(sums->samples);
    free(sums->whole);
    free(sums->inside);
    free(sums->ns);
    free(sums->squares);
    free(sums->values);
    *sums = (struct lc_sample_sums){.lines = sums->lines};
}
