/* `latecomer bench OP`: starts the harness, collects what its ranks wrote. */
#ifndef LC_CLI_BENCH_START_H
#define LC_CLI_BENCH_START_H

#include "job/launcher.h"
#include "bench/bench_collect.h"

struct lc_bench_options {
    int argc; /* the command: its words behind "latecomer" */
    char *const *argv;
    const char *operations, *bytes;                /* lists with commas; bytes are plain numbers */
    const char *output;                            /* DIR, or NULL */
    const char *sync, *comm, *counters, *of_ranks; /* of_ranks: bench/rank_list.h, or NULL: all */
    const char *papi;                              /* events with commas, or NULL */
    const char *variables;      /* parts of names of MPI_T's variables with commas, or NULL: all */
    enum lc_flavour flavour;    /* unknown: the first that is there */
    uint64_t reps, every, seed; /* 0: default; every: of counters */
    double seconds, precision;
    long ranks, root;
    bool in_place, less_empty;
    enum lc_err (*page)(char *directory); /* makes report.html in the result; or NULL */
    bool audit;       /* tell what measuring itself does: `empty` is measured, too */
    bool samples;     /* of where the operation spends its time */
    bool one_of_many; /* launches: what is to be said of them is said by who starts them */
};

/* Measures, writes the directory of the result and gives its fingerprints. Under a launcher all
 * ranks call this; those but the first do not come back. lc_collected_free(). An interrupted or
 * broken job leaves what was measured: LC_OK with *code 1 after a line that says so. LC_ERR_USAGE:
 * an unknown operation. */
enum lc_err lc_bench_start(const struct lc_bench_options *options, struct lc_collected *result,
                           int *code);

/* Has ^C, or a request to end, come since the first launch? */
bool lc_bench_interrupted(void);

enum { LC_BENCH_NAMES_MOST = 100 };
/* What the harness knows: names[LC_BENCH_NAMES_MOST] of its "operations" or "mock-ups", in *text,
 * which the caller frees. LC_ERR_NOT_FOUND. */
enum lc_err lc_bench_ask(const char *list, char **text, const char **names, size_t *n);

/* The operations or mock-ups of the harness that words mean (separated by commas; in any case, with
 * or without MPI_, or the beginning of just one name); the caller frees *found, also after a
 * failure. LC_ERR_USAGE: none, or several; LC_ERR_NOT_FOUND: there is no harness. */
enum lc_err lc_bench_find_operations(const char *list, char **found);

/* Prints the operations. LC_ERR_NOT_FOUND. */
enum lc_err lc_bench_list(void);

/* Makes the result of a directory in which only parts are (a job that was killed). LC_ERR_IO,
 * LC_ERR_FORMAT. */
enum lc_err lc_bench_recover(const char *directory);

#endif
