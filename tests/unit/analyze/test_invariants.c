/* The checks at the end of an analysis see what is wrong: a trace is analysed, one figure is
 * falsified, and the check named for it has to fail, in the lines printed, in meta.invariants and
 * in meta.health. Without a falsified figure nothing fails.
 *
 *   test_invariants ARCHIVE      a traces.otf2 with late senders and locations that wait twice */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/write.h"
#include "analyze/classification.h"
#include "analyze/health.h"
#include "analyze/indicators.h"
#include "analyze/invariants.h"
#include "analyze/long_term.h"
#include "analyze/analysis_meta.h"
#include "analyze/read.h"
#include "analyze/results.h"
#include "analyze/waits.h"

struct run {
    struct lc_trace *trace;
    struct lc_timelines *lines;
    struct lc_costs costs;
    struct lc_critical_path path;
    struct lc_indicator_sums sums;
};

static void check(enum lc_err err) {
    if (err != LC_OK) {
        fprintf(stderr, "test_invariants: %s\n", lc_err_text());
        exit(1);
    }
}

static void book(struct run *run, enum lc_cost_metric metric, enum lc_delay_model model) {
    lc_exact_add(&run->costs.published[lc_cost_row(metric, model, LC_COST_LS)], 1e6);
}

static void nothing(struct run *run) {
    (void)run;
}
static void short_term(struct run *run) {
    book(run, LC_SHORT_TERM, LC_PROPORTIONAL);
}
static void long_term(struct run *run) {
    book(run, LC_LONG_TERM, LC_WAIT_FIRST);
}
static void indirect(struct run *run) {
    book(run, LC_INDIRECT, LC_PROPORTIONAL);
}
static void terminal(struct run *run) {
    book(run, LC_TERMINAL, LC_WAIT_FIRST);
}
static void wait_first(struct run *run) {
    book(run, LC_SHORT_TERM, LC_WAIT_FIRST);
}
static void uncaused(struct run *run) {
    lc_exact_add(&run->costs.uncaused[LC_PROPORTIONAL][LC_COST_LS], 1e6);
}
static void blame(struct run *run) {
    run->costs.n_short_of_blame++;
}
static void circle(struct run *run) {
    run->costs.n_circles++;
}
static void length(struct run *run) {
    run->path.total[0] += 1000000;
}
static void activities(struct run *run) {
    run->sums.activities_ticks += 1000000;
}
static void impact(struct run *run) {
    run->sums.inter += 1e6;
}
/* A wait state is said to begin before the one before it ends. */
static void overlap(struct run *run) {
    for (size_t i = 0; i < run->trace->n_locs; i++)
        if (run->lines->lines[i].n_states > 1) {
            run->lines->lines[i].states[0].end = run->lines->lines[i].states[1].start + 1;
            return;
        }
}

static const struct {
    const char *name;
    void (*falsify)(struct run *run);
    const char *broken; /* NULL: no check fails */
} cases[] = {{"nothing", nothing, NULL},
             {"short-term", short_term, "short-term costs = direct waiting, latesender"},
             {"long-term", long_term,
              "all costs + costs that end at waiting without a cause = waiting, "
              "latesender (wait-first)"},
             {"indirect", indirect, "direct + indirect = waiting, latesender"},
             {"terminal", terminal, "propagating + terminal = waiting, latesender (wait-first)"},
             {"wait-first", wait_first, "short-term (wait-first) <= short-term, latesender"},
             {"uncaused", uncaused,
              "all costs + costs that end at waiting without a cause = waiting, latesender"},
             {"blame", blame, "wait states longer than what their cause can be blamed for: 1"},
             {"circle", circle, "wait states that pass costs on in a circle: 1"},
             {"length", length, "length of the critical path = length of the bounds"},
             {"activities", activities, "activities + impact = locations x length"},
             {"impact", impact, "activities + impact = locations x length"},
             {"overlap", overlap, "wait states of a location that overlap: 1"}};

static void run_delays(struct run *run) {
    struct lc_delay delay;
    struct lc_long_term long_term;
    check(lc_delay_run(&delay, run->lines, &run->costs));
    check(lc_long_term_run(&long_term, &delay));
    lc_long_term_free(&long_term);
    lc_delay_free_intervals(&delay);
    check(lc_classify_and_publish(&delay, run->trace->results));
    lc_delay_free(&delay);
}

static bool holds(const json_t *array, const char *prefix, const char *text) {
    size_t i;
    const json_t *line;
    char start[256];
    snprintf(start, sizeof start, "%s%s", prefix, text);
    json_array_foreach(array, i, line) if (strncmp(json_string_value(line), start, strlen(start)) ==
                                           0) return true;
    return false;
}

static bool judge(struct run *run, const char *broken) {
    struct lc_strbuf json = {0}, lines = {0};
    char *meta = NULL;
    check(lc_invariants_check(&run->costs, &run->path, &run->sums, &json, &lines));
    struct lc_analyze_options options = {.archive = "", .output = ""};
    struct lc_run_facts facts = {0};
    struct lc_correction correction = {0};
    check(lc_meta_make(run->trace, &options, &facts, &correction, lc_strbuf_get(&json), &meta));
    json_t *root = json_loads(meta, 0, NULL);
    const json_t *list = json_object_get(json_object_get(root, "invariants"), "broken");
    const json_t *health = json_object_get(root, "health");
    bool good = broken == NULL
                    ? json_array_size(list) == 0 && json_array_size(health) == 0
                    : holds(list, "", broken) && holds(health, "invariant violated: ", broken) &&
                          strstr(lc_strbuf_get(&lines), broken) != NULL;
    if (!good)
        printf("%s\n%s\n", meta, lc_strbuf_get(&lines));
    json_decref(root);
    free(meta);
    lc_strbuf_free(&json);
    lc_strbuf_free(&lines);
    return good;
}

static bool try(const char *archive, size_t number) {
    const struct lc_transport alone = {0, 1};
    struct lc_health health;
    struct run run = {0};
    lc_health_init(&health);
    check(lc_trace_read(&run.trace, &alone, archive, &health, NULL));
    check(lc_results_new(&run.trace->results));
    check(lc_cells_book(run.trace));
    check(lc_waits_find(run.trace));
    check(lc_timelines_new(&run.lines, run.trace));
    check(lc_costs_new(&run.costs, run.lines));
    run_delays(&run);
    check(lc_path_find(&run.path, run.lines, false));
    check(lc_indicators_run(&run.path, NULL, run.trace->results, &run.sums));
    cases[number].falsify(&run);
    bool good = judge(&run, cases[number].broken);
    lc_path_free(&run.path);
    lc_costs_free(&run.costs);
    lc_timelines_free(run.lines);
    lc_results_free(run.trace->results);
    lc_trace_free(run.trace);
    return good;
}

int main(int argc, char **argv) {
    int bad = 0;
    if (argc != 2) {
        fprintf(stderr, "usage: test_invariants ARCHIVE\n");
        return 2;
    }
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (!try(argv[1], i)) {
            printf("%s: not as expected\n", cases[i].name);
            bad++;
        }
    printf("%zu figures falsified, %d not noticed as expected\n", sizeof cases / sizeof *cases - 1,
           bad);
    return bad != 0;
}
