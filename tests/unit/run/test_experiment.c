/* Parts that nodes save, in whatever order they end, become one result of all their ranks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/outfile.h"
#include "model/cubex_read.h"
#include "run/experiment.h"

enum { RANKS = 2 };

static char dir[64];

static bool is_there(const char *name) {
    char path[128];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    return access(path, F_OK) == 0;
}

static void put(const char *name) {
    char path[128];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    assert_int_equal(lc_outfile_put(path, "x", 1), LC_OK);
}

static void remove_file(const char *name) {
    char path[128];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    unlink(path);
}

static int begin(void **state) {
    (void)state;
    strcpy(dir, "/tmp/test_experiment_XXXXXX");
    if (mkdtemp(dir) == NULL)
        return 1;
    json_t *meta = json_pack("{s:i}", "ranks", RANKS);
    enum lc_err err = lc_experiment_write_json(dir, ".run.json", meta);
    json_decref(meta);
    return err != LC_OK;
}

static int end(void **state) {
    (void)state;
    remove_file("profile.cubex");
    remove_file("meta.json");
    lc_experiment_clean(dir);
    return access(dir, F_OK) == 0;
}

/* The part of a node with one rank, which called MPI_Barrier that often. */
static void save_end(int32_t rank, const char *ending, uint64_t calls, double first_end_s,
                     bool complete) {
    struct lc_raw *raw;
    uint32_t module, root, in_main, call, name, location;
    char host[16];
    assert_int_equal(lc_raw_new(&raw), LC_OK);
    assert_int_equal(lc_raw_add_module(raw, "/no/such/app", "", &module), LC_OK);
    struct lc_raw_node node = {.kind = LC_RAW_ROOT, .parent = LC_NONE};
    assert_int_equal(lc_raw_add_node(raw, &node, &root), LC_OK);
    node = (struct lc_raw_node){root, LC_RAW_FRAME, module, LC_RAW_NODE_MAIN, 0x1000, 0};
    assert_int_equal(lc_raw_add_node(raw, &node, &in_main), LC_OK);
    assert_int_equal(lc_raw_add_name(raw, "MPI_Barrier", &name), LC_OK);
    node = (struct lc_raw_node){.kind = LC_RAW_MPI, .parent = in_main, .ref = name};
    assert_int_equal(lc_raw_add_node(raw, &node, &call), LC_OK);
    snprintf(host, sizeof host, "node%d", rank);
    assert_int_equal(lc_raw_add_name(raw, host, &name), LC_OK);
    struct lc_raw_location place = {.rank = rank, .host = name, .end_ns = 1000000};
    assert_int_equal(lc_raw_add_location(raw, &place, &location), LC_OK);
    struct lc_raw_row row = {
        .node = call, .location = location, .count = calls, .sum_ns = calls, .max_ns = 1};
    assert_int_equal(lc_raw_add_row(raw, &row), LC_OK);
    json_t *meta = json_pack("{s:b, s:s, s:f}", "complete", complete, "ending", ending,
                             LC_META_FIRST_END, first_end_s);
    raw->meta = json_dumps(meta, 0);
    json_decref(meta);
    assert_int_equal(lc_experiment_write_partial(dir, rank, raw), LC_OK);
    lc_raw_free(raw);
}

static void save(int32_t rank, const char *ending, uint64_t calls) {
    save_end(rank, ending, calls, 0.0, false);
}

static void finish(void) {
    enum lc_err err = lc_experiment_finish_partial(dir, false);
    if (err != LC_OK)
        print_error("%s\n", lc_err_text());
    assert_int_equal(err, LC_OK);
}

static void expect(uint64_t calls_of_0, uint64_t calls_of_1) {
    struct lc_cubex *cube;
    char path[128];
    double values[RANKS], sum[RANKS] = {0};
    snprintf(path, sizeof path, "%s/profile.cubex", dir);
    assert_int_equal(lc_cubex_open(&cube, path), LC_OK);
    const struct lc_model *model = lc_cubex_model(cube);
    uint32_t visits = lc_model_find_metric(model, "visits");
    assert_int_not_equal(visits, LC_NONE);
    assert_int_equal(model->n_locations, RANKS);
    for (uint32_t c = 0; c < model->n_cnodes; c++) {
        char *own = lc_model_callpath(model, c);
        assert_int_equal(lc_cubex_row(cube, visits, c, values), LC_OK);
        for (int r = 0; r < RANKS && strstr(own, "MPI_Barrier") != NULL; r++)
            sum[r] += values[r];
        free(own);
    }
    lc_cubex_close(cube);
    assert_int_equal((uint64_t)sum[0], calls_of_0);
    assert_int_equal((uint64_t)sum[1], calls_of_1);
}

/* Both parts are saved before either of the parents makes the result: the second one finds its part
 * in that of the first one. */
static void nodes_that_end_together(void **state) {
    (void)state;
    save(0, "signal 15", 20);
    save(1, "signal 15", 30);
    finish();
    expect(20, 30);
    assert_false(is_there(".run.json") || is_there(".partial.0.raw") || is_there(".partial.1.raw"));
    finish();
    expect(20, 30);
}

/* What a node saved while it ran is not all that comes of it. */
static void a_node_that_ends_after_a_snapshot(void **state) {
    (void)state;
    save(0, "signal 15", 20);
    save(1, LC_ENDING_OF_SNAPSHOT, 5);
    finish();
    expect(20, 5);
    assert_true(is_there(".run.json") && is_there(".partial.0.raw"));
    save(1, "signal 15", 30);
    finish();
    expect(20, 30);
    assert_false(is_there(".run.json") || is_there(".partial.0.raw") || is_there(".partial.1.raw"));
}

/* Those whom somebody has killed leave what they were writing. */
static void writers_that_were_killed(void **state) {
    (void)state;
    static const char *const left[] = {"profile.cubex.4711-0.partial", "meta.json.12-3.partial",
                                       ".run.json.9-0.partial", ".partial.1.raw.77-0.partial"};
    static const char *const others[] = {"profile.cubex.backup", "meta.json.12-3.partial.txt",
                                         "meta.json.12.partial", "profile.cubex.-0.partial"};
    enum { N = sizeof left / sizeof *left, M = sizeof others / sizeof *others };
    for (int i = 0; i < N; i++)
        put(left[i]);
    for (int i = 0; i < M; i++)
        put(others[i]);
    save(0, "signal 15", 20);
    save(1, "signal 15", 30);
    finish();
    expect(20, 30);
    for (int i = 0; i < N; i++)
        assert_false(is_there(left[i]));
    for (int i = 0; i < M; i++) {
        assert_true(is_there(others[i]));
        remove_file(others[i]);
    }
}

static void expect_meta(const char *ending, bool complete) {
    char path[128];
    snprintf(path, sizeof path, "%s/meta.json", dir);
    json_t *meta = json_load_file(path, 0, NULL);
    assert_non_null(meta);
    assert_string_equal(json_string_value(json_object_get(meta, "ending")), ending);
    assert_true(json_boolean_value(json_object_get(meta, "complete")) == complete);
    assert_null(json_object_get(meta, LC_META_FIRST_END));
    json_decref(meta);
}

/* The launcher kills the others when one has died: that one says how the run ended, whichever part
 * is read first. */
static void a_rank_that_died_first(void **state) {
    (void)state;
    for (int dies = 0; dies < RANKS; dies++) {
        if (dies > 0) {
            end(NULL);
            assert_int_equal(begin(NULL), 0);
        }
        for (int rank = 0; rank < RANKS; rank++)
            save_end(rank, rank == dies ? "signal 11" : "signal 9", 1,
                     rank == dies ? 1000.25 : 1000.5, false);
        finish();
        expect_meta("signal 11", false);
    }
}

/* All ranks have ended by themselves, but of one nothing is there yet. */
static void a_part_is_not_all(void **state) {
    (void)state;
    save_end(0, "exit", 1, 1000, true);
    finish();
    expect_meta("exit", false);
    save_end(1, "exit", 1, 1000, true);
    finish();
    expect_meta("exit", true);
    assert_false(is_there(".run.json") || is_there(".partial.0.raw"));
}

static void nothing_was_saved(void **state) {
    (void)state;
    assert_int_equal(lc_experiment_finish_partial(dir, false), LC_ERR_NOT_FOUND);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(nodes_that_end_together, begin, end),
        cmocka_unit_test_setup_teardown(a_node_that_ends_after_a_snapshot, begin, end),
        cmocka_unit_test_setup_teardown(writers_that_were_killed, begin, end),
        cmocka_unit_test_setup_teardown(a_rank_that_died_first, begin, end),
        cmocka_unit_test_setup_teardown(a_part_is_not_all, begin, end),
        cmocka_unit_test_setup_teardown(nothing_was_saved, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
