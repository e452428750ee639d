/* Which regions of a trace are calls of MPI. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analyze/region_class.h"

static struct lc_an_region classified(const char *name, OTF2_Paradigm paradigm) {
    struct lc_an_region region = {.name = name};
    lc_region_classify(&region, paradigm, OTF2_REGION_ROLE_FUNCTION);
    return region;
}

static void mpi_by_paradigm_or_name(void **unused) {
    (void)unused;
    assert_true(classified("MPI_Send", OTF2_PARADIGM_MPI).mpi);
    assert_true(classified("PMPI_Send", OTF2_PARADIGM_MPI).mpi);
    assert_true(classified("MPI_Send", OTF2_PARADIGM_UNKNOWN).mpi);
    assert_int_equal(classified("mpi_finalize_", OTF2_PARADIGM_UNKNOWN).fn, LC_FN_MPI_FINALIZE);
}

/* As those of R's binding are called. */
static void functions_of_the_program(void **unused) {
    (void)unused;
    const OTF2_Paradigm own[] = {OTF2_PARADIGM_COMPILER, OTF2_PARADIGM_USER,
                                 OTF2_PARADIGM_SAMPLING};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
        struct lc_an_region region = classified("mpi_finalize", own[i]);
        assert_false(region.mpi);
        assert_int_equal(region.fn, LC_FN_OTHER);
        assert_string_not_equal(region.paradigm, "mpi");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(mpi_by_paradigm_or_name),
                                       cmocka_unit_test(functions_of_the_program)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
