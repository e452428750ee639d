/* Counters of a job: values per repetition, how they go with the run time, what reading them does
 * to it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/stats.h"
#include "bench/measured_job.h"
#include "bench/correlation.h"

/* More than this part of the median is said in words. */
#define LC_PERTURBATION_SMALL 0.02

/* Repetitions that a counter has values of, with their run times. */
struct series {
    const char *name; /* "runs": those that count; "counted" */
    const size_t *rep;
    const double *runs;
    const uint8_t *category;
    size_t n;
};

static json_t *number_or_null(double value) {
    return isfinite(value) ? json_real(value) : json_null();
}

/* Of one counter (values per repetition), over all repetitions and per category. x, y: [n]. */
static enum lc_err correlate(const struct series *s, const double *values, double *x, double *y,
                             json_t *counter) {
    json_t *pearson = json_object(), *spearman = json_object();
    json_object_set_new(counter, "pearson", pearson);
    json_object_set_new(counter, "spearman", spearman);
    for (int category = -1; category < LC_CATEGORIES; category++) {
        struct lc_correlation result;
        size_t n = 0;
        for (size_t i = 0; i < s->n; i++)
            if (category < 0 || s->category[i] == category) {
                x[n] = values[i];
                y[n++] = s->runs[i];
            }
        LC_TRY(lc_correlate(x, y, n, &result));
        const char *key = category < 0 ? "all" : lc_category_name((enum lc_category)category);
        json_object_set_new(pearson, key, number_or_null(result.pearson));
        json_object_set_new(spearman, key, number_or_null(result.spearman));
    }
    return LC_OK;
}

/* Counter c of all ranks in each repetition; `memory`: 3 [n]. */
static enum lc_err one_counter(const struct lc_measured_job *job, const struct series *s,
                               uint32_t c, double *memory, json_t *counters) {
    const char *name = job->part[0]->head.counter[c];
    bool largest = strstr(name, "gap") != NULL; /* others are added up over ranks */
    double total = 0;
    json_t *counter = json_object(), *list = json_array();
    for (size_t i = 0; i < s->n; i++) {
        double value = 0;
        for (uint32_t r = 0; r < job->ranks; r++) {
            double own = (double)lc_job_rep(job->part[r], s->rep[i])[LC_REP_COUNTERS + c];
            value = largest ? fmax(value, own) : value + own;
        }
        memory[i] = value;
        total += value;
        json_array_append_new(list, json_real(value));
    }
    json_object_set_new(counter, "series", json_string(s->name));
    json_object_set_new(counter, "total", json_real(total));
    json_object_set_new(counter, "over_ranks", json_string(largest ? "largest" : "sum"));
    json_object_set_new(counter, "values", list);
    json_object_set_new(counters, name, counter);
    return correlate(s, memory, memory + s->n, memory + 2 * s->n, counter);
}

/* By the number of the repetition, as those beside it that count; what is slow by the median of
 * its own series: reading counters made all of them slower. */
static enum lc_err categorize(const struct lc_counted_series *s, const struct lc_warmup *warmup,
                              uint8_t *category) {
    double *sorted;
    LC_TRY(lc_alloc(&sorted, s->n + 1, sizeof sorted[0]));
    memcpy(sorted, s->runs, s->n * sizeof sorted[0]);
    lc_stats_sort(sorted, s->n);
    double median = lc_stats_quantile_sorted(sorted, s->n, 0.5);
    free(sorted);
    for (size_t i = 0; i < s->n; i++)
        category[i] = (int64_t)s->at[i] < warmup->end ? LC_CATEGORY_WARMUP
                      : s->runs[i] >= 2 * median      ? LC_CATEGORY_OUTLIER
                                                      : LC_CATEGORY_GOOD;
    return LC_OK;
}

static void add_perturbation(const struct lc_perturbation *p, json_t *counted) {
    json_object_set_new(counted, "perturbation", number_or_null(p->change));
    json_object_set_new(counted, "ci",
                        p->blocks > 1
                            ? json_pack("[o, o]", number_or_null(p->low), number_or_null(p->high))
                            : json_null());
    json_object_set_new(counted, "with_ns", p->blocks > 0 ? json_real(p->with_ns) : json_null());
    json_object_set_new(counted, "without_ns",
                        p->blocks > 0 ? json_real(p->without_ns) : json_null());
    json_object_set_new(counted, "blocks", json_integer((json_int_t)p->blocks));
}

static void warn(const struct lc_perturbation *p, uint32_t every, json_t *warnings) {
    if (!(fabs(p->change) > LC_PERTURBATION_SMALL))
        return;
    json_array_append_new(
        warnings,
        p->blocks > 1
            ? json_sprintf("reading counters changes the run time by %+.1f %% (95 %% interval "
                           "%+.1f to %+.1f %%): they are read in every %uth repetition only, "
                           "whose run time does not count",
                           100 * p->change, 100 * p->low, 100 * p->high, every)
            : json_sprintf("reading counters changes the run time by %+.1f %% (of too few "
                           "repetitions for an interval): they are read in every %uth only, "
                           "whose run time does not count",
                           100 * p->change, every));
}

static enum lc_err counted_json(const struct lc_measured_job *job, const struct lc_fingerprint *f,
                                const uint8_t *category, json_t *about) {
    const struct lc_counted_series *s = &job->series;
    struct lc_perturbation p;
    size_t from = f->warmup.end != LC_NO_END ? (size_t)f->warmup.end : 1;
    LC_TRY(lc_perturbation_find(f->runs, f->n, from, s, &p));
    json_t *at = json_array(), *runs = json_array(), *categories = json_array();
    for (size_t i = 0; i < s->n; i++) {
        json_array_append_new(at, json_integer((json_int_t)s->at[i]));
        json_array_append_new(runs, json_real(s->runs[i]));
        json_array_append_new(categories, json_string(lc_category_name(category[i])));
    }
    uint32_t every = job->part[0]->head.every;
    json_t *counted = json_pack("{s:I, s:o, s:o, s:o}", "every", (json_int_t)every, "at", at,
                                "runs_ns", runs, "category", categories);
    add_perturbation(&p, counted);
    json_object_set_new(about, "counted", counted);
    warn(&p, every, json_object_get(about, "warnings"));
    return LC_OK;
}

enum lc_err lc_measured_job_counters(const struct lc_measured_job *job,
                                     const struct lc_fingerprint *f, json_t *about) {
    const struct lc_part_job *head = &job->part[0]->head;
    uint8_t *category;
    double *memory;
    json_t *counters = json_object();
    json_object_set_new(about, "counters", counters);
    LC_TRY(lc_alloc(&category, job->n, 1));
    enum lc_err err = lc_alloc(&memory, 3 * job->n, sizeof memory[0]);
    if (err == LC_OK)
        err = categorize(&job->series, &f->warmup, category);
    if (err == LC_OK && head->every > 0)
        err = counted_json(job, f, category, about);
    const struct series counted = {"counted", job->counted, job->series.runs, category,
                                   job->series.n},
                        runs = {"runs", job->runs, f->runs, f->category, f->n};
    for (uint32_t c = 0; c < head->n_counters && err == LC_OK; c++)
        err = one_counter(job, c < head->n_read ? &counted : &runs, c, memory, counters);
    free(memory);
    free(category);
    return err;
}
