/* The POP factors as a tree, with what is bad about them and where to look next. */
#include <stdint.h>
#include <string.h>

#include "base/plural.h"
#include "report/cores.h"
#include "report/run_info.h"
#include "report/text_parts.h"

#define MORE_WORK "some ranks have more work than others: see who is late and who waits least"
#define IN_TURN   "ranks work at different times and wait in turn: see the largest wait states"
#define MPI_ALONE "time in MPI itself: send fewer or larger messages, check the network"

/* U: useful time of a thread, CP: critical path, T: run time, M: time of a process in MPI. */
static const struct lc_text_factor clocks[] = {
    {"parallel_efficiency", "Parallel efficiency", 0, "avg U / T", NULL},
    {"load_balance", "Load balance", 1, "avg U / max U", MORE_WORK},
    {"communication_efficiency", "Communication efficiency", 1, "max U / T", NULL},
    {"serialisation_efficiency", "Serialisation", 2, "max U / CP", IN_TURN},
    {"transfer_efficiency", "Transfer", 2, "CP / T", MPI_ALONE},
};
static const struct lc_text_factor additive[] = {
    {"parallel_efficiency", "Parallel efficiency", 0, "avg U / T", NULL},
    {"load_balance", "Load balance", 1, "1 - (max U - avg U) / T", MORE_WORK},
    {"communication_efficiency", "Communication efficiency", 1, "max U / T", NULL},
    {"serialisation_efficiency", "Serialisation", 2, "1 - (CP - max U) / T", IN_TURN},
    {"transfer_efficiency", "Transfer", 2, "CP / T", MPI_ALONE},
};
static const struct lc_text_factor talp[] = {
    {"parallel_efficiency", "Parallel efficiency", 0, "(T - avg M) / T", NULL},
    {"load_balance_in", "Balance in nodes", 1, "(T - min node M) / (T - min M)",
     "some ranks have more work than others on the same node: see who is late"},
    {"load_balance_out", "Balance between nodes", 1, "(T - avg M) / (T - min node M)",
     "some nodes have more work than others: move ranks or work between nodes"},
    {"communication_efficiency", "Communication efficiency", 1, "(T - min M) / T",
     "even the process that spends the least time in MPI spends a lot there: see serialisation and "
     "transfer"},
};

static const struct dialect {
    const char *name, *what;
    const struct lc_text_factor *factors;
    size_t n;
    bool of_mpi; /* it says nothing without MPI */
} dialects[] = {
    {"additive", "losses are shares of the run time and add up", additive,
     sizeof additive / sizeof *additive, false},
    {"talp", "as in DLB/TALP, computed from the time in MPI alone", talp,
     sizeof talp / sizeof *talp, true},
};
static const struct dialect main_tree = {"clocks", "the factors multiply", clocks,
                                         sizeof clocks / sizeof *clocks, false};

void lc_text_each_factor(void (*each)(void *context, const struct lc_text_factor *factor),
                         void *context) {
    for (size_t i = 0; i < main_tree.n; i++)
        each(context, &main_tree.factors[i]);
}

static bool has_threads(const json_t *pop) {
    const json_t *omp = json_object_get(pop, "omp");
    for (size_t i = 0; i < main_tree.n; i++)
        if (lc_text_factor_of(omp, main_tree.factors[i].key) < 0.99999)
            return true;
    return false;
}

/* N of the factors: threads that each count for the whole interval; and how many there are at once,
 * on average. False: most live through it. */
static bool come_and_go(const json_t *pop, double *threads, double *at_once) {
    const json_t *alive = json_object_get(pop, "threads_at_once");
    *threads = json_number_value(json_object_get(pop, "threads"));
    *at_once = json_number_value(alive);
    return *at_once > 0 && *threads > 1.5 * *at_once;
}

bool lc_text_come_and_go(const json_t *pop, struct lc_strbuf *out) {
    double threads, at_once;
    if (!come_and_go(pop, &threads, &at_once))
        return false;
    lc_strbuf_printf(out,
                     "%.0f threads, %.1f at once on average: the factors count each of them for "
                     "the whole run. While they lived, %.1f %% of their time was useful.",
                     threads, at_once,
                     100.0 * lc_text_factor_of(pop, "parallel_efficiency") * threads / at_once);
    return true;
}

static void print_come_and_go(const struct lc_text *text) {
    struct lc_strbuf line = {0};
    if (lc_text_come_and_go(text->pop, &line))
        lc_text_wrapped(text, 0, 2, lc_strbuf_get(&line));
    lc_strbuf_free(&line);
}

/* Threads that come and go are what most of the imbalance is. */
static bool lives_explain(const json_t *pop) {
    double threads, at_once;
    return come_and_go(pop, &threads, &at_once) &&
           lc_text_factor_of(json_object_get(pop, "omp"), "load_balance") <
               lc_text_factor_of(json_object_get(pop, "mpi"), "load_balance");
}

/* The lowest factor of those that are no products explains the product. */
static size_t find_worst(const struct dialect *dialect, const json_t *values) {
    size_t worst = 1;
    for (size_t i = 1; i < dialect->n; i++)
        if (dialect->factors[i].advice != NULL &&
            lc_text_factor_of(values, dialect->factors[i].key) <
                lc_text_factor_of(values, dialect->factors[worst].key))
            worst = i;
    return worst;
}

/* Who often lost the processor outside of MPI and of the OpenMP runtime did so inside, too, where
 * it cannot be seen. */
static bool lost_processors(const struct lc_text *text) {
    double lost = 0.0;
    for (uint32_t p = 0; p < text->view->n_paths; p++)
        if (strcmp(text->view->paths[p].name, "(preempted)") == 0)
            lost += text->sums->time[p];
    return lost > 0.05 * text->sums->total_time;
}

/* A low transfer has other reasons than messages where threads lack cores. */
static const char *advice_of(const struct lc_text *text, const struct lc_text_factor *factor) {
    double cores, computing;
    bool threads = lc_text_without_mpi(text);
    if (strcmp(factor->key, "load_balance") == 0 && lives_explain(text->pop))
        return "threads come and go, and count for the whole run";
    if (threads && strcmp(factor->key, "load_balance") == 0)
        return "some threads have more work than others: see who is late";
    if (threads && strcmp(factor->key, "serialisation_efficiency") == 0)
        return "threads work at different times and wait in turn: see the largest wait states";
    if (strcmp(factor->key, "transfer_efficiency") != 0)
        return factor->advice;
    if (lc_cores_bound_narrowly(text->meta, &cores) != LC_NONE)
        return "threads share cores: give each rank a core per thread before anything else";
    if (lc_cores_oversubscribed(text->view, text->meta, &cores))
        return "more ranks or threads than cores: this includes waiting for a core";
    if (lc_cores_crowded(text->view, text->meta, &computing, &cores))
        return "more threads than cores compute: this may include waiting for a core";
    if (lc_run_spawned(text->meta) > 0.0)
        return "time in MPI: its own, or waiting for processes that MPI_Comm_spawn started, which "
               "are not in this result";
    if (lost_processors(text))
        return threads
                   ? "time in the OpenMP runtime: its own, or without a processor, which others "
                     "took there as they did outside"
                   : "time in MPI: its own, or without a processor, which others took there as "
                     "they did outside";
    return threads ? "time in the OpenMP runtime itself: fewer or larger regions and tasks"
                   : factor->advice;
}

/* The same in few words. */
static const char *short_advice_of(const struct lc_text *text,
                                   const struct lc_text_factor *factor) {
    double cores, computing;
    bool threads = lc_text_without_mpi(text);
    if (strcmp(factor->key, "load_balance") == 0)
        return lives_explain(text->pop) ? "threads come and go"
               : threads                ? "some threads have more work"
                                        : "some ranks have more work";
    if (strcmp(factor->key, "serialisation_efficiency") == 0)
        return threads ? "threads wait in turn" : "ranks wait in turn";
    if (lc_cores_bound_narrowly(text->meta, &cores) != LC_NONE)
        return "threads share cores";
    if (lc_cores_crowded(text->view, text->meta, &computing, &cores))
        return "more threads than cores";
    if (lc_cores_oversubscribed(text->view, text->meta, &cores))
        return "more ranks than cores";
    if (lc_run_spawned(text->meta) > 0.0)
        return "MPI, or spawned processes";
    if (lost_processors(text))
        return threads ? "OpenMP, or no processor" : "MPI, or no processor";
    return threads ? "the OpenMP runtime itself" : "MPI itself";
}

/* Below the line of its factor; the arrow marks the lowest one. */
static void print_advice(const struct lc_text *text, int depth, bool worst, const char *advice) {
    int indent = 2 * depth + 8;
    fprintf(text->out, "  %*s%s ", indent - 5, "", worst ? "<-" : "  ");
    lc_text_wrapped(text, (size_t)indent, indent, advice);
}

/* By so much a share may be too large for times that are too short for the timer. */
static const double BY_TIMER = 0.01;

/* A line of a tree; threads: with the halves of MPI and OpenMP. */
static void print_factor(const struct lc_text *text, const struct lc_text_factor *factor, int depth,
                         const json_t *values, bool worst, bool threads) {
    double value = lc_text_factor_of(values, factor->key);
    bool bad = value < 0.8;
    fprintf(text->out, "  %*s%-*s %s%6.1f %%%s", 2 * depth, "", 28 - 2 * depth, factor->name,
            bad ? lc_text_alarm(text) : "", 100.0 * value, bad ? lc_text_plain(text) : "");
    if (threads)
        fprintf(text->out, "  MPI %6.1f %%  OpenMP %6.1f %%",
                100.0 * lc_text_factor_of(json_object_get(values, "mpi"), factor->key),
                100.0 * lc_text_factor_of(json_object_get(values, "omp"), factor->key));
    fprintf(text->out, "  %s\n", factor->formula);
    if (value > 1.0 + BY_TIMER)
        print_advice(text, depth, false,
                     "above 100 % by more than a timer resolves: clocks of several nodes may be "
                     "that wrong; else the measurement is, please report it");
    else if (value > 1.0 + 1e-6)
        print_advice(text, depth, false, "above 100 %: due to the resolution of the timer");
    else if ((worst && value < 0.95) || (bad && factor->advice != NULL))
        print_advice(text, depth, worst, advice_of(text, factor));
}

static void print_tree(const struct lc_text *text, const struct dialect *dialect, int depth,
                       const json_t *values, bool threads) {
    size_t worst = find_worst(dialect, values);
    for (size_t i = 0; i < dialect->n; i++)
        print_factor(text, &dialect->factors[i], depth + dialect->factors[i].depth, values,
                     i == worst, threads);
}

/* Other tools give other numbers under the same names: here they are, with their formulas. */
static void print_dialects(const struct lc_text *text) {
    const json_t *all = json_object_get(text->pop, "dialects");
    for (size_t i = 0; i < sizeof dialects / sizeof *dialects; i++) {
        const json_t *values = json_object_get(all, dialects[i].name);
        if (!json_is_object(values) || (dialects[i].of_mpi && lc_text_without_mpi(text)))
            continue;
        fprintf(text->out, "  dialect %s%s%s: %s\n", lc_text_bold(text), dialects[i].name,
                lc_text_plain(text), dialects[i].what);
        print_tree(text, &dialects[i], 1, values, false);
    }
}

/* The sums behind the factors are checked in every run. */
static void print_identities(const struct lc_text *text) {
    const json_t *error = json_object_get(text->pop, "identity_error");
    if (json_is_number(error) && json_number_value(error) > 1e-9)
        fprintf(text->out,
                "  ! the factors do not multiply to average work / run time (off by %.1g)\n",
                json_number_value(error));
}

/* What is not exact about a critical path: edges that became known only after the clocks had been
 * passed on, and what-if clocks that were overwritten before they were read. */
static void print_path_error(const struct lc_text *text, const json_t *object, const char *error,
                             double path) {
    char length[32];
    double most = json_number_value(json_object_get(object, error));
    double lost = json_number_value(json_object_get(object, "edges_lost"));
    if (most > 0.0005 * path)
        fprintf(
            text->out,
            "      this path may be up to %s longer, because some sends learned late what they had "
            "waited for\n",
            lc_text_seconds(most, length));
    if (lost > 0)
        fprintf(text->out, "      missing: %.0f edge%s, because the sender was too far ahead\n",
                lost, lc_plural(lost));
}

/* What a callback of OpenMP's runtime tells of, where that orders threads or tasks; else NULL. */
static const char *ordered_by(const char *callback) {
    static const char *const words[][2] = {{"OMPT_PARALLEL_BEGIN", "region"},
                                           {"OMPT_IMPLICIT_TASK", "thread's share of a region"},
                                           {"OMPT_SYNC_REGION", "barrier and taskwait"},
                                           {"OMPT_TASK_CREATE", "creation of a task"},
                                           {"OMPT_TASK_SCHEDULE", "begin and end of a task"},
                                           {"OMPT_DEPENDENCES", "dependence of a task"},
                                           {"OMPT_MUTEX_ACQUIRED", "acquisition of a lock"},
                                           {"OMPT_MUTEX_RELEASED", "release of a lock"}};
    for (size_t i = 0; callback != NULL && i < sizeof words / sizeof *words; i++)
        if (strcmp(callback, words[i][0]) == 0)
            return words[i][1];
    return NULL;
}

/* Edges between threads that nobody told of: with them the path may be longer. */
static void print_missing_edges(const struct lc_text *text) {
    static const char may_be_longer[] = "      this path may be longer: ";
    const json_t *missing = json_object_get(text->meta, "openmp_not_reported");
    double lost = json_number_value(json_object_get(text->meta, "openmp_edges_lost"));
    if (lost > 0)
        fprintf(text->out, "%s%.0f edge%s between threads of OpenMP %s not known\n", may_be_longer,
                lost, lc_plural(lost), lost == 1 ? "is" : "are");
    for (size_t i = 0; i < json_array_size(missing); i++) {
        const char *what = ordered_by(json_string_value(json_array_get(missing, i)));
        if (what != NULL)
            fprintf(text->out, "%sthe OpenMP runtime does not report every %s\n", may_be_longer,
                    what);
    }
}

/* One line for each kind: how long, where it ends, and the call path that has most of it. */
static void print_paths(const struct lc_text *text) {
    const json_t *all = json_object_get(text->pop, "paths"), *path;
    size_t i, width = text->width > 70 ? text->width - 62 : 8;
    char length[32], kind[64];
    if (json_array_size(all) == 0)
        return;
    fprintf(text->out, "  %-38s %9s %5s %6s  %s\n", "critical paths by scope and what counts",
            "LENGTH", "RANK", "THREAD", "MOST OF IT IN");
    json_array_foreach(all, i, path) {
        const char *scope = json_string_value(json_object_get(path, "scope"));
        const char *counts = json_string_value(json_object_get(path, "counts"));
        const char *name = json_string_value(json_object_get(path, "callpath"));
        if (counts != NULL && strcmp(counts, "outside MPI") == 0 && lc_text_without_mpi(text))
            continue;
        uint32_t id = name != NULL ? lc_view_find(text->view, name) : LC_NONE;
        char **where = NULL;
        if (id != LC_NONE && lc_text_paths(text, &id, 1, width, &where) != LC_OK)
            where = NULL;
        snprintf(kind, sizeof kind, "%s, %s", counts != NULL ? counts : "?",
                 scope != NULL ? scope : "?");
        fprintf(text->out, "    %-36s %9s %5.0f ", kind,
                lc_text_seconds(lc_text_factor_of(path, "length_s"), length),
                json_number_value(json_object_get(path, "rank")));
        if (json_is_integer(json_object_get(path, "thread")))
            fprintf(text->out, "%6.0f", json_number_value(json_object_get(path, "thread")));
        else
            fprintf(text->out, "%6s", "-");
        fprintf(text->out, "  %s\n", where != NULL ? where[0] : "");
        if (where != NULL)
            lc_text_paths_free(where, 1);
    }
}

/* Thread-centric and task-centric critical path, as OTF-CPT's tables have them. */
static void print_task_centric(const struct lc_text *text) {
    char thread[32], task[32], difference[32];
    const json_t *tasks = json_object_get(text->pop, "task_critical_path_s");
    double by_thread = lc_text_factor_of(text->pop, "critical_path_s"),
           by_task = json_number_value(tasks);
    if (!(by_task > 0) || !(by_task < 0.999 * by_thread))
        return;
    fprintf(text->out, "  %9s %9s %9s %7s %6s\n", "ThrCP", "TaCP", "DIFF", "DIFF %", "LB %");
    fprintf(text->out, "  %9s %9s %9s %7.1f %6.1f\n", lc_text_seconds(by_thread, thread),
            lc_text_seconds(by_task, task), lc_text_seconds(by_thread - by_task, difference),
            100.0 * (by_thread - by_task) / by_thread,
            100.0 * lc_text_factor_of(text->pop, "load_balance"));
}

static void print_length(const struct lc_text *text) {
    char length[32];
    const json_t *critical = json_object_get(text->pop, "critical_path_s");
    const json_t *task = json_object_get(text->pop, "task_critical_path_s");
    if (!json_is_number(critical))
        return;
    fprintf(text->out, "  critical path of useful work %s",
            lc_text_seconds(json_number_value(critical), length));
    if (json_is_number(task) && json_number_value(task) < 0.999 * json_number_value(critical))
        fprintf(text->out, ", with perfect scheduling %s",
                lc_text_seconds(json_number_value(task), length));
    double lost = json_number_value(json_object_get(text->pop, "not_attributed"));
    if (lost > 0.0005)
        fprintf(text->out, "; %.1f %% of it has no call path", 100.0 * lost);
    fputc('\n', text->out);
    print_path_error(text, text->pop, "critical_path_error_s", json_number_value(critical));
    print_missing_edges(text);
    print_paths(text);
    print_task_centric(text);
    lc_text_task_curve(text, text->pop, "  ");
}

/* Names that no call path has: the scenario says nothing about them. */
static void print_unknown(const struct lc_text *text, const json_t *names) {
    size_t i;
    json_t *name;
    json_array_foreach(names, i, name) {
        const char *unknown = json_is_string(name) ? json_string_value(name) : "?";
        if (strncmp(unknown, "MPI_", 4) == 0)
            fprintf(text->out,
                    "      ! %s: time in MPI is not useful time; for MPI there is only mpi=0\n",
                    unknown);
        else
            fprintf(text->out,
                    "      ! no call path contains %s: it is neither a region nor a function "
                    "seen calling MPI\n",
                    unknown);
    }
}

static void print_what_if(const struct lc_text *text) {
    size_t i;
    json_t *item;
    double before = lc_text_factor_of(text->pop, "critical_path_s");
    json_array_foreach(json_object_get(text->pop, "what_if"), i, item) {
        char path[32], old[32], time[32], whole[32];
        const char *spec = json_string_value(json_object_get(item, "spec"));
        double predicted = lc_text_factor_of(item, "predicted_s"),
               measured = lc_text_factor_of(item, "measured_s");
        fprintf(text->out,
                "  what if %s: critical path %s instead of %s, run time %s instead of %s",
                spec != NULL ? spec : "?",
                lc_text_seconds(lc_text_factor_of(item, "critical_path_s"), path),
                lc_text_seconds(before, old), lc_text_seconds(predicted, time),
                lc_text_seconds(measured, whole));
        double change = measured > 0 ? 100.0 * (predicted / measured - 1.0) : 0.0;
        if (change > -0.05 && change < 0.05)
            fputs(" (no change)", text->out);
        else
            fprintf(text->out, " (%+.1f %%)", change);
        fputc('\n', text->out);
        print_path_error(text, item, "error_s", lc_text_factor_of(item, "critical_path_s"));
        double error = json_number_value(json_object_get(item, "sampling_error_s"));
        if (error > 0)
            fprintf(text->out, "      found by samples: standard error %s\n",
                    lc_text_seconds(error, path));
        print_unknown(text, json_object_get(item, "unknown"));
    }
}

bool lc_text_lacks_hardware(const json_t *pop) {
    const json_t *counters = json_object_get(pop, "counters");
    const json_t *value = json_object_get(json_object_get(counters, "useful"), "cycles");
    const json_t *name;
    size_t i;
    json_array_foreach(json_object_get(counters, "asked"), i, name) {
        if (strcmp(json_string_value(name), "cycles") == 0)
            return !json_is_number(value);
    }
    return false;
}

/* Counters (--counters): of useful work, in MPI, and on the critical path of useful work. */
static void print_counters(const struct lc_text *text) {
    static const char *const parts[] = {"useful", "mpi", "critical_path"};
    static const char *const titles[] = {"useful work", "in MPI", "critical path"};
    static const char *const names[] = {"instructions", "cycles", "page_faults", "context_switches",
                                        "bytes_sent"};
    enum { NAMES = sizeof names / sizeof *names };
    const json_t *counters = json_object_get(text->pop, "counters");
    if (counters == NULL)
        return;
    lc_text_heading(text, "Counters", "of all threads; on the critical path of useful work");
    fprintf(text->out, "  %-13s %15s %15s %5s %11s %16s %12s\n", "", "INSTRUCTIONS", "CYCLES",
            "IPC", "PAGE FAULTS", "CONTEXT SWITCHES", "BYTES SENT");
    for (size_t p = 0; p < sizeof parts / sizeof *parts; p++) {
        const json_t *part = json_object_get(counters, parts[p]);
        char cells[NAMES + 1][32];
        for (size_t i = 0; i < NAMES; i++) {
            const json_t *value = json_object_get(part, names[i]);
            snprintf(cells[i], sizeof cells[i], json_is_number(value) ? "%.0f" : "-",
                     json_number_value(value));
        }
        double cycles = json_number_value(json_object_get(part, "cycles"));
        snprintf(cells[NAMES], sizeof cells[NAMES], cycles > 0 ? "%.2f" : "-",
                 lc_text_factor_of(part, "instructions") / cycles);
        fprintf(text->out, "  %-13s %15s %15s %5s %11s %16s %12s\n", titles[p], cells[0], cells[1],
                cells[NAMES], cells[2], cells[3], cells[4]);
    }
    if (lc_text_lacks_hardware(text->pop))
        fputs("  no instructions and cycles: the processor's counters could not be read\n",
              text->out);
}

void lc_text_pop(const struct lc_text *text) {
    if (text->pop == NULL)
        return;
    lc_text_heading(text, "Efficiency (POP)",
                    lc_text_without_mpi(text)
                        ? "from start to end of the program; U: useful time of a thread, CP: "
                          "critical path, T: run time"
                        : "between MPI_Init and MPI_Finalize; U: useful time of a thread, CP: "
                          "critical path, T: run time, M: time of a process in MPI");
    print_tree(text, &main_tree, 0, text->pop,
               has_threads(text->pop) && !lc_text_without_mpi(text));
    print_come_and_go(text);
    print_identities(text);
    print_length(text);
    lc_text_phases(text);
    print_what_if(text);
    print_dialects(text);
    print_counters(text);
}

void lc_text_pop_bars(const struct lc_text *text) {
    enum { NAMES = 27, LEAST_BAR = 10, MOST_BAR = 30, REMARK = 40 };
    size_t worst = find_worst(&main_tree, text->pop), bar = text->width - NAMES - 12;
    if (text->pop == NULL)
        return;
    bar = bar > REMARK + LEAST_BAR ? bar - REMARK : LEAST_BAR;
    bar = bar < MOST_BAR ? bar : MOST_BAR;
    lc_text_heading(text, "Efficiency",
                    lc_text_without_mpi(text) ? "POP factors, from start to end of the program"
                                              : "POP factors, between MPI_Init and MPI_Finalize");
    for (size_t i = 0; i < main_tree.n; i++) {
        const struct lc_text_factor *factor = &main_tree.factors[i];
        double value = lc_text_factor_of(text->pop, factor->key);
        const char *alarm = value < 0.8 ? lc_text_alarm(text) : "";
        struct lc_strbuf drawn = {0};
        lc_text_put_bar(text, (const double[3]){value, 0.0, 0.0}, bar, &drawn);
        fprintf(text->out, "  %*s%-*s %s%s %5.1f %%%s", 2 * factor->depth, "",
                NAMES - 2 * factor->depth, factor->name, alarm, lc_strbuf_get(&drawn),
                100.0 * value, value < 0.8 ? lc_text_plain(text) : "");
        if (i == worst && value < 0.95) {
            size_t used = NAMES + bar + 11, wanted = strlen(short_advice_of(text, factor)) + 5;
            fprintf(text->out, used + wanted <= text->width ? "  <- %s" : "\n      <- %s",
                    short_advice_of(text, factor));
        }
        fputc('\n', text->out);
        lc_strbuf_free(&drawn);
    }
    print_come_and_go(text);
    lc_text_no_loop(text);
}
