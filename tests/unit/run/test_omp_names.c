/* Names of OpenMP constructs, and what compilers and runtimes make of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "format/omp_construct.h"
#include "run/omp_names.h"

static void test_place(void **state) {
    (void)state;
    struct lc_omp_place place;
    const char *name = "!$omp implicit barrier @/a b/app+x+0x12ff";
    assert_true(lc_omp_place_of(name, &place));
    assert_int_equal(place.construct, strlen("!$omp implicit barrier"));
    assert_int_equal(place.path_bytes, strlen("/a b/app+x"));
    assert_memory_equal(place.path, "/a b/app+x", (size_t)place.path_bytes);
    assert_int_equal(place.offset, 0x12ff);
    assert_false(lc_omp_place_of("!$omp idle", &place));
    assert_false(lc_omp_place_of("my region @/app+0x1", &place)); /* the program's own */
    assert_false(lc_omp_is_construct("solve"));
}

static void test_unknown_module(void **state) {
    (void)state;
    char text[64];
    struct lc_raw raw = {0};
    assert_int_equal(
        lc_omp_construct_name(&raw, NULL, "!$omp for @/lib/x.so+0x1", text, sizeof text), LC_OK);
    assert_string_equal(text, "!$omp for @x.so+0x1");
    assert_int_equal(lc_omp_construct_name(&raw, NULL, "!$omp idle", text, sizeof text), LC_OK);
    assert_string_equal(text, "!$omp idle");
}

static void test_made_by_compilers(void **state) {
    (void)state;
    assert_true(lc_omp_is_outlined("main._omp_fn.0"));
    assert_true(lc_omp_is_outlined(".omp_outlined."));
    assert_true(lc_omp_is_outlined(".omp_outlined._debug__.3"));
    assert_true(lc_omp_is_outlined("solve.omp_outlined"));
    assert_true(lc_omp_is_outlined(".omp_task_entry."));
    assert_false(lc_omp_is_outlined("omp_solver"));
    assert_true(lc_omp_is_runtime("/usr/lib/llvm-14/lib/libomp.so.5"));
    assert_true(lc_omp_is_runtime("/lib/libgomp.so.1"));
    assert_true(lc_omp_is_runtime("libomp-14.so.5"));
    assert_false(lc_omp_is_runtime("/lib/libompitrace.so.40"));
    assert_string_equal(lc_omp_role("!$omp taskwait @x"), "task wait");
    assert_string_equal(lc_omp_role("!$omp implicit barrier @x"), "implicit barrier");
    assert_string_equal(lc_omp_role("!$omp idle"), "function");
}

static void test_time_metrics(void **state) {
    (void)state;
    assert_string_equal(lc_omp_time_metric("!$omp barrier @x.c:1"), "omp_ebarrier");
    assert_string_equal(lc_omp_time_metric("!$omp implicit barrier"), "omp_ibarrier");
    assert_string_equal(lc_omp_time_metric("!$omp ordered @x"), "omp_critical");
    assert_string_equal(lc_omp_time_metric("!$omp omp_set_lock @x"), "omp_lock_api");
    assert_string_equal(lc_omp_time_metric("!$omp taskgroup @x"), "omp_taskwait");
    assert_null(lc_omp_time_metric("!$omp task @x")); /* its time is its code's */
    assert_null(lc_omp_time_metric("!$omp taskloop @x"));
    assert_null(lc_omp_time_metric("!$omp parallel @x"));
    assert_null(lc_omp_time_metric("barrier"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_place), cmocka_unit_test(test_unknown_module),
        cmocka_unit_test(test_made_by_compilers), cmocka_unit_test(test_time_metrics)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
