#include "report/text.h"

#include <langinfo.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/utf8.h"
#include "report/json.h"
#include "report/text_parts.h"

enum { DEFAULT_WIDTH = 100, LEAST_WIDTH = 60, LONGEST_TEXT = 400, LONGEST_NAME = 60 };

void lc_text_heading(const struct lc_text *text, const char *title, const char *remark) {
    fprintf(text->out, "\n%s%s%s", lc_text_bold(text), title, lc_text_plain(text));
    bool any = remark != NULL && remark[0] != '\0';
    bool fits = any && strlen(title) + strlen(remark) + 4 <= text->width;
    if (fits)
        fprintf(text->out, "  (%s)", remark);
    fputc('\n', text->out);
    if (any && !fits)
        lc_text_wrapped(text, 0, 2, remark);
}

void lc_text_wrapped(const struct lc_text *text, size_t column, int indent, const char *words) {
    bool begun = column > 0; /* a word is in this line */
    while (*words != '\0') {
        size_t length = strcspn(words, " "), shown = 0;
        for (size_t i = 0; i < length; i++)
            shown += ((unsigned char)words[i] & 0xc0) != 0x80;
        if (begun && column > (size_t)indent && column + 1 + shown > text->width) {
            fputc('\n', text->out);
            column = 0;
        }
        int blanks = column == 0 ? indent : column > (size_t)indent;
        fprintf(text->out, "%*s%.*s", blanks, "", (int)length, words);
        column += (size_t)blanks + shown;
        begun = true;
        words += length;
        words += strspn(words, " ");
    }
    fputc('\n', text->out);
}

const char *lc_text_bold(const struct lc_text *text) {
    return text->colour ? "\033[1m" : "";
}

const char *lc_text_alarm(const struct lc_text *text) {
    return text->colour ? "\033[1;31m" : "";
}

const char *lc_text_plain(const struct lc_text *text) {
    return text->colour ? "\033[0m" : "";
}

const char *lc_text_seconds(double seconds, char buffer[32]) {
    double size = fabs(seconds);
    if (size >= 1000.0)
        snprintf(buffer, 32, "%.0f s", seconds);
    else if (size >= 1.0)
        snprintf(buffer, 32, "%.3g s", seconds);
    else if (size >= 1e-3)
        snprintf(buffer, 32, "%.3g ms", seconds * 1e3);
    else if (size > 0.0)
        snprintf(buffer, 32, "%.3g us", seconds * 1e6);
    else
        snprintf(buffer, 32, "0");
    return buffer;
}

double lc_text_share(double part, double whole) {
    return whole > 0.0 ? 100.0 * part / whole : 0.0;
}

const char *lc_text_source(const struct lc_text *text, uint32_t path, char buffer[160]) {
    buffer[0] = '\0';
    if (path == LC_NONE)
        return buffer;
    const struct lc_model *model = text->view->model;
    uint32_t cnode = text->view->paths[path].first_cnode;
    const struct lc_region *region = &model->regions[model->cnodes[cnode].region];
    const char *slash = strrchr(region->module, '/');
    char *file = lc_text_outside(slash != NULL ? slash + 1 : region->module, 40);
    if (region->begin_line > 0 && file != NULL && file[0] != '\0')
        snprintf(buffer, 160, " (%.120s:%lld)", file, (long long)region->begin_line);
    free(file);
    return buffer;
}

void lc_text_location(const struct lc_text *text, uint32_t location, char *buffer, size_t room) {
    const struct lc_model *model = text->view->model;
    if (model->n_locations == model->n_processes)
        snprintf(buffer, room, "rank %d", lc_view_rank(text->view, location));
    else
        snprintf(buffer, room, "rank %d thread %d", lc_view_rank(text->view, location),
                 model->locations[location].thread);
}

void lc_text_carriers(const struct lc_text *text, const double *values, char *buffer, size_t room) {
    enum { NAMED = 3 };
    size_t n = text->view->model->n_locations, used = 0;
    size_t known = n - text->view->n_unknown;
    double sum = 0.0, largest = 0.0, told = 0.0;
    for (size_t l = 0; l < n; l++) {
        sum += values[l];
        largest = fmax(largest, values[l]);
    }
    buffer[0] = '\0';
    if (known > 2 && largest * (double)known < 1.25 * sum) {
        snprintf(buffer, room, "all alike");
        return;
    }
    double below = INFINITY; /* values told so far are at least this; equal ones come by location */
    uint32_t last = LC_NONE;
    for (int k = 0; k < NAMED && told < 0.8 * sum; k++) {
        uint32_t best = LC_NONE;
        for (uint32_t l = 0; l < n; l++) {
            bool later = values[l] < below || (values[l] == below && last != LC_NONE && l > last);
            if (later && (best == LC_NONE || values[l] > values[best]))
                best = l;
        }
        if (best == LC_NONE || values[best] <= 0.0)
            break;
        char name[48];
        lc_text_location(text, best, name, sizeof name);
        int put = snprintf(buffer + used, room - used, "%s%s %.0f %%", k > 0 ? ", " : "", name,
                           lc_text_share(values[best], sum));
        if (put < 0 || (size_t)put >= room - used)
            break;
        used += (size_t)put;
        told += values[best];
        below = values[best];
        last = best;
    }
}

static size_t terminal_width(FILE *out) {
    struct winsize size;
    int fd = fileno(out);
    const char *columns = getenv("COLUMNS");
    long wanted = columns != NULL ? strtol(columns, NULL, 10) : 0;
    if (fd >= 0 && isatty(fd) && ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        wanted = size.ws_col;
    if (wanted <= 0)
        wanted = DEFAULT_WIDTH;
    return wanted < LEAST_WIDTH ? LEAST_WIDTH : (size_t)wanted;
}

/* The last line names the result that was not shown. */
static void name_the_other(const struct lc_text *text) {
    const char *file = text->view->file, *slash = strrchr(file, '/');
    int dir = slash != NULL ? (int)(slash + 1 - file) : 0;
    const char *name = slash != NULL ? slash + 1 : file;
    char other[4096], traces[4096];
    bool is_profile = strcmp(name, "profile.cubex") == 0;
    if (!is_profile && strcmp(name, "analysis.cubex") != 0)
        return;
    snprintf(other, sizeof other, "%.*s%s", dir, file,
             is_profile ? "analysis.cubex" : "profile.cubex");
    snprintf(traces, sizeof traces, "%.*straces.otf2", dir, file);
    if (access(other, R_OK) == 0)
        fprintf(text->out, "\n%s: `latecomer show %s` shows it\n",
                is_profile ? "Analysis of the trace" : "Profile", other);
    else if (is_profile && access(traces, R_OK) == 0)
        fprintf(text->out, "\nRoot causes: not analysed yet: `latecomer analyze %s` writes %s\n",
                traces, other);
    else if (is_profile)
        fprintf(text->out, "\nRoot causes: run with `latecomer run --trace`, then `latecomer "
                           "analyze` finds them\n");
}

static enum lc_err write_sections(struct lc_text *text, const bool *metrics) {
    if (metrics != NULL)
        return lc_text_metric_tree(text, metrics);
    lc_text_header(text);
    LC_TRY(lc_text_blame(text));
    LC_TRY(lc_text_waits(text));
    LC_TRY(text->analysis ? lc_text_causes(text) : lc_text_useful_path(text));
    LC_TRY(lc_text_tree(text));
    lc_text_ranks(text);
    lc_text_pop(text);
    LC_TRY(lc_text_estimates(text));
    lc_text_audit(text);
    name_the_other(text);
    return LC_OK;
}

/* Every string of what the result says about the run, made printable and cut in its middle: it
 * comes from files. */
static json_t *printable_copy(const json_t *value, size_t width) {
    const char *key;
    json_t *member, *copy = NULL;
    size_t i;
    struct lc_strbuf text = {0};
    if (json_is_string(value)) {
        char *shown = lc_text_outside(json_string_value(value), width);
        copy = shown != NULL ? json_string(shown) : json_null();
        free(shown);
        return copy;
    }
    if (json_is_array(value)) {
        copy = json_array();
        json_array_foreach(value, i, member)
            json_array_append_new(copy, printable_copy(member, width));
        return copy;
    }
    if (!json_is_object(value))
        return json_incref((json_t *)value);
    copy = json_object();
    json_object_foreach((json_t *)value, key, member) {
        lc_strbuf_clear(&text);
        lc_put_printable(&text, key);
        json_object_set_new(copy, lc_strbuf_get(&text), printable_copy(member, width));
    }
    lc_strbuf_free(&text);
    return copy;
}

static void make_printable(json_t **value, size_t width) {
    json_t *copy = *value != NULL ? printable_copy(*value, width) : NULL;
    json_decref(*value);
    *value = copy;
}

enum lc_err lc_text_write(struct lc_view *view, const struct lc_text_options *options, FILE *out) {
    struct lc_text text = {
        .out = out, .view = view, .width = terminal_width(out), .full = options->full};
    setlocale(LC_CTYPE, ""); /* the tree's lines; numbers keep their points */
    text.colour = isatty(fileno(out)) && getenv("NO_COLOR") == NULL;
    text.analysis = lc_model_find_metric(view->model, "critical_path") != LC_NONE ||
                    lc_model_find_metric(view->model, "delay_latesender") != LC_NONE;
    enum lc_err err = lc_json_meta(view, &text.meta);
    if (err == LC_OK)
        err = lc_json_pop(view, &text.pop);
    make_printable(&text.meta, text.full ? SIZE_MAX : LONGEST_TEXT);
    make_printable(&text.pop, text.full ? SIZE_MAX : LONGEST_NAME);
    if (err == LC_OK)
        err = lc_sums_new(&text.sums, view);
    if (err == LC_OK)
        err = write_sections(&text, options->metrics);
    lc_sums_free(text.sums);
    json_decref(text.meta);
    json_decref(text.pop);
    return err;
}
