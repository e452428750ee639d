/* A result as reports see it: call paths of equal name are one (their values added up), values come
 * per call path; what the C library does below a function is one path in words, where asked. Nouns:
 * path = a node of the merged call tree. Invariants: parents before children, children in the order
 * of the file. Opened by the commands; every report walks one of these. */
#ifndef LC_REPORT_VIEW_H
#define LC_REPORT_VIEW_H

#include <stdbool.h>

#include "model/cubex_read.h"

struct lc_merged_path {
    uint32_t parent, first_child, next_sibling; /* LC_NONE: none */
    uint32_t first_cnode;                       /* of those with this name */
    const char *name;                           /* of the region */
    bool mpi;                                   /* an MPI function */
    bool folded;                                /* a word for what the C library did */
};

struct lc_view {
    struct lc_cubex *cube;
    const struct lc_model *model;
    char *file;
    struct lc_merged_path *paths;
    size_t n_paths;
    uint32_t *path_of;       /* per cnode */
    uint32_t *same_path;     /* per cnode: the next one of equal name, LC_NONE ends */
    const char **fold_names; /* per cnode (report/view_fold.h); NULL: nothing is folded */
    char (*fold_texts)[64];
    uint32_t *first_child, *next_child; /* per cnode, where paths are folded */
    double *scratch, *child;            /* one row each */
    double **location_sums;             /* per metric, where they are kept; NULL else */
    bool *unknown; /* per location: of a rank that left nothing; its zeros mean nothing */
    size_t n_unknown;
    bool wait_first; /* reports take delay costs of the model wait-first, not proportional */
};

/* Opens a result; lc_view_close closes it. Errors: those of lc_cubex_open. */
enum lc_err lc_view_open(struct lc_view **view, const char *file);
/* NULL is allowed. */
void lc_view_close(struct lc_view *view);

/* Makes one path of what the C library did below a function of the program (report/view_fold.h), or
 * each frame its own again. Paths are numbered anew: nothing that was computed for the view holds
 * any more. Errors: LC_ERR_NOMEM. */
enum lc_err lc_view_fold(struct lc_view *view, bool fold);

/* One value per location; minimum (of values other than 0) and maximum instead of sums where the
 * metric is one. Errors: those of lc_cubex_row. */
enum lc_err lc_view_row(struct lc_view *view, uint32_t metric, uint32_t path, double *values);

/* One value per location of the path without its children, also of an INCLUSIVE metric. Errors:
 * those of lc_cubex_row, and LC_ERR_NOMEM. */
enum lc_err lc_view_exclusive_row(struct lc_view *view, uint32_t metric, uint32_t path,
                                  double *values);

/* INCLUSIVE: sum over roots; else over all call paths (or minimum, maximum); over all locations.
 * Errors: those of lc_cubex_row. */
enum lc_err lc_view_total(struct lc_view *view, uint32_t metric, double *total);

/* What lc_view_total gives, for each location by itself: n_locations values. Errors: those of
 * lc_cubex_row. */
enum lc_err lc_view_location_sums(struct lc_view *view, uint32_t metric, double *sums);
/* For somebody who has them all at hand: n_locations zeros, to be filled, which are then what
 * lc_view_location_sums gives. LC_ERR_NOMEM. */
enum lc_err lc_view_keep_location_sums(struct lc_view *view, uint32_t metric, double **sums);

/* Joins b into a as the metric's values are joined: sum, minimum of what is not 0, or maximum. */
double lc_view_join(const struct lc_metric *metric, double a, double b);
/* Joins each of n values of a row into that of `into`. */
void lc_view_join_rows(const struct lc_metric *metric, double *into, const double *row, size_t n);
/* `sum` and all n values of a row, joined. */
double lc_view_join_all(const struct lc_metric *metric, double sum, const double *row, size_t n);

/* "main/f/MPI_Recv"; the caller frees it; NULL without memory. */
char *lc_view_path(const struct lc_view *view, uint32_t path);

/* The path in short names (short_name.h), printable; the caller frees it; NULL without memory. */
char *lc_view_short_path(const struct lc_view *view, uint32_t path);

/* The path of this name, LC_NONE if there is none; what is folded is found by either name. */
uint32_t lc_view_find(const struct lc_view *view, const char *name);

/* The result of a trace analysis, not a profile. */
bool lc_view_is_analysis(const struct lc_view *view);

/* The name of the node (host) of a location; it belongs to the view. */
const char *lc_view_node(const struct lc_view *view, uint32_t location);
/* The rank of a location; -1 if it has none. */
int32_t lc_view_rank(const struct lc_view *view, uint32_t location);

#endif
