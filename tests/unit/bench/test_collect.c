/* From what the ranks wrote to fingerprints: parts with known times and counters, two ranks. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
/* after those */
#include <cmocka.h>

#include "bench/bench_collect.h"
#include "bench/correlation.h"
#include "bench/fingerprint_text.h"
#include "bench/parts.h"
#include "bench/system_load.h"

#include "synthetic.h"

enum { RANKS = 2, EVERY = 4 };

static char folder[64];
static const char *cpus_of[RANKS] = {"0", "1"};

static void file_name(char *text, size_t size, const char *name) {
    snprintf(text, size, "%s/%s", folder, name);
}

static void begin(struct lc_part_writer *part, uint32_t rank, const char *node) {
    char parts[96];
    struct lc_part_hello hello = {
        .magic = LC_PART_MAGIC, .rank = rank, .size = RANKS, .node_ranks = RANKS, .cores = 1};
    snprintf(hello.node, sizeof hello.node, "%s", node);
    snprintf(hello.cpus, sizeof hello.cpus, "%s", cpus_of[rank]);
    file_name(parts, sizeof parts, "parts");
    (void)mkdir(parts, 0700);
    assert_int_equal(lc_part_open(part, parts, rank), LC_OK);
    assert_int_equal(lc_part_put(part, LC_PART_HELLO, &hello, sizeof hello), LC_OK);
}

/* A job with the counter "faults", which is read, and "gap", which every repetition has. */
static void begin_job(struct lc_part_writer *part, const char *operation) {
    struct lc_part_job head = {
        .bytes = 8, .n_counters = 2, .global = 1, .every = EVERY, .n_read = 1};
    snprintf(head.operation, sizeof head.operation, "%s", operation);
    snprintf(head.sync, sizeof head.sync, "roundtime");
    snprintf(head.counter[0], LC_PART_NAME, "faults");
    snprintf(head.counter[1], LC_PART_NAME, "gap");
    assert_int_equal(lc_part_put(part, LC_PART_JOB, &head, sizeof head), LC_OK);
}

static void put(struct lc_part_writer *part, int64_t start, int64_t end, bool counted,
                int64_t faults, int64_t gap) {
    const int64_t values[] = {start, end, counted, faults, gap};
    assert_int_equal(lc_part_put(part, LC_PART_REPS, values, sizeof values), LC_OK);
}

static void end_job(struct lc_part_writer *part, double residual_ns) {
    const struct lc_part_end end = {.stopped = "repetitions", .residual_ns = residual_ns};
    assert_int_equal(lc_part_put(part, LC_PART_END, &end, sizeof end), LC_OK);
}

static void end(struct lc_part_writer *part) {
    assert_int_equal(lc_part_flush(part), LC_OK);
    lc_part_close(part);
}

static bool function_at(void *context, const char *file, uint64_t address, struct lc_strbuf *name) {
    (void)context;
    if (strcmp(file, "/lib/libmpi.so") == 0)
        lc_strbuf_puts(name, address < 100 ? "MPI_Scan" : "progress");
    return name->length > 0;
}

static void collect(struct lc_collected *all) {
    json_t *settings = json_pack("{s:b, s:i}", "less_empty", 1, "repetitions_wanted", 45);
    const struct lc_code_names names = {function_at, NULL};
    assert_int_equal(lc_bench_collect(folder, settings, &names, all), LC_OK);
    json_decref(settings);
}

static const json_t *member(const struct lc_fingerprint *f, const char *object, const char *key) {
    return json_object_get(json_object_get(f->about, object), key);
}

static double item(const json_t *list, size_t i) {
    return json_number_value(json_array_get(list, i));
}

/* How many lines of runs.csv.zst begin so. */
static int lines(const char *beginning) {
    char command[160], line[256];
    int n = 0;
    snprintf(command, sizeof command, "zstd -dcq %s/runs.csv.zst", folder);
    FILE *in = popen(command, "re");
    assert_non_null(in);
    while (fgets(line, sizeof line, in) != NULL)
        n += strncmp(line, beginning, strlen(beginning)) == 0;
    assert_int_equal(pclose(in), 0);
    return n;
}

static double median_of(const json_t *spread) {
    return json_number_value(json_object_get(spread, "median"));
}

/* Repetitions take 100 ns and more; each fourth has counters and takes 150 % longer: it is in no
 * run time. */
static void test_counted_apart(void **state) {
    (void)state;
    enum { REPS = 400 };
    struct lc_collected all;
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        struct lc_part_writer part;
        begin(&part, rank, "host");
        begin_job(&part, "MPI_Scan");
        for (int i = 0; i < REPS; i++) {
            bool counted = i % EVERY == EVERY - 1;
            int64_t start = 10000 * i + 5 * rank, took = (100 + i % 7) * (counted ? 5 : 2) / 2;
            put(&part, start, start + took, counted, counted ? i : 0, 7 + rank);
        }
        end_job(&part, 0);
        end(&part);
    }
    collect(&all);
    assert_true(all.complete && all.n == 1);
    const struct lc_fingerprint *f = all.all[0];
    assert_int_equal(f->n, REPS * 3 / 4);
    assert_true(f->runs[0] == 105 && f->ascending[f->n - 1] == 111); /* from rank 0 to 1: 5 more */
    const json_t *at = member(f, "counted", "at"), *runs = member(f, "counted", "runs_ns");
    assert_int_equal(json_array_size(runs), REPS / 4);
    assert_true(item(at, 0) == 3 && item(at, 1) == 6);
    assert_true(item(runs, 0) == 257 + 5);
    assert_true(json_number_value(member(f, "counted", "every")) == EVERY);
    double change = json_number_value(member(f, "counted", "perturbation"));
    assert_true(change > 1.40 && change < 1.45); /* (257 + 5) / (103 + 5) - 1 */
    const json_t *ci = member(f, "counted", "ci");
    assert_true(item(ci, 0) <= change && change <= item(ci, 1) && item(ci, 1) < 1.5);
    assert_int_equal(json_array_size(json_object_get(f->about, "warnings")), 1);
    assert_non_null(
        strstr(json_string_value(json_array_get(json_object_get(f->about, "warnings"), 0)),
               "reading counters changes the run time by +14"));
    const json_t *faults = member(f, "counters", "faults"), *gap = member(f, "counters", "gap");
    assert_string_equal(json_string_value(json_object_get(faults, "series")), "counted");
    assert_string_equal(json_string_value(json_object_get(gap, "series")), "runs");
    assert_int_equal(json_array_size(json_object_get(faults, "values")), REPS / 4);
    assert_int_equal(json_array_size(json_object_get(gap, "values")), f->n);
    assert_true(item(json_object_get(faults, "values"), 1) == 2 * 7);
    assert_true(item(json_object_get(gap, "values"), 1) == 8); /* the largest of the ranks */
    /* rank 1 begins 5 ns after rank 0, and leaves last */
    assert_true(item(member(f, "each", "global_ns"), 1) == 106);
    assert_true(item(member(f, "each", "local_ns"), 1) == 101);
    assert_true(item(member(f, "each", "skew_ns"), 1) == 5);
    assert_true(item(member(f, "each", "last_rank"), 1) == 1);
    assert_int_equal(json_array_size(member(f, "each", "last_rank")), f->n);
    assert_true(median_of(member(f, "benchmark", "start_skew_ns")) == 5);
    assert_true(median_of(member(f, "benchmark", "start_to_start_ns")) == 10000);
    assert_int_equal(lines("MPI_Scan,8,4,-1,skew_ns,5"), 1);
    assert_int_equal(lines("MPI_Scan,8,4,-1,last_rank,1"), 1);
    assert_int_equal(lines("MPI_Scan,8,3,0,faults,3"), 1);
    assert_int_equal(lines("MPI_Scan,8,4,0,faults,"), 0);
    assert_int_equal(lines("MPI_Scan,8,4,1,gap,8"), 1);
    assert_int_equal(lines("MPI_Scan,8,4,0,runtime_ns,104"), 1);
    assert_int_equal(lines("MPI_Scan,8,3,0,runtime_ns,"), 0);
    assert_int_equal(lines("MPI_Scan,8,3,0,counted_runtime_ns,257"), 1);
    lc_collected_free(&all);
}

/* Coefficient of a counter: of "spearman" or "pearson" of a group; NAN: none. */
static double coefficient(const json_t *counter, const char *kind, const char *group) {
    const json_t *value = json_object_get(json_object_get(counter, kind), group);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

/* The case of [Roth 2021], figures 4.3 and 4.13: in the warm-up, cache misses and run times are
 * somewhat higher than in good repetitions; outliers, whose times have other causes, hide that.
 * Rank 1 has no misses. */
static void test_warm_up_explained(void **state) {
    (void)state;
    enum { REPS = 1600, WARM = 240 };
    struct lc_collected all;
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        struct lc_part_writer part;
        begin(&part, rank, "host");
        begin_job(&part, "MPI_Scan");
        synthetic_state = first_seed(20);
        for (int i = 0; i < REPS; i++) {
            double misses = (i < WARM ? 25 : 12) + 3 * gauss();
            double took = (i < WARM ? 40000 : 26000) * exp(0.01 * gauss());
            if (i == 0 || i % 40 >= 40 - EVERY)
                took *= 10; /* outliers, with and without counters */
            put(&part, i * 1000000, i * 1000000 + (int64_t)took, i % EVERY == EVERY - 1,
                rank == 0 ? (int64_t)misses : 0, 0);
        }
        end_job(&part, 0);
        end(&part);
    }
    collect(&all);
    const struct lc_fingerprint *f = all.all[0];
    const json_t *misses = member(f, "counters", "faults");
    assert_int_equal(f->warmup.end, WARM * 3 / 4);
    assert_true(fabs(coefficient(misses, "pearson", "all")) < 0.4);
    assert_true(fabs(coefficient(misses, "spearman", "good")) < 0.3);
    assert_true(coefficient(misses, "pearson", "warmup_good") > 0.7);
    const json_t *levels = json_object_get(misses, "levels");
    assert_true(json_number_value(json_object_get(levels, "good")) < 14);
    assert_true(json_number_value(json_object_get(levels, "warmup")) > 21);
    assert_true(json_number_value(json_object_get(levels, "p")) < 1e-6);
    assert_true(json_number_value(json_object_get(levels, "superiority")) > 0.95);
    /* a counter that does not change has no other level in the warm-up */
    assert_true(json_number_value(json_object_get(
                    json_object_get(member(f, "counters", "gap"), "levels"), "p")) == 1);
    assert_int_equal(lines("MPI_Scan,8,3,1,faults,0"), 1); /* zero is not unknown */
    const json_t *ranks = json_object_get(misses, "per_rank");
    assert_true(coefficient(json_array_get(ranks, 0), "pearson", "warmup_good") > 0.7);
    assert_true(isnan(coefficient(json_array_get(ranks, 1), "spearman", "warmup_good")));
    /* all points of both ranks: half of them have no misses, whatever their time */
    const json_t *together = json_object_get(misses, "ranks_together");
    assert_true(fabs(coefficient(together, "pearson", "warmup_good")) < 0.6);
    lc_collected_free(&all);
}

/* By hand: a line, what only rises, equal values share the mean of their ranks, nothing to tell. */
static void test_correlation(void **state) {
    static const struct {
        size_t n;
        double x[5], y[5], pearson, spearman;
    } cases[] = {{5, {1, 2, 3, 4, 5}, {30, 50, 70, 90, 110}, 1, 1},
                 {4, {1, 2, 3, 4}, {-1, -2, -3, -4}, -1, -1},
                 {4, {0, 1, 2, 3}, {1, 2, 4, 8}, 11.5 / 11.989578808281798, 1},
                 {4, {1, 2, 2, 3}, {1, 3, 2, 4}, 0.9486832980505138, 0.9486832980505138},
                 {4, {1, 2, 3, 4}, {7, 7, 7, 7}, NAN, NAN},
                 {2, {1, 2}, {1, 2}, NAN, NAN}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct lc_correlation found;
        assert_int_equal(lc_correlate(cases[i].x, cases[i].y, cases[i].n, &found), LC_OK);
        assert_true(isnan(cases[i].pearson) == isnan(found.pearson));
        assert_true(isnan(cases[i].spearman) == isnan(found.spearman));
        assert_false(fabs(found.pearson - cases[i].pearson) > 1e-12);
        assert_false(fabs(found.spearman - cases[i].spearman) > 1e-12);
    }
}

/* As on a terminal without colours. The caller frees it. */
static char *shown_text(const struct lc_fingerprint *f) {
    char *text = NULL;
    size_t length;
    const struct lc_bench_page page = {.out = open_memstream(&text, &length),
                                       .width = 80,
                                       .bold = "",
                                       .alarm = "",
                                       .plain = "",
                                       .category = {"", "", "", ""}};
    assert_int_equal(lc_fingerprint_text(f, &page), LC_OK);
    fclose(page.out);
    return text;
}

/* The example of docs/benchmarking.md with its counts: a pool grows in the first 48 repetitions
 * with large messages, which makes these slow; outliers have other causes, "eager" counts nothing.
 * Which part of the layer it is, is what the correlation over warm-up and good repetitions tells,
 * and the text says so. */
static void test_growing_pool(void **state) {
    (void)state;
    enum { REPS = 400, POOL = 48 };
    struct lc_collected all;
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        struct lc_part_writer part;
        struct lc_part_job head = {.operation = "MPI_Bcast",
                                   .sync = "barrier",
                                   .bytes = 65536,
                                   .n_counters = 3,
                                   .counter = {"probe_eager", "probe_buffers", "probe_copies"}};
        begin(&part, rank, "host");
        assert_int_equal(lc_part_put(&part, LC_PART_JOB, &head, sizeof head), LC_OK);
        for (int i = 0; i < REPS; i++) {
            int grows = rank == 0 && i < POOL;
            int64_t took =
                20000 + (i < POOL ? 30000 : 0) + 97 * i % 211 + (i % 50 == 49 ? 90000 : 0);
            const int64_t values[] = {i * 1000000, i * 1000000 + took, 0, 0, grows, 1};
            assert_int_equal(lc_part_put(&part, LC_PART_REPS, values, sizeof values), LC_OK);
        }
        end_job(&part, 0);
        end(&part);
    }
    collect(&all);
    const struct lc_fingerprint *f = all.all[0];
    assert_int_equal(f->warmup.end, POOL);
    const json_t *buffers = member(f, "counters", "probe_buffers");
    assert_true(coefficient(buffers, "spearman", "warmup_good") > 0.5);
    assert_true(coefficient(buffers, "pearson", "warmup_good") > 0.9);
    assert_true(coefficient(buffers, "pearson", "all") < 0.6); /* outliers hide it */
    assert_true(isnan(coefficient(buffers, "pearson", "good")));
    assert_true(isnan(coefficient(buffers, "pearson", "warmup")));
    for (int i = 0; i < 2; i++) { /* one of each in every repetition, or none: explains nothing */
        const json_t *other = member(f, "counters", i == 0 ? "probe_eager" : "probe_copies");
        assert_true(isnan(coefficient(other, "spearman", "warmup_good")));
    }
    const json_t *levels = json_object_get(buffers, "levels");
    assert_true(json_number_value(json_object_get(levels, "warmup")) == 1);
    assert_true(json_number_value(json_object_get(levels, "good")) == 0);
    char *shown = shown_text(f);
    assert_non_null(strstr(shown, "    1 in the warm-up, 0 in good repetitions (p < 0.001)\n"));
    free(shown);
    lc_collected_free(&all);
}

static const char *text(const json_t *object, const char *key) {
    return json_string_value(json_object_get(object, key));
}

static void fact(struct lc_part_writer *part, const char *section, const char *key,
                 const char *value) {
    assert_int_equal(lc_part_fact(part, section, key, value), LC_OK);
}

static double share_of(const json_t *list, size_t i, const char *function, const char *key) {
    const json_t *one = json_array_get(list, i);
    assert_string_equal(json_string_value(json_object_get(one, "function")), function);
    return json_number_value(json_object_get(one, key));
}

/* Rank 0 is in MPI_Scan, or in what that calls; rank 1 in a library without names, called by
 * MPI_Scan, whose caller is the benchmark. A sample of a repetition without counters, and one of a
 * repetition that is not there, count nowhere. */
static void test_samples(void **state) {
    (void)state;
    enum { REPS = 100, SHIFT = LC_SAMPLE_SHIFT };
    static const char *const files[] = {"/opt/libexec/latecomer-bench-openmpi", "/lib/libmpi.so",
                                        "/lib/libfabric.so"};
    struct lc_collected all;
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        struct lc_part_writer part;
        begin(&part, rank, "host");
        begin_job(&part, "MPI_Scan");
        for (int i = 0; i < 3; i++)
            fact(&part, "module", (const char *[]){"0", "1", "2"}[i], files[i]);
        for (int i = 0; i < REPS; i++)
            put(&part, 10000 * i, 10000 * i + 1000 + i % 7, i % EVERY == EVERY - 1, 0, 0);
        for (int i = EVERY - 1; i < REPS; i += EVERY) {
            struct lc_part_sample s = {.rep = i, .weight_ns = 1000, .n = 3};
            s.frames[0] = (uint64_t)(rank == 0 ? 1 : 2) << SHIFT | 500;
            s.frames[1] = (uint64_t)1 << SHIFT | 50;
            s.frames[2] = 7; /* the benchmark */
            assert_int_equal(lc_part_put(&part, LC_PART_SAMPLE, &s, sizeof s), LC_OK);
            s.weight_ns = 3000; /* MPI_Scan itself, three times as often */
            s.frames[0] = s.frames[1];
            s.frames[1] = s.frames[2];
            s.n = 2;
            if (rank == 0)
                assert_int_equal(lc_part_put(&part, LC_PART_SAMPLE, &s, sizeof s), LC_OK);
        }
        struct lc_part_sample none = {.rep = 0, .weight_ns = 1e9, .n = 1};
        assert_int_equal(lc_part_put(&part, LC_PART_SAMPLE, &none, sizeof none), LC_OK);
        none = (struct lc_part_sample){.rep = 5000, .weight_ns = 1e9, .lost = 2};
        assert_int_equal(lc_part_put(&part, LC_PART_SAMPLE, &none, sizeof none), LC_OK);
        end_job(&part, 0);
        end(&part);
    }
    collect(&all);
    const struct lc_fingerprint *f = all.all[0];
    const json_t *paths = member(f, "samples", "callpaths"),
                 *functions = member(f, "samples", "functions");
    assert_true(json_number_value(member(f, "samples", "n")) == 75);
    assert_true(json_number_value(member(f, "samples", "lost")) == 4);
    assert_int_equal(json_array_size(paths), 3);
    assert_true(share_of(paths, 0, "MPI_Scan", "share") == 1);
    assert_true(share_of(paths, 0, "MPI_Scan", "self_share") == 0.6);
    for (size_t i = 1; i < 3; i++) { /* both as heavy */
        const json_t *one = json_array_get(paths, i);
        assert_true(json_number_value(json_object_get(one, "share")) == 0.2);
        assert_true(json_number_value(json_object_get(one, "depth")) == 1);
        bool named = strcmp(text(one, "function"), "progress") == 0;
        assert_string_equal(text(one, "function"), named ? "progress" : "(unnamed)");
        assert_string_equal(text(one, "file"), named ? "libmpi.so" : "libfabric.so");
    }
    assert_int_equal(json_array_size(functions), 3);
    assert_true(share_of(functions, 0, "MPI_Scan", "self_share") == 0.6);
    assert_true(json_number_value(json_object_get(
                    json_object_get(json_array_get(functions, 0), "of_category"), "good")) == 1);
    lc_collected_free(&all);
}

/* Two nodes with machines of their own; what is known of one job stands with no other. */
static void test_facts(void **state) {
    (void)state;
    static const char *const names[] = {"MPI_Ibcast+overlap", "MPI_Scan"};
    struct lc_collected all;
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        struct lc_part_writer part;
        begin(&part, rank, rank == 0 ? "near" : "far");
        fact(&part, "placement", "numa_node", rank == 0 ? "0" : "1");
        fact(&part, "machine", "kernel", rank == 0 ? "5.10" : "6.1");
        fact(&part, "libraries", "libmpi.so.40",
             rank == 0 ? "/opt/libmpi.so.40" : "/usr/libmpi.so.40");
        if (rank == 0)
            fact(&part, "environment", "LD_PRELOAD", "libx.so");
        for (int job = 0; job < 2; job++) {
            begin_job(&part, names[job]);
            if (rank == 0)
                fact(&part, "benchmark", job == 0 ? "overlap_compute_ns" : "operator",
                     job == 0 ? "100" : "MPI_BOR");
            for (int i = 0; i < 40; i++)
                put(&part, i * 1000, i * 1000 + 100 + i, false, 0, 0);
            end_job(&part, job == 1 && rank == 1 ? -12 : 0);
        }
        end(&part);
    }
    collect(&all);
    assert_int_equal(all.n, 2);
    assert_string_equal(json_string_value(member(all.all[0], "benchmark", "overlap_compute_ns")),
                        "100");
    /* both together take 119.5 ns, 100 each alone */
    double share = json_number_value(member(all.all[0], "benchmark", "overlap_share"));
    assert_true(fabs(share - 0.805) < 1e-9);
    assert_null(member(all.all[1], "benchmark", "overlap_share"));
    assert_int_equal(json_array_size(json_object_get(all.all[0]->about, "warnings")), 0);
    assert_non_null(
        strstr(json_string_value(json_array_get(json_object_get(all.all[1]->about, "warnings"), 0)),
               "0.012 us off after the job (10 % of the median)"));
    assert_null(member(all.all[0], "benchmark", "operator"));
    assert_null(member(all.all[1], "benchmark", "overlap_compute_ns"));
    assert_string_equal(json_string_value(member(all.all[1], "benchmark", "operator")), "MPI_BOR");
    assert_string_equal(json_string_value(member(all.all[1], "environment", "LD_PRELOAD")),
                        "libx.so");
    const json_t *ranks = json_object_get(all.all[1]->about, "per_rank");
    assert_string_equal(text(json_object_get(json_array_get(ranks, 1), "placement"), "numa_node"),
                        "1");
    const json_t *nodes = json_object_get(all.all[1]->about, "nodes");
    for (size_t n = 0; n < 2; n++) {
        const json_t *node = json_array_get(nodes, n);
        assert_string_equal(text(node, "name"), n == 0 ? "near" : "far");
        assert_string_equal(text(json_object_get(node, "machine"), "kernel"),
                            n == 0 ? "5.10" : "6.1");
        assert_string_equal(text(json_object_get(node, "libraries"), "libmpi.so.40"),
                            n == 0 ? "/opt/libmpi.so.40" : "/usr/libmpi.so.40");
    }
    lc_collected_free(&all);
}

static void test_texts_of_the_kernel(void **state) {
    static const char stat[] = "cpu  30 3 30 300 30 3 3 30 0 0\n"
                               "cpu0 10 1 12 100 10 1 1 10 0 0\ncpu1 20 2 18 200 20 2 2 20 9 0\n"
                               "intr 5 0\n";
    int64_t on_cpu, delay;
    struct lc_cpu_ticks ticks;
    cpu_set_t set;
    (void)state;
    assert_true(lc_schedstat_parse("188000 140739 12\n", &on_cpu, &delay));
    assert_true(on_cpu == 188000 && delay == 140739);
    assert_false(lc_schedstat_parse("", &on_cpu, &delay));
    assert_false(lc_schedstat_parse("12\n", &on_cpu, &delay));
    assert_false(lc_schedstat_parse("12 -3 1\n", &on_cpu, &delay));
    CPU_ZERO(&set);
    CPU_SET(1, &set);
    assert_true(lc_cpu_ticks_parse(stat, &set, &ticks));
    assert_true(ticks.busy == 44 && ticks.idle == 220 && ticks.steal == 20);
    CPU_SET(0, &set);
    assert_true(lc_cpu_ticks_parse(stat, &set, &ticks));
    assert_true(ticks.busy == 69 && ticks.idle == 330 && ticks.steal == 30);
    CPU_SET(2, &set); /* is not there */
    assert_false(lc_cpu_ticks_parse(stat, &set, &ticks));
    CPU_CLR(2, &set);
    assert_false(lc_cpu_ticks_parse("cpu0 1 2 3\n", &set, &ticks));
    assert_true(lc_cpu_quota_parse("150000 100000") == 1.5);
    assert_true(lc_cpu_quota_parse("max 100000") == 0 && lc_cpu_quota_parse("") == 0);
    assert_true(lc_cpu_quota_parse("5") == 0 && lc_cpu_quota_parse("-1 100000") == 0);
    char root[] = "/tmp/test_collectXXXXXX", command[256];
    assert_non_null(mkdtemp(root)); /* a/b has more than a, c no limit */
    snprintf(command, sizeof command,
             "cd %s && mkdir -p a/b c && echo 150000 100000 >a/cpu.max && echo 400000 100000 "
             ">a/b/cpu.max && echo max 100000 >c/cpu.max",
             root);
    assert_int_equal(system(command), 0);
    assert_true(lc_cpu_quota_of(root, "0::/a/b") == 1.5 && lc_cpu_quota_of(root, "0::/a") == 1.5);
    assert_true(lc_cpu_quota_of(root, "0::/c") == 0 && lc_cpu_quota_of(root, "0::/") == 0);
    assert_true(lc_cpu_quota_of(root, "12:cpu:/a") == 0 && lc_cpu_quota_of(root, "") == 0);
    snprintf(command, sizeof command, "rm -r %s", root);
    assert_int_equal(system(command), 0);
    assert_false(lc_cpu_ticks_parse("", &set, &ticks));
}

static void put_job_with_loads(uint32_t rank, const struct lc_part_load loads[3]) {
    struct lc_part_writer part;
    begin(&part, rank, "host");
    begin_job(&part, "MPI_Scan");
    for (int i = 0; i < 40; i++) {
        if (i % 20 == 0)
            assert_int_equal(lc_part_put(&part, LC_PART_LOAD, &loads[i / 20], sizeof loads[0]),
                             LC_OK);
        put(&part, i * 1000, i * 1000 + 100 + i, i % EVERY == EVERY - 1, 0, 0);
    }
    assert_int_equal(lc_part_put(&part, LC_PART_LOAD, &loads[2], sizeof loads[0]), LC_OK);
    end_job(&part, 0);
    end(&part);
}

static const json_t *windows_of(const struct lc_fingerprint *f, const char *which,
                                const char *key) {
    return json_object_get(member(f, "interference", which), key);
}

/* Rank 1 waited for half a second of two, all of it in the first window, in which others had 20 %
 * of its CPU, in the second 5; the hypervisor a tenth. Nothing is known of rank 0 but that its CPU
 * was not taken away. */
static void test_interference(void **state) {
    (void)state;
    struct lc_collected all;
    put_job_with_loads(0, (const struct lc_part_load[]){{1e9, -1, -1, 0, 0, 0, 100},
                                                        {2e9, -1, -1, 10, 0, 90, 100},
                                                        {3e9, -1, -1, 20, 0, 180, 100}});
    put_job_with_loads(
        1, (const struct lc_part_load[]){{1e9, 0, 7000, 100, 0, 0, 100},
                                         {2e9, 250000000, 500007000, 145, 10, 45, 100},
                                         {3e9, 650000000, 500007000, 190, 20, 90, 100}});
    collect(&all);
    const struct lc_fingerprint *f = all.all[0];
    const json_t *of = member(f, "interference", "run_delay_share_of");
    assert_true(json_is_null(json_array_get(of, 0)) && item(of, 1) == 0.25);
    assert_true(json_number_value(member(f, "interference", "run_delay_share")) == 0.25);
    of = member(f, "interference", "steal_share_of");
    assert_true(json_is_real(json_array_get(of, 0)) && item(of, 0) == 0 && item(of, 1) == 0.1);
    assert_true(json_number_value(member(f, "interference", "steal_share")) == 0.1);
    of = member(f, "interference", "other_share_of");
    assert_true(json_is_null(json_array_get(of, 0)));
    assert_float_equal(item(of, 1), 0.125, 1e-9);
    assert_float_equal(json_number_value(member(f, "interference", "other_share")), 0.125, 1e-9);
    static const char *const both[] = {"windows", "cpu_windows"};
    for (int i = 0; i < 2; i++) {
        const json_t *at = windows_of(f, both[i], "at");
        assert_int_equal(json_array_size(at), 2);
        assert_true(item(at, 0) == 0 && item(at, 1) == 15);
    }
    const json_t *delays = windows_of(f, "windows", "run_delay_ns"),
                 *steals = windows_of(f, "cpu_windows", "steal_share"),
                 *others = windows_of(f, "cpu_windows", "other_share");
    assert_true(item(delays, 0) == 5e8 && item(delays, 1) == 0);
    assert_true(item(steals, 0) == 0.1 && item(steals, 1) == 0.1);
    assert_float_equal(item(others, 0), 0.2, 1e-9);
    assert_float_equal(item(others, 1), 0.05, 1e-9);
    const json_t *warnings = json_object_get(f->about, "warnings");
    assert_int_equal(json_array_size(warnings), 2);
    assert_non_null(strstr(json_string_value(json_array_get(warnings, 0)),
                           "rank 1 waited for one in 25.0 % of the time"));
    assert_non_null(strstr(json_string_value(json_array_get(warnings, 1)), "10.0 %"));
    lc_collected_free(&all);
}

static void check_shared(const char *of_0, const char *of_1, bool known) {
    struct lc_collected all;
    cpus_of[0] = of_0;
    cpus_of[1] = of_1;
    for (uint32_t rank = 0; rank < RANKS; rank++)
        put_job_with_loads(rank, (const struct lc_part_load[]){
                                     {1e9, 0, 0, 0, 0, 0, 100},
                                     {2e9, -1, 0, -1, -1, -1, 100},
                                     {2e9, 500000000 + 250000000 * rank, 0, 150, 0, 50, 100}});
    collect(&all);
    const json_t *others = member(all.all[0], "interference", "other_share_of"),
                 *of_window = windows_of(all.all[0], "cpu_windows", "other_share");
    assert_int_equal(json_array_size(others), RANKS);
    assert_int_equal(json_array_size(of_window), 1);
    for (size_t rank = 0; rank < RANKS; rank++)
        assert_true(known ? fabs(item(others, rank) - 0.125) < 1e-9
                          : json_is_null(json_array_get(others, rank)));
    assert_true(known ? fabs(item(of_window, 0) - 0.125) < 1e-9
                      : json_is_null(json_array_get(of_window, 0)));
    lc_collected_free(&all);
    cpus_of[0] = "0";
    cpus_of[1] = "1";
}

/* Of CPUs that both ranks may use, what neither of them used is others'. */
static void test_shared_cpus(void **state) {
    (void)state;
    check_shared("0-1", "0-1", true);
}

/* Where one may use some of the other's CPUs, nobody knows on which it was. */
static void test_overlapping_cpus(void **state) {
    (void)state;
    check_shared("0-1", "1-2", false);
}

/* What is wrong with probes is said, of both ranks together, and how many began late before the
 * first that counts. */
static void test_wrong_probes(void **state) {
    (void)state;
    struct lc_collected all;
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        struct lc_part_writer part;
        const struct lc_part_end last = {
            .stopped = "time", .late_first = 7, .probes = {3, 5 * rank, rank}};
        begin(&part, rank, "host");
        begin_job(&part, "MPI_Scan");
        for (int i = 0; i < 40; i++)
            put(&part, i * 1000, i * 1000 + 500, false, 0, 0);
        assert_int_equal(lc_part_put(&part, LC_PART_END, &last, sizeof last), LC_OK);
        end(&part);
    }
    collect(&all);
    const json_t *warnings = json_object_get(all.all[0]->about, "warnings");
    char *shown = shown_text(all.all[0]);
    assert_non_null(strstr(shown, "  left out: 7 before the first that counts, which began late"));
    assert_non_null(strstr(shown, ", 40 of 45 repetitions (its time was over)"));
    free(shown);
    assert_int_equal(json_array_size(warnings), 3);
    assert_string_equal(json_string_value(json_array_get(warnings, 2)),
                        "probes of 1 library not measured: opened after the first job had "
                        "begun; preload what is to be seen");
    assert_string_equal(json_string_value(json_array_get(warnings, 0)),
                        "probes: 6 starts or stops of timers without each other: times of these "
                        "timers are wrong");
    assert_string_equal(json_string_value(json_array_get(warnings, 1)),
                        "probes: 5 records are lost: more threads than there is memory for");
    lc_collected_free(&all);
}

/* `empty` of the same size is taken from the others, and from itself nothing. */
static void test_less_empty(void **state) {
    (void)state;
    static const char *const names[] = {"MPI_Scan", "empty"};
    struct lc_collected all;
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        struct lc_part_writer part;
        begin(&part, rank, "host");
        for (int job = 0; job < 2; job++) {
            begin_job(&part, names[job]);
            for (int i = 0; i < 41; i++)
                put(&part, i * 1000, i * 1000 + (job == 0 ? 500 : 30) + i, false, 0, 0);
            end_job(&part, 0);
        }
        end(&part);
    }
    collect(&all);
    const struct lc_fingerprint *f = all.all[0], *e = all.all[1];
    assert_true(json_number_value(member(f, "benchmark", "empty_ns")) == 50);
    assert_true(json_number_value(member(f, "benchmark", "median_less_empty_ns")) == 470);
    const json_t *ci = member(f, "benchmark", "median_less_empty_ci_ns");
    assert_true(item(ci, 0) == f->median.low - e->median.high && item(ci, 0) < 470);
    assert_true(item(ci, 1) == f->median.high - e->median.low && item(ci, 1) > 470);
    assert_null(member(e, "benchmark", "empty_ns"));
    lc_collected_free(&all);
}

static int begin_folder(void **state) {
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/test_collectXXXXXX");
    return mkdtemp(folder) == NULL;
}

static int end_folder(void **state) {
    static const char *const names[] = {"parts/rank-0", "parts/rank-1", "runs.csv.zst"};
    char name[96];
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        file_name(name, sizeof name, names[i]);
        (void)unlink(name);
    }
    file_name(name, sizeof name, "parts");
    return rmdir(name) != 0 || rmdir(folder) != 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_counted_apart, begin_folder, end_folder),
        cmocka_unit_test_setup_teardown(test_facts, begin_folder, end_folder),
        cmocka_unit_test_setup_teardown(test_interference, begin_folder, end_folder),
        cmocka_unit_test_setup_teardown(test_shared_cpus, begin_folder, end_folder),
        cmocka_unit_test_setup_teardown(test_overlapping_cpus, begin_folder, end_folder),
        cmocka_unit_test_setup_teardown(test_less_empty, begin_folder, end_folder),
        cmocka_unit_test_setup_teardown(test_wrong_probes, begin_folder, end_folder),
        cmocka_unit_test(test_texts_of_the_kernel),
        cmocka_unit_test(test_correlation),
        cmocka_unit_test_setup_teardown(test_growing_pool, begin_folder, end_folder),
        cmocka_unit_test_setup_teardown(test_samples, begin_folder, end_folder),
        cmocka_unit_test_setup_teardown(test_warm_up_explained, begin_folder, end_folder)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
