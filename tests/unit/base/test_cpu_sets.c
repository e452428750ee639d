/* Sets of CPUs: their lists, and whether processes bound to them have to share. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stddef.h>
#include <stdint.h>
/* after those */
#include <cmocka.h>

#include "base/cpu_sets.h"

static cpu_set_t set_of(int first, int last) {
    cpu_set_t set;
    CPU_ZERO(&set);
    for (int cpu = first; cpu <= last; cpu++)
        CPU_SET(cpu, &set);
    return set;
}

static void lists(void **state) {
    (void)state;
    char text[32];
    cpu_set_t set = set_of(2, 5);
    lc_cpu_list(&set, text, sizeof text);
    assert_string_equal(text, "2-5");
    CPU_SET(0, &set);
    CPU_SET(1023, &set);
    lc_cpu_list(&set, text, sizeof text);
    assert_string_equal(text, "0,2-5,1023");
    lc_cpu_list(&set, text, 10);
    assert_string_equal(text, "0,2-5...");
    CPU_ZERO(&set);
    lc_cpu_list(&set, text, sizeof text);
    assert_string_equal(text, "");
}

/* What is printed is read again; what was cut off, or is no list, is not. */
static void read_again(void **state) {
    (void)state;
    cpu_set_t set = set_of(2, 5), again;
    CPU_SET(0, &set);
    CPU_SET(CPU_SETSIZE - 1, &set);
    char text[64], last[16];
    lc_cpu_list(&set, text, sizeof text);
    assert_true(lc_cpu_list_read(text, &again) && CPU_EQUAL(&set, &again));
    snprintf(last, sizeof last, "%d", CPU_SETSIZE);
    const char *const wrong[] = {"", "0,2-5...", "3-", "-3", "5-3", "1,", "1;2", last};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_false(lc_cpu_list_read(wrong[i], &again));
}

/* Bound one by one, to all, two to one CPU though others are free, a pair beside its pair. */
static void short_of(void **state) {
    (void)state;
    cpu_set_t apart[] = {set_of(0, 0), set_of(1, 1), set_of(2, 3)};
    cpu_set_t all[] = {set_of(0, 3), set_of(0, 3), set_of(0, 3), set_of(0, 3), set_of(0, 3)};
    cpu_set_t same[] = {set_of(0, 0), set_of(0, 0), set_of(1, 3)};
    cpu_set_t inside[] = {set_of(0, 1), set_of(0, 0), set_of(1, 1), set_of(2, 9)};
    assert_false(lc_cpu_sets_short(apart, 3));
    assert_false(lc_cpu_sets_short(all, 4));
    assert_true(lc_cpu_sets_short(all, 5));
    assert_true(lc_cpu_sets_short(same, 3));
    assert_true(lc_cpu_sets_short(inside, 4));
    assert_false(lc_cpu_sets_short(inside, 2));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(lists), cmocka_unit_test(read_again),
                                       cmocka_unit_test(short_of)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
