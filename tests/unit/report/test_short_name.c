/* Names of C++ as people read them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "report/frames.h"
#include "report/short_name.h"

static void test_names(void **state) {
    (void)state;
    static const char *const pairs[][2] = {
        {"main", "main"},
        {"dgemm_", "dgemm_"},
        {"LAMMPS_NS::Verlet::run(int)", "LAMMPS_NS::Verlet::run"},
        {"LAMMPS_NS::ProcMap::cart_map(int, int*, int*, int (*) [2], int***)",
         "LAMMPS_NS::ProcMap::cart_map"},
        {"void Foam::reduce<double, Foam::sumOp<double> >(double&, Foam::sumOp<double> const&, "
         "int)",
         "Foam::reduce<..>"},
        {"unsigned long count<int>(int)", "count<int>"},
        {"gmx::(anonymous namespace)::Runner::go() const", "gmx::(anonymous)::Runner::go"},
        {"std::vector<double, std::allocator<double> >::push_back(double const&)",
         "std::vector<..>::push_back"},
        {"a::f(int)::{lambda(double)#1}::operator()(double) const", "a::f::{lambda#1}::operator()"},
        {"a::f(int) const::{lambda()#2}::operator()() const", "a::f::{lambda#2}::operator()"},
        {"std::ostream& Foam::operator<< <char>(std::ostream&, char)", "Foam::operator<<<char>"},
        {"bool operator<(A const&, A const&)", "operator<"},
        {"A::operator->() const", "A::operator->"},
        {"A::operator bool() const", "A::operator bool"},
        {"operator new(unsigned long)", "operator new"},
        {"name[abi:cxx11](int)", "name"},
        {"f(int) [clone .cold]", "f"},
        {"A::~A()", "A::~A"},
        {"decltype(auto) g<(a > b)>(int)", "g<(a > b)>"},
        {"(odd", "(odd"},
        {"f(int", "f(int"},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        struct lc_strbuf out = {0};
        lc_put_short_name(&out, pairs[i][0]);
        assert_string_equal(lc_strbuf_get(&out), pairs[i][1]);
        lc_strbuf_free(&out);
    }
}

static void test_signatures(void **state) {
    (void)state;
    static const char *const pairs[][2] = {
        {"void reduce(int)", "reduce(int)"},
        {"Foam::tmp<Foam::Field<double, int> > "
         "Foam::fvc::div<double>(Foam::tmp<Foam::Field<double> "
         "> const&, int) const",
         "Foam::fvc::div<double>(Foam::tmp<..> const&, int)"},
        {"main", "main"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        struct lc_strbuf out = {0};
        lc_put_short_signature(&out, pairs[i][0]);
        assert_string_equal(lc_strbuf_get(&out), pairs[i][1]);
        lc_strbuf_free(&out);
    }
}

static void test_unnamed(void **state) {
    (void)state;
    assert_true(lc_is_unnamed("hpcc+0x4f2a"));
    assert_true(lc_is_unnamed("libm.so.6+0x0"));
    assert_false(lc_is_unnamed("main"));
    assert_false(lc_is_unnamed("a+0x"));
    assert_false(lc_is_unnamed("operator+"));
    assert_false(lc_is_unnamed("+0x12"));
}

static void test_frames(void **state) {
    (void)state;
    assert_null(lc_frame_kind("main"));
    assert_null(lc_frame_kind("Pyramid::build()"));
    assert_null(lc_frame_kind("_Pyramid"));
    assert_string_equal(lc_frame_kind("PyObject_Call"), "Python");
    assert_string_equal(lc_frame_kind("_PyEval_EvalFrameDefault"), "Python");
    assert_string_equal(lc_frame_kind("libpython3.11.so.1.0+0x12"), "Python");
    assert_string_equal(lc_frame_kind("MPI.cpython-311-x86_64-linux-gnu.so+0x12"), "Python");
    assert_string_equal(lc_frame_kind("hpcc+0x12"), "unnamed");
    assert_true(lc_frames_fold("unnamed", 1) == lc_frames_fold(lc_frame_kind("hpcc+0x12"), 1));
    assert_false(lc_frames_fold(lc_frame_kind("PyObject_Call"), 1));
    assert_true(lc_frames_fold(lc_frame_kind("PyObject_Call"), 2));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names), cmocka_unit_test(test_signatures),
        cmocka_unit_test(test_unnamed), cmocka_unit_test(test_frames)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
