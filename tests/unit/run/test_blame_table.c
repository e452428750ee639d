/* Values of the library become the member blame.tsv: largest first, incomplete rows left out,
 * shares of all measured waiting. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "model/cubex_read.h"
#include "run/blame_table.h"

static char file_name[64];

static void add_value(struct lc_raw *raw, const char *name, uint32_t location, double value) {
    struct lc_raw_value out = {.location = location, .value = value};
    assert_int_equal(lc_raw_add_name(raw, name, &out.metric), LC_OK);
    assert_int_equal(lc_raw_add_value(raw, &out), LC_OK);
}

static struct lc_model *make_model(void) {
    static const char *const names[] = {"main", "a/b", "MPI_Recv"};
    struct lc_model *model = NULL;
    uint32_t node, process, region;
    assert_int_equal(lc_model_new(&model), LC_OK);
    for (uint32_t i = 0; i < 3; i++) {
        const struct lc_region definition = {.name = (char *)names[i]};
        assert_int_equal(lc_model_add_region(model, &definition, &region), LC_OK);
        assert_int_equal(lc_model_add_cnode(model, i == 0 ? LC_NONE : i - 1, region, NULL), LC_OK);
    }
    assert_int_equal(lc_model_add_system_node(model, LC_NONE, "m", "machine", &node), LC_OK);
    assert_int_equal(lc_model_add_process(model, node, 0, "p", &process), LC_OK);
    assert_int_equal(lc_model_add_location(model, process, 0, "t", NULL), LC_OK);
    return model;
}

static void check_member(const struct lc_raw *raw, const uint32_t *cnodes, const char *member,
                         const char *expected) {
    struct lc_model *model = make_model();
    const struct lc_raw_value *values[24];
    for (size_t i = 0; i < raw->n_values; i++)
        values[i] = &raw->values[i];
    const struct lc_blame_table table = {raw, values, raw->n_values, cnodes, model, NULL};
    struct lc_cubex_writer *writer = NULL;
    struct lc_cubex *cube = NULL;
    assert_int_equal(lc_cubex_writer_open(&writer, file_name, model), LC_OK);
    assert_int_equal(lc_blame_table_write(&table, writer), LC_OK);
    assert_int_equal(lc_path_table_write(&table, writer), LC_OK);
    assert_int_equal(lc_cubex_writer_close(writer), LC_OK);
    assert_int_equal(lc_cubex_open(&cube, file_name), LC_OK);
    const char *data = NULL;
    size_t bytes;
    if (expected == NULL) {
        assert_int_equal(lc_cubex_misc(cube, member, &data, &bytes), LC_ERR_NOT_FOUND);
    } else {
        assert_int_equal(lc_cubex_misc(cube, member, &data, &bytes), LC_OK);
        assert_string_equal(data, expected);
    }
    lc_cubex_close(cube);
    lc_model_free(model);
}

static void rows_are_sorted_and_complete(void **state) {
    (void)state;
    struct lc_raw *raw = NULL;
    assert_int_equal(lc_raw_new(&raw), LC_OK);
    for (int32_t rank = 0; rank < 2; rank++) {
        const struct lc_raw_location location = {.rank = 5 + rank, .thread = 3};
        uint32_t id;
        assert_int_equal(lc_raw_add_location(raw, &location, &id), LC_OK);
    }
    check_member(raw, NULL, "blame.tsv", NULL);
    check_member(raw, NULL, "critical_path.tsv", NULL);
    add_value(raw, "blame.0.wait", 0, 1.0);
    add_value(raw, "blame.0.late", 1, 1.0);
    add_value(raw, "blame.2.late", 0, 3.0);
    add_value(raw, "blame.2.wait", 1, 2.5);
    add_value(raw, "blame.1.wait", 1, 9.0); /* nobody is named as late */
    add_value(raw, "mpi_latesender", 0, 4.0);
    add_value(raw, "mpi_barrier_wait", 1, 1.0);
    add_value(raw, "critical_path_useful", 1, 50.0);
    add_value(raw, "omp_management", 1, 7.0);        /* no waiting */
    add_value(raw, "blame.4294967296.wait", 1, 1.0); /* no such number */
    add_value(raw, "blame.2.thread", 0, 4.0);
    add_value(raw, "cost.0.late", 1, 0.0); /* costs others nothing directly */
    add_value(raw, "cost.0.passed", 1, 0.5);
    add_value(raw, "cost.1.late", 0, 3.0);
    add_value(raw, "cost.1.passed", 0, 1.0);
    /* of ranks that have not ended: late code by its number there */
    add_value(raw, "waited.6.7.direct", 0, 1.25);
    add_value(raw, "waited.6.7.direct", 1, 0.5);
    add_value(raw, "waited.6.7.passed", 0, 0.25);
    add_value(raw, "waited.5.7.direct", 1, 0.125); /* without a number: that of the other rank */
    add_value(raw, LC_RAW_NODE_NUMBER, 1, 7.0);
    add_value(raw, LC_RAW_NODE_NUMBER, 0, 8.0);
    add_value(raw, "blame.2.more", 1, 0.25);
    static const uint32_t cnodes[] = {2, 1, 0, 2, 2, 2, 2, 2, 2, 2, 0,
                                      1, 1, 0, 0, 0, 0, 0, 0, 1, 2, 2};
    check_member(
        raw, cnodes, "blame.tsv",
        "waiting_callpath\tlate_rank\tlate_callpath\tlate_call_site_begin\t"
        "late_call_site_end\tseconds\tshare\tlate_thread\tmost_seconds\terror\n"
        "main/a%2Fb/MPI_Recv\t5\tmain\t\t\t2.500000000\t0.500000000\t3\t2.750000000\t0.000000000\n"
        "main/a%2Fb/MPI_Recv\t6\tmain/"
        "a%2Fb\t\t\t1.000000000\t0.200000000\t\t1.000000000\t0.000000000\n");
    check_member(
        raw, cnodes, "costs.tsv",
        "late_rank\tlate_callpath\tlate_call_site_begin\tlate_call_site_end\tseconds\tshare\t"
        "late_thread\tdirect_seconds\tindirect_seconds\terror\n"
        "5\tmain\t\t\t4.000000000\t0.800000000\t\t3.000000000\t1.000000000\t0.000000000\n"
        "6\tmain/a%2Fb\t\t\t2.000000000\t0.400000000\t\t1.750000000\t0.250000000\t0.000000000\n"
        "6\tmain/a%2Fb\t\t\t0.500000000\t0.100000000\t\t0.000000000\t0.500000000\t0.000000000\n"
        "5\tmain\t\t\t0.125000000\t0.025000000\t\t0.125000000\t0.000000000\t0.000000000\n");
    check_member(raw, cnodes, "critical_path.tsv", NULL); /* a path without call sites */
    lc_raw_free(raw);
}

/* Rows of equal time are in the same order, whatever their numbers are. */
static void equal_rows_have_an_order(void **state) {
    (void)state;
    static const uint32_t cnodes[][4] = {{2, 0, 2, 1}, {2, 1, 2, 0}};
    for (int turned = 0; turned < 2; turned++) {
        struct lc_raw *raw = NULL;
        uint32_t id;
        assert_int_equal(lc_raw_new(&raw), LC_OK);
        assert_int_equal(lc_raw_add_location(raw, &(struct lc_raw_location){.rank = 5}, &id),
                         LC_OK);
        add_value(raw, "blame.0.wait", 0, 1.0);
        add_value(raw, "blame.0.late", 0, 0.0);
        add_value(raw, "blame.1.wait", 0, 1.0);
        add_value(raw, "blame.1.late", 0, 0.0);
        check_member(raw, cnodes[turned], "blame.tsv",
                     "waiting_callpath\tlate_rank\tlate_callpath\tlate_call_site_begin\t"
                     "late_call_site_end\tseconds\tshare\tlate_thread\tmost_seconds\terror\n"
                     "main/a%2Fb/MPI_Recv\t5\tmain\t\t\t1.000000000\t0.000000000\t\t"
                     "1.000000000\t0.000000000\n"
                     "main/a%2Fb/MPI_Recv\t5\tmain/a%2Fb\t\t\t1.000000000\t0.000000000\t\t"
                     "1.000000000\t0.000000000\n");
        lc_raw_free(raw);
    }
}

/* The call sites of the rank with most of the path; without debug information the cells are empty.
 */
static void sites_of_the_path(void **state) {
    (void)state;
    struct lc_raw *raw = NULL;
    uint32_t id;
    assert_int_equal(lc_raw_new(&raw), LC_OK);
    for (int32_t rank = 0; rank < 2; rank++)
        assert_int_equal(lc_raw_add_location(raw, &(struct lc_raw_location){.rank = rank}, &id),
                         LC_OK);
    add_value(raw, "critical_path_useful", 0, 1.0);
    add_value(raw, "critical_path.to", 0, 100.0);
    add_value(raw, "critical_path_useful", 1, 2.0); /* the longest has none */
    add_value(raw, "critical_path_useful", 0, 3.0);
    add_value(raw, "critical_path.from", 0, 100.0);
    add_value(raw, "critical_path.to", 0, 200.0);
    static const uint32_t cnodes[] = {0, 0, 0, 1, 1, 1};
    check_member(raw, cnodes, "critical_path.tsv",
                 "callpath\tcall_site_begin\tcall_site_end\nmain/a%2Fb\t\t\n");
    lc_raw_free(raw);
}

/* Of 5 s of waiting for main of rank 0, a sampled function got 4 in waits of which one was 3 s
 * long, and another one 1 s: 25 / (10 + 1) waits of equal length would tell as much. */
static void errors_of_samples(void **state) {
    (void)state;
    struct lc_raw *raw = NULL;
    uint32_t id;
    assert_int_equal(lc_raw_new(&raw), LC_OK);
    assert_int_equal(lc_raw_add_location(raw, &(struct lc_raw_location){.rank = 0}, &id), LC_OK);
    for (uint32_t i = 0; i < 3; i++) {
        const struct lc_raw_node node = {.parent = i == 0 ? LC_NONE : 0,
                                         .kind = i == 0 ? LC_RAW_ROOT : LC_RAW_SAMPLED,
                                         .ref = LC_NONE,
                                         .offset = LC_RAW_KERNEL + i};
        assert_int_equal(lc_raw_add_node(raw, &node, &id), LC_OK);
        assert_int_equal(id, i);
    }
    add_value(raw, "cost.0.late", 0, 3.5);
    add_value(raw, "cost.0.passed", 0, 0.5);
    add_value(raw, "cost.0.spread", 0, sqrt(3.0 * 3 + 1));
    add_value(raw, "cost.1.late", 0, 1.0);
    add_value(raw, "cost.1.spread", 0, 1.0);
    add_value(raw, "cost.2.late", 0, 0.5); /* of main itself: measured */
    for (size_t i = 0; i < 5; i++)
        raw->values[i].node = i < 3 ? 1 : 2;
    double n = 25.0 / 11, p = (0.8 * n + 1) / (n + 2), q = (0.2 * n + 1) / (n + 2);
    char expected[600];
    snprintf(expected, sizeof expected,
             "late_rank\tlate_callpath\tlate_call_site_begin\tlate_call_site_end\tseconds\tshare\t"
             "late_thread\tdirect_seconds\tindirect_seconds\terror\n"
             "0\tmain/a%%2Fb\t\t\t4.000000000\t0.000000000\t\t3.500000000\t0.500000000\t%.9f\n"
             "0\tmain/a%%2Fb/MPI_Recv\t\t\t1.000000000\t0.000000000\t\t1.000000000\t0.000000000"
             "\t%.9f\n"
             "0\tmain\t\t\t0.500000000\t0.000000000\t\t0.500000000\t0.000000000\t0.000000000\n",
             5 * sqrt(p * (1 - p) / n), 5 * sqrt(q * (1 - q) / n));
    static const uint32_t cnodes[] = {1, 1, 1, 2, 2, 0};
    check_member(raw, cnodes, "costs.tsv", expected);
    lc_raw_free(raw);
}

int main(void) {
    snprintf(file_name, sizeof file_name, "test_blame_table.%ld.cubex", (long)getpid());
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_sorted_and_complete), cmocka_unit_test(equal_rows_have_an_order),
        cmocka_unit_test(sites_of_the_path), cmocka_unit_test(errors_of_samples)};
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(file_name);
    return failed;
}
