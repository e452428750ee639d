/* Parts of the run in time, with factors of their own: intervals, phases, loops. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "report/text_parts.h"
#include "report/trace_advice.h"

enum { MOST_PHASES = 8, MOST_INTERVALS = 8, MOST_LOOPS = 3, MOST_OUTLIERS = 4 };

double lc_text_factor_of(const json_t *object, const char *key) {
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : 1.0;
}

void lc_text_task_curve(const struct lc_text *text, const json_t *of, const char *indent) {
    char time[32];
    double span = lc_text_factor_of(of, "task_critical_path_s"),
           work = lc_text_factor_of(of, "task_work_s");
    const json_t *curve = json_object_get(of, "task_curve"), *at;
    size_t i;
    if (!json_is_array(curve) || !(span > 0))
        return;
    fprintf(text->out, "%swork %s, %.1f times the chain of tasks; at least", indent,
            lc_text_seconds(work, time), work / span);
    json_array_foreach(curve, i, at) {
        double least = lc_text_factor_of(at, "at_least_s");
        fprintf(text->out, "%s %s on %.0f", i > 0 ? "," : "", lc_text_seconds(least, time),
                lc_text_factor_of(at, "threads"));
        if (!(least > span))
            break;
    }
    fputs(" threads\n", text->out);
}

static void print_factors(const struct lc_text *text, const json_t *factors) {
    fprintf(text->out,
            "efficiency %.1f %%, balance %.1f %%, serialisation %.1f %%, transfer %.1f %%\n",
            100.0 * lc_text_factor_of(factors, "parallel_efficiency"),
            100.0 * lc_text_factor_of(factors, "load_balance"),
            100.0 * lc_text_factor_of(factors, "serialisation_efficiency"),
            100.0 * lc_text_factor_of(factors, "transfer_efficiency"));
}

/* Where measurement was switched on several times; the factors above are those of the sums. */
static void print_intervals(const struct lc_text *text) {
    const json_t *all = json_object_get(text->pop, "intervals");
    size_t n = json_array_size(all);
    char elapsed[32];
    for (size_t i = 0; i < n && i < MOST_INTERVALS; i++) {
        const json_t *one = json_array_get(all, i);
        fprintf(text->out, "  interval %zu, %s: ", i + 1,
                lc_text_seconds(lc_text_factor_of(one, "elapsed_s"), elapsed));
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
        100.0 * lc_text_factor_of(own, "first"), 100.0 * lc_text_factor_of(own, "best"),
        lc_text_factor_of(own, "best_at"), 100.0 * lc_text_factor_of(own, "median"),
        100.0 * lc_text_factor_of(own, "worst"), lc_text_factor_of(own, "worst_at"));
    double drift = 100.0 * lc_text_factor_of(own, "drift");
    if (drift > 1.0 || drift < -1.0)
        fprintf(text->out, ", %s by %.1f points from first to last", drift < 0 ? "falls" : "rises",
                drift < 0 ? -drift : drift);
    fprintf(text->out, "\n      time per iteration: first %s, median %s, longest %s (no. %.0f)\n",
            lc_text_seconds(lc_text_factor_of(time, "first"), first),
            lc_text_seconds(lc_text_factor_of(time, "median"), median),
            lc_text_seconds(lc_text_factor_of(time, "worst"), worst),
            lc_text_factor_of(time, "worst_at"));
}

/* Of a phase with threads, and with tasks. */
static void print_paradigms(const struct lc_text *text, const json_t *phase) {
    char chain[32], tasks[32];
    if (lc_text_factor_of(json_object_get(phase, "omp"), "parallel_efficiency") < 0.9995 &&
        !lc_text_without_mpi(text)) {
        fputs("      MPI: ", text->out);
        print_factors(text, json_object_get(phase, "mpi"));
        fputs("      OpenMP: ", text->out);
        print_factors(text, json_object_get(phase, "omp"));
    }
    double of_tasks = lc_text_factor_of(phase, "task_critical_path_s");
    if (of_tasks > 0 && of_tasks < 0.999 * lc_text_factor_of(phase, "critical_path_s"))
        fprintf(text->out, "      critical path %s; with a clock per task %s\n",
                lc_text_seconds(lc_text_factor_of(phase, "critical_path_s"), chain),
                lc_text_seconds(of_tasks, tasks));
    lc_text_task_curve(text, phase, "      ");
}

static void print_phase(const struct lc_text *text, const json_t *phase) {
    const char *name = json_string_value(json_object_get(phase, "name"));
    double count = lc_text_factor_of(phase, "count"), kept = lc_text_factor_of(phase, "kept");
    char elapsed[32];
    fprintf(text->out, "  phase %s%s%s, %s in %.0f iteration%s: ", lc_text_bold(text),
            name != NULL ? name : "?", lc_text_plain(text),
            lc_text_seconds(lc_text_factor_of(phase, "elapsed_s"), elapsed), kept,
            kept > 1 ? "s" : "");
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
    double below =
        last == SIZE_MAX ? INFINITY : lc_text_factor_of(json_array_get(phases, last), "elapsed_s");
    const json_t *best = NULL;
    for (size_t i = 0; i < json_array_size(phases); i++) {
        const json_t *phase = json_array_get(phases, i);
        double elapsed = lc_text_factor_of(phase, "elapsed_s");
        bool after = elapsed < below || (elapsed == below && last != SIZE_MAX && i > last);
        if (after && (best == NULL || elapsed > lc_text_factor_of(best, "elapsed_s"))) {
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
        skewed |=
            lc_text_factor_of(json_object_get(phase, "factors"), "transfer_efficiency") < 0.95;
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
        double from = lc_text_factor_of(one, "from"), to = lc_text_factor_of(one, "to");
        if (from == to)
            fprintf(text->out, "      iteration %.0f", from);
        else
            fprintf(text->out, "      iterations %.0f to %.0f", from, to);
        fprintf(text->out, " took %s times the median, %s more in all",
                lc_text_three_digits(lc_text_factor_of(one, "times_median"), times),
                lc_text_seconds(lc_text_factor_of(one, "excess_s"), excess));
        if (json_is_integer(rank))
            fprintf(text->out, "; rank %.0f worked longest", lc_text_factor_of(one, "rank"));
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
            100.0 * lc_text_factor_of(factors, "parallel_efficiency"),
            100.0 * lc_text_factor_of(factors, "load_balance"),
            100.0 * lc_text_factor_of(factors, "communication_efficiency"));
}

static void print_loop(const struct lc_text *text, const json_t *loop) {
    const char *path = json_string_value(json_object_get(loop, "callpath"));
    double ranks = lc_text_factor_of(loop, "ranks"), warm = lc_text_factor_of(loop, "warm_up");
    char elapsed[32], start[32];
    fprintf(text->out, "  loop in %s%s%s, found by recurring calls: %.0f iterations in %s",
            lc_text_bold(text), path != NULL ? path : "?", lc_text_plain(text),
            lc_text_factor_of(loop, "count"),
            lc_text_seconds(lc_text_factor_of(loop, "elapsed_s"), elapsed));
    fprintf(text->out,
            ", from %s on: ", lc_text_seconds(lc_text_factor_of(loop, "start_s"), start));
    print_three_factors(text, json_object_get(loop, "factors"));
    if (ranks < lc_text_factor_of(text->meta, "ranks"))
        fprintf(text->out, "      only %.0f ranks have it\n", ranks);
    if (lc_text_factor_of(json_object_get(loop, "omp"), "parallel_efficiency") < 0.9995 &&
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

void lc_text_no_loop(const struct lc_text *text) {
    const json_t *loops = json_object_get(text->pop, "iterations");
    if (json_is_array(loops) && json_array_size(loops) == 0)
        fputs("  no loop of 10 iterations or more was found\n", text->out);
}

/* Loops found without annotation, in the order of the result: what covers most time first. */
static void print_loops(const struct lc_text *text) {
    const json_t *loops = json_object_get(text->pop, "iterations"), *loop;
    size_t n = json_array_size(loops), i, printed = 0;
    lc_text_no_loop(text);
    json_array_foreach(loops, i, loop) {
        if (printed == MOST_LOOPS ||
            lc_text_factor_of(loop, "elapsed_s") < 0.01 * lc_text_factor_of(text->pop, "elapsed_s"))
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
                (long long)loops, lc_text_seconds(lc_text_factor_of(left_out, "most_s"), longest));
    if (json_integer_value(json_object_get(left_out, "unwatched")) > 0)
        fputs("  more loops may be there: the program has more call sites than are watched\n",
              text->out);
}

void lc_text_phases(const struct lc_text *text) {
    print_intervals(text);
    print_phases(text);
    print_loops(text);
    say_left_out(text);
}
