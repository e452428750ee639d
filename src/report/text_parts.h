/* The sections of the text report, one file each, and how they print. Used by text.c, and by live.c
 * for its bars. */
#ifndef LC_REPORT_TEXT_PARTS_H
#define LC_REPORT_TEXT_PARTS_H

#include <jansson.h>
#include <stdio.h>

#include "base/strbuf.h"
#include "report/sums.h"
#include "report/units.h"

struct lc_text {
    FILE *out;
    struct lc_view *view;
    struct lc_sums *sums;
    json_t *meta, *pop; /* pop: NULL if there is none */
    double *error_s;    /* per path: of times that samples have divided (sample_errors.h) */
    size_t width;
    bool colour;
    bool utf8;     /* bars may be drawn with block characters */
    bool full;     /* names and call paths whole, whatever their length */
    bool analysis; /* the result of a trace analysis, not a profile */
};

/* How to print to `out`: width, colour, characters; nothing of a result. */
void lc_text_begin(struct lc_text *text, FILE *out);

/* Prints the heading of a section; remark: in brackets behind it, or NULL. */
void lc_text_heading(const struct lc_text *text, const char *title, const char *remark);
/* The terminal's sequence for bold, "" without colour; static. */
const char *lc_text_bold(const struct lc_text *text);
/* A program that does not use MPI, measured by itself: no word of MPI. */
bool lc_text_without_mpi(const struct lc_text *text);
/* Nothing but its run time is known of the program: no call of MPI, no region of OpenMP, no
 * function was measured. */
bool lc_text_only_time(const struct lc_text *text);
/* A program with an MPI library that never came out of MPI_Init, where the clocks begin: nothing is
 * known of waiting. */
bool lc_text_uninitialised(const struct lc_text *text);
const char *lc_text_alarm(const struct lc_text *text); /* for what is bad */
const char *lc_text_plain(const struct lc_text *text); /* ends both */
/* Prints words in lines of at most the width, each with `indent` blanks before it; the first line
 * has `column` columns already. */
void lc_text_wrapped(const struct lc_text *text, size_t column, int indent, const char *words);

/* Call paths (text_names.c). Appends the name of one function or region: of C++ without parameters,
 * printable, cut in its middle where it is longer than `width`; with parameters where a sibling
 * would read the same. */
void lc_text_put_name(const struct lc_text *text, uint32_t path, size_t width,
                      struct lc_strbuf *out);
/* The paths of a list as they are printed, at most `width` columns each: ".../solve/MPI_Recv", and
 * where two would look alike, with the first function that differs. "" for LC_NONE. The caller
 * frees the list with lc_text_paths_free. Errors: LC_ERR_NOMEM. */
enum lc_err lc_text_paths(const struct lc_text *text, const uint32_t *list, size_t n, size_t width,
                          char ***printed);
/* Frees a list of lc_text_paths. */
void lc_text_paths_free(char **printed, size_t n);
/* What is no name of this result, printable and cut. The caller frees it. */
char *lc_text_outside(const char *from_outside, size_t width);
/* Where its function stands: " (solve.c:40)"; "" if unknown. */
const char *lc_text_source(const struct lc_text *text, uint32_t path, char buffer[160]);
/* Who carries the values: "rank 3 (80 %), rank 1 (12 %)" or "all ranks alike". */
void lc_text_carriers(const struct lc_text *text, const double *values, char *buffer, size_t room);
/* "rank 3", or "rank 3 thread 1" where there are several. */
void lc_text_location(const struct lc_text *text, uint32_t location, char *buffer, size_t room);
/* A bar of `width` columns: the first part as full blocks, the second as shaded ones, then the
 * third; parts of 1. Appends; characters of ASCII where the terminal knows no others. */
void lc_text_put_bar(const struct lc_text *text, const double parts[3], size_t width,
                     struct lc_strbuf *out);

/* Efficiency factors, parents first (text_pop.c). */
struct lc_text_factor {
    const char *key, *name; /* in the object `pop`; as it is called */
    int depth;
    const char *formula;
    const char *advice; /* where the factor is low; NULL: a product of those below */
};
/* Calls `each` for every factor, parents first. */
void lc_text_each_factor(void (*each)(void *context, const struct lc_text_factor *factor),
                         void *context);
/* A factor or another number of a part of `pop`; 1 where there is none. */
double lc_text_factor_of(const json_t *object, const char *key);
/* How long the tasks of the run, or of a phase, take at least on more and more threads, as far as
 * that helps. */
void lc_text_task_curve(const struct lc_text *text, const json_t *of, const char *indent);
/* Appends how many threads the factors of `pop` are of, and how many there were at once, where most
 * did not live through the interval; else false. */
bool lc_text_come_and_go(const json_t *pop, struct lc_strbuf *out);

/* Prints what was run, where and when, and what must be known before the figures are believed. */
void lc_text_header(const struct lc_text *text);
void lc_text_short_header(const struct lc_text *text); /* without what seldom matters */
/* At most so many findings, two lines each. Errors: those of lc_findings_of. */
enum lc_err lc_text_findings(const struct lc_text *text, size_t most);
/* All findings, with advice and evidence. Errors: those of lc_findings_of. */
enum lc_err lc_text_all_findings(const struct lc_text *text);
/* Who was late, and where. LC_ERR_NOMEM. */
enum lc_err lc_text_blame(const struct lc_text *text);
/* The heaviest waits by call path. LC_ERR_NOMEM. */
enum lc_err lc_text_waits(const struct lc_text *text);
/* The causes of waiting that an analysis found. LC_ERR_NOMEM. */
enum lc_err lc_text_causes(const struct lc_text *text);
/* Chains of causes of an analysis. LC_ERR_NOMEM. */
enum lc_err lc_text_chains(const struct lc_text *text);
/* Performance impact of call paths, and their times beside the critical path, of analyses. Errors:
 * LC_ERR_NOMEM, and those of lc_view_row. */
enum lc_err lc_text_impact(const struct lc_text *text);
/* The critical path of useful work, of profiles. Errors: LC_ERR_NOMEM, those of lc_view_row and
 * lc_late_read. */
enum lc_err lc_text_useful_path(const struct lc_text *text);
/* The call tree with its times. Errors: LC_ERR_NOMEM. */
enum lc_err lc_text_tree(const struct lc_text *text);
/* Source lines that samples fell on. LC_ERR_NOMEM. */
enum lc_err lc_text_lines(const struct lc_text *text);
/* The metrics that are set in `metrics`, as a tree. Errors: LC_ERR_NOMEM, and those of
 * lc_view_row. */
enum lc_err lc_text_metric_tree(const struct lc_text *text, const bool *metrics);
/* Time, MPI and waiting per rank. */
void lc_text_ranks(const struct lc_text *text);
/* The tasks of each OpenMP construct; nothing without tasks. Errors: LC_ERR_NOMEM, and
 * those of lc_view_row. */
enum lc_err lc_text_tasks(const struct lc_text *text);
/* Efficiency factors as a table. */
void lc_text_pop(const struct lc_text *text);
/* Instructions and cycles were to be counted (--counters), and could not be. */
bool lc_text_lacks_hardware(const json_t *pop);
/* Intervals, phases and loops, each with its factors. */
void lc_text_phases(const struct lc_text *text);
/* Says so where loops were looked for, and there is none. */
void lc_text_no_loop(const struct lc_text *text);
void lc_text_pop_bars(const struct lc_text *text); /* one tree, a line per factor */
void lc_text_next(const struct lc_text *text);     /* names the other result, says how to get it */
/* The first screen of `show`: all that is above, in short. Errors: LC_ERR_NOMEM, and
 * those of lc_findings_of. */
enum lc_err lc_text_screen(const struct lc_text *text);
/* Waiting estimated from minima. LC_ERR_NOMEM. */
enum lc_err lc_text_estimates(const struct lc_text *text);
/* What was not measured, and why. */
void lc_text_audit(const struct lc_text *text);
/* Operations of MPI beside the same alone, where `latecomer bench --of` has measured them. */
void lc_text_beside(const struct lc_text *text);
void lc_text_short_beside(const struct lc_text *text); /* the heaviest one that was measured */

#endif
