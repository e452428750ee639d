#include "bench/runs_import.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"

enum column { ITERATION, RANK, METRIC, VALUE, OPERATION, BYTES, COLUMNS };
static const char *const names[COLUMNS] = {"iteration", "rank",      "metric",
                                           "value",     "operation", "bytes"};
enum { CELLS_MOST = 16, REPS_MOST = 100000000 };

/* What ReproMPI calls them (raw output of mpibenchmark), columns between blanks, times in s: the
 * run time of a repetition, or when each process began and ended. */
enum repro_column { REPRO_RUNTIME, REPRO_START, REPRO_END, REPRO_ERROR, REPRO_COLUMNS };
static const char *const repro_times[REPRO_COLUMNS] = {"runtime_sec", "loc_tstart_sec",
                                                       "loc_tend_sec", "errorcode"};
static const char *const repro_names[COLUMNS] = {"nrep", "process", NULL, NULL, "test", "msize"};

struct reader {
    const char *file;
    size_t line;
    int place[COLUMNS]; /* of each column, or -1 */
    bool table, repro;
    int time[REPRO_COLUMNS]; /* of ReproMPI: the place of each, or -1 */
    double first;            /* number of its first repetition */
    double most;             /* repetitions: each is a line of the file */
    size_t capacity;
    struct lc_imported *out;
};

static enum lc_err bad(const struct reader *r, const char *why, const char *what) {
    return lc_fail(LC_ERR_FORMAT, "bench: %s: line %zu: %s: %.40s", r->file, r->line, why, what);
}

static size_t split(char *line, char *cells[CELLS_MOST]) {
    size_t n = 0;
    line[strcspn(line, "\r\n")] = '\0';
    for (char *cell; n < CELLS_MOST && (cell = strsep(&line, ",")) != NULL;) {
        cell += strspn(cell, " \t");
        for (size_t end = strlen(cell); end > 0 && strchr(" \t", cell[end - 1]) != NULL;)
            cell[--end] = '\0';
        cells[n++] = cell;
    }
    return n;
}

static bool number(const char *text, double *value) {
    char *end;
    *value = strtod(text, &end);
    return end != text && *end == '\0' && isfinite(*value);
}

static enum lc_err read_names(struct reader *r, char **cells, size_t n) {
    r->table = true;
    for (int c = 0; c < COLUMNS; c++) {
        r->place[c] = -1;
        for (size_t i = 0; i < n; i++)
            if (strcmp(cells[i], names[c]) == 0)
                r->place[c] = (int)i;
        if (c <= VALUE && r->place[c] < 0)
            return bad(r, "neither a number nor a line of names with the column", names[c]);
    }
    return LC_OK;
}

/* Stands where a repetition with counters was, or one that began late: no run time. */
#define COUNTED (-1.0)

/* Rows of a repetition that is not there yet leave zeros before it. */
static enum lc_err put(struct reader *r, double iteration, double value, bool counted) {
    if (!(iteration >= 0 && iteration < r->most && iteration == floor(iteration)))
        return lc_fail(LC_ERR_FORMAT, "bench: %s: line %zu: not a repetition: %g", r->file, r->line,
                       iteration);
    if (!(value > 0 && value < 1e18))
        return lc_fail(LC_ERR_FORMAT, "bench: %s: line %zu: not a run time in ns: %g", r->file,
                       r->line, value);
    struct lc_imported *out = r->out;
    size_t i = (size_t)iteration;
    LC_TRY(lc_grow(&out->runs, &r->capacity, i + 1, sizeof out->runs[0]));
    out->n = i + 1 > out->n ? i + 1 : out->n;
    if (counted || out->runs[i] < 0)
        out->runs[i] = COUNTED;
    else
        out->runs[i] = fmax(out->runs[i], value);
    return LC_OK;
}

static enum lc_err take_operation(struct reader *r, char **cells) {
    const char *name = r->place[OPERATION] >= 0 ? cells[r->place[OPERATION]] : "";
    double bytes = 0;
    if (r->place[BYTES] >= 0 &&
        (!number(cells[r->place[BYTES]], &bytes) || bytes < 0 || bytes > 0x1p62))
        return bad(r, "not a number of bytes", cells[r->place[BYTES]]);
    if (r->out->n == 0) {
        snprintf(r->out->operation, sizeof r->out->operation, "%s", name);
        r->out->bytes = (unsigned long long)bytes;
    } else if (strcmp(name, r->out->operation) != 0 || (double)r->out->bytes != bytes) {
        return bad(r, "another operation or size than above: one file each", name);
    }
    return LC_OK;
}

static enum lc_err read_row(struct reader *r, char **cells, size_t n) {
    double iteration, rank, value;
    for (int c = 0; c < COLUMNS; c++)
        if (r->place[c] >= (int)n)
            return bad(r, "too few columns: no", names[c]);
    bool counted = strcmp(cells[r->place[METRIC]], "counted_runtime_ns") == 0;
    if (!counted && strcmp(cells[r->place[METRIC]], "runtime_ns") != 0)
        return LC_OK;
    if (!number(cells[r->place[ITERATION]], &iteration))
        return bad(r, "not a repetition", cells[r->place[ITERATION]]);
    if (!number(cells[r->place[RANK]], &rank) || rank < 0 || rank > 1 << 24)
        return bad(r, "not a rank", cells[r->place[RANK]]);
    if (!number(cells[r->place[VALUE]], &value))
        return bad(r, "not a number", cells[r->place[VALUE]]);
    LC_TRY(take_operation(r, cells));
    if (rank + 1 > r->out->ranks)
        r->out->ranks = (unsigned)rank + 1;
    return put(r, iteration, value, counted);
}

static size_t split_blanks(char *line, char *cells[CELLS_MOST]) {
    size_t n = 0;
    for (char *cell, *rest = line; n < CELLS_MOST && (cell = strsep(&rest, " \t\r\n")) != NULL;)
        if (*cell != '\0')
            cells[n++] = cell;
    return n;
}

static int find_cell(const char *name, char **cells, size_t n) {
    for (size_t i = 0; i < n && name != NULL; i++)
        if (strcmp(cells[i], name) == 0)
            return (int)i;
    return -1;
}

/* Is this the line of names of ReproMPI? Cells are lost if it is not. */
static bool read_repro_names(struct reader *r, char *line) {
    char *cells[CELLS_MOST];
    size_t n = split_blanks(line, cells);
    for (int c = 0; c < COLUMNS; c++)
        r->place[c] = find_cell(repro_names[c], cells, n);
    for (int c = 0; c < REPRO_COLUMNS; c++)
        r->time[c] = find_cell(repro_times[c], cells, n);
    r->repro =
        r->place[ITERATION] >= 0 && r->place[OPERATION] >= 0 &&
        (r->time[REPRO_RUNTIME] >= 0 || (r->time[REPRO_START] >= 0 && r->time[REPRO_END] >= 0));
    return r->repro;
}

static enum lc_err repro_number(const struct reader *r, char **cells, int place, double *value) {
    *value = 0;
    return place < 0 || number(cells[place], value) ? LC_OK : bad(r, "not a number", cells[place]);
}

/* A repetition that began late, or ended after its window, has an error code. */
static enum lc_err read_repro_row(struct reader *r, char *line) {
    char *cells[CELLS_MOST];
    size_t n = split_blanks(line, cells);
    double values[REPRO_COLUMNS], rank, iteration;
    if (n == 0)
        return LC_OK;
    for (int c = 0; c < COLUMNS; c++)
        if (r->place[c] >= (int)n || (c < REPRO_COLUMNS && r->time[c] >= (int)n))
            return bad(r, "too few columns", cells[0]);
    for (int c = 0; c < REPRO_COLUMNS; c++)
        LC_TRY(repro_number(r, cells, r->time[c], &values[c]));
    LC_TRY(repro_number(r, cells, r->place[RANK], &rank));
    LC_TRY(repro_number(r, cells, r->place[ITERATION], &iteration));
    if (rank < 0 || rank > 1 << 24)
        return bad(r, "not a rank", cells[r->place[RANK]]);
    LC_TRY(take_operation(r, cells));
    r->first = r->out->n == 0 ? iteration : r->first;
    r->out->ranks = rank + 1 > r->out->ranks ? (unsigned)rank + 1 : r->out->ranks;
    double seconds = r->time[REPRO_RUNTIME] >= 0 ? values[REPRO_RUNTIME]
                                                 : values[REPRO_END] - values[REPRO_START];
    bool late = values[REPRO_ERROR] != 0;
    return put(r, iteration - r->first, late ? 1 : seconds * 1e9, late);
}

static enum lc_err read_line(struct reader *r, char *line) {
    char *cells[CELLS_MOST];
    double value;
    if (line[strspn(line, " \t")] == '#')
        return LC_OK;
    if (r->repro)
        return read_repro_row(r, line);
    if (strstr(line, "nrep") != NULL && strchr(line, ',') == NULL && r->out->n == 0 && !r->table)
        return read_repro_names(r, line)
                   ? LC_OK
                   : bad(r, "of ReproMPI the raw output is needed, with runtime_sec", "test nrep");
    size_t n = split(line, cells);
    if (n == 0 || (n == 1 && cells[0][0] == '\0'))
        return LC_OK;
    if (r->table)
        return read_row(r, cells, n);
    if (n == 1 && number(cells[0], &value))
        return put(r, (double)r->out->n, value, false);
    if (r->out->n == 0)
        return read_names(r, cells, n);
    return bad(r, "not a number", cells[0]);
}

/* As many repetitions as the file has bytes, or as a pipe may bring. */
static double most_in(FILE *in) {
    struct stat info;
    return fstat(fileno(in), &info) == 0 && S_ISREG(info.st_mode)
               ? fmin((double)info.st_size, REPS_MOST)
               : REPS_MOST;
}

/* Whether all are there; those that have no run time are taken out. */
static enum lc_err check_all(const struct reader *r) {
    struct lc_imported *out = r->out;
    size_t kept = 0;
    for (size_t i = 0; i < out->n; i++) {
        if (out->runs[i] == 0)
            return lc_fail(LC_ERR_FORMAT, "bench: %s: repetition %zu is missing", r->file, i);
        if (out->runs[i] > 0)
            out->runs[kept++] = out->runs[i];
    }
    out->n = kept;
    if (kept == 0)
        return lc_fail(LC_ERR_FORMAT,
                       "bench: %s: no run times: give one number a line, or "
                       "iteration,rank,metric,value with the metric runtime_ns",
                       r->file);
    return LC_OK;
}

enum lc_err lc_runs_import(const char *file, struct lc_imported *imported) {
    *imported = (struct lc_imported){.ranks = 1};
    struct reader r = {.file = file, .out = imported};
    FILE *in = fopen(file, "re");
    if (in == NULL)
        return lc_fail_errno(LC_ERR_IO, "bench: %s", file);
    char *line = NULL;
    size_t room = 0;
    enum lc_err err = LC_OK;
    r.most = most_in(in);
    while (err == LC_OK && getline(&line, &room, in) >= 0) {
        r.line++;
        err = read_line(&r, line);
    }
    if (err == LC_OK && ferror(in))
        err = lc_fail_errno(LC_ERR_IO, "bench: %s", file);
    if (err == LC_OK)
        err = check_all(&r);
    free(line);
    fclose(in);
    if (err != LC_OK) {
        free(imported->runs);
        imported->runs = NULL;
    }
    return err;
}
