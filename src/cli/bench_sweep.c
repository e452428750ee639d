#include "cli/bench_sweep.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/plural.h"
#include "bench/bench_audit.h"
#include "bench/bench_result.h"
#include "bench/launches.h"
#include "cli/cmd.h"

enum { ROUNDS = 7, REPS = 300 };
/* A bound beyond this many times says that the launches tell nothing. */
#define LC_TELLS_NOTHING 1e4

struct sweep_job {
    char *operation;
    uint64_t bytes;
    double *medians; /* [variants * rounds] ns; 0: not measured */
};

struct sweep {
    struct lc_variants variants;
    bool failed[LC_SWEEP_MOST];
    size_t rounds, done; /* wanted; whole ones */
    struct lc_strbuf directory;
    struct sweep_job *jobs;
    size_t n_jobs, room;
    json_t *failures;
    bool audited;
    struct lc_bench_audit audit;
};

static enum lc_err job_of(struct sweep *s, const struct lc_fingerprint *f, struct sweep_job **job) {
    for (size_t i = 0; i < s->n_jobs; i++)
        if (s->jobs[i].bytes == f->bytes && strcmp(s->jobs[i].operation, f->operation) == 0) {
            *job = &s->jobs[i];
            return LC_OK;
        }
    LC_TRY(lc_grow(&s->jobs, &s->room, s->n_jobs + 1, sizeof s->jobs[0]));
    *job = &s->jobs[s->n_jobs];
    LC_TRY(lc_alloc(&(*job)->medians, s->variants.n * s->rounds, sizeof(double)));
    (*job)->bytes = f->bytes;
    s->n_jobs++;
    return lc_strdup(&(*job)->operation, f->operation);
}

static void leave_out(struct sweep *s, size_t variant, const char *why) {
    const char *name = s->variants.all[variant].name;
    lc_complain("bench: sweep: %s: left out: %s", name, why);
    json_array_append_new(s->failures, json_pack("{s:s, s:s}", "variant", name, "why", why));
    s->failed[variant] = true;
}

/* One launch of a variant. */
static enum lc_err launch(struct sweep *s, size_t round, size_t variant) {
    struct lc_variant *v = &s->variants.all[variant];
    struct lc_strbuf output = {0};
    struct lc_collected result;
    int code = LC_EXIT_OK;
    lc_strbuf_printf(&output, "%s/round-%zu-variant-%zu", lc_strbuf_get(&s->directory), round + 1,
                     variant + 1);
    v->options.output = lc_strbuf_get(&output);
    v->options.one_of_many = true;
    lc_variant_enter(v);
    enum lc_err err = lc_bench_start(&v->options, &result, &code);
    lc_variant_leave(v);
    if (lc_bench_interrupted()) {
        err = LC_OK; /* this round does not count */
    } else if (err != LC_OK && err != LC_ERR_USAGE) {
        leave_out(s, variant, "nothing was measured: run it by itself to see why");
        err = LC_OK;
    } else if (err == LC_OK && code != LC_EXIT_OK) {
        leave_out(s, variant, "it ended early");
    }
    if (err == LC_OK)
        err = lc_bench_audit_add(&s->audit, result.all, result.n);
    for (size_t i = 0; err == LC_OK && i < result.n; i++) {
        struct sweep_job *job;
        if (s->audited && strcmp(result.all[i]->operation, "empty") == 0)
            continue; /* measured for the others' sake */
        err = job_of(s, result.all[i], &job);
        if (err == LC_OK)
            job->medians[variant * s->rounds + round] = result.all[i]->median.value;
    }
    lc_collected_free(&result);
    lc_strbuf_free(&output);
    return err;
}

/* Every variant once, in random order. */
static enum lc_err launch_round(struct sweep *s, size_t round, uint64_t *random) {
    size_t order[LC_SWEEP_MOST];
    for (size_t v = 0; v < s->variants.n; v++)
        order[v] = v;
    lc_launches_shuffle(order, s->variants.n, random);
    for (size_t i = 0; i < s->variants.n && !lc_bench_interrupted(); i++) {
        if (s->failed[order[i]])
            continue;
        if (isatty(STDERR_FILENO))
            lc_say("round %zu of %zu, %zu of %zu: %s", round + 1, s->rounds, i + 1, s->variants.n,
                   s->variants.all[order[i]].name);
        LC_TRY(launch(s, round, order[i]));
    }
    return LC_OK;
}

static json_t *ratio_or_null(double value) {
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *variant_json(const struct sweep *s, size_t variant,
                            const struct lc_ranked_variant *r, const double *medians) {
    json_t *settings = json_object(), *launches = json_array();
    const struct lc_variant *v = &s->variants.all[variant];
    for (size_t i = 0; i < v->n; i++) {
        const char *equals = strchr(v->text[i], '=');
        struct lc_strbuf key = {0};
        lc_strbuf_add(&key, v->text[i], (size_t)(equals - v->text[i]));
        json_object_set_new(settings, lc_strbuf_get(&key), json_string(equals + 1));
        lc_strbuf_free(&key);
    }
    for (size_t k = 0; k < s->done; k++)
        json_array_append_new(launches, json_real(medians[k]));
    return json_pack("{s:s, s:o, s:[I, I], s:f, s:f, s:[o, o], s:o}", "name", v->name, "settings",
                     settings, "places", (json_int_t)r->first, (json_int_t)r->last, "median_ns",
                     r->median, "ratio", r->ratio.value, "ratio_ci", ratio_or_null(r->ratio.low),
                     ratio_or_null(r->ratio.high), "launch_medians_ns", launches);
}

/* Those variants that have all whole rounds, ranked. */
static enum lc_err job_json(const struct sweep *s, const struct sweep_job *job, json_t *jobs) {
    size_t which[LC_SWEEP_MOST], order[LC_SWEEP_MOST], n = 0;
    struct lc_ranked_variant ranked[LC_SWEEP_MOST];
    double *times;
    LC_TRY(lc_alloc(&times, s->variants.n * s->rounds + 1, sizeof times[0]));
    for (size_t v = 0; v < s->variants.n; v++) {
        bool whole = !s->failed[v];
        for (size_t r = 0; r < s->done; r++) {
            times[n * s->done + r] = job->medians[v * s->rounds + r];
            whole = whole && times[n * s->done + r] > 0;
        }
        which[n] = v;
        n += whole;
    }
    json_t *list = json_array();
    enum lc_err err = n > 0 ? lc_launches_rank(times, n, s->done, ranked, order) : LC_OK;
    for (size_t i = 0; i < n && err == LC_OK; i++)
        json_array_append_new(
            list, variant_json(s, which[order[i]], &ranked[order[i]], times + order[i] * s->done));
    json_array_append_new(jobs, json_pack("{s:s, s:I, s:o}", "operation", job->operation, "bytes",
                                          (json_int_t)job->bytes, "variants", list));
    free(times);
    return err;
}

static enum lc_err write_sweep(struct sweep *s, uint64_t seed, json_t **result) {
    json_t *jobs = json_array();
    struct lc_strbuf file = {0};
    enum lc_err err = LC_OK;
    for (size_t i = 0; i < s->n_jobs && err == LC_OK; i++)
        err = job_json(s, &s->jobs[i], jobs);
    *result = json_pack("{s:s, s:i, s:I, s:I, s:I, s:b, s:o, s:O}", "format", "latecomer-sweep",
                        "version", 1, "rounds", (json_int_t)s->done, "rounds_wanted",
                        (json_int_t)s->rounds, "seed", (json_int_t)seed, "complete",
                        s->done == s->rounds && json_array_size(s->failures) == 0, "jobs", jobs,
                        "failed", s->failures);
    if (s->audited)
        json_object_set_new(*result, "audit", lc_bench_audit_json(&s->audit));
    lc_strbuf_printf(&file, "%s/sweep.json", lc_strbuf_get(&s->directory));
    if (err == LC_OK)
        err = lc_bench_write_json(*result, lc_strbuf_get(&file));
    lc_strbuf_free(&file);
    return err;
}

static void sweep_free(struct sweep *s) {
    for (size_t i = 0; i < s->n_jobs; i++) {
        free(s->jobs[i].operation);
        free(s->jobs[i].medians);
    }
    free(s->jobs);
    json_decref(s->failures);
    lc_bench_audit_free(&s->audit);
    lc_strbuf_free(&s->directory);
    lc_variants_free(&s->variants);
}

static enum lc_err run_sweep(struct sweep *s, uint64_t seed, json_t **result, int *code) {
    uint64_t random = seed;
    for (size_t r = 0; r < s->rounds && !lc_bench_interrupted(); r++) {
        LC_TRY(launch_round(s, r, &random));
        s->done += !lc_bench_interrupted();
    }
    if (s->done == 0 || s->n_jobs == 0)
        return lc_fail(LC_ERR_NOT_FOUND, "bench: sweep: no round was measured");
    LC_TRY(write_sweep(s, seed, result));
    if (lc_report_benchmark(s->directory.text) != LC_OK)
        lc_complain("bench: sweep: no page: %s", lc_err_text());
    if (s->done < s->rounds || json_array_size(s->failures) > 0)
        *code = LC_EXIT_ERROR;
    if (s->done < s->rounds)
        lc_complain("bench: sweep: stopped early: %zu whole round%s in %s", s->done,
                    lc_plural((double)s->done), lc_strbuf_get(&s->directory));
    else
        lc_say("result: %s", lc_strbuf_get(&s->directory));
    return LC_OK;
}

enum lc_err lc_bench_sweep(const struct lc_sweep_options *options, json_t **result, int *code) {
    struct sweep s = {.rounds = options->rounds > 0 ? options->rounds : ROUNDS,
                      .failures = json_array(),
                      .audited = options->each.audit};
    struct lc_sweep_options w = *options;
    struct lc_launch here;
    *result = NULL;
    lc_launch_detect_place(&here);
    if (w.each.reps == 0 && w.each.precision <= 0)
        w.each.reps = REPS;
    enum lc_err err =
        here.kind != LC_LAUNCHER_NONE
            ? lc_fail(LC_ERR_USAGE, "bench: sweep: starts launchers itself: run it without one")
            : lc_variants_new(&s.variants, &w);
    if (err == LC_OK)
        err = lc_bench_directory(w.each.output != NULL ? w.each.output : "latecomer-bench-sweep",
                                 &s.directory);
    if (err == LC_OK)
        err = run_sweep(&s, w.each.seed > 0 ? w.each.seed : 1, result, code);
    if (err == LC_ERR_USAGE || s.n_jobs == 0)
        (void)rmdir(lc_strbuf_get(&s.directory)); /* where nothing was launched */
    sweep_free(&s);
    return err;
}

static void print_variant(const json_t *v, const struct lc_bench_page *page) {
    struct lc_strbuf name = {0}, places = {0}, against = {0};
    const json_t *of = json_object_get(v, "places"), *ci = json_object_get(v, "ratio_ci");
    json_int_t first = json_integer_value(json_array_get(of, 0));
    json_int_t last = json_integer_value(json_array_get(of, 1));
    double ratio = json_number_value(json_object_get(v, "ratio"));
    char text[32];
    lc_bench_put_text(v, "name", &name);
    lc_strbuf_printf(&places, first == last ? "%lld" : "%lld-%lld", (long long)first,
                     (long long)last);
    double low = json_number_value(json_array_get(ci, 0)),
           high = json_number_value(json_array_get(ci, 1));
    if (ratio > 1 && json_is_number(json_array_get(ci, 1)) && high > LC_TELLS_NOTHING)
        lc_strbuf_puts(&against, "unknown: launches differ");
    else if (ratio > 1 && json_is_number(json_array_get(ci, 1)) && high > 10)
        lc_strbuf_printf(&against, "%.4g times (%.3g to %.4g)", ratio, low, high);
    else if (ratio > 1 && json_is_number(json_array_get(ci, 1)))
        lc_strbuf_printf(&against, "%+.1f %% (%+.1f to %+.1f)", 100 * (ratio - 1), 100 * (low - 1),
                         100 * (high - 1));
    fprintf(page->out, "  %-6s %10s  %-27s %s\n", lc_strbuf_get(&places),
            lc_bench_time(json_number_value(json_object_get(v, "median_ns")), text),
            lc_strbuf_get(&against), lc_strbuf_get(&name));
    lc_strbuf_free(&against);
    lc_strbuf_free(&name);
    lc_strbuf_free(&places);
}

void lc_bench_sweep_text(const json_t *sweep, const struct lc_bench_page *page) {
    const json_t *jobs = json_object_get(sweep, "jobs"), *job, *v;
    for (size_t i = 0; (job = json_array_get(jobs, i)) != NULL; i++) {
        const json_t *variants = json_object_get(job, "variants");
        struct lc_strbuf name = {0};
        lc_bench_put_text(job, "operation", &name);
        fprintf(page->out, "%s%s%s  %lld B, %lld rounds\n  %-6s %10s  %-27s %s\n", page->bold,
                lc_strbuf_get(&name), page->plain,
                (long long)json_integer_value(json_object_get(job, "bytes")),
                (long long)json_integer_value(json_object_get(sweep, "rounds")), "place", "median",
                "against the first", "variant");
        lc_strbuf_free(&name);
        for (size_t k = 0; (v = json_array_get(variants, k)) != NULL; k++)
            print_variant(v, page);
    }
    fputs("Variants that share places cannot be told apart by these launches: more --rounds.\n",
          page->out);
    lc_bench_audit_text(json_object_get(sweep, "audit"), page);
}
