/* The POP factors as a tree, with what is bad about them and where to look next. */
#include <math.h>
#include <string.h>

#include "report/text_parts.h"

static const struct factor {
    const char *key, *name;
    int depth;
    const char *advice; /* where the factor is low */
} factors[] = {
    {"parallel_efficiency", "Parallel efficiency", 0, NULL},
    {"load_balance", "Load balance", 1,
     "some ranks have more work: see who is late, who waits least"},
    {"communication_efficiency", "Communication efficiency", 1, NULL},
    {"serialisation_efficiency", "Serialisation", 2,
     "ranks have work at different times and wait in turn: see the largest wait states"},
    {"transfer_efficiency", "Transfer", 2, "MPI itself: fewer or larger messages, network"},
};
enum { N_FACTORS = sizeof factors / sizeof factors[0], MOST_PHASES = 8 };

static double get(const json_t *object, const char *key) {
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : 1.0;
}

static bool has_threads(const json_t *pop) {
    const json_t *omp = json_object_get(pop, "omp");
    for (size_t i = 0; i < N_FACTORS; i++)
        if (get(omp, factors[i].key) < 0.99999)
            return true;
    return false;
}

/* The lowest factor of the two lowest levels explains the product. */
static size_t find_worst(const json_t *pop) {
    size_t worst = 1;
    for (size_t i = 1; i < N_FACTORS; i++)
        if (factors[i].advice != NULL && get(pop, factors[i].key) < get(pop, factors[worst].key))
            worst = i;
    return worst;
}

static void print_factor(const struct lc_text *text, size_t i, bool threads, size_t worst) {
    double value = get(text->pop, factors[i].key);
    bool bad = value < 0.8;
    fprintf(text->out, "  %*s%-*s %s%6.1f %%%s", 2 * factors[i].depth, "",
            28 - 2 * factors[i].depth, factors[i].name, bad ? lc_text_alarm(text) : "",
            100.0 * value, bad ? lc_text_plain(text) : "");
    if (threads)
        fprintf(text->out, "  MPI %6.1f %%  OpenMP %6.1f %%",
                100.0 * get(json_object_get(text->pop, "mpi"), factors[i].key),
                100.0 * get(json_object_get(text->pop, "omp"), factors[i].key));
    if (value > 1.0 + 1e-6)
        fprintf(text->out, "  above 100 %%: the timer's resolution");
    else if ((i == worst && value < 0.95) || (bad && factors[i].advice != NULL))
        fprintf(text->out, "  %s %s%s", i == worst ? "<-" : "  ", factors[i].advice,
                i + 1 == N_FACTORS && lc_text_oversubscribed(text, &(double){0})
                    ? "; here also waiting for a core"
                    : "");
    fputc('\n', text->out);
}

/* Other tools give other numbers under the same names: here they are, with their formulas. */
static void print_dialects(const struct lc_text *text) {
    const json_t *dialects = json_object_get(text->pop, "dialects");
    const json_t *a = json_object_get(dialects, "additive"), *t = json_object_get(dialects, "talp");
    if (json_is_object(a))
        fprintf(
            text->out,
            "  dialect additive: losses in %% of the run time: balance %.1f + serialisation %.1f + "
            "transfer %.1f = %.1f = 100 - efficiency %.1f\n",
            100 - 100 * get(a, "load_balance"), 100 - 100 * get(a, "serialisation_efficiency"),
            100 - 100 * get(a, "transfer_efficiency"), 100 - 100 * get(a, "parallel_efficiency"),
            100 * get(a, "parallel_efficiency"));
    if (json_is_object(t))
        fprintf(text->out,
                "  dialect talp: balance in nodes %.1f %% x between nodes %.1f %% x communication "
                "%.1f %% (least time in MPI) = %.1f %%\n",
                100 * get(t, "load_balance_in"), 100 * get(t, "load_balance_out"),
                100 * get(t, "communication_efficiency"), 100 * get(t, "parallel_efficiency"));
}

/* The sums behind the factors are checked in every run. */
static void print_identities(const struct lc_text *text) {
    const json_t *error = json_object_get(text->pop, "identity_error");
    if (json_is_number(error) && json_number_value(error) > 1e-9)
        fprintf(text->out,
                "  ! the factors do not multiply to average work / run time (off by %.1g)\n",
                json_number_value(error));
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
}

static void print_what_if(const struct lc_text *text) {
    size_t i;
    json_t *item;
    json_array_foreach(json_object_get(text->pop, "what_if"), i, item) {
        char path[32], time[32];
        const char *spec = json_string_value(json_object_get(item, "spec"));
        fprintf(text->out, "  what if %s: critical path %s, run time %s\n",
                spec != NULL ? spec : "?", lc_text_seconds(get(item, "critical_path_s"), path),
                lc_text_seconds(get(item, "predicted_s"), time));
    }
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

static void print_phase(const struct lc_text *text, const json_t *phase) {
    const char *name = json_string_value(json_object_get(phase, "name"));
    const json_t *own = json_object_get(phase, "factors");
    double count = get(phase, "count"), kept = get(phase, "kept");
    char elapsed[32];
    fprintf(text->out,
            "  phase %s%s%s, %s in %.0f iteration%s: efficiency %.1f %%, balance %.1f %%, "
            "serialisation %.1f %%, transfer %.1f %%\n",
            lc_text_bold(text), name != NULL ? name : "?", lc_text_plain(text),
            lc_text_seconds(get(phase, "elapsed_s"), elapsed), kept, kept > 1 ? "s" : "",
            100.0 * get(own, "parallel_efficiency"), 100.0 * get(own, "load_balance"),
            100.0 * get(own, "serialisation_efficiency"), 100.0 * get(own, "transfer_efficiency"));
    if (kept < count)
        fprintf(text->out, "      of %.0f iterations in all: the first ones are kept\n", count);
    if (kept > 1)
        print_iterations(text, phase);
}

/* The longest phases first, at most MOST_PHASES. */
static void print_phases(const struct lc_text *text) {
    const json_t *phases = json_object_get(text->pop, "phases");
    double below = INFINITY;
    for (int told = 0; told < MOST_PHASES; told++) {
        const json_t *best = NULL;
        for (size_t i = 0; i < json_array_size(phases); i++) {
            const json_t *phase = json_array_get(phases, i);
            double elapsed = get(phase, "elapsed_s");
            if (elapsed < below && (best == NULL || elapsed > get(best, "elapsed_s")))
                best = phase;
        }
        if (best == NULL)
            return;
        print_phase(text, best);
        below = get(best, "elapsed_s");
    }
}

void lc_text_pop(const struct lc_text *text) {
    if (text->pop == NULL)
        return;
    size_t worst = find_worst(text->pop);
    bool threads = has_threads(text->pop);
    lc_text_heading(text, "Efficiency (POP)", "between MPI_Init and MPI_Finalize");
    for (size_t i = 0; i < N_FACTORS; i++)
        print_factor(text, i, threads, worst);
    print_identities(text);
    print_dialects(text);
    print_length(text);
    print_phases(text);
    print_what_if(text);
}
