/* Levels of run times: modes (how often each) and change points (when). On the logarithm, so that
 * equal factors are equal distances. */
#ifndef LC_BENCH_MODES_H
#define LC_BENCH_MODES_H

#include <stddef.h>

#include "base/err.h"

enum { LC_MODES_MOST = 8 };

struct lc_modes {
    size_t n; /* 1 at least, of any runs */
    struct lc_mode {
        double location_ns; /* where the density is highest */
        double low_ns, high_ns;
        double weight;  /* share of the runs between low_ns and high_ns */
        size_t stays;   /* how often the runs come into this mode; 0: lc_modes_dwell() not called */
        size_t longest; /* repetitions of the longest stay */
        double dwell;   /* repetitions of a stay, mean */
    } mode[LC_MODES_MOST]; /* by location */
};

/* Peaks of a kernel density estimate that hold 3 % of the runs and have a valley of less than 0.7
 * of their height beside them. `ascending`: n > 0 sorted run times > 0. LC_ERR_NOMEM. */
enum lc_err lc_modes_find(const double *ascending, size_t n, struct lc_modes *modes);

/* Fills stays, longest and dwell of modes found in these runs. `runs`: in the order of time. Those
 * of no mode neither count nor end a stay. */
void lc_modes_dwell(struct lc_modes *modes, const double *runs, size_t n);

/* Change points of the level: PELT (Killick et al. 2012) with the penalty of Schwarz, on values
 * clipped beside the running median, so that outliers make none; two are at least 10 repetitions
 * apart. The caller frees *points (first repetition of each new level). LC_ERR_NOMEM. */
enum lc_err lc_change_points(const double *runs, size_t n, size_t **points, size_t *count);

/* deviations[n]: of log x, clipped at three times the noise beside its running median, from its
 * running mean; in units of the noise. (A median of a window follows levels that alternate.)
 * LC_ERR_NOMEM. */
enum lc_err lc_deviations(const double *runs, size_t n, double *deviations);

#endif
