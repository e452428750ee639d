/* The sections of the text report, one file each, and how they print. Used by text.c only. */
#ifndef LC_REPORT_TEXT_PARTS_H
#define LC_REPORT_TEXT_PARTS_H

#include <jansson.h>
#include <stdio.h>

#include "report/sums.h"

struct lc_text {
    FILE *out;
    struct lc_view *view;
    struct lc_sums *sums;
    json_t *meta, *pop; /* pop: NULL if there is none */
    size_t width;
    bool colour;
    bool analysis; /* the result of a trace analysis, not a profile */
};

/* Typography */
void lc_text_heading(const struct lc_text *text, const char *title, const char *remark);
const char *lc_text_bold(const struct lc_text *text);
const char *lc_text_alarm(const struct lc_text *text); /* for what is bad */
const char *lc_text_plain(const struct lc_text *text); /* ends both */
/* "1.23 s", "45.6 ms", "7.8 us" */
const char *lc_text_seconds(double seconds, char buffer[32]);
/* The path with its begin cut off so that it fits: ".../solve/MPI_Recv"; '/' inside names as they
 * are. */
const char *lc_text_path(const char *path, size_t width, char *buffer, size_t room);
/* Where its function stands: " (solve.c:40)"; "" if unknown. */
const char *lc_text_source(const struct lc_text *text, uint32_t path, char buffer[160]);
/* Who carries the values: "rank 3 (80 %), rank 1 (12 %)" or "all ranks alike". */
void lc_text_carriers(const struct lc_text *text, const double *values, char *buffer, size_t room);
void lc_text_location(const struct lc_text *text, uint32_t location, char *buffer, size_t room);
/* More ranks and threads than cores (0: not known how many)? */
bool lc_text_oversubscribed(const struct lc_text *text, double *cores);
double lc_text_share(double part, double whole); /* percent; 0 of nothing */

/* Sections */
void lc_text_header(const struct lc_text *text);
enum lc_err lc_text_blame(const struct lc_text *text);
enum lc_err lc_text_waits(const struct lc_text *text);
enum lc_err lc_text_causes(const struct lc_text *text);
void lc_text_chains(const struct lc_text *text);
enum lc_err lc_text_useful_path(const struct lc_text *text); /* profiles */
enum lc_err lc_text_tree(const struct lc_text *text);
enum lc_err lc_text_metric_tree(const struct lc_text *text, const bool *metrics);
void lc_text_ranks(const struct lc_text *text);
void lc_text_pop(const struct lc_text *text);
enum lc_err lc_text_estimates(const struct lc_text *text);
void lc_text_audit(const struct lc_text *text);

#endif
