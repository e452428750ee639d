/* A raw profile with durations chosen by hand becomes a .cubex with the values that the
 * specification gives. */
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
#include "run/profile_convert.h"

enum { RANKS = 3, MS = 1000000 };

struct builder {
    struct lc_raw *raw;
    uint32_t module, root, in_main;
};

static uint32_t name(struct builder *b, const char *text) {
    uint32_t id;
    assert_int_equal(lc_raw_add_name(b->raw, text, &id), LC_OK);
    return id;
}

static uint32_t add_node(struct builder *b, uint32_t parent, uint32_t kind, uint32_t ref,
                         uint64_t offset, uint32_t flags) {
    struct lc_raw_node node = {parent, kind, ref, flags, offset, 0};
    uint32_t id;
    assert_int_equal(lc_raw_add_node(b->raw, &node, &id), LC_OK);
    return id;
}

static uint32_t frame(struct builder *b, uint32_t parent, uint64_t offset, uint32_t flags) {
    return add_node(b, parent, LC_RAW_FRAME, b->module, offset, flags);
}

static uint32_t call(struct builder *b, uint32_t parent, const char *function) {
    return add_node(b, parent, LC_RAW_MPI, name(b, function), 0, 0);
}

static void row(struct builder *b, uint32_t node, uint32_t location, uint32_t size_class,
                uint32_t flags, uint64_t count, uint64_t sum_ms, uint64_t min_ms) {
    struct lc_raw_row made = {.node = node,
                              .location = location,
                              .size_class = size_class,
                              .flags = flags,
                              .count = count,
                              .sum_ns = sum_ms * MS,
                              .min_ns = min_ms * MS,
                              .max_ns = sum_ms * MS,
                              .bytes_rcvd = count * 10};
    assert_int_equal(lc_raw_add_row(b->raw, &made), LC_OK);
}

static void time_row(struct builder *b, uint32_t node, uint32_t location, uint64_t sum_ms) {
    struct lc_raw_row made = {
        .node = node, .location = location, .size_class = LC_RAW_CLASS_TIME, .sum_ns = sum_ms * MS};
    assert_int_equal(lc_raw_add_row(b->raw, &made), LC_OK);
}

static void begin(struct builder *b) {
    assert_int_equal(lc_raw_new(&b->raw), LC_OK);
    assert_int_equal(lc_raw_add_module(b->raw, "/no/such/app", "", &b->module), LC_OK);
    b->root = add_node(b, LC_NONE, LC_RAW_ROOT, 0, 0, 0);
    b->in_main = frame(b, b->root, 0x1000, LC_RAW_NODE_MAIN);
    /* In the order of ranks 1, 0: columns of the result are by rank. Rank 2 left nothing. */
    static const int32_t ranks[] = {1, 0};
    for (uint32_t i = 0; i < 2; i++) {
        struct lc_raw_location place = {.rank = ranks[i], .host = name(b, "n0"), .end_ns = MS};
        uint32_t id;
        assert_int_equal(lc_raw_add_location(b->raw, &place, &id), LC_OK);
        assert_int_equal(id, i);
    }
}

/* Packs the profile, converts it, opens the result. */
static struct lc_cubex *convert(struct builder *b, json_t **meta) {
    char directory[] = "/tmp/test_convert_XXXXXX", raw_path[64], path[64];
    void *bytes;
    size_t n_bytes;
    assert_non_null(mkdtemp(directory));
    snprintf(raw_path, sizeof raw_path, "%s/raw", directory);
    snprintf(path, sizeof path, "%s/profile.cubex", directory);
    assert_int_equal(lc_raw_pack(b->raw, 1, &bytes, &n_bytes), LC_OK);
    FILE *file = fopen(raw_path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, n_bytes, file), n_bytes);
    assert_int_equal(fclose(file), 0);
    free(bytes);
    lc_raw_free(b->raw);
    struct lc_raw_file *raw;
    assert_int_equal(lc_raw_file_open(&raw, raw_path), LC_OK);
    *meta = json_object();
    struct lc_conversion job = {raw, path, RANKS, {NULL, "n0"}, *meta, 0};
    enum lc_err err = lc_convert_profile(&job);
    if (err != LC_OK)
        print_error("%s\n", lc_err_text());
    assert_int_equal(err, LC_OK);
    lc_raw_file_close(raw);
    struct lc_cubex *cube;
    assert_int_equal(lc_cubex_open(&cube, path), LC_OK);
    unlink(path);
    unlink(raw_path);
    rmdir(directory);
    return cube;
}

static void expect(struct lc_cubex *cube, const char *metric, const char *path, double rank0,
                   double rank1) {
    const struct lc_model *model = lc_cubex_model(cube);
    uint32_t id = lc_model_find_metric(model, metric);
    double sum[RANKS] = {0}, values[RANKS];
    int found = 0;
    assert_int_not_equal(id, LC_NONE);
    assert_int_equal(model->n_locations, RANKS);
    for (uint32_t c = 0; c < model->n_cnodes; c++) {
        char *own = lc_model_callpath(model, c);
        assert_non_null(own);
        if (strcmp(own, path) == 0) {
            assert_int_equal(lc_cubex_row(cube, id, c, values), LC_OK);
            for (int r = 0; r < RANKS; r++)
                sum[r] += values[r];
            found++;
        }
        free(own);
    }
    if (found != 1)
        print_error("%s is there %d times\n", path, found);
    assert_int_equal(found, 1); /* equal names are one node */
    if (sum[0] < rank0 - 1e-9 || sum[0] > rank0 + 1e-9 || sum[1] < rank1 - 1e-9 ||
        sum[1] > rank1 + 1e-9)
        fail_msg("%s at %s: %.9f %.9f, expected %.9f %.9f", metric, path, sum[0], sum[1], rank0,
                 rank1);
    assert_true(sum[2] == 0.0);
}

/* Calls on communicators of one member and of other sizes do not make the minimum of a call path;
 * what calls that complete several requests took is apart. */
static void estimates_stay_apart(void **state) {
    (void)state;
    enum { SELF = 1 << LC_RAW_ROW_COMM_SHIFT, TWO = 2 << LC_RAW_ROW_COMM_SHIFT };
    enum { FOUR = 4 << LC_RAW_ROW_COMM_SHIFT };
    struct builder b;
    json_t *meta;
    begin(&b);
    uint32_t f = frame(&b, b.in_main, 0x2000, 0);
    uint32_t allreduce = call(&b, f, "MPI_Allreduce"), barrier = call(&b, f, "MPI_Barrier");
    uint32_t waitall = call(&b, f, "MPI_Waitall"), wait = call(&b, f, "MPI_Wait");
    row(&b, allreduce, 1, 4, SELF, 100, 100, 1); /* for oneself: no estimate, no minimum */
    row(&b, allreduce, 1, 4, FOUR, 10, 300, 20);
    row(&b, allreduce, 0, 4, FOUR, 10, 250, 24);
    row(&b, allreduce, 0, 4, TWO, 4, 40, 5);
    row(&b, barrier, 1, 0, LC_RAW_COMM_MOST << LC_RAW_ROW_COMM_SHIFT, 3, 30, 8);
    row(&b, barrier, 0, 0, FOUR, 2, 4, 1);
    row(&b, waitall, 1, 4, LC_RAW_ROW_RECV, 4, 90, 2);
    row(&b, waitall, 1, 4, LC_RAW_ROW_SEND, 2, 10, 1);
    row(&b, waitall, 1, 4, 0, 7, 70, 1);
    row(&b, wait, 1, 4, LC_RAW_ROW_RECV, 2, 20, 6);
    time_row(&b, b.root, 1, 1000);
    struct lc_cubex *cube = convert(&b, &meta);
    const char *const path = "main/app+0x2000/";
    char at[4][64];
    static const char *const functions[] = {"MPI_Allreduce", "MPI_Barrier", "MPI_Waitall",
                                            "MPI_Wait"};
    for (int i = 0; i < 4; i++)
        snprintf(at[i], sizeof at[i], "%s%s", path, functions[i]);
    expect(cube, "mpi_wait_nxn_estimated", at[0], (300 - 10 * 20) * 1e-3,
           (250 - 10 * 20 + 40 - 4 * 5) * 1e-3);
    expect(cube, "mpi_barrier_wait_estimated", at[1], (30 - 3 * 8) * 1e-3, (4 - 2 * 1) * 1e-3);
    expect(cube, "mpi_waitall_estimated", at[2], (90 - 4 * 2 + 10 - 2 * 1) * 1e-3, 0);
    expect(cube, "mpi_latesender_estimated", at[2], 0, 0);
    expect(cube, "mpi_latereceiver_estimated", at[2], 0, 0);
    expect(cube, "mpi_latesender_estimated", at[3], (20 - 2 * 6) * 1e-3, 0);
    lc_cubex_close(cube);
    json_decref(meta);
}

static void estimates_follow_the_formulas(void **state) {
    (void)state;
    struct builder b;
    json_t *meta;
    begin(&b);
    uint32_t f = frame(&b, b.in_main, 0x2000, 0), g = frame(&b, b.in_main, 0x3000, 0);
    uint32_t recv_f = call(&b, f, "MPI_Recv"), recv_g = call(&b, g, "MPI_Recv");
    uint32_t allreduce = call(&b, f, "MPI_Allreduce"), bcast = call(&b, f, "MPI_Bcast");
    uint32_t reduce = call(&b, f, "MPI_Reduce"), ssend = call(&b, f, "MPI_Ssend");
    uint32_t wait = call(&b, f, "MPI_Wait"), barrier = call(&b, f, "MPI_Barrier");
    /* Locations: 0 is rank 1, 1 is rank 0. Late sender: M_p over both call paths, classes apart. */
    row(&b, recv_f, 1, 4, 0, 3, 30, 5);
    row(&b, recv_g, 1, 4, 0, 2, 20, 2);
    row(&b, recv_g, 1, 5, 0, 2, 20, 8);
    row(&b, recv_f, 0, 4, 0, 1, 50, 50); /* only call on rank 1: hidden in its minimum */
    /* NxN, barrier: the minimum of all processes. */
    row(&b, allreduce, 1, 4, 0, 10, 10, 1);
    row(&b, allreduce, 0, 4, 0, 10, 60, 4);
    row(&b, barrier, 1, 0, 0, 2, 12, 6);
    row(&b, barrier, 0, 0, 0, 2, 4, 2);
    /* Root calls have a minimum of their own; only others wait for a broadcast, only the root for a
     * reduce. */
    row(&b, bcast, 1, 4, LC_RAW_ROW_ROOT, 5, 5, 1);
    row(&b, bcast, 0, 4, 0, 5, 100, 3);
    row(&b, reduce, 1, 4, LC_RAW_ROW_ROOT, 5, 50, 4);
    row(&b, reduce, 0, 4, 0, 5, 5, 1);
    /* Late receiver. Waits: receiving and sending ones apart; both: late sender; neither: nothing.
     */
    row(&b, ssend, 1, 4, 0, 4, 40, 7);
    row(&b, wait, 1, 4, LC_RAW_ROW_RECV, 2, 20, 6);
    row(&b, wait, 1, 4, LC_RAW_ROW_SEND, 2, 10, 1);
    row(&b, wait, 1, 4, LC_RAW_ROW_RECV | LC_RAW_ROW_SEND, 1, 9, 9);
    row(&b, wait, 1, 4, 0, 100, 100, 0);
    time_row(&b, b.root, 1, 1000);
    struct lc_cubex *cube = convert(&b, &meta);
    const char *const app = "main/app+0x2000", *const other = "main/app+0x3000";
    char path[8][64];
    static const char *const functions[] = {"MPI_Recv",   "MPI_Allreduce", "MPI_Bcast",
                                            "MPI_Reduce", "MPI_Ssend",     "MPI_Wait",
                                            "MPI_Barrier"};
    for (int i = 0; i < 7; i++)
        snprintf(path[i], sizeof path[i], "%s/%s", app, functions[i]);
    snprintf(path[7], sizeof path[7], "%s/MPI_Recv", other);
    expect(cube, "mpi_latesender_estimated", path[0], (30 - 3 * 2) * 1e-3, 0);
    expect(cube, "mpi_latesender_estimated", path[7], (20 - 2 * 2 + 20 - 2 * 8) * 1e-3, 0);
    expect(cube, "mpi_wait_nxn_estimated", path[1], 0, (60 - 10 * 1) * 1e-3);
    expect(cube, "mpi_barrier_wait_estimated", path[6], (12 - 2 * 2) * 1e-3, 0);
    expect(cube, "mpi_latebroadcast_estimated", path[2], 0, (100 - 5 * 3) * 1e-3);
    expect(cube, "mpi_earlyreduce_estimated", path[3], (50 - 5 * 4) * 1e-3, 0);
    expect(cube, "mpi_latereceiver_estimated", path[4], (40 - 4 * 7) * 1e-3, 0);
    expect(cube, "mpi_latesender_estimated", path[5], (20 - 2 * 6 + 9 - 6) * 1e-3, 0);
    expect(cube, "mpi_latereceiver_estimated", path[5], (10 - 2 * 1) * 1e-3, 0);
    /* What the local minimum of rank 1 may hide: 50 ms against the 2 ms of rank 0. */
    json_t *recv = json_object_get(json_object_get(meta, "estimates"), "MPI_Recv");
    assert_true(json_number_value(json_object_get(recv, "hidden_at_most_s")) > 0.04799);
    assert_int_equal(json_integer_value(json_object_get(recv, "rank")), 1);
    lc_cubex_close(cube);
    json_decref(meta);
}

static void times_and_counts(void **state) {
    (void)state;
    struct builder b;
    json_t *meta;
    begin(&b);
    uint32_t f = frame(&b, b.in_main, 0x2000, 0);
    uint32_t send = call(&b, f, "MPI_Send"), waitall = call(&b, f, "MPI_Waitall");
    uint32_t scan = call(&b, b.root, "MPI_Scan"); /* paths unknown: below main */
    uint32_t worker = frame(&b, b.root, 0x9000, LC_RAW_NODE_MAIN);
    (void)worker;
    time_row(&b, b.root, 1, 7);
    time_row(&b, b.in_main, 1, 5);
    time_row(&b, f, 1, 3);
    row(&b, send, 1, 4, 0, 4, 2, 1);
    row(&b, send, 1, 0, LC_RAW_ROW_NULL, 1, 1, 1);
    row(&b, scan, 0, 4, 3 << LC_RAW_ROW_COMM_SHIFT, 2, 8, 3);
    struct lc_raw_row messages = {.node = waitall,
                                  .location = 1,
                                  .size_class = LC_RAW_CLASS_MESSAGES,
                                  .count = 6,
                                  .sum_ns = 2,
                                  .min_ns = 0,
                                  .max_ns = 1};
    assert_int_equal(lc_raw_add_row(b.raw, &messages), LC_OK);
    struct lc_raw_value value = {
        .metric = name(&b, "mpi_latesender"), .node = waitall, .location = 1, .value = 0.25};
    assert_int_equal(lc_raw_add_value(b.raw, &value), LC_OK);
    value.metric = name(&b, "no such metric");
    assert_int_equal(lc_raw_add_value(b.raw, &value), LC_OK);
    b.raw->pop = strdup("{\"parallel_efficiency\": 0.5}");
    struct lc_cubex *cube = convert(&b, &meta);
    expect(cube, "time", "main", (7 + 5 + 3 + 2 + 1) * 1e-3, 8e-3);
    expect(cube, "time", "main/app+0x2000", (3 + 2 + 1) * 1e-3, 0);
    expect(cube, "time", "main/MPI_Scan", 0, 8e-3);
    expect(cube, "visits", "main/app+0x2000/MPI_Send", 5, 0);
    expect(cube, "min_time", "main/app+0x2000/MPI_Send", 1e-3, 0);
    expect(cube, "max_time", "main/app+0x2000/MPI_Send", 2e-3, 0);
    expect(cube, "comms_send", "main/app+0x2000/MPI_Send", 4, 0);
    expect(cube, "syncs_send", "main/app+0x2000/MPI_Waitall", 1, 0);
    expect(cube, "comms_recv", "main/app+0x2000/MPI_Waitall", 6, 0);
    expect(cube, "syncs_recv", "main/app+0x2000/MPI_Waitall", 2, 0);
    expect(cube, "visits", "main/app+0x2000/MPI_Waitall", 0, 0);
    expect(cube, "bytes_cin", "main/MPI_Scan", 0, 20);
    expect(cube, "comms_cdst", "main/MPI_Scan", 0, 2);
    expect(cube, "mpi_latesender", "main/app+0x2000/MPI_Waitall", 0.25, 0);
    assert_non_null(lc_model_attr(lc_cubex_model(cube), "latecomer.pop"));
    assert_non_null(lc_model_attr(lc_cubex_model(cube), "latecomer.meta"));
    const char *table;
    size_t bytes;
    assert_int_equal(lc_cubex_misc(cube, "size_classes.tsv", &table, &bytes), LC_OK);
    char *text = strndup(table, bytes);
    assert_non_null(
        strstr(text, "main/MPI_Scan\t1\t4\t2\t0.008000000\t0.003000000\t0.008000000\t20\t3\t0\n"));
    assert_null(strstr(text, "Waitall"));
    free(text);
    lc_cubex_close(cube);
    json_decref(meta);
}

static void sample_row(struct builder *b, uint32_t node, uint32_t location, uint64_t count,
                       uint64_t sum_ms) {
    struct lc_raw_row made = {.node = node,
                              .location = location,
                              .size_class = LC_RAW_CLASS_SAMPLES,
                              .count = count,
                              .sum_ns = sum_ms * MS};
    if (count != 0 && !lc_raw_is_off_cpu(b->raw->nodes[node].offset))
        made.max_ns = count * (sum_ms * 1000 / count) * (sum_ms * 1000 / count);
    assert_int_equal(lc_raw_add_row(b->raw, &made), LC_OK);
}

static uint32_t sampled(struct builder *b, uint32_t parent, uint64_t offset) {
    return add_node(b, parent, LC_RAW_SAMPLED, b->module, offset, 0);
}

/* On the critical path of rank 0. */
static void path_value(struct builder *b, uint32_t node, double seconds) {
    struct lc_raw_value value = {.node = node, .location = 1, .value = seconds};
    assert_int_equal(lc_raw_add_name(b->raw, "critical_path_useful", &value.metric), LC_OK);
    assert_int_equal(lc_raw_add_value(b->raw, &value), LC_OK);
}

/* 100 ms of main on rank 0: 20 ms off the processor, the rest 10 : 27 : 3 of its samples; one of 2
 * samples has no name. Sums stay. */
static void samples_split_the_time_of_exact_nodes(void **state) {
    (void)state;
    struct builder b;
    json_t *meta;
    begin(&b);
    uint32_t solve = sampled(&b, b.in_main, 0x2000), rare = sampled(&b, b.in_main, 0x3000);
    uint32_t inner = sampled(&b, solve, 0x4000);
    uint32_t off = add_node(&b, b.in_main, LC_RAW_SAMPLED, LC_NONE, LC_RAW_OFF_CPU, 0);
    uint32_t preempted = add_node(&b, b.in_main, LC_RAW_SAMPLED, LC_NONE, LC_RAW_PREEMPTED, 0);
    uint32_t self = add_node(&b, b.in_main, LC_RAW_SAMPLED, LC_NONE, LC_RAW_SELF, 0);
    time_row(&b, b.in_main, 1, 100);
    time_row(&b, b.in_main, 0, 50); /* rank 1 has no samples */
    sample_row(&b, b.in_main, 1, 10, 20);
    sample_row(&b, solve, 1, 20, 40);
    sample_row(&b, inner, 1, 8, 16);
    sample_row(&b, rare, 1, 2, 4);
    sample_row(&b, off, 1, 3, 20);
    sample_row(&b, preempted, 1, 1, 0); /* below 1 %: not shown */
    path_value(&b, solve, 0.03);
    path_value(&b, self, 0.01);
    path_value(&b, off, 0.02);
    struct lc_cubex *cube = convert(&b, &meta);
    expect(cube, "time", "main", 0.1, 0.05);
    expect(cube, "time", "main/app+0x2000", 0.08 * 28 / 40, 0);
    expect(cube, "time", "main/app+0x2000/app+0x4000", 0.08 * 8 / 40, 0);
    expect(cube, "time", "main/(unresolved)", 0.08 * 2 / 40, 0);
    expect(cube, "time", "main/(off CPU)", 0.02, 0);
    const struct lc_model *model = lc_cubex_model(cube);
    assert_int_equal(model->n_cnodes, 5);
    for (uint32_t c = 1; c < model->n_cnodes; c++)
        assert_string_equal(model->regions[model->cnodes[c].region].paradigm, "sampling");
    const char *table;
    size_t bytes;
    assert_int_equal(lc_cubex_misc(cube, "samples.tsv", &table, &bytes), LC_OK);
    /* sqrt(p (1 - p) / 40) of 80 ms, p = 29 / 42; on the path sqrt(p (1 - p) / 20) of 40 ms,
     * p = 16 / 22; half of it beyond the mean of two ranks, with half the error */
    static const char line[] = "main/app+0x2000\t28\t0.056000000\t0.005847650\t\t"
                               "0.030000000\t0.003983437\t0.028000000\t0.002923825\n";
    assert_non_null(memmem(table, bytes, line, strlen(line)));
    static const char measured[] = "main/(off CPU)\t0\t0.020000000\t0.000000000\t\t"
                                   "0.020000000\t0.000000000\t0.010000000\t0.000000000\n";
    assert_non_null(memmem(table, bytes, measured, strlen(measured)));
    assert_int_equal(json_integer_value(json_object_get(meta, "samples")), 40);
    lc_cubex_close(cube);
    json_decref(meta);
}

/* 100 ms of main: 10 samples in `solve`, and as much time off the processor, which was seen in some
 * windows of time only: each has half, as an estimate. */
static void time_off_the_processor_may_be_an_estimate(void **state) {
    (void)state;
    struct builder b;
    json_t *meta;
    begin(&b);
    uint32_t solve = sampled(&b, b.in_main, 0x2000);
    uint32_t off = add_node(&b, b.in_main, LC_RAW_SAMPLED, LC_NONE, LC_RAW_PREEMPTED, 0);
    time_row(&b, b.in_main, 1, 100);
    sample_row(&b, solve, 1, 10, 20);
    struct lc_raw_row seen = {.node = off,
                              .location = 1,
                              .size_class = LC_RAW_CLASS_SAMPLES,
                              .count = 10,
                              .sum_ns = 20 * MS,
                              .max_ns = 10 * 2000 * 2000};
    assert_int_equal(lc_raw_add_row(b.raw, &seen), LC_OK);
    struct lc_cubex *cube = convert(&b, &meta);
    expect(cube, "time", "main/app+0x2000", 0.05, 0);
    expect(cube, "time", "main/(preempted)", 0.05, 0);
    const char *table;
    size_t bytes;
    assert_int_equal(lc_cubex_misc(cube, "samples.tsv", &table, &bytes), LC_OK);
    /* sqrt(p (1 - p) / 20) of 100 ms, p = 1 / 2 */
    static const char line[] = "main/(preempted)\t0\t0.050000000\t0.011180340\t";
    assert_non_null(memmem(table, bytes, line, strlen(line)));
    assert_int_equal(json_integer_value(json_object_get(meta, "samples")), 10);
    lc_cubex_close(cube);
    json_decref(meta);
}

static uint32_t program(struct builder *b, const char *id) {
    return add_node(b, b->root, LC_RAW_PROGRAM, name(b, id), 0, 0);
}

/* Rank 0 runs `mesh`, rank 1 `particles`; both have MPI_Barrier in main, and one without a call
 * path. */
static void programs_stay_apart(void **state) {
    (void)state;
    struct builder b;
    json_t *meta;
    begin(&b);
    uint32_t tops[2] = {program(&b, "/opt/particles"), program(&b, "/opt/mesh")};
    for (uint32_t location = 0; location < 2; location++) {
        uint32_t in_main = frame(&b, tops[location], 0x1000, LC_RAW_NODE_MAIN);
        row(&b, call(&b, in_main, "MPI_Barrier"), location, 0, 0, 1, 10 + location, 1);
        row(&b, call(&b, tops[location], "MPI_Send"), location, 4, 0, 1, 20 + location, 1);
        time_row(&b, tops[location], location, 100 + location);
        struct lc_raw_value value = {.metric = name(&b, "mpi_barrier_wait"),
                                     .node = tops[location],
                                     .location = location,
                                     .value = 0.5 + location};
        assert_int_equal(lc_raw_add_value(b.raw, &value), LC_OK);
    }
    b.raw->pop = strdup("{\"parallel_efficiency\": 0.5}");
    struct lc_cubex *cube = convert(&b, &meta);
    expect(cube, "visits", "mesh/main/MPI_Barrier", 1, 0);
    expect(cube, "visits", "particles/main/MPI_Barrier", 0, 1);
    expect(cube, "time", "mesh/main/MPI_Send", 0.021, 0);
    expect(cube, "time", "particles/main/MPI_Send", 0, 0.020);
    expect(cube, "time", "mesh/main", 0.101 + 0.021 + 0.011, 0);
    expect(cube, "time", "particles/main", 0, 0.100 + 0.020 + 0.010);
    expect(cube, "mpi_barrier_wait", "mesh/main", 1.5, 0);
    expect(cube, "mpi_barrier_wait", "particles/main", 0, 0.5);
    char *text = json_dumps(json_object_get(meta, "programs"), JSON_COMPACT);
    assert_string_equal(text, "[\"particles\",\"mesh\"]");
    free(text);
    text = json_dumps(json_object_get(meta, "program_of_rank"), JSON_COMPACT);
    assert_string_equal(text, "[1,0,null]"); /* rank 2 left nothing */
    free(text);
    lc_cubex_close(cube);
    json_decref(meta);
}

/* All ranks run the same program, though on disks of their own: call paths begin at main. */
static void one_program_is_not_shown(void **state) {
    (void)state;
    struct builder b;
    json_t *meta;
    begin(&b);
    uint32_t tops[2] = {program(&b, "/tmp/n0/app\nab12"), program(&b, "/tmp/n1/app\nab12")};
    for (uint32_t location = 0; location < 2; location++) {
        uint32_t in_main = frame(&b, tops[location], 0x1000, LC_RAW_NODE_MAIN);
        row(&b, call(&b, in_main, "MPI_Barrier"), location, 0, 0, 1, 10 + location, 1);
        time_row(&b, tops[location], location, 100 + location);
    }
    struct lc_cubex *cube = convert(&b, &meta);
    expect(cube, "visits", "main/MPI_Barrier", 1, 1);
    expect(cube, "time", "main", 0.112, 0.110);
    assert_int_equal(lc_cubex_model(cube)->n_cnodes, 2);
    assert_null(json_object_get(meta, "programs"));
    lc_cubex_close(cube);
    json_decref(meta);
}

/* A damaged file: the root is a sampled node. */
static void sampled_root_is_survived(void **state) {
    (void)state;
    struct builder b;
    json_t *meta;
    begin(&b);
    sample_row(&b, b.root, 1, 10, 20);
    sample_row(&b, sampled(&b, b.in_main, 0x2000), 1, 10, 20);
    time_row(&b, b.in_main, 1, 100);
    b.raw->nodes[0].kind = LC_RAW_SAMPLED;
    b.raw->nodes[0].ref = LC_NONE;
    b.raw->nodes[0].offset = LC_RAW_SELF;
    struct lc_cubex *cube = convert(&b, &meta);
    assert_true(lc_cubex_model(cube)->n_cnodes > 0);
    lc_cubex_close(cube);
    json_decref(meta);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_split_the_time_of_exact_nodes),
        cmocka_unit_test(time_off_the_processor_may_be_an_estimate),
        cmocka_unit_test(sampled_root_is_survived),
        cmocka_unit_test(estimates_follow_the_formulas),
        cmocka_unit_test(estimates_stay_apart),
        cmocka_unit_test(times_and_counts),
        cmocka_unit_test(programs_stay_apart),
        cmocka_unit_test(one_program_is_not_shown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
