/* The JSON of a fingerprint: keys as the command line's interface has them. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/outfile.h"
#include "base/strbuf.h"
#include "bench/cumulative.h"
#include "bench/fingerprint.h"

#define LC_FORMAT "latecomer-fingerprint"
enum { LC_ECDF_POINTS = 200 };

static json_t *array_of(const double *values, size_t n) {
    json_t *array = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(array, json_real(values[i]));
    return array;
}

static json_t *end_json(int64_t end) {
    return end == LC_NO_END ? json_null() : json_integer(end);
}

static json_t *histogram_json(const struct lc_histogram *h) {
    json_t *edges = json_array(), *counts = json_array(), *categories = json_object();
    for (int c = 0; c < LC_CATEGORIES; c++) {
        json_t *of = json_array();
        for (int i = 0; i < LC_FINGERPRINT_BINS; i++)
            json_array_append_new(of, json_integer((json_int_t)h->of[i][c]));
        json_object_set_new(categories, lc_category_name((enum lc_category)c), of);
    }
    for (int i = 0; i <= LC_FINGERPRINT_BINS; i++)
        json_array_append_new(
            edges, json_real(h->low_ns + (h->high_ns - h->low_ns) * i / LC_FINGERPRINT_BINS));
    for (int i = 0; i < LC_FINGERPRINT_BINS; i++)
        json_array_append_new(counts, json_integer((json_int_t)h->counts[i]));
    return json_pack("{s:o, s:o, s:o}", "edges_ns", edges, "counts", counts, "categories",
                     categories);
}

static json_t *ecdf_json(const struct lc_fingerprint *f) {
    json_t *times = json_array(), *shares = json_array();
    size_t points = f->n < LC_ECDF_POINTS ? f->n : LC_ECDF_POINTS;
    for (size_t i = 0; i < points; i++) {
        size_t at = points == 1 ? f->n - 1 : i * (f->n - 1) / (points - 1);
        json_array_append_new(times, json_real(f->ascending[at]));
        json_array_append_new(shares, json_real((double)(at + 1) / (double)f->n));
    }
    return json_pack("{s:o, s:o}", "ns", times, "share", shares);
}

static json_t *categories_json(const struct lc_fingerprint *f) {
    json_t *all = json_object();
    for (int c = 0; c < LC_CATEGORIES; c++)
        json_object_set_new(
            all, lc_category_name((enum lc_category)c),
            json_pack("{s:I, s:f, s:o}", "count", (json_int_t)f->of[c].count, "share",
                      (double)f->of[c].count / (double)f->n, "median_ns",
                      f->of[c].count > 0 ? json_real(f->of[c].median) : json_null()));
    return all;
}

static json_t *modes_json(const struct lc_fingerprint *f) {
    json_t *modes = json_array();
    for (size_t i = 0; i < f->modes.n; i++)
        json_array_append_new(
            modes, json_pack("{s:f, s:f, s:{s:I, s:I, s:f}}", "location_ns",
                             f->modes.mode[i].location_ns, "weight", f->modes.mode[i].weight,
                             "dwell", "stays", (json_int_t)f->modes.mode[i].stays, "longest",
                             (json_int_t)f->modes.mode[i].longest, "mean", f->modes.mode[i].dwell));
    return modes;
}

static json_t *patterns_json(const struct lc_patterns *p) {
    return json_pack("{s:o, s:o, s:I, s:I, s:I, s:f, s:f}", "period",
                     p->period > 0 ? json_integer((json_int_t)p->period) : json_null(),
                     "autocorrelation", p->period > 0 ? json_real(p->autocorrelation) : json_null(),
                     "outliers", (json_int_t)p->outliers, "outlier_clusters",
                     (json_int_t)p->clusters, "largest_cluster", (json_int_t)p->largest,
                     "clusters_by_chance", p->clusters_by_chance, "clusters_p", p->clusters_p);
}

/* The metrics of the thesis as curves, changes in medians of all run times. NULL: no memory. */
static json_t *cumulative_json(const struct lc_fingerprint *f) {
    json_t *all = json_object();
    for (const struct lc_cumulative *m = lc_cumulative; m->name != NULL; m++) {
        struct lc_curve curve;
        if (lc_curve_of(m, f->runs, f->n, &curve) != LC_OK) {
            json_decref(all);
            return NULL;
        }
        json_t *at = json_array(), *delta = json_array();
        for (size_t k = 0; k < curve.n; k++) {
            json_array_append_new(at, json_integer((json_int_t)curve.at[k]));
            json_array_append_new(delta, json_real(curve.delta[k] / f->median.value));
        }
        json_object_set_new(all, m->name,
                            json_pack("{s:o, s:o, s:o}", "at", at, "ns",
                                      array_of(curve.value, curve.n), "delta", delta));
    }
    return all;
}

static void set_numbers(json_t *o, const struct lc_fingerprint *f) {
    json_t *quantiles = json_object(), *points = json_array(), *category = json_array();
    for (int q = 0; q < LC_FINGERPRINT_QUANTILES; q++) {
        char key[8];
        snprintf(key, sizeof key, "%d", lc_fingerprint_percent[q]);
        json_object_set_new(quantiles, key, json_real(f->quantiles[q]));
    }
    for (size_t i = 0; i < f->n_change_points; i++)
        json_array_append_new(points, json_integer((json_int_t)f->change_points[i]));
    for (size_t i = 0; i < f->n; i++)
        json_array_append_new(category, json_string(lc_category_name(f->category[i])));
    json_object_set_new(o, "min_ns", json_real(f->ascending[0]));
    json_object_set_new(o, "max_ns", json_real(f->ascending[f->n - 1]));
    json_object_set_new(o, "mean_ns", json_real(f->mean));
    json_object_set_new(o, "median_ns", json_real(f->median.value));
    json_object_set_new(o, "median_ci_ns", json_pack("[f, f]", f->median.low, f->median.high));
    json_object_set_new(o, "effective_repetitions", json_real(f->median.effective));
    json_object_set_new(o, "quantiles_ns", quantiles);
    json_object_set_new(o, "warmup",
                        json_pack("{s:o, s:b, s:o, s:f, s:f, s:f, s:f}", "end",
                                  end_json(f->warmup.end), "accepted", f->warmup.end != LC_NO_END,
                                  "raw_end", end_json(f->warmup.raw_end), "p", f->warmup.p,
                                  "superiority", f->warmup.superiority, "step", f->warmup.step,
                                  "fall", f->warmup.fall));
    json_object_set_new(o, "categories", categories_json(f));
    json_object_set_new(o, "modes", modes_json(f));
    json_object_set_new(o, "change_points", points);
    json_object_set_new(o, "patterns", patterns_json(&f->patterns));
    json_object_set_new(o, "box",
                        json_pack("{s:f, s:f, s:f, s:f, s:f, s:I}", "low_ns", f->box.low, "q1_ns",
                                  f->box.q1, "median_ns", f->box.median, "q3_ns", f->box.q3,
                                  "high_ns", f->box.high, "outside", (json_int_t)f->box.outside));
    json_object_set_new(o, "ecdf", ecdf_json(f));
    json_object_set_new(
        o, "histogram",
        json_pack("{s:o, s:o}", "all", histogram_json(&f->all), "zoom", histogram_json(&f->zoom)));
    json_object_set_new(o, "runs_ns", array_of(f->runs, f->n));
    json_object_set_new(o, "category", category);
}

/* What every fingerprint has, also one of which nothing is known but run times. */
static const struct {
    const char *key;
    bool array;
} about_keys[] = {{"nodes", true},        {"machine", false},      {"mpi", false},
                  {"benchmark", false},   {"clock", false},        {"per_rank", true},
                  {"counters", false},    {"warnings", true},      {"counted", false},
                  {"environment", false}, {"interference", false}, {"each", false},
                  {"samples", false}};
enum { ABOUT_KEYS = sizeof about_keys / sizeof about_keys[0] };

json_t *lc_fingerprint_json(const struct lc_fingerprint *f) {
    json_t *o =
        json_pack("{s:s, s:i, s:s, s:I, s:I}", "format", LC_FORMAT, "version", 1, "operation",
                  f->operation, "bytes", (json_int_t)f->bytes, "ranks", (json_int_t)f->ranks);
    for (int i = 0; o != NULL && i < ABOUT_KEYS; i++) {
        json_t *value = json_object_get(f->about, about_keys[i].key);
        if (value != NULL)
            json_object_set(o, about_keys[i].key, value);
        else
            json_object_set_new(o, about_keys[i].key,
                                about_keys[i].array ? json_array() : json_object());
    }
    json_t *cumulative = o != NULL ? cumulative_json(f) : NULL;
    if (cumulative == NULL) {
        json_decref(o);
        return NULL;
    }
    set_numbers(o, f);
    json_object_set_new(o, "cumulative", cumulative);
    return o;
}

/* Keys of `about` of the right type only. */
static json_t *about_of(const json_t *object) {
    json_t *about = json_object();
    for (int i = 0; i < ABOUT_KEYS; i++) {
        json_t *value = json_object_get(object, about_keys[i].key);
        if (about_keys[i].array ? json_is_array(value) : json_is_object(value))
            json_object_set(about, about_keys[i].key, value);
    }
    return about;
}

static enum lc_err from_json(const char *file, const json_t *o, struct lc_fingerprint **made) {
    const char *format = json_string_value(json_object_get(o, "format"));
    const char *operation = json_string_value(json_object_get(o, "operation"));
    const json_t *runs = json_object_get(o, "runs_ns"), *bytes = json_object_get(o, "bytes"),
                 *ranks = json_object_get(o, "ranks");
    if (format == NULL || strcmp(format, LC_FORMAT) != 0)
        return lc_fail(LC_ERR_FORMAT, "bench: %s: is not a fingerprint", file);
    if (json_integer_value(json_object_get(o, "version")) != 1)
        return lc_fail(LC_ERR_FORMAT,
                       "bench: %s: a later version of the format: use a newer "
                       "latecomer",
                       file);
    if (operation == NULL || !json_is_array(runs) || json_integer_value(bytes) < 0 ||
        json_integer_value(ranks) < 0 || json_integer_value(ranks) > 1 << 28)
        return lc_fail(LC_ERR_FORMAT, "bench: %s: damaged: no operation, bytes or run times", file);
    size_t n = json_array_size(runs);
    double *values;
    LC_TRY(lc_alloc(&values, n, sizeof values[0]));
    for (size_t i = 0; i < n; i++)
        values[i] = json_number_value(json_array_get(runs, i));
    return lc_fingerprint_new(made, operation, (uint64_t)json_integer_value(bytes),
                              (uint32_t)json_integer_value(ranks), values, n, about_of(o));
}

static bool is_fingerprint_name(const char *name) {
    static const char end[] = ".fingerprint.json";
    size_t n = strlen(name);
    return n >= sizeof end && strcmp(name + n - (sizeof end - 1), end) == 0;
}

/* The only fingerprint of a directory. */
static enum lc_err only_one(const char *directory, struct lc_strbuf *file) {
    DIR *dir = opendir(directory);
    size_t found = 0;
    for (const struct dirent *e; dir != NULL && (e = readdir(dir)) != NULL;)
        if (is_fingerprint_name(e->d_name) && found++ == 0)
            lc_strbuf_printf(file, "%s/%s", directory, e->d_name);
    if (dir != NULL)
        closedir(dir);
    if (found == 1)
        return LC_OK;
    return lc_fail(LC_ERR_NOT_FOUND, "bench: %s: %s: name the file", directory,
                   found == 0 ? "holds no fingerprint" : "holds several fingerprints");
}

enum lc_err lc_fingerprint_read(const char *file, struct lc_fingerprint **made) {
    struct stat info;
    struct lc_strbuf found = {0};
    *made = NULL;
    if (stat(file, &info) != 0)
        return lc_fail_errno(LC_ERR_IO, "bench: %s", file);
    enum lc_err err = LC_OK;
    if (S_ISDIR(info.st_mode))
        err = only_one(file, &found);
    json_error_t why;
    const char *path = S_ISDIR(info.st_mode) ? lc_strbuf_get(&found) : file;
    json_t *object = err == LC_OK ? json_load_file(path, 0, &why) : NULL;
    if (err == LC_OK && object == NULL)
        err =
            lc_fail(LC_ERR_FORMAT, "bench: %s: is not JSON: line %d: %s", path, why.line, why.text);
    if (err == LC_OK)
        err = from_json(path, object, made);
    json_decref(object);
    lc_strbuf_free(&found);
    return err;
}

enum lc_err lc_bench_write_json(const json_t *object, const char *file) {
    char *text =
        object != NULL ? json_dumps(object, JSON_INDENT(1) | JSON_REAL_PRECISION(17)) : NULL;
    if (text == NULL)
        return lc_fail(LC_ERR_NOMEM, "memory: cannot write JSON");
    enum lc_err err = lc_outfile_put(file, text, strlen(text));
    free(text);
    return err;
}
