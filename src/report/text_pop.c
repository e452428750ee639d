/* The POP factors as a tree, with what is bad about them and where to look next. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/plural.h"
#include "report/cores.h"
#include "report/text_parts.h"
#include "report/trace_advice.h"

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
enum { MOST_PHASES = 8, MOST_INTERVALS = 8, MOST_LOOPS = 3, MOST_OUTLIERS = 4 };

static double get(const json_t *object, const char *key) {
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : 1.0;
}

void lc_text_each_factor(void (*each)(void *context, const struct lc_text_factor *factor),
                         void *context) {
    for (size_t i = 0; i < main_tree.n; i++)
        each(context, &main_tree.factors[i]);
}

static bool has_threads(const json_t *pop) {
    const json_t *omp = json_object_get(pop, "omp");
    for (size_t i = 0; i < main_tree.n; i++)
        if (get(omp, main_tree.factors[i].key) < 0.99999)
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
                     threads, at_once, 100.0 * get(pop, "parallel_efficiency") * threads / at_once);
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
           get(json_object_get(pop, "omp"), "load_balance") <
               get(json_object_get(pop, "mpi"), "load_balance");
}

/* The lowest factor of those that are no products explains the product. */
static size_t find_worst(const struct dialect *dialect, const json_t *values) {
    size_t worst = 1;
    for (size_t i = 1; i < dialect->n; i++)
        if (dialect->factors[i].advice != NULL &&
            get(values, dialect->factors[i].key) < get(values, dialect->factors[worst].key))
            worst = i;
    return worst;
}

static bool is_bound_narrowly(const struct lc_text *text) {
    double cores;
    return lc_cores_narrow(text->meta, &cores) != LC_NONE && lc_cores_is_bound(text->meta, cores);
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
    if (is_bound_narrowly(text))
        return "threads share cores: give each rank a core per thread before anything else";
    if (lc_cores_oversubscribed(text->view, text->meta, &cores))
        return "more ranks or threads than cores: this includes waiting for a core";
    if (lc_cores_crowded(text->view, text->meta, &computing, &cores))
        return "more threads than cores compute: this may include waiting for a core";
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
    if (is_bound_narrowly(text))
        return "threads share cores";
    if (lc_cores_crowded(text->view, text->meta, &computing, &cores))
        return "more threads than cores";
    return lc_cores_oversubscribed(text->view, text->meta, &cores) ? "more ranks than cores"
           : threads                                               ? "the OpenMP runtime itself"
                                                                   : "MPI itself";
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
    double value = get(values, factor->key);
    bool bad = value < 0.8;
    fprintf(text->out, "  %*s%-*s %s%6.1f %%%s", 2 * depth, "", 28 - 2 * depth, factor->name,
            bad ? lc_text_alarm(text) : "", 100.0 * value, bad ? lc_text_plain(text) : "");
    if (threads)
        fprintf(text->out, "  MPI %6.1f %%  OpenMP %6.1f %%",
                100.0 * get(json_object_get(values, "mpi"), factor->key),
                100.0 * get(json_object_get(values, "omp"), factor->key));
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

/* How long the tasks of the run, or a phase, take at least on more and more threads, as far as that
 * helps. */
static void print_curve(const struct lc_text *text, const json_t *of, const char *indent) {
    char time[32];
    double span = get(of, "task_critical_path_s"), work = get(of, "task_work_s");
    const json_t *curve = json_object_get(of, "task_curve"), *at;
    size_t i;
    if (!json_is_array(curve) || !(span > 0))
        return;
    fprintf(text->out, "%swork %s, %.1f times the chain of tasks; at least", indent,
            lc_text_seconds(work, time), work / span);
    json_array_foreach(curve, i, at) {
        double least = get(at, "at_least_s");
        fprintf(text->out, "%s %s on %.0f", i > 0 ? "," : "", lc_text_seconds(least, time),
                get(at, "threads"));
        if (!(least > span))
            break;
    }
    fputs(" threads\n", text->out);
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
                lc_text_seconds(get(path, "length_s"), length),
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
    double by_thread = get(text->pop, "critical_path_s"), by_task = json_number_value(tasks);
    if (!(by_task > 0) || !(by_task < 0.999 * by_thread))
        return;
    fprintf(text->out, "  %9s %9s %9s %7s %6s\n", "ThrCP", "TaCP", "DIFF", "DIFF %", "LB %");
    fprintf(text->out, "  %9s %9s %9s %7.1f %6.1f\n", lc_text_seconds(by_thread, thread),
            lc_text_seconds(by_task, task), lc_text_seconds(by_thread - by_task, difference),
            100.0 * (by_thread - by_task) / by_thread, 100.0 * get(text->pop, "load_balance"));
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
    print_curve(text, text->pop, "  ");
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
    double before = get(text->pop, "critical_path_s");
    json_array_foreach(json_object_get(text->pop, "what_if"), i, item) {
        char path[32], old[32], time[32], whole[32];
        const char *spec = json_string_value(json_object_get(item, "spec"));
        double predicted = get(item, "predicted_s"), measured = get(item, "measured_s");
        fprintf(text->out,
                "  what if %s: critical path %s instead of %s, run time %s instead of %s",
                spec != NULL ? spec : "?", lc_text_seconds(get(item, "critical_path_s"), path),
                lc_text_seconds(before, old), lc_text_seconds(predicted, time),
                lc_text_seconds(measured, whole));
        double change = measured > 0 ? 100.0 * (predicted / measured - 1.0) : 0.0;
        if (change > -0.05 && change < 0.05)
            fputs(" (no change)", text->out);
        else
            fprintf(text->out, " (%+.1f %%)", change);
        fputc('\n', text->out);
        print_path_error(text, item, "error_s", get(item, "critical_path_s"));
        double error = json_number_value(json_object_get(item, "sampling_error_s"));
        if (error > 0)
            fprintf(text->out, "      found by samples: standard error %s\n",
                    lc_text_seconds(error, path));
        print_unknown(text, json_object_get(item, "unknown"));
    }
}

static void print_factors(const struct lc_text *text, const json_t *factors) {
    fprintf(text->out,
            "efficiency %.1f %%, balance %.1f %%, serialisation %.1f %%, transfer %.1f %%\n",
            100.0 * get(factors, "parallel_efficiency"), 100.0 * get(factors, "load_balance"),
            100.0 * get(factors, "serialisation_efficiency"),
            100.0 * get(factors, "transfer_efficiency"));
}

/* Where measurement was switched on several times; the factors above are those of the sums. */
static void print_intervals(const struct lc_text *text) {
    const json_t *all = json_object_get(text->pop, "intervals");
    size_t n = json_array_size(all);
    char elapsed[32];
    for (size_t i = 0; i < n && i < MOST_INTERVALS; i++) {
        const json_t *one = json_array_get(all, i);
        fprintf(text->out, "  interval %zu, %s: ", i + 1,
                lc_text_seconds(get(one, "elapsed_s"), elapsed));
        print_factors(text, json_object_get(one, "factors"));
    }
    if (n > MOST_INTERVALS)
        fprintf(text->out, "  (%zu more intervals: in show --json)\n", n - MOST_INTERVALS);
}

/* First, best, median, worst of the iterations, and what they gain from the first to the last. */
static void print_iterations(const struct lc_text *text, const json_t *phase) {
    const json_t *all = json_object_get(phase, "iterations");
    const json_t *own = json_object_get(all, "parallel_efficiency");
    const json_t *time = json_object_get(all, "elapsed_s");
    char first[32], median[32], worst[32];
    if (!json_is_object(own) || !json_is_object(time))
        return;
    fprintf(
        text->out,
        "      efficiency per iteration: first %.1f %%, best %.1f %% (no. %.0f), median %.1f %%, "
        "worst %.1f %% (no. %.0f)",
        100.0 * get(own, "first"), 100.0 * get(own, "best"), get(own, "best_at"),
        100.0 * get(own, "median"), 100.0 * get(own, "worst"), get(own, "worst_at"));
    double drift = 100.0 * get(own, "drift");
    if (drift > 1.0 || drift < -1.0)
        fprintf(text->out, ", %s by %.1f points from first to last", drift < 0 ? "falls" : "rises",
                drift < 0 ? -drift : drift);
    fprintf(text->out, "\n      time per iteration: first %s, median %s, longest %s (no. %.0f)\n",
            lc_text_seconds(get(time, "first"), first),
            lc_text_seconds(get(time, "median"), median),
            lc_text_seconds(get(time, "worst"), worst), get(time, "worst_at"));
}

/* Of a phase with threads, and with tasks. */
static void print_paradigms(const struct lc_text *text, const json_t *phase) {
    char chain[32], tasks[32];
    if (get(json_object_get(phase, "omp"), "parallel_efficiency") < 0.9995 &&
        !lc_text_without_mpi(text)) {
        fputs("      MPI: ", text->out);
        print_factors(text, json_object_get(phase, "mpi"));
        fputs("      OpenMP: ", text->out);
        print_factors(text, json_object_get(phase, "omp"));
    }
    double of_tasks = get(phase, "task_critical_path_s");
    if (of_tasks > 0 && of_tasks < 0.999 * get(phase, "critical_path_s"))
        fprintf(text->out, "      critical path %s; with a clock per task %s\n",
                lc_text_seconds(get(phase, "critical_path_s"), chain),
                lc_text_seconds(of_tasks, tasks));
    print_curve(text, phase, "      ");
}

static void print_phase(const struct lc_text *text, const json_t *phase) {
    const char *name = json_string_value(json_object_get(phase, "name"));
    double count = get(phase, "count"), kept = get(phase, "kept");
    char elapsed[32];
    fprintf(text->out, "  phase %s%s%s, %s in %.0f iteration%s: ", lc_text_bold(text),
            name != NULL ? name : "?", lc_text_plain(text),
            lc_text_seconds(get(phase, "elapsed_s"), elapsed), kept, kept > 1 ? "s" : "");
    print_factors(text, json_object_get(phase, "factors"));
    print_paradigms(text, phase);
    if (kept < count)
        fprintf(text->out,
                "      there were %.0f iterations in all; only the first ones are kept\n", count);
    if (kept > 1)
        print_iterations(text, phase);
}

/* What was waited in the phase, and what estimates from minima say of it. */
static void print_waiting(const struct lc_text *text, const json_t *phase,
                          const struct lc_trace_window *windows, size_t n) {
    const char *name = json_string_value(json_object_get(phase, "name"));
    char waiting[32], estimated[32];
    for (size_t i = 0; i < n && name != NULL; i++) {
        const struct lc_trace_window *w = &windows[i];
        if (w->callpath != NULL || strcmp(w->window, name) != 0)
            continue;
        fprintf(text->out, "      waiting %s, %.0f %% of all%s",
                lc_text_seconds(w->waiting_s, waiting), 100.0 * w->waiting_share,
                text->sums->estimated ? " (estimated)" : "");
        if (!text->sums->estimated && !isnan(w->estimated_s))
            fprintf(text->out, "; estimated from minima %s",
                    lc_text_seconds(w->estimated_s, estimated));
        fputc('\n', text->out);
    }
}

/* The longest phase after `last` (NULL: of all), in the order of the file where they are equal;
 * NULL: none. */
static const json_t *next_phase(const json_t *phases, size_t last, size_t *found) {
    double below = last == SIZE_MAX ? INFINITY : get(json_array_get(phases, last), "elapsed_s");
    const json_t *best = NULL;
    for (size_t i = 0; i < json_array_size(phases); i++) {
        const json_t *phase = json_array_get(phases, i);
        double elapsed = get(phase, "elapsed_s");
        bool after = elapsed < below || (elapsed == below && last != SIZE_MAX && i > last);
        if (after && (best == NULL || elapsed > get(best, "elapsed_s"))) {
            best = phase;
            *found = i;
        }
    }
    return best;
}

/* The longest phases first, at most MOST_PHASES. */
static void print_phases(const struct lc_text *text) {
    const json_t *phases = json_object_get(text->pop, "phases");
    size_t n = json_array_size(phases), at = SIZE_MAX, n_windows = 0;
    struct lc_trace_window *windows = NULL;
    bool skewed = false;
    if (n > 0 && lc_trace_windows(text->view, text->sums, text->pop, &windows, &n_windows) != LC_OK)
        n_windows = 0;
    for (size_t printed = 0; printed < n && printed < MOST_PHASES; printed++) {
        const json_t *phase = next_phase(phases, at, &at);
        if (phase == NULL)
            break;
        print_phase(text, phase);
        print_waiting(text, phase, windows, n_windows);
        skewed |= get(json_object_get(phase, "factors"), "transfer_efficiency") < 0.95;
    }
    if (n > MOST_PHASES)
        fprintf(text->out, "  (%zu more phases: in show --json)\n", n - MOST_PHASES);
    if (skewed)
        lc_text_wrapped(text, 0, 2,
                        "(a phase lasts from the first rank that begins it to the last that ends "
                        "it: ranks that begin and end at different times lower its transfer)");
    lc_trace_windows_free(windows, n_windows);
}

static void print_outliers(const struct lc_text *text, const json_t *loop) {
    const json_t *all = json_object_get(loop, "outliers");
    char excess[32], times[32];
    for (size_t i = 0; i < json_array_size(all) && i < MOST_OUTLIERS; i++) {
        const json_t *one = json_array_get(all, i), *rank = json_object_get(one, "rank");
        double from = get(one, "from"), to = get(one, "to");
        if (from == to)
            fprintf(text->out, "      iteration %.0f", from);
        else
            fprintf(text->out, "      iterations %.0f to %.0f", from, to);
        fprintf(text->out, " took %s times the median, %s more in all",
                lc_text_three_digits(get(one, "times_median"), times),
                lc_text_seconds(get(one, "excess_s"), excess));
        if (json_is_integer(rank))
            fprintf(text->out, "; rank %.0f worked longest", get(one, "rank"));
        const char *path = json_string_value(json_object_get(one, "callpath"));
        if (path != NULL) {
            char *where = lc_text_outside(path, text->width > 20 ? text->width - 10 : 10);
            fprintf(text->out, ", longer than usual in\n        %s", where != NULL ? where : "?");
            free(where);
        }
        fputc('\n', text->out);
    }
    if (json_array_size(all) > MOST_OUTLIERS)
        fprintf(text->out, "      (%zu more groups of slow iterations: in show --json)\n",
                json_array_size(all) - MOST_OUTLIERS);
}

static void print_three_factors(const struct lc_text *text, const json_t *factors) {
    fprintf(text->out, "efficiency %.1f %%, balance %.1f %%, communication %.1f %%\n",
            100.0 * get(factors, "parallel_efficiency"), 100.0 * get(factors, "load_balance"),
            100.0 * get(factors, "communication_efficiency"));
}

static void print_loop(const struct lc_text *text, const json_t *loop) {
    const char *path = json_string_value(json_object_get(loop, "callpath"));
    double ranks = get(loop, "ranks"), warm = get(loop, "warm_up");
    char elapsed[32], start[32];
    fprintf(text->out, "  loop in %s%s%s, found by recurring calls: %.0f iterations in %s",
            lc_text_bold(text), path != NULL ? path : "?", lc_text_plain(text), get(loop, "count"),
            lc_text_seconds(get(loop, "elapsed_s"), elapsed));
    fprintf(text->out, ", from %s on: ", lc_text_seconds(get(loop, "start_s"), start));
    print_three_factors(text, json_object_get(loop, "factors"));
    if (ranks < get(text->meta, "ranks"))
        fprintf(text->out, "      only %.0f ranks have it\n", ranks);
    if (get(json_object_get(loop, "omp"), "parallel_efficiency") < 0.9995 &&
        !lc_text_without_mpi(text)) {
        fputs("      MPI: ", text->out);
        print_three_factors(text, json_object_get(loop, "mpi"));
        fputs("      OpenMP: ", text->out);
        print_three_factors(text, json_object_get(loop, "omp"));
    }
    print_iterations(text, loop);
    if (warm > 0)
        fprintf(text->out, "      warm-up: the first %.0f iteration%s longer\n", warm,
                warm > 1 ? "s take" : " takes");
    print_outliers(text, loop);
}

static void say_no_loop(const struct lc_text *text) {
    const json_t *loops = json_object_get(text->pop, "iterations");
    if (json_is_array(loops) && json_array_size(loops) == 0)
        fputs("  no loop of 10 iterations or more was found\n", text->out);
}

/* Loops found without annotation, in the order of the result: what covers most time first. */
static void print_loops(const struct lc_text *text) {
    const json_t *loops = json_object_get(text->pop, "iterations"), *loop;
    size_t n = json_array_size(loops), i, printed = 0;
    say_no_loop(text);
    json_array_foreach(loops, i, loop) {
        if (printed == MOST_LOOPS || get(loop, "elapsed_s") < 0.01 * get(text->pop, "elapsed_s"))
            break;
        print_loop(text, loop);
        printed++;
    }
    if (n > printed)
        fprintf(text->out, "  (%zu more loop%s in show --json)\n", n - printed,
                n - printed > 1 ? "s:" : ":");
}

/* Loops that were found, but are not in the result. */
static void say_left_out(const struct lc_text *text) {
    const json_t *left_out = json_object_get(text->pop, "loops_left_out");
    const json_int_t loops = json_integer_value(json_object_get(left_out, "loops"));
    char longest[32];
    if (loops > 0)
        fprintf(text->out, "  loops left out, as others take longer: %lld, of %s at most\n",
                (long long)loops, lc_text_seconds(get(left_out, "most_s"), longest));
    if (json_integer_value(json_object_get(left_out, "unwatched")) > 0)
        fputs("  more loops may be there: the program has more call sites than are watched\n",
              text->out);
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
                 get(part, "instructions") / cycles);
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
    print_intervals(text);
    print_phases(text);
    print_loops(text);
    say_left_out(text);
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
        double value = get(text->pop, factor->key);
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
    say_no_loop(text);
}
