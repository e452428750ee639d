/* Which MPI a library is, by its file's name and by what it says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "job/mpi_flavour.h"

static void names_of_files(void **unused) {
    static const struct {
        const char *path;
        enum lc_flavour flavour;
    } cases[] = {
        {"libmpi.so.40", LC_FLAVOUR_IS_OPENMPI},
        {"/usr/lib/x86_64-linux-gnu/libmpi.so.40.30.4", LC_FLAVOUR_IS_OPENMPI},
        {"/opt/intel/lib/libmpi.so.12", LC_FLAVOUR_IS_MPICH},
        {"/opt/mpich/lib/libmpi.so.12.2.2", LC_FLAVOUR_IS_MPICH},
        {"libmpich.so.12.2.0", LC_FLAVOUR_IS_MPICH},
        {"libmpi_cray.so.12", LC_FLAVOUR_IS_MPICH},
        {"libmpi_gnu_123.so.12", LC_FLAVOUR_IS_MPICH},
        {"libmpich_gnu_82.so.3", LC_FLAVOUR_IS_MPICH},
        {"libmpi.so.400", LC_FLAVOUR_UNKNOWN},
        {"libmpi.so.20", LC_FLAVOUR_UNKNOWN},
        {"libmpi_mpifh.so.40", LC_FLAVOUR_UNKNOWN},
        {"libmpichfort.so.12", LC_FLAVOUR_UNKNOWN},
        {"libmpifort.so.12", LC_FLAVOUR_UNKNOWN},
        {"libmpicxx.so.12", LC_FLAVOUR_UNKNOWN},
        {"libmpi_abi.so.0", LC_FLAVOUR_UNKNOWN},
        {"/libmpi.so.40/libc.so.6", LC_FLAVOUR_UNKNOWN},
        {"", LC_FLAVOUR_UNKNOWN},
    };
    (void)unused;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (lc_flavour_of_file(cases[i].path) != cases[i].flavour)
            fail_msg("%s", cases[i].path);
}

static void texts_of_libraries(void **unused) {
    static const struct {
        const char *text, *product;
        enum lc_flavour flavour;
    } cases[] = {
        {"Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4, repo rev: v4.1.4, May 26, 2022",
         "Open MPI 4.1.4", LC_FLAVOUR_IS_OPENMPI},
        {"Open MPI v5.0.7rc2, package: x", "Open MPI 5.0.7rc2", LC_FLAVOUR_IS_OPENMPI},
        {"Open MPI v1.10.7, package: x", "Open MPI 1.10.7", LC_FLAVOUR_UNKNOWN},
        {"MPICH Version:\t4.0.2\nMPICH Release date:\tThu Apr  7 12:34:45 CDT 2022\n",
         "MPICH 4.0.2", LC_FLAVOUR_IS_MPICH},
        {"Intel(R) MPI Library 2021.10 for Linux* OS\n", "Intel MPI 2021.10", LC_FLAVOUR_IS_MPICH},
        {"MVAPICH2 Version      :\t2.3.7\nMVAPICH2 Release date :\tWed", "MVAPICH2 2.3.7",
         LC_FLAVOUR_IS_MPICH},
        {"MVAPICH Version:\t3.0\n", "MVAPICH 3.0", LC_FLAVOUR_IS_MPICH},
        {"MPI VERSION    : CRAY MPICH version 8.1.25.17 (ANL base 3.4a2)\nMPI BUILD INFO : x",
         "Cray MPICH 8.1.25.17", LC_FLAVOUR_IS_MPICH},
        {"MPItrampoline 5.3.1\nmore", "MPItrampoline 5.3.1", LC_FLAVOUR_UNKNOWN},
        {"", "", LC_FLAVOUR_UNKNOWN},
        {"MPICH", "MPICH", LC_FLAVOUR_IS_MPICH},
    };
    char product[64];
    (void)unused;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lc_mpi_product(cases[i].text, product, sizeof product);
        assert_string_equal(product, cases[i].product);
        if (lc_flavour_of_text(cases[i].text) != cases[i].flavour)
            fail_msg("%s", cases[i].text);
    }
    lc_mpi_product(cases[0].text, product, 6);
    assert_string_equal(product, "Open ");
}

static void decisions(void **unused) {
    static const char openmpi[] = "Open MPI v4.1.4, x", mpich[] = "MPICH Version: 4.1";
    (void)unused;
    /* the text is worth more than the name */
    assert_int_equal(lc_flavour_decide("libmpi.so.12", openmpi, true), LC_FLAVOUR_IS_OPENMPI);
    assert_int_equal(lc_flavour_decide("libanything.so", mpich, false), LC_FLAVOUR_IS_MPICH);
    assert_int_equal(lc_flavour_decide("libmpi.so.12", NULL, false), LC_FLAVOUR_IS_MPICH);
    assert_int_equal(lc_flavour_decide("libmpi.so.40", NULL, true), LC_FLAVOUR_IS_OPENMPI);
    /* an interface that is none of these */
    assert_int_equal(lc_flavour_decide("libmpi.so.12", NULL, true), LC_FLAVOUR_UNKNOWN);
    assert_int_equal(lc_flavour_decide("libmpi.so.12", mpich, true), LC_FLAVOUR_UNKNOWN);
    assert_int_equal(lc_flavour_decide("libmpi.so.40", openmpi, false), LC_FLAVOUR_UNKNOWN);
    assert_int_equal(lc_flavour_decide("libmpi_abi.so.0", mpich, false), LC_FLAVOUR_UNKNOWN);
    assert_int_equal(lc_flavour_decide("libmpi.so.12", "FAST MPI 3", false), LC_FLAVOUR_UNKNOWN);
}

static void names_and_words(void **unused) {
    (void)unused;
    assert_string_equal(lc_flavour_name(LC_FLAVOUR_IS_OPENMPI), "Open MPI");
    assert_string_equal(lc_flavour_word(LC_FLAVOUR_IS_MPICH), "mpich");
    assert_null(lc_flavour_word(LC_FLAVOUR_UNKNOWN));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_of_files),
        cmocka_unit_test(texts_of_libraries),
        cmocka_unit_test(decisions),
        cmocka_unit_test(names_and_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
