/* What time off the processor was for, from counters of the kernel; and those of this thread. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#include "format/raw.h"
#include "measure/samples/off_cpu.h"

enum { MS = 1000000 };

static void by_counters(void **state) {
    (void)state;
    static const struct {
        struct lc_off_cpu now;
        uint64_t core_ns, rest;
    } cases[] = {
        {{true, 5 * MS, 7, 9, 3}, 0, LC_RAW_OFF_CPU}, /* nothing has happened */
        {{true, 7 * MS, 7, 9, 8}, 2 * MS, LC_RAW_OFF_CPU},
        {{true, 90 * MS, 7, 9, 8}, 10 * MS, LC_RAW_OFF_CPU}, /* not more than there was */
        {{true, 0, 7, 9, 8}, 0, LC_RAW_OFF_CPU},             /* the kernel does not say any more */
        {{true, 5 * MS, 11, 9, 8}, 0, LC_RAW_PAGE_FAULT},
        {{true, 6 * MS, 8, 17, 13}, 1 * MS, LC_RAW_FILE_SYSTEM}, /* one page in ten sleeps */
        {{false, 0, 0, 0, 0}, 0, LC_RAW_OFF_CPU},
    };
    const struct lc_off_cpu before = {true, 5 * MS, 7, 9, 3}, unknown = {.known = false};
    struct lc_off_cpu_parts parts;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lc_off_cpu_divide(&before, &cases[i].now, 10 * MS, &parts);
        assert_int_equal(parts.core_ns, cases[i].core_ns);
        assert_int_equal(parts.rest, cases[i].rest);
    }
    lc_off_cpu_divide(&unknown, &cases[4].now, 10 * MS, &parts);
    assert_int_equal(parts.rest, LC_RAW_OFF_CPU);
}

/* A nap is no page fault; the counters only grow. (A nap that is over before the thread has left
 * its processor is none.) */
static void of_this_thread(void **state) {
    (void)state;
    struct lc_off_cpu last = {.known = false};
    struct lc_off_cpu_parts parts;
    lc_off_cpu_look(&last, 0, NULL);
    assert_true(last.known);
    struct lc_off_cpu before = last;
    for (int i = 0; i < 1000 && last.sleeps < before.sleeps + 20; i++) {
        nanosleep(&(struct timespec){.tv_nsec = 1000}, NULL);
        lc_off_cpu_look(&last, MS, &parts);
    }
    assert_true(last.sleeps >= before.sleeps + 20);
    assert_true(last.core_ns >= before.core_ns);
    assert_true(parts.core_ns <= MS);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_counters),
        cmocka_unit_test(of_this_thread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
