#include "report/text.h"

#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/utf8.h"
#include "report/run_info.h"
#include "report/path_scopes.h"
#include "report/sample_errors.h"
#include "report/text_parts.h"

enum { DEFAULT_WIDTH = 100, LEAST_WIDTH = 60, LONGEST_TEXT = 400, LONGEST_NAME = 60 };

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

static void next(const struct lc_text *text) {
    fputc('\n', text->out);
    lc_text_next(text);
}

static enum lc_err causes(const struct lc_text *text) {
    return text->analysis ? lc_text_causes(text) : LC_OK;
}

static enum lc_err useful_path(const struct lc_text *text) {
    return text->analysis ? LC_OK : lc_text_useful_path(text);
}

/* In the order in which one asks. */
static const struct section {
    const char *name;
    void (*print)(const struct lc_text *text); /* or: */
    enum lc_err (*try)(const struct lc_text *text);
} sections[] = {
    {"run", lc_text_header, NULL},     {"findings", NULL, lc_text_all_findings},
    {"late", NULL, lc_text_blame},     {"waits", NULL, lc_text_waits},
    {"causes", NULL, causes},          {"impact", NULL, lc_text_impact}, /* of analyses only */
    {"path", NULL, useful_path},       {"tree", NULL, lc_text_tree},
    {"lines", NULL, lc_text_lines},    {"ranks", lc_text_ranks, NULL},
    {"efficiency", lc_text_pop, NULL}, {"tasks", NULL, lc_text_tasks},
    {"beside", lc_text_beside, NULL},  {"estimates", NULL, lc_text_estimates},
    {"audit", lc_text_audit, NULL},    {"next", next, NULL},
};
enum { N_SECTIONS = sizeof sections / sizeof sections[0] };

const char *const *lc_text_sections(size_t *n) {
    static const char *names[N_SECTIONS + 1];
    for (size_t i = 0; i < N_SECTIONS; i++)
        names[i] = sections[i].name;
    names[N_SECTIONS] = "all";
    *n = N_SECTIONS + 1;
    return names;
}

/* Is the word in the list "a,b,c"? */
static bool is_listed(const char *list, const char *word) {
    size_t length = strlen(word);
    for (; *list != '\0'; list += strcspn(list, ","), list += *list == ',')
        if (strncmp(list, word, length) == 0 && (list[length] == ',' || list[length] == '\0'))
            return true;
    return false;
}

static enum lc_err write_sections(const struct lc_text *text, const char *only) {
    bool all = only == NULL || is_listed(only, "all");
    for (size_t i = 0; i < N_SECTIONS; i++) {
        if (!all && !is_listed(only, sections[i].name))
            continue;
        if (sections[i].print != NULL)
            sections[i].print(text);
        else
            LC_TRY(sections[i].try(text));
    }
    return LC_OK;
}

static enum lc_err write_text(const struct lc_text *text, const struct lc_text_options *options) {
    if (options->metrics != NULL)
        return lc_text_metric_tree(text, options->metrics);
    if (options->only != NULL || options->full)
        return write_sections(text, options->only);
    return lc_text_screen(text);
}

static bool wants_colour(enum lc_text_colour colour, FILE *out) {
    const char *none = getenv("NO_COLOR");
    if (colour != LC_COLOUR_AUTO)
        return colour == LC_COLOUR_ALWAYS;
    return isatty(fileno(out)) && (none == NULL || none[0] == '\0');
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

void lc_text_begin(struct lc_text *text, FILE *out) {
    setlocale(LC_CTYPE, ""); /* the tree's lines; numbers keep their points */
    *text = (struct lc_text){.out = out,
                             .width = terminal_width(out),
                             .colour = wants_colour(LC_COLOUR_AUTO, out),
                             .utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0};
}

enum lc_err lc_text_write(struct lc_view *view, const struct lc_text_options *options, FILE *out) {
    struct lc_text text;
    lc_text_begin(&text, out);
    text.view = view;
    text.full = options->full;
    text.colour = wants_colour(options->colour, out);
    text.analysis = lc_view_is_analysis(view);
    enum lc_err err = lc_json_meta(view, &text.meta);
    if (err == LC_OK)
        err = lc_json_pop(view, &text.pop);
    if (err == LC_OK)
        err = lc_path_scopes_name(view, text.pop);
    make_printable(&text.meta, text.full ? SIZE_MAX : LONGEST_TEXT);
    make_printable(&text.pop, text.full ? SIZE_MAX : LONGEST_NAME);
    if (err == LC_OK)
        err = lc_sums_new(&text.sums, view);
    if (err == LC_OK)
        err = lc_sample_errors(view, &text.error_s);
    if (err == LC_OK)
        err = write_text(&text, options);
    free(text.error_s);
    lc_sums_free(text.sums);
    json_decref(text.meta);
    json_decref(text.pop);
    return err;
}
