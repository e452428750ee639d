/* The fingerprint: numbers by hand, written and read again, intervals that keep their level, files
 * that are not what they say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
/* after those */
#include <cmocka.h>

#include "bench/fingerprint.h"
#include "bench/fingerprint_svg.h"
#include "bench/fingerprint_text.h"
#include "bench/precise.h"
#include "bench/runs_import.h"

#include "synthetic.h"

static struct lc_fingerprint *make(const double *runs, size_t n) {
    struct lc_fingerprint *f;
    double *copy = malloc(n * sizeof *copy);
    memcpy(copy, runs, n * sizeof *copy);
    assert_int_equal(lc_fingerprint_new(&f, "MPI_Bcast", 8, 4, copy, n, NULL), LC_OK);
    return f;
}

static void test_numbers(void **state) {
    (void)state;
    double runs[101];
    for (int i = 0; i <= 100; i++)
        runs[i] = 1000 + 10 * ((i * 37) % 101); /* 1000 to 2000, in disorder */
    struct lc_fingerprint *f = make(runs, 101);
    assert_true(f->median.value == 1500 && f->mean == 1500 && f->quantiles[0] == 1010);
    assert_true(f->box.q1 == 1250 && f->box.q3 == 1750 && f->box.low == 1000);
    assert_true(f->box.high == 2000 && f->box.outside == 0);
    assert_true(f->median.low > 1350 && f->median.high < 1650);
    size_t sum = 0;
    for (int i = 0; i < LC_FINGERPRINT_BINS; i++)
        sum += f->all.counts[i];
    assert_int_equal(sum, 101);
    assert_int_equal(f->of[LC_CATEGORY_FIRST].count, 1);
    assert_int_equal(f->of[LC_CATEGORY_GOOD].count, 100);
    lc_fingerprint_free(f);
    double one = 5;
    f = make(&one, 1);
    assert_true(f->median.value == 5 && f->median.low == 5 && f->box.high == 5);
    lc_fingerprint_free(f);
}

static void test_read_again(void **state) {
    (void)state;
    char file[] = "/tmp/test_fingerprintXXXXXX";
    close(mkstemp(file));
    double runs[300];
    for (int i = 0; i < 300; i++)
        runs[i] = 3000 * skewed(0.05) * (i < 40 ? 2 : 1);
    struct lc_fingerprint *f = make(runs, 300), *again;
    json_t *written = lc_fingerprint_json(f);
    assert_int_equal(lc_bench_write_json(written, file), LC_OK);
    assert_int_equal(lc_fingerprint_read(file, &again), LC_OK);
    json_t *second = lc_fingerprint_json(again);
    assert_true(json_equal(written, second));
    assert_int_equal(f->warmup.end, 40);
    assert_int_equal(json_integer_value(json_object_get(json_object_get(second, "warmup"), "end")),
                     40);
    json_decref(written);
    json_decref(second);
    lc_fingerprint_free(f);
    lc_fingerprint_free(again);
    remove(file);
}

static char *text_of(const char *file) {
    char *text = calloc(1, 1 << 20);
    FILE *in = fopen(file, "re");
    assert_non_null(in);
    assert_true(fread(text, 1, (1 << 20) - 1, in) > 0);
    fclose(in);
    return text;
}

static int count_of(const char *text, const char *what) {
    int n = 0;
    for (const char *at = text; (at = strstr(at, what)) != NULL; at++)
        n++;
    return n;
}

/* Both sheets: nodes with tasks, each repetition once, ranks, the counter that goes with the run
 * time (not the one that is constant), parameters, what is no markup. */
static void test_sheets(void **state) {
    (void)state;
    enum { REPS = 100, COUNTED = 25, PARAMETERS = 500, COUNTERS = 9 };
    char file[] = "/tmp/test_fingerprintXXXXXX";
    struct lc_fingerprint *f;
    double *runs = malloc(REPS * sizeof *runs);
    json_t *values = json_array(), *counted_runs = json_array(), *at = json_array(),
           *category = json_array(), *constant = json_array();
    for (int i = 0; i < REPS; i++)
        runs[i] = 1000 + i;
    for (int i = 0; i < COUNTED; i++) {
        json_array_append_new(values, json_integer(i % 5));
        json_array_append_new(constant, json_integer(3));
        json_array_append_new(counted_runs, json_real(1500 + i));
        json_array_append_new(at, json_integer(4 * (i + 1)));
        json_array_append_new(category, json_string(i == 7 ? "outlier" : "good"));
    }
    json_t *about = json_pack(
        "{s:[{s:s, s:[i, i]}, {s:s, s:[i, i]}], s:[{s:f, s:f, s:f, s:f}, {s:f, s:f, s:f, s:f}], "
        "s:{s:o, s:o, s:o}, s:{s:{s:s, s:o, s:{s:f, s:n}}, s:{s:s, s:o, s:{s:n}}}, "
        "s:{s:s, s:{s:s}}, s:{s:s, s:i, s:b, s:[s]}}",
        "nodes", "name", "n1", "ranks", 0, 1, "name", "n2", "ranks", 2, 3, "per_rank", "min_ns",
        1000.0, "median_ns", 1050.0, "q95_ns", 1095.0, "last_share", 0.25, "min_ns", 990.0,
        "median_ns", 1040.0, "q95_ns", 1090.0, "last_share", 0.75, "counted", "runs_ns",
        counted_runs, "at", at, "category", category, "counters", "misses", "series", "counted",
        "values", values, "spearman", "all", 0.5, "good", "switches", "series", "counted", "values",
        constant, "spearman", "all", "mpi", "name", "Open MPI", "parameters", "algorithm<", "ring",
        "benchmark", "sync", "roundtime", "root", 3, "in_place", 1, "command", "latecomer");
    assert_non_null(about);
    assert_int_equal(lc_fingerprint_new(&f, "MPI_Bcast", 8, 4, runs, REPS, about), LC_OK);
    close(mkstemp(file));
    assert_int_equal(lc_fingerprint_svg(f, file), LC_OK);
    char *sheet = text_of(file);
    assert_non_null(strstr(sheet, "4 ranks on 2 nodes, 2 per node; nodes: n1 (2) n2 (2)"));
    assert_int_equal(count_of(sheet, "h0"), 2 * REPS); /* all data, and without outliers */
    /* the first one has its colour in the legend and in both histograms */
    assert_int_equal(count_of(sheet, "fill=\"#cc79a7\""), 3);
    free(sheet);
    assert_int_equal(lc_details_svg(f, file), LC_OK);
    sheet = text_of(file);
    assert_int_equal(count_of(sheet, "</svg>"), 1);
    assert_non_null(strstr(sheet, ">rank 1<"));
    assert_non_null(strstr(sheet, ">75 %<"));
    assert_non_null(strstr(sheet, ">misses over repetitions<"));
    assert_null(strstr(sheet, "switches"));
    assert_non_null(strstr(sheet, "Spearman: all +0.50"));
    assert_int_equal(count_of(sheet, "h0"), 2 * COUNTED); /* over repetitions, against the time */
    assert_non_null(strstr(sheet, "algorithm&lt; = ring"));
    assert_non_null(strstr(sheet, ">root = 3<"));
    assert_non_null(strstr(sheet, ">in_place = yes<"));
    assert_non_null(strstr(sheet, "height=\"297mm\""));
    free(sheet);
    json_t *parameters = json_object_get(json_object_get(f->about, "mpi"), "parameters");
    for (int i = 0; i < PARAMETERS; i++) { /* more than one page holds */
        char name[32];
        snprintf(name, sizeof name, "parameter_%d", i);
        json_object_set_new(parameters, name, json_string("set"));
    }
    assert_int_equal(lc_details_svg(f, file), LC_OK);
    sheet = text_of(file);
    assert_int_equal(count_of(sheet, ">parameter_"), PARAMETERS);
    assert_non_null(strstr(sheet, "height=\"891mm\""));
    free(sheet);
    assert_int_equal(lc_phases_svg(f, file), LC_OK);
    sheet = text_of(file);
    assert_int_equal(count_of(sheet, "h0"), REPS);
    assert_int_equal(count_of(sheet, "fill=\"none\" stroke="), 2 * 5); /* metrics, and changes */
    assert_non_null(strstr(sheet, "no warm-up"));
    free(sheet);
    json_object_clear(parameters);
    json_t *counters = json_object_get(f->about, "counters");
    for (int i = 0; i < COUNTERS; i++) { /* as above */
        char name[32];
        snprintf(name, sizeof name, "counter_%d", i);
        json_object_set(counters, name, json_object_get(counters, "misses"));
    }
    assert_int_equal(lc_details_svg(f, file), LC_OK);
    sheet = text_of(file);
    assert_int_equal(count_of(sheet, " over repetitions<"), COUNTERS + 1);
    assert_non_null(strstr(sheet, "height=\"594mm\""));
    free(sheet);
    remove(file);
    lc_fingerprint_free(f);
}

/* Categories have colours: points of the series, bars of the histogram, names. 39 repetitions of
 * the warm-up and the first one are in its last bar, good ones in its first. */
static void test_colours(void **state) {
    (void)state;
    double runs[100];
    char *text;
    size_t length;
    for (int i = 0; i < 100; i++)
        runs[i] = i < 40 ? 1500 : i == 70 ? 5000 : 1000 + i % 3;
    struct lc_fingerprint *f = make(runs, 100);
    struct lc_bench_page page = {.width = 80,
                                 .bold = "",
                                 .alarm = "",
                                 .plain = "</>",
                                 .category = {"<f>", "<w>", "<o>", "<g>"}};
    for (int coloured = 1; coloured >= 0; coloured--) {
        text = NULL;
        page.out = open_memstream(&text, &length);
        for (int c = 0; c < LC_CATEGORIES && coloured == 0; c++)
            page.category[c] = "";
        if (coloured == 0)
            page.plain = "";
        assert_int_equal(lc_fingerprint_text(f, &page), LC_OK);
        fclose(page.out);
        assert_int_equal(strchr(text, '<') != NULL, coloured);
        if (coloured) {
            assert_non_null(strstr(text, "<w>warmup  </>"));
            assert_non_null(strstr(text, "1.45 us |<w>####"));
            assert_non_null(strstr(text, "#</><f>#</> 40.0 %"));
            assert_non_null(strstr(text, "1 us |<g>####"));
            assert_int_equal(count_of(text, "<o>*"), 1); /* in the series */
        }
        free(text);
    }
    json_t *o = lc_fingerprint_json(f);
    const json_t *bins =
        json_object_get(json_object_get(json_object_get(o, "histogram"), "zoom"), "categories");
    assert_int_equal(json_integer_value(
                         json_array_get(json_object_get(bins, "warmup"), LC_FINGERPRINT_BINS - 1)),
                     39);
    assert_int_equal(json_integer_value(json_array_get(json_object_get(bins, "good"), 0)), 59);
    const json_t *minimum = json_object_get(json_object_get(o, "cumulative"), "cumulative_minimum");
    assert_int_equal(json_array_size(json_object_get(minimum, "ns")), 100);
    assert_true(fabs(json_number_value(json_array_get(json_object_get(minimum, "delta"), 40)) +
                     499 / f->median.value) < 1e-9); /* from 1500 to 1001 */
    json_decref(o);
    lc_fingerprint_free(f);
}

/* Series that remember: the 95 % interval of median and 95 % quantile covers the truth. */
static void test_coverage(void **state) {
    (void)state;
    enum { TIMES = 400, N = 600 };
    int covered = 0, tail = 0;
    synthetic_state = first_seed(5);
    for (int t = 0; t < TIMES; t++) {
        double runs[N], level = gauss();
        for (int i = 0; i < N; i++) {
            level = 0.7 * level + sqrt(1 - 0.49) * gauss();
            runs[i] = 1000 * exp(0.1 * level);
        }
        struct lc_quantile_interval q;
        assert_int_equal(lc_dependent_quantile(runs, N, 0.5, &q), LC_OK);
        covered += q.low <= 1000 && q.high >= 1000;
        assert_int_equal(lc_dependent_quantile(runs, N, 0.95, &q), LC_OK);
        tail += q.low <= 1000 * exp(0.1 * 1.644854) && q.high >= 1000 * exp(0.1 * 1.644854);
    }
    print_message("coverage: median %d, 95 %% %d of %d\n", covered, tail, TIMES);
    assert_true(covered >= 0.91 * TIMES && tail >= 0.90 * TIMES);
}

/* A slow first repetition and a warm-up do not keep a measurement from being precise; a wide
 * distribution does. */
static void test_precise(void **state) {
    (void)state;
    enum { N = 600, WARM = 100 };
    double runs[N];
    bool enough;
    synthetic_state = first_seed(12);
    for (int i = 0; i < N; i++)
        runs[i] = (i == 0 ? 90000 : i < WARM ? 3000 : 1000) * exp(0.005 * gauss());
    assert_int_equal(lc_precise_enough(runs, N, 0.02, &enough), LC_OK);
    assert_true(enough);
    assert_int_equal(lc_precise_enough(runs, WARM + 40, 0.02, &enough), LC_OK);
    assert_false(enough); /* 40 without the warm-up */
    for (int i = WARM; i < N; i++)
        runs[i] = 1000 * exp(0.5 * gauss());
    assert_int_equal(lc_precise_enough(runs, N, 0.02, &enough), LC_OK);
    assert_false(enough);
}

static enum lc_err read_text(const char *text) {
    char file[] = "/tmp/test_fingerprintXXXXXX";
    struct lc_fingerprint *f = NULL;
    int fd = mkstemp(file);
    assert_true(write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    close(fd);
    enum lc_err err = lc_fingerprint_read(file, &f);
    assert_true((f == NULL) == (err != LC_OK));
    lc_fingerprint_free(f);
    remove(file);
    return err;
}

static void test_hostile(void **state) {
    (void)state;
#define HEAD "{\"format\": \"latecomer-fingerprint\", \"version\": 1, "
    assert_int_equal(read_text(""), LC_ERR_FORMAT);
    assert_int_equal(read_text("[1]"), LC_ERR_FORMAT);
    assert_int_equal(read_text("{\"format\": \"other\"}"), LC_ERR_FORMAT);
    assert_int_equal(read_text(HEAD "\"operation\": 3}"), LC_ERR_FORMAT);
    assert_int_equal(read_text(HEAD "\"operation\": \"a\", \"runs_ns\": []}"), LC_ERR_FORMAT);
    assert_int_equal(read_text(HEAD "\"operation\": \"a\", \"runs_ns\": [\"x\"]}"), LC_ERR_FORMAT);
    assert_int_equal(read_text(HEAD "\"operation\": \"a\", \"runs_ns\": [-1]}"), LC_ERR_FORMAT);
    assert_int_equal(read_text(HEAD "\"operation\": \"a\", \"bytes\": -2, \"runs_ns\": [1]}"),
                     LC_ERR_FORMAT);
    assert_int_equal(
        read_text(HEAD "\"operation\": \"a\", \"runs_ns\": [1, 2], \"warnings\": {\"a\": 1}, "
                       "\"per_rank\": 7}"),
        LC_OK);
    assert_int_equal(lc_fingerprint_read("/nowhere", &(struct lc_fingerprint *){NULL}), LC_ERR_IO);
}

static enum lc_err import_text(const char *text, struct lc_imported *imported) {
    char file[] = "/tmp/test_fingerprintXXXXXX";
    int fd = mkstemp(file);
    assert_true(write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    close(fd);
    enum lc_err err = lc_runs_import(file, imported);
    remove(file);
    return err;
}

static void test_import(void **state) {
    (void)state;
    struct lc_imported in;
    assert_int_equal(import_text("# ns\n10\n 20.5 \n\n30\n", &in), LC_OK);
    assert_true(in.n == 3 && in.runs[1] == 20.5 && in.ranks == 1);
    free(in.runs);
    assert_int_equal(import_text("operation,bytes,iteration,rank,metric,value\r\n"
                                 "MPI_Scan,16,1,0,runtime_ns,7\nMPI_Scan,16,0,1,runtime_ns,9\n"
                                 "MPI_Scan,16,0,0,runtime_ns,4\nMPI_Scan,16,0,0,other,99\n",
                                 &in),
                     LC_OK);
    assert_true(in.n == 2 && in.runs[0] == 9 && in.runs[1] == 7 && in.ranks == 2 && in.bytes == 16);
    assert_string_equal(in.operation, "MPI_Scan");
    free(in.runs);
    /* a repetition with counters has no run time */
    assert_int_equal(import_text("iteration,rank,metric,value\n0,0,runtime_ns,4\n"
                                 "1,0,counted_runtime_ns,90\n2,0,runtime_ns,6\n",
                                 &in),
                     LC_OK);
    assert_true(in.n == 2 && in.runs[0] == 4 && in.runs[1] == 6);
    free(in.runs);
    /* of ReproMPI: the second began late; then times of two processes */
    assert_int_equal(
        import_text("#MPI calls:\n#@nrep=3\n   test nrep msize errorcode  runtime_sec \n"
                    " MPI_Bcast 0 8 0 0.0000050\n MPI_Bcast 1 8 1 0.9000000\n"
                    " MPI_Bcast 2 8 0 0.0000060\n",
                    &in),
        LC_OK);
    assert_true(in.n == 2 && in.bytes == 8 && in.ranks == 1);
    assert_true(fabs(in.runs[0] - 5000) < 1e-6 && fabs(in.runs[1] - 6000) < 1e-6);
    assert_string_equal(in.operation, "MPI_Bcast");
    free(in.runs);
    assert_int_equal(import_text("process test nrep msize loc_tstart_sec loc_tend_sec\n"
                                 "0 MPI_Scan 1 16 1.000001 1.000004\n"
                                 "1 MPI_Scan 1 16 0.5 0.500009\n",
                                 &in),
                     LC_OK);
    assert_true(in.n == 1 && in.ranks == 2 && fabs(in.runs[0] - 9000) < 1e-3);
    free(in.runs);
    static const char *const bad[] = {"",
                                      "test nrep msize\nMPI_Bcast 0 8\n",
                                      "test nrep msize runtime_sec\nMPI_Bcast 0 8\n",
                                      "test nrep msize runtime_sec\nMPI_Bcast 0 8 fast\n",
                                      "test nrep msize runtime_sec\nMPI_Bcast x 8 0.1\n",
                                      ("test nrep msize runtime_sec\nMPI_Bcast 0 8 0.1\n"
                                       "MPI_Scan 0 8 0.1\n"),
                                      "abc\n",
                                      "1\nx\n",
                                      "0\n",
                                      "-4\n",
                                      "1e19\n",
                                      "nan\n",
                                      "iteration,rank,metric\n",
                                      "iteration,rank,metric,value\n0,0,runtime_ns\n",
                                      "iteration,rank,metric,value\n1,0,runtime_ns,4\n",
                                      "iteration,rank,metric,value\n1e12,0,runtime_ns,4\n",
                                      "iteration,rank,metric,value\n0,-1,runtime_ns,4\n",
                                      "iteration,rank,metric,value\n0,0,other,4\n",
                                      "iteration,rank,metric,value\n0,0,counted_runtime_ns,4\n",
                                      ("iteration,rank,metric,value,bytes\n0,0,runtime_ns,4,1\n"
                                       "1,0,runtime_ns,4,2\n")};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(import_text(bad[i], &in), LC_ERR_FORMAT);
    /* no memory for more repetitions than the file has room for */
    assert_int_equal(import_text("iteration,rank,metric,value\n9999999,0,runtime_ns,4\n", &in),
                     LC_ERR_FORMAT);
    assert_non_null(strstr(lc_err_text(), "not a repetition"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers),  cmocka_unit_test(test_read_again),
        cmocka_unit_test(test_coverage), cmocka_unit_test(test_hostile),
        cmocka_unit_test(test_import),   cmocka_unit_test(test_sheets),
        cmocka_unit_test(test_precise),  cmocka_unit_test(test_colours)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
