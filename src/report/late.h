/* Who was late, from the member blame.tsv of a profile: seconds that others waited, per late rank
 * or thread and the code it was in. */
#ifndef LC_REPORT_LATE_H
#define LC_REPORT_LATE_H

#include "report/tsv.h"
#include "report/view.h"

struct lc_late { /* strings belong to the list */
    const char *rank, *path;
    const char *thread;    /* "": the rank as a whole */
    const char *from, *to; /* the call sites between which most of it was; "" if unknown */
    double seconds;
    double share;       /* percent of all waiting */
    const char *victim; /* the call path that waited longest for it */
    double victim_seconds;
};

struct lc_late_list {
    struct lc_tsv tsv;
    struct lc_late *list; /* largest first */
    size_t n;
};

/* n is 0 where the result has none. Freed with lc_late_free. */
enum lc_err lc_late_read(struct lc_late_list *late, const struct lc_view *view);
/* Noun and number: "rank" "3", "thread" "2" where there is but one rank, "rank" "3 thread 2". */
const char *lc_late_noun(const struct lc_late *late, const struct lc_view *view);
void lc_late_number(const struct lc_late *late, const struct lc_view *view, char text[64]);
void lc_late_free(struct lc_late_list *late);

#endif
