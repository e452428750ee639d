/* The page of `latecomer report`: one file of HTML with everything in it. The page itself comes
 * from web/ (built into the command); this writes the data into it. */
#ifndef LC_REPORT_PAGE_H
#define LC_REPORT_PAGE_H

#include <stdio.h>

#include "report/view.h"

struct lc_page_result {
    const char *name; /* as it was given */
    char *file;       /* .cubex */
    char *analysis;   /* of the same run, beside a profile; NULL: none */
    char *timeline;   /* what the analysis program left of the trace; NULL: none */
    char *why;        /* there is no timeline although there is a trace; NULL: no reason */
};

/* What `latecomer bench` leaves, as JSON texts (docs/benchmarking.md). */
enum lc_page_kind { LC_PAGE_FINGERPRINTS, LC_PAGE_SWEEPS, LC_PAGE_GUIDELINES, LC_PAGE_KINDS };

struct lc_page_content {
    struct lc_page_result *results;
    size_t n_results;
    struct {
        char **texts; /* JSON (docs/definitions/micro-benchmark.md) */
        size_t n;
    } bench[LC_PAGE_KINDS];
    char *bench_comparison; /* JSON: of the first and the last result of them; NULL: there is one */
};

/* Writes the page of so many results and tables of bench, of one at least. Errors: those of reading
 * them, LC_ERR_IO, LC_ERR_NOMEM. A comparison or table of several runs that cannot be made is left
 * out, and the page says why. */
enum lc_err lc_page_write(const struct lc_page_content *content, FILE *out);

#endif
