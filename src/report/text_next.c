/* Which other result there is of the same run, or how to get it. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/locate.h"
#include "report/text_parts.h"
#include "report/trace_advice.h"

/* A name as a word of the shell: PHASE, 'two words'; one that needs more is left to the user. */
static const char *quote_of(const char *window) {
    return window[strspn(window, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                 "_-.,:/+=@%")] == '\0'
               ? ""
               : "'";
}

/* "or `--trace=solve` alone: 60 % of the waiting in 9 % of the time" */
static void put_window(const struct lc_text *text, const struct lc_trace_window *w,
                       struct lc_strbuf *line) {
    const char *quote = quote_of(w->window);
    const char *estimated = text->sums->estimated ? " (estimated)" : "";
    lc_strbuf_printf(line, "or `--trace=%s%s%s` alone", quote, w->window, quote);
    if (w->callpath != NULL) {
        char *where = lc_text_outside(w->callpath, text->width > 20 ? text->width - 10 : 10);
        lc_strbuf_printf(line, ", of the loop in %s", where != NULL ? where : "?");
        free(where);
    }
    if (w->worth == LC_WINDOW_TYPICAL)
        lc_strbuf_printf(line,
                         ", which has %.0f %% of the waiting%s: they are like its other "
                         "iterations, in %.2g %% of the time",
                         100 * w->loop_share, estimated, 100 * w->time_share);
    else
        lc_strbuf_printf(line, ": %.0f %% of the waiting%s in %.2g %% of the time",
                         100 * w->waiting_share, estimated, 100 * w->time_share);
}

/* The phase, and the iterations, that are most worth a trace, if any are. */
static void print_windows(const struct lc_text *text) {
    struct lc_trace_window *list;
    size_t n;
    bool shown[2] = {false, false}; /* a phase, iterations */
    if (lc_trace_windows(text->view, text->sums, text->pop, &list, &n) != LC_OK)
        return; /* advice only */
    for (size_t i = 0; i < n; i++) {
        bool *of_kind = &shown[list[i].callpath != NULL];
        if (*of_kind || list[i].worth == LC_WINDOW_NOT_WORTH)
            continue; /* the first of each kind has most waiting */
        *of_kind = true;
        struct lc_strbuf line = {0};
        put_window(text, &list[i], &line);
        fputs("  ", text->out);
        lc_text_wrapped(text, 2, 4, lc_strbuf_get(&line));
        lc_strbuf_free(&line);
    }
    lc_trace_windows_free(list, n);
}

/* The last line names the result that was not shown. */
void lc_text_next(const struct lc_text *text) {
    const char *file = text->view->file, *slash = strrchr(file, '/');
    int dir = slash != NULL ? (int)(slash + 1 - file) : 0;
    const char *name = slash != NULL ? slash + 1 : file;
    char other[4096], traces[4096], directory[4096];
    bool is_profile = strcmp(name, "profile.cubex") == 0;
    if (!is_profile && strcmp(name, "analysis.cubex") != 0)
        return;
    snprintf(other, sizeof other, "%.*s%s", dir, file,
             is_profile ? "analysis.cubex" : "profile.cubex");
    snprintf(traces, sizeof traces, "%.*straces.otf2", dir, file);
    snprintf(directory, sizeof directory, "%.*s", dir > 1 ? dir - 1 : 1, dir > 0 ? file : ".");
    struct lc_strbuf line = {0};
    bool advise = false;
    if (access(other, R_OK) == 0)
        lc_strbuf_printf(&line, "%s: `latecomer show %s` shows it",
                         is_profile ? "Analysis of the trace" : "Profile", other);
    else if (is_profile && access(traces, R_OK) == 0)
        lc_strbuf_printf(&line, "Root causes: not analysed yet: `latecomer analyze %s` writes %s",
                         traces, other);
    else if (is_profile && lc_locate_unfinished_trace(directory))
        lc_strbuf_printf(&line,
                         "Root causes: its trace is unfinished: `latecomer recover %s`, then "
                         "`latecomer analyze %s`",
                         directory, directory);
    else if (is_profile && !lc_text_only_time(text) && !lc_text_uninitialised(text)) {
        lc_strbuf_puts(&line, "Root causes: run with `latecomer run --trace`, then `latecomer "
                              "analyze` finds them");
        advise = true;
    }
    if (line.length > 0)
        lc_text_wrapped(text, 0, 0, lc_strbuf_get(&line));
    lc_strbuf_free(&line);
    if (advise)
        print_windows(text);
}
