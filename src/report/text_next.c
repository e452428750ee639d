/* Which other result there is of the same run, or how to get it. */
#include <string.h>
#include <unistd.h>

#include "report/locate.h"
#include "report/text_parts.h"

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
    else if (is_profile)
        lc_strbuf_puts(&line, "Root causes: run with `latecomer run --trace`, then `latecomer "
                              "analyze` finds them");
    if (line.length > 0)
        lc_text_wrapped(text, 0, 0, lc_strbuf_get(&line));
    lc_strbuf_free(&line);
}
