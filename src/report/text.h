/* `show` for people: in ten seconds, who makes whom wait. Sections, each left out where the result
 * has no data for it: header, blame, largest wait states, root causes, call tree, ranks, POP
 * factors, estimates, audit. Colour only on a terminal; lines are as wide as the terminal, 100
 * columns elsewhere. */
#ifndef LC_REPORT_TEXT_H
#define LC_REPORT_TEXT_H

#include <stdio.h>

#include "report/view.h"

struct lc_text_options {
    const bool *metrics; /* a flag per metric: the tree of these metrics instead; NULL: sections */
    bool full;           /* names and call paths whole */
};

enum lc_err lc_text_write(struct lc_view *view, const struct lc_text_options *options, FILE *out);

#endif
