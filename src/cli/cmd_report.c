/* latecomer report: one page of HTML from one result or several. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/strbuf.h"
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
     "Show this time of the trace in full detail, too (seconds since its first event)", 0},
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
    "Writes one page of HTML that needs nothing else to be looked at: findings with their causes, "
    "efficiency, call tree, timeline, who waits for whom; of several results also how they scale "
    "and what changed. Without FILE or DIR: the newest experiment directory here.",
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

static enum lc_err add_result(struct lc_page_result *result, const struct settings *settings,
                              const char *operand, const char *page, size_t k) {
    char *directory = NULL;
    struct stat status;
    LC_TRY(lc_locate(operand, false, &result->file));
    result->name = operand != NULL ? operand : result->file;
    bool whole = operand == NULL || (stat(operand, &status) == 0 && S_ISDIR(status.st_mode));
    if (!whole)
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
    if (result->timeline != NULL)
        unlink(result->timeline);
    free(result->file);
    free(result->analysis);
    free(result->timeline);
    free(result->why);
}

static enum lc_err write_page(const struct lc_page_result *results, size_t n, const char *file) {
    FILE *out = fopen(file, "wb");
    if (out == NULL)
        return lc_fail_errno(LC_ERR_IO, "%s: cannot be written", file);
    enum lc_err err = lc_page_write(results, n, out);
    if (fclose(out) != 0 && err == LC_OK)
        err = lc_fail_errno(LC_ERR_IO, "%s: cannot be written", file);
    return err;
}

/* Under another name until it is whole. */
static enum lc_err make(const struct settings *settings, struct lc_page_result *results, size_t n,
                        const char *page) {
    char *partial;
    if (asprintf(&partial, "%s.partial", page) < 0)
        return lc_fail(LC_ERR_NOMEM, "memory: cannot build a file name");
    enum lc_err err = LC_OK;
    for (size_t k = 0; err == LC_OK && k < n; k++)
        err = add_result(&results[k], settings,
                         settings->operands.n > 0 ? settings->operands.items[k] : NULL, partial, k);
    if (err == LC_OK)
        err = write_page(results, n, partial);
    if (err == LC_OK && rename(partial, page) != 0)
        err = lc_fail_errno(LC_ERR_IO, "%s", page);
    if (err != LC_OK)
        unlink(partial);
    free(partial);
    return err;
}

/* report.html in the directory of the first result. */
static enum lc_err default_page(const struct settings *settings, char **page) {
    char *file;
    LC_TRY(lc_locate(settings->operands.n > 0 ? settings->operands.items[0] : NULL, false, &file));
    enum lc_err err = beside(page, file, "report.html");
    free(file);
    return err;
}

int lc_cmd_report(int argc, char **argv) {
    struct settings settings = {.out = NULL};
    struct lc_page_result *results = NULL;
    char *page = NULL;
    int code = lc_cli_parse(&argp, 0, argc, argv, &settings);
    if (code != LC_EXIT_OK)
        return code;
    size_t n = settings.operands.n > 0 ? settings.operands.n : 1;
    enum lc_err err =
        settings.out != NULL ? lc_strdup(&page, settings.out) : default_page(&settings, &page);
    if (err == LC_OK)
        err = lc_alloc(&results, n, sizeof *results);
    if (err == LC_OK)
        err = make(&settings, results, n, page);
    if (err == LC_OK)
        lc_say("page: %s", page);
    else
        lc_complain("%s", lc_err_text());
    for (size_t k = 0; results != NULL && k < n; k++)
        free_result(&results[k]);
    free(results);
    free(page);
    lc_strbuf_free(&settings.windows);
    free(settings.operands.items);
    return err == LC_OK ? LC_EXIT_OK : LC_EXIT_ERROR;
}
