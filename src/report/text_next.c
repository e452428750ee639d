/* Which other result there is of the same run, or how to get it. */
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

/* The phase, and the iterations, that are most worth a trace, if one is smaller than the run. */
static void print_windows(const struct lc_text *text) {
    struct lc_trace_window *list;
    size_t n;
    char line[1024];
    if (lc_trace_windows(text->view, text->sums, text->pop, &list, &n) != LC_OK)
        return; /* advice only */
    for (size_t i = 0; i < n; i++) {
        const struct lc_trace_window *w = &list[i];
        const char *quote = quote_of(w->window);
        if (i > 0 && (w->callpath == NULL) == (list[i - 1].callpath == NULL))
            continue; /* the first of each kind has most waiting */
        snprintf(line, sizeof line,
                 "or `--trace=%s%s%s` alone%s%s: %.0f %% of the waiting%s in %.2g %% of the time",
                 quote, w->window, quote, w->callpath != NULL ? ", of the loop in " : "",
                 w->callpath != NULL ? w->callpath : "", 100 * w->waiting_share,
                 text->sums->estimated ? " (estimated)" : "", 100 * w->time_share);
        fputs("  ", text->out);
        lc_text_wrapped(text, 2, 4, line);
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
    else if (is_profile) {
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
