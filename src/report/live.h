/* What a running measurement knows so far, and what came since an earlier snapshot: for `latecomer
 * top`. Seconds, added up over the threads of a rank; without MPI_Init. */
#ifndef LC_REPORT_LIVE_H
#define LC_REPORT_LIVE_H

#include <stdio.h>

#include "report/late.h"
#include "report/view.h"

struct lc_live_rank {
    int32_t rank;
    double time, mpi, waiting; /* waiting is part of mpi */
};

struct lc_live_late { /* a rank that others wait for */
    int32_t rank;
    /* Waits of an interval: seconds that it costs the others, directly and through others
     * that it made late. Else, where none are over: that it spent in MPI less than the mean of
     * all. */
    bool waited;
    double seconds;
    char *path; /* what it was in for most of that; else where outside MPI it was longest */
};

struct lc_live {
    double elapsed;            /* of the rank that has run longest */
    struct lc_view *view;      /* NULL: of an interval */
    struct lc_late_list costs; /* so far, in the view */
    struct lc_live_rank *ranks;
    size_t n_ranks, n_unknown;
    struct lc_live_late *late; /* of an interval; largest first */
    size_t n_late;
};

/* Takes the view. Freed with lc_live_free, also after a failure. Errors: LC_ERR_NOMEM, and
 * those of lc_view_row. */
enum lc_err lc_live_read(struct lc_live *live, struct lc_view *view);
/* now - before; ranks that were not there before count from 0. Time in a call in progress is
 * counted, a wait when its call has ended: in an interval at most the time in MPI. Errors:
 * those of lc_live_read. */
enum lc_err lc_live_since(struct lc_live *since, const struct lc_live *now,
                          const struct lc_live *before);
/* Closes the view and frees what it holds, not the struct. */
void lc_live_free(struct lc_live *live);

/* About `lines` lines of text: the ranks as bars (useful, in MPI, waiting), those that wait least
 * and most where there are many, and who is late. */
void lc_live_print(const struct lc_live *now, const struct lc_live *since, size_t lines, FILE *out);
/* One JSON object and a newline. LC_ERR_IO, LC_ERR_NOMEM. */
enum lc_err lc_live_json(const struct lc_live *now, const struct lc_live *since, FILE *out);

#endif
