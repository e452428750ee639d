/* Damaged and hostile files: an error line, never a crash (run under sanitizers, too). */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/strbuf.h"
#include "cubex_sample.h"
#include "model/cubex_read.h"
#include "model/tar.h"

static char file_name[64];
static unsigned char *good; /* a small file */
static size_t good_bytes;

static void put_file(const void *data, size_t bytes) {
    int fd = open(file_name, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, data, bytes), (ssize_t)bytes);
    close(fd);
}

/* Opens and reads everything; the first error. */
static enum lc_err read_all(void) {
    struct lc_cubex *cube;
    enum lc_err err = lc_cubex_open(&cube, file_name);
    if (err != LC_OK)
        return err;
    const struct lc_model *model = lc_cubex_model(cube);
    double *values = calloc(model->n_locations, sizeof values[0]);
    const char *data;
    size_t bytes;
    for (uint32_t m = 0; err == LC_OK && m < model->n_metrics; m++)
        for (uint32_t c = 0; err == LC_OK && c < model->n_cnodes; c++)
            err = lc_cubex_row(cube, m, c, values);
    lc_cubex_misc(cube, "size_classes.tsv", &data, &bytes);
    free(values);
    lc_cubex_close(cube);
    return err;
}

static int make_good_file(void **state) {
    (void)state;
    struct lc_model *model = NULL;
    struct stat status;
    snprintf(file_name, sizeof file_name, "test_hostile.%ld.cubex", (long)getpid());
    if (sample_model(11, 6, 2, &model) != LC_OK || sample_write(11, model, file_name, 40) != LC_OK)
        return -1;
    lc_model_free(model);
    int fd = open(file_name, O_RDONLY);
    fstat(fd, &status);
    good_bytes = (size_t)status.st_size;
    good = malloc(good_bytes);
    ssize_t got = read(fd, good, good_bytes);
    close(fd);
    return got == (ssize_t)good_bytes && read_all() == LC_OK ? 0 : -1;
}

static int remove_file(void **state) {
    (void)state;
    free(good);
    return unlink(file_name);
}

static void truncated_at_every_length(void **state) {
    (void)state;
    put_file(good, good_bytes);
    /* The end mark is two blocks; one of them is enough to know that the file is whole. */
    for (size_t length = good_bytes - LC_TAR_BLOCK; length-- > 0;) {
        assert_int_equal(truncate(file_name, (off_t)length), 0);
        lc_fail(LC_OK, "untouched");
        if (read_all() == LC_OK)
            fail_msg("%zu of %zu bytes were taken for a whole file", length, good_bytes);
        assert_string_not_equal(lc_err_text(), "untouched");
    }
}

static void every_byte_flipped(void **state) {
    (void)state;
    static const unsigned char masks[] = {0x01, 0x80, 0xff};
    size_t refused = 0;
    put_file(good, good_bytes);
    int fd = open(file_name, O_WRONLY);
    for (size_t i = 0; i < good_bytes; i++) {
        unsigned char flipped = good[i] ^ masks[i % 3];
        assert_int_equal(pwrite(fd, &flipped, 1, (off_t)i), 1);
        refused += read_all() != LC_OK;
        assert_int_equal(pwrite(fd, &good[i], 1, (off_t)i), 1);
    }
    close(fd);
    assert_true(refused > good_bytes / 20);
}

static void put_member(unsigned char **at, const char *name, const void *data, size_t bytes) {
    lc_tar_header(*at, name, bytes);
    memcpy(*at + LC_TAR_BLOCK, data, bytes);
    *at += LC_TAR_BLOCK + lc_tar_padded(bytes);
}

/* A file of an anchor and, if given, data and index of metric 0. */
static enum lc_err read_made(const char *anchor, const void *data, size_t data_bytes,
                             const void *index, size_t index_bytes) {
    size_t room = strlen(anchor) + data_bytes + index_bytes + 8 * (size_t)LC_TAR_BLOCK;
    unsigned char *file = calloc(1, room), *at = file;
    if (data != NULL)
        put_member(&at, "0.data", data, data_bytes);
    if (index != NULL)
        put_member(&at, "0.index", index, index_bytes);
    put_member(&at, "anchor.xml", anchor, strlen(anchor));
    put_file(file, (size_t)(at - file) + 2 * (size_t)LC_TAR_BLOCK);
    free(file);
    return read_all();
}

#define ANCHOR(metric_type, locations)                                                             \
    "<cube version=\"4.4\"><metrics><metric id=\"0\" type=\"" metric_type "\">"                    \
    "<disp_name>T</disp_name><uniq_name>t</uniq_name><dtype>DOUBLE</dtype><uom>sec</uom>"          \
    "</metric></metrics><program><region id=\"0\"><name>main</name></region>"                      \
    "<cnode id=\"0\" calleeId=\"0\"></cnode></program><system><systemtreenode Id=\"0\">"           \
    "<name>m</name><class>machine</class><locationgroup Id=\"0\"><rank>0</rank>" locations         \
    "</locationgroup></systemtreenode></system></cube>"
#define ONE_LOCATION "<location Id=\"0\"><rank>0</rank></location>"

static void compressed_variants_are_refused(void **state) {
    (void)state;
    static const char index[] = "CUBEX.INDEX\1\0\0\0\0\0\3";
    assert_int_equal(
        read_made(ANCHOR("EXCLUSIVE", ONE_LOCATION), "ZCUBEX.DATA12345678", 18, index, 18),
        LC_ERR_UNSUPPORTED);
    assert_non_null(strstr(lc_err_text(), "compressed"));
    assert_int_equal(read_made("\x1f\x8b\x08 gzip", NULL, 0, NULL, 0), LC_ERR_UNSUPPORTED);
}

static void sizes_beyond_the_file_are_refused(void **state) {
    (void)state;
    static const char many[] = "CUBEX.INDEX\1\0\0\0\0\0\1\xff\xff\xff\xff";
    static const char beyond[] = "CUBEX.INDEX\1\0\0\0\0\0\1\1\0\0\0\7\0\0\0";
    static const char kind[] = "CUBEX.INDEX\1\0\0\0\0\0\2";
    static const char order[] = "CUBEX.INDEX\2\0\0\0\0\0\3";
    static const char data[] = "CUBEX.DATA12345678";
    const char *anchor = ANCHOR("EXCLUSIVE", ONE_LOCATION);
    assert_int_equal(read_made(anchor, data, 18, many, 22), LC_ERR_FORMAT);
    assert_int_equal(read_made(anchor, data, 18, beyond, 26), LC_ERR_FORMAT);
    assert_int_equal(read_made(anchor, data, 18, kind, 18), LC_ERR_FORMAT);
    assert_int_equal(read_made(anchor, data, 18, order, 18), LC_ERR_FORMAT);
    assert_int_equal(read_made(anchor, data, 18, NULL, 0), LC_ERR_FORMAT);
    assert_int_equal(read_made(anchor, NULL, 0, NULL, 0), LC_OK); /* all zero */
    assert_int_equal(read_made(ANCHOR("POSTDERIVED", ONE_LOCATION), NULL, 0, NULL, 0), LC_OK);
}

static void bad_definitions_are_refused(void **state) {
    (void)state;
    static const char *const anchors[] = {
        "",
        "<cube>",
        "no xml",
        "<!DOCTYPE cube [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b "
        "\"&a;&a;&a;&a;&a;\">]><cube>&b;</cube>",
        ANCHOR("EXCLUSIVE", ""),
        ANCHOR("EXCLUSIVE", "<location Id=\"1\"></location>"),
        ANCHOR("EXCLUSIVE", "<location Id=\"4000000000\"></location>"),
        ANCHOR("EXCLUSIVE", "<location Id=\"-1\"></location>"),
        ANCHOR("EXCLUSIVE", ONE_LOCATION ONE_LOCATION),
        ANCHOR("EXCLUSIVE", "<location Id=\"0\"><rank>99999999999</rank></location>"),
        "<cube><program><cnode id=\"0\" calleeId=\"0\"/></program></cube>",
        "<cube><program><region id=\"99999999\"/></program></cube>",
        "<cube><system><locationgroup Id=\"0\"/></system></cube>",
        "<cube><metrics><metric type=\"EXCLUSIVE\"/></metrics></cube>",
    };
    for (size_t i = 0; i < sizeof anchors / sizeof anchors[0]; i++)
        if (read_made(anchors[i], NULL, 0, NULL, 0) != LC_ERR_FORMAT)
            fail_msg("anchor %zu was not refused", i);
}

static void deep_nesting_is_refused(void **state) {
    (void)state;
    struct lc_strbuf xml = {0};
    lc_strbuf_puts(&xml, "<cube><program><region id=\"0\"><name>f</name></region>");
    for (int i = 0; i < 100000; i++)
        lc_strbuf_puts(&xml, "<cnode id=\"0\" calleeId=\"0\">");
    assert_int_equal(read_made(lc_strbuf_get(&xml), NULL, 0, NULL, 0), LC_ERR_FORMAT);
    assert_non_null(strstr(lc_err_text(), "nested"));
    lc_strbuf_free(&xml);
}

/* The same value, written by machines of both byte orders. */
static void both_byte_orders(void **state) {
    (void)state;
    unsigned char data[18] = "CUBEX.DATA", index[18] = "CUBEX.INDEX";
    for (int swapped = 0; swapped < 2; swapped++) {
        uint64_t bits, one = 1;
        double value = 42.5;
        memcpy(&bits, &value, 8);
        if (swapped) {
            bits = __builtin_bswap64(bits);
            one = __builtin_bswap32(1);
        }
        memcpy(data + 10, &bits, 8);
        memcpy(index + 11, &one, 4);
        index[17] = 3;
        assert_int_equal(
            read_made(ANCHOR("INCLUSIVE", ONE_LOCATION), data, sizeof data, index, sizeof index),
            LC_OK);
        struct lc_cubex *cube;
        assert_int_equal(lc_cubex_open(&cube, file_name), LC_OK);
        assert_int_equal(lc_cubex_row(cube, 0, 0, &value), LC_OK);
        assert_true(value == 42.5);
        assert_int_equal(lc_cubex_row(cube, 1, 0, &value), LC_ERR_RANGE);
        lc_cubex_close(cube);
    }
}

static void other_files_are_refused(void **state) {
    (void)state;
    struct lc_cubex *cube;
    assert_int_equal(lc_cubex_open(&cube, "/nowhere.cubex"), LC_ERR_NOT_FOUND);
    assert_int_equal(lc_cubex_open(&cube, "/"), LC_ERR_IO);
    put_file("#!/bin/sh\n", 10);
    assert_int_equal(read_all(), LC_ERR_FORMAT);
    char text[2048];
    memset(text, 'x', sizeof text);
    put_file(text, sizeof text);
    assert_int_equal(read_all(), LC_ERR_FORMAT);
    assert_non_null(strstr(lc_err_text(), "is not a .cubex file"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(truncated_at_every_length),
        cmocka_unit_test(every_byte_flipped),
        cmocka_unit_test(compressed_variants_are_refused),
        cmocka_unit_test(sizes_beyond_the_file_are_refused),
        cmocka_unit_test(bad_definitions_are_refused),
        cmocka_unit_test(deep_nesting_is_refused),
        cmocka_unit_test(both_byte_orders),
        cmocka_unit_test(other_files_are_refused),
    };
    return cmocka_run_group_tests(tests, make_good_file, remove_file);
}
