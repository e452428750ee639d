/* Parts by largest remainder add up to the whole, and are never further than one from their share;
 * the standard error is that of repeated draws. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "run/sampled.h"

static uint64_t state = 88172645463325252u;

static uint64_t next(void) {
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
}

static void parts_add_up(void **unused) {
    (void)unused;
    enum { MOST = 40 };
    for (int round = 0; round < 20000; round++) {
        size_t n = 1 + next() % MOST;
        double weights[MOST], sum = 0;
        uint64_t parts[MOST], whole = next() >> (next() % 64), given = 0;
        for (size_t i = 0; i < n; i++) {
            weights[i] = next() % 4 == 0 ? 0 : (double)(next() % 100000);
            sum += weights[i];
        }
        bool any = lc_sampled_divide(whole, weights, n, parts);
        assert_true(any == (sum > 0));
        if (!any)
            continue;
        for (size_t i = 0; i < n; i++) {
            double exact = (double)whole * (weights[i] / sum);
            given += parts[i];
            assert_true(weights[i] > 0 || parts[i] == 0);
            if (whole < UINT64_C(1) << 50)
                assert_true(fabs((double)parts[i] - exact) < 1.01);
        }
        assert_true(given == whole);
    }
}

static void nothing_to_go_by(void **unused) {
    (void)unused;
    const double none[2] = {0, 0};
    uint64_t parts[2];
    assert_false(lc_sampled_divide(10, none, 2, parts));
    assert_false(lc_sampled_divide(10, none, 0, parts));
}

static void error_is_that_of_draws(void **unused) {
    (void)unused;
    enum { DRAWS = 400, ROUNDS = 4000 };
    const double share = 0.3, whole = 5.0;
    double squares = 0, stated = lc_sampled_error(whole, share, DRAWS);
    int inside = 0;
    for (int r = 0; r < ROUNDS; r++) {
        int hits = 0;
        for (int i = 0; i < DRAWS; i++)
            hits += (double)(next() >> 11) * 0x1p-53 < share;
        double found = whole * hits / DRAWS;
        squares += (found - whole * share) * (found - whole * share);
        inside += fabs(found - whole * share) <= 2 * stated;
    }
    assert_true(fabs(sqrt(squares / ROUNDS) / stated - 1) < 0.05);
    assert_in_range(inside, ROUNDS * 93 / 100, ROUNDS * 97 / 100);
    assert_true(lc_sampled_error(whole, 0, DRAWS) == 0);
    assert_true(lc_sampled_error(whole, 1, DRAWS) < whole * 0.003);
    assert_true(lc_sampled_error(whole, 1, 3) > whole * 0.2); /* three that agree prove little */
    assert_true(lc_sampled_error(whole, share, 0) == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_add_up),
        cmocka_unit_test(nothing_to_go_by),
        cmocka_unit_test(error_is_that_of_draws),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
