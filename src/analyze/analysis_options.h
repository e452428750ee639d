/* Options that reach the analysis program. The command line for people is that of `latecomer
 * analyze` (cli/cmd_analyze.c), which checks it and passes it on in this form: KEY=VALUE words, so
 * that there is one parser of options. */
#ifndef LC_ANALYZE_ANALYSIS_OPTIONS_H
#define LC_ANALYZE_ANALYSIS_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

enum lc_time_correct_mode { LC_TIME_CORRECT_OFF, LC_TIME_CORRECT_ON, LC_TIME_CORRECT_AUTO };

struct lc_analyze_options {
    const char *archive;  /* traces.otf2 */
    const char *output;   /* analysis.cubex; with a timeline or page: not written */
    const char *timeline; /* write this file for Perfetto (perfetto.h) instead; NULL: analyse */
    const char *page;     /* write this file for the page of `latecomer report` instead */
    const char *windows;  /* of detail in it, besides those it has anyway; NULL: none */
    uint64_t most_bytes;  /* of the timeline; 0: any */
    bool quiet, mpi_only;
    bool progress; /* a terminal is behind standard error */
    enum lc_time_correct_mode time_correct;
    const char *partition, *what_if; /* NULL: none */
    const char *status; /* file for the exit code, where another process reads it; NULL: none */
};

/* From the command line of `latecomer analyze`; texts are those of argv. LC_ERR_USAGE: what is
 * wrong. */
enum lc_err lc_analyze_options_parse(struct lc_analyze_options *options, int argc, char **argv);

#endif
