/* Numbers as people read them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "report/units.h"

static void seconds(void **state) {
    (void)state;
    static const struct {
        double seconds;
        const char *text;
    } cases[] = {{0, "0"},
                 {1.234e-6, "1.23 us"},
                 {999.4e-6, "999 us"},
                 {999.6e-6, "1 ms"},
                 {0.9994, "999 ms"},
                 {0.9996, "1 s"},
                 {-0.9996, "-1 s"},
                 {999.4, "999 s"},
                 {999.6, "1000 s"},
                 {12345, "12345 s"},
                 {0.0415, "41.5 ms"},
                 {1e-8, "0.01 us"},
                 {4.333e-9, "4.33 ns"}};
    char buffer[32];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(lc_text_seconds(cases[i].seconds, buffer), cases[i].text);
}

static void three_digits(void **state) {
    (void)state;
    static const struct {
        double number;
        const char *text;
    } cases[] = {{0.0123, "0.0123"}, {1.8, "1.8"},    {17, "17"},
                 {999.4, "999"},     {999.6, "1000"}, {1309.6, "1310"}};
    char buffer[32];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(lc_text_three_digits(cases[i].number, buffer), cases[i].text);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(seconds), cmocka_unit_test(three_digits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
