/* Header: what ran, how long, how much of it in MPI; and what one must know before reading on. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/plural.h"
#include "base/strbuf.h"
#include "base/utf8.h"
#include "report/cores.h"
#include "report/frames.h"
#include "report/packages.h"
#include "report/run_info.h"
#include "report/text_parts.h"

#define DPKG_LISTS "/var/lib/dpkg/info"

static const char *get_string(const json_t *object, const char *key) {
    return json_string_value(json_object_get(object, key));
}

static double get_number(const json_t *object, const char *key) {
    return json_number_value(json_object_get(object, key));
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
    struct lc_strbuf line = {0};
    size_t ranks = model->n_processes, threads = model->n_locations,
           nodes = count_nodes(text->view);
    lc_strbuf_printf(&line, "%zu rank%s", ranks, lc_plural((double)ranks));
    if (threads != ranks)
        lc_strbuf_printf(&line, ", %zu thread%s", threads, lc_plural((double)threads));
    lc_strbuf_printf(&line, " on %zu node%s, wall time %s", nodes, lc_plural((double)nodes),
                     lc_text_seconds(get_number(text->meta, "wall_time_s"), wall));
    const char *mpi = get_string(text->meta, "mpi");
    if (mpi != NULL)
        lc_strbuf_printf(&line, ", %s", mpi);
    const char *creator = get_string(text->meta, "creator");
    if (mpi == NULL && creator != NULL)
        lc_strbuf_printf(&line, ", written by %s", creator);
    lc_text_wrapped(text, 0, 2, lc_strbuf_get(&line));
    lc_strbuf_free(&line);
}

/* "0 to 3, 6" */
static void put_ranks_of(const json_t *of, json_int_t program, struct lc_strbuf *out) {
    size_t n = json_array_size(of);
    const char *between = "";
    for (size_t r = 0; r < n; r++) {
        size_t last = r;
        if (!json_is_integer(json_array_get(of, r)) ||
            json_integer_value(json_array_get(of, r)) != program)
            continue;
        while (last + 1 < n && json_is_integer(json_array_get(of, last + 1)) &&
               json_integer_value(json_array_get(of, last + 1)) == program)
            last++;
        lc_strbuf_printf(out,
                         last > r + 1 ? "%s%zu to %zu"
                         : last > r   ? "%s%zu, %zu"
                                      : "%s%zu",
                         between, r, last);
        between = ", ";
        r = last;
    }
}

/* Where ranks run different programs. */
static void print_programs(const struct lc_text *text) {
    const json_t *names = json_object_get(text->meta, "programs"), *name;
    size_t i;
    json_array_foreach(names, i, name) {
        struct lc_strbuf line = {0};
        char *shown = lc_text_outside(json_is_string(name) ? json_string_value(name) : "?",
                                      text->full ? SIZE_MAX : text->width - 4);
        struct lc_strbuf ranks = {0};
        put_ranks_of(json_object_get(text->meta, "program_of_rank"), (json_int_t)i, &ranks);
        const char *list = lc_strbuf_get(&ranks);
        lc_strbuf_printf(&line, "%s: rank%s %s", shown != NULL ? shown : "?",
                         list[strcspn(list, " ")] != '\0' ? "s" : "", list);
        lc_strbuf_free(&ranks);
        fputs("  ", text->out);
        if (lc_strbuf_ok(&line))
            lc_text_wrapped(text, 2, 4, lc_strbuf_get(&line));
        lc_strbuf_free(&line);
        free(shown);
    }
}

bool lc_text_without_mpi(const struct lc_text *text) {
    return json_object_get(text->meta, "mpi") == NULL &&
           json_object_get(text->meta, "mpi_calls") != NULL;
}

bool lc_text_only_time(const struct lc_text *text) {
    return text->view->n_paths <= 1 && !text->analysis;
}

bool lc_text_uninitialised(const struct lc_text *text) {
    return json_is_false(json_object_get(text->meta, "mpi_initialised"));
}

/* What was never called took no time. */
static void print_start_and_end(const struct lc_text *text) {
    const struct lc_sums *sums = text->sums;
    double ends = sums->start_time + sums->end_time, whole = sums->total_time + ends;
    double locations = (double)text->view->model->n_locations;
    char time[32];
    struct lc_strbuf line = {0};
    if (ends < 0.005 * whole)
        return;
    lc_strbuf_puts(&line,
                   sums->end_time > 0.0 ? "start and end of MPI apart: " : "start of MPI apart: ");
    if (sums->start_time > 0.0)
        lc_strbuf_printf(&line, "MPI_Init %s", lc_text_seconds(sums->start_time / locations, time));
    if (sums->end_time > 0.0)
        lc_strbuf_printf(&line, "%sMPI_Finalize %s", sums->start_time > 0.0 ? ", " : "",
                         lc_text_seconds(sums->end_time / locations, time));
    lc_strbuf_printf(&line, " per rank (%.1f %% of the run)", lc_text_share(ends, whole));
    lc_text_wrapped(text, 0, 2, lc_strbuf_get(&line));
    lc_strbuf_free(&line);
}

static void print_shares(const struct lc_text *text) {
    const struct lc_sums *sums = text->sums;
    if (sums->total_time <= 0.0)
        return;
    static const size_t least = 68; /* columns of the longest line */
    if (lc_text_only_time(text)) {
        fputs("  only the run time was measured\n", text->out);
        return;
    }
    if (lc_text_uninitialised(text)) {
        lc_text_wrapped(text, 0, 2,
                        "MPI was not initialised: who is late, critical path and efficiency are "
                        "measured from MPI_Init on");
        return;
    }
    if (lc_text_without_mpi(text)) {
        fprintf(text->out, "  threads wait for others %s%.1f %%%s of the time\n",
                lc_text_bold(text), lc_text_share(sums->total_waiting, sums->total_time),
                lc_text_plain(text));
        return;
    }
    fprintf(text->out, "  in MPI %s%.1f %%%s of the time,%swaiting for others %s%.1f %%%s%s\n",
            lc_text_bold(text), lc_text_share(sums->total_mpi, sums->total_time),
            lc_text_plain(text), text->width < least ? "\n  " : " ", lc_text_bold(text),
            lc_text_share(sums->total_waiting, sums->total_time), lc_text_plain(text),
            sums->estimated ? " (estimated)" : "");
    char line[160];
    if (sums->estimated && sums->several_time > 0.0005 * sums->total_time) {
        snprintf(line, sizeof line,
                 "MPI_Waitall, Waitany and Waitsome took %.1f %%: how much of that is waiting was "
                 "not measured",
                 lc_text_share(sums->several_time, sums->total_time));
        lc_text_wrapped(text, 0, 2, line);
    }
    print_start_and_end(text);
}

/* The cores that ranks may use: one text for all, or one per rank. */
static void print_binding(const struct lc_text *text) {
    const json_t *binding = json_object_get(text->meta, "binding");
    const char *first = json_string_value(binding);
    size_t i, printed = 0;
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
        if (printed++ == 8) {
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

static void print_narrow(const struct lc_text *text) {
    double cores = 0, all;
    char line[256];
    uint32_t rank = lc_cores_bound_narrowly(text->meta, &cores);
    if (rank != LC_NONE) {
        double threads = lc_cores_threads_of(text->meta, rank);
        snprintf(
            line, sizeof line,
            "bound too narrowly: rank %u computes with %.0f threads and may use %.0f core%s: give "
            "each rank a core per thread (Open MPI: --map-by slot:PE=%.0f; Slurm: -c %.0f)",
            rank, threads, cores, cores > 1 ? "s" : "", threads, threads);
        warn(text, line);
        return;
    }
    rank = lc_cores_narrow(text->meta, &cores);
    if (rank == LC_NONE || lc_cores_oversubscribed(text->view, text->meta, &all)) /* it is said */
        return;
    snprintf(line, sizeof line,
             "oversubscribed: rank %u computes with %.0f threads on %.0f core%s: waiting "
             "includes waiting for a core",
             rank, lc_cores_threads_of(text->meta, rank), cores, cores > 1 ? "s" : "");
    warn(text, line);
}

static void print_oversubscription(const struct lc_text *text) {
    double n_cores, threads = lc_cores_threads_of(text->meta, 0);
    size_t wanted = text->view->model->n_locations;
    if (!lc_cores_oversubscribed(text->view, text->meta, &n_cores))
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

/* Threads that nothing is measured of. */
static void print_openmp(const struct lc_text *text) {
    double most = 1;
    for (size_t i = 0; i < text->view->model->n_processes; i++)
        most =
            lc_cores_threads_of(text->meta, i) > most ? lc_cores_threads_of(text->meta, i) : most;
    if (most <= 1 || text->view->model->n_locations > text->view->model->n_processes)
        return;
    char line[320], crowd[64] = "";
    double threads, cores;
    if (lc_cores_crowded(text->view, text->meta, &threads, &cores))
        snprintf(crowd, sizeof crowd, ", %.0f on %.0f core%s in all,", threads, cores,
                 cores > 1 ? "s" : "");
    snprintf(line, sizeof line,
             "%s: each rank computes with %.0f threads%s but only those that call MPI are "
             "measured: what the others do, and how well they share the work, counts as work of "
             "the thread that waits for them",
             json_is_true(json_object_get(text->meta, "openmp")) ? "OpenMP" : "threads", most,
             crowd[0] != '\0' ? crowd : ",");
    warn(text, line);
}

/* Does the first screen show functions without a name? Those of 5 % of the time may be on it. */
static bool shows_unnamed(const struct lc_text *text) {
    const struct lc_view *view = text->view;
    for (size_t p = 0; p < view->n_paths; p++)
        if (text->sums->time[p] > 0.05 * text->sums->total_time &&
            lc_frame_needs_name(view->paths[p].name))
            return true;
    return false;
}

/* The packages that bring the names of these modules. */
struct name_packages {
    struct lc_strbuf text; /* the first MOST_PACKAGES of them */
    size_t n;
    bool own; /* some modules are from none */
};

static void find_packages(const json_t *modules, struct name_packages *found) {
    enum { MOST_PACKAGES = 3 };
    const char **files = NULL;
    char(*packages)[LC_PACKAGE_NAME] = NULL;
    struct lc_strbuf one = {0};
    size_t n = json_array_size(modules);
    enum lc_err err = lc_alloc(&files, n, sizeof files[0]);
    if (err == LC_OK)
        err = lc_alloc(&packages, n, sizeof packages[0]);
    for (size_t i = 0; err == LC_OK && i < n; i++) {
        const char *path = json_string_value(json_array_get(modules, i));
        files[i] = path != NULL ? path : "?";
    }
    if (err == LC_OK)
        err = lc_packages_of(DPKG_LISTS, files, n, packages);
    for (size_t i = 0; err == LC_OK && i < n; i++) {
        if (packages[i][0] == '\0') {
            found->own = true;
            continue;
        }
        lc_strbuf_clear(&one);
        lc_strbuf_printf(&one, " %s-dbgsym", packages[i]); /* a blank first: no end of another */
        if (strstr(lc_strbuf_get(&found->text), lc_strbuf_get(&one)) == NULL &&
            found->n++ < MOST_PACKAGES)
            lc_strbuf_printf(&found->text, "%s%s", found->n > 1 ? "," : "", lc_strbuf_get(&one));
    }
    if (found->n > MOST_PACKAGES)
        lc_strbuf_puts(&found->text, ", ..");
    lc_strbuf_free(&one);
    free(packages);
    free(files);
}

/* Functions without a name: how to get names. Where all have one, that there is no debug
 * information is no matter for a warning. */
static void print_unnamed(const struct lc_text *text, bool at_length) {
    enum { MOST_MODULES = 3 };
    const json_t *modules = json_object_get(text->meta, "missing_symbols");
    const json_t *count = json_object_get(text->meta, "unnamed_functions");
    struct lc_strbuf line = {0};
    struct name_packages packages = {0};
    size_t i;
    json_t *module;
    if (json_array_size(modules) == 0 || (json_is_integer(count) && json_integer_value(count) == 0))
        return;
    if (json_is_integer(count))
        lc_strbuf_printf(&line,
                         "%lld call path%s without a name: ", (long long)json_integer_value(count),
                         lc_plural((double)json_integer_value(count)));
    lc_strbuf_puts(&line, "no symbols in");
    json_array_foreach(modules, i, module) {
        const char *path = json_is_string(module) ? json_string_value(module) : "?";
        const char *slash = strrchr(path, '/');
        if (at_length || i < MOST_MODULES)
            lc_strbuf_printf(&line, "%s %s", i > 0 ? "," : "", slash != NULL ? slash + 1 : path);
    }
    if (!at_length && i > MOST_MODULES)
        lc_strbuf_printf(&line, " and %zu more", i - MOST_MODULES);
    lc_strbuf_puts(&line, ". For names,");
    find_packages(modules, &packages);
    if (packages.own)
        lc_strbuf_puts(&line, " compile with -g and do not strip");
    if (packages.n > 0)
        lc_strbuf_printf(&line,
                         "%s install%s from the debug archive of the distribution, or run with "
                         "DEBUGINFOD_URLS=https://debuginfod.elfutils.org",
                         packages.own ? "; or" : "", lc_strbuf_get(&packages.text));
    if (json_is_true(json_object_get(text->meta, "debuginfod_gave_up")))
        lc_strbuf_puts(&line, " (a server of DEBUGINFOD_URLS did not answer in time)");
    warn(text, lc_strbuf_get(&line));
    lc_strbuf_free(&line);
    lc_strbuf_free(&packages.text);
}

/* Ranks that left nothing, and on which nodes they are. */
static void print_unknown(const struct lc_text *text) {
    const struct lc_view *view = text->view;
    char nodes[256] = "", line[512];
    const char *last = NULL;
    size_t ranks = json_array_size(json_object_get(text->meta, "unknown_ranks")), named = 0;
    for (uint32_t l = 0; l < view->model->n_locations; l++) {
        const char *node = view->unknown[l] ? lc_view_node(view, l) : last;
        if (node == NULL || node == last || strstr(nodes, node) != NULL)
            continue;
        last = node;
        size_t used = strlen(nodes);
        snprintf(nodes + used, sizeof nodes - used, "%s%s", used > 0 ? ", " : "",
                 ++named > 8 ? ".." : node);
        if (named > 8)
            break;
    }
    snprintf(line, sizeof line,
             "%zu of %zu ranks unknown (%s): everything below is about the others", ranks,
             view->model->n_processes, nodes);
    if (ranks > 0)
        warn(text, line);
}

/* What the tool's time went into, in percent of the program's, largest first; idle_s: of that in
 * calls nobody lost so much. */
static const char *parts_of_cost(const json_t *overhead, double idle_s, double useful_s, char *out,
                                 size_t bytes) {
    struct {
        const char *key, *text;
        double s;
    } parts[] = {{"rare_s", "new call paths and communicators", 0},
                 {"sampling_s", "samples", 0},
                 {"openmp_s", "constructs of OpenMP", 0},
                 {"total_s", "calls", 0}};
    enum { PARTS = sizeof parts / sizeof *parts };
    for (size_t i = 0; i < PARTS; i++) {
        double s = json_number_value(json_object_get(overhead, parts[i].key));
        parts[i].s += s;
        if (i + 1 < PARTS)
            parts[PARTS - 1].s -= s; /* calls are the rest */
    }
    parts[PARTS - 1].s -= idle_s;
    size_t length = 0;
    out[0] = '\0';
    for (size_t n = 0; n < PARTS; n++) {
        size_t most = 0;
        for (size_t i = 1; i < PARTS; i++)
            most = parts[i].s > parts[most].s ? i : most;
        if (100 * parts[most].s / useful_s >= 0.05 && length < bytes)
            length += (size_t)snprintf(out + length, bytes - length, "%s%.1f %% for %s",
                                       length > 0 ? ", " : "", 100 * parts[most].s / useful_s,
                                       parts[most].text);
        parts[most].s = -1;
    }
    return out;
}

static const double WORTH_S = 0.1; /* of shorter runs nobody asks what the tool cost */

/* What was left out so that the tool stays within its budget, and whether that sufficed. */
static void print_budget(const struct lc_text *text, bool at_length) {
    const json_t *overhead = json_object_get(text->meta, "overhead");
    const json_t *reduced = json_object_get(overhead, "reduced");
    double budget = json_number_value(json_object_get(overhead, "budget"));
    double idle_s = lc_run_idle_overhead(overhead, text->sums);
    double total_s = json_number_value(json_object_get(overhead, "total_s")) - idle_s;
    double useful_s = text->sums->total_time - total_s;
    /* for its first second each thread has what a run of one second has */
    double allowed_s = budget * (double)text->view->model->n_locations;
    char line[512];
    size_t i, n = json_array_size(reduced);
    json_t *step;
    json_array_foreach(reduced, i, step) {
        const char *what = json_string_value(json_object_get(step, "text"));
        if (!at_length && i > 0)
            break;
        snprintf(line, sizeof line, "%s (--max-overhead=%.3g%%%s)", what != NULL ? what : "?",
                 100 * budget, !at_length && n > 1 ? ", and more: --full" : "");
        warn(text, line);
    }
    if (budget <= 0 || useful_s <= 0 || total_s <= budget * useful_s)
        return;
    char parts[256];
    parts_of_cost(overhead, idle_s, useful_s, parts, sizeof parts);
    if (total_s > allowed_s) {
        snprintf(line, sizeof line,
                 "the tool itself took %.1f %%, more than --max-overhead=%.3g%%%s: %s",
                 100 * total_s / useful_s, 100 * budget,
                 n == 0 ? " (with less detail no call site would be cheaper)" : "", parts);
        warn(text, line);
    } else if (useful_s > WORTH_S * (double)text->view->model->n_locations) {
        snprintf(line, sizeof line,
                 "the tool took %.1f %%; a run of less than a second may cost %.3g %% of a whole "
                 "one (--max-overhead): %s",
                 100 * total_s / useful_s, 100 * budget, parts);
        warn(text, line);
    }
}

static void print_threads(const struct lc_text *text, double n, const char *kind, const char *why) {
    char line[300];
    snprintf(line, sizeof line, "%.0f %sthread%s not sampled%s", n, kind,
             n == 1 ? " was" : "s were", why);
    if (n > 0)
        warn(text, line);
}

/* Threads without samples beside others that have them. */
static void print_not_sampled(const struct lc_text *text) {
    const json_t *coverage = json_object_get(text->meta, "coverage");
    if (get_string(json_object_get(text->meta, "sampling"), "why") != NULL)
        return; /* none at all */
    print_threads(text, get_number(coverage, "threads_refused_samples"), "",
                  ": the kernel has no room for so many (at most 256 of a process; "
                  "kernel.perf_event_mlock_kb, ulimit -l, ulimit -n)");
    print_threads(text, get_number(coverage, "short_threads_not_sampled"), "new ",
                  ", since others come and go so quickly: --sample=500 samples all");
}

/* Of an analysis: the trace holds windows of the run only. */
static void print_window(const struct lc_text *text) {
    const char *window = get_string(text->meta, "trace_window");
    char line[512];
    if (window == NULL)
        return;
    snprintf(line, sizeof line,
             "only %s was traced: the rest of the run is `(not traced)`, without wait states",
             window);
    warn(text, line);
}

/* Those of which everything else depends; at length: with what to do about names. */
static void print_warnings(const struct lc_text *text, bool at_length) {
    char line[700];
    const json_t *complete = json_object_get(text->meta, "complete");
    const char *ending = get_string(text->meta, "ending");
    bool lacks = text->pop == NULL && !text->analysis && !lc_text_only_time(text) &&
                 !lc_text_uninitialised(text);
    if (json_is_false(complete)) {
        snprintf(line, sizeof line,
                 "incomplete: the program ended by %s; times are up to that point%s%s",
                 ending != NULL ? ending : "something unknown",
                 lacks ? "; who is late, critical path and efficiency need " : "",
                 !lacks                      ? ""
                 : lc_text_without_mpi(text) ? "an end of its own"
                                             : "MPI_Finalize");
        warn(text, line);
    }
    print_window(text);
    print_unknown(text);
    double status = get_number(text->meta, "exit_status");
    if (status != 0) {
        snprintf(line, sizeof line, "the program ended with exit status %.0f", status);
        warn(text, line);
    }
    print_oversubscription(text);
    print_narrow(text);
    print_openmp(text);
    print_budget(text, at_length);
    print_not_sampled(text);
    if (at_length || shows_unnamed(text))
        print_unnamed(text, at_length);
}

static void print_title(const struct lc_text *text) {
    char words[512];
    const char *program = get_string(text->meta, "program");
    join_arguments(json_object_get(text->meta, "command"), words, sizeof words);
    size_t width = text->full ? SIZE_MAX : text->width;
    char *name = lc_text_outside(program != NULL ? program : text->view->file, width);
    size_t used = name != NULL ? lc_utf8_count(name) : 0;
    char *arguments = width > used + 8 ? lc_text_outside(words, width - used) : NULL;
    fprintf(text->out, "%s%s%s%s\n", lc_text_bold(text), name != NULL ? name : "",
            lc_text_plain(text), arguments != NULL ? arguments : "");
    free(name);
    free(arguments);
}

static void print_python(const struct lc_text *text) {
    const char *version = get_string(json_object_get(text->meta, "callpath"), "python_unread");
    char line[200];
    if (version == NULL)
        return;
    snprintf(line, sizeof line,
             "Python %s: call paths show the interpreter's functions, not those of the program "
             "(3.11 to 3.13 can be read)",
             version);
    fputs("  ", text->out);
    lc_text_wrapped(text, 2, 4, line);
}

/* Did the user want no samples? Then the option stands there. */
static bool is_chosen(const char *why) {
    return strncmp(why, "--", 2) == 0;
}

/* What tells of time off the processor. */
static const char *off_cpu_by(const char *how) {
    static const char *const by[][2] = {
        {"functions", "; time off the processor by the kernel's records of context switches"},
        {"switches", "; time off the processor by the kernel's records of context switches, whose "
                     "functions it does not tell"},
        {"counters", "; time off the processor by the kernel's counters between two samples "
                     "(rusage, schedstat), without functions"}};
    for (size_t i = 0; how != NULL && i < sizeof by / sizeof *by; i++)
        if (strcmp(how, by[i][0]) == 0)
            return by[i][1];
    return "";
}

/* Samples of the kernel do not tell which function Python runs. */
static bool is_python_by_kernel(const struct lc_text *text) {
    const char *program = get_string(text->meta, "program");
    const char *by = get_string(json_object_get(text->meta, "sampling"), "source");
    return program != NULL && strncmp(program, "python", 6) == 0 && by != NULL &&
           strcmp(by, "kernel") == 0;
}

/* Samples of the code between calls, or why there are none. */
static void print_sampling(const struct lc_text *text) {
    const json_t *sampling = json_object_get(text->meta, "sampling");
    const char *why = get_string(sampling, "why");
    double samples = get_number(text->meta, "samples");
    const char *where = lc_text_without_mpi(text) ? "between events" : "between MPI calls";
    double rate = get_number(text->meta, "sample_rate");
    char line[512], often[64] = "";
    if (rate > 0)
        snprintf(often, sizeof often, ", %.0f per second of a thread's work", rate);
    if (samples > 0)
        snprintf(line, sizeof line,
                 "functions %s by %.0f samples%s: their times are estimates (errors: --json)%s%s",
                 where, samples, often, off_cpu_by(get_string(sampling, "off_cpu")),
                 is_python_by_kernel(text)
                     ? "; functions of Python that call no MPI: --sample=timer"
                     : "");
    else if (why != NULL)
        snprintf(line, sizeof line, "functions %s were not sampled: %s%s", where, why,
                 is_chosen(why) ? "" : "; or run with --sample=timer, by signals");
    else
        return;
    fputs("  ", text->out);
    lc_text_wrapped(text, 2, 4, line);
}

void lc_text_header(const struct lc_text *text) {
    print_title(text);
    print_size(text);
    print_programs(text);
    print_shares(text);
    print_binding(text);
    print_python(text);
    print_sampling(text);
    print_warnings(text, true);
}

void lc_text_short_header(const struct lc_text *text) {
    print_title(text);
    print_size(text);
    print_programs(text);
    print_shares(text);
    print_python(text);
    const char *why = get_string(json_object_get(text->meta, "sampling"), "why");
    if (why != NULL && !is_chosen(why))
        print_sampling(text);
    else if (is_python_by_kernel(text) && get_number(text->meta, "samples") > 0)
        fputs("  functions of Python that call no MPI have names with --sample=timer, by signals\n",
              text->out);
    print_warnings(text, false);
}
