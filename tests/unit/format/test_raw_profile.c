/* The raw profile: look-ups, merging, packing, and hostile bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "format/raw_pack.h"

static uint32_t node(struct lc_raw *raw, uint32_t parent, uint32_t kind, uint32_t ref,
                     uint64_t offset) {
    struct lc_raw_node made = {.parent = parent, .kind = kind, .ref = ref, .offset = offset};
    uint32_t id;
    assert_int_equal(lc_raw_add_node(raw, &made, &id), LC_OK);
    return id;
}

/* A rank's profile: root, main, f, MPI_Send below both; `swap` changes the order of definitions. */
static struct lc_raw *sample(int32_t rank, int swap) {
    struct lc_raw *raw;
    uint32_t module, send, host, other, metric, location;
    assert_int_equal(lc_raw_new(&raw), LC_OK);
    if (swap)
        assert_int_equal(lc_raw_add_name(raw, "only here", &other), LC_OK);
    assert_int_equal(lc_raw_add_name(raw, "MPI_Send", &send), LC_OK);
    assert_int_equal(lc_raw_add_name(raw, swap ? "node2" : "node1", &host), LC_OK);
    assert_int_equal(lc_raw_add_name(raw, "mpi_latesender", &metric), LC_OK);
    assert_int_equal(lc_raw_add_module(raw, "/bin/app", "ab12", &module), LC_OK);
    uint32_t root = node(raw, LC_NONE, LC_RAW_ROOT, 0, 0);
    uint32_t in_main = node(raw, root, LC_RAW_FRAME, module, 0x1000);
    uint32_t leaf, f;
    if (swap) {
        f = node(raw, in_main, LC_RAW_FRAME, module, 0x2000);
        leaf = node(raw, f, LC_RAW_MPI, send, 0);
    } else {
        leaf = node(raw, in_main, LC_RAW_MPI, send, 0);
        f = node(raw, in_main, LC_RAW_FRAME, module, 0x2000);
    }
    struct lc_raw_location place = {.rank = rank, .host = host, .pid = 100 + rank, .end_ns = 5};
    assert_int_equal(lc_raw_add_location(raw, &place, &location), LC_OK);
    struct lc_raw_row row = {.node = leaf,
                             .location = location,
                             .size_class = 4,
                             .count = 1,
                             .sum_ns = 10 + (uint64_t)rank,
                             .min_ns = 1,
                             .max_ns = 9};
    assert_int_equal(lc_raw_add_row(raw, &row), LC_OK);
    row = (struct lc_raw_row){.node = f, .size_class = LC_RAW_CLASS_TIME, .sum_ns = 77};
    assert_int_equal(lc_raw_add_row(raw, &row), LC_OK);
    struct lc_raw_value value = {.metric = metric, .node = leaf, .value = 0.5};
    assert_int_equal(lc_raw_add_value(raw, &value), LC_OK);
    raw->meta = strdup("{\"a\": 1}");
    return raw;
}

static void looks_up_by_content(void **state) {
    (void)state;
    struct lc_raw *raw = sample(0, 0);
    char text[32];
    uint32_t first, again;
    for (uint32_t i = 0; i < 5000; i++) {
        snprintf(text, sizeof text, "name %u", i);
        assert_int_equal(lc_raw_add_name(raw, text, &first), LC_OK);
        assert_int_equal(first, 3 + i);
        assert_int_equal(lc_raw_add_module(raw, text, i % 2 ? "x" : "", &first), LC_OK);
        assert_int_equal(first, 1 + i);
        assert_int_equal(node(raw, 1, LC_RAW_FRAME, 0, 0x10000 + i), 4 + i);
    }
    for (uint32_t i = 0; i < 5000; i++) {
        snprintf(text, sizeof text, "name %u", i);
        assert_int_equal(lc_raw_add_name(raw, text, &again), LC_OK);
        assert_int_equal(again, 3 + i);
        assert_int_equal(lc_raw_add_module(raw, text, i % 2 ? "x" : "", &again), LC_OK);
        assert_int_equal(again, 1 + i);
        assert_int_equal(node(raw, 1, LC_RAW_FRAME, 0, 0x10000 + i), 4 + i);
    }
    assert_int_equal(lc_raw_add_module(raw, "name 1", "y", &again), LC_OK);
    assert_int_equal(again, 5001);
    struct lc_raw_node bad = {.parent = 1000000};
    assert_int_equal(lc_raw_add_node(raw, &bad, &again), LC_ERR_RANGE);
    lc_raw_free(raw);
}

static void merges_ranks(void **state) {
    (void)state;
    struct lc_raw *raw = sample(0, 0), *other = sample(1, 1);
    assert_int_equal(lc_raw_merge(raw, other), LC_OK);
    assert_int_equal(lc_raw_check(raw), LC_OK);
    assert_int_equal(raw->n_nodes, 5); /* root, main, Send, f, f's Send */
    assert_int_equal(raw->n_modules, 1);
    assert_int_equal(raw->n_locations, 2);
    assert_string_equal(raw->names[raw->locations[1].host], "node2");
    assert_int_equal(raw->n_rows, 4);
    const struct lc_raw_node *leaf = &raw->nodes[raw->rows[2].node];
    assert_string_equal(raw->names[leaf->ref], "MPI_Send");
    assert_int_equal(raw->nodes[leaf->parent].offset, 0x2000);
    assert_int_equal(raw->rows[2].location, 1);
    assert_int_equal(raw->rows[2].sum_ns, 11);
    assert_int_equal(raw->rows[3].node, 3);
    assert_int_equal(raw->n_values, 2);
    assert_string_equal(raw->names[raw->values[1].metric], "mpi_latesender");
    uint32_t *map;
    assert_int_equal(lc_raw_merge_nodes(raw, other, &map), LC_OK);
    assert_int_equal(raw->n_nodes, 5);
    assert_int_equal(map[2], 3);
    free(map);
    lc_raw_free(raw);
    lc_raw_free(other);
}

static void packs_and_unpacks(void **state) {
    (void)state;
    struct lc_raw *raw = sample(3, 1), *copy;
    void *bytes, *again;
    size_t n_bytes, n_again;
    for (int all = 0; all < 2; all++) {
        assert_int_equal(lc_raw_pack(raw, all, &bytes, &n_bytes), LC_OK);
        assert_int_equal(lc_raw_unpack(&copy, bytes, n_bytes), LC_OK);
        assert_int_equal(copy->n_rows, all ? 2 : 0);
        assert_int_equal(copy->n_nodes, raw->n_nodes);
        assert_int_equal(lc_raw_pack(copy, all, &again, &n_again), LC_OK);
        assert_int_equal(n_again, n_bytes);
        assert_memory_equal(again, bytes, n_bytes);
        free(bytes);
        free(again);
        lc_raw_free(copy);
    }
    lc_raw_free(raw);
}

static void write_file(const char *path, const void *const *blocks, const size_t *sizes, size_t n) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(fwrite(blocks[i], 1, sizes[i], file), sizes[i]);
    assert_int_equal(fclose(file), 0);
}

static void reads_files_of_slices(void **state) {
    (void)state;
    char path[] = "/tmp/test_raw_XXXXXX";
    close(mkstemp(path));
    struct lc_raw *raw = sample(0, 0), *slice, *bad, *copy;
    struct lc_raw_row row = {.node = 2, .count = 5, .sum_ns = 1};
    assert_int_equal(lc_raw_new(&slice), LC_OK);
    assert_int_equal(lc_raw_add_row(slice, &row), LC_OK);
    slice->meta = strdup("{\"a\": 2}");
    row.node = 4;
    assert_int_equal(lc_raw_new(&bad), LC_OK);
    assert_int_equal(lc_raw_add_row(bad, &row), LC_OK);
    void *blocks[3];
    size_t sizes[3];
    assert_int_equal(lc_raw_pack(raw, 1, &blocks[0], &sizes[0]), LC_OK);
    assert_int_equal(lc_raw_pack(slice, 1, &blocks[1], &sizes[1]), LC_OK);
    assert_int_equal(lc_raw_pack(bad, 1, &blocks[2], &sizes[2]), LC_OK);

    write_file(path, (const void *const *)blocks, sizes, 2);
    assert_int_equal(lc_raw_read_file(&copy, path), LC_OK);
    assert_int_equal(copy->n_rows, 3);
    assert_int_equal(copy->rows[2].count, 5);
    assert_string_equal(copy->meta, "{\"a\": 2}");
    lc_raw_free(copy);
    write_file(path, (const void *const *)blocks, sizes, 3);
    assert_int_equal(lc_raw_read_file(&copy, path), LC_ERR_FORMAT);
    sizes[1] -= 8;
    write_file(path, (const void *const *)blocks, sizes, 2);
    assert_int_equal(lc_raw_read_file(&copy, path), LC_ERR_FORMAT);
    write_file(path, (const void *const *)blocks, sizes, 0);
    assert_int_equal(lc_raw_read_file(&copy, path), LC_ERR_FORMAT);
    for (int i = 0; i < 3; i++)
        free(blocks[i]);
    lc_raw_free(raw);
    lc_raw_free(slice);
    lc_raw_free(bad);
    unlink(path);
}

/* Any single changed 32-bit word, and any shorter length, gives an error or a profile that passes
 * the check. */
static void survives_hostile_bytes(void **state) {
    (void)state;
    static const uint32_t words[] = {0, 1, 0x7fffffff, 0xffffffff, 0x80000000, 0x00ff00ff};
    struct lc_raw *raw = sample(0, 0), *copy;
    void *bytes;
    size_t n_bytes, n_refused = 0;
    assert_int_equal(lc_raw_pack(raw, 1, &bytes, &n_bytes), LC_OK);
    for (size_t at = 0; at + 4 <= n_bytes; at += 4)
        for (size_t w = 0; w < sizeof words / sizeof words[0]; w++) {
            uint32_t saved;
            memcpy(&saved, (char *)bytes + at, 4);
            memcpy((char *)bytes + at, &words[w], 4);
            if (lc_raw_unpack(&copy, bytes, n_bytes) == LC_OK)
                assert_int_equal(lc_raw_check(copy), LC_OK);
            else
                n_refused++;
            lc_raw_free(copy);
            memcpy((char *)bytes + at, &saved, 4);
        }
    assert_true(n_refused > 50);
    for (size_t length = 0; length < n_bytes; length++) {
        char *cut = malloc(length + 1);
        assert_non_null(cut);
        memcpy(cut, bytes, length);
        assert_int_equal(lc_raw_unpack(&copy, cut, length), LC_ERR_FORMAT);
        free(cut);
    }
    free(bytes);
    lc_raw_free(raw);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(looks_up_by_content),    cmocka_unit_test(merges_ranks),
        cmocka_unit_test(packs_and_unpacks),      cmocka_unit_test(reads_files_of_slices),
        cmocka_unit_test(survives_hostile_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
