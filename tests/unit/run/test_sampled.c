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

/* ---- streams of samples of programs whose functions are known */

enum { MOST_FUNCTIONS = 8, MOST_PIECES = 512, STREAMS = 250 };

struct piece {
    int function;
    double ms;
};

static double draw(double from, double to) {
    return from + (to - from) * ((double)(next() >> 11) * 0x1p-53);
}

/* What a thread does between two events; returns how many pieces. */
typedef int gap_of(struct piece *pieces);

/* Three kernels, one after the other. */
static int as_in_c(struct piece *p) {
    const double ms[] = {2, 5, 3};
    for (int i = 0; i < 3; i++)
        p[i] = (struct piece){i, ms[i] * draw(0.9, 1.1)};
    return 3;
}

/* Many short calls of small functions. */
static int as_in_cxx(struct piece *p) {
    int n = 0;
    for (double left = draw(5, 30); left > 0 && n < MOST_PIECES; n++) {
        int function = (int)(next() % MOST_FUNCTIONS);
        p[n] = (struct piece){function, (function + 1) * draw(0.01, 0.05)};
        left -= p[n].ms;
    }
    return n;
}

/* A long loop nest among short ones. */
static int as_in_fortran(struct piece *p) {
    const double ms[] = {0.5, 40, 8, 0.2};
    for (int i = 0; i < 4; i++)
        p[i] = (struct piece){i, ms[i] * draw(0.8, 1.2)};
    return 4;
}

/* The chunks of a loop that a thread of a team happens to get. */
static int as_in_openmp(struct piece *p) {
    int n = 0;
    for (int chunks = 2 + (int)(next() % 30); n < 2 * chunks; n += 2) {
        p[n] = (struct piece){0, draw(0.05, 0.4)};
        p[n + 1] = (struct piece){1, draw(0.02, 0.1)};
    }
    return n;
}

struct stream { /* what the rows of a thread have in the end, and what is true */
    double true_ms[MOST_FUNCTIONS], all_ms;
    double weight[MOST_FUNCTIONS], own2[MOST_FUNCTIONS], cross[MOST_FUNCTIONS];
    double sum, sum2, squares;
    int samples[MOST_FUNCTIONS];
};

static void add_gap(struct stream *s, const double *weight) {
    double all = 0;
    for (int f = 0; f < MOST_FUNCTIONS; f++)
        all += weight[f];
    for (int f = 0; f < MOST_FUNCTIONS; f++) {
        s->weight[f] += weight[f];
        s->own2[f] += weight[f] * weight[f];
        s->cross[f] += weight[f] * all;
    }
    s->sum += all;
    s->sum2 += all * all;
}

/* As the sampler takes them: one period of 80 to 120 % of 2 ms for some 24 samples, then the
 * next. */
static struct stream take_stream(gap_of *gap, int gaps) {
    struct stream s = {0};
    struct piece pieces[MOST_PIECES];
    double period = 2, left = draw(0, period), number = draw(0, 1);
    int in_period = 0;
    for (int g = 0; g < gaps; g++) {
        double weight[MOST_FUNCTIONS] = {0};
        for (int i = 0, n = gap(pieces); i < n; i++) {
            double at = 0;
            for (; at + left <= pieces[i].ms; at += left, left = period, in_period++) {
                weight[pieces[i].function] += period;
                s.samples[pieces[i].function]++;
                s.squares += period * period;
            }
            left -= pieces[i].ms - at;
            s.true_ms[pieces[i].function] += pieces[i].ms;
            s.all_ms += pieces[i].ms;
        }
        add_gap(&s, weight);
        if (in_period >= 24) {
            number = fmod(number + 0.6180339887498949, 1);
            period = 2 * (0.8 + 0.4 * number);
            left = fmin(left, period);
            in_period = 0;
        }
    }
    return s;
}

/* 1,000 streams: the stated standard errors cover the truth as those of a normal distribution do,
 * or more often. */
static void errors_cover_the_truth(void **unused) {
    (void)unused;
    const struct {
        const char *name;
        gap_of *gap;
        int gaps;
    } shapes[] = {{"C", as_in_c, 60},
                  {"C++", as_in_cxx, 40},
                  {"Fortran", as_in_fortran, 40},
                  {"OpenMP", as_in_openmp, 80}};
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
        int n = 0, one = 0, two = 0, three = 0;
        for (int r = 0; r < STREAMS; r++) {
            const struct stream s = take_stream(shapes[k].gap, shapes[k].gaps);
            for (int f = 0; f < MOST_FUNCTIONS; f++) {
                const double sums[3] = {s.own2[f], s.cross[f], s.sum2};
                if (s.samples[f] < 4) /* "(unresolved)" */
                    continue;
                double share = s.weight[f] / s.sum;
                double error = fmin(
                    lc_stats_share_error(s.all_ms, share, s.sum * s.sum / s.squares),
                    lc_sampled_gap_error(s.all_ms, s.weight[f], s.sum, sums, s.squares / s.sum));
                double off = fabs(share * s.all_ms - s.true_ms[f]);
                n++;
                one += off <= error;
                two += off <= 2 * error;
                three += off <= 3 * error;
            }
        }
        print_message("%-8s %4d times: %5.1f %% within one standard error, %5.1f %% two, %5.1f %% "
                      "three\n",
                      shapes[k].name, n, 100.0 * one / n, 100.0 * two / n, 100.0 * three / n);
        assert_true(n >= STREAMS && one >= n * 0.65 && two >= n * 0.94 && three >= n * 0.99);
    }
}

int main(void) {
    state = first_seed(state);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_add_up),           cmocka_unit_test(nothing_to_go_by),
        cmocka_unit_test(error_is_that_of_draws), cmocka_unit_test(error_of_equal_distances),
        cmocka_unit_test(error_of_waits_by_lot),  cmocka_unit_test(error_on_the_path),
        cmocka_unit_test(errors_cover_the_truth),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
