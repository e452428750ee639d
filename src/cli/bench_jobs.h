/* Job files of `latecomer bench jobs FILE`: a job a line. */
#ifndef LC_CLI_BENCH_JOBS_H
#define LC_CLI_BENCH_JOBS_H

#include <stddef.h>

#include "base/err.h"

enum { LC_JOB_WORDS_MOST = 60 };

struct lc_bench_jobs {
    struct lc_bench_job {
        size_t line;                       /* number in the file, from 1 */
        char *text;                        /* what the words point into */
        char *word[LC_JOB_WORDS_MOST + 1]; /* word[0]: "bench"; NULL behind the last */
        int n;
    } * all;
    size_t n, room;
};

/* Splits the lines of a file into words at blanks; # begins a comment, empty lines are no jobs.
 * lc_bench_jobs_free(), also after a failure. LC_ERR_IO, LC_ERR_NOMEM, LC_ERR_USAGE: a line of too
 * many words, or no job at all. */
enum lc_err lc_bench_jobs_read(const char *file, struct lc_bench_jobs *jobs);
/* Frees what it holds, not the struct. */
void lc_bench_jobs_free(struct lc_bench_jobs *jobs);

#endif
