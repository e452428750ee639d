/* Text from outside: clean, printable, in JSON, in cells of tables, cut. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/json_text.h"
#include "base/table_text.h"
#include "base/utf8.h"

static void check(void (*put)(struct lc_strbuf *, const char *), const char *text,
                  const char *wanted) {
    struct lc_strbuf out = {0};
    put(&out, text);
    assert_true(lc_strbuf_ok(&out));
    assert_string_equal(lc_strbuf_get(&out), wanted);
    lc_strbuf_free(&out);
}

/* Overlong, surrogate, too large, cut short, lone continuation: none is UTF-8. */
static const char *const broken[] = {"\xc0\xaf", "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80",
                                     "\xe2\x82", "\x80",         "\xff",         "\xef\xbf\xbf",
                                     "\x01"};

static void test_utf8(void **state) {
    (void)state;
    uint32_t code;
    assert_int_equal(lc_utf8_length("\xe2\x82\xac", &code), 3);
    assert_int_equal(code, 0x20ac);
    assert_int_equal(lc_utf8_length("\xf0\x9f\x98\x80", &code), 4);
    assert_int_equal(code, 0x1f600);
    assert_int_equal(lc_utf8_length("\t", NULL), 1);
    for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++)
        assert_int_equal(lc_utf8_length(broken[i], NULL), 0);
}

static void test_clean(void **state) {
    (void)state;
    check(lc_put_clean, "caf\xc3\xa9\t\n", "caf\xc3\xa9\t\n");
    check(lc_put_clean, "a\x1b[31m\xff", "a\\x1b[31m\\xff");
    char *clean = lc_clean_text("\xe2\x82");
    assert_string_equal(clean, "\\xe2\\x82");
    free(clean);
}

static void test_printable(void **state) {
    (void)state;
    check(lc_put_printable, "newline\ntab\t\r", "newline\\ntab\\t\\r");
    check(lc_put_printable, "\x1b]0;x\x07", "\\x1b]0;x\\x07");
    check(lc_put_printable, "\x7f\xc2\x9b\xe2\x80\xae\xff", "\\x7f\\u{9b}\\u{202e}\\xff");
    check(lc_put_printable, "\xe2\x82\xac uro", "\xe2\x82\xac uro");
}

static void test_json(void **state) {
    (void)state;
    check(lc_json_put, "a\"b\\c\n\t", "\"a\\\"b\\\\c\\u000a\\u0009\"");
    check(lc_json_put, "\x1b\xff\xe2\x82\xac", "\"\\\\x1b\\\\xff\xe2\x82\xac\"");
}

static void test_table(void **state) {
    (void)state;
    static const char *const texts[] = {"plain", "newline\ntab\t", "\\t \\ \\\\n", "\r", "ends\\",
                                        "",      "\\x1b"};
    check(lc_table_put, "newline\ntab\t", "newline\\ntab\\t");
    check(lc_table_put, "\xff", "\\\\xff");
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct lc_strbuf cell = {0};
        lc_table_put(&cell, texts[i]);
        assert_null(strpbrk(lc_strbuf_get(&cell), "\t\n\r"));
        char *copy = strdup(lc_strbuf_get(&cell));
        lc_table_unescape(copy);
        assert_string_equal(copy, texts[i]);
        free(copy);
        lc_strbuf_free(&cell);
    }
}

static void test_cut(void **state) {
    (void)state;
    struct lc_strbuf out = {0};
    lc_put_cut(&out, "0123456789", 10);
    lc_put_cut(&out, "0123456789a", 8);
    assert_string_equal(lc_strbuf_get(&out), "0123456789012..89a");
    lc_strbuf_clear(&out);
    lc_put_cut(&out, "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9", 5);
    assert_string_equal(lc_strbuf_get(&out), "\xc3\xa9\xc3\xa9..\xc3\xa9");
    assert_int_equal(lc_utf8_count(lc_strbuf_get(&out)), 5);
    lc_strbuf_clear(&out);
    lc_put_cut_around(&out, "abcdefghijklmnopqrstuvwxyz0123", 16, 14); /* what the cut would hide */
    assert_string_equal(lc_strbuf_get(&out), "abcd..opqr..0123");
    lc_strbuf_clear(&out);
    lc_put_cut_around(&out, "abcdefghijklmnopqrstuvwxyz0123", 16, 3);
    assert_string_equal(lc_strbuf_get(&out), "abcdefg..xyz0123");
    lc_strbuf_clear(&out);
    lc_put_cut_around(&out, "abcdefghijklmnopqrstuvwxyz0123", 12, 14); /* no room for three */
    assert_string_equal(lc_strbuf_get(&out), "abcde..z0123");
    lc_strbuf_clear(&out);
    lc_put_tail(&out, "abcdefghij", 7);
    lc_put_tail(&out, "abc", 3);
    assert_string_equal(lc_strbuf_get(&out), "...ghijabc");
    lc_strbuf_free(&out);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_utf8), cmocka_unit_test(test_clean), cmocka_unit_test(test_printable),
        cmocka_unit_test(test_json), cmocka_unit_test(test_table), cmocka_unit_test(test_cut)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
