/* latecomer bench: the micro-benchmark and its fingerprints. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "bench/bench_audit.h"
#include "bench/bench_result.h"
#include "bench/compare_text.h"
#include "bench/fingerprint_text.h"
#include "bench/runs_import.h"
#include "bench/word_list.h"
#include "cli/bench_beside.h"
#include "cli/bench_guidelines.h"
#include "cli/bench_jobs.h"
#include "cli/bench_options.h"
#include "cli/cmd.h"
#include "report/text_parts.h"

static void begin_page(struct lc_bench_page *page) {
    struct lc_text text;
    lc_text_begin(&text, stdout);
    *page = (struct lc_bench_page){.out = text.out,
                                   .width = text.width < 60 ? 60 : text.width,
                                   .utf8 = text.utf8,
                                   .bold = lc_text_bold(&text),
                                   .alarm = lc_text_alarm(&text),
                                   .plain = lc_text_plain(&text)};
    for (int c = 0; c < LC_CATEGORIES; c++)
        page->category[c] = text.colour ? lc_bench_terminal_colours[c] : "";
}

static enum lc_err print_object(const json_t *object) {
    int failed =
        object == NULL || json_dumpf(object, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(17)) != 0;
    putchar('\n');
    return failed ? lc_fail(LC_ERR_NOMEM, "bench: not enough memory for the JSON") : LC_OK;
}

static enum lc_err print_json(const struct lc_fingerprint *f) {
    json_t *object = lc_fingerprint_json(f);
    enum lc_err err = print_object(object);
    json_decref(object);
    return err;
}

/* Several as one object. */
static enum lc_err print_json_of(struct lc_fingerprint *const *all, size_t n) {
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(list, lc_fingerprint_json(all[i]));
    json_t *object =
        json_pack("{s:s, s:o}", "format", "latecomer-fingerprints", "fingerprints", list);
    enum lc_err err = print_object(object);
    json_decref(object);
    return err;
}

static enum lc_err print_one(const struct lc_fingerprint *f, bool json) {
    struct lc_bench_page page;
    if (json)
        return print_json(f);
    begin_page(&page);
    return lc_fingerprint_text(f, &page);
}

/* 8, 1k, 1M; ends the program where it is none. */
static uint64_t parse_bytes(const char *text) {
    char *end;
    double value = strtod(text, &end);
    if (*end != '\0' && strchr("kKmMgG", *end) != NULL) {
        value *= *end == 'k' || *end == 'K' ? 0x1p10 : *end == 'm' || *end == 'M' ? 0x1p20 : 0x1p30;
        end++;
    }
    if (end == text || *end != '\0' || !(value >= 0 && value <= 0x1p40) ||
        value != (double)(uint64_t)value)
        lc_cli_usage("bench: --bytes %s: not a message size: give 8, 1k, 1M", text);
    return (uint64_t)value;
}

static const char *one_operand(const struct lc_bench_settings *s, const char *what) {
    if (s->operands.n != 2)
        lc_cli_usage("bench: %s: give one %s", s->operands.items[0], what);
    return s->operands.items[1];
}

static enum lc_err write_result(const struct lc_fingerprint *f, const char *wanted) {
    struct lc_strbuf directory = {0};
    json_t *jobs = NULL;
    enum lc_err err = lc_bench_directory(wanted, &directory);
    if (err == LC_OK)
        err = lc_bench_add_job(lc_strbuf_get(&directory), f, &jobs);
    if (err == LC_OK)
        err = lc_bench_end(lc_strbuf_get(&directory), jobs, true);
    else
        json_decref(jobs);
    if (err == LC_OK)
        err = lc_report_benchmark(directory.text);
    if (err == LC_OK)
        lc_say("result: %s", lc_strbuf_get(&directory));
    lc_strbuf_free(&directory);
    return err;
}

static enum lc_err bench_import(const struct lc_bench_settings *s, int *code) {
    struct lc_imported in;
    struct lc_fingerprint *f;
    const char *file = one_operand(s, "FILE.csv");
    uint64_t bytes = s->bytes != NULL ? parse_bytes(s->bytes) : 0;
    (void)code;
    LC_TRY(lc_runs_import(file, &in));
    const char *operation = s->operation != NULL      ? s->operation
                            : in.operation[0] != '\0' ? in.operation
                                                      : "imported";
    LC_TRY(lc_fingerprint_new(&f, operation, s->bytes != NULL ? bytes : in.bytes, in.ranks, in.runs,
                              in.n, NULL));
    enum lc_err err = s->output != NULL ? write_result(f, s->output) : LC_OK;
    if (err == LC_OK)
        err = print_one(f, s->json);
    lc_fingerprint_free(f);
    return err;
}

/* What a directory of several launches says, again; *shown: it is one. */
static enum lc_err show_launches(const struct lc_bench_settings *s, const char *directory,
                                 bool *shown) {
    static const struct {
        const char *file, *format;
        void (*print)(const json_t *object, const struct lc_bench_page *page);
    } kinds[] = {{"sweep.json", "latecomer-sweep", lc_bench_sweep_text},
                 {"guidelines.json", "latecomer-guidelines", lc_bench_guidelines_text}};
    enum lc_err err = LC_OK;
    *shown = false;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0] && !*shown; i++) {
        struct lc_strbuf file = {0};
        struct lc_bench_page page;
        lc_strbuf_printf(&file, "%s/%s", directory, kinds[i].file);
        *shown = access(lc_strbuf_get(&file), F_OK) == 0;
        json_t *object = *shown ? json_load_file(lc_strbuf_get(&file), 0, NULL) : NULL;
        const char *format = json_string_value(json_object_get(object, "format"));
        begin_page(&page);
        if (*shown && (format == NULL || strcmp(format, kinds[i].format) != 0))
            err = lc_fail(LC_ERR_FORMAT, "bench: %s: is damaged, or of something else",
                          lc_strbuf_get(&file));
        else if (*shown && s->json)
            err = print_object(object);
        else if (*shown)
            kinds[i].print(object, &page);
        json_decref(object);
        lc_strbuf_free(&file);
    }
    return err;
}

static enum lc_err bench_show(const struct lc_bench_settings *s, int *code) {
    struct lc_fingerprint **all;
    size_t n;
    bool shown;
    (void)code;
    const char *operand = one_operand(s, "DIR or FILE");
    LC_TRY(show_launches(s, operand, &shown));
    if (shown)
        return LC_OK;
    LC_TRY(lc_bench_recover(operand));
    LC_TRY(lc_bench_read_all(operand, &all, &n));
    enum lc_err err = LC_OK;
    struct lc_bench_page page;
    begin_page(&page);
    if (n == 1)
        err = print_one(all[0], s->json);
    else if (s->json)
        err = print_json_of(all, n);
    for (size_t i = 0; i < n; i++) {
        if (n > 1 && !s->json)
            lc_fingerprint_line(all[i], &page);
        lc_fingerprint_free(all[i]);
    }
    free(all);
    return err;
}

static enum lc_err bench_list(const struct lc_bench_settings *s, int *code) {
    (void)s;
    (void)code;
    return lc_bench_list();
}

/* Sizes as numbers: "8,1024". The caller frees it. */
static char *sizes_of(const char *list) {
    struct lc_strbuf out = {0};
    char *copy = strdup(list), *rest = copy, number[32];
    for (char *word; rest != NULL && (word = strsep(&rest, ",")) != NULL;) {
        snprintf(number, sizeof number, "%llu", (unsigned long long)parse_bytes(word));
        lc_word_list_add(number, &out);
    }
    free(copy);
    return lc_strbuf_take(&out);
}

/* What was measured for the others' sake only. */
static bool is_beside(const struct lc_bench_options *options, const struct lc_collected *result,
                      size_t i) {
    return (options->less_empty || options->audit) && result->n > 1 &&
           strcmp(result->all[i]->operation, "empty") == 0;
}

/* What the measuring did in this launch; all of that stands in each fingerprint, too. */
static enum lc_err print_audit(const struct lc_collected *result,
                               const struct lc_bench_page *page) {
    struct lc_bench_audit audit = {0};
    enum lc_err err = lc_bench_audit_add(&audit, result->all, result->n);
    json_t *object = err == LC_OK ? lc_bench_audit_json(&audit) : NULL;
    lc_bench_audit_text(object, page);
    json_decref(object);
    lc_bench_audit_free(&audit);
    return err;
}

/* One launch, printed; of one of many a line for each fingerprint. */
static enum lc_err measure(const struct lc_bench_settings *s, const char *operations, int *code) {
    struct lc_bench_options options = s->options;
    struct lc_collected result;
    char *sizes = sizes_of(s->bytes != NULL ? s->bytes : "8");
    options.operations = operations;
    options.bytes = sizes;
    options.output = s->output;
    options.page = lc_report_benchmark;
    enum lc_err err = lc_bench_start(&options, &result, code);
    struct lc_fingerprint **shown = NULL;
    size_t n = 0;
    if (err == LC_OK)
        err = lc_alloc(&shown, result.n + 1, sizeof shown[0]);
    for (size_t i = 0; err == LC_OK && i < result.n; i++)
        if (!is_beside(&options, &result, i))
            shown[n++] = result.all[i];
    struct lc_bench_page page;
    begin_page(&page);
    if (err == LC_OK && n == 1 && !options.one_of_many)
        err = print_one(shown[0], s->json);
    else if (err == LC_OK && s->json)
        err = print_json_of(shown, n);
    else if (err == LC_OK)
        for (size_t i = 0; i < n; i++)
            lc_fingerprint_line(shown[i], &page);
    free(shown);
    if (err == LC_OK && options.audit && !s->json)
        err = print_audit(&result, &page);
    lc_collected_free(&result);
    free(sizes);
    return err;
}

static enum lc_err bench_measure(const struct lc_bench_settings *s, int *code) {
    if (s->operands.n > 1)
        lc_cli_usage("bench: more than one operation: separate them with commas: %s,%s",
                     s->operands.items[0], s->operands.items[1]);
    return measure(s, s->operands.items[0], code);
}

/* A line of a job file: what it does not say is as on the command line. operands: to be freed. */
static enum lc_err parse_job(const struct lc_bench_settings *s, const char *file,
                             struct lc_bench_job *job, struct lc_bench_settings *wanted) {
    *wanted = *s;
    wanted->operands = (struct lc_operands){.items = NULL};
    wanted->output = NULL;
    wanted->options.one_of_many = true;
    if (lc_cli_parse(&lc_bench_argp, 0, job->n, job->word, wanted) != LC_EXIT_OK)
        exit(LC_EXIT_USAGE);
    lc_bench_check_options(wanted, "");
    if (wanted->operands.n == 1 && wanted->output == NULL)
        return LC_OK;
    free(wanted->operands.items);
    lc_fail(LC_ERR_USAGE, "bench: %s: line %zu: give one OP and its options, and no -o", file,
            job->line);
    return LC_ERR_USAGE; /* so that the analyser of clang sees that it fails */
}

/* The result of each line is a directory in that of all. */
static enum lc_err run_job(const struct lc_bench_settings *s, const char *directory, size_t line,
                           json_t *listed, int *code) {
    struct lc_bench_settings one = *s;
    struct lc_strbuf output = {0};
    int job_code = LC_EXIT_OK;
    lc_strbuf_printf(&output, "%s/line-%zu", directory, line);
    one.output = lc_strbuf_get(&output);
    enum lc_err err = measure(&one, s->operands.items[0], &job_code);
    fflush(stdout);
    lc_bench_add_part(lc_strbuf_get(&output), listed);
    if (err != LC_OK && err != LC_ERR_USAGE && !lc_bench_interrupted()) {
        lc_complain("bench: line %zu: %s: left out: nothing was measured: run it by itself to see "
                    "why",
                    line, s->operands.items[0]);
        err = LC_OK;
        job_code = LC_EXIT_ERROR;
    }
    if (job_code != LC_EXIT_OK)
        *code = LC_EXIT_ERROR;
    lc_strbuf_free(&output);
    return lc_bench_interrupted() ? LC_OK : err;
}

/* All lines, before the first is measured. */
static enum lc_err parse_jobs(const struct lc_bench_settings *s, const char *file,
                              struct lc_bench_jobs *jobs, struct lc_bench_settings *all,
                              size_t *n) {
    for (*n = 0; *n < jobs->n; (*n)++) {
        LC_TRY(parse_job(s, file, &jobs->all[*n], &all[*n]));
        char *found;
        enum lc_err err = lc_bench_find_operations(all[*n].operands.items[0], &found);
        free(found);
        if (err != LC_OK) {
            free(all[*n].operands.items);
            return err;
        }
    }
    return LC_OK;
}

static enum lc_err run_jobs(const struct lc_bench_settings *all, const struct lc_bench_jobs *jobs,
                            const char *wanted, int *code) {
    struct lc_strbuf directory = {0};
    json_t *listed = json_array();
    enum lc_err err = lc_bench_directory(wanted, &directory);
    for (size_t i = 0; err == LC_OK && i < jobs->n && !lc_bench_interrupted(); i++)
        err = run_job(&all[i], lc_strbuf_get(&directory), jobs->all[i].line, listed, code);
    if (json_array_size(listed) > 0 && err == LC_OK)
        err = lc_bench_end(lc_strbuf_get(&directory), listed,
                           *code == LC_EXIT_OK && !lc_bench_interrupted());
    else
        json_decref(listed);
    (void)rmdir(lc_strbuf_get(&directory)); /* where nothing was measured */
    if (err == LC_OK && lc_bench_interrupted()) {
        *code = LC_EXIT_ERROR;
        lc_complain("bench: stopped early: what was measured is in %s", lc_strbuf_get(&directory));
    } else if (err == LC_OK) {
        lc_say("result: %s", lc_strbuf_get(&directory));
    }
    lc_strbuf_free(&directory);
    return err;
}

static enum lc_err bench_jobs(const struct lc_bench_settings *s, int *code) {
    const char *file = one_operand(s, "FILE");
    struct lc_bench_jobs jobs;
    struct lc_bench_settings *all = NULL;
    struct lc_launch here;
    size_t n = 0;
    lc_launch_detect_place(&here);
    if (here.kind != LC_LAUNCHER_NONE)
        return lc_fail(LC_ERR_USAGE, "bench: jobs: starts launchers itself: run it without one");
    enum lc_err err = lc_bench_jobs_read(file, &jobs);
    if (err == LC_OK)
        err = lc_alloc(&all, jobs.n, sizeof *all);
    if (err == LC_OK)
        err = parse_jobs(s, file, &jobs, all, &n);
    if (err == LC_OK)
        err = run_jobs(all, &jobs, s->output != NULL ? s->output : "latecomer-bench-jobs", code);
    for (size_t i = 0; i < n; i++)
        free(all[i].operands.items);
    free(all);
    lc_bench_jobs_free(&jobs);
    return err;
}

static enum lc_err bench_sweep(const struct lc_bench_settings *s, int *code) {
    struct lc_sweep_options options = s->sweep;
    json_t *result;
    const char *bytes = s->bytes;
    options.each = s->options;
    options.each.operations = one_operand(s, "OP");
    options.n_vary = 0;
    for (size_t i = 0; i < s->sweep.n_vary; i++) /* each size is ranked by itself */
        if (strncmp(s->sweep.vary[i], "bytes=", 6) == 0)
            bytes = s->sweep.vary[i] + 6;
        else
            options.vary[options.n_vary++] = s->sweep.vary[i];
    char *sizes = sizes_of(bytes != NULL ? bytes : "8");
    options.each.bytes = sizes;
    options.each.output = s->output;
    enum lc_err err = lc_bench_sweep(&options, &result, code);
    struct lc_bench_page page;
    begin_page(&page);
    if (err == LC_OK && s->json)
        err = print_object(result);
    else if (err == LC_OK)
        lc_bench_sweep_text(result, &page);
    json_decref(result);
    free(sizes);
    return err;
}

static enum lc_err bench_guidelines(const struct lc_bench_settings *s, int *code) {
    struct lc_bench_options each = s->options;
    json_t *result;
    if (s->operands.n > 2)
        lc_cli_usage("bench: guidelines: more than one operand: separate operations with commas");
    each.operations = s->operands.n == 2 ? s->operands.items[1] : NULL;
    char *sizes = sizes_of(s->bytes != NULL ? s->bytes : "8,8k");
    each.bytes = sizes;
    each.output = s->output;
    enum lc_err err = lc_bench_guidelines(&each, s->sweep.rounds, &result, code);
    struct lc_bench_page page;
    begin_page(&page);
    if (err == LC_OK && s->json)
        err = print_object(result);
    else if (err == LC_OK)
        lc_bench_guidelines_text(result, &page);
    json_decref(result);
    free(sizes);
    return err;
}

/* What a program's operations take alone, from results or, without any, measured now. */
static enum lc_err print_beside(const struct lc_bench_settings *s, const char *experiment,
                                char **results, size_t n, int *code) {
    struct lc_bench_options each = s->options;
    json_t *table;
    each.output = s->output;
    LC_TRY(lc_bench_beside(experiment, results, n, &each, &table, code));
    struct lc_bench_page page;
    begin_page(&page);
    enum lc_err err = LC_OK;
    if (s->json)
        err = print_object(table);
    else
        lc_bench_beside_text(table, &page);
    json_decref(table);
    return err;
}

static enum lc_err bench_beside(const struct lc_bench_settings *s, int *code) {
    if (s->operands.n < 2)
        lc_cli_usage(
            "bench: beside: give the result of a program, and results of bench if there are any");
    return print_beside(s, s->operands.items[1], s->operands.items + 2, s->operands.n - 2, code);
}

static enum lc_err bench_compare(const struct lc_bench_settings *s, int *code) {
    struct lc_bench_comparison c;
    struct lc_bench_page page;
    char **results = s->operands.items + 1; /* after "compare" */
    size_t n = s->operands.n - 1, n_b = s->n_after == SIZE_MAX ? 1 : s->n_after;
    if (s->n_after == SIZE_MAX && n != 2)
        lc_cli_usage("bench: compare: give two results, or launches of two: A1 A2 -- B1 B2");
    if (n_b == 0 || n_b >= n)
        lc_cli_usage("bench: compare: one side is empty: give results before and after --");
    enum lc_err err = LC_OK;
    for (size_t i = 0; i < n && err == LC_OK; i++)
        err = lc_bench_recover(results[i]);
    if (err != LC_OK)
        return err;
    err = lc_bench_comparison_new(&c, results, n - n_b, results + n - n_b, n_b,
                                  s->options.seed != 0 ? s->options.seed : 1);
    if (err == LC_OK && s->json) {
        json_t *object = lc_bench_comparison_json(&c);
        err = print_object(object);
        json_decref(object);
    } else if (err == LC_OK) {
        begin_page(&page);
        lc_bench_comparison_text(&c, &page);
    }
    if (err == LC_OK && s->gate && c.verdict != LC_BENCH_SAME)
        *code = LC_EXIT_SLOWER;
    lc_bench_comparison_free(&c);
    return err;
}

static const struct {
    const char *word;
    enum lc_err (*run)(const struct lc_bench_settings *s, int *code);
} words[] = {{"import", bench_import}, {"show", bench_show},      {"list", bench_list},
             {"jobs", bench_jobs},     {"sweep", bench_sweep},    {"guidelines", bench_guidelines},
             {"beside", bench_beside}, {"compare", bench_compare}};
enum { WORDS = sizeof words / sizeof words[0] };

static int run_word(const struct lc_bench_settings *s) {
    int code = LC_EXIT_OK;
    enum lc_err (*run)(const struct lc_bench_settings *, int *) = bench_measure;
    const char *word = "";
    for (size_t i = 0; i < WORDS && s->of == NULL; i++)
        if (strcmp(s->operands.items[0], words[i].word) == 0) {
            run = words[i].run;
            word = words[i].word;
        }
    lc_bench_check_options(s, word);
    enum lc_err err = s->of != NULL ? print_beside(s, s->of, NULL, 0, &code) : run(s, &code);
    if (err == LC_OK)
        return code;
    lc_complain("%s", lc_err_text());
    return err == LC_ERR_USAGE ? LC_EXIT_USAGE : LC_EXIT_ERROR;
}

int lc_cmd_bench(int argc, char **argv) {
    struct lc_bench_settings settings = {.n_after = lc_cli_after_dashes(argc, argv)};
    char **typed; /* parsing changes their order */
    if (lc_alloc(&typed, (size_t)argc, sizeof typed[0]) == LC_OK) {
        memcpy(typed, argv, (size_t)argc * sizeof typed[0]);
        settings.options.argc = argc;
        settings.options.argv = typed;
    }
    int code = lc_cli_parse(&lc_bench_argp, 0, argc, argv, &settings);
    if (code == LC_EXIT_OK && settings.of != NULL && (settings.operands.n > 0 || settings.bytes))
        lc_cli_usage("bench: --of: the program says which operations and sizes: leave others out");
    if (code == LC_EXIT_OK && settings.operands.n == 0 && settings.of == NULL)
        lc_cli_usage("bench: nothing to do: see `latecomer help bench`");
    if (code == LC_EXIT_OK)
        code = run_word(&settings);
    free(settings.operands.items);
    free(typed);
    return code;
}
