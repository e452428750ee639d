/* Which executables of a run are one program, and what the programs are called. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/none.h"
#include "base/program_names.h"

static void expect(const char *const *ids, size_t n, const uint32_t *of, const char *const *names,
                   size_t n_programs) {
    struct lc_programs programs;
    assert_int_equal(lc_programs_find(&programs, ids, n), LC_OK);
    assert_int_equal(programs.n, n_programs);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(programs.of[i], of[i]);
    for (size_t i = 0; i < n_programs; i++)
        assert_string_equal(programs.names[i], names[i]);
    lc_programs_free(&programs);
}

static void names_are_ends_of_paths(void **state) {
    (void)state;
    expect((const char *const[]){"/opt/mesh", "/opt/particles", "/opt/mesh"}, 3,
           (const uint32_t[]){0, 1, 0}, (const char *const[]){"mesh", "particles"}, 2);
    expect((const char *const[]){"/run/atm/model", "/run/ocn/model", "coupler"}, 3,
           (const uint32_t[]){0, 1, 2}, (const char *const[]){"atm/model", "ocn/model", "coupler"},
           3);
    expect((const char *const[]){"model", "/model", "/a/model"}, 3, (const uint32_t[]){0, 1, 2},
           (const char *const[]){"model", "/model", "a/model"}, 3);
}

static void copies_of_a_file_are_one_program(void **state) {
    (void)state;
    expect((const char *const[]){"/tmp/n0/app\nab12", "/tmp/n1/app\nab12", "/tmp/n2/app\ncd34"}, 3,
           (const uint32_t[]){0, 0, 1}, (const char *const[]){"n0/app", "n2/app"}, 2);
    /* one file under two names may well choose what it does by its name */
    expect((const char *const[]){"/opt/mesh\nab12", "/opt/particles\nab12"}, 2,
           (const uint32_t[]){0, 1}, (const char *const[]){"mesh", "particles"}, 2);
    /* rebuilt while the job started */
    expect((const char *const[]){"/opt/app\nab12", "/opt/app\ncd34"}, 2, (const uint32_t[]){0, 1},
           (const char *const[]){"app (1)", "app (2)"}, 2);
}

static void unknown_ones_have_none(void **state) {
    (void)state;
    expect((const char *const[]){NULL, "", "\nab12", "/opt/app"}, 4,
           (const uint32_t[]){LC_NONE, LC_NONE, LC_NONE, 0}, (const char *const[]){"app"}, 1);
    expect(NULL, 0, NULL, NULL, 0);
}

static void of_a_long_path_the_end_is_kept(void **state) {
    (void)state;
    char path[4096], id[LC_PROGRAM_ID_BYTES], build_id[1024];
    memset(path, 'd', sizeof path);
    strcpy(path + sizeof path - 6, "/mesh");
    lc_program_id(id, path, "ab12");
    assert_int_equal(strlen(id), LC_PROGRAM_ID_BYTES - 1);
    assert_string_equal(id + strlen(id) - 10, "/mesh\nab12");
    memset(build_id, 'f', sizeof build_id);
    build_id[sizeof build_id - 1] = '\0';
    lc_program_id(id, path, build_id); /* none is that long */
    assert_int_equal(strlen(id), LC_PROGRAM_ID_BYTES - 1);
    assert_string_equal(id + strlen(id) - 5, "/mesh");
    lc_program_id(id, "/opt/mesh", "");
    assert_string_equal(id, "/opt/mesh");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_ends_of_paths),
        cmocka_unit_test(copies_of_a_file_are_one_program),
        cmocka_unit_test(unknown_ones_have_none),
        cmocka_unit_test(of_a_long_path_the_end_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
