/* What-if scenarios as users write them: functions and factors, C++ names, MPI, mistakes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/what_if_spec.h"

static void test_what_if(void **state) {
    (void)state;
    static const char *const bad[] = {"work",    "=2",    "work=", "work=fast", "work=-1",
                                      "mpi=0.5", "omp=1", "omp=",  "tasks=inf", "work=infinite",
                                      ",",       "a=inf", "a=1;;", "a=1,,b=2",  "a=nan"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(lc_what_if_check(bad[i]), LC_ERR_USAGE);
    assert_int_equal(lc_what_if_check("a=1;b=2;c=3;d=4;e=5;f=6"), LC_OK);
    assert_int_equal(lc_what_if_check("a=1;b=2;c=3;d=4;e=5;f=6;g=7"), LC_ERR_USAGE);
    const char *at = "Verlet::run=0.5,mpi=0;operator===2;omp=0,tasks=infinite,tasks=0.5";
    struct lc_what_if_term term;
    unsigned scenario = 0;
    bool found;
    assert_int_equal(lc_what_if_next(&at, &scenario, &term, &found), LC_OK);
    assert_true(found && term.scenario == 0 && term.factor == 0.5 && term.part == LC_WHAT_IF_CODE);
    assert_true(
        lc_what_if_means(&term, "LAMMPS_NS::Verlet::run(int)", "_ZN9LAMMPS_NS6Verlet3runEi"));
    assert_false(lc_what_if_means(&term, "Verlet::runner()", "_ZN6Verlet6runnerEv"));
    assert_true(lc_what_if_means(&term, "Verlet::run", "Verlet::run"));
    assert_int_equal(lc_what_if_next(&at, &scenario, &term, &found), LC_OK);
    assert_true(found && term.scenario == 0 && term.part == LC_WHAT_IF_MPI);
    assert_int_equal(lc_what_if_next(&at, &scenario, &term, &found), LC_OK);
    assert_true(found && term.scenario == 1 && term.factor == 2);
    assert_string_equal(term.name, "operator==");
    static const enum lc_what_if_part parts[] = {LC_WHAT_IF_OMP, LC_WHAT_IF_TASKS, LC_WHAT_IF_CODE};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        assert_int_equal(lc_what_if_next(&at, &scenario, &term, &found), LC_OK);
        assert_true(found && term.scenario == 2 && term.part == parts[i]);
    }
    assert_true(term.factor == 0.5);
    assert_int_equal(lc_what_if_next(&at, &scenario, &term, &found), LC_OK);
    assert_false(found);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_what_if)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
