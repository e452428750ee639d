/* Every .cubex of the golden data equals its JSON: all metrics, call paths, values. LC_GOLDEN_DIR
 * says where they are. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "model/cubex_read.h"

static double near(double x) {
    return 1e-12 * fabs(x) + 1e-15;
}

/* Sum of rows over call paths of equal name, as the JSON has them. */
static json_t *rows_of(struct lc_cubex *cube, uint32_t metric) {
    const struct lc_model *model = lc_cubex_model(cube);
    json_t *rows = json_object();
    double *values = calloc(model->n_locations, sizeof values[0]);
    for (uint32_t c = 0; c < model->n_cnodes; c++) {
        assert_int_equal(lc_cubex_row(cube, metric, c, values), LC_OK);
        double largest = 0;
        for (size_t l = 0; l < model->n_locations; l++)
            largest = fmax(largest, fabs(values[l]));
        if (largest == 0)
            continue;
        char *path = lc_model_callpath(model, c);
        json_t *row = json_object_get(rows, path);
        if (row == NULL) {
            row = json_array();
            for (size_t l = 0; l < model->n_locations; l++)
                json_array_append_new(row, json_real(0));
            json_object_set_new(rows, path, row);
        }
        for (size_t l = 0; l < model->n_locations; l++)
            json_array_set_new(row, l,
                               json_real(json_number_value(json_array_get(row, l)) + values[l]));
        free(path);
    }
    free(values);
    return rows;
}

static void compare_metric(struct lc_cubex *cube, const char *name, json_t *expected) {
    const struct lc_model *model = lc_cubex_model(cube);
    uint32_t id = lc_model_find_metric(model, name);
    if (id == LC_NONE)
        fail_msg("metric %s is missing", name);
    const struct lc_metric *metric = &model->metrics[id];
    assert_string_equal(metric->unit, json_string_value(json_object_get(expected, "unit")));
    assert_string_equal(metric->kind == LC_METRIC_INCLUSIVE ? "inclusive" : "exclusive",
                        json_string_value(json_object_get(expected, "kind")));
    json_t *rows = rows_of(cube, id), *wanted = json_object_get(expected, "callpaths"), *row;
    const char *path;
    assert_int_equal(json_object_size(rows), json_object_size(wanted));
    json_object_foreach(wanted, path, row) {
        json_t *got = json_object_get(rows, path);
        if (got == NULL)
            fail_msg("%s: call path %s is missing", name, path);
        assert_int_equal(json_array_size(got), json_array_size(row));
        for (size_t l = 0; l < json_array_size(row); l++) {
            double x = json_number_value(json_array_get(row, l));
            double y = json_number_value(json_array_get(got, l));
            if (fabs(x - y) > near(x))
                fail_msg("%s at %s, location %zu: %.17g, not %.17g", name, path, l, y, x);
        }
    }
    json_decref(rows);
}

static void compare_file(const char *name) {
    char path[1024];
    const char *dir = getenv("LC_GOLDEN_DIR");
    assert_non_null(dir);
    snprintf(path, sizeof path, "%s/cubex/%s.json", dir, name);
    json_t *expected = json_load_file(path, 0, NULL);
    assert_non_null(expected);
    snprintf(path, sizeof path, "%s/cubex/%s.cubex", dir, name);
    struct lc_cubex *cube;
    assert_int_equal(lc_cubex_open(&cube, path), LC_OK);
    const struct lc_model *model = lc_cubex_model(cube);

    json_t *locations = json_object_get(expected, "locations"), *location;
    size_t l;
    assert_int_equal(json_array_size(locations), model->n_locations);
    json_array_foreach(locations, l, location) {
        assert_int_equal(model->processes[model->locations[l].process].rank,
                         json_integer_value(json_object_get(location, "rank")));
        assert_int_equal(model->locations[l].thread,
                         json_integer_value(json_object_get(location, "thread")));
    }
    json_t *metrics = json_object_get(expected, "metrics"), *metric;
    const char *metric_name;
    json_object_foreach(metrics, metric_name, metric) compare_metric(cube, metric_name, metric);
    assert_true(json_object_size(metrics) > 5);
    size_t n_derived = lc_cubex_derived(cube);
    printf("%s: %zu metrics equal, %zu of %zu derived\n", name, json_object_size(metrics),
           n_derived, model->n_metrics);
    assert_int_equal(json_object_size(metrics) + n_derived, model->n_metrics);
    lc_cubex_close(cube);
    json_decref(expected);
}

static void scorep_profile(void **state) {
    (void)state;
    compare_file("scorep-profile");
}

static void scalasca_scout(void **state) {
    (void)state;
    compare_file("scalasca-scout");
}

static void scalasca_trace(void **state) {
    (void)state;
    compare_file("scalasca-trace");
}

static void miscellaneous_member(void **state) {
    (void)state;
    char path[1024];
    struct lc_cubex *cube;
    const char *data;
    size_t bytes;
    snprintf(path, sizeof path, "%s/cubex/scorep-profile.cubex", getenv("LC_GOLDEN_DIR"));
    assert_int_equal(lc_cubex_open(&cube, path), LC_OK);
    assert_int_equal(lc_cubex_misc(cube, "remapping.spec", &data, &bytes), LC_OK);
    assert_int_equal(bytes, strlen(data));
    assert_non_null(strstr(data, "uniq_name"));
    assert_int_equal(lc_cubex_misc(cube, "blame.tsv", &data, &bytes), LC_ERR_NOT_FOUND);
    lc_cubex_close(cube);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scorep_profile),
        cmocka_unit_test(scalasca_scout),
        cmocka_unit_test(scalasca_trace),
        cmocka_unit_test(miscellaneous_member),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
