/* latecomer bench: the micro-benchmark and its fingerprints. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "bench/bench_result.h"
#include "bench/fingerprint_text.h"
#include "bench/runs_import.h"
#include "cli/cmd.h"
#include "cli/options.h"
#include "report/text_parts.h"

struct settings {
    bool json;
    const char *output, *operation, *bytes;
    struct lc_operands operands;
};

enum { KEY_JSON = 256, KEY_OPERATION, KEY_BYTES };

static const struct argp_option options[] = {
    {"operation", KEY_OPERATION, "OP", 0, "import: what was measured, if the file does not say", 0},
    {"bytes", KEY_BYTES, "N,..", 0, "Message size: 8, 1k, 1M", 0},
    {NULL, 'o', "DIR", 0, "Directory of the result (default latecomer-bench-OP-..)", 0},
    {"json", KEY_JSON, NULL, 0, "One JSON object on standard output", 0},
    {0}};

static error_t parse(int key, char *arg, struct argp_state *state) {
    struct settings *s = state->input;
    if (key == KEY_JSON)
        s->json = true;
    else if (key == KEY_OPERATION)
        s->operation = arg;
    else if (key == KEY_BYTES)
        s->bytes = arg;
    else if (key == 'o')
        s->output = arg;
    else if (key == ARGP_KEY_ARG)
        return lc_cli_operand_add(&s->operands, arg);
    else
        return ARGP_ERR_UNKNOWN;
    return 0;
}

static const struct argp argp = {
    options,
    parse,
    "import FILE.csv\nshow DIR|FILE",
    "Fingerprints of run times: quantiles, phases, modes, histogram. import: of run times measured "
    "elsewhere. show: on the terminal.",
    NULL,
    NULL,
    NULL};

static void begin_page(struct lc_bench_page *page, bool json) {
    struct lc_text text;
    lc_text_begin(&text, json ? stderr : stdout);
    *page = (struct lc_bench_page){.out = text.out,
                                   .width = text.width < 60 ? 60 : text.width,
                                   .utf8 = text.utf8,
                                   .bold = lc_text_bold(&text),
                                   .alarm = lc_text_alarm(&text),
                                   .plain = lc_text_plain(&text)};
}

static enum lc_err print_json(const struct lc_fingerprint *f) {
    json_t *object = lc_fingerprint_json(f);
    int failed =
        object == NULL || json_dumpf(object, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(17)) != 0;
    json_decref(object);
    putchar('\n');
    return failed ? lc_fail(LC_ERR_NOMEM, "bench: not enough memory for the JSON") : LC_OK;
}

static enum lc_err print_one(const struct lc_fingerprint *f, bool json) {
    struct lc_bench_page page;
    if (json)
        return print_json(f);
    begin_page(&page, json);
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

static const char *one_operand(const struct settings *s, const char *what) {
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
        lc_say("result: %s", lc_strbuf_get(&directory));
    lc_strbuf_free(&directory);
    return err;
}

static enum lc_err bench_import(const struct settings *s, int *code) {
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

static enum lc_err bench_show(const struct settings *s, int *code) {
    struct lc_fingerprint **all;
    size_t n;
    (void)code;
    LC_TRY(lc_bench_read_all(one_operand(s, "DIR or FILE"), &all, &n));
    enum lc_err err = LC_OK;
    struct lc_bench_page page;
    begin_page(&page, s->json);
    if (n == 1)
        err = print_one(all[0], s->json);
    else if (s->json)
        err = lc_fail(LC_ERR_USAGE, "bench: %s: holds %zu fingerprints: name one of its files",
                      s->operands.items[1], n);
    for (size_t i = 0; i < n; i++) {
        if (n > 1 && !s->json)
            lc_fingerprint_line(all[i], &page);
        lc_fingerprint_free(all[i]);
    }
    free(all);
    return err;
}

static const struct {
    const char *word;
    enum lc_err (*run)(const struct settings *s, int *code);
} words[] = {{"import", bench_import}, {"show", bench_show}};
enum { WORDS = sizeof words / sizeof words[0] };

static int run_word(const struct settings *s) {
    const char *names[WORDS];
    for (size_t i = 0; i < WORDS; i++) {
        names[i] = words[i].word;
        if (strcmp(s->operands.items[0], words[i].word) != 0)
            continue;
        int code = LC_EXIT_OK;
        if (words[i].run(s, &code) == LC_OK)
            return code;
        lc_complain("%s", lc_err_text());
        return LC_EXIT_ERROR;
    }
    const char *better = lc_cli_suggest(s->operands.items[0], names, WORDS);
    lc_complain(better != NULL ? "bench: %s: unknown: did you mean %s?"
                               : "bench: %s: unknown: see `latecomer help bench`",
                s->operands.items[0], better);
    return LC_EXIT_USAGE;
}

int lc_cmd_bench(int argc, char **argv) {
    struct settings settings = {0};
    int code = lc_cli_parse(&argp, 0, argc, argv, &settings);
    if (code == LC_EXIT_OK && settings.operands.n == 0)
        lc_cli_usage("bench: nothing to do: see `latecomer help bench`");
    if (code == LC_EXIT_OK)
        code = run_word(&settings);
    free(settings.operands.items);
    return code;
}
