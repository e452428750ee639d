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
    if (access(other, R_OK) == 0)
        fprintf(text->out, "%s: `latecomer show %s` shows it\n",
                is_profile ? "Analysis of the trace" : "Profile", other);
    else if (is_profile && access(traces, R_OK) == 0)
        fprintf(text->out, "Root causes: not analysed yet: `latecomer analyze %s` writes %s\n",
                traces, other);
    else if (is_profile && lc_locate_unfinished_trace(directory))
        fprintf(text->out,
                "Root causes: its trace is unfinished: `latecomer recover %s`, then `latecomer "
                "analyze %s`\n",
                directory, directory);
    else if (is_profile)
        fprintf(text->out, "Root causes: run with `latecomer run --trace`, then `latecomer "
                           "analyze` finds them\n");
}
