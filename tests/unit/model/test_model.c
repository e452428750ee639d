/* The result model and the table of metrics. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "format/raw.h"
#include "model/metrics.h"
#include "model/model.h"
#include "model/row_order.h"

static uint32_t add_region(struct lc_model *model, const char *name) {
    uint32_t id;
    const struct lc_region region = {.name = (char *)name, .begin_line = -1, .end_line = -1};
    assert_int_equal(lc_model_add_region(model, &region, &id), LC_OK);
    return id;
}

static uint32_t add_cnode(struct lc_model *model, uint32_t parent, uint32_t region) {
    uint32_t id;
    assert_int_equal(lc_model_add_cnode(model, parent, region, &id), LC_OK);
    return id;
}

static void call_paths_escape_slashes(void **state) {
    (void)state;
    struct lc_model *model = NULL;
    assert_int_equal(lc_model_new(&model), LC_OK);
    uint32_t root = add_cnode(model, LC_NONE, add_region(model, "main"));
    uint32_t leaf = add_cnode(model, root, add_region(model, "operator/<int>"));
    char *path = lc_model_callpath(model, leaf);
    assert_string_equal(path, "main/operator%2F<int>");
    free(path);
    lc_model_free(model);
}

static void undefined_parents_are_refused(void **state) {
    (void)state;
    struct lc_model *model = NULL;
    assert_int_equal(lc_model_new(&model), LC_OK);
    uint32_t region = add_region(model, "main");
    assert_int_equal(lc_model_add_cnode(model, 0, region, NULL), LC_ERR_RANGE);
    assert_int_equal(lc_model_add_cnode(model, LC_NONE, region + 1, NULL), LC_ERR_RANGE);
    assert_int_equal(lc_model_add_process(model, 0, 0, "", NULL), LC_ERR_RANGE);
    assert_int_equal(lc_model_add_location(model, 0, 0, "", NULL), LC_ERR_RANGE);
    const struct lc_metric metric = {.parent = 0, .name = (char *)"x"};
    assert_int_equal(lc_model_add_metric(model, &metric, NULL), LC_ERR_RANGE);
    assert_int_equal(model->n_cnodes, 0);
    lc_model_free(model);
}

static void attributes_are_replaced(void **state) {
    (void)state;
    struct lc_model *model = NULL;
    assert_int_equal(lc_model_new(&model), LC_OK);
    assert_null(lc_model_attr(model, "a"));
    assert_int_equal(lc_model_set_attr(model, "a", "1"), LC_OK);
    assert_int_equal(lc_model_set_attr(model, "b", "2"), LC_OK);
    assert_int_equal(lc_model_set_attr(model, "a", "3"), LC_OK);
    assert_string_equal(lc_model_attr(model, "a"), "3");
    assert_int_equal(model->n_attrs, 2);
    lc_model_free(model);
}

static void metrics_bring_their_ancestors(void **state) {
    (void)state;
    struct lc_model *model = NULL;
    uint32_t id, again;
    assert_int_equal(lc_model_new(&model), LC_OK);
    assert_int_equal(lc_metrics_add(model, "mpi_lswo_same", &id), LC_OK);
    assert_int_equal(model->n_metrics, 3);
    assert_string_equal(model->metrics[0].name, "mpi_latesender");
    assert_string_equal(model->metrics[model->metrics[id].parent].name, "mpi_latesender_wo");
    assert_int_equal(lc_metrics_add(model, "mpi_lswo_same", &again), LC_OK);
    assert_int_equal(again, id);
    assert_int_equal(lc_metrics_add(model, "time", &id), LC_OK);
    assert_int_equal(model->metrics[id].kind, LC_METRIC_INCLUSIVE);
    lc_model_free(model);
}

static void families_of_metrics(void **state) {
    (void)state;
    static const char *const good[] = {"delay_latesender",
                                       "delay_12n_longterm",
                                       "delay_n21_longterm_waitfirst",
                                       "delay_ompidle_waitfirst",
                                       "delay_omptask_longterm",
                                       "mpi_wait_direct_latereceiver",
                                       "mpi_wait_indirect_mgmt_waitfirst",
                                       "mpi_wait_propagating_ls",
                                       "mpi_wait_terminal_scan_waitfirst",
                                       "delay_rma",
                                       "mpi_wait_indirect_neighbor",
                                       "omp_wait_direct_ompidle",
                                       "omp_wait_propagating_lock_waitfirst"};
    static const char *const bad[] = {"delay_ls",
                                      "delay_",
                                      "mpi_wait_propagating_latesender",
                                      "mpi_wait_direct_ompidle",
                                      "omp_wait_direct_latesender",
                                      "delay_latesender_waitfirst_longterm",
                                      "nothing"};
    struct lc_model *model = NULL;
    uint32_t id;
    assert_int_equal(lc_model_new(&model), LC_OK);
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        assert_int_equal(lc_metrics_add(model, good[i], &id), LC_OK);
        assert_string_equal(model->metrics[id].name, good[i]);
        assert_string_equal(model->metrics[id].unit, "sec");
        assert_true(strlen(model->metrics[id].descr) > 10);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(lc_metrics_add(model, bad[i], &id), LC_ERR_NOT_FOUND);
    lc_model_free(model);
}

/* Root causes hang below sums, those of a model below its own. */
static void sums_of_metrics(void **state) {
    (void)state;
    static const char *const paths[][6] = {
        {"delay_12n_longterm", "delay_12n_aggregate", "delay_collective", "delay_mpi", "delay"},
        {"delay_latesender_waitfirst", "delay_latesender_aggregate_waitfirst",
         "delay_p2p_waitfirst", "delay_mpi_waitfirst", "delay_waitfirst"},
        {"delay_ompidle", "delay_ompidle_aggregate", "delay_omp", "delay"},
        {"mpi_wait_terminal_lr_waitfirst", "mpi_wait_terminal_waitfirst",
         "waitstates_propagating_vs_terminal_waitfirst"},
        {"critical_path_activities", "performance_impact_criticalpath", "performance_impact"}};
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        struct lc_model *model = NULL;
        char parent[LC_METRIC_NAME];
        uint32_t id;
        size_t n = 0;
        assert_int_equal(lc_model_new(&model), LC_OK);
        assert_int_equal(lc_metrics_add(model, paths[i][0], &id), LC_OK);
        for (; id != LC_NONE; id = model->metrics[id].parent, n++) {
            const char *next = paths[i][n + 1];
            assert_string_equal(model->metrics[id].name, paths[i][n]);
            assert_int_equal(lc_metrics_is_sum(paths[i][n]), n > 0);
            assert_int_equal(lc_metrics_parent(paths[i][n], parent), next != NULL);
            if (next != NULL)
                assert_string_equal(parent, next);
        }
        assert_int_equal(model->n_metrics, n);
        lc_model_free(model);
    }
    assert_false(lc_metrics_is_sum("performance_impact_waitfirst"));
    assert_false(lc_metrics_is_sum("time"));
}

/* main { a { b c } d { e } }: a root, then the children of a node, then each child's. */
static void enumeration_of_inclusive_metrics(void **state) {
    (void)state;
    struct lc_model *model = NULL;
    uint32_t *position;
    static const uint32_t expected[] = {0, 1, 3, 4, 2, 5};
    assert_int_equal(lc_model_new(&model), LC_OK);
    uint32_t f = add_region(model, "f");
    uint32_t root = add_cnode(model, LC_NONE, f), a = add_cnode(model, root, f);
    add_cnode(model, a, f);
    add_cnode(model, a, f);
    add_cnode(model, add_cnode(model, root, f), f);
    assert_int_equal(lc_order_check(model), LC_OK);
    assert_int_equal(lc_order_inclusive(model, &position), LC_OK);
    assert_memory_equal(position, expected, sizeof expected);
    free(position);
    add_cnode(model, a, f); /* below a again: not in pre-order */
    assert_int_equal(lc_order_check(model), LC_ERR_RANGE);
    lc_model_free(model);
}

static bool is_waiting(const char *name) {
    for (const struct lc_waiting_metric *wait = lc_waiting_metrics; wait->name != NULL; wait++)
        if (strcmp(wait->name, name) == 0)
            return true;
    return false;
}

/* Wait states that are measured while the program runs are waiting, and nothing else that is. */
static void waiting(void **state) {
    (void)state;
    for (uint32_t i = 0; i < LC_RAW_MEASURED; i++)
        if (is_waiting(lc_raw_measured[i]) != (i < LC_RAW_WAITS))
            fail_msg("%s is %s", lc_raw_measured[i], i < LC_RAW_WAITS ? "no waiting" : "waiting");
    for (const struct lc_waiting_metric *wait = lc_waiting_metrics; wait->name != NULL; wait++) {
        struct lc_model *model;
        uint32_t id;
        assert_int_equal(lc_model_new(&model), LC_OK);
        assert_int_equal(lc_metrics_add(model, wait->name, &id), LC_OK);
        if (wait->around != NULL)
            assert_int_equal(lc_metrics_add(model, wait->around, &id), LC_OK);
        lc_model_free(model);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(call_paths_escape_slashes),
        cmocka_unit_test(undefined_parents_are_refused),
        cmocka_unit_test(attributes_are_replaced),
        cmocka_unit_test(metrics_bring_their_ancestors),
        cmocka_unit_test(families_of_metrics),
        cmocka_unit_test(sums_of_metrics),
        cmocka_unit_test(waiting),
        cmocka_unit_test(enumeration_of_inclusive_metrics),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
