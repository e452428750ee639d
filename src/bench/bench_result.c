#include "bench/bench_result.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/outfile.h"
#include "base/utf8.h"
#include "bench/fingerprint_svg.h"

static bool is_empty(const char *directory) {
    DIR *dir = opendir(directory);
    bool empty = dir != NULL;
    for (const struct dirent *e; dir != NULL && (e = readdir(dir)) != NULL;)
        empty = empty && (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0);
    if (dir != NULL)
        closedir(dir);
    return empty;
}

enum lc_err lc_bench_directory(const char *wanted, struct lc_strbuf *directory) {
    enum { MOST = 10000 };
    const char *slash = strrchr(wanted, '/');
    if (slash != NULL) {
        lc_strbuf_clear(directory);
        lc_strbuf_add(directory, wanted, (size_t)(slash - wanted) + 1);
        LC_TRY(lc_make_folders(lc_strbuf_get(directory)));
    }
    for (int i = 1; i < MOST; i++) {
        lc_strbuf_clear(directory);
        lc_strbuf_puts(directory, wanted);
        if (i > 1)
            lc_strbuf_printf(directory, "-%d", i);
        if (mkdir(lc_strbuf_get(directory), 0777) == 0 ||
            (errno == EEXIST && is_empty(lc_strbuf_get(directory))))
            return LC_OK;
        if (errno != EEXIST && !is_empty(lc_strbuf_get(directory)))
            return lc_fail_errno(LC_ERR_IO, "bench: %s: cannot be created",
                                 lc_strbuf_get(directory));
    }
    return lc_fail(LC_ERR_EXISTS, "bench: %s: there are too many of these: give another -o",
                   wanted);
}

/* OP-BYTES, with nothing in it that a file name should not hold. */
static void put_stem(const struct lc_fingerprint *f, struct lc_strbuf *out) {
    for (const char *c = f->operation; *c != '\0'; c++)
        lc_strbuf_putc(out, isalnum((unsigned char)*c) || strchr("_+", *c) != NULL ? *c : '_');
    lc_strbuf_printf(out, "-%llu", (unsigned long long)f->bytes);
}

enum lc_err lc_bench_add_job(const char *directory, const struct lc_fingerprint *f, json_t **jobs) {
    struct lc_strbuf stem = {0}, file = {0}, sheet = {0};
    put_stem(f, &stem);
    lc_strbuf_printf(&file, "%s/%s.fingerprint.json", directory, lc_strbuf_get(&stem));
    json_t *object = lc_fingerprint_json(f);
    enum lc_err err = lc_bench_write_json(object, lc_strbuf_get(&file));
    json_decref(object);
    if (err == LC_OK) {
        lc_strbuf_clear(&sheet);
        lc_strbuf_printf(&sheet, "%s/%s.svg", directory, lc_strbuf_get(&stem));
        err = lc_fingerprint_svg(f, lc_strbuf_get(&sheet));
    }
    if (err == LC_OK && f->about != NULL) {
        lc_strbuf_clear(&sheet);
        lc_strbuf_printf(&sheet, "%s/%s.details.svg", directory, lc_strbuf_get(&stem));
        err = lc_details_svg(f, lc_strbuf_get(&sheet));
    }
    if (err == LC_OK) {
        lc_strbuf_clear(&sheet);
        lc_strbuf_printf(&sheet, "%s/%s.phases.svg", directory, lc_strbuf_get(&stem));
        err = lc_phases_svg(f, lc_strbuf_get(&sheet));
    }
    lc_strbuf_free(&sheet);
    if (*jobs == NULL)
        *jobs = json_array();
    if (err == LC_OK)
        json_array_append_new(
            *jobs,
            json_pack("{s:s, s:I, s:I, s:I, s:f, s:[f, f], s:s}", "operation", f->operation,
                      "bytes", (json_int_t)f->bytes, "ranks", (json_int_t)f->ranks, "repetitions",
                      (json_int_t)f->n, "median_ns", f->median.value, "median_ci_ns", f->median.low,
                      f->median.high, "file", strrchr(lc_strbuf_get(&file), '/') + 1));
    lc_strbuf_free(&stem);
    lc_strbuf_free(&file);
    return err;
}

void lc_bench_add_part(const char *part, json_t *jobs) {
    const char *slash = strrchr(part, '/');
    struct lc_strbuf file = {0};
    json_t *job;
    size_t i;
    lc_strbuf_printf(&file, "%s/bench.json", part);
    json_t *bench = json_load_file(lc_strbuf_get(&file), 0, NULL);
    json_array_foreach(json_object_get(bench, "jobs"), i, job) {
        const char *name = json_string_value(json_object_get(job, "file"));
        lc_strbuf_clear(&file);
        lc_strbuf_printf(&file, "%s/%s", slash != NULL ? slash + 1 : part,
                         name != NULL ? name : "");
        json_object_set_new(job, "file", json_string(lc_strbuf_get(&file)));
        json_array_append(jobs, job);
    }
    json_decref(bench);
    lc_strbuf_free(&file);
}

enum lc_err lc_bench_end(const char *directory, json_t *jobs, bool complete) {
    struct lc_strbuf file = {0};
    lc_strbuf_printf(&file, "%s/bench.json", directory);
    json_t *object = json_pack("{s:s, s:i, s:b, s:o}", "format", "latecomer-bench", "version", 1,
                               "complete", complete, "jobs", jobs != NULL ? jobs : json_array());
    enum lc_err err = lc_bench_write_json(object, lc_strbuf_get(&file));
    json_decref(object);
    lc_strbuf_free(&file);
    return err;
}

static enum lc_err add(const char *file, struct lc_fingerprint ***all, size_t *n, size_t *room) {
    struct lc_fingerprint *f;
    LC_TRY(lc_fingerprint_read(file, &f));
    enum lc_err err = lc_grow(all, room, *n + 1, sizeof(*all)[0]);
    if (err == LC_OK)
        (*all)[(*n)++] = f;
    else
        lc_fingerprint_free(f);
    return err;
}

/* FILE, or DIR/FILE where several launches are in directories of one; nothing outside of it. */
static bool is_below(const char *name) {
    const char *slash = strchr(name, '/');
    return slash == NULL || (slash != name && strchr(slash + 1, '/') == NULL && *name != '.');
}

/* Those that bench.json lists. */
static enum lc_err add_listed(const char *directory, const json_t *jobs,
                              struct lc_fingerprint ***all, size_t *n) {
    struct lc_strbuf file = {0};
    const json_t *job;
    size_t room = 0;
    enum lc_err err = LC_OK;
    for (size_t i = 0; err == LC_OK && (job = json_array_get(jobs, i)) != NULL; i++) {
        const char *name = json_string_value(json_object_get(job, "file"));
        if (name == NULL || !is_below(name)) {
            err =
                lc_fail(LC_ERR_FORMAT, "bench: %s/bench.json: damaged: job %zu names no file here",
                        directory, i);
            break;
        }
        lc_strbuf_clear(&file);
        lc_strbuf_printf(&file, "%s/%s", directory, name);
        err = add(lc_strbuf_get(&file), all, n, &room);
    }
    lc_strbuf_free(&file);
    return err;
}

enum lc_err lc_bench_read_all(const char *operand, struct lc_fingerprint ***all, size_t *n) {
    struct lc_strbuf list = {0};
    size_t room = 0;
    *all = NULL;
    *n = 0;
    lc_strbuf_printf(&list, "%s/bench.json", operand);
    json_t *bench = json_load_file(lc_strbuf_get(&list), 0, NULL);
    lc_strbuf_free(&list);
    const json_t *jobs = json_object_get(bench, "jobs");
    enum lc_err err =
        json_is_array(jobs) ? add_listed(operand, jobs, all, n) : add(operand, all, n, &room);
    json_decref(bench);
    if (err == LC_OK && *n == 0)
        err = lc_fail(LC_ERR_NOT_FOUND, "bench: %s: holds no fingerprint", operand);
    for (size_t i = 0; err != LC_OK && i < *n; i++)
        lc_fingerprint_free((*all)[i]);
    if (err != LC_OK) {
        free(*all);
        *all = NULL;
        *n = 0;
    }
    return err;
}

void lc_bench_put_text(const json_t *object, const char *key, struct lc_strbuf *out) {
    const char *text = json_string_value(json_object_get(object, key));
    lc_put_printable(out, text != NULL ? text : "?");
}
