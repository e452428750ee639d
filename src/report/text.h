/* `show` for people. One screen (text_screen.c): the run, who is late, efficiency, the heaviest
 * call paths, what to type next. Or sections at length, each left out where the result has no data
 * for it. Colour on a terminal only, unless asked for, and not with NO_COLOR; lines are as wide as
 * the terminal, 100 columns elsewhere. */
#ifndef LC_REPORT_TEXT_H
#define LC_REPORT_TEXT_H

#include <stdio.h>

#include "report/view.h"

enum lc_text_colour { LC_COLOUR_AUTO, LC_COLOUR_ALWAYS, LC_COLOUR_NEVER };

struct lc_text_options {
    const bool *metrics; /* a flag per metric: the tree of these metrics instead; NULL: sections */
    const char *only;    /* names of sections, separated by commas; NULL: one screen */
    bool full;           /* all sections, names and call paths whole */
    enum lc_text_colour colour;
};

/* The result as text. Errors: those of reading its rows, LC_ERR_NOMEM. */
enum lc_err lc_text_write(struct lc_view *view, const struct lc_text_options *options, FILE *out);

/* The names of the sections, "all" last; `n`: how many. */
const char *const *lc_text_sections(size_t *n);

#endif
