/* Sequences of collective records of which some are missing or superfluous: the others find their
 * partners again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "../first_seed.h"
#include "analyze/align.h"
#include "model/model.h" /* LC_NONE */

enum { LENGTH = 300 };

static uint64_t state = 1;

static uint32_t draw(uint32_t below) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33) % below;
}

/* Operations of few kinds, one every 1000 ticks or so. */
static void make(struct lc_align_record *records) {
    int64_t t = 0;
    for (size_t i = 0; i < LENGTH; i++) {
        t += 500 + draw(1000);
        records[i] = (struct lc_align_record){t, draw(3), LC_NONE};
    }
}

static void missing_ones_are_found(void **unused) {
    (void)unused;
    struct lc_align_record all[LENGTH], own[LENGTH];
    uint32_t expected[LENGTH], partner[LENGTH];
    for (int round = 0; round < 50; round++) {
        size_t n = 0;
        make(all);
        for (uint32_t i = 0; i < LENGTH; i++) {
            if (draw(50) == 0)
                continue;
            own[n] = all[i];
            own[n].end += draw(100); /* members do not leave together */
            expected[n++] = i;
        }
        assert_true(lc_align(all, LENGTH, own, n, partner));
        assert_memory_equal(partner, expected, n * sizeof *partner);
    }
}

/* Only the times tell which of equal operations is missing. */
static void equal_operations(void **unused) {
    (void)unused;
    const struct lc_align_record all[] = {{10, 0, 0}, {20, 0, 0}, {30, 0, 0}, {40, 0, 0}};
    const struct lc_align_record own[] = {{11, 0, 0}, {29, 0, 0}, {41, 0, 0}};
    uint32_t partner[4];
    assert_true(lc_align(all, 4, own, 3, partner));
    assert_int_equal(partner[0], 0);
    assert_int_equal(partner[1], 2);
    assert_int_equal(partner[2], 3);
    assert_true(lc_align(own, 3, all, 4, partner));
    assert_int_equal(partner[1], LC_NONE);
    assert_int_equal(partner[3], 2);
    assert_true(lc_align(all, 4, own, 0, partner));
}

/* Another root is a disagreement about one operation, not two operations. */
static void disagreement_stays_one_operation(void **unused) {
    (void)unused;
    const struct lc_align_record all[] = {{10, 1, 0}, {20, 1, 0}, {30, 1, 0}};
    const struct lc_align_record own[] = {{10, 1, 0}, {20, 1, 2}, {30, 1, 0}};
    uint32_t partner[3];
    assert_true(lc_align(all, 3, own, 3, partner));
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(partner[i], i);
}

static void too_different_is_refused(void **unused) {
    (void)unused;
    static struct lc_align_record all[40000], own[20000];
    static uint32_t partner[20000];
    assert_false(lc_align(all, 40000, own, 20000, partner));
}

int main(void) {
    state = first_seed(state);
    const struct CMUnitTest tests[] = {cmocka_unit_test(missing_ones_are_found),
                                       cmocka_unit_test(equal_operations),
                                       cmocka_unit_test(disagreement_stays_one_operation),
                                       cmocka_unit_test(too_different_is_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
