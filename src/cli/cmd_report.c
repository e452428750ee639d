/* latecomer report: one page of HTML from one result or several. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "job/launcher.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/outfile.h"
#include "base/strbuf.h"
#include "base/utf8.h"
#include "bench/bench_result.h"
#include "bench/compare_text.h"
#include "cli/cmd.h"
#include "cli/options.h"
#include "report/locate.h"
#include "report/page.h"

enum { KEY_WINDOW = 256 };

struct settings {
    const char *out;
    struct lc_strbuf windows;
    struct lc_operands operands;
};

static const struct argp_option options[] = {
    {NULL, 'o', "FILE", 0, "Page to write (default: report.html in the first directory)", 0},
    {"window", KEY_WINDOW, "T0:T1", 0,
     "Also show this part of the trace in full detail (seconds since its first event)", 0},
    {0}};

static void check_window(const char *text) {
    char *end;
    double from = strtod(text, &end);
    if (end != text && *end == ':') {
        const char *second = end + 1;
        double to = strtod(second, &end);
        if (end != second && *end == '\0' && from >= 0.0 && to > from && to <= 1e9)
            return;
    }
    lc_cli_usage("report: --window %s: give seconds since the first event as T0:T1", text);
}

static error_t parse(int key, char *arg, struct argp_state *state) {
    struct settings *settings = state->input;
    if (key == 'o')
        settings->out = arg;
    else if (key == KEY_WINDOW) {
        check_window(arg);
        lc_strbuf_printf(&settings->windows, settings->windows.length > 0 ? ",%s" : "%s", arg);
    } else if (key == ARGP_KEY_ARG)
        return lc_cli_operand_add(&settings->operands, arg);
    else
        return ARGP_ERR_UNKNOWN;
    return 0;
}

static const struct argp argp = {
    options,
    parse,
    "[FILE|DIR..]",
    "Writes one self-contained page of HTML: findings with their causes, "
    "efficiency, call tree, timeline, who waits for whom; of several results also how they scale "
    "and what changed; of fingerprints, sweeps and guidelines of `latecomer bench`. Without FILE "
    "or DIR: the newest "
    "experiment directory here.",
    NULL,
    NULL,
    NULL};

static enum lc_err beside(char **file, const char *name, const char *other) {
    const char *slash = strrchr(name, '/');
    int length = slash != NULL ? (int)(slash - name) + 1 : 0;
    if (asprintf(file, "%.*s%s", length, name, other) < 0)
        return lc_fail(LC_ERR_NOMEM, "memory: cannot build a file name");
    return LC_OK;
}

static bool is_there(const char *file) {
    struct stat status;
    return stat(file, &status) == 0 && S_ISREG(status.st_mode);
}

/* What the page holds of the trace; without it where the trace cannot be read. */
static enum lc_err add_timeline(struct lc_page_result *result, const char *trace,
                                const struct settings *settings, const char *page, size_t k) {
    char *file;
    if (!lc_report_has_trace(trace))
        return LC_OK;
    if (asprintf(&file, "%s.%zu.timeline", page, k) < 0)
        return lc_fail(LC_ERR_NOMEM, "memory: cannot build a file name");
    const char *windows = settings->windows.length > 0 ? lc_strbuf_get(&settings->windows) : NULL;
    if (lc_report_timeline(trace, windows, file) == LC_EXIT_OK) {
        result->timeline = file;
        return LC_OK;
    }
    unlink(file);
    free(file);
    return lc_strdup(&result->why, "the trace could not be read");
}

/* A file alone is shown without what lies beside it. */
static bool is_whole(const char *operand) {
    struct stat status;
    return operand == NULL || (stat(operand, &status) == 0 && S_ISDIR(status.st_mode));
}

static enum lc_err add_result(struct lc_page_result *result, const struct settings *settings,
                              const char *operand, const char *page, size_t k) {
    char *directory = NULL;
    LC_TRY(lc_locate(operand, false, &result->file));
    result->name = operand != NULL ? operand : result->file;
    if (!is_whole(operand))
        return LC_OK;
    LC_TRY(beside(&result->analysis, result->file, "analysis.cubex"));
    if (strcmp(result->analysis, result->file) == 0 || !is_there(result->analysis)) {
        free(result->analysis);
        result->analysis = NULL;
    }
    LC_TRY(beside(&directory, result->file, ""));
    enum lc_err err = add_timeline(result, *directory != '\0' ? directory : ".", settings, page, k);
    free(directory);
    return err;
}

static void free_result(struct lc_page_result *result) {
    free(result->file);
    free(result->analysis);
    free(result->timeline);
    free(result->why);
}

static bool ends_with(const char *text, const char *end) {
    size_t length = strlen(text), more = strlen(end);
    return length >= more && strcmp(text + length - more, end) == 0;
}

/* The file of a directory of `latecomer bench`, or the operand where it is that file; the caller
 * frees it; NULL: it is neither. */
static char *bench_file(const char *operand, const char *name) {
    char *file = NULL;
    if (operand == NULL || (ends_with(operand, name) ? asprintf(&file, "%s", operand)
                                                     : asprintf(&file, "%s/%s", operand, name)) < 0)
        return NULL;
    if (!is_there(file)) {
        free(file);
        file = NULL;
    }
    return file;
}

/* What several launches say: of these kinds. */
static const struct {
    enum lc_page_kind kind;
    const char *file, *format;
} launches[] = {{LC_PAGE_SWEEPS, "sweep.json", "latecomer-sweep"},
                {LC_PAGE_GUIDELINES, "guidelines.json", "latecomer-guidelines"}};
enum { LAUNCHES = sizeof launches / sizeof launches[0] };

/* Results of `latecomer bench`: a directory of it, a fingerprint, or a table of launches. */
static bool is_benchmark(const char *operand) {
    bool is = operand != NULL && ends_with(operand, ".fingerprint.json");
    char *file = bench_file(operand, "bench.json");
    is = is || file != NULL;
    free(file);
    for (size_t i = 0; i < LAUNCHES && !is; i++) {
        file = bench_file(operand, launches[i].file);
        is = file != NULL;
        free(file);
    }
    return is;
}

static void free_bench(struct lc_page_content *content) {
    for (int kind = 0; kind < LC_PAGE_KINDS; kind++) {
        for (size_t i = 0; i < content->bench[kind].n; i++)
            free(content->bench[kind].texts[i]);
        free(content->bench[kind].texts);
    }
    free(content->bench_comparison);
}

/* A name as the page shows it. */
static json_t *printable(const char *name) {
    struct lc_strbuf text = {0};
    lc_put_printable(&text, name);
    json_t *json = json_string(lc_strbuf_get(&text));
    lc_strbuf_free(&text);
    return json;
}

/* JSON as it stands in the page; takes the reference. NULL: no memory. */
static char *compact(json_t *object) {
    char *text = object != NULL ? json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(9)) : NULL;
    json_decref(object);
    return text;
}

/* Takes the object. */
static enum lc_err add_bench(struct lc_page_content *content, enum lc_page_kind kind,
                             json_t *object) {
    size_t n = content->bench[kind].n;
    char *text = compact(object);
    char **more =
        text != NULL ? realloc(content->bench[kind].texts, (n + 1) * sizeof more[0]) : NULL;
    if (more == NULL) {
        free(text);
        return lc_fail(LC_ERR_NOMEM, "memory: cannot write a result of bench");
    }
    more[n] = text;
    content->bench[kind].texts = more;
    content->bench[kind].n++;
    return LC_OK;
}

static enum lc_err add_fingerprints(struct lc_page_content *content, const char *operand) {
    struct lc_fingerprint **all = NULL;
    size_t n = 0;
    enum lc_err err = lc_bench_read_all(operand, &all, &n);
    for (size_t i = 0; i < n; i++) {
        json_t *object = err == LC_OK ? lc_fingerprint_json(all[i]) : NULL;
        json_object_del(json_object_get(object, "mpi"), "other_parameters"); /* a thousand */
        if (object != NULL)
            json_object_set_new(object, "source", printable(operand));
        if (err == LC_OK)
            err = add_bench(content, LC_PAGE_FINGERPRINTS, object);
        lc_fingerprint_free(all[i]);
    }
    free(all);
    return err;
}

/* A table of launches, if the operand is one; *is: it is. */
static enum lc_err add_launches(struct lc_page_content *content, const char *operand, bool *is) {
    *is = false;
    for (size_t i = 0; i < LAUNCHES && !*is; i++) {
        char *file = bench_file(operand, launches[i].file);
        if (file == NULL)
            continue;
        *is = true;
        json_t *object = json_load_file(file, 0, NULL);
        const char *format = json_string_value(json_object_get(object, "format"));
        enum lc_err err = LC_OK;
        if (format == NULL || strcmp(format, launches[i].format) != 0) {
            json_decref(object);
            err = lc_fail(LC_ERR_FORMAT, "%s: is damaged, or of something else", file);
        } else {
            err = add_bench(content, launches[i].kind, object);
        }
        free(file);
        LC_TRY(err);
    }
    return LC_OK;
}

static enum lc_err write_page(const struct lc_page_content *content, struct lc_outfile *file) {
    FILE *out = lc_outfile_stream(file);
    if (out == NULL)
        return lc_fail_errno(LC_ERR_NOMEM, "%s: cannot be written", file->path);
    return lc_page_write(content, out);
}

static const char *operand_of(const struct settings *settings, size_t i) {
    return settings->operands.n > 0 ? settings->operands.items[i] : NULL;
}

/* One operand: a result, or what bench has left. */
static enum lc_err add_operand(struct lc_page_content *content, const struct settings *settings,
                               const char *operand, const char *page) {
    bool is_launches;
    LC_TRY(add_launches(content, operand, &is_launches));
    if (is_launches)
        return LC_OK;
    if (is_benchmark(operand))
        return add_fingerprints(content, operand);
    size_t k = content->n_results++;
    return add_result(&content->results[k], settings, operand, page, k);
}

/* The first result of the micro-benchmark and the last one, as `latecomer bench compare` does. */
static enum lc_err compare_benchmarks(struct lc_page_content *content,
                                      const struct settings *settings) {
    char *sides[2] = {NULL, NULL};
    struct lc_bench_comparison comparison;
    json_t *object;
    for (size_t i = 0; i < settings->operands.n; i++)
        if (is_benchmark(settings->operands.items[i]))
            sides[sides[0] != NULL] = settings->operands.items[i];
    if (sides[1] == NULL)
        return LC_OK;
    enum lc_err err = lc_bench_comparison_new(&comparison, &sides[0], 1, &sides[1], 1, 1);
    if (err == LC_OK)
        object = lc_bench_comparison_json(&comparison);
    else
        object = json_pack("{s:s}", "why", lc_err_text());
    lc_bench_comparison_free(&comparison);
    if (object != NULL)
        json_object_set_new(object, "sources",
                            json_pack("[o, o]", printable(sides[0]), printable(sides[1])));
    content->bench_comparison = compact(object);
    return content->bench_comparison != NULL
               ? LC_OK
               : lc_fail(LC_ERR_NOMEM, "memory: cannot write a comparison");
}

static enum lc_err make(const struct settings *settings, struct lc_page_content *content, size_t n,
                        const char *page) {
    struct lc_outfile file;
    LC_TRY(lc_outfile_open(&file, page));
    enum lc_err err = LC_OK;
    for (size_t i = 0; err == LC_OK && i < n; i++)
        err = add_operand(content, settings, operand_of(settings, i), file.partial);
    if (err == LC_OK)
        err = compare_benchmarks(content, settings);
    if (err == LC_OK)
        err = write_page(content, &file);
    if (err == LC_OK)
        return lc_outfile_commit(&file);
    lc_outfile_abandon(&file);
    return err;
}

/* report.html in the directory of the first result. */
static enum lc_err default_page(const struct settings *settings, char **page) {
    const char *first = operand_of(settings, 0);
    struct stat status;
    char *file;
    if (is_benchmark(first)) {
        bool directory = stat(first, &status) == 0 && S_ISDIR(status.st_mode);
        if (!directory)
            return beside(page, first, "report.html");
        return asprintf(page, "%s/report.html", first) >= 0
                   ? LC_OK
                   : lc_fail(LC_ERR_NOMEM, "memory: cannot build a file name");
    }
    LC_TRY(lc_locate(first, false, &file));
    enum lc_err err = beside(page, file, "report.html");
    free(file);
    return err;
}

/* Under a launcher the ranks but the first only take part in the analysis of traces, which shares
 * the locations among them; what fails for them fails for the first, too, which says so. */
static void take_part(const struct settings *settings, const char *page) {
    size_t n = settings->operands.n > 0 ? settings->operands.n : 1;
    struct stat status;
    bool file = stat(page, &status) != 0 || S_ISREG(status.st_mode);
    char *partial;
    if (asprintf(&partial, "%s%s.partial", file ? "" : lc_temporary_folder(),
                 file ? page : "/latecomer") < 0)
        return;
    enum lc_err err = LC_OK;
    for (size_t i = 0, k = 0; err == LC_OK && i < n; i++) {
        struct lc_page_result result = {.name = NULL};
        if (is_benchmark(operand_of(settings, i)))
            continue;
        err = add_result(&result, settings, operand_of(settings, i), partial, k++);
        free_result(&result);
    }
    free(partial);
}

static int report(const struct settings *settings, const char *page) {
    struct lc_page_content content = {.n_results = 0};
    size_t n = settings->operands.n > 0 ? settings->operands.n : 1;
    enum lc_err err = lc_alloc(&content.results, n, sizeof *content.results);
    if (err == LC_OK)
        err = make(settings, &content, n, page);
    if (err == LC_OK)
        lc_say("page: %s", page);
    else
        lc_complain("%s", lc_err_text());
    for (size_t k = 0; k < content.n_results; k++) {
        if (content.results[k].timeline != NULL)
            unlink(content.results[k].timeline);
        free_result(&content.results[k]);
    }
    free(content.results);
    free_bench(&content);
    return err == LC_OK ? LC_EXIT_OK : LC_EXIT_ERROR;
}

enum lc_err lc_report_benchmark(char *directory) {
    struct settings settings = {.operands = {.items = &directory, .n = 1}};
    struct lc_page_content content = {.n_results = 0};
    char *page = NULL;
    enum lc_err err = default_page(&settings, &page);
    if (err == LC_OK)
        err = make(&settings, &content, 1, page);
    free_bench(&content);
    free(page);
    return err;
}

int lc_cmd_report(int argc, char **argv) {
    struct settings settings = {.out = NULL};
    struct lc_launch launch;
    char *page = NULL;
    int code = lc_cli_parse(&argp, 0, argc, argv, &settings);
    if (code != LC_EXIT_OK)
        return code;
    lc_launch_detect_place(&launch);
    enum lc_err err =
        settings.out != NULL ? lc_strdup(&page, settings.out) : default_page(&settings, &page);
    if (launch.rank > 0) {
        if (err == LC_OK)
            take_part(&settings, page);
    } else if (err == LC_OK) {
        code = report(&settings, page);
    } else {
        lc_complain("%s", lc_err_text());
        code = LC_EXIT_ERROR;
    }
    free(page);
    lc_strbuf_free(&settings.windows);
    free(settings.operands.items);
    return code;
}
