/* Facts of a run: what the library writes, and the JSON that becomes of it; damaged ones too. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "../first_seed.h"
#include "format/facts.h"
#include "run/facts_text.h"

enum { RANKS = 2, INTERVALS = 2, ITERATIONS = 12 };

static void put_ranks(struct lc_strbuf *facts) {
    struct lc_fact_rank ranks[RANKS];
    memset(ranks, 0, sizeof ranks);
    for (uint32_t i = 0; i < RANKS; i++) {
        strcpy(ranks[i].host, i == 0 ? "a" : "b");
        ranks[i].calls = 100;
        ranks[i].paths.counted = 40;
        ranks[i].cost_ns = 1e6;
        ranks[i].counted_ns = 1e5;
        ranks[i].own_s = 0.5;
        ranks[i].samples_rarer = i * 4;
        ranks[i].sample_rate = i == 0 ? 500 : 125.3;
        ranks[i].grid = (struct lc_grid){
            .n_dims = 1, .size = RANKS, .position = 1 - i, .dims = {RANKS}, .periodic = {1}};
        ranks[i].groups.n = 1;
        ranks[i].groups.group[0] =
            (struct lc_known_group){.hash = 7, .size = RANKS, .position = i, .number = 1};
    }
    lc_facts_put(facts, LC_FACT_RANKS, ranks, sizeof ranks);
}

static void put_meta(struct lc_strbuf *facts) {
    struct lc_fact_process process = {.mpi = "An \"MPI\"",
                                      .library = "its library",
                                      .version = 4,
                                      .provided_level = LC_LEVEL_MULTIPLE,
                                      .budget = 0.05};
    lc_facts_put(facts, LC_FACT_PROCESS, &process, sizeof process);
    put_ranks(facts);
    struct lc_fact_object object = {.symbols = 3, .name = "libx.so", .example = "MPI_Send"};
    lc_facts_put(facts, LC_FACT_OBJECT, &object, sizeof object);
    struct lc_fact_step step = {
        .function = "MPI_Wtime", .detail = LC_DETAIL_COUNTED, .ranks = 2, .sites = 1};
    lc_facts_put(facts, LC_FACT_STEP, &step, sizeof step);
    struct lc_fact_openmp omp = {.runtime = "libgomp", .tasks = 5, .edges_lost = 1};
    lc_facts_put(facts, LC_FACT_OPENMP, &omp, sizeof omp);
    struct lc_fact_missing missing = {.event = "OMPT_MASKED"};
    lc_facts_put(facts, LC_FACT_MISSING, &missing, sizeof missing);
    struct lc_fact_counts counts = {.messages = 9,
                                    .taken = 8,
                                    .unseen = 1,
                                    .waited = 250000000,
                                    .events_most = 77,
                                    .late_useful = 1000};
    lc_facts_put(facts, LC_FACT_COUNTS, &counts, sizeof counts);
    struct lc_fact_clocks clocks = {.error_s = 1e-6, .wait_error_s = 2e-6, .nodes = 1};
    struct lc_fact_node node = {.drift_ppm = 0.5};
    size_t begin = lc_facts_begin(facts, LC_FACT_CLOCKS, &clocks, sizeof clocks);
    lc_strbuf_add(facts, (const char *)&node, sizeof node);
    lc_facts_end(facts, begin);
    struct lc_fact_waiting waiting = {.waits_s = 0.25, .costs_s = 0.25, .direct_s = 0.25};
    lc_facts_put(facts, LC_FACT_WAITING, &waiting, sizeof waiting);
}

/* Two threads that worked 3 s and 1 s of 4 s, in each interval. */
static void put_intervals(struct lc_strbuf *facts) {
    double max[INTERVALS][LC_INTERVAL_MAXIMA] = {{0}}, sum[INTERVALS][LC_INTERVAL_SUMS] = {{0}};
    for (size_t k = 0; k < INTERVALS; k++) {
        max[k][LC_INTERVAL_BEGIN] = -10.0 * (double)k;
        max[k][LC_INTERVAL_END] = 10.0 * (double)k + 4;
        max[k][LC_INTERVAL_USEFUL] = max[k][LC_INTERVAL_PROCESS] = 3;
        max[k][LC_INTERVAL_CHAIN] = 3.5;
        max[k][LC_INTERVAL_OMP] = 4;
        max[k][LC_INTERVAL_THREADS] = 1;
        max[k][LC_INTERVAL_WHATIF] = 1.5;
        sum[k][LC_INTERVAL_SUM_THREADS] = 2;
        sum[k][LC_INTERVAL_SUM_USEFUL] = sum[k][LC_INTERVAL_SUM_OUTSIDE] = 4;
        sum[k][LC_INTERVAL_SUM_PROCESS] = 4;
        sum[k][LC_INTERVAL_SUM_PRESENT] = 2;
    }
    struct lc_fact_intervals intervals = {.n = INTERVALS,
                                          .n_whatif = 1,
                                          .given = 1,
                                          .tasks_at = LC_WHAT_IF_SCENARIOS,
                                          .attributed_s = 7};
    size_t begin = lc_facts_begin(facts, LC_FACT_INTERVALS, &intervals, sizeof intervals);
    lc_strbuf_add(facts, (const char *)max, sizeof max);
    lc_strbuf_add(facts, (const char *)sum, sizeof sum);
    lc_facts_end(facts, begin);
    struct lc_fact_scenario scenario = {.text = "solve=0.5"};
    lc_facts_put(facts, LC_FACT_SCENARIO, &scenario, sizeof scenario);
    struct lc_fact_unknown unknown = {.name = "solve"};
    lc_facts_put(facts, LC_FACT_UNKNOWN, &unknown, sizeof unknown);
    struct lc_fact_path paths[LC_PATHS] = {{7, 1, 0}, {6, 0, -1}};
    lc_facts_put(facts, LC_FACT_PATHS, paths, sizeof paths);
}

static void put_field(struct lc_strbuf *facts) {
    struct lc_fact_field field = {
        .rows = 2, .blocks = 1, .block = ITERATIONS, .unit = 1, .ranks = 1};
    double cells[2][LC_FIELD_VALUES] = {{0.5, 0.25, 1}, {0, 0, 0}};
    size_t begin = lc_facts_begin(facts, LC_FACT_FIELD, &field, sizeof field);
    lc_strbuf_add(facts, (const char *)cells, sizeof cells);
    lc_facts_end(facts, begin);
}

static void put_phase(struct lc_strbuf *facts, const char *name, double at) {
    double max[LC_PHASE_MAXIMA] = {0}, sum[LC_PHASE_SUMS] = {2, 2, 2};
    struct lc_fact_phase phase = {.count = 1, .n = 1};
    strcpy(phase.name, name);
    max[LC_PHASE_BEGIN] = -at;
    max[LC_PHASE_END] = at + 2;
    max[LC_PHASE_USEFUL] = max[LC_PHASE_CHAIN] = max[LC_PHASE_PROCESS] = 1;
    size_t begin = lc_facts_begin(facts, LC_FACT_PHASE, &phase, sizeof phase);
    lc_strbuf_add(facts, (const char *)max, sizeof max);
    lc_strbuf_add(facts, (const char *)sum, sizeof sum);
    lc_facts_end(facts, begin);
}

static void put_loop(struct lc_strbuf *facts) {
    struct lc_fact_loop loop = {.n = ITERATIONS,
                                .stride = 2,
                                .total_s = ITERATIONS,
                                .ranks = 2,
                                .median_s = 1,
                                .warm_up = 1,
                                .n_runs = 1};
    loop.runs[0] = (struct lc_iteration_run){.from = 3, .until = 5, .rank = 1, .excess_s = 4};
    double columns[LC_LOOP_COLUMNS][ITERATIONS];
    for (size_t i = 0; i < ITERATIONS; i++) {
        columns[LC_LOOP_ELAPSED][i] = i == 3 || i == 4 ? 3 : 1;
        columns[LC_LOOP_THREADS][i] = 2;
        columns[LC_LOOP_USEFUL][i] = columns[LC_LOOP_PROCESS][i] = 1;
        columns[LC_LOOP_CHAIN][i] = columns[LC_LOOP_MOST][i] = 0.5;
    }
    size_t begin = lc_facts_begin(facts, LC_FACT_LOOP, &loop, sizeof loop);
    lc_strbuf_add(facts, (const char *)columns, sizeof columns);
    lc_facts_end(facts, begin);
}

static void put_all(struct lc_strbuf *facts) {
    put_meta(facts);
    put_intervals(facts);
    put_field(facts);
    put_phase(facts, "later", 5);
    put_phase(facts, "first", 1);
    put_field(facts);
    put_loop(facts);
    struct lc_fact_pairs pairs = {.pairs = 1, .bytes = 3};
    struct lc_fact_pair pair = {.from = 0, .to = 1, .waiting_s = 0.125, .messages = 4, .bytes = 64};
    size_t begin = lc_facts_begin(facts, LC_FACT_PAIRS, &pairs, sizeof pairs);
    lc_strbuf_add(facts, (const char *)&pair, sizeof pair);
    lc_facts_end(facts, begin);
    struct lc_fact_left_out left_out = {.loops = 3, .unwatched = 7, .most_s = 0.25};
    lc_facts_put(facts, LC_FACT_LEFT_OUT, &left_out, sizeof left_out);
    assert_true(lc_strbuf_ok(facts));
}

static json_t *parsed(const char *text) {
    json_error_t error;
    assert_non_null(text);
    json_t *json = json_loads(text, 0, &error);
    if (json == NULL)
        fail_msg("%s in %s", error.text, text);
    return json;
}

/* Numbers and texts at a path of names and indexes. */
static const json_t *at(const json_t *json, const char *path) {
    char names[128], *rest = names;
    strcpy(names, path);
    for (char *name; (name = strsep(&rest, "/")) != NULL;)
        json = json_is_array(json) ? json_array_get(json, strtoul(name, NULL, 10))
                                   : json_object_get(json, name);
    return json;
}

static void is_number(const json_t *json, const char *path, double value) {
    const json_t *found = at(json, path);
    if (!json_is_number(found))
        fail_msg("%s: no number", path);
    assert_float_equal(json_number_value(found), value, 1e-12);
}

static void is_text(const json_t *json, const char *path, const char *value) {
    const char *found = json_string_value(at(json, path));
    assert_non_null(found);
    assert_string_equal(found, value);
}

static void become_json(void **state) {
    (void)state;
    struct lc_strbuf facts = {0};
    struct lc_raw raw = {0};
    put_all(&facts);
    raw.n_facts = facts.length;
    raw.facts = facts.text;
    raw.pop = strdup("of before");
    assert_int_equal(lc_facts_make_texts(&raw), LC_OK);
    json_t *meta = parsed(raw.meta), *pop = parsed(raw.pop);
    is_text(meta, "mpi", "An \"MPI\"");
    is_text(meta, "thread_level", "MPI_THREAD_MULTIPLE");
    is_text(meta, "hosts/1", "b");
    is_number(meta, "coverage/calls", 200);
    is_text(meta, "coverage/bound_elsewhere/0/example", "MPI_Send");
    /* 60 calls of 1 ms and 40 of 0.1 ms on each rank, and what is rare */
    is_number(meta, "overhead/total_s", 0.120 + 0.008 + 1);
    is_number(meta, "overhead/calls_counted_only", 80);
    is_number(meta, "sample_rate", 125.3); /* of the rank with fewest */
    is_text(meta, "overhead/reduced/0/text",
            "1 call site of MPI_Wtime: calls were counted, not timed; their time is the calling "
            "function's");
    is_text(meta, "overhead/reduced/1/how", "rarer samples");
    is_number(meta, "overhead/reduced/1/times", 4);
    is_text(meta, "openmp_not_reported/0", "OMPT_MASKED");
    is_number(meta, "topologies/0/members/0", 1);
    is_text(meta, "communicators/0/ranks", "0-1");
    is_number(meta, "piggyback/events_most", 77);
    is_number(meta, "clock_sync/per_node/0/drift_ppm", 0.5);
    is_number(meta, "unattributed_share", 0);
    is_number(meta, "waiting_costs/direct_s", 0.25);
    is_number(pop, "elapsed_s", 8);
    is_number(pop, "parallel_efficiency", 8.0 / (2 * 8));
    is_number(pop, "intervals/1/critical_path_s", 3.5);
    is_number(pop, "what_if/0/predicted_s", 3 + 8 - 7);
    is_text(pop, "what_if/0/unknown/0", "solve");
    assert_true(json_is_null(at(pop, "paths/1/thread")));
    is_text(pop, "phases/0/name", "first");
    is_text(pop, "phases/1/name", "later");
    assert_null(at(pop, "phases/0/by_rank"));
    is_number(pop, "phases/1/by_rank/elapsed_s/0/0", 0.5);
    assert_true(json_is_null(at(pop, "phases/1/by_rank/elapsed_s/1/0")));
    is_number(pop, "iterations/0/count", 2 * ITERATIONS);
    is_number(pop, "iterations/0/outliers/0/from", 7);
    is_number(pop, "iterations/0/outliers/0/times_median", 3);
    is_number(pop, "iterations/0/warm_up", 2);
    is_number(pop, "iterations/0/iterations/elapsed_s/worst_at", 7);
    is_number(pop, "pairs/rows/0/2", 0.125);
    is_number(pop, "loops_left_out/loops", 3);
    is_number(pop, "loops_left_out/most_s", 0.25);
    json_decref(meta);
    json_decref(pop);
    free(raw.meta);
    free(raw.pop);
    lc_strbuf_free(&facts);
}

/* Whatever the bytes are: nothing beyond them is read. */
static bool survives(const char *bytes, size_t n) {
    struct lc_raw raw = {.n_facts = n};
    raw.facts = malloc(n + (n == 0));
    memcpy(raw.facts, bytes, n);
    enum lc_err err = lc_facts_make_texts(&raw);
    assert_true(err == LC_OK || err == LC_ERR_FORMAT);
    free(raw.facts);
    free(raw.meta);
    free(raw.pop);
    return err == LC_OK;
}

static void are_checked(void **state) {
    (void)state;
    struct lc_strbuf facts = {0};
    size_t whole = 0;
    uint64_t random = first_seed(1);
    put_all(&facts);
    for (size_t n = 0; n <= facts.length; n += 8)
        whole += survives(facts.text, n);
    assert_int_equal(whole, 1 + 20); /* as many as there are records, and none at all */
    for (int i = 0; i < 4000; i++) {
        random = random * 6364136223846793005ull + 1442695040888963407ull;
        size_t place = (size_t)(random >> 33) % facts.length;
        char before = facts.text[place];
        facts.text[place] = (char)(random >> 20);
        survives(facts.text, facts.length);
        facts.text[place] = before;
    }
    lc_strbuf_free(&facts);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(become_json),
                                       cmocka_unit_test(are_checked)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
