/* The table of commands: each cmd_*.c holds one. A command gets its own argv (argv[0] = its name),
 * returns the exit code. */
#ifndef LC_CLI_CMD_H
#define LC_CLI_CMD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

enum { LC_EXIT_OK = 0, LC_EXIT_ERROR = 1, LC_EXIT_USAGE = 2, LC_EXIT_SLOWER = 3 };

struct lc_command {
    const char *name;
    const char *summary; /* one line for `latecomer help` */
    int (*run)(int argc, char **argv);
};

/* The commands: argv[0] is the name of the command; each returns the exit status
 * (docs/man/latecomer.1). */
int lc_cmd_run(int argc, char **argv);     /* measures a program */
int lc_cmd_show(int argc, char **argv);    /* shows a result */
int lc_cmd_analyze(int argc, char **argv); /* analyses a trace */
int lc_cmd_compare(int argc, char **argv); /* compares results */
int lc_cmd_export(int argc, char **argv);  /* other formats */
int lc_cmd_report(int argc, char **argv);  /* a page of HTML */
int lc_cmd_scaling(int argc, char **argv); /* efficiency over ranks */
int lc_cmd_top(int argc, char **argv);     /* a run that goes on */
int lc_cmd_dump(int argc, char **argv);    /* saves what is there so far */
int lc_cmd_recover(int argc, char **argv); /* results that were left behind */
int lc_cmd_doctor(int argc, char **argv);  /* what this machine allows */
int lc_cmd_bench(int argc, char **argv);   /* the micro-benchmark */

/* `export --to perfetto`, by the analysis program: the timeline of the trace that `operand` stands
 * for as in `analyze`, to `file`; at most `most_bytes`, 0: any. Returns the exit status; what went
 * wrong is said. */
int lc_export_timeline(const char *operand, const char *file, uint64_t most_bytes);

/* `report`, by the analysis program: what the page shows of the trace of `operand`, to `file`;
 * `windows` as in lc_page_timeline_write. Returns the exit status; what went wrong is said. */
int lc_report_timeline(const char *operand, const char *windows, const char *file);
/* Is there an archive that `operand` stands for? */
bool lc_report_has_trace(const char *operand);

/* Writes report.html into a directory of `latecomer bench`, or of its sweeps or guidelines.
 * LC_ERR_IO, LC_ERR_NOMEM, or what is wrong with what it holds. */
enum lc_err lc_report_benchmark(char *directory);

#endif
