/* Sums of work over ranks, choice of scenarios, what portions take in them, gains: against figures
 * worked out by hand; merging in any order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "../first_seed.h"
#include "piggyback/portions.h"

static struct lc_portion_table table;

static void finds_classes(void **state) {
    (void)state;
    memset(&table, 0, sizeof table);
    assert_null(lc_portions_of(&table, 0, 5));
    for (uint32_t i = 1; i <= LC_PORTION_CLASSES / 2; i++) {
        struct lc_portions *p = lc_portions_of(&table, i, i + 1);
        assert_non_null(p);
        p->n = i;
    }
    assert_null(lc_portions_of(&table, 7, 7)); /* no room: not counted, but told */
    assert_int_equal(table.n_lost, 1);
    for (uint32_t i = 1; i <= LC_PORTION_CLASSES / 2; i++)
        assert_int_equal(lc_portions_of(&table, i, i + 1)->n, i);
}

static struct lc_portion_sum sum_of(uint64_t key, uint64_t of, uint32_t rank, uint64_t ns,
                                    uint64_t n) {
    return (struct lc_portion_sum){.key = key,
                                   .of = of,
                                   .ns = ns,
                                   .n = n,
                                   .longest_ns = ns,
                                   .longest_rank = rank,
                                   .n_ranks = n > 0};
}

static void add(struct lc_portion_sums *sums, struct lc_portion_sum sum) {
    lc_portion_sums_add(sums, &sum);
}

/* 8 ranks with 40 call paths: whatever the tree, the same comes out, and of the call paths those of
 * the longest rank. */
static void merges_in_any_order(void **state) {
    (void)state;
    enum { RANKS = 8, PATHS = 40 };
    static struct lc_portion_sums ranks[RANKS];
    for (uint64_t first = first_seed(1), seed = first; seed < first + 20; seed++) {
        uint64_t longest[PATHS] = {0};
        srand((unsigned)seed);
        memset(ranks, 0, sizeof ranks);
        for (uint32_t r = 0; r < RANKS; r++)
            for (uint64_t key = 0; key < PATHS; key++) {
                uint64_t ns = (uint64_t)(rand() % 1000);
                longest[key] = ns > longest[key] ? ns : longest[key];
                add(&ranks[r], sum_of(key, key, r, ns, 1));
            }
        struct lc_portion_sums up = {0}, down = {0};
        for (uint32_t r = 0; r < RANKS; r++) {
            lc_portion_sums_merge(&up, &ranks[r]);
            lc_portion_sums_merge(&down, &ranks[RANKS - 1 - r]);
        }
        assert_int_equal(up.n, LC_PORTION_SUMS);
        for (uint32_t i = 0; i < up.n; i++) {
            assert_int_equal(up.list[i].key, down.list[i].key);
            assert_int_equal(up.list[i].longest_ns, down.list[i].longest_ns);
            assert_int_equal(up.list[i].longest_rank, down.list[i].longest_rank);
            assert_int_equal(up.list[i].longest_ns, longest[up.list[i].key]);
        }
        for (uint64_t key = 0; key < PATHS; key++)
            if (lc_portion_sums_find(&up, key) == NULL)
                assert_true(longest[key] <= up.list[up.n - 1].longest_ns);
    }
    struct lc_portion_sums a = {.unable = 1,
                                .most_ppm = 5,
                                .least_ns = 7,
                                .late_ns = 2,
                                .n_lost = 1},
                           b = {.unable = 2, .most_ppm = 6, .least_ns = 3, .late_ns = 4};
    lc_portion_sums_merge(&a, &b);
    assert_int_equal(a.unable, 3);
    assert_int_equal(a.most_ppm, 6);
    assert_int_equal(a.least_ns, 7);
    assert_int_equal(a.late_ns, 6);
    assert_int_equal(a.n_lost, 1);
}

/* Four ranks. Path 1: one works 20, the others 10; path 2: in turns 30, the others 10, so each 60
 * of 4 times; path 3: all alike. Classes 11 and 12 are of path 1. */
static void chooses(void **state) {
    (void)state;
    struct lc_portion_sums sums = {.least_ns = 5, .clock_ns = 240};
    for (uint32_t r = 0; r < 4; r++) {
        add(&sums, sum_of(1, 1, r, r == 2 ? 20 : 10, 2));
        add(&sums, sum_of(11, 1, r, 9, 1));
        add(&sums, sum_of(12, 1, r, r == 2 ? 11 : 1, 1));
        struct lc_portion_sum turns = sum_of(2, 2, r, 60, 4);
        turns.critical_ns = 30;
        add(&sums, turns);
        struct lc_portion_sum alike = sum_of(3, 3, r, 100, 4);
        alike.critical_ns = 25;
        add(&sums, alike);
    }
    struct lc_scenario_path paths[LC_PORTION_SUMS];
    assert_int_equal(lc_scenario_paths(&sums, 4, paths), 2);
    assert_int_equal(paths[0].key, 2);
    assert_int_equal(paths[0].gain_ns, 4 * 30 - 60);
    assert_int_equal(paths[1].key, 1);
    assert_int_equal(paths[1].rank, 2);
    assert_int_equal(paths[1].gain_ns, 20 - 10);
    sums.least_ns = 11;
    assert_int_equal(lc_scenario_paths(&sums, 4, paths), 1);
    assert_int_equal(lc_scenario_paths(&sums, 1, paths), 0);
}

/* Work that ranks do one after the other: 90 % of it is on the critical path, none does 60 %. */
static void finds_chains(void **state) {
    (void)state;
    struct lc_portion_sums sums = {.clock_ns = 400};
    for (uint32_t r = 0; r < 4; r++) {
        struct lc_portion_sum one = sum_of(1, 1, r, 100, 1), most = one, tied = one, mine = one;
        one.critical_ns = 95;
        most.key = most.of = 2;
        most.critical_ns = 85;
        tied.key = tied.of = 3; /* chains that are alike: each rank has one of its own */
        tied.critical_ns = 101;
        mine.key = mine.of = 4;
        mine.ns = mine.longest_ns = mine.critical_ns = r == 0 ? 250 : 50;
        add(&sums, one);
        add(&sums, most);
        add(&sums, tied);
        add(&sums, mine);
    }
    assert_true(lc_scenario_is_chain(&sums, lc_portion_sums_find(&sums, 1), 4));
    assert_false(lc_scenario_is_chain(&sums, lc_portion_sums_find(&sums, 2), 4));
    assert_false(lc_scenario_is_chain(&sums, lc_portion_sums_find(&sums, 3), 4));
    assert_false(lc_scenario_is_chain(&sums, lc_portion_sums_find(&sums, 4), 4));
    assert_false(lc_scenario_is_chain(&sums, lc_portion_sums_find(&sums, 1), 2));
}

static void compares_classes(void **state) {
    (void)state;
    struct lc_portion_sums sums = {0};
    uint64_t keys[LC_PORTION_SUMS];
    for (uint32_t r = 0; r < 2; r++) {
        add(&sums, sum_of(1, 1, r, 1000, 3)); /* classes 11, 12 on all, 13 too small */
        add(&sums, sum_of(11, 1, r, 600, 1));
        add(&sums, sum_of(12, 1, r, 390, 1));
        add(&sums, sum_of(2, 2, r, 500, 1)); /* one sends (21), the other one receives (22) */
        add(&sums, sum_of(21 + r, 2, r, 500, 1));
    }
    add(&sums, sum_of(13, 1, 0, 10, 1));
    assert_int_equal(lc_portion_peers(&sums, 11, 1, 2, keys), 1);
    assert_int_equal(keys[0], 11);
    assert_int_equal(lc_portion_peers(&sums, 13, 1, 2, keys), 0);
    assert_int_equal(lc_portion_peers(&sums, 99, 1, 2, keys), 0);
    assert_int_equal(lc_portion_peers(&sums, 22, 2, 2, keys), 2);
    assert_int_equal(keys[0] + keys[1], 21 + 22);
}

static void replaces_portions(void **state) {
    (void)state;
    struct lc_portion_mean all = {5 * 20 + 15 * 10, 20}, own = {5 * 20, 5};
    assert_int_equal(lc_portion_instead(all, own, LC_SCENARIO_LATE), 10);
    assert_int_equal(lc_portion_instead(all, own, LC_SCENARIO_EVEN), 12);
    assert_int_equal(lc_portion_instead(own, own, LC_SCENARIO_LATE), 0); /* nobody else does it */
    assert_int_equal(lc_portion_instead(all, own, LC_SCENARIO_CHAIN), 0);
}

static void gains(void **state) {
    (void)state;
    struct lc_scenario_gain gain;
    struct lc_scenario_seen seen = {.gain = 80,
                                    .seen = 400,
                                    .unseen = 100,
                                    .rest = 20,
                                    .rest_least = -4,
                                    .rest_most = 40,
                                    .error = 5};
    assert_true(lc_scenario_predict(&seen, &gain));
    assert_float_equal(gain.gain, 100, 1e-9);
    assert_float_equal(gain.low, 71, 1e-9);
    assert_float_equal(gain.high, 125, 1e-9);
    seen.too_long = 4; /* with the means of the end it would have gained more */
    assert_true(lc_scenario_predict(&seen, &gain));
    assert_float_equal(gain.gain, 104, 1e-9);
    seen.too_long = -4;
    assert_true(lc_scenario_predict(&seen, &gain));
    assert_float_equal(gain.gain, 96, 1e-9);
    seen.too_long = 0;
    seen.rest_most = 10; /* what was not seen cannot gain more than it took */
    assert_true(lc_scenario_predict(&seen, &gain));
    assert_float_equal(gain.gain, 90, 1e-9);
    seen.even = 20; /* a chain: its work takes what one rank needs, at the same time */
    seen.uneven = 7;
    assert_true(lc_scenario_predict(&seen, &gain));
    assert_float_equal(gain.gain, 70, 1e-9);
    assert_float_equal(gain.low, 44, 1e-9);
    assert_float_equal(gain.high, 82, 1e-9);
    seen.even = seen.uneven = 0;
    seen.lost = true;
    assert_true(lc_scenario_predict(&seen, &gain));
    assert_float_equal(gain.low, 0, 1e-9);
    seen.gain = -3; /* longer than the run: nothing is gained while it was carried */
    assert_true(lc_scenario_predict(&seen, &gain));
    assert_float_equal(gain.gain, 10, 1e-9);
    seen.unseen = 401;
    assert_false(lc_scenario_predict(&seen, &gain));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(finds_classes),
                                       cmocka_unit_test(merges_in_any_order),
                                       cmocka_unit_test(chooses),
                                       cmocka_unit_test(finds_chains),
                                       cmocka_unit_test(compares_classes),
                                       cmocka_unit_test(replaces_portions),
                                       cmocka_unit_test(gains)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
