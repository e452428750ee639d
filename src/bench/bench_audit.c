#include "bench/bench_audit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/stats.h"

static const char *const keys[LC_AUDITED] = {"empty_ns", "empty_share", "perturbation",
                                             "start_skew_ns", "clock_error_ns"};

static enum lc_err add(struct lc_bench_audit *audit, enum lc_audited what, double value) {
    LC_TRY(lc_grow(&audit->of[what].values, &audit->of[what].room, audit->of[what].n + 1,
                   sizeof audit->of[what].values[0]));
    audit->of[what].values[audit->of[what].n++] = value;
    return LC_OK;
}

static enum lc_err add_number(struct lc_bench_audit *audit, enum lc_audited what,
                              const json_t *value) {
    return json_is_number(value) ? add(audit, what, json_number_value(value)) : LC_OK;
}

static bool is_empty(const struct lc_fingerprint *f) {
    return strcmp(f->operation, "empty") == 0;
}

/* `empty` of the same size; of any, where there is none. */
static const struct lc_fingerprint *empty_of(struct lc_fingerprint *const *all, size_t n,
                                             uint64_t bytes) {
    const struct lc_fingerprint *found = NULL;
    for (size_t i = 0; i < n; i++)
        if (is_empty(all[i]) && (found == NULL || all[i]->bytes == bytes))
            found = all[i];
    return found;
}

enum lc_err lc_bench_audit_add(struct lc_bench_audit *audit, struct lc_fingerprint *const *all,
                               size_t n) {
    for (size_t i = 0; i < n; i++) {
        const struct lc_fingerprint *f = all[i], *empty = empty_of(all, n, f->bytes);
        const json_t *benchmark = json_object_get(f->about, "benchmark");
        if (is_empty(f)) {
            LC_TRY(add(audit, LC_AUDIT_EMPTY, f->median.value));
            continue;
        }
        if (empty != NULL)
            LC_TRY(add(audit, LC_AUDIT_SHARE, empty->median.value / f->median.value));
        LC_TRY(add_number(audit, LC_AUDIT_PERTURBATION,
                          json_object_get(json_object_get(f->about, "counted"), "perturbation")));
        LC_TRY(add_number(audit, LC_AUDIT_SKEW,
                          json_object_get(json_object_get(benchmark, "start_skew_ns"), "median")));
        LC_TRY(add_number(audit, LC_AUDIT_CLOCK,
                          json_object_get(json_object_get(f->about, "clock"), "error_ns")));
    }
    return LC_OK;
}

json_t *lc_bench_audit_json(struct lc_bench_audit *audit) {
    json_t *object = json_object();
    for (int i = 0; i < LC_AUDITED; i++) {
        double *values = audit->of[i].values;
        size_t n = audit->of[i].n;
        if (n > 0)
            lc_stats_sort(values, n);
        json_object_set_new(object, keys[i],
                            n > 0 ? json_pack("{s:f, s:f, s:I}", "median",
                                              lc_stats_quantile_sorted(values, n, 0.5), "largest",
                                              values[n - 1], "n", (json_int_t)n)
                                  : json_null());
    }
    return object;
}

void lc_bench_audit_free(struct lc_bench_audit *audit) {
    for (int i = 0; i < LC_AUDITED; i++)
        free(audit->of[i].values);
    *audit = (struct lc_bench_audit){0};
}

static double number_at(const json_t *audit, enum lc_audited what, const char *key) {
    const json_t *value = json_object_get(json_object_get(audit, keys[what]), key);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

void lc_bench_audit_text(const json_t *audit, const struct lc_bench_page *page) {
    char median[32], largest[32];
    double value;
    if (!json_is_object(audit))
        return;
    fprintf(page->out, "%sWhat measuring itself does%s\n", page->bold, page->plain);
    if (isfinite(number_at(audit, LC_AUDIT_EMPTY, "median")))
        fprintf(page->out, "  `empty`, which is in every run time: %s (largest of a launch %s)",
                lc_bench_time(number_at(audit, LC_AUDIT_EMPTY, "median"), median),
                lc_bench_time(number_at(audit, LC_AUDIT_EMPTY, "largest"), largest));
    else
        fputs("  `empty`, which is in every run time: not measured", page->out);
    value = number_at(audit, LC_AUDIT_SHARE, "median");
    if (isfinite(value))
        fprintf(page->out, ", %.2g %% of an operation", 100 * value);
    value = number_at(audit, LC_AUDIT_PERTURBATION, "median");
    if (isfinite(value))
        fprintf(page->out,
                "\n  reading counters: %+.1f %% (largest %+.1f %%) of repetitions that have them, "
                "whose run times do not count\n",
                100 * value, 100 * number_at(audit, LC_AUDIT_PERTURBATION, "largest"));
    else
        fputs("\n  reading counters: none were read, or too few repetitions to tell\n", page->out);
    if (isfinite(number_at(audit, LC_AUDIT_SKEW, "median")))
        fprintf(page->out, "  ranks begin %s apart (largest %s); the global clock is known to %s\n",
                lc_bench_time(number_at(audit, LC_AUDIT_SKEW, "median"), median),
                lc_bench_time(number_at(audit, LC_AUDIT_SKEW, "largest"), largest),
                lc_bench_time(number_at(audit, LC_AUDIT_CLOCK, "largest"), (char[32]){0}));
}
