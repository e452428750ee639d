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

#include "../first_seed.h"
#include "base/stats.h"
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
    double squares = 0, stated = lc_stats_share_error(whole, share, DRAWS);
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
    assert_true(lc_stats_share_error(whole, 0, DRAWS) == 0);
    assert_true(lc_stats_share_error(whole, 1, DRAWS) < whole * 0.003);
    assert_true(lc_stats_share_error(whole, 1, 3) >
                whole * 0.2); /* three that agree prove little */
    assert_true(lc_stats_share_error(whole, share, 0) == 0);
}

/* Kernels of 1, 3 and 6 ms in each of 40 times between events, sampled every 2.1 ms: the error is
 * that of the shares found, well below that of draws. */
static void error_of_equal_distances(void **unused) {
    (void)unused;
    enum { GAPS = 40, ROUNDS = 2000, KERNELS = 3 };
    const double ends[KERNELS] = {1, 4, 10}, shares[KERNELS] = {0.1, 0.3, 0.6}, unit = 100;
    double squares[KERNELS] = {0}, stated[KERNELS] = {0}, draws = 0;
    for (int r = 0; r < ROUNDS; r++) {
        double found[KERNELS] = {0}, own2[KERNELS] = {0}, cross[KERNELS] = {0}, all = 0, all2 = 0;
        for (int g = 0; g < GAPS; g++) {
            double here[KERNELS] = {0}, sum = 0;
            for (double at = 2.1 * ((double)(next() >> 11) * 0x1p-53); at < 10; at += 2.1)
                here[at < ends[0] ? 0 : at < ends[1] ? 1 : 2] += unit;
            for (int k = 0; k < KERNELS; k++)
                sum += here[k];
            for (int k = 0; k < KERNELS; k++) {
                found[k] += here[k];
                own2[k] += here[k] * here[k];
                cross[k] += here[k] * sum;
            }
            all += sum;
            all2 += sum * sum;
        }
        for (int k = 0; k < KERNELS; k++) {
            double sums[3] = {own2[k], cross[k], all2};
            double error = lc_sampled_gap_error(1, found[k], all, sums, unit);
            squares[k] += (found[k] / all - shares[k]) * (found[k] / all - shares[k]);
            stated[k] += error * error;
        }
        draws += lc_stats_share_error(1, found[2] / all, all / unit);
    }
    for (int k = 0; k < KERNELS; k++) {
        double ratio = sqrt(stated[k] / squares[k]);
        assert_true(ratio > 0.97 && ratio < 1.35); /* it has one sample more than it should */
    }
    assert_true(sqrt(squares[2] / ROUNDS) < 0.6 * draws / ROUNDS);
    const double few[3] = {3, 5, 9};
    assert_true(lc_sampled_gap_error(2, 3, 9, few, 1) == 2); /* nine at most: too few */
}

/* Waits for one exact node, each booked whole on a function drawn by lot: whatever the lengths of
 * the waits are, the error of what a function got holds (docs/definitions/estimates.md). */
static void error_of_waits_by_lot(void **unused) {
    (void)unused;
    enum { WAITS = 300, ROUNDS = 4000 };
    const double share = 0.3;
    int one = 0, three = 0;
    for (int r = 0; r < ROUNDS; r++) {
        double all = 0, squares = 0, found = 0;
        for (int i = 0; i < WAITS; i++) {
            double wait = pow((double)(next() >> 11) * 0x1p-53, 6); /* few are most of it */
            bool hit = (double)(next() >> 11) * 0x1p-53 < share;
            all += wait;
            squares += wait * wait;
            found += hit ? wait : 0;
        }
        double error = lc_stats_share_error(all, found / all, all * all / squares);
        one += fabs(found - share * all) <= error;
        three += fabs(found - share * all) <= 3 * error;
    }
    assert_in_range(one, ROUNDS * 65 / 100, ROUNDS * 74 / 100);
    assert_true(three >= ROUNDS * 99 / 100);
}

/* Times on the critical path, of 1 to 9 ms, each cut in proportion to its own samples, one in 2 ms:
 * the error holds for the times that have any. */
static void error_on_the_path(void **unused) {
    (void)unused;
    enum { TIMES = 200, ROUNDS = 2000 };
    const double period = 2, share = 0.3;
    int one = 0, three = 0;
    for (int r = 0; r < ROUNDS; r++) {
        double all = 0, found = 0;
        for (int i = 0; i < TIMES; i++) {
            double length = 1 + 8 * ((double)(next() >> 11) * 0x1p-53);
            int hits = 0, n = 0;
            for (double at = period * ((double)(next() >> 11) * 0x1p-53); at < length;
                 at += period) {
                hits += (double)(next() >> 11) * 0x1p-53 < share;
                n++;
            }
            all += n > 0 ? length : 0;
            found += n > 0 ? length * hits / n : 0;
        }
        double error = lc_stats_share_error(all, found / all, all / period);
        one += fabs(found - share * all) <= error;
        three += fabs(found - share * all) <= 3 * error;
    }
    assert_in_range(one, ROUNDS * 63 / 100, ROUNDS * 80 / 100);
    assert_true(three >= ROUNDS * 99 / 100);
}

int main(void) {
    state = first_seed(state);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_add_up),           cmocka_unit_test(nothing_to_go_by),
        cmocka_unit_test(error_is_that_of_draws), cmocka_unit_test(error_of_equal_distances),
        cmocka_unit_test(error_of_waits_by_lot),  cmocka_unit_test(error_on_the_path),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
