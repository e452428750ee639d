/* Counters of a job: values per repetition, how they go with the run time, what reading them does
 * to it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/stats.h"
#include "bench/measured_job.h"
#include "bench/correlation.h"
#include "bench/rank_test.h"

/* More than this part of the median is said in words. */
#define LC_PERTURBATION_SMALL 0.02

/* Repetitions that a counter has values of, with their run times. */
struct series {
    const char *name; /* "runs": those that count; "counted" */
    const size_t *rep;
    const double *runs;
    const uint8_t *category;
    uint8_t *group; /* category, or SLOW_WARMUP */
    size_t n;
};

/* In the warm-up, at least twice its own median: what would be an outlier later. */
enum { SLOW_WARMUP = LC_CATEGORIES };

static json_t *number_or_null(double value) {
    return isfinite(value) ? json_real(value) : json_null();
}

/* Groups of repetitions over which a counter and the run time are correlated. Over all data the
 * first repetition and outliers decide; what makes a warm-up slow shows between it and good ones.
 */
#define OF(category) (1u << (category))
static const struct {
    const char *name;
    unsigned categories;
} groups[] = {{"all", ~0u},
              {"first", OF(LC_CATEGORY_FIRST)},
              {"warmup", OF(LC_CATEGORY_WARMUP) | OF(SLOW_WARMUP)},
              {"outlier", OF(LC_CATEGORY_OUTLIER)},
              {"good", OF(LC_CATEGORY_GOOD)},
              {"warmup_good", OF(LC_CATEGORY_WARMUP) | OF(LC_CATEGORY_GOOD)}};
enum { GROUPS = sizeof groups / sizeof groups[0] };

/* A counter's value and a run time, ranks times repetitions of them. */
struct points {
    double *value, *time; /* [n] */
    uint8_t *group;       /* [n] */
    size_t n;
    double *x, *y; /* [n] for whoever needs room */
};

/* "pearson" and "spearman" of each group. */
static enum lc_err correlate(const struct points *p, json_t *out) {
    json_t *pearson = json_object(), *spearman = json_object();
    json_object_set_new(out, "pearson", pearson);
    json_object_set_new(out, "spearman", spearman);
    for (size_t g = 0; g < GROUPS; g++) {
        struct lc_correlation result;
        size_t n = 0;
        for (size_t i = 0; i < p->n; i++)
            if (groups[g].categories & OF(p->group[i])) {
                p->x[n] = p->value[i];
                p->y[n++] = p->time[i];
            }
        LC_TRY(lc_correlate(p->x, p->y, n, &result));
        json_object_set_new(pearson, groups[g].name, number_or_null(result.pearson));
        json_object_set_new(spearman, groups[g].name, number_or_null(result.spearman));
    }
    return LC_OK;
}

/* The values of a category; returns how many. */
static size_t take(const struct points *p, enum lc_category category, double *values) {
    size_t n = 0;
    for (size_t i = 0; i < p->n; i++)
        if (p->group[i] == category)
            values[n++] = p->value[i];
    return n;
}

/* Fewer values of a kind do not tell whether levels differ: the normal approximation needs more. */
enum { LEVELS_LEAST = 5 };

/* "levels": of the counter in the warm-up and in good repetitions, and whether they differ. */
static enum lc_err compare_levels(const struct points *p, json_t *out) {
    size_t n = take(p, LC_CATEGORY_WARMUP, p->x), m = take(p, LC_CATEGORY_GOOD, p->y);
    struct lc_rank_test_result test = {NAN, NAN, NAN};
    if (n >= LEVELS_LEAST && m >= LEVELS_LEAST)
        LC_TRY(lc_rank_test(p->x, n, p->y, m, &test));
    json_object_set_new(out, "levels",
                        json_pack("{s:o, s:o, s:o, s:o}", "warmup",
                                  n > 0 ? json_real(lc_stats_mean(p->x, n)) : json_null(), "good",
                                  m > 0 ? json_real(lc_stats_mean(p->y, m)) : json_null(),
                                  "superiority", number_or_null(test.superiority), "p",
                                  number_or_null(test.p_any_way)));
    return LC_OK;
}

/* Each rank's values and its own run times, then those of all ranks together. */
static enum lc_err add_ranks(const struct lc_measured_job *job, const struct series *s, uint32_t c,
                             const struct points *room, json_t *counter) {
    json_t *list = json_array(), *together = json_object();
    json_object_set_new(counter, "per_rank", list);
    json_object_set_new(counter, "ranks_together", together);
    struct points all = *room, one = *room;
    all.n = job->ranks * s->n;
    one.n = s->n;
    for (uint32_t r = 0; r < job->ranks; r++) {
        one.value = all.value + r * s->n;
        one.time = all.time + r * s->n;
        one.group = all.group + r * s->n;
        for (size_t i = 0; i < s->n; i++) {
            const int64_t *v = lc_job_rep(job->part[r], s->rep[i]);
            one.value[i] = (double)v[LC_REP_COUNTERS + c];
            one.time[i] = (double)(v[LC_REP_END] - v[LC_REP_START]);
            one.group[i] = s->group[i];
        }
        json_t *rank = json_object();
        json_array_append_new(list, rank);
        LC_TRY(correlate(&one, rank));
        LC_TRY(compare_levels(&one, rank));
    }
    return correlate(&all, together);
}

static const char *const kinds[LC_COUNTER_KINDS] = {"growth", "level", "high watermark",
                                                    "low watermark", "state"};

/* Counter c of all ranks in each repetition. */
static enum lc_err one_counter(const struct lc_measured_job *job, const struct series *s,
                               uint32_t c, const struct points *room, json_t *counters) {
    const char *name = job->part[0]->head.counter[c];
    /* what grows is added up over ranks; of gaps and levels the largest counts */
    enum lc_counter_kind kind = job->part[0]->head.kind[c];
    bool smallest = kind == LC_COUNTER_LOW;
    bool largest = (kind != LC_COUNTER_GROWTH && !smallest) || strstr(name, "gap") != NULL;
    double total = 0;
    json_t *counter = json_object(), *list = json_array();
    struct points all = *room;
    all.n = s->n;
    for (size_t i = 0; i < s->n; i++) {
        double value = 0;
        for (uint32_t r = 0; r < job->ranks; r++) {
            double own = (double)lc_job_rep(job->part[r], s->rep[i])[LC_REP_COUNTERS + c];
            value = r == 0     ? own
                    : largest  ? fmax(value, own)
                    : smallest ? fmin(value, own)
                               : value + own;
        }
        all.value[i] = value;
        all.time[i] = s->runs[i];
        all.group[i] = s->group[i];
        total += value;
        json_array_append_new(list, json_real(value));
    }
    json_object_set_new(counter, "series", json_string(s->name));
    json_object_set_new(counter, "kind", json_string(kinds[kind]));
    json_object_set_new(counter, "total",
                        kind == LC_COUNTER_GROWTH ? json_real(total) : json_null());
    json_object_set_new(counter, "over_ranks",
                        json_string(largest    ? "largest"
                                    : smallest ? "smallest"
                                               : "sum"));
    json_object_set_new(counter, "values", list);
    json_object_set_new(counters, name, counter);
    if (kind == LC_COUNTER_STATE) { /* numbers of states are only names: nothing to correlate */
        json_t *nothing = json_pack("{s:{}, s:{}, s:{}}", "pearson", "spearman", "levels");
        json_object_update(counter, nothing);
        json_decref(nothing);
        return LC_OK;
    }
    LC_TRY(correlate(&all, counter));
    LC_TRY(compare_levels(&all, counter));
    return add_ranks(job, s, c, room, counter);
}

/* From its categories. scratch: [n]. */
static void make_groups(struct series *s, double *scratch) {
    size_t n = 0;
    for (size_t i = 0; i < s->n; i++)
        if (s->category[i] == LC_CATEGORY_WARMUP)
            scratch[n++] = s->runs[i];
    lc_stats_sort(scratch, n);
    double median = lc_stats_quantile_sorted(scratch, n, 0.5);
    for (size_t i = 0; i < s->n; i++) {
        bool slow = s->category[i] == LC_CATEGORY_WARMUP && s->runs[i] >= 2 * median;
        s->group[i] = slow ? SLOW_WARMUP : s->category[i];
    }
}

static enum lc_err all_counters(const struct lc_measured_job *job, struct series *counted,
                                struct series *runs, json_t *counters) {
    const struct lc_part_job *head = &job->part[0]->head;
    size_t n = job->ranks * job->n;
    struct points room = {.n = n};
    LC_TRY(lc_alloc(&room.value, 4 * n, sizeof room.value[0]));
    room.time = room.value + n;
    room.x = room.value + 2 * n;
    room.y = room.value + 3 * n;
    enum lc_err err = lc_alloc(&room.group, n, 1);
    if (err == LC_OK) {
        make_groups(counted, room.x);
        make_groups(runs, room.x);
    }
    for (uint32_t c = 0; c < head->n_counters && err == LC_OK; c++)
        err = one_counter(job, c < head->n_read ? counted : runs, c, &room, counters);
    free(room.group);
    free(room.value);
    return err;
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

/* What is done in repetitions whose run time does not count. */
static const char *done_in(const struct lc_measured_job *job) {
    bool sampled = false;
    for (uint32_t r = 0; r < job->ranks; r++)
        sampled = sampled || job->part[r]->n_samples > 0;
    return !sampled                        ? "reading counters"
           : job->part[0]->head.n_read > 0 ? "reading counters and sampling"
                                           : "sampling";
}

static void warn(const struct lc_perturbation *p, const char *what, uint32_t every,
                 json_t *warnings) {
    bool by_chance = p->blocks > 1 && p->low <= 0 && p->high >= 0;
    if (!(fabs(p->change) > LC_PERTURBATION_SMALL) || by_chance)
        return;
    json_array_append_new(
        warnings, p->blocks > 1
                      ? json_sprintf("%s changes the run time by %+.1f %% (95 %% "
                                     "interval %+.1f to %+.1f %%): it is done in one repetition of "
                                     "%u only, whose run time does not count",
                                     what, 100 * p->change, 100 * p->low, 100 * p->high, every)
                      : json_sprintf("%s changes the run time by %+.1f %% (of too "
                                     "few repetitions for an interval): it is done in one "
                                     "repetition of %u only, whose run time does not count",
                                     what, 100 * p->change, every));
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
    warn(&p, done_in(job), every, json_object_get(about, "warnings"));
    return LC_OK;
}

enum lc_err lc_measured_job_counters(const struct lc_measured_job *job,
                                     const struct lc_fingerprint *f, json_t *about) {
    const struct lc_part_job *head = &job->part[0]->head;
    uint8_t *category;
    json_t *counters = json_object();
    json_object_set_new(about, "counters", counters);
    LC_TRY(lc_alloc(&category, 3 * job->n, 1));
    enum lc_err err = categorize(&job->series, &f->warmup, category);
    if (err == LC_OK && head->every > 0)
        err = counted_json(job, f, category, about);
    struct series counted = {"counted", job->counted,      job->series.runs,
                             category,  category + job->n, job->series.n},
                  runs = {"runs", job->runs, f->runs, f->category, category + 2 * job->n, f->n};
    if (err == LC_OK)
        err = all_counters(job, &counted, &runs, counters);
    free(category);
    return err;
}
