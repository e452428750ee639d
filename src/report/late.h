/* Who was late, from the members costs.tsv and blame.tsv of a profile: seconds that others waited,
 * per rank or thread whose fault it was and the code it was in; of results without costs.tsv per
 * rank that they waited for. */
#ifndef LC_REPORT_LATE_H
#define LC_REPORT_LATE_H

#include "report/tsv.h"
#include "report/view.h"

struct lc_late { /* strings belong to the list */
    const char *rank, *path;
    const char *thread;    /* "": the rank as a whole */
    const char *from, *to; /* the call sites between which most of it was; "" if unknown */
    double seconds;
    double error;       /* standard error of these where samples found the code; else 0 */
    double indirect;    /* of these: of those who wait for others that it made late */
    double share;       /* percent of all waiting */
    const char *victim; /* the call path that waited longest for it */
    double victim_seconds;
};

struct lc_late_list {
    struct lc_tsv blame, costs;
    struct lc_late *list; /* largest first */
    size_t n;
};

/* n is 0 where the result has none. Freed with lc_late_free; empty after a failure: LC_ERR_FORMAT,
 * LC_ERR_IO: a member is damaged or cannot be read; LC_ERR_NOMEM. */
enum lc_err lc_late_read(struct lc_late_list *late, const struct lc_view *view);
/* Noun and number: "rank" "3", "thread" "2" where there is but one rank, "rank" "3 thread 2". */
const char *lc_late_noun(const struct lc_late *late, const struct lc_view *view);
/* The number that goes with lc_late_noun. */
void lc_late_number(const struct lc_late *late, const struct lc_view *view, char text[64]);
/* Frees what it holds, not the struct. */
void lc_late_free(struct lc_late_list *late);

#endif
