/* One directory for all processes of a job, whenever they begin, and for no other job. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/outfile.h"
#include "run/experiment.h"
#include "run/rundir.h"

static char base[64];

static int begin(void **state) {
    (void)state;
    strcpy(base, "/tmp/test_rundir_XXXXXX");
    return mkdtemp(base) == NULL;
}

static int end(void **state) {
    static const char *const made[] = {"d", "d-2", "d-3"};
    char path[128];
    (void)state;
    for (size_t i = 0; i < sizeof made / sizeof *made; i++) {
        snprintf(path, sizeof path, "%s/%s", base, made[i]);
        lc_experiment_clean(path);
    }
    return rmdir(base);
}

/* The directory that a rank of a job takes that wants "d"; the link that tells others of it goes
 * then, as it does when a program ends. */
static void expect(uint64_t job, int32_t rank, const char *name, bool founder) {
    struct lc_launch launch = {.launcher = "made", .rank = rank, .size = 2, .job = job};
    struct lc_rundir dir;
    char wanted[80], path[80];
    snprintf(wanted, sizeof wanted, "%s/d", base);
    snprintf(path, sizeof path, "%s/%s", base, name);
    assert_int_equal(lc_rundir_agree(&dir, &launch, wanted, "app", 1), LC_OK);
    assert_string_equal(dir.path, path);
    assert_true(dir.founder == founder);
    lc_rundir_unlink(&dir);
    lc_rundir_free(&dir);
}

static void save_part(const char *name, int32_t rank) {
    char path[128];
    snprintf(path, sizeof path, "%s/%s/" LC_PARTIAL_FORMAT, base, name, rank);
    assert_int_equal(lc_outfile_put(path, "x", 1), LC_OK);
}

static void one_begins_when_the_other_has_died(void **state) {
    for (int32_t first = 0; first < 2; first++) {
        if (first > 0) {
            assert_int_equal(end(state), 0);
            assert_int_equal(begin(state), 0);
        }
        expect(7, first, "d", true);
        save_part("d", first);
        expect(7, 1 - first, "d", false);
    }
}

static void another_job(void **state) {
    (void)state;
    expect(7, 0, "d", true);
    save_part("d", 0);
    expect(8, 1, "d-2", true);
}

static void the_next_program_of_the_job(void **state) {
    (void)state;
    expect(7, 0, "d", true);
    save_part("d", 0);
    expect(7, 1, "d", false);
    save_part("d", 1);
    expect(7, 1, "d-2", true);
    expect(7, 0, "d-2", false);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(one_begins_when_the_other_has_died, begin, end),
        cmocka_unit_test_setup_teardown(another_job, begin, end),
        cmocka_unit_test_setup_teardown(the_next_program_of_the_job, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
