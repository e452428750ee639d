/* Header: what ran, how long, how much of it in MPI; and what one must know before reading on. */
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "report/text_parts.h"

static const char *get_string(const json_t *object, const char *key) {
    return json_string_value(json_object_get(object, key));
}

static double get_number(const json_t *object, const char *key) {
    return json_number_value(json_object_get(object, key));
}

/* "a b c" of a string or an array of strings. */
static void join_strings(const json_t *value, char *buffer, size_t room) {
    size_t i, used = 0;
    json_t *item;
    buffer[0] = '\0';
    if (json_is_string(value))
        snprintf(buffer, room, "%s", json_string_value(value));
    json_array_foreach(value, i, item) {
        const char *word = json_is_string(item) ? json_string_value(item) : "?";
        int put = snprintf(buffer + used, room - used, "%s%s", i > 0 ? " " : "", word);
        if (put < 0 || (size_t)put >= room - used)
            break;
        used += (size_t)put;
    }
}

/* " b c" of [a, b, c]: the program's name stands before. */
static void join_arguments(const json_t *command, char *buffer, size_t room) {
    size_t i, used = 0;
    json_t *item;
    buffer[0] = '\0';
    json_array_foreach(command, i, item) {
        const char *word = json_string_value(item);
        int put = i > 0 && word != NULL ? snprintf(buffer + used, room - used, " %s", word) : 0;
        if (put < 0 || (size_t)put >= room - used)
            break;
        used += (size_t)put;
    }
}

static size_t count_nodes(const struct lc_view *view) {
    size_t nodes = 0;
    for (size_t n = 0; n < view->model->n_system_nodes; n++)
        for (size_t p = 0; p < view->model->n_processes; p++)
            if (view->model->processes[p].system_node == n) {
                nodes++;
                break;
            }
    return nodes;
}

static void print_size(const struct lc_text *text) {
    const struct lc_model *model = text->view->model;
    char wall[32];
    size_t ranks = model->n_processes, threads = model->n_locations,
           nodes = count_nodes(text->view);
    fprintf(text->out, "  %zu rank%s", ranks, ranks == 1 ? "" : "s");
    if (threads != ranks)
        fprintf(text->out, ", %zu threads", threads);
    fprintf(text->out, " on %zu node%s, wall time %s", nodes, nodes == 1 ? "" : "s",
            lc_text_seconds(get_number(text->meta, "wall_time_s"), wall));
    const char *mpi = get_string(text->meta, "mpi");
    if (mpi != NULL)
        fprintf(text->out, ", %s", mpi);
    const char *creator = get_string(text->meta, "creator");
    if (mpi == NULL && creator != NULL)
        fprintf(text->out, ", written by %s", creator);
    fputc('\n', text->out);
}

static void print_shares(const struct lc_text *text) {
    const struct lc_sums *sums = text->sums;
    if (sums->total_time <= 0.0)
        return;
    fprintf(text->out, "  in MPI %s%.1f %%%s of the time, waiting for others %s%.1f %%%s%s\n",
            lc_text_bold(text), lc_text_share(sums->total_mpi, sums->total_time),
            lc_text_plain(text), lc_text_bold(text),
            lc_text_share(sums->total_waiting, sums->total_time), lc_text_plain(text),
            sums->estimated ? " (estimated)" : "");
    double ends = sums->start_time + sums->end_time, whole = sums->total_time + ends;
    double locations = (double)text->view->model->n_locations;
    char start[32], end[32];
    if (ends >= 0.005 * whole)
        fprintf(
            text->out,
            "  start and end of MPI apart: MPI_Init %s, MPI_Finalize %s per rank (%.1f %% of the "
            "run)\n",
            lc_text_seconds(sums->start_time / locations, start),
            lc_text_seconds(sums->end_time / locations, end), lc_text_share(ends, whole));
}

/* The cores that ranks may use: one text for all, or one per rank. */
static void print_binding(const struct lc_text *text) {
    const json_t *binding = json_object_get(text->meta, "binding");
    const char *first = json_string_value(binding);
    size_t i, told = 0;
    json_t *item;
    bool same = true;
    json_array_foreach(binding, i, item) {
        const char *cores = json_string_value(item);
        if (i == 0)
            first = cores;
        same = same && cores != NULL && first != NULL && strcmp(cores, first) == 0;
    }
    if (first == NULL || first[0] == '\0')
        return;
    if (same) {
        fprintf(text->out, "  binding: every rank may run on cores %s\n", first);
        return;
    }
    fprintf(text->out, "  binding: cores");
    json_array_foreach(binding, i, item) {
        if (told++ == 8) {
            fprintf(text->out, " ..");
            break;
        }
        const char *cores = json_string_value(item);
        fprintf(text->out, "%s %s (rank %zu)", i > 0 ? "," : "", cores != NULL ? cores : "?", i);
    }
    fputc('\n', text->out);
}

static void warn(const struct lc_text *text, const char *what) {
    fprintf(text->out, "  %s!%s ", lc_text_alarm(text), lc_text_plain(text));
    lc_text_wrapped(text, 4, 4, what);
}

bool lc_text_oversubscribed(const struct lc_text *text, double *cores_out) {
    const json_t *cores = json_object_get(text->meta, "cores");
    double n_cores = json_is_number(cores) ? json_number_value(cores) : 0.0;
    size_t i;
    json_t *item;
    json_array_foreach(cores, i, item) n_cores += json_number_value(item);
    size_t wanted = text->view->model->n_locations;
    const json_t *flag = json_object_get(text->meta, "oversubscribed");
    *cores_out = n_cores;
    return json_is_true(flag) || (flag == NULL && n_cores > 0 && (double)wanted > n_cores);
}

static void print_oversubscription(const struct lc_text *text) {
    double n_cores, threads = get_number(text->meta, "threads_wanted");
    size_t wanted = text->view->model->n_locations;
    if (!lc_text_oversubscribed(text, &n_cores))
        return;
    char line[160];
    if (n_cores > 0 && threads > 1)
        snprintf(line, sizeof line,
                 "oversubscribed: %zu ranks of %.0f threads on %.0f cores: waiting includes "
                 "waiting for a core",
                 text->view->model->n_processes, threads, n_cores);
    else if (n_cores > 0)
        snprintf(
            line, sizeof line,
            "oversubscribed: %zu ranks and threads on %.0f cores: waiting includes waiting for "
            "a core",
            wanted, n_cores);
    else
        snprintf(line, sizeof line,
                 "oversubscribed: more ranks than cores: waiting includes waiting for a core");
    warn(text, line);
}

/* OpenMP is wanted, and nothing of its threads was measured. */
static void print_openmp(const struct lc_text *text) {
    if (json_is_true(json_object_get(text->meta, "openmp")) &&
        get_number(text->meta, "threads_wanted") > 1)
        warn(text, "OpenMP: threads are measured where they call MPI; a parallel region counts as "
                   "work of the thread that calls MPI");
}

static void print_warnings(const struct lc_text *text) {
    char words[512], line[700];
    const json_t *complete = json_object_get(text->meta, "complete");
    const char *ending = get_string(text->meta, "ending");
    if (json_is_false(complete)) {
        snprintf(line, sizeof line, "incomplete: the program ended by %s: times are up to there%s",
                 ending != NULL ? ending : "something unknown",
                 text->pop != NULL || text->analysis
                     ? ""
                     : "; who is late, critical path and efficiency need MPI_Finalize");
        warn(text, line);
    }
    double status = get_number(text->meta, "exit_status");
    if (status != 0) {
        snprintf(line, sizeof line, "the program ended with exit status %.0f", status);
        warn(text, line);
    }
    print_oversubscription(text);
    print_openmp(text);
    join_strings(json_object_get(text->meta, "missing_symbols"), words, sizeof words);
    if (words[0] != '\0') {
        snprintf(line, sizeof line,
                 "no debug information: functions are named by symbols or "
                 "addresses in %s",
                 words);
        warn(text, line);
    }
}

void lc_text_header(const struct lc_text *text) {
    char words[512];
    const char *program = get_string(text->meta, "program");
    join_arguments(json_object_get(text->meta, "command"), words, sizeof words);
    size_t width = text->full ? SIZE_MAX : text->width;
    char *name = lc_text_outside(program != NULL ? program : text->view->file, width);
    size_t used = name != NULL ? lc_utf8_count(name) : 0;
    char *arguments = lc_text_outside(words, width > used + 8 ? width - used : 8);
    fprintf(text->out, "%s%s%s%s\n", lc_text_bold(text), name != NULL ? name : "",
            lc_text_plain(text), arguments != NULL ? arguments : "");
    free(name);
    free(arguments);
    print_size(text);
    print_shares(text);
    print_binding(text);
    print_warnings(text);
}
