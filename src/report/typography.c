/* How texts are set: headings, wrapped lines, units, shares, locations. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/text_parts.h"

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

/* Length of the first word; a number and its unit are one. */
static size_t word_length(const char *words) {
    static const char *const units[] = {"s", "ms", "us", "ns", "min", "h", "%"};
    size_t length = strcspn(words, " ");
    if (length == 0 || words[length - 1] < '0' || words[length - 1] > '9' || words[length] == '\0')
        return length;
    const char *next = words + length + 1;
    size_t unit = strcspn(next, " ,.;:)");
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strlen(units[i]) == unit && strncmp(next, units[i], unit) == 0)
            return length + 1 + strcspn(next, " ");
    return length;
}

void lc_text_wrapped(const struct lc_text *text, size_t column, int indent, const char *words) {
    bool begun = column > 0; /* a word is in this line */
    bool first = true;
    while (*words != '\0') {
        size_t length = word_length(words), shown = 0;
        for (size_t i = 0; i < length; i++)
            shown += ((unsigned char)words[i] & 0xc0) != 0x80;
        if (begun && column > (size_t)indent && column + 1 + shown > text->width) {
            fputc('\n', text->out);
            column = 0;
        }
        int blanks = column == 0 ? indent : !first || column > (size_t)indent;
        first = false;
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

void lc_text_put_bar(const struct lc_text *text, const double parts[3], size_t width,
                     struct lc_strbuf *out) {
    static const char *const blocks[2][3] = {{"#", "+", "-"}, {"█", "▒", "░"}};
    size_t drawn = 0;
    double sum = 0.0;
    for (int i = 0; i < 3; i++) {
        sum += parts[i] > 0.0 ? parts[i] : 0.0;
        size_t end = sum >= 1.0 ? width : (size_t)(sum * (double)width + 0.5);
        for (; drawn < end; drawn++)
            lc_strbuf_puts(out, blocks[text->utf8][i]);
    }
    for (; drawn < width; drawn++)
        lc_strbuf_putc(out, ' ');
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
    double sum = 0.0, largest = 0.0, shown = 0.0;
    for (size_t l = 0; l < n; l++) {
        sum += values[l];
        largest = fmax(largest, values[l]);
    }
    buffer[0] = '\0';
    if (known > 2 && largest * (double)known < 1.25 * sum) {
        snprintf(buffer, room, "all alike");
        return;
    }
    double below =
        INFINITY; /* values shown so far are at least this; equal ones come by location */
    uint32_t last = LC_NONE;
    for (int k = 0; k < NAMED && shown < 0.8 * sum; k++) {
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
        shown += values[best];
        below = values[best];
        last = best;
    }
}
