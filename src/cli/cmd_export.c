/* latecomer export: a result in the formats of other viewers. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/outfile.h"
#include "cli/cmd.h"
#include "cli/options.h"
#include "report/export.h"
#include "report/locate.h"

enum { KEY_TO = 256, KEY_METRIC, KEY_MAX_SIZE, KEY_ANALYSIS };

struct settings {
    const char *format, *metric, *out, *operand;
    uint64_t most_bytes;
    bool analysis;
};

static const struct argp_option options[] = {
    {"to", KEY_TO, "speedscope|folded|csv|hatchet|perfetto", 0, "Format", 0},
    {NULL, 'o', "OUT", 0, "File to write (default: standard output; perfetto needs one)", 0},
    {"metric", KEY_METRIC, "M", 0,
     "Metric (speedscope, folded: default time; csv, hatchet: default all)", 0},
    {"max-size", KEY_MAX_SIZE, "SIZE", 0, "Size limit of the file, e.g. 20M (default); 0: none", 0},
    {"analysis", KEY_ANALYSIS, NULL, 0, "DIR stands for its analysis.cubex, not its profile.cubex",
     0},
    {0}};

/* "20M": bytes; k, M and G are powers of 1024. */
static uint64_t parse_size(const char *text) {
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    static const char units[] = "kMG";
    const char *unit = *end != '\0' ? strchr(units, *end == 'K' ? 'k' : *end) : NULL;
    unsigned shift = unit != NULL ? 10 * (unsigned)(unit - units + 1) : 0;
    if (end == text || text[0] == '-' || errno != 0 || (*end != '\0' && unit == NULL) ||
        (unit != NULL && end[1] != '\0') || value > UINT64_MAX >> shift)
        lc_cli_usage("export: --max-size %s: give a size such as 500k, 20M or 1G", text);
    return value << shift;
}

static const char timeline[] = "perfetto"; /* of a trace; all others are of a result */

static const char *check_format(const char *name) {
    size_t n;
    const char *const *of_results = lc_export_formats(&n);
    const char *names[16] = {timeline};
    for (size_t i = 0; i < n && i < 15; i++)
        names[1 + i] = of_results[i];
    for (size_t i = 0; i < n + 1; i++)
        if (strcmp(names[i], name) == 0)
            return name;
    const char *better = lc_cli_suggest(name, names, n + 1);
    if (better != NULL)
        lc_cli_usage("export: --to %s: no such format: did you mean %s?", name, better);
    lc_cli_usage("export: --to %s: no such format: see `latecomer help export`", name);
}

static error_t parse(int key, char *arg, struct argp_state *state) {
    struct settings *settings = state->input;
    if (key == KEY_TO)
        settings->format = check_format(arg);
    else if (key == 'o')
        settings->out = arg;
    else if (key == KEY_METRIC)
        settings->metric = arg;
    else if (key == KEY_MAX_SIZE)
        settings->most_bytes = parse_size(arg);
    else if (key == KEY_ANALYSIS)
        settings->analysis = true;
    else if (key == ARGP_KEY_ARG)
        lc_cli_operand(&settings->operand, arg, "export", "FILE or DIR");
    else if (key == ARGP_KEY_END && settings->format == NULL)
        lc_cli_usage("export: no format given: give --to=speedscope, folded, csv, hatchet "
                     "or perfetto");
    else
        return ARGP_ERR_UNKNOWN;
    return 0;
}

static const struct argp argp = {
    options,
    parse,
    "--to FORMAT [FILE|DIR]",
    "Writes a result for other viewers: speedscope (speedscope.app), folded (stacks for flame "
    "graphs), csv (a line per call path, metric, rank and thread), hatchet (literal of "
    "GraphFrame.from_literal), perfetto (timeline of a trace, for "
    "ui.perfetto.dev). Without FILE or DIR: the newest experiment directory here.",
    NULL,
    NULL,
    NULL};

static enum lc_err export_result(const struct settings *settings, FILE *out) {
    struct lc_view *view = NULL;
    enum lc_err err = lc_locate_view(settings->operand, settings->analysis, &view);
    if (err == LC_OK)
        err = lc_export_write(view, settings->format, settings->metric, settings->most_bytes, out);
    lc_view_close(view);
    return err;
}

static int complain(enum lc_err err) {
    if (err != LC_OK)
        lc_complain("%s", lc_err_text());
    return err == LC_OK ? LC_EXIT_OK : LC_EXIT_ERROR;
}

static int export_to(const struct settings *settings, struct lc_outfile *file) {
    if (strcmp(settings->format, timeline) == 0)
        return lc_export_timeline(settings->operand, file->partial, settings->most_bytes);
    FILE *out = lc_outfile_stream(file);
    return complain(out != NULL ? export_result(settings, out)
                                : lc_fail_errno(LC_ERR_NOMEM, "%s: cannot be written", file->path));
}

static int write_file(const struct settings *settings) {
    struct lc_outfile file;
    if (lc_outfile_open(&file, settings->out) != LC_OK)
        return complain(LC_ERR_IO);
    int code = export_to(settings, &file);
    if (code == LC_EXIT_OK)
        return complain(lc_outfile_commit(&file));
    lc_outfile_abandon(&file);
    return code;
}

int lc_cmd_export(int argc, char **argv) {
    struct settings settings = {.most_bytes = (uint64_t)20 << 20};
    int code = lc_cli_parse(&argp, 0, argc, argv, &settings);
    if (code != LC_EXIT_OK)
        return code;
    if (settings.out != NULL)
        return write_file(&settings);
    if (strcmp(settings.format, timeline) == 0)
        lc_cli_usage("export: --to perfetto: no file given: give -o FILE");
    return complain(export_result(&settings, stdout));
}
