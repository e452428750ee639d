/* What computing and writing a comparison share. */
#ifndef LC_REPORT_COMPARE_PRIVATE_H
#define LC_REPORT_COMPARE_PRIVATE_H

#include <jansson.h>

#include "report/compare.h"
#include "report/run_indicators.h"

enum lc_change_part {
    LC_PART_USEFUL,
    LC_PART_BALANCE,
    LC_PART_SERIALISATION,
    LC_PART_TRANSFER,
    LC_PARTS
};

enum lc_significance { LC_BY_NOTHING, LC_BY_ITERATIONS, LC_BY_RUNS };

enum lc_order { LC_ORDER_UNKNOWN, LC_ORDER_TURNS, LC_ORDER_ONE_SIDE_FIRST };

struct lc_compared_run {
    char *file, *program;
    json_t *pop; /* NULL: has none */
    int side;
    double ranks, executors;
    double elapsed_s, calls;        /* calls: of MPI, but for those that only ask */
    double begin_s;                 /* since 1970; NAN: not known */
    bool has_parts, has_path_parts; /* of the run; of its call paths */
    double parts[LC_PARTS];         /* add up to elapsed_s */
};

struct lc_compared_path {
    char *path, *path_before;      /* in B, and in A where that differs (else NULL) */
    char *shown;                   /* as it is printed */
    double *own_s, *waiting_s;     /* per run: of the path itself, mean over ranks and threads */
    double *part_s[LC_PARTS];      /* per run: what it has of the parts of the run */
    double part_delta_s[LC_PARTS]; /* NAN: not known */
    double a_s, b_s, delta_s, half_s, waiting_delta_s;
    bool only_a, only_b;
};

struct lc_comparison {
    struct lc_compared_run *runs;
    size_t n_runs, cap_runs, cap_indicators, n_side[2];
    struct lc_run_indicators *indicators; /* per run; those of A first */
    struct lc_run_indicators means[2];    /* of each side */
    struct lc_view *first; /* the first run of A, which the others are aligned with */
    struct lc_compared_path *paths;
    size_t n_paths, cap_paths;

    enum lc_significance by;
    bool is_calibrated;        /* by three runs or more on each side */
    enum lc_order order;       /* in which the runs were taken */
    const char *verdict, *why; /* why: of "not comparable" and "different work" */
    const char *differs;       /* these runs: "slower", "faster"; NULL: not by more than chance */
    size_t runs_needed;        /* on each side, to decide; 0: it is decided */
    char why_text[160];
    double threshold;
    double a_s, b_s, ratio, ratio_low, ratio_high, half_s;
    double var_s2[2];  /* of the run time, square seconds */
    const char *phase; /* that gives the iterations; of the first run */
    size_t iterations[2];
    bool has_parts, has_path_parts;
    double parts[LC_PARTS]; /* change, seconds */
};

#endif
