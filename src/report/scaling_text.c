/* The table of several runs as text: factors, indicators, call paths that lost, partition sizes. */
#include <libsmartcols.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "report/scaled_runs.h"
#include "report/short_name.h"
#include "report/text_parts.h"

enum { MOST_LOST = 10, MOST_SHOWN_SPLITS = 24, NAME_WIDTH = 40, FIGURES_WIDTH = 42 };

/* Slide 8: name, where its value is ("" = of all, "mpi", "omp"), depth. */
static const struct row {
    const char *title, *key, *part;
    int depth;
} rows[] = {
    {"Parallel efficiency", "parallel_efficiency", "", 1},
    {"Load balance", "load_balance", "", 2},
    {"Communication efficiency", "communication_efficiency", "", 2},
    {"Serialisation efficiency", "serialisation_efficiency", "", 3},
    {"Transfer efficiency", "transfer_efficiency", "", 3},
    {"MPI parallel efficiency", "parallel_efficiency", "mpi", 2},
    {"MPI load balance", "load_balance", "mpi", 3},
    {"MPI communication efficiency", "communication_efficiency", "mpi", 3},
    {"MPI serialisation efficiency", "serialisation_efficiency", "mpi", 4},
    {"MPI transfer efficiency", "transfer_efficiency", "mpi", 4},
    {"OpenMP parallel efficiency", "parallel_efficiency", "omp", 2},
    {"OpenMP load balance", "load_balance", "omp", 3},
    {"OpenMP communication efficiency", "communication_efficiency", "omp", 3},
    {"OpenMP serialisation efficiency", "serialisation_efficiency", "omp", 4},
    {"OpenMP transfer efficiency", "transfer_efficiency", "omp", 4},
};
enum { N_ROWS = sizeof rows / sizeof rows[0] };

static double get(const json_t *object, const char *key) {
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

/* A factor that is not there is 1 where the others are: nothing of its kind took time. */
static double value_of(const struct lc_scaled_run *run, const struct row *row) {
    const json_t *object = row->part[0] == '\0' ? run->pop : json_object_get(run->pop, row->part);
    double value = get(object, row->key);
    return isnan(value) && run->pop != NULL ? 1.0 : value;
}

static bool any_threads(const struct lc_scaling *scaling) {
    for (size_t i = 0; i < scaling->n_runs; i++)
        if (scaling->runs[i].executors > scaling->runs[i].ranks)
            return true;
    return false;
}

struct table {
    struct libscols_table *own;
    struct libscols_line *line;
    size_t column;
};

static void add_line(struct table *table, int depth, const char *title) {
    struct lc_strbuf name = {0};
    lc_strbuf_printf(&name, "%*s%s", 2 * depth, "", title);
    table->line = scols_table_new_line(table->own, NULL);
    if (table->line != NULL)
        scols_line_set_data(table->line, 0, lc_strbuf_get(&name));
    table->column = 1;
    lc_strbuf_free(&name);
}

static void add_cell(struct table *table, const char *text, const char *colour) {
    if (table->line == NULL)
        return;
    scols_line_set_data(table->line, table->column, text);
    struct libscols_cell *cell = scols_line_get_cell(table->line, table->column++);
    if (cell != NULL && colour != NULL)
        scols_cell_set_color(cell, colour);
}

/* As the slide colours: good, to be looked at, bad. */
static void add_percent(struct table *table, double value) {
    char cell[32];
    snprintf(cell, sizeof cell, "%.1f", 100.0 * value);
    if (isnan(value))
        add_cell(table, "-", NULL);
    else
        add_cell(table, cell, value >= 0.8 ? "green" : value >= 0.6 ? "yellow" : "red");
}

static void add_number(struct table *table, const char *format, double value) {
    char cell[32];
    snprintf(cell, sizeof cell, format, value);
    add_cell(table, isnan(value) ? "-" : cell, NULL);
}

/* The parts of computational scalability, where the processor's counters were read. */
static void add_counted(struct table *table, const struct lc_scaling *scaling) {
    static const char *const titles[] = {"IPC scalability", "Instruction scalability",
                                         "Frequency scalability"};
    bool any = false;
    for (size_t i = 0; i < scaling->n_runs; i++)
        any = any || !isnan(scaling->runs[i].ipc_scalability);
    for (size_t k = 0; any && k < sizeof titles / sizeof *titles; k++) {
        add_line(table, 2, titles[k]);
        for (size_t i = 0; i < scaling->n_runs; i++) {
            const struct lc_scaled_run *run = &scaling->runs[i];
            const double values[] = {run->ipc_scalability, run->instruction_scalability,
                                     run->frequency_scalability};
            add_percent(table, values[k]);
        }
    }
}

static void fill_factors(struct table *table, const struct lc_scaling *scaling) {
    bool threads = any_threads(scaling);
    add_line(table, 0, "Global efficiency");
    for (size_t i = 0; i < scaling->n_runs; i++)
        add_percent(table, scaling->runs[i].global_efficiency);
    for (size_t r = 0; r < N_ROWS; r++) {
        if (rows[r].part[0] != '\0' && !threads)
            continue; /* without threads all OpenMP factors are 1, the MPI ones are the factors */
        add_line(table, rows[r].depth, rows[r].title);
        for (size_t i = 0; i < scaling->n_runs; i++)
            add_percent(table, value_of(&scaling->runs[i], &rows[r]));
    }
    add_line(table, 1, "Computational scalability");
    for (size_t i = 0; i < scaling->n_runs; i++)
        add_percent(table, scaling->runs[i].computational_scalability);
    add_counted(table, scaling);
    add_line(table, 0, "Measured interval, s");
    for (size_t i = 0; i < scaling->n_runs; i++)
        add_number(table, "%.4g", get(scaling->runs[i].pop, "elapsed_s"));
    add_line(table, 0, "Wall time, s");
    for (size_t i = 0; i < scaling->n_runs; i++)
        add_number(table, "%.4g", get(scaling->runs[i].meta, "wall_time_s"));
}

/* ---- indicators of analyses, and partitions */

static double imbalance_share(const struct lc_run_indicators *of) {
    return of->path_s > 0.0 ? 100.0 * of->imbalance_s / of->path_s : NAN;
}
static double path_of(const struct lc_run_indicators *of) {
    return of->path_s;
}
static double imbalance_of(const struct lc_run_indicators *of) {
    return of->imbalance_s;
}
static double allocation_of(const struct lc_run_indicators *of) {
    return of->allocation_s;
}
static double intra_of(const struct lc_run_indicators *of) {
    return of->intra_s;
}
static double inter_of(const struct lc_run_indicators *of) {
    return of->inter_s;
}
static double short_of(const struct lc_run_indicators *of) {
    return of->short_s[0];
}
static double first_short_of(const struct lc_run_indicators *of) {
    return of->short_s[1];
}
static double long_of(const struct lc_run_indicators *of) {
    return of->long_s[0];
}
static double first_long_of(const struct lc_run_indicators *of) {
    return of->long_s[1];
}

static const struct {
    const char *title;
    int depth;
    double (*value)(const struct lc_run_indicators *of);
} indicators[] = {
    {"Critical path, s", 0, path_of},
    {"imbalance on it, s", 1, imbalance_of},
    {"imbalance on it, %", 1, imbalance_share},
    {"Allocation time, s", 0, allocation_of},
    {"imbalance costs within partitions, s", 1, intra_of},
    {"imbalance costs across partitions, s", 1, inter_of},
    {"delay costs, direct, s", 1, short_of},
    {"delay costs, through other waiting, s", 1, long_of},
    {"the same, wait-first: direct, s", 1, first_short_of},
    {"the same, wait-first: through other, s", 1, first_long_of},
};

static void fill_indicators(struct table *table, const struct lc_scaling *scaling) {
    for (size_t k = 0; k < sizeof indicators / sizeof indicators[0]; k++) {
        add_line(table, indicators[k].depth, indicators[k].title);
        for (size_t i = 0; i < scaling->n_runs; i++)
            add_number(table, "%.4g", indicators[k].value(&scaling->runs[i].indicators));
    }
}

static double size_of(const struct lc_run_partition *one) {
    return (double)one->own.n_ranks;
}
static double critical_of(const struct lc_run_partition *one) {
    return one->own.critical_s;
}
static double work_of(const struct lc_run_partition *one) {
    return one->own.work_s;
}
static double within_of(const struct lc_run_partition *one) {
    return one->intra_s;
}
static double across_of(const struct lc_run_partition *one) {
    return one->inter_s;
}

static const struct {
    const char *title;
    double (*value)(const struct lc_run_partition *one);
} of_partition[] = {
    {"ranks", size_of},
    {"on the critical path, s", critical_of},
    {"work of all its ranks, s", work_of},
    {"imbalance costs within, s", within_of},
    {"imbalance costs across, s", across_of},
};

/* Short, printable, cut. */
static void put_name(struct lc_strbuf *out, const char *name, size_t width) {
    struct lc_strbuf shorter = {0}, clean = {0};
    lc_put_short_name(&shorter, name);
    lc_put_printable(&clean, lc_strbuf_get(&shorter));
    lc_put_cut(out, lc_strbuf_get(&clean), width);
    lc_strbuf_free(&shorter);
    lc_strbuf_free(&clean);
}

static bool is_first_with(const struct lc_scaling *scaling, size_t run, const char *name) {
    for (size_t i = 0; i < run; i++)
        if (lc_run_indicators_find(&scaling->runs[i].indicators, name) != NULL)
            return false;
    return true;
}

/* Figure 9: each partition's part of the critical path, what it takes, what it makes others wait.
 */
static void fill_partitions(struct table *table, const struct lc_scaling *scaling) {
    struct lc_strbuf title = {0};
    for (size_t r = 0; r < scaling->n_runs; r++)
        for (size_t p = 0; p < scaling->runs[r].indicators.n; p++) {
            const char *name = scaling->runs[r].indicators.list[p].own.name;
            if (!is_first_with(scaling, r, name))
                continue;
            lc_strbuf_clear(&title);
            put_name(&title, name, NAME_WIDTH);
            add_line(table, 0, lc_strbuf_get(&title));
            for (size_t k = 0; k < sizeof of_partition / sizeof of_partition[0]; k++) {
                add_line(table, 1, of_partition[k].title);
                for (size_t i = 0; i < scaling->n_runs; i++) {
                    const struct lc_run_partition *one =
                        lc_run_indicators_find(&scaling->runs[i].indicators, name);
                    add_number(table, "%.4g", one != NULL ? of_partition[k].value(one) : NAN);
                }
            }
        }
    lc_strbuf_free(&title);
}

/* One column per run. */
static enum lc_err
print_table(const struct lc_text *text, const struct lc_scaling *scaling, const char *heading,
            void (*fill)(struct table *table, const struct lc_scaling *scaling)) {
    struct table table = {.own = scols_new_table()};
    char *printed = NULL, title[64];
    if (table.own == NULL)
        return lc_fail(LC_ERR_NOMEM, "memory: cannot build a table");
    scols_table_enable_colors(table.own, text->colour);
    scols_table_new_column(table.own, heading, 0, 0);
    for (size_t i = 0; i < scaling->n_runs; i++) {
        const struct lc_scaled_run *run = &scaling->runs[i];
        if (run->executors > run->ranks)
            snprintf(title, sizeof title, "%.0fx%.3g", run->ranks, run->executors / run->ranks);
        else
            snprintf(title, sizeof title, "%.0f", run->ranks);
        scols_table_new_column(table.own, title, 0, SCOLS_FL_RIGHT);
    }
    fill(&table, scaling);
    int failed = scols_print_table_to_string(table.own, &printed);
    scols_unref_table(table.own);
    if (failed != 0)
        return lc_fail(LC_ERR_NOMEM, "memory: cannot print a table");
    fprintf(text->out, "%s\n", printed);
    free(printed);
    return LC_OK;
}

/* ---- what lost most, and partition sizes */

static void print_lost(const struct lc_text *text, const struct lc_scaling *scaling) {
    const struct lc_scaled_run *first = &scaling->runs[0];
    const struct lc_scaled_run *last = &scaling->runs[scaling->n_runs - 1];
    const struct lc_lost *lost = &scaling->lost;
    size_t room = text->width > FIGURES_WIDTH + 20 ? text->width - FIGURES_WIDTH : 20;
    struct lc_strbuf path = {0};
    char a[32], b[32], c[32];
    if (lost->n == 0 || lost->list[0].lost_s <= 0.0)
        return;
    fprintf(text->out, "\n%sLost with scale%s\n", lc_text_bold(text), lc_text_plain(text));
    lc_strbuf_printf(
        &path, "own time of all ranks and threads, by which %.0f take more than %.0f: %s in all",
        last->executors, first->executors, lc_text_seconds(lost->lost_s, a));
    lc_text_wrapped(text, 0, 2, lc_strbuf_get(&path));
    fprintf(text->out, "  %9s %8s %9s %9s  %s\n", "LOST", "SHARE %", "FIRST", "LAST", "CALL PATH");
    for (size_t i = 0; i < lost->n && i < MOST_LOST; i++) {
        const struct lc_lost_path *one = &lost->list[i];
        if (!(one->lost_s > 0.0) || one->share < 0.001)
            break;
        lc_strbuf_clear(&path);
        lc_put_tail(&path, one->path->shown, room);
        fprintf(text->out, "  %9s %8.1f %9s %9s  %s\n", lc_text_seconds(one->lost_s, a),
                100.0 * one->share, lc_text_seconds(one->first_s, b),
                lc_text_seconds(one->last_s, c), lc_strbuf_get(&path));
    }
    lc_strbuf_free(&path);
}

static bool is_shown(const struct lc_sweep *sweep, size_t split) {
    return sweep->n <= MOST_SHOWN_SPLITS || split == sweep->best ||
           sweep->splits[split].n_measured > 0;
}

static void print_split(const struct lc_text *text, const struct lc_sweep *sweep, size_t at) {
    const struct lc_split *split = &sweep->splits[at];
    char predicted[32] = "-", measured[32] = "-", error[32] = "-";
    struct lc_strbuf sizes = {0};
    for (size_t i = 0; i < sweep->n_parts; i++)
        lc_strbuf_printf(&sizes, "%s%zu", i > 0 ? " + " : "", split->sizes[i]);
    if (!isnan(split->predicted_s))
        lc_text_seconds(split->predicted_s, predicted);
    if (split->n_measured > 0)
        lc_text_seconds(split->measured_s, measured);
    if (split->n_measured > 0 && split->measured_s > 0.0 && !isnan(split->predicted_s))
        snprintf(error, sizeof error, "%+.1f",
                 100.0 * (split->predicted_s / split->measured_s - 1.0));
    fprintf(text->out, "  %20s %10s %10s %8s%s\n", lc_strbuf_get(&sizes), predicted, measured,
            error, at == sweep->best ? "  least" : "");
    lc_strbuf_free(&sizes);
}

static void print_sweep(const struct lc_text *text, const struct lc_sweep *sweep) {
    struct lc_strbuf names = {0};
    lc_strbuf_puts(&names, "ranks of ");
    for (size_t i = 0; i < sweep->n_parts; i++) {
        lc_strbuf_puts(&names, i > 0 ? " + " : "");
        put_name(&names, sweep->first->indicators.list[i].own.name, NAME_WIDTH);
    }
    lc_strbuf_puts(&names, "; run time predicted from the nearest run with other sizes");
    fprintf(text->out, "\n%sPartition sizes%s\n", lc_text_bold(text), lc_text_plain(text));
    lc_text_wrapped(text, 0, 2, lc_strbuf_get(&names));
    fprintf(text->out, "  %20s %10s %10s %8s\n", "RANKS", "PREDICTED", "MEASURED", "ERROR %");
    for (size_t i = 0; i < sweep->n; i++)
        if (is_shown(sweep, i))
            print_split(text, sweep, i);
    lc_strbuf_free(&names);
}

/* Runs of several programs cannot be compared. */
static void warn_programs(const struct lc_text *text, const struct lc_scaling *scaling) {
    const char *first = json_string_value(json_object_get(scaling->runs[0].meta, "program"));
    for (size_t i = 1; i < scaling->n_runs; i++) {
        const char *other = json_string_value(json_object_get(scaling->runs[i].meta, "program"));
        if (first != NULL && other != NULL && strcmp(first, other) != 0) {
            char *one = lc_text_outside(first, NAME_WIDTH);
            char *two = lc_text_outside(other, NAME_WIDTH);
            fprintf(text->out,
                    "! these are runs of different programs (%s, %s): they cannot be compared\n",
                    one != NULL ? one : "?", two != NULL ? two : "?");
            free(one);
            free(two);
            return;
        }
    }
}

static bool any(const struct lc_scaling *scaling, bool (*has)(const struct lc_scaled_run *run)) {
    for (size_t i = 0; i < scaling->n_runs; i++)
        if (has(&scaling->runs[i]))
            return true;
    return false;
}

static bool has_analysis(const struct lc_scaled_run *run) {
    return lc_run_indicators_analysed(&run->indicators);
}

static bool has_partitions(const struct lc_scaled_run *run) {
    return run->indicators.n > 0;
}

static bool has_factors(const struct lc_scaled_run *run) {
    return run->pop != NULL;
}

static bool has_tasks(const struct lc_scaled_run *run) {
    double task = get(run->pop, "task_critical_path_s");
    return task > 0.0 && task < 0.999 * get(run->pop, "critical_path_s");
}

/* What more threads cannot help, and what scheduling of tasks costs: as OTF-CPT's tables. */
static void print_tasks(const struct lc_text *text, const struct lc_scaling *scaling) {
    if (!any(scaling, has_tasks))
        return;
    fprintf(text->out, "\n%9s %7s %9s %9s %9s %7s\n", "THREADS", "LB, %", "ThrCP, s", "TaCP, s",
            "DIFF, s", "DIFF, %");
    for (size_t i = 0; i < scaling->n_runs; i++) {
        const struct lc_scaled_run *run = &scaling->runs[i];
        double thread = get(run->pop, "critical_path_s");
        double task = get(run->pop, "task_critical_path_s");
        if (!(thread > 0.0) || !(task > 0.0))
            continue; /* not known */
        fprintf(text->out, "%9.0f %7.1f %9.4g %9.4g %9.3g %7.1f\n", run->executors,
                100.0 * get(run->pop, "load_balance"), thread, task, thread - task,
                100.0 * (thread - task) / thread);
    }
    lc_text_wrapped(text, 0, 0,
                    "ThrCP: critical path as the tasks ran; TaCP: with a clock per task, on "
                    "threads without limit.");
}

/* Runs that were to count, on processors that let nobody read their counters. */
static void say_counted(const struct lc_text *text, const struct lc_scaling *scaling) {
    bool lacking = false, any = false;
    for (size_t i = 0; i < scaling->n_runs; i++) {
        lacking = lacking || lc_text_lacks_hardware(scaling->runs[i].pop);
        any = any || !isnan(scaling->runs[i].ipc_scalability);
    }
    if (lacking && !any)
        lc_text_wrapped(text, 0, 0,
                        "IPC, instructions and frequency are not known: the processor's counters "
                        "could not be read.");
}

enum lc_err lc_scaling_write_text(const struct lc_scaling *scaling, bool weak, FILE *out) {
    struct lc_text text;
    lc_text_begin(&text, out);
    if (any(scaling, has_factors))
        LC_TRY(print_table(&text, scaling, "EFFICIENCY, %", fill_factors));
    if (any(scaling, has_analysis)) {
        fputs(any(scaling, has_factors) ? "\n" : "", out);
        LC_TRY(print_table(&text, scaling, "INDICATORS", fill_indicators));
    }
    if (any(scaling, has_partitions)) {
        fputc('\n', out);
        LC_TRY(print_table(&text, scaling, "PARTITIONS", fill_partitions));
    }
    fprintf(out,
            "\nColumns: ranks%s. Computational scalability: useful time of the first run over that "
            "of the run%s.\n",
            any_threads(scaling) ? " x threads" : "",
            weak ? ", times the ratio of their numbers (weak scaling)" : "");
    say_counted(&text, scaling);
    warn_programs(&text, scaling);
    for (size_t i = 0; i < scaling->n_runs; i++)
        fprintf(out, "  %5.0f  %s\n", scaling->runs[i].ranks, scaling->runs[i].file);
    print_tasks(&text, scaling);
    print_lost(&text, scaling);
    for (size_t i = 0; i < scaling->n_sweeps; i++)
        print_sweep(&text, &scaling->sweeps[i]);
    return LC_OK;
}
