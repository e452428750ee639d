/* What is written is what is read: random models, sizes that would be multiples of 512, rules of
 * the writer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "../first_seed.h"
#include "cubex_sample.h"
#include "model/cubex_read.h"
#include "model/tar.h"

static char file_name[64];

static unsigned n_writes, n_reads;

ssize_t __real_pwrite(int fd, const void *data, size_t bytes, off_t at);
ssize_t __wrap_pwrite(int fd, const void *data, size_t bytes, off_t at);
ssize_t __wrap_pwrite(int fd, const void *data, size_t bytes, off_t at) {
    n_writes++;
    return __real_pwrite(fd, data, bytes, at);
}

ssize_t __real_pread(int fd, void *data, size_t bytes, off_t at);
ssize_t __wrap_pread(int fd, void *data, size_t bytes, off_t at);
ssize_t __wrap_pread(int fd, void *data, size_t bytes, off_t at) {
    n_reads++;
    return __real_pread(fd, data, bytes, at);
}

static void check(enum lc_err err) {
    if (err != LC_OK)
        fail_msg("%s", lc_err_text());
}

static void compare_definitions(const struct lc_model *a, const struct lc_model *b) {
    assert_int_equal(a->n_metrics, b->n_metrics);
    for (size_t i = 0; i < a->n_metrics; i++) {
        /* The file has metrics nested, so that they may come back in another order. */
        uint32_t id = lc_model_find_metric(b, a->metrics[i].name);
        assert_int_not_equal(id, LC_NONE);
        assert_string_equal(a->metrics[i].descr, b->metrics[id].descr);
        assert_string_equal(a->metrics[i].unit, b->metrics[id].unit);
        assert_int_equal(a->metrics[i].kind, b->metrics[id].kind);
        assert_int_equal(a->metrics[i].dtype, b->metrics[id].dtype);
    }
    assert_int_equal(a->n_regions, b->n_regions);
    for (size_t i = 0; i < a->n_regions; i++) {
        assert_string_equal(a->regions[i].name, b->regions[i].name);
        assert_string_equal(a->regions[i].mangled, b->regions[i].mangled);
        assert_string_equal(a->regions[i].module, b->regions[i].module);
        assert_int_equal(a->regions[i].begin_line, b->regions[i].begin_line);
    }
    assert_int_equal(a->n_cnodes, b->n_cnodes);
    if (a->n_cnodes > 0)
        assert_memory_equal(a->cnodes, b->cnodes, a->n_cnodes * sizeof a->cnodes[0]);
    assert_int_equal(a->n_locations, b->n_locations);
    for (size_t i = 0; i < a->n_locations; i++) {
        const struct lc_process *p = &a->processes[a->locations[i].process];
        const struct lc_process *q = &b->processes[b->locations[i].process];
        assert_int_equal(a->locations[i].thread, b->locations[i].thread);
        assert_int_equal(p->rank, q->rank);
        assert_string_equal(a->system_nodes[p->system_node].name,
                            b->system_nodes[q->system_node].name);
    }
    assert_string_equal(lc_model_attr(a, "latecomer.meta"), lc_model_attr(b, "latecomer.meta"));
}

static void round_trip(uint64_t seed, uint32_t n_cnodes, uint32_t n_ranks, size_t misc_bytes) {
    struct lc_model *model = NULL;
    struct lc_cubex *cube;
    check(sample_model(seed, n_cnodes, n_ranks, &model));
    check(sample_write(seed, model, file_name, misc_bytes));
    check(lc_cubex_open(&cube, file_name));
    const struct lc_model *back = lc_cubex_model(cube);
    compare_definitions(model, back);
    double *values = calloc(model->n_locations, sizeof values[0]);
    for (uint32_t m = 0; m < model->n_metrics; m++) {
        uint32_t id = lc_model_find_metric(back, model->metrics[m].name);
        for (uint32_t c = 0; c < model->n_cnodes; c++) {
            check(lc_cubex_row(cube, id, c, values));
            for (uint32_t l = 0; l < model->n_locations; l++) {
                double wanted =
                    sample_value(seed, m, c, l, model->metrics[m].dtype == LC_DTYPE_UINT64);
                if (values[l] != wanted)
                    fail_msg("seed %llu, %s, cnode %u, location %u: %.17g, not %.17g",
                             (unsigned long long)seed, model->metrics[m].name, c, l, values[l],
                             wanted);
            }
        }
    }
    const char *misc;
    size_t bytes;
    check(lc_cubex_misc(cube, "size_classes.tsv", &misc, &bytes));
    assert_int_equal(strspn(misc, "m"), misc_bytes);
    assert_true(bytes == misc_bytes || bytes == misc_bytes + 1);
    free(values);
    lc_cubex_close(cube);
    lc_model_free(model);
}

static void random_models(void **state) {
    (void)state;
    for (uint64_t first = first_seed(1), seed = first; seed < first + 60; seed++) {
        uint64_t random = seed;
        uint32_t n_cnodes = sample_random(&random) % 200, n_ranks = 1 + sample_random(&random) % 20;
        round_trip(seed, n_cnodes, n_ranks, sample_random(&random) % 2000);
    }
}

/* Walks the tar as CubeLib does: pos + 512 + (size / 512 + 1) * 512, and pos + 512 after an empty
 * member. */
static void walk_like_cubelib(size_t *n_members) {
    FILE *file = fopen(file_name, "rb");
    assert_non_null(file);
    unsigned char block[LC_TAR_BLOCK];
    uint64_t at = 0;
    *n_members = 0;
    struct lc_tar_member member = {0};
    for (;;) {
        assert_int_equal(fseek(file, (long)at, SEEK_SET), 0);
        assert_int_equal(fread(block, 1, sizeof block, file), sizeof block);
        if (block[0] == '\0')
            break;
        assert_true(lc_tar_is_header(block));
        check(lc_tar_parse(block, &member));
        at += member.bytes == 0 ? 512 : 512 + (member.bytes / 512 + 1) * 512;
        ++*n_members;
    }
    assert_string_equal(member.name, "anchor.xml");
    fclose(file);
}

static void sizes_around_blocks(void **state) {
    (void)state;
    size_t first = 0, n_members;
    for (size_t bytes = 0; bytes <= 1030; bytes += bytes % 512 < 4 || bytes % 512 > 508 ? 1 : 100) {
        round_trip(7, 20, 3, bytes);
        walk_like_cubelib(&n_members);
        if (first == 0)
            first = n_members;
        assert_int_equal(n_members, first);
    }
    /* Lengths of anchor.xml: 600 in a row contain a multiple of 512. */
    struct lc_model *model = NULL;
    char filler[601] = "";
    check(sample_model(3, 4, 2, &model));
    for (size_t i = 0; i < 600; i++) {
        filler[i] = 'x';
        check(lc_model_set_attr(model, "filler", filler));
        check(sample_write(3, model, file_name, 10));
        walk_like_cubelib(&n_members);
    }
    lc_model_free(model);
}

/* A table of any length comes back with the same rows, and with no empty one. */
static void tables_around_blocks(void **state) {
    (void)state;
    char table[1026];
    memset(table, 'm', sizeof table);
    for (size_t bytes = 2; bytes <= sizeof table; bytes++) {
        struct lc_model *model = NULL;
        struct lc_cubex_writer *writer;
        struct lc_cubex *cube;
        const char *read;
        size_t n_read;
        table[bytes / 2] = '\n';
        table[bytes - 1] = '\n';
        check(sample_model(5, 10, 4, &model));
        check(lc_cubex_writer_open(&writer, file_name, model));
        check(lc_cubex_writer_misc(writer, "blame.tsv", table, bytes));
        check(lc_cubex_writer_close(writer));
        check(lc_cubex_open(&cube, file_name));
        check(lc_cubex_misc(cube, "blame.tsv", &read, &n_read));
        assert_true(n_read == bytes || (n_read == bytes - 1 && bytes % LC_TAR_BLOCK == 0));
        assert_memory_equal(read, table, n_read);
        lc_cubex_close(cube);
        lc_model_free(model);
        table[bytes / 2] = table[bytes - 1] = 'm';
    }
}

static void order_of_calls(void **state) {
    (void)state;
    struct lc_model *model = NULL;
    struct lc_cubex_writer *writer;
    double values[64] = {1.0};
    unlink(file_name);
    check(sample_model(5, 10, 4, &model));
    check(lc_cubex_writer_open(&writer, file_name, model));
    assert_int_equal(lc_cubex_writer_row(writer, 0, values), LC_ERR_RANGE);
    check(lc_cubex_writer_metric(writer, 1));
    check(lc_cubex_writer_row(writer, 4, values));
    assert_int_equal(lc_cubex_writer_row(writer, 4, values), LC_ERR_RANGE);
    assert_int_equal(lc_cubex_writer_row(writer, 3, values), LC_ERR_RANGE);
    assert_int_equal(lc_cubex_writer_row(writer, 10, values), LC_ERR_RANGE);
    assert_int_equal(lc_cubex_writer_metric(writer, 1), LC_ERR_RANGE);
    assert_int_equal(lc_cubex_writer_metric(writer, 99), LC_ERR_RANGE);
    lc_cubex_writer_abort(writer);
    assert_int_equal(access(file_name, F_OK), -1);

    /* Nothing under the final name before the end; and not in pre-order: refused. */
    check(lc_cubex_writer_open(&writer, file_name, model));
    assert_int_equal(access(file_name, F_OK), -1);
    check(lc_cubex_writer_close(writer));
    assert_int_equal(access(file_name, F_OK), 0);
    model->cnodes[1].parent = LC_NONE;
    model->cnodes[2].parent = 0;
    assert_int_equal(lc_cubex_writer_open(&writer, file_name, model), LC_ERR_RANGE);
    lc_model_free(model);
}

/* Rows of metric 0, which is inclusive, are stored in another order than they come in; those of
 * metric 1, which is exclusive, follow each other. */
static void rows_are_moved_together(void **state) {
    (void)state;
    struct lc_model *model = NULL;
    struct lc_cubex_writer *writer;
    struct lc_cubex *cube;
    double values[64] = {1.0};
    enum { CALL_PATHS = 5000 };
    unlink(file_name);
    check(sample_model(5, CALL_PATHS, 4, &model));
    check(lc_cubex_writer_open(&writer, file_name, model));
    n_writes = n_reads = 0;
    for (uint32_t m = 0; m < 2; m++) {
        check(lc_cubex_writer_metric(writer, m));
        for (uint32_t c = 0; c < CALL_PATHS; c++) {
            values[0] = c + 1.0;
            check(lc_cubex_writer_row(writer, c, values));
        }
    }
    check(lc_cubex_writer_close(writer));
    assert_in_range(n_writes, 1, 50);
    check(lc_cubex_open(&cube, file_name));
    for (uint32_t m = 0; m < 2; m++) {
        uint32_t id = lc_model_find_metric(lc_cubex_model(cube), model->metrics[m].name);
        for (uint32_t c = 0; c < CALL_PATHS; c++) {
            check(lc_cubex_row(cube, id, c, values));
            assert_true(values[0] == c + 1.0);
        }
    }
    assert_in_range(n_reads, 1, 100);
    lc_cubex_close(cube);
    lc_model_free(model);
}

static void no_place_to_write(void **state) {
    (void)state;
    struct lc_model *model = NULL;
    struct lc_cubex_writer *writer;
    check(sample_model(5, 10, 4, &model));
    assert_int_equal(lc_cubex_writer_open(&writer, "/nowhere/at/all.cubex", model), LC_ERR_IO);
    assert_non_null(strstr(lc_err_text(), "/nowhere/at/all.cubex"));
    lc_model_free(model);
}

/* Names that XML cannot hold are changed, never fatal. */
static void unprintable_names(void **state) {
    (void)state;
    struct lc_model *model = NULL;
    struct lc_cubex *cube;
    check(sample_model(5, 3, 1, &model));
    free(model->regions[0].name);
    model->regions[0].name = strdup("a\x01\xff\xc0\x80 \xed\xa0\x80\xe2\x82\xac");
    check(sample_write(5, model, file_name, 0));
    check(lc_cubex_open(&cube, file_name));
    assert_string_equal(lc_cubex_model(cube)->regions[0].name,
                        "a\\x01\\xff\\xc0\\x80 \\xed\\xa0\\x80\xe2\x82\xac");
    lc_cubex_close(cube);
    lc_model_free(model);
}

int main(void) {
    snprintf(file_name, sizeof file_name, "test_cubex.%ld.cubex", (long)getpid());
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_models),           cmocka_unit_test(sizes_around_blocks),
        cmocka_unit_test(tables_around_blocks),    cmocka_unit_test(order_of_calls),
        cmocka_unit_test(no_place_to_write),       cmocka_unit_test(unprintable_names),
        cmocka_unit_test(rows_are_moved_together),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(file_name);
    return failed;
}
